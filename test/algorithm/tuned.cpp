// Compiled by tests only: a table of --tune for the network of test/convolutions.hpp, correct or with a MISTAKE.
#include "convolutions.hpp"

#include <dice/algorithm/tuned.hpp>

template <> struct dice::algorithm::tuned<convolutions::network> {
#if MISTAKE == 1
  static constexpr std::string_view digest = "2222222222222222222222222222222222222222222222222222222222222222";
#else
  static constexpr std::string_view digest = "1111111111111111111111111111111111111111111111111111111111111111";
#endif
#if MISTAKE == 2
  static constexpr std::array<int, 3> variants{-1, 3, 0};
#elif MISTAKE == 3
  static constexpr std::array<int, 4> variants{-1, 3, 9, -1};
#elif MISTAKE == 4
  static constexpr std::array<int, 4> variants{1, 3, 0, -1};
#else
  static constexpr std::array<int, 4> variants{-1, 3, 0, -1};
#endif
};

#define DICE_WITH_OPENMP
#include <dice/schedule/schedule.hpp>

using namespace dice;
using net = convolutions::network;
constexpr auto& table = algorithm::choices<net, algorithm::backend::openmp>;
static_assert(table[1].variant == 3 && table[2].variant == 0);
static_assert(table[1].packed_bytes ==
              algorithm::variant<algorithm::backend::openmp>(convolutions::narrow::op,
                                                             std::array{convolutions::image::result},
                                                             convolutions::narrow::result, 3)
                  .packed_bytes);
// Memory limits still hold.
template <class... Limit> using within = mapping<dev<0, cpu, Limit...>, layers<all>>;
static_assert(schedule::detail::algorithm_table<net, within<>>[1].variant == 3);
constexpr auto peak = schedule::plan_of<net, within<>>.ranks[0].peak_bytes;
static_assert(schedule::detail::algorithm_table<net, within<memory<peak - 1>>>[1].variant == 0);
// Other backends have no variants.
static_assert(algorithm::choices<net, algorithm::backend::reference>[1].packed_bytes == 0);
