// The first stage of a job: its ranks check that they belong together.
#pragma once

#include "dice/channels/channel.hpp"
#include "dice/channels/transports.hpp"
#include "dice/job/agreement.hpp"
#include "dice/job/late_note.hpp"
#include "dice/job/own_ranks.hpp"
#include "dice/job/record.hpp"
#include "dice/runtime/digest.hpp"
#include "dice/runtime/program.hpp"
#include "dice/this_host/cores.hpp"
#include "dice/weights/file.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dice::job {

/// What must be the same in all ranks: its name in messages, and its value here.
using property = std::pair<const char*, std::string>;

/// How a rank takes part in a job.
struct participation {
  const runtime::program& program;
  channels::communicator& ranks;
  const channels::transport_info& by;
  bool engine = false;  ///< messages name the settings of engines, not options of the command line
  std::chrono::milliseconds patience = others_patience;  ///< before rank 0 says that it waits for others
};

/// What the ranks learn of one another.
struct introduction {
  std::string error;                 ///< empty: no error; the same in every rank
  int code = 0;                      ///< the program's exit code
  std::vector<std::string> hosts{};  ///< by rank
  int sharers = 1;                   ///< ranks whose unit is `cpu` that may use exactly the same cores
};

namespace detail {

inline constexpr const char* same_program = "start the same program with the same options on all hosts";

/// What is wrong with the number of ranks, or "".
[[gnu::cold]] inline std::string wrong_number(const participation& in) {
  const int wanted = in.program.ranks();
  if (wanted == in.ranks.size()) return {};
  const auto n = std::to_string(wanted), found = std::to_string(in.ranks.size());
  const std::string launcher(in.by.started_by.name), count(in.by.started_by.count);
  if (wanted == 1)
    return "this program's plan has 1 rank, started with " + found +
           (in.engine ? ": choose in_process for engine_options::by" : ": run it without " + launcher);
  return "this program's plan has " + n + " ranks, started with " + found + ": start it with " + launcher + " " + count +
         " " + n + " PROGRAM …, or run all ranks in one process (" +
         (in.engine ? "engine_options::by in_process)" : "--transport in-process)");
}

}  // namespace detail

/// Checks that all ranks run the same program in the same way, on the right number of ranks. `usage` says what is wrong
/// with the command line here, or is empty (the error names the rank, unless all say the same); `options` are compared in
/// addition to the program. `any_number`: any number of ranks will do, since no frames run. Collective.
[[gnu::cold]] inline introduction introduce(const participation& in, const agreement& me, std::string usage,
                                            const std::vector<property>& options, bool any_number) {
  const auto& program = in.program;
  const auto r = static_cast<std::size_t>(in.ranks.rank());
  if (in.ranks.rank() < program.ranks() && !program.has(in.ranks.rank()))
    usage = own_ranks_text(program) + "; start each rank with the program of its board, from the package of its host";
  const auto may = this_host::usable_cores();
  std::string mask;
  for (int c : may) mask += std::to_string(c) + ",";
  const bool shares = r < program.units.size() && program.units[r].what == platform::unit::kind::cpu;
  std::vector<property> alike{{"the plan ", runtime::plan_digest(program)},
                              {"a network with the structure ", weights::shown_digest(program.weights.structure)}};
  const auto own = alike.size();
  alike.insert(alike.end(), options.begin(), options.end());
  record mine;  // begins with the version and the host: what follows may differ in another version
  for (const std::string& field :
       {std::string(program.version), me.host(), in.ranks.library(), usage, shares ? mask : std::string()})
    mine.put(field);
  for (const auto& [what, value] : alike) mine.put(value);
  std::optional<late_note> late;
  if (r == 0 && in.ranks.size() > 1 && !in.engine) late.emplace(in.patience, nobody_answers(me.where_text()));
  const auto answers = in.ranks.all_gather(mine.text());
  late.reset();
  introduction out;
  std::string difference, first_version, first_host, first_library;
  std::vector<std::string> first, mistakes;
  int code = 1, sharers = 0;
  for (std::size_t k = 0; k < answers.size(); ++k) {
    record from(answers[k]);
    const auto version = from.get(), host = from.get();
    out.hosts.push_back(host);
    mistakes.emplace_back();
    if (k == 0) {
      first_version = version;
      first_host = host;
    }
    const auto compare = [&](const char* what, const std::string& other, const std::string& zero, const char* why = "",
                             const char* remedy = detail::same_program) {
      if (other == zero || !difference.empty()) return false;
      difference = me.where_text(static_cast<int>(k), host) + " runs " + what + other + ", " + me.where_text(0, first_host) +
                   " " + what + zero + why + "; " + remedy;
      return true;
    };
    compare("dice ", version, first_version);
    if (version != program.version) continue;
    const auto library = from.get();
    if (k == 0) first_library = library;
    compare("", library, first_library, "", "install the same version on all hosts");
    mistakes.back() = from.get();
    const auto cores = from.get();
    sharers += shares && cores == mask && host == me.host();
    for (std::size_t i = 0; i < alike.size(); ++i) {
      const auto value = from.get();
      if (k == 0) first.push_back(value);
      if (k > 0 && !first.empty() &&
          compare(alike[i].first, value, first[i], i == 0 ? ": another mapping, or another program" : "",
                  i == 0 && !program.board.empty() ? "unpack the packages of one build on all hosts" : detail::same_program))
        code = i < own ? 1 : 2;
    }
  }
  out.sharers = std::max(sharers, 1);
  const auto fail = [&](std::string error, int exit_code) {
    out.error = std::move(error);
    out.code = exit_code;
    return out;
  };
  for (std::size_t k = 0; k < mistakes.size(); ++k) {
    if (mistakes[k].empty()) continue;
    const bool of_all = std::count(mistakes.begin(), mistakes.end(), mistakes[k]) == std::ssize(mistakes);
    return fail((of_all ? "" : me.where_text(static_cast<int>(k), out.hosts[k]) + ": ") + mistakes[k], 2);
  }
  if (!difference.empty()) return fail(difference, code);
  if (const auto wrong = any_number ? std::string() : detail::wrong_number(in); !wrong.empty()) return fail(wrong, 2);
  return out;
}

}  // namespace dice::job
