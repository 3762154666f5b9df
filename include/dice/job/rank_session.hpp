// A rank among the ranks of its job: what they agree on before frames flow. The same for dice::main and engines.
#pragma once

#include "dice/channels/channel.hpp"
#include "dice/channels/patience.hpp"
#include "dice/channels/transports.hpp"
#include "dice/files/error.hpp"
#include "dice/files/mapped.hpp"
#include "dice/job/own_ranks.hpp"
#include "dice/job/record.hpp"
#include "dice/runtime/digest.hpp"
#include "dice/runtime/executor.hpp"
#include "dice/text/print.hpp"
#include "dice/this_host/affinity.hpp"
#include "dice/this_host/cores.hpp"
#include "dice/this_host/host_memory.hpp"
#include "dice/weights/current.hpp"
#include "dice/weights/packed.hpp"
#include "dice/weights/search.hpp"
#include "dice/weights/verify.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace dice::job {

inline std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 && name[0] ? name : "unknown";
}

/// What an exception says, never empty.
inline std::string cause(const std::exception& e) {
  const std::string text = dynamic_cast<const std::bad_alloc*>(&e) ? "out of memory" : e.what();
  return text.empty() ? "unknown error" : text;
}

/// The same of what is thrown otherwise.
inline constexpr const char* not_an_exception = "an exception that is not a std::exception";

/// One rank of a job. Where functions are collective, every rank calls them in the same order.
class rank_session {
  static constexpr const char* same_program = "start the same program with the same options on all hosts";

 public:
  /// `by` is the transport of `ranks`. `engine`: messages name the settings of engines, not options of the command line.
  rank_session(const runtime::program& p, channels::communicator& ranks, const channels::transport_info& by,
               bool engine = false)
      : program_(p), ranks_(ranks), by_(by), engine_(engine), host_(host_name()) {}

  int rank() const { return ranks_.rank(); }
  const std::string& host() const { return host_; }
  /// "rank 1 (host b)", or "host b" if there is only one rank.
  std::string where_text(int rank, const std::string& host) const {
    return ranks_.size() == 1 ? "host " + host : "rank " + std::to_string(rank) + " (host " + host + ")";
  }
  std::string where_text() const { return where_text(rank(), host_); }
  /// The same of any rank, after introduce().
  std::string where_text(int rank) const { return where_text(rank, hosts_[rank]); }

  /// How a stage went, the same in every rank.
  struct outcome {
    std::string error;  ///< empty: no error
    int code = 0;       ///< the program's exit code
  };

  /// Exchanges the error of each rank's stage (empty: none) and `more`, which `all` receives from all ranks. Returns the
  /// first error with its rank, or "". It is also an error if ranks have opened weights of different trainings. Collective.
  std::string agree(const std::string& error, const std::string& more, std::vector<std::string>& all) {
    record mine;
    mine.put(error);
    mine.put(host_);
    mine.put(more);
    mine.put(content_), mine.put(weights_path_);
    const auto answers = ranks_.all_gather(mine.text());
    all.clear();
    std::string first, mixed, first_content, first_said;
    for (std::size_t r = 0; r < answers.size(); ++r) {
      record in(answers[r]);
      const auto text = in.get(), host = in.get();
      all.push_back(in.get());
      if (!text.empty() && first.empty())
        first = program_.ranks() == 1 ? text : where_text(static_cast<int>(r), host) + ": " + text;
      const auto content = in.get(), path = in.get();
      const auto said =
          where_text(static_cast<int>(r), host) + " has '" + path + "' (digest " + weights::shown_digest(content) + ")";
      if (r == 0) first_content = content, first_said = said;
      if (content != first_content && mixed.empty())
        mixed = "the weights are of different trainings: " + first_said + ", " + said +
                (program_.board.empty() ? "; copy the same weights to all hosts"
                                        : "; give each host its own weights of one training: its package, or what --pack "
                                          "--ranks writes for its ranks");
    }
    return first.empty() ? mixed : first;
  }
  std::string agree(const std::string& error) {
    std::vector<std::string> ignored;
    return agree(error, {}, ignored);
  }

  /// Calls f; the text of what it throws, or "".
  template <class F> static std::string attempt(F f) {
    try {
      f();
      return {};
    } catch (const channels::stopped&) {
      throw;
    } catch (const std::exception& e) {
      return cause(e);
    } catch (...) {
      return not_an_exception;
    }
  }

  /// What must be the same in all ranks: its name in messages, and its value here.
  using property = std::pair<const char*, std::string>;

  /// Checks that all ranks run the same program in the same way, on the right number of ranks. `usage` says what is wrong
  /// with the command line here, or is empty (the outcome names the rank, unless all say the same); `options` are compared
  /// in addition to the program. `any_number`: of ranks, for what runs no frames. Collective.
  [[gnu::cold]] outcome introduce(std::string usage, const std::vector<property>& options, bool any_number = false) {
    if (rank() < program_.ranks() && !program_.has(rank()))
      usage = own_ranks_text(program_) + "; start each rank with the program of its board, from the package of its host";
    const auto may = this_host::usable_cores();
    std::string mask;
    for (int c : may) mask += std::to_string(c) + ",";
    const auto r = static_cast<std::size_t>(rank());
    const bool shares = r < program_.units.size() && program_.units[r].what == platform::unit::kind::cpu;
    std::vector<property> alike{{"the plan ", runtime::plan_digest(program_)},
                                {"a network with the structure ", weights::shown_digest(program_.weights.structure)}};
    const auto own = alike.size();
    alike.insert(alike.end(), options.begin(), options.end());
    record mine;  // begins with the version and the host: what follows may differ in another version
    for (const std::string& field :
         {std::string(program_.version), host_, ranks_.library(), usage, shares ? mask : std::string()})
      mine.put(field);
    for (const auto& [what, value] : alike) mine.put(value);
    const auto answers = ranks_.all_gather(mine.text());
    std::string difference, first_version, first_host, first_library;
    std::vector<std::string> first, mistakes;
    int code = 1;
    sharers_ = 0;
    for (std::size_t k = 0; k < answers.size(); ++k) {
      record in(answers[k]);
      const auto version = in.get(), host = in.get();
      hosts_.push_back(host), mistakes.emplace_back();
      if (k == 0) first_version = version, first_host = host;
      const auto compare = [&](const char* what, const std::string& other, const std::string& zero, const char* why = "",
                               const char* remedy = same_program) {
        if (other == zero || !difference.empty()) return false;
        difference = where_text(static_cast<int>(k), host) + " runs " + what + other + ", " + where_text(0, first_host) +
                     " " + what + zero + why + "; " + remedy;
        return true;
      };
      compare("dice ", version, first_version);
      if (version != program_.version) continue;
      const auto library = in.get();
      if (k == 0) first_library = library;
      compare("", library, first_library, "", "install the same version on all hosts");
      mistakes.back() = in.get();
      const auto cores = in.get();
      sharers_ += shares && cores == mask && host == host_;
      for (std::size_t i = 0; i < alike.size(); ++i) {
        const auto value = in.get();
        if (k == 0) first.push_back(value);
        if (k > 0 && !first.empty() &&
            compare(alike[i].first, value, first[i], i == 0 ? ": another mapping, or another program" : "",
                    i == 0 && !program_.board.empty() ? "unpack the packages of one build on all hosts" : same_program))
          code = i < own ? 1 : 2;
      }
    }
    sharers_ = std::max(sharers_, 1);
    for (std::size_t k = 0; k < mistakes.size(); ++k) {
      if (mistakes[k].empty()) continue;
      const bool of_all = std::count(mistakes.begin(), mistakes.end(), mistakes[k]) == std::ssize(mistakes);
      return {(of_all ? "" : where_text(static_cast<int>(k)) + ": ") + mistakes[k], 2};
    }
    if (!difference.empty()) return {difference, code};
    if (const int wanted = program_.ranks(); wanted != ranks_.size() && !any_number) {
      const auto n = std::to_string(wanted), found = std::to_string(ranks_.size());
      const std::string launcher(by_.started_by.name), count(by_.started_by.count);
      if (wanted == 1)
        return {"this program's plan has 1 rank, started with " + found +
                    (engine_ ? ": choose in_process for engine_options::by" : ": run it without " + launcher),
                2};
      return {"this program's plan has " + n + " ranks, started with " + found + ": start it with " + launcher + " " +
                  count + " " + n + " PROGRAM …, or run all ranks in one process (" +
                  (engine_ ? "engine_options::by in_process)" : "--transport in-process)"),
              2};
    }
    return {};
  }

  /// Starts the calling thread's team for this rank's unit. Returns a warning, or "".
  std::string start_threads() {
    const auto r = static_cast<std::size_t>(rank());
    if (r >= program_.units.size()) return {};
    const auto cores = r < program_.cores.size() ? program_.cores[r] : std::span<const int>{};
    const auto online = static_cast<int>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
    const auto launch = channels::launched();
    const bool launched = by_.processes && launch.size > 0, bound = launched && launch.by->bound();
    std::string remedy;
    if (bound) remedy = "; bind the rank to more cores, or give it fewer threads";
    else if (launched)
      remedy = "; start with " + std::string(launch.by->started_by.name) + " " + std::string(launch.by->started_by.unbind);
    const auto plan = this_host::engage(program_.units[r], cores, sharers_, online, remedy, bound);
    threads_ = plan.threads, cores_ = plan.cores.empty() ? this_host::usable_cores() : plan.cores;
    if (program_.threads.start) program_.threads.start(plan.threads, plan.cores);
    if (!program_.board.empty() && plan.cores.size() < cores.size())
      throw std::runtime_error(plan.warning + "; correct the mapping, or free these cores (taskset, control groups)");
    auto warning = plan.warning;
    if (const char* slow = unoptimised(); *slow && (by_.processes ? launch.local_rank : rank()) == 0)
      warning += (warning.empty() ? "" : "; ") + std::string(slow);
    return warning;
  }

  /// Starts the calling thread's team for this rank's unit, or opens its accelerator, and maps its weights or copies them to
  /// the accelerator: from the file `packed`; if neither file is named, from the one next to the program; else packs them
  /// from the file `plain`, by default where --weights looks. `verify`: compares them with their digests first. Returns a
  /// warning, or "". Throws.
  [[gnu::cold]] std::string equip(const std::string& plain, const std::string& packed, int in_flight, bool verify = false) {
    auto warning = start_threads();
    const auto warn = [&](const std::string& more) { warning += (warning.empty() || more.empty() ? "" : "; ") + more; };
    if (program_.board.empty()) warn(host_elsewhere());  // else its weights belong to the host, whatever that is called
    if (const int r = rank(); program_.opener(r)) open_accelerator(r, in_flight);
    const std::string option = engine_ ? "engine_options::weights" : "--weights";
    const auto items = runtime::weights_of(program_);
    const auto& own = items[rank()];
    verified_ = {};
    weights_path_ = packed.empty() && plain.empty() ? weights::packed_beside() : packed;
    std::string unfit;  // why the file next to the program cannot be used
    if (!weights_path_.empty()) try {
        const weights::packed_file file(weights_path_, runtime::packed_identity(program_), items, !packed.empty(), option);
        file.require(rank());
        if (packed.empty())
          warn(weights::require_current(file, program_.network, program_.weights, program_.weights_folder));
        if (verify) verified_ = weights::verify(file, rank(), own, runtime::item_names(program_, rank()));
        content_ = file.about().content;
        store_ = accelerator_ ? uploaded(own, [&](auto put) { file.each_piece(rank(), own, put); }) : file.map(rank(), own);
        if (accelerator_) accelerator_->remember_beside(weights_path_);
        return warning;
      } catch (const files::error& e) {
        if (!packed.empty()) throw;
        unfit = e.what();
        if (verify) throw files::error(unfit + ", or delete it");
      }
    try {
      weights_path_ = weights::find(program_.weights, plain, program_.weights_folder, option);
    } catch (const files::error& e) {
      if (!program_.board.empty() && plain.empty())
        throw files::error(unfit.empty() ? "there are no weights: '" + weights::program_path() +
                                               ".packed' is missing; unpack the package of this host again, or name weights "
                                               "with --packed or " +
                                               option
                                         : unfit);
      if (unfit.empty()) throw;
      throw files::error(unfit + "; " + e.what());
    }
    if (!unfit.empty()) warn("packs its weights at start, because " + unfit);
    const weights::file file(weights_path_, program_.network, program_.weights, option);
    content_ = file.content();
    if (verify) verified_ = weights::verify(file, own);
    store_ =
        accelerator_ ? uploaded(own, [&](auto put) { weights::each_stored(file, own, put); }) : weights::store(file, own);
    if (accelerator_) accelerator_->remember_beside(weights_path_);
    return warning;
  }

  /// What equip() compared with its digests.
  weights::verified verified() const { return verified_; }
  /// The file that equip() found.
  const std::string& weights_path() const { return weights_path_; }
  /// The digest of the weights in it.
  const std::string& weights_digest() const { return content_; }

  /// Tests whether this MPI can send messages from and to GPU memory. Collective; returns an error as agree() does. An MPI
  /// that cannot may end the program instead, so a warning is printed first.
  [[gnu::cold]] std::string try_gpu_messages() {
    constexpr std::int64_t n = 4096;
    std::vector<std::byte> sent(n, static_cast<std::byte>(rank() + 1)), received(n);
    std::byte *from = sent.data(), *to = received.data(), *staged = nullptr;
    auto error = agree(attempt([&] {
      if (!accelerator_) return;
      from = accelerator_->memory(n), to = accelerator_->memory(n), staged = accelerator_->staging(n);
      accelerator_->upload(from, sent.data(), n);
      finish();
    }));
    if (!error.empty()) return error;
    if (rank() == 0 && !ranks_.claims_gpu_memory())
      text::print_error(
          "dice: warning: this MPI does not say that it was built with CUDA; dice tries it now. If the program ends here, "
          "omit --cuda-aware");
    ranks_.pass_around(from, to, n);
    return agree(attempt([&] {
      if (accelerator_) {
        accelerator_->copy_out(staged, to, n, false);
        finish();
        received.assign(staged, staged + n);
      }
      const auto before = static_cast<std::byte>((rank() + ranks_.size() - 1) % ranks_.size() + 1);
      if (std::any_of(received.begin(), received.end(), [&](std::byte b) { return b != before; }))
        throw std::runtime_error("this MPI loses data in GPU memory; omit --cuda-aware");
    }));
  }

  /// Compares what the ranks on this host plan, and `more` bytes of this rank, with its memory. Collective; returns an error
  /// as agree() does, and sets `warning` to a warning of this rank, or "".
  [[gnu::cold]] std::string check_memory(std::int64_t more, std::string& warning) {
    const auto r = static_cast<std::size_t>(rank());
    record mine;
    mine.put(host_);
    mine.put(more + (accelerator_ ? 0 : program_.plan.ranks[r].peak_bytes));
    std::int64_t planned = 0;
    bool first = true;  // of the ranks on this host
    const auto all = ranks_.all_gather(mine.text());
    for (std::size_t k = 0; k < all.size(); ++k) {
      record in(all[k]);
      if (in.get() != host_) continue;
      planned += in.get_number();
      first = first && k >= r;
    }
    if (!first) return agree("");
    const auto verdict = this_host::judge_memory(planned, this_host::memory_of_host(), engine_);
    warning = verdict.warning;
    return agree(verdict.error);
  }

  /// Allocates memory for the frames and the channels; `gpu_messages`: messages are in the accelerator's memory;
  /// `checks_numbers`: as for the executor. Collective; returns an error as agree() does. Sets `warning` to a warning of
  /// this rank, or "".
  std::string connect(int in_flight, bool gpu_messages, std::string& warning, bool checks_numbers = false) {
    return agree(attempt([&] {  // nothing that can fail in only one rank comes before ranks_.connect
      end_ = ranks_.connect(runtime::paths_of(program_.plan, in_flight));
      executor_.emplace(program_, rank(), store_, *end_, in_flight, accelerator_.get(), gpu_messages, checks_numbers);
      if (accelerator_) warning = accelerator_->remember();
    }));
  }
  /// What the rank's accelerator reports about its memory; an empty name if it has none.
  kernels::accelerator::memory_figures accelerator_memory() const {
    return accelerator_ ? accelerator_->memory_used() : kernels::accelerator::memory_figures{};
  }
  runtime::executor& executor() { return *executor_; }
  int threads() const { return threads_; }
  /// That its threads may use.
  const std::vector<int>& cores() const { return cores_; }
  /// Whether the rank has the process for itself.
  bool alone() const { return by_.processes || ranks_.size() == 1; }
  channels::endpoint& end() { return *end_; }

 private:
  /// A warning if the program's own files contain the kernels and are not optimised, or "". The library is optimised, unless
  /// its build says otherwise.
  static const char* unoptimised() {
#if defined(DICE_HEADER_ONLY) && !defined(__OPTIMIZE__)
    return "runs kernels that were compiled without optimisation, and are some 20 times slower; compile the program with "
           "-O3 (CMake: -DCMAKE_BUILD_TYPE=Release)";
#else
    return "";
#endif
  }

  /// A warning if on<…> ties this rank to another host, or "".
  std::string host_elsewhere() const {
    const auto r = static_cast<std::size_t>(rank());
    if (!by_.processes || r >= program_.hosts.size() || program_.hosts[r].empty()) return {};
    const auto short_name = [](std::string_view name) { return name.substr(0, name.find('.')); };
    if (short_name(program_.hosts[r]) == short_name(host_)) return {};
    return "is meant for host '" + std::string(program_.hosts[r]) + "', as on<> says; start it there (" +
           std::string(by_.started_by.name) + " " + std::string(by_.started_by.place) + "), or change the mapping";
  }

  /// Opens the accelerator and checks that it has room for what the plan needs, before any weight is read.
  void open_accelerator(std::size_t r, int in_flight) {
    accelerator_ = program_.opener(r)(program_.units[r]).it;
    const auto& me = program_.plan.ranks[r];
    std::int64_t workspace = 0;
    for (std::size_t g = 0; g < program_.plan.groups.size(); ++g)
      if (program_.plan.groups[g].rank == rank()) workspace = std::max(workspace, program_.algorithm(g).scratch_bytes);
    accelerator_->expect({me.weight_bytes, runtime::slots_of(me, in_flight) * me.frame_bytes + me.scratch_bytes, workspace});
  }

  /// Waits until the accelerator has done all that was started. Throws.
  void finish() {
    channels::patience patience(channels::patience::source::accelerator);
    for (const auto end = accelerator_->mark(); !accelerator_->reached(end);) patience.pause();
  }

  /// Copies weights to the accelerator's memory; read(put) passes them to `put`.
  template <class Read> weights::store uploaded(std::span<const weights::item> items, Read read) {
    std::byte* const to = accelerator_->memory(weights::stored_bytes(items));
    read([&](std::int64_t offset, const std::byte* from, std::int64_t bytes) {
      accelerator_->upload(to + offset, from, bytes);
      return true;
    });
    return {files::mapped(), to, items};
  }

  const runtime::program& program_;
  channels::communicator& ranks_;
  const channels::transport_info& by_;
  const bool engine_;
  const std::string host_;
  std::vector<std::string> hosts_;  ///< by rank, after introduce()
  int threads_ = 1;                 ///< of its team
  std::vector<int> cores_;
  int sharers_ = 1;                     ///< ranks whose unit is `cpu` that may use exactly the same cores
  std::string weights_path_, content_;  ///< what equip() has read, and its content digest
  weights::verified verified_;
  std::unique_ptr<kernels::accelerator> accelerator_;  ///< or null
  weights::store store_;
  std::unique_ptr<channels::endpoint> end_;
  std::optional<runtime::executor> executor_;
};

}  // namespace dice::job
