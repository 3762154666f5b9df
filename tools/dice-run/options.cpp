#include "options.hpp"

#include "diagnostics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>

namespace dice_run {

namespace {

template <class T> CLI::Validator number_from(T least, T most, const char* kind) {
  return {[least, most, kind](std::string& text) {
            T value{};
            const auto end = text.data() + text.size();
            const auto read = std::from_chars(text.data(), end, value);
            if (read.ec == std::errc() && read.ptr == end && value >= least && value <= most) return std::string();
            return fmt::format("'{}' is not a {} from {} to {}", text, kind, least, most);
          },
          ""};
}

}  // namespace

CLI::Validator whole_number(long least, long most) { return number_from(least, most, "whole number"); }
CLI::Validator number_between(double least, double most) { return number_from(least, most, "number"); }

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

/// The unknown options among `given`, each with the words after it, and all that follows "--".
words with_values(const words& given, const words& unknown) {
  words out;
  const auto end = std::ranges::find(given, "--");
  bool takes = false;
  for (auto word = given.begin(); word != given.end(); ++word) {
    if (word == end) takes = true;
    else if (word < end && word->starts_with('-')) takes = std::ranges::count(unknown, *word) > 0;
    if (takes && word != end) out.push_back(sh_quote(*word));
  }
  return out;
}

std::string needs_value(const CLI::Option& option, const std::string& help) {
  return fmt::format("{} needs a value: {}; {}", option.get_name(), option.get_type_name(), help);
}

std::string help_of(const CLI::App* command) {
  return fmt::format("see dice-run{} --help", command == nullptr ? "" : " " + command->get_name());
}

/// The command that `given` names, or nullptr.
const CLI::App* command_of(const CLI::App& app, const words& given) {
  for (const auto* one : app.get_subcommands([](const auto*) { return true; }))
    if (std::ranges::count(given, one->get_name()) > 0) return one;
  return nullptr;
}

}  // namespace

void refuse_empty_texts(CLI::App& app, const words& given) {
  refuse_empty_texts(app);
  const words own(given.begin(), std::ranges::find(given, "--"));
  for (const auto& word : own)
    if (word.starts_with("--") && word.ends_with('='))
      throw usage_error(fmt::format("{}: {}", word.substr(0, word.size() - 1), empty_text));
  if (own.empty() || own.size() == given.size()) return;
  const auto* command = command_of(app, own);
  for (const auto* of : {static_cast<const CLI::App*>(&app), command == nullptr ? &app : command})
    if (const auto* option = of->get_option_no_throw(own.back()); option != nullptr && option->get_items_expected_max() > 0)
      throw usage_error(needs_value(*option, help_of(command)));
}

std::string mistake_of(const CLI::App& app, const CLI::ParseError& error, const words& given) {
  auto unknown = app.remaining(true);
  std::erase(unknown, "--");  // CLI11 lists it, too
  const auto commands = app.get_subcommands();
  const std::string command = commands.empty() ? "" : commands[0]->get_name();
  const auto help = help_of(commands.empty() ? nullptr : commands[0]);
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
      else if (std::string(error.what()).starts_with(option->get_name() + ": 1 required")) return needs_value(*option, help);
  return fmt::format("{}; {}", error.what(), help);
}

}  // namespace dice_run
