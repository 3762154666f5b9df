// Works of several ranks as text, there and back; and how much a text may hold.
#include "dice/placement/text/write.hpp"

#include "mapping_text.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace {

using namespace mapping_text;

TEST(MappingText, WorksComeBack) {
  for (const std::string text :
       {"dice::mapping<\n    dice::dev<0, dice::cpu>, dice::ranks<1>, dice::rows<sample::conv1, "
        "dice::range<sample::relu1, sample::conv2>, dice::shares<2, 3>, dice::exchange_every<3>>,\n    "
        "dice::dev<1, dice::cpu>, dice::layers<sample::image>,\n    dice::ranks<1, 0>, "
        "dice::columns<sample::add1, dice::shares<5, 7>>,\n    dice::dev<2, dice::cpu>, dice::ranks<0>, "
        "dice::dev<3, dice::cpu>, dice::tiles<2, 3, sample::relu2, dice::exchange_every<2>>>",
        "dice::mapping<\n    dice::dev<0, dice::cpu>, dice::dev<1, dice::cpu>, "
        "dice::replicas<dice::range<sample::image, sample::scores>, dice::first_free>>"})
    EXPECT_EQ(place::write(parse(text).values(), net::name, view), text);
}

TEST(MappingText, HoldsNoMoreThanItsLimits) {
  const auto error = [](std::string_view text) { return test::error_of([&] { parse(text); }); };
  const auto list = [](const std::string& what, std::size_t times) {
    std::string out = what;
    for (std::size_t i = 1; i < times; ++i) out += "," + what;
    return out;
  };
  const auto expect = [&](const std::string& begin, const std::string& what, std::size_t most, const std::string& end,
                          const std::string& said) {
    EXPECT_EQ(error(begin + list(what, most) + end), "none") << said;
    const auto found = error(begin + list(what, most + 1) + end);
    EXPECT_NE(found.find(said), std::string::npos) << found;
  };
  expect("mapping<", "dev<0>", place::max_entries, ">", "a mapping has at most 4096 entries");
  expect("split<network, points<", "1", place::max_entries, ">, dev<0>>", "a split has at most 4096 points");
  expect("mapping<dev<0, cores<", "1", place::max_cores, ">>>", "a device has at most 1024 cores");
  expect("mapping<dev<0>, ranks<", "1", place::max_numbers, ">>", "a mapping has at most 65536 numbers in ranks<…>");
  expect("mapping<dev<0>, layers<", "all", place::max_layer_entries, ">>",
         "the lists of a mapping have at most 65536 entries");
  const std::string mapping = "mapping<dev<0>, layers<all>>";
  EXPECT_EQ(told(mapping + std::string(place::max_text - mapping.size(), ' ')), "none");
  EXPECT_EQ(error(mapping + std::string(place::max_text + 1 - mapping.size(), ' ')),
            "the text has " + std::to_string(place::max_text + 1) + " bytes; a mapping has at most " +
                std::to_string(place::max_text));
}

TEST(MappingText, NamesLayersByTheirIdsToo) {
  EXPECT_EQ(told("split<network, points<image::id, conv1::id>, dev<0>, dev<1>, dev<2>>").find("not a layer's id"),
            std::string::npos);
  EXPECT_NE(told("mapping<dev<0>, layers<othernet::conv1>>").find("not_a_layer_of_the_network: 'othernet::conv1'"),
            std::string::npos);
  EXPECT_NE(told("split<network, pints<3>, dev<0>>").find("expected points<…>"), std::string::npos);
}

}  // namespace
