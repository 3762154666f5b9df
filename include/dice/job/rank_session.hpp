// A rank of a job from its start to the first frame: the same for dice::main and engines.
#pragma once

#include "dice/channels/channel.hpp"
#include "dice/channels/transports.hpp"
#include "dice/job/agreement.hpp"
#include "dice/job/equipment.hpp"
#include "dice/job/introduction.hpp"
#include "dice/job/record.hpp"
#include "dice/runtime/executor.hpp"
#include "dice/text/print.hpp"
#include "dice/this_host/host_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dice::job {

/// How a rank runs frames.
struct frame_settings {
  int in_flight = 1;            ///< most frames under way
  bool gpu_messages = false;    ///< messages are in the accelerator's memory
  bool checks_numbers = false;  ///< as for the executor
};

/// One rank of a job. It runs the program's plan, and perhaps other plans of the same network, one after the other. Where
/// functions are collective, every rank calls them in the same order.
class rank_session : public agreement {
 public:
  /// `by` is the transport of `ranks`. `engine`: messages name the settings of engines, not options of the command line.
  rank_session(const runtime::program& p, channels::communicator& ranks, const channels::transport_info& by,
               bool engine = false)
      : agreement(ranks, p.ranks(), p.board), in_{p, ranks, by, engine}, own_(in_), plans_{&p} {}

  using agreement::where_text;
  /// The same for any rank, after introduce().
  std::string where_text(int rank) const { return where_text(rank, hosts_[rank]); }

  /// The host of each rank, after introduce().
  const std::vector<std::string>& hosts() const { return hosts_; }

  /// How a stage went, the same in every rank.
  struct outcome {
    std::string error;  ///< empty: no error
    int code = 0;       ///< the program's exit code
  };
  /// Calls job::introduce. Collective.
  outcome introduce(const std::string& usage, const std::vector<property>& options, bool any_number = false) {
    auto [error, code, hosts, sharers] = job::introduce(in_, *this, usage, options, any_number);
    hosts_ = std::move(hosts);
    sharers_ = sharers;
    return {error, code};
  }

  /// Calls equipment's function.
  std::string start_threads() { return own_.start_threads(sharers_); }

  /// Starts the calling thread's team, opens the rank's accelerator and gets its weights. Returns a warning, or "". Throws.
  [[gnu::cold]] std::string equip(const weights_files& named, int in_flight) {
    auto warning = start_threads();
    const auto warn = [&](const std::string& more) { warning += (warning.empty() || more.empty() ? "" : "; ") + more; };
    if (in_.program.board.empty()) warn(host_elsewhere());  // else its weights belong to the host, whatever that is called
    own_.open_accelerator(in_flight);
    warn(own_.get_weights(named, *this));
    plain_weights_ = named.plain;
    return warning;
  }

  /// Tests whether this MPI can send messages from and to GPU memory. Collective; returns an error as agree() does. An MPI
  /// that cannot may end the program instead, so a warning is printed first.
  [[gnu::cold]] std::string try_gpu_messages() {
    constexpr std::int64_t n = 4096;
    auto* const accelerator = own_.accelerator();
    std::vector<std::byte> sent(n, static_cast<std::byte>(rank() + 1)), received(n);
    std::byte *from = sent.data(), *to = received.data(), *staged = nullptr;
    auto error = agree(attempt([&] {
      if (!accelerator) return;
      from = accelerator->memory(n);
      to = accelerator->memory(n);
      staged = accelerator->staging(n);
      accelerator->upload(from, sent.data(), n);
      own_.finish();
    }));
    if (!error.empty()) return error;
    if (rank() == 0 && !in_.ranks.claims_gpu_memory())
      text::print_error(
          "dice: warning: this MPI does not say that it was built with CUDA; dice tries it now. If the program ends here, "
          "omit --cuda-aware");
    in_.ranks.pass_around(from, to, n);
    return agree(attempt([&] {
      if (accelerator) {
        accelerator->copy_out(staged, to, n, false);
        own_.finish();
        received.assign(staged, staged + n);
      }
      const auto before = static_cast<std::byte>((rank() + in_.ranks.size() - 1) % in_.ranks.size() + 1);
      if (std::any_of(received.begin(), received.end(), [&](std::byte b) { return b != before; }))
        throw std::runtime_error("this MPI loses data in GPU memory; omit --cuda-aware");
    }));
  }

  /// Compares what the ranks on this host plan, and `more` bytes of this rank, with its memory. Collective; returns an error
  /// as agree() does, and sets `warning` to a warning of this rank, or "".
  [[gnu::cold]] std::string check_memory(std::int64_t more, std::string& warning) {
    const auto r = static_cast<std::size_t>(rank());
    const bool on_host = !in_.program.opener(r);
    return check_planned_memory(more + (on_host ? in_.program.plan.ranks[r].peak_bytes : 0), warning);
  }

  /// Adds `p`, which must outlive this, to the plans that the ranks can run, as number plans() - 1. It must be a plan of the
  /// same program (runtime::program::remap) for the same units and cores of each rank. After equip(). Collective; returns an
  /// error as agree() does, then the plan cannot be run. Sets `warning` to a warning of this rank, or "".
  [[gnu::cold]] std::string add_plan(const runtime::program& p, std::string& warning) {
    std::vector<std::string> digests;
    const auto wrong = agree(attempt([&] { require_same_hardware(p); }), runtime::plan_digest(p), digests);
    if (!wrong.empty()) return wrong;
    for (int r = 0; r < static_cast<int>(digests.size()); ++r)
      if (digests[r] != digests[0]) return where_text(r) + " was given another plan than " + where_text(0);
    const bool on_host = !in_.program.opener(static_cast<std::size_t>(rank()));
    auto arena = p.plan.ranks[rank()].arena_bytes;  // only one plan's at a time
    for (const auto* other : plans_) arena = std::max(arena, other->plan.ranks[rank()].arena_bytes);
    const auto planned = on_host ? own_.weight_bytes_with(p) + arena : 0;
    if (const auto error = check_planned_memory(planned, warning); !error.empty()) return error;
    const auto error = agree(attempt([&] { own_.add_weights(p, plain_weights_, *this); }));
    if (error.empty()) plans_.push_back(&p);
    return error;
  }
  /// How many plans the ranks can run.
  std::size_t plans() const { return plans_.size(); }

  /// Allocates memory for the frames and the channels of plan number `plan`: 0 is the program's own, those of add_plan()
  /// follow. Once, and again, perhaps for another plan, after endpoint::settle; an accelerator frees a plan's memory only at
  /// the very end. Collective; returns an error as agree() does. Sets `warning` to a warning of this rank, or "".
  std::string connect(const frame_settings& how, std::string& warning, std::size_t plan = 0) {
    executor_.reset();
    end_.reset();
    const auto& p = *plans_[plan];
    return agree(attempt([&] {  // nothing that can fail in only one rank comes before ranks.connect
      end_ = in_.ranks.connect(runtime::paths_of(p.plan, how.in_flight));
      executor_.emplace(p, rank(), own_.weights_of(plan), *end_, how.in_flight, own_.accelerator(), how.gpu_messages,
                        how.checks_numbers);
      if (own_.accelerator()) warning = own_.accelerator()->remember();
    }));
  }

  runtime::executor& executor() { return *executor_; }
  channels::endpoint& end() { return *end_; }
  const equipment& own() const { return own_; }
  /// What the rank's accelerator reports about its memory; an empty name if it has none.
  kernels::accelerator::memory_figures accelerator_memory() const {
    return own_.accelerator() ? own_.accelerator()->memory_used() : kernels::accelerator::memory_figures{};
  }
  /// Whether the rank has the process to itself.
  bool alone() const { return in_.by.processes || in_.ranks.size() == 1; }

 private:
  /// A warning if on<…> ties this rank to another host, or "".
  std::string host_elsewhere() const {
    const auto r = static_cast<std::size_t>(rank());
    const auto& hosts = in_.program.hosts;
    if (!in_.by.processes || r >= hosts.size() || hosts[r].empty()) return {};
    const auto short_name = [](std::string_view name) { return name.substr(0, name.find('.')); };
    if (short_name(hosts[r]) == short_name(host())) return {};
    return "is meant for host '" + std::string(hosts[r]) + "', as on<> says; start it there (" +
           std::string(in_.by.started_by.name) + " " + std::string(in_.by.started_by.place) + "), or change the mapping";
  }

  /// Compares the sum of `planned` of the ranks on this host with its memory, as check_memory does.
  std::string check_planned_memory(std::int64_t planned, std::string& warning) {
    record mine;
    mine.put(host());
    mine.put(planned);
    std::int64_t sum = 0;
    bool first = true;  // of the ranks on this host
    const auto all = in_.ranks.all_gather(mine.text());
    for (std::size_t k = 0; k < all.size(); ++k) {
      record in(all[k]);
      if (in.get() != host()) continue;
      sum += in.get_number();
      first = first && k >= static_cast<std::size_t>(rank());
    }
    if (!first) return agree("");
    const auto verdict = this_host::judge_memory(sum, this_host::memory_of_host(), in_.engine);
    warning = verdict.warning;
    return agree(verdict.error);
  }

  /// Throws unless `p` is another plan of this rank's program, for the same threads and accelerators.
  void require_same_hardware(const runtime::program& p) const {
    const auto& own = in_.program;
    if (p.tables != own.tables || !own.tables) throw std::invalid_argument("a plan of another program cannot be added");
    const auto same = [](const auto& a, const auto& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); };
    for (int r = 0; r < std::max(p.ranks(), own.ranks()); ++r) {
      const auto cores = [r](const runtime::program& of) {
        return r < std::ssize(of.cores) ? of.cores[r] : std::span<const int>{};
      };
      if (r >= p.ranks() || r >= own.ranks() || p.units[r] != own.units[r] || !same(cores(p), cores(own)))
        throw std::invalid_argument("the added plan has another unit for rank " + std::to_string(r) +
                                    " than the plan that the job was started with; give each rank the same unit and cores");
    }
  }

  const participation in_;
  equipment own_;
  std::vector<std::string> hosts_;  ///< by rank, after introduce()
  int sharers_ = 1;                 ///< ranks whose unit is `cpu` that may use exactly the same cores
  std::string plain_weights_;       ///< that equip() was given
  std::vector<const runtime::program*> plans_;
  std::unique_ptr<channels::endpoint> end_;
  std::optional<runtime::executor> executor_;
};

}  // namespace dice::job
