// Hosts that answer as a test says, and note what they are asked.
#pragma once

#include "diagnostics.hpp"
#include "scripts.hpp"
#include "site.hpp"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace dice_run {

struct conversation {
  std::map<std::string, std::vector<outcome>> answers;  ///< by "SCRIPT HOST"; the last one stays. Others print nothing
  std::map<std::string, std::string> locked;            ///< hosts that another has locked, with what they say
  std::map<std::string, std::vector<int>> percents;     ///< of what is sent to a host
  std::set<std::string> lost;                           ///< hosts whose locks end
  words asked;                                          ///< "SCRIPT HOST ARGUMENT…", and "send HOST FROM TO BASIS FILE…"
};

inline outcome says(const std::string& out) { return {.status = 0, .out = out, .err = {}, .failure = {}}; }
inline outcome fails(const std::string& err, const std::string& out = {}) {
  return {.status = 1, .out = out, .err = err + "\n", .failure = {}};
}
inline outcome is_cut() { return {.status = 255, .out = {}, .err = {}, .failure = "it is cut"}; }

class answering_hosts final : public remote {
 public:
  explicit answering_hosts(conversation& c, bool dry_run = false) : remote(settings{.dry_run = dry_run}), c_(c) {}

  outcome stream(const std::string& host, const std::string& script, const words& arguments, const reader&) const override {
    const auto name = name_of(script);
    ask(name, host, {arguments.begin() + 5, arguments.end()});  // of the prelude
    auto& all = c_.answers[name + " " + host];
    const auto out = all.empty() ? outcome{} : all[0];
    if (all.size() > 1) all.erase(all.begin());
    return out;
  }
  std::unique_ptr<held_script> hold(const std::string& host, const std::string& script, const words& arguments,
                                    std::string_view expected) const override {
    ask(name_of(script), host, {arguments.begin() + 5, arguments.end()});
    if (expected != "locked") throw std::logic_error("a lock says something else");
    if (const auto by = c_.locked.find(host); by != c_.locked.end()) throw run_error(by->second);
    return std::make_unique<held>(c_, host);
  }
  outcome send(const words& files, const std::string& from, const std::string& host, const std::string& to,
               const std::string& basis, const std::function<void(int)>& progress) const override {
    words arguments{from, to, basis};
    arguments.insert(arguments.end(), files.begin(), files.end());
    ask("send", host, arguments);
    if (progress)
      for (const int percent : c_.percents[host]) progress(percent);
    const auto said = c_.answers.find("send " + host);
    return said == c_.answers.end() ? outcome{} : said->second[0];
  }
  void at_once(std::size_t count, const std::function<void(std::size_t)>& work) const override {
    for (std::size_t i = 0; i < count; ++i) work(i);
  }

 private:
  struct held final : held_script {
    held(const conversation& all, std::string name) : c(all), host(std::move(name)) {}
    bool is_lost() const override { return c.lost.contains(host); }
    const conversation& c;
    const std::string host;
  };
  conversation& c_;

  void ask(std::string what, const std::string& host, const words& arguments) const {
    what += " " + host;
    for (const auto& word : arguments) what += " " + sh_quote(word);
    c_.asked.push_back(what);
  }
  static std::string name_of(const std::string& script) {
    namespace s = scripts;
    for (const auto& [name, text] : {std::pair{"lock", s::lock},
                                     {"survey", s::survey},
                                     {"facts", s::facts},
                                     {"prepare", s::prepare},
                                     {"discard", s::discard},
                                     {"complete", s::complete},
                                     {"remember", s::remember},
                                     {"switch_to", s::switch_to},
                                     {"clean", s::clean}})
      if (script == scripts::prelude + std::string(text)) return name;
    throw std::logic_error("another script: " + script);
  }
};

/// A package for each host, with the ranks 0, 1, …, of version 222: an executable of 20000 bytes, and weights of 4000.
inline deployment plan_of(const words& hosts) {
  deployment out;
  out.name = "n";
  out.version = "222";
  for (const auto& host : hosts) {
    package one;
    one.host = host;
    one.ranks = {static_cast<int>(out.hosts.size())};
    one.files = {{"sh", 20000, "of-sh"}, {"weights", 4000, "of-" + host}};
    one.folder = "/bin";  // where sh is
    one.processor = "cpu-of-" + host;
    out.packages.push_back(one);
    out.hosts.push_back(host);
    out.host_of_rank.push_back(host);
  }
  return out;
}

/// All that a command says, errors as "error: …", and of what is wrongly used "usage: …".
template <class Command>
words said_by(conversation& c, const deployment& plan, const Command& command, bool dry_run = false) {
  words out;
  listener = [&](std::string_view text) { out.emplace_back(text); };
  try {
    const site s(plan, "/f", std::make_unique<answering_hosts>(c, dry_run), "token");
    if (const int code = command(s); code != 0) out.push_back(fmt::format("exit code {}", code));
  } catch (const run_error& e) {
    for (const auto& text : e.messages) out.push_back("error: " + text);
  } catch (const usage_error& e) {
    out.push_back(std::string("usage: ") + e.what());
  }
  listener = nullptr;
  return out;
}

}  // namespace dice_run
