// Units of systemd.
#include "service.hpp"

#include <gtest/gtest.h>

namespace dice_run {
namespace {

/// systemd.service(5), "COMMAND LINES", and systemd.unit(5), "SPECIFIERS".
TEST(Service, WordsOfCommandsAreQuoted) {
  EXPECT_EQ(systemd_quote("/opt/my site/a"), R"("/opt/my site/a")");
  EXPECT_EQ(systemd_quote(R"(a"b\c)"), R"("a\"b\\c")");
  EXPECT_EQ(systemd_quote("100% $HOME ${x} it's;"), R"("100%% $$HOME $${x} it's;")");
}

TEST(Service, NamesOfUnitsHaveNoPlus) {
  EXPECT_EQ(unit_name("numbers"), "dice-numbers.service");
  EXPECT_EQ(unit_name("c++-1.2"), "dice-c__-1.2.service");
}

TEST(Service, AUnitOfTheSystemEndsWhereItsUserBelongs) {
  const auto user = unit_text("n", "/f", false), system = unit_text("n", "/f", true);
  for (const auto& text : {user, system}) {
    EXPECT_NE(text.find("\n[Service]\nExecStart=/bin/sh \"/f/.dice-run/n/service/boot\"\n"), std::string::npos) << text;
    EXPECT_EQ(text.find('[', text.find("[Service]") + 1), std::string::npos) << text;
  }
  EXPECT_NE(user.find("WantedBy=default.target\n"), std::string::npos);
  EXPECT_NE(system.find("WantedBy=multi-user.target\n"), std::string::npos);
}

}  // namespace
}  // namespace dice_run
