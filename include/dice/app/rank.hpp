// What every rank does from its start to its end; the same for processes and for threads.
#pragma once

#include "dice/app/command_line.hpp"
#include "dice/app/launcher.hpp"
#include "dice/app/record.hpp"
#include "dice/app/report.hpp"
#include "dice/app/results.hpp"
#include "dice/channels/channel.hpp"
#include "dice/runtime/affinity.hpp"
#include "dice/runtime/digest.hpp"
#include "dice/runtime/executor.hpp"
#include "dice/runtime/npy.hpp"
#include "dice/runtime/sink.hpp"
#include "dice/runtime/source.hpp"
#include "dice/weights/search.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dice::app {

inline std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 && name[0] ? name : "unknown";
}

/// One rank's part of a job.
class rank_job {
public:
  /// `usage` is what is wrong with the command line here, or empty; then `o` counts for nothing.
  rank_job(const runtime::program& p, const options& o, std::string usage, channels::communicator& ranks, bool processes)
      : program_(p), options_(o), usage_(std::move(usage)), ranks_(ranks), rank_(ranks.rank()), processes_(processes), host_(host_name()) {}

  /// Runs it; returns the exit code, the same in every rank.
  int run() {
    try {
      for (auto stage : {&rank_job::introduce, &rank_job::prepare, &rank_job::allocate, &rank_job::compute, &rank_job::finish})
        if (const int code = (this->*stage)()) return code;
      return 0;
    } catch (const channels::stopped&) {
      return 1;
    } catch (const std::exception& e) {
      ranks_.stop("dice: error: " + where() + ": " + cause(e));
      return 1;
    }
  }

private:
  std::string where() const { return place(rank_, host_); }
  std::string place(int rank, const std::string& host) const {
    return program_.ranks() == 1 ? "host " + host : "rank " + std::to_string(rank) + " (host " + host + ")";
  }
  static std::string cause(const std::exception& e) {
    return dynamic_cast<const std::bad_alloc*>(&e) ? "out of memory" : e.what();
  }
  const graph::layer_info& layer(int l) const { return program_.layers.layers[static_cast<std::size_t>(l)]; }
  std::string name(int l) const { return std::string(layer(l).onnx_name); }
  bool here(int l) const { return program_.plan.owner[static_cast<std::size_t>(l)] == rank_; }
  /// The rank that has the results of output `l` at the end.
  int holder(int l) const { return options_.gather ? 0 : program_.plan.owner[static_cast<std::size_t>(l)]; }
  /// Whether the results of output `l` are wanted by anyone.
  bool kept(int l) const {
    const auto names = [&](const std::vector<named_file>& files) {
      return std::any_of(files.begin(), files.end(), [&](const auto& f) { return f.layer == l; });
    };
    return layer(l).is_output && (options_.top > 0 || names(options_.outputs) || names(options_.expected));
  }

  /// Prints `error` once, in rank 0, and sees to it that no rank goes before that: mpirun ends the others when one is gone.
  int refuse(const std::string& error, int code) {
    if (rank_ == 0) {
      std::fprintf(stderr, "dice: error: %s\n", error.c_str());
      std::fflush(stderr);
    }
    ranks_.all_gather({});
    return code;
  }

  /// Every rank tells how its stage went (empty: well) and `more`; the first error ends the job.
  int agree(const std::string& error, const std::string& more, std::vector<std::string>& all) {
    record mine;
    mine.put(error);
    mine.put(host_);
    mine.put(more);
    const auto told = ranks_.all_gather(mine.text());
    all.clear();
    std::string first;
    for (std::size_t r = 0; r < told.size(); ++r) {
      record in(told[r]);
      const auto text = in.get(), host = in.get();
      all.push_back(in.get());
      if (!text.empty() && first.empty()) first = program_.ranks() == 1 ? text : place(static_cast<int>(r), host) + ": " + text;
    }
    return first.empty() ? 0 : refuse(first, 1);
  }
  int agree(const std::string& error) {
    std::vector<std::string> ignored;
    return agree(error, {}, ignored);
  }

  /// Calls f; the text of what it throws, or "".
  template <class F>
  std::string attempt(F f) {
    try {
      f();
      return {};
    } catch (const channels::stopped&) {
      throw;
    } catch (const std::exception& e) {
      return cause(e).empty() ? "unknown error" : cause(e);
    }
  }

  /// Do we all run the same program, on the right number of ranks?
  int introduce() {
    const auto may = runtime::usable_cores();
    std::string mask;
    for (int c : may) mask += std::to_string(c) + ",";
    const auto r = static_cast<std::size_t>(rank_);
    const bool shares = r < program_.units.size() && program_.units[r].what == platform::unit::kind::cpu;
    record mine;
    for (const std::string& field : {std::string(program_.version), runtime::plan_digest(program_), std::string(program_.weights.digest),
                                     host_, usage_, shares ? mask : std::string()})
      mine.put(field);
    const auto told = ranks_.all_gather(mine.text());
    struct {
      std::string version, plan, weights, host;
    } first;
    std::string usage, difference;
    sharers_ = 0;
    for (std::size_t k = 0; k < told.size(); ++k) {
      record in(told[k]);
      const auto version = in.get(), plan = in.get(), weights = in.get(), host = in.get(), wrong = in.get(), cores = in.get();
      if (k == 0) first = {version, plan, weights, host};
      if (!wrong.empty() && usage.empty()) usage = wrong;
      sharers_ += shares && cores == mask && host == host_;
      if (!difference.empty()) continue;
      const auto compare = [&](const char* what, const std::string& other, const std::string& zero) {
        if (other != zero && difference.empty())
          difference = "rank " + std::to_string(k) + " (host " + host + ") runs " + what + other + ", rank 0 (host " + first.host + ") " +
                       what + zero + "; start the same program on all hosts";
      };
      compare("dice ", version, first.version);
      compare("the plan ", plan, first.plan);
      compare("a network with the weights ", weights.substr(0, 16), first.weights.substr(0, 16));
    }
    sharers_ = std::max(sharers_, 1);
    if (!usage.empty()) return refuse(usage, 2);
    if (!difference.empty()) return refuse(difference, 1);
    if (const int wanted = program_.ranks(); wanted != ranks_.size()) {
      const auto n = std::to_string(wanted);
      return refuse("this program's plan has " + n + " ranks, started with " + std::to_string(ranks_.size()) + ": run it with mpirun -n " +
                        n + " PROGRAM …, or with --transport in-process",
                    2);
    }
    return 0;
  }

  /// Threads, weights and files.
  int prepare() {
    std::string warning;
    record counts;
    const auto error = attempt([&] {
      warning = start_threads();
      const weights::file file(weights::find(program_.weights, options_.weights, program_.weights_folder), program_.network,
                               program_.weights);
      std::vector<int> groups;
      const auto needs = runtime::needs_of(program_, rank_, groups);
      store_ = weights::store(file, needs);
      for (int l = 0; l < program_.layers.size(); ++l) {
        if (!layer(l).is_input || !here(l)) continue;
        std::vector<runtime::tensor> given;
        for (const auto& f : options_.inputs)
          if (f.layer == l) given.push_back(runtime::read_frames(f.file, layer(l).output, "input '" + name(l) + "'"));
        if (given.empty()) continue;
        source_.add(l, layer(l).output, std::move(given));
        counts.put(name(l));
        counts.put(source_.frames(l));
      }
      for (const auto& f : options_.expected)
        if (holder(f.layer) == rank_)
          expected_[f.layer] = runtime::read_frames(f.file, layer(f.layer).output, "output '" + name(f.layer) + "'");
      const bool lists = options_.top > 0 && std::any_of(program_.layers.layers.begin(), program_.layers.layers.end(), [&](const auto& l) {
                           return l.is_output && holder(static_cast<int>(&l - program_.layers.layers.data())) == rank_;
                         });
      if (lists && !options_.labels.empty()) labels_ = read_labels(options_.labels);
    });
    record mine;
    mine.put(warning);
    mine.put(host_);
    mine.put(counts.text());
    std::vector<std::string> all;
    if (const int code = agree(error, mine.text(), all)) return code;
    return count_frames(all);
  }

  std::string start_threads() {
    const auto r = static_cast<std::size_t>(rank_);
    if (r >= program_.units.size()) return {};
    const auto cores = r < program_.cores.size() ? program_.cores[r] : std::span<const int>{};
    const auto online = static_cast<int>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
    const bool launched = processes_ && launched_size() > 0;
    const auto crew = runtime::engage(program_.units[r], cores, sharers_, online, launched ? "; start with mpirun --bind-to none" : "");
    if (program_.threads.start) program_.threads.start(crew.threads, crew.cores);
    return crew.warning;
  }

  /// Prints the warnings and finds the number of frames, from what all ranks told.
  int count_frames(const std::vector<std::string>& all) {
    std::string first, difference;
    for (std::size_t r = 0; r < all.size(); ++r) {
      record in(all[r]);
      const auto warning = in.get(), host = in.get(), counts = in.get();
      if (rank_ == 0 && !warning.empty()) std::fprintf(stderr, "dice: warning: %s %s\n", place(static_cast<int>(r), host).c_str(), warning.c_str());
      for (record c(counts); c.more();) {
        const auto input = c.get();
        const auto n = c.get_number();
        if (given_ == 0) given_ = n, first = input;
        if (n != given_ && difference.empty())
          difference = "input '" + first + "' has " + std::to_string(given_) + " frames, input '" + input + "' has " + std::to_string(n) +
                       "; give as many for each";
      }
    }
    frames_ = options_.frames.value_or(std::max<std::int64_t>(given_, 1));
    return difference.empty() ? 0 : refuse(difference, 1);
  }

  /// Memory for the run, and the endpoint.
  int allocate() {
    offset_ = ranks_.clock_offset();
    const auto frames_error = attempt([&] {
      int ordinal = 0;
      for (int l = 0; l < program_.layers.size(); ++l) {
        const auto& about = layer(l);
        const bool file = std::any_of(options_.inputs.begin(), options_.inputs.end(), [&](const auto& f) { return f.layer == l; });
        if (about.is_input && here(l) && !file) {
          constexpr std::int64_t made_ahead = std::int64_t{256} << 20;  // bytes; later frames are made as they enter
          const auto ahead = std::min({std::max(frames_, options_.warmup), made_ahead / std::max<std::int64_t>(about.output.bytes(), 1)});
          source_.add_random(l, about.output, ordinal, options_.random.value_or(0), std::max<std::int64_t>(ahead, 1));
        }
        ordinal += about.is_input;
        if (kept(l) && (here(l) || holder(l) == rank_)) sink_.add(l, about.output, frames_);
        if (const auto at = expected_.find(l); at != expected_.end()) check_expected(l, at->second);
      }
    });
    if (const int code = agree(frames_error)) return code;
    const int in_flight = options_.in_flight.value_or(program_.plan.in_flight);
    return agree(attempt([&] {  // connect is collective: nothing that can fail in one rank alone comes before it
      end_ = ranks_.connect(runtime::paths_of(program_.plan, in_flight));
      executor_.emplace(program_, rank_, store_, *end_, in_flight);
    }));
  }

  /// --expect gives as many frames as the run has, or as were given.
  void check_expected(int l, const runtime::tensor& t) const {
    const auto n = runtime::frames_in(t.shape(), layer(l).output);
    if (n == frames_ || n == given_) return;
    throw runtime::file_error("--expect for output '" + name(l) + "' holds " + std::to_string(n) + " frames, the run has " +
                              std::to_string(frames_));
  }

  int compute() {
    const char* phase = "warm-up frame ";
    try {
      if (options_.warmup > 0) executor_->run(options_.warmup, &source_, nullptr, figures_);
      phase = "frame ";
      progress progress_sink(sink_, frames_, shows_progress());
      executor_->run(frames_, &source_, &progress_sink, figures_);
      return 0;
    } catch (const channels::stopped&) {
      return 1;
    } catch (const std::exception& e) {
      ranks_.stop("dice: error: " + where() + ", " + phase + std::to_string(executor_->frame()) + ": " + cause(e));
      return 1;
    }
  }

  /// Counts frames on a terminal, at most ten times a second, before handing them on.
  class progress final : public runtime::sink {
  public:
    progress(runtime::sink& next, std::int64_t frames, bool shows) : next_(next), frames_(frames), shows_(shows) {}
    progress(const progress&) = delete;
    progress& operator=(const progress&) = delete;
    ~progress() override {
      if (shows_) std::fprintf(stderr, "\r\033[K");
    }
    void take(int layer, std::int64_t frame, const float* from, std::int64_t elements) override {
      next_.take(layer, frame, from, elements);
      if (!shows_) return;
      const auto now = runtime::now();
      if (now - last_ < 100'000'000) return;
      last_ = now;
      std::fprintf(stderr, "\rframe %lld of %lld", static_cast<long long>(frame + 1), static_cast<long long>(frames_));
    }

  private:
    runtime::sink& next_;
    std::int64_t frames_, last_ = 0;
    bool shows_;
  };

  /// On a terminal, and only from the rank with the last graph output.
  bool shows_progress() const {
    int last = -1;
    for (int l = 0; l < program_.layers.size(); ++l)
      if (layer(l).is_output) last = l;
    return last >= 0 && here(last) && ::isatty(STDERR_FILENO);
  }

  /// Results and figures go where they are wanted.
  int finish() {
    const auto parts = ranks_.all_gather(report_part(host_, figures_, offset_, program_.plan.ranks[static_cast<std::size_t>(rank_)].peak_bytes));
    for (int l = 0; l < program_.layers.size(); ++l) {
      if (!kept(l) || holder(l) == program_.plan.owner[static_cast<std::size_t>(l)]) continue;
      if (here(l)) ranks_.send_block(holder(l), sink_.result(l).data(), frames_ * layer(l).output.bytes());
      if (holder(l) == rank_)
        ranks_.receive_block(program_.plan.owner[static_cast<std::size_t>(l)], sink_.result(l).data(), frames_ * layer(l).output.bytes());
    }
    std::string error;
    const auto then = [&](auto f) {
      const auto e = attempt(f);
      if (error.empty()) error = e;
    };
    for (const auto& f : options_.outputs)
      if (holder(f.layer) == rank_) then([&] { runtime::write_npy(f.file, sink_.result(f.layer)); });
    if (options_.top > 0) then([&] { list_top(); });
    for (const auto& f : options_.expected)
      if (holder(f.layer) == rank_) then([&] { compare(f); });
    if (rank_ == 0)
      then([&] {
        const auto all = merge(parts, frames_);
        if (!options_.json.empty()) runtime::write_text(options_.json, report_json(all));
        print(report_table(all));
      });
    return agree(error);
  }

  static void print(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }

  void list_top() {
    int outputs = 0;
    for (const auto& l : program_.layers.layers) outputs += l.is_output;
    for (int l = 0; l < program_.layers.size(); ++l)
      if (layer(l).is_output && holder(l) == rank_)
        print(top_text(outputs > 1 ? name(l) : "", sink_.result(l), frames_, options_.top, labels_));
  }

  void compare(const named_file& f) {
    const double error = relative_error(sink_.result(f.layer), expected_.at(f.layer));
    char text[96];
    std::snprintf(text, sizeof text, ": error %.3g (max |a-b| / max |b|), tolerance %.3g", error, options_.tolerance);
    print(name(f.layer) + text + "\n");
    if (!(error <= options_.tolerance)) throw std::runtime_error("output '" + name(f.layer) + "' is not as '" + f.file + "' expects" + text);
  }

  const runtime::program& program_;
  const options& options_;
  const std::string usage_;
  channels::communicator& ranks_;
  const int rank_;
  const bool processes_;
  const std::string host_;
  int sharers_ = 1;  ///< ranks whose unit is `cpu` that may use the very same cores
  weights::store store_;
  runtime::tensor_source source_;
  runtime::tensor_sink sink_;
  std::map<int, runtime::tensor> expected_;
  std::vector<std::string> labels_;
  std::int64_t given_ = 0, frames_ = 0, offset_ = 0;
  std::unique_ptr<channels::endpoint> end_;
  std::optional<runtime::executor> executor_;
  runtime::figures figures_;
};

}  // namespace dice::app
