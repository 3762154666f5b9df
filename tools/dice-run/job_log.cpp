#include "job_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

namespace dice_run {

namespace {

// std::regex uses stack for each character that it matches, and lines come from anywhere.
constexpr std::size_t longest = 1000;
constexpr std::string_view of_program = "dice: error: ";

/// mpirun also writes a rank's tag in the middle of a line, where a new read began.
std::string without(std::string_view tag, std::string_view text) {
  std::string out;
  for (std::size_t at; (at = text.find(tag)) != text.npos; text.remove_prefix(at + tag.size())) out += text.substr(0, at);
  return out.append(text);
}

}  // namespace

std::string reason_in(std::span<const std::string> lines, const std::string& mpirun_options) {
  static const std::regex lost("Remote daemon: .* on node (\\S+)"), signal("mpirun noticed that process rank .*"),
      ssh("ssh: (connect to|Could not resolve).*|.*Permission denied \\(.*|Host key verification failed.*"),
      of_mpirun("^(?:\\S*/)?(?:mpirun|mpiexec|orterun|prterun): Error: ");
  std::smatch found;
  std::string error, of_ssh, of_signal, complaint, paragraph, last, said;
  int speaker = -2;
  bool in_paragraph = false, has_begun = false;
  for (const auto& line : lines) {
    const auto parsed = parse_log_line(line);
    const auto text = parsed.text.substr(0, longest);
    if (parsed.supervisor || text.empty()) continue;
    if (std::regex_search(text, found, lost))
      return fmt::format("the connection to {} was lost: check its power and its cable", found[1].str());
    if (parsed.rank < 0 && text.find("has detected an attempt to run as root") != std::string::npos)
      return "mpirun starts nothing as root: start the job as another user, or with MPIRUN_OPTIONS=--allow-run-as-root";
    if (text.starts_with("-----")) {
      in_paragraph = paragraph.empty();
      continue;
    }
    has_begun = has_begun || parsed.rank >= 0;
    if (error.empty() && text.find("error: ") != std::string::npos) {  // a line that quotes an error is one itself
      error = text.substr(text.starts_with(of_program) ? of_program.size() : 0);
      if (text.find("(exit status ") != text.npos && parsed.rank == speaker) error += "; its last words: " + said;
    }
    if (parsed.rank >= 0 && line.find("]<stderr>") != line.npos && !text.starts_with("dice: ")) {  // a source's, perhaps
      speaker = parsed.rank;
      said = text;
    }
    if (complaint.empty() && std::regex_search(text, found, of_mpirun)) complaint = "mpirun: " + found.suffix().str();
    if (of_ssh.empty() && std::regex_search(text, found, ssh)) of_ssh = found[0];
    if (of_signal.empty() && std::regex_search(text, found, signal)) of_signal = found[0];
    if (const auto at = text.find_first_not_of(' '); in_paragraph && parsed.rank < 0 && at != std::string::npos)
      paragraph += (paragraph.empty() ? "" : " ") + text.substr(at);
    last = text;
  }
  for (const auto& text : {error, of_ssh, of_signal})
    if (!text.empty()) return text;
  const auto& reason = !complaint.empty() ? complaint : !paragraph.empty() ? paragraph : last;
  if (has_begun || reason.empty() || mpirun_options.empty()) return reason;
  return fmt::format("{}; MPIRUN_OPTIONS is {}", reason, mpirun_options);
}

log_line parse_log_line(const std::string& given) {
  // Open MPI 5 has the time in brackets, and may end with a zero byte.
  const auto line = given.substr(std::min(given.find_first_not_of('\0'), given.size()));
  static const std::regex tagged(R"(^(?:([^\[]*)|\[([^\]]*)\])(\[\d+,(\d{1,6})\]<std(?:out|err|diag)>: ?))"),
      stamped(R"(^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d )"), own("^(\\S+ \\S+) dice-run: ");
  const auto head = line.substr(0, longest);
  std::smatch found;
  const auto rest = [&] { return line.substr(static_cast<std::size_t>(found.length())); };
  if (std::regex_search(head, found, tagged)) {
    log_line out{found[1].str() + found[2].str(), std::stoi(found[4]), false, without(found[3].str(), rest())};
    const auto begin = out.text.substr(0, 20);
    if (std::regex_search(begin, stamped)) {
      out.time = begin.substr(0, 19);
      out.text.erase(0, 20);
    }
    return out;
  }
  if (std::regex_search(head, found, own)) return {found[1], -1, true, rest()};
  return {"", -1, false, line};
}

std::string failure_reason(const std::vector<std::string>& log) {
  const auto of_supervisor = [](const std::string& line) { return parse_log_line(line).supervisor; };
  const auto failed = std::find_if(log.rbegin(), log.rend(), [&](const std::string& line) {
    return of_supervisor(line) && line.find("the job has failed") != std::string::npos;
  });
  if (failed == log.rend()) return {};
  const auto begin = std::find_if(failed + 1, log.rend(), of_supervisor);
  const auto start = std::find_if(failed + 1, log.rend(), [&](const std::string& line) {
    return of_supervisor(line) && line.find("starts version ") != std::string::npos;
  });
  constexpr std::string_view named = " with MPIRUN_OPTIONS=";  // supervise.sh
  const auto at = start == log.rend() ? std::string::npos : start->find(named);
  const auto options = at == std::string::npos ? "" : start->substr(at + named.size());
  const auto status = failed->substr(failed->rfind(": ") + 2);
  const auto reason = reason_in({begin.base(), failed.base() - 1}, options);
  return reason.empty() ? status : fmt::format("{} ({})", reason, status);
}

std::string named(const log_line& line, const std::vector<std::string>& host_of_rank, const std::string& starter) {
  std::size_t width = std::max(starter.size() + 7, std::string("dice-run").size());
  for (const auto& host : host_of_rank)
    width = std::max(width, host.size() + 2 + std::to_string(host_of_rank.size() - 1).size());
  std::string name = line.supervisor ? "dice-run" : starter + " mpirun";
  if (line.rank >= 0) {
    const auto r = static_cast<std::size_t>(line.rank);
    name = fmt::format("{} #{}", r < host_of_rank.size() ? host_of_rank[r] : "?", line.rank);
  }
  return fmt::format("{:<{}} | {}{}{}", name, width, line.time, line.time.empty() ? "" : " ", line.text);
}

}  // namespace dice_run
