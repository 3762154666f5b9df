// What a program under another mapping keeps, and what it has anew.
#include "dice/assembly/remap.hpp"

#include "convolutions.hpp"

#include "dice/assembly/program_of.hpp"
#include "dice/runtime/other_mapping.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace dice;

TEST(remap, replaces_what_belongs_to_the_mapping) {
  auto own = assembly::program_of<convolutions::network, mapping<dev<0>, layers<all>>>;
  own.pack_at_start = true;
  const auto other =
      assembly::remap(own,
                      "mapping<dev<0, cores<0, 1>>, layers<image>, ranks<0>, dev<1, threads<3>>, rows<narrow>, ranks<1>, "
                      "layers<from<wide>>>");
  const auto& p = other.it->program();
  ASSERT_EQ(p.ranks(), 2);
  ASSERT_EQ(p.units.size(), 2u);
  EXPECT_EQ(p.units[0], (platform::unit{platform::unit::kind::cores, 2}));
  EXPECT_EQ(p.units[1], (platform::unit{platform::unit::kind::threads, 3}));
  ASSERT_EQ(p.cores.size(), 2u);
  EXPECT_EQ(std::vector<int>(p.cores[0].begin(), p.cores[0].end()), (std::vector{0, 1}));
  EXPECT_TRUE(p.cores[1].empty());
  EXPECT_GT(p.layers.size(), own.layers.size());
  EXPECT_EQ(p.parts.size(), static_cast<std::size_t>(p.layers.size()));
  EXPECT_EQ(p.network_layers().size(), own.layers.size());
  EXPECT_FALSE(p.pack_at_start) << "the file next to the program is for its own mapping";
  EXPECT_EQ(p.weights.structure, own.weights.structure);
  EXPECT_EQ(p.tables, own.tables);
}

}  // namespace
