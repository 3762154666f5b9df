// What a program prints for --help.
#pragma once

#include "dice/app/command_line.hpp"
#include "dice/channels/transports.hpp"
#include "dice/frames/numbers.hpp"
#include "dice/runtime/program.hpp"
#include "dice/text/foreign.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace dice::app {

/// The text of --help.
[[gnu::cold]] inline std::string help(const runtime::program& program, std::string_view command) {
  const auto shape = [](const dice::tensor::shape& s) {
    std::string out;
    for (int a = 0; a < s.rank; ++a) out += (a ? "×" : "") + std::to_string(s[a]);
    return out.empty() ? std::string("scalar") : out;
  };
  const auto name = text::shown(command.substr(command.rfind('/') == std::string_view::npos ? 0 : command.rfind('/') + 1));
  const int ranks = program.ranks();
  std::string out = "Runs the network " + std::string(program.network) + " on " + std::to_string(ranks) +
                    (ranks == 1 ? " rank" : " ranks");
  out += ".\n\nUsage: ";
  if (const auto& by = channels::usual_launcher(); ranks > 1)
    out += std::string(by.name) + " " + std::string(by.count) + " " + std::to_string(ranks) + " ";
  out += "./" + name + " --input FILE.npy [OPTION…]\n";
  for (const bool inputs : {true, false})
    for (const auto& l : program.layers.layers)
      if (inputs ? l.is_input : l.is_output)
        out += std::string("\n  ") + (inputs ? "input   " : "output  ") + text::shown(l.onnx_name) + "  " +
               frames::type_name(l.number) + " " + shape(l.output);
  out += "\n\nOptions:\n";
  for (const auto& o : detail::option_table()) {
    if (o.name == "--mapping" && !program.remap) continue;
    std::string left = "  " + std::string(o.name);
    if (o.how == detail::takes::value) left += " " + std::string(o.value);
    if (o.how == detail::takes::perhaps) left += "[=" + std::string(o.value) + "]";
    constexpr std::size_t column = 28, width = 88;
    left.resize(std::max(left.size() + 2, column), ' ');
    out += left;
    auto at = left.size();
    std::string_view rest = o.help;
    while (!rest.empty()) {  // wrapped at blanks
      auto end = rest.find(' ');
      if (end == std::string_view::npos) end = rest.size();
      if (at + end > column + width) {
        out += "\n" + std::string(column, ' ');
        at = column;
      }
      out += std::string(rest.substr(0, end)) + (end < rest.size() ? " " : "");
      at += end + 1;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    out += "\n";
  }
  return out + "\nExit code: 0 done, 1 failed, 2 wrong usage, 3 stopped by a signal.\n";
}

}  // namespace dice::app
