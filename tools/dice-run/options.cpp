#include "options.hpp"

#include "diagnostics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>

namespace dice_run {

CLI::Validator whole_number(long least, long most) {
  return {[least, most](std::string& text) {
            long value = 0;
            const auto end = text.data() + text.size();
            const auto read = std::from_chars(text.data(), end, value);
            if (read.ec == std::errc() && read.ptr == end && value >= least && value <= most) return std::string();
            return fmt::format("'{}' is not a whole number from {} to {}", text, least, most);
          },
          ""};
}

words names_of(const std::string& option, const words& given) {
  words out;
  for (const auto& text : given)
    for (std::size_t from = 0; from <= text.size();) {
      const auto end = std::min(text.find(',', from), text.size());
      if (end == from) throw usage_error(fmt::format("{}: {} has an empty name", option, quote(text)));
      out.push_back(text.substr(from, end - from));
      from = end + 1;
    }
  return out;
}

namespace {

constexpr const char* empty_text = "the text is empty, as of a variable that is not set";

void refuse_empty_texts(CLI::App& app) {
  for (auto* option : app.get_options())
    if (option->get_type_size_max() > 0 && option->get_name() != "options")  // those of the program may be empty
      option->check(CLI::Validator([](std::string& text) { return std::string(text.empty() ? empty_text : ""); }, ""));
  for (auto* command : app.get_subcommands([](const auto*) { return true; })) refuse_empty_texts(*command);
}

/// The unknown options among `given`, each with the words after it.
words with_values(const words& given, const words& unknown) {
  words out;
  bool takes = false;
  for (const auto& word : given) {
    if (word.starts_with('-')) takes = std::ranges::count(unknown, word) > 0;
    if (takes) out.push_back(sh_quote(word));
  }
  return out;
}

}  // namespace

void refuse_empty_texts(CLI::App& app, const words& given) {
  refuse_empty_texts(app);
  for (const auto& word : given) {
    if (word == "--") return;
    if (word.starts_with("--") && word.ends_with('='))
      throw usage_error(fmt::format("{}: {}", word.substr(0, word.size() - 1), empty_text));
  }
}

std::string mistake_of(const CLI::App& app, const CLI::ParseError& error, const words& given) {
  const auto unknown = app.remaining(true);
  const auto commands = app.get_subcommands();
  const std::string command = commands.empty() ? "" : commands[0]->get_name();
  const std::string help = fmt::format("see dice-run{} --help", command.empty() ? "" : " " + command);
  if (!unknown.empty()) {
    const bool is_option = unknown[0].starts_with('-');
    if (!is_option && !command.empty()) return fmt::format("{} is one word too many; {}", quote(unknown[0]), help);
    return fmt::format("there is no {} {}; {}", is_option ? "option" : "command", quote(unknown[0]),
                       is_option && command == "start"
                           ? fmt::format("options of the program go after --: dice-run start -- {}",
                                         fmt::join(with_values(given, unknown), " "))
                           : help);
  }
  if (command.empty() && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    words names;
    for (const auto* one : app.get_subcommands([](const auto*) { return true; })) names.push_back(one->get_name());
    return fmt::format("name a command: {}; {}", fmt::join(names, ", "), help);
  }
  for (const auto* of : {&app, static_cast<const CLI::App*>(commands.empty() ? &app : commands[0])})
    for (const auto* option : of->get_options())
      if (option->count() > 1 && option->get_items_expected_max() == 1)
        return fmt::format("{} is given twice; {}", option->get_name(), help);
      else if (std::string(error.what()).starts_with(option->get_name() + ": 1 required"))
        return fmt::format("{} needs a value: {}; {}", option->get_name(), option->get_type_name(), help);
  return fmt::format("{}; {}", error.what(), help);
}

}  // namespace dice_run
