// What a rank has to itself: threads, an accelerator, weights.
#pragma once

#include "dice/channels/patience.hpp"
#include "dice/channels/transports.hpp"
#include "dice/files/error.hpp"
#include "dice/files/mapped.hpp"
#include "dice/job/agreement.hpp"
#include "dice/job/introduction.hpp"
#include "dice/kernels/accelerator.hpp"
#include "dice/runtime/digest.hpp"
#include "dice/runtime/paths.hpp"
#include "dice/runtime/program.hpp"
#include "dice/runtime/weights_of.hpp"
#include "dice/this_host/affinity.hpp"
#include "dice/this_host/cores.hpp"
#include "dice/weights/current.hpp"
#include "dice/weights/packed.hpp"
#include "dice/weights/search.hpp"
#include "dice/weights/verify.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace dice::job {

/// Which weights a rank uses.
struct weights_files {
  std::string plain;    ///< the weights file; empty: where --weights looks by default
  std::string packed;   ///< the file of packed weights; if neither file is named, one next to the program comes first
  bool verify = false;  ///< compare them with their digests first
};

/// The threads, the accelerator and the weights of one rank.
class equipment {
 public:
  explicit equipment(const participation& in) : in_(in), rank_(in.ranks.rank()) {}

  /// Starts the calling thread's team for this rank's unit, which `sharers` ranks share. Returns a warning, or "". Throws.
  std::string start_threads(int sharers) {
    const auto& program = in_.program;
    const auto r = static_cast<std::size_t>(rank_);
    if (r >= program.units.size()) return {};
    const auto cores = r < program.cores.size() ? program.cores[r] : std::span<const int>{};
    const auto online = static_cast<int>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
    const auto launch = channels::launched();
    const bool launched = in_.by.processes && launch.size > 0, bound = launched && launch.by->bound();
    std::string remedy;
    if (bound) remedy = "; bind the rank to more cores, or give it fewer threads";
    else if (launched)
      remedy = "; start with " + std::string(launch.by->started_by.name) + " " + std::string(launch.by->started_by.unbind);
    const auto plan = this_host::engage(program.units[r], cores, sharers, online, remedy, bound);
    threads_ = plan.threads;
    cores_ = plan.cores.empty() ? this_host::usable_cores() : plan.cores;
    if (program.threads.start) program.threads.start(plan.threads, plan.cores);
    if (!program.board.empty() && plan.cores.size() < cores.size())
      throw std::runtime_error(plan.warning + "; correct the mapping, or free these cores (taskset, control groups)");
    auto warning = plan.warning;
    if (const char* slow = unoptimised(); *slow && (in_.by.processes ? launch.local_rank : rank_) == 0)
      warning += (warning.empty() ? "" : "; ") + std::string(slow);
    return warning;
  }

  /// Opens the rank's accelerator, if it has one, and checks that it has room for what the plan needs, before any weight is
  /// read. Throws.
  void open_accelerator(int in_flight) {
    const auto& program = in_.program;
    const auto r = static_cast<std::size_t>(rank_);
    if (!program.opener(r)) return;
    accelerator_ = program.opener(r)(program.units[r]).it;
    const auto& me = program.plan.ranks[r];
    std::int64_t workspace = 0;
    for (std::size_t g = 0; g < program.plan.groups.size(); ++g)
      if (program.plan.groups[g].rank == rank_) workspace = std::max(workspace, program.algorithm(g).scratch_bytes);
    accelerator_->expect({me.weight_bytes, runtime::slots_of(me, in_flight) * me.frame_bytes + me.scratch_bytes, workspace});
  }

  /// Maps the rank's weights, or copies them to its accelerator: those of `named.packed`, or packs those of `named.plain`.
  /// Tells `all` which they are. Returns a warning, or "". Throws.
  [[gnu::cold]] std::string get_weights(const weights_files& named, agreement& all) {
    const auto& program = in_.program;
    std::string warning;
    const auto warn = [&](const std::string& more) { warning += (warning.empty() || more.empty() ? "" : "; ") + more; };
    const auto items = runtime::weights_of(program);
    const auto& own = items[rank_];
    needed_ = {program, rank_};
    verified_ = {};
    auto path = named.packed.empty() && named.plain.empty() ? weights::packed_beside() : named.packed;
    std::string unfit;  // why the file next to the program cannot be used
    if (!path.empty()) try {
        const weights::packed_file file(path, runtime::packed_identity(program), items, !named.packed.empty(), option());
        file.require(rank_);
        if (named.packed.empty())
          warn(weights::require_current(file, program.network, program.weights, program.weights_folder));
        if (named.verify) verified_ = weights::verify(file, rank_, own, runtime::item_names(program, rank_));
        all.uses_weights(file.about().content, path);
        store_ = accelerator_ ? uploaded(own, [&](auto put) { file.each_chunk(rank_, own, put); }) : file.map(rank_, own);
        if (accelerator_) accelerator_->remember_beside(path);
        return warning;
      } catch (const files::error& e) {
        if (!named.packed.empty()) throw;
        unfit = e.what();
        if (named.verify) throw files::error(unfit + ", or delete it");
      }
    try {
      path = weights::find(program.weights, named.plain, program.weights_folder, option());
    } catch (const files::error& e) {
      if (!program.board.empty() && named.plain.empty())
        throw files::error(unfit.empty() ? "there are no weights: '" + weights::program_path() +
                                               ".packed' is missing; unpack the package of this host again, or name weights "
                                               "with --packed or " +
                                               option()
                                         : unfit);
      if (unfit.empty()) throw;
      throw files::error(unfit + "; " + e.what());
    }
    if (!unfit.empty()) warn("packs its weights at start, because " + unfit);
    const weights::file file(path, program.network, program.weights, option());
    all.uses_weights(file.content(), path);
    if (named.verify) verified_ = weights::verify(file, own);
    store_ = stored(file, own);
    if (accelerator_) accelerator_->remember_beside(path);
    return warning;
  }

  /// Gets what another plan of the network needs in addition, from the weights file that get_weights() would look for; it
  /// must be of the training that `all` uses. Throws.
  [[gnu::cold]] void add_weights(const runtime::program& p, const std::string& plain, const agreement& all) {
    auto more = needed_;
    more.add(p, rank_);
    if (const auto items = std::span(more.items()).subspan(needed_.items().size()); !items.empty()) {
      const weights::file file(weights::find(p.weights, plain, p.weights_folder, option()), p.network, p.weights, option());
      if (file.content() != all.weights_digest())
        throw files::error("'" + file.path() + "' has other weights (digest " + weights::shown_digest(file.content()) +
                           ") than '" + all.weights_path() + "' (digest " + weights::shown_digest(all.weights_digest()) +
                           "); give weights of one training");
      store_.add(stored(file, items));
    }
    needed_ = std::move(more);
  }

  /// The weights of the fusion groups of plan number `plan`: 0 is the program's own, those of add_weights() follow.
  runtime::group_weights weights_of(std::size_t plan) const { return {store_, needed_.of_plan(plan)}; }
  /// Bytes of the weights of all plans.
  std::int64_t weight_bytes() const { return weights::stored_bytes(needed_.items()); }
  /// The same after add_weights(p).
  std::int64_t weight_bytes_with(const runtime::program& p) const {
    auto more = needed_;
    more.add(p, rank_);
    return weights::stored_bytes(more.items());
  }
  /// What get_weights() compared with the digests.
  weights::verified verified() const { return verified_; }

  kernels::accelerator* accelerator() const { return accelerator_.get(); }
  /// Waits until the accelerator has done everything that was started. Throws.
  void finish() const {
    channels::patience patience(channels::patience::source::accelerator);
    for (const auto end = accelerator_->mark(); !accelerator_->reached(end);) patience.pause();
  }
  int threads() const { return threads_; }
  /// The cores that its threads may use.
  const std::vector<int>& cores() const { return cores_; }

 private:
  /// What users name the weights file with.
  const char* option() const { return in_.engine ? "engine_options::weights" : "--weights"; }

  /// A warning if the program's own files contain the kernels and were compiled without optimisation, or "". The library is
  /// optimised, unless its build says otherwise.
  static const char* unoptimised() {
#if defined(DICE_HEADER_ONLY) && !defined(__OPTIMIZE__)
    return "runs kernels that were compiled without optimisation, and are some 20 times slower; compile the program with "
           "-O3 (CMake: -DCMAKE_BUILD_TYPE=Release)";
#else
    return "";
#endif
  }

  /// The items of a weights file, in memory of this host or of the accelerator.
  weights::store stored(const weights::file& from, std::span<const weights::item> items) {
    if (!accelerator_) return {from, items};
    return uploaded(items, [&](auto put) { weights::each_stored(from, items, put); });
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

  const participation in_;
  const int rank_;
  int threads_ = 1;  ///< of its team
  std::vector<int> cores_;
  weights::verified verified_;
  std::unique_ptr<kernels::accelerator> accelerator_;  ///< or null
  runtime::needed_weights needed_;
  weights::store store_;
};

}  // namespace dice::job
