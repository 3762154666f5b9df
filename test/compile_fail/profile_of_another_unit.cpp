// expect: dice::error::profile_of_another_unit<measured, *,
// dice::remedy::give_the_profile_of_this_unit_or_name_the_unit_measured>
#include <prelude.hpp>

struct measured {  // as onnx2hpp --profile writes it
  static constexpr std::string_view digest = sample::network::weights.structure, unit = "threads<4>";
  static constexpr std::array<double, sample::network::size> ms{};
};
#ifdef MISTAKE
using unit = cores<0, 1>;
#else
using unit = cores<0, 1, 2, 3>;
#endif
using lab = cluster<host<"a", board<"b", ram<1_GiB>, processor<unit, profile<measured>>>>>;
using plan = mapping<dev<0>, layers<all>>;

int main(int argc, char** argv) { return dice::main<sample::network, plan, lab>(argc, argv); }
