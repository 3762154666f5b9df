// What may stand on the command line, and what is said about the rest.
#include "options.hpp"
#include "diagnostics.hpp"

#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

namespace dice_run {
namespace {

TEST(CommandLine, WholeNumbers) {
  const auto refusal = [](std::string text) { return whole_number(-1, 20)(text); };
  for (const auto* text : {"-1", "0", "20"}) EXPECT_EQ(refusal(text), "");
  for (const std::string text : {"-2", "21", "", "5x", " 5", "+5", "1e1", "99999999999999999999"})
    EXPECT_EQ(refusal(text), "'" + text + "' is not a whole number from -1 to 20");
}

TEST(CommandLine, NamesWithCommas) {
  EXPECT_EQ(names_of("--hosts", {"a,b c", "d"}), (words{"a", "b c", "d"}));
  EXPECT_EQ(names_of("--hosts", {}), words());
  for (const auto& given : {words{"a", "b,"}, words{",a"}, words{""}}) {
    try {
      names_of("--hosts", given);
      FAIL();
    } catch (const usage_error& e) {
      EXPECT_EQ(e.what(), "--hosts: " + quote(given.back()) + " has an empty name");
    }
  }
}

/// What is said of the words after the program's name, by a program with the commands start and stop.
std::string said_of(const words& given) {
  CLI::App app("", "dice-run");
  std::string folder, number;
  words hosts, options;
  app.require_subcommand(1);
  app.fallthrough();
  app.add_option("--to", folder)->type_name("FOLDER");
  auto* start = app.add_subcommand("start");
  start->add_option("-n,--number", number)->check(whole_number(1, 5))->type_name("N");
  start->add_option("--hosts", hosts)->type_name("HOST");
  start->add_option("options", options);
  start->add_flag("--foreground");
  app.add_subcommand("stop");
  try {
    refuse_empty_texts(app, given);
    app.parse(words(given.rbegin(), given.rend()));
    return "";
  } catch (const CLI::ParseError& e) {
    return mistake_of(app, e, given);
  } catch (const usage_error& e) {
    return e.what();
  }
}

TEST(CommandLine, WhatIsWrongIsSaidWithAWayOut) {
  const std::string empty = "the text is empty, as of a variable that is not set";
  for (const auto& [given, said] : std::vector<std::pair<words, std::string>>{
           {{"start", "--to", "/x", "--hosts", "a", "b", "--hosts", "c"}, ""},
           {{}, "name a command: start, stop; see dice-run --help"},
           {{"go"}, "there is no command \"go\"; see dice-run --help"},
           {{"--go"}, "there is no option \"--go\"; see dice-run --help"},
           {{"stop", "go"}, "\"go\" is one word too many; see dice-run stop --help"},
           {{"stop", "--go", "1"}, "there is no option \"--go\"; see dice-run stop --help"},
           {{"start", "--go", "a b", "--to", "/x", "-k"},
            "there is no option \"--go\"; options of the program go after --: dice-run start -- --go 'a b' -k"},
           {{"stop", "--to", "/x", "--to", "/y"}, "--to is given twice; see dice-run stop --help"},
           {{"start", "-n", "1", "--number", "2"}, "--number is given twice; see dice-run start --help"},
           {{"start", "--number"}, "--number needs a value: N; see dice-run start --help"},
           {{"start", "-n", "6"}, "--number: '6' is not a whole number from 1 to 5; see dice-run start --help"},
           {{"start", "-n", "6", "--", "-n"}, "--number: '6' is not a whole number from 1 to 5; see dice-run start --help"},
           {{"start", "--number=6", "--", "--go"},
            "--number: '6' is not a whole number from 1 to 5; see dice-run start --help"},
           {{"start", "-n", "--", "--go", "1"}, "--number needs a value: N; see dice-run start --help"},
           {{"start", "--to", "--", "--go", "1"}, "--to needs a value: FOLDER; see dice-run start --help"},
           {{"start", "--go", "1", "--to", "/x", "--", "-n", "2"},
            "there is no option \"--go\"; options of the program go after --: dice-run start -- --go 1 -n 2"},
           {{"start", "--hosts", "a", "--", "--to", "--"}, ""},
           {{"start", "--foreground", "--", "--to"}, ""},
           {{"start", "--hosts", ""}, "--hosts: " + empty + "; see dice-run start --help"},
           {{"stop", "--to="}, "--to: " + empty},
           {{"start", "--", "", "--x="}, ""}})
    EXPECT_EQ(said_of(given), said) << testing::PrintToString(given);
}

TEST(Diagnostics, LinesOfATextThatMayEndInTheMiddle) {
  EXPECT_EQ(lines_of("a\r\nb\r\r\n\nc"), (words{"a", "b\r", "", "c"}));
  EXPECT_EQ(lines_of("a\n"), words{"a"});
  EXPECT_EQ(lines_of(""), words());
}

}  // namespace
}  // namespace dice_run
