// The words that a command line may have, and the messages about others.
#pragma once

#include "remote.hpp"

#include <string>

namespace CLI {
class App;
class ParseError;
class Validator;
}  // namespace CLI

namespace dice_run {

/// A check of options: a whole number from `least` to `most`. Unlike CLI::Range, it does not show in --help.
CLI::Validator whole_number(long least, long most);

/// The same for any number, also 0.5. CLI::Range takes "nan", too.
CLI::Validator number_between(double least, double most);

/// The names in words such as "a,b". Throws usage_error, which names the option, if one is empty.
words names_of(const std::string& option, const words& given);

/// Makes all options of `app` and its commands that take a text refuse an empty one, which an unset variable gives. Throws
/// usage_error if the command line has one as "--option=", which CLI11 takes for the option alone, or has "--" in the place
/// of a value.
void refuse_empty_texts(CLI::App& app, const words& given);

/// What is wrong with a command line that `app` could not parse, and what to do. `given`: its words.
std::string mistake_of(const CLI::App& app, const CLI::ParseError& error, const words& given);

}  // namespace dice_run
