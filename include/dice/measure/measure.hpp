// --measure: times every layer on the unit of every rank, and the messages between hosts; writes a profile for onnx2hpp
// --profile.
#pragma once

#include "dice/channels/channel.hpp"
#include "dice/channels/transports.hpp"
#include "dice/files/error.hpp"
#include "dice/files/place.hpp"
#include "dice/files/writer.hpp"
#include "dice/job/rank_session.hpp"
#include "dice/job/record.hpp"
#include "dice/measure/measured.hpp"
#include "dice/measure/message_time.hpp"
#include "dice/measure/run_time.hpp"
#include "dice/measure/trial.hpp"
#include "dice/meta/clock.hpp"
#include "dice/meta/median.hpp"
#include "dice/platform/connection.hpp"
#include "dice/report/plan.hpp"
#include "dice/report/progress_line.hpp"
#include "dice/runtime/figures.hpp"
#include "dice/runtime/program.hpp"
#include "dice/runtime/recorder.hpp"
#include "dice/runtime/slower_kernels.hpp"
#include "dice/text/json.hpp"
#include "dice/text/print.hpp"
#include "dice/this_host/emulated_speed.hpp"
#include "dice/weights/search.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dice::measure {

namespace detail {

/// Latency and bandwidth that fit messages of `bytes[i]`, ascending, which take `seconds[i]`. Bandwidth is the median slope
/// of all pairs (Theil 1950, Sen 1968), since a burst of small messages may pass a link faster than its rate. Latency is the
/// median of what then remains of the smaller half's times.
inline platform::link fitted(const std::vector<double>& bytes, const std::vector<double>& seconds) {
  std::vector<double> slopes, rest;
  for (std::size_t k = 0; k < bytes.size(); ++k)
    for (std::size_t j = 0; j < k; ++j) slopes.push_back((seconds[k] - seconds[j]) / (bytes[k] - bytes[j]));
  const double slope = slopes.empty() ? 0 : meta::median(slopes);
  const double per_byte = slope > 0 ? slope : seconds.back() / bytes.back();
  for (std::size_t k = 0; k < (bytes.size() + 1) / 2; ++k) rest.push_back(seconds[k] - per_byte * bytes[k]);
  return {.bytes_per_s = 1 / per_byte, .seconds = std::max(meta::median(rest), 0.0)};
}

}  // namespace detail

/// One rank's part in --measure. Ranks of one host measure one after the other, different hosts at the same time. Then pairs
/// of hosts exchange messages, pair after pair, and finally do so while they compute. Needs no frames, and weights only if
/// there are GPU ranks.
class measurement {
 public:
  /// The file to write, and the files to read weights from; empty: search the usual places.
  struct file_names {
    std::string out, weights, packed;
  };
  /// `predicted`: for the profile, what the program predicts of its cluster, as JSON; or "".
  measurement(const runtime::program& p, const file_names& f, std::string predicted, job::rank_session& me,
              channels::communicator& ranks)
      : program_(p), files_(f), predicted_(std::move(predicted)), me_(me), ranks_(ranks), rank_(ranks.rank()) {}

  /// What went wrong, the same in every rank, or "" once rank 0 has written the file and printed it.
  [[gnu::cold]] std::string run() {
    for (auto stage : {&measurement::prepare, &measurement::measure_units, &measurement::measure_connections,
                       &measurement::measure_messages})
      if (const auto error = (this->*stage)(); !error.empty()) return error;
    return me_.agree(job::attempt([&] {
      if (rank_ != 0) return;
      files::write_text(files_.out, measured_json(program_, measured_, predicted_));
      text::print(measured_table(program_, measured_));
    }));
  }

 private:
  bool on_gpu(int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    return r < program_.units.size() && program_.units[r].is_accelerator();
  }
  /// Prints a line of progress in rank 0, if stderr is a terminal or goes to mpirun, which forwards it.
  void tell(const std::string& what) const {
    if (rank_ == 0 && (::isatty(STDERR_FILENO) || channels::launched().size > 1)) text::print_error("dice: " + what);
  }

  /// Whether `file` is the weights file, even if that file cannot be read now.
  [[gnu::cold]] bool is_weights(const std::string& file) const {
    try {
      const auto plain = weights::find(program_.weights, files_.weights, program_.weights_folder);
      const auto own = files::place_of(file).id;
      return own == files::place_of(plain).id ||
             (!me_.weights_path().empty() && own == files::place_of(me_.weights_path()).id);
    } catch (const files::error&) {
      return false;
    }
  }

  /// Starts threads and GPUs, and collects host and unit of every rank.
  [[gnu::cold]] std::string prepare() {
    std::string warning;
    const auto error = job::attempt([&] {
      if (rank_ == 0) files::require_writable(files_.out);
      if (program_.has_accelerators()) warning = me_.equip({files_.weights, files_.packed}, program_.plan.in_flight);
      else warning = me_.start_threads();
      data_.resize(sizes.back());
      if (rank_ == 0 && is_weights(files_.out))
        throw files::error("'" + files_.out + "' is a weights file and would be overwritten; name another file");
    });
    job::record mine;
    mine.put(me_.host());
    mine.put(report::unit_text(program_, rank_));
    std::vector<std::string> all;
    auto first = me_.agree(error, mine.text(), all);
    if (first.empty() && program_.has_accelerators()) {
      std::string more;
      first = me_.connect({program_.plan.in_flight}, more);
      if (!more.empty()) warning += (warning.empty() ? "" : "; ") + more;
    }
    if (!first.empty()) return first;
    if (!warning.empty()) text::print_error("dice: warning: " + me_.where_text() + ": " + warning);
    for (const auto& text : all) {
      job::record in(text);
      hosts_.push_back(in.get());
      units_.push_back(in.get());
    }
    return {};
  }

  /// The number of lower ranks on the host of `rank`: they measure first.
  int turn(int rank) const { return static_cast<int>(std::count(hosts_.begin(), hosts_.begin() + rank, hosts_[rank])); }
  /// Whether an earlier rank has the same unit on the same host. Never for GPU ranks: each measures its own layers.
  bool again(int rank) const {
    for (int r = 0; r < rank && !on_gpu(rank); ++r)
      if (hosts_[r] == hosts_[rank] && units_[r] == units_[rank]) return true;
    return false;
  }

  [[gnu::cold]] std::string measure_units() {
    int turns = 0;
    for (int r = 0; r < ranks_.size(); ++r) turns = std::max(turns, turn(r) + 1);
    for (int t = 0; t < turns; ++t) {
      std::string now;
      for (int r = 0; r < ranks_.size(); ++r)
        if (turn(r) == t && !again(r)) now += (now.empty() ? "" : ", ") + (units_[r] + " of ") + hosts_[r];
      if (now.empty()) continue;
      tell("measuring " + now);
      job::record mine;
      const auto error = job::attempt([&] {
        if (turn(rank_) != t || again(rank_)) return;
        const auto ms = on_gpu(rank_) ? gpu_times() : cpu_times();
        mine.put(on_gpu(rank_) ? me_.accelerator_memory().name : detail::cpu_name());
        mine.put(on_gpu(rank_) ? 0 : me_.own().threads());
        mine.put(text::json_number(on_gpu(rank_) ? 0 : memory_bytes_per_s()));
        for (const double v : ms) mine.put(text::json_number(v));
      });
      std::vector<std::string> all;
      if (const auto first = me_.agree(error, mine.text(), all); !first.empty()) return first;
      for (std::size_t r = 0; r < all.size(); ++r)
        if (!all[r].empty()) add(r, all[r]);
    }
    return {};
  }

  /// Adds the times of a rank. Ranks of one GPU become one unit.
  [[gnu::cold]] void add(std::size_t rank, const std::string& text) {
    job::record in(text);
    measured_unit u{hosts_[rank], units_[rank], in.get()};
    u.threads = static_cast<int>(in.get_number());
    u.bytes_per_s = std::stod(in.get());
    while (in.more()) u.ms.push_back(std::stod(in.get()));
    for (auto& other : measured_.units)
      if (other.host == u.host && other.unit == u.unit) {
        for (std::size_t g = 0; g < u.ms.size(); ++g)
          if (u.ms[g] >= 0) other.ms[g] = u.ms[g];
        return;
      }
    measured_.units.push_back(std::move(u));
  }

  /// Bytes that a CPU rank's thread reads and writes per second when it copies tensors larger than most caches.
  [[gnu::cold]] static double memory_bytes_per_s() {
    const std::vector<std::byte> from(std::size_t{4} << 20, std::byte{1});
    std::vector<std::byte> to(from.size());
    void* (*volatile copy)(void*, const void*, std::size_t) = &std::memcpy;  // else compilers may drop it: nobody reads `to`
    detail::run_time timer;
    const auto time = timer.median_of([&](bool paused) {
      const auto clock = paused ? meta::thread_time : meta::now;
      const auto begin = clock();
      copy(to.data(), from.data(), to.size());
      return std::max<std::int64_t>(clock() - begin, 1);
    });
    return 2 * static_cast<double>(from.size()) / (timer.lasting(time) * 1e-3);
  }

  /// Milliseconds of every group that a CPU rank computes, on this rank's threads.
  [[gnu::cold]] std::vector<double> cpu_times() const {
    std::vector<std::optional<detail::run_time::result>> found(program_.plan.groups.size());
    std::vector<std::pair<std::string, detail::run_time::result>> known;  // kinds that have variants
    std::int64_t bytes = 0;  // of the whole network, since it is unknown which of its layers a mapping gives to this unit
    for (const auto& r : program_.plan.ranks) bytes += r.weight_bytes;
    const weights::block others(std::min(bytes, std::int64_t{256} << 20));
    others.touch();
    std::size_t done = 0;
    detail::run_time timer;
    runtime::slower_kernels work(program_.threads, 1);
    auto body = [&] {
      report::progress_line line;
      for (const auto& s : program_.plan.steps) {
        if (s.what != schedule::action::compute) continue;
        const int g = s.group;
        if (on_gpu(program_.plan.groups[g].rank) || found[g]) continue;  // measured as a whole
        if (!program_.has(program_.plan.groups[g].rank)) continue;       // a program for one kind of board
        ++done;
        line.show_now([&] { return detail::progress_text(rank_, done, found.size(), detail::layer_of(program_, g)); });
        const auto kind = program_.kernels[g].by.variant
                              ? detail::kind_of(program_, s) + " " + std::to_string(program_.algorithm(g).variant)
                              : std::string();
        const auto same = std::find_if(known.begin(), known.end(), [&](const auto& k) { return k.first == kind; });
        if (!kind.empty() && same != known.end()) {
          found[g] = same->second;
          continue;
        }
        const detail::trial t(program_, s, {program_.algorithm(g)});
        t.run(0);
        found[g] = timer.median_of([&](bool paused) { return t.time(0, others, paused ? &work : nullptr); });
        known.emplace_back(kind, *found[g]);
      }
    };
    program_.threads.run(body);
    // Groups without a step of their own take no time: their result is already in place.
    std::vector<double> out(found.size(), -1);
    for (std::size_t g = 0; g < out.size(); ++g)
      if (found[g]) out[g] = timer.lasting(*found[g]) * this_host::compute_slower();
    std::vector<bool> has_step(out.size());
    for (const auto& s : program_.plan.steps)
      if (s.what == schedule::action::compute) has_step[s.group] = true;
    for (std::size_t g = 0; g < out.size(); ++g)
      if (!has_step[g] && !on_gpu(program_.plan.groups[g].rank)) out[g] = 0;
    return out;
  }

  /// Milliseconds of this rank's own groups, each by itself on the GPU.
  [[gnu::cold]] std::vector<double> gpu_times() const {
    std::vector<double> out(program_.plan.groups.size(), -1);
    runtime::recorder recorder(out.size(), 1, false, true);
    me_.executor().record(&recorder);
    me_.executor().record(nullptr);
    for (std::size_t g = 0; g < out.size(); ++g)
      if (const auto& samples = recorder.samples()[g]; program_.plan.groups[g].rank == rank_)
        out[g] = samples.empty() ? 0 : meta::median({samples.begin(), samples.end()}) * 1e-6;
    return out;
  }

  /// The first rank of each host.
  std::vector<int> first_ranks() const {
    std::vector<int> out;
    for (int r = 0; r < ranks_.size(); ++r)
      if (turn(r) == 0) out.push_back(r);
    return out;
  }
  const std::string& host(int rank) const { return hosts_[rank]; }

  /// Measures messages from each host to the next one, and from the last one to the first.
  [[gnu::cold]] std::string measure_messages() {
    const auto first = first_ranks();
    if (first.size() < 2) return {};
    const auto receiver = [&](std::size_t k) { return first[(k + 1) % first.size()]; };
    std::vector<channels::path> paths;
    for (std::size_t k = 0; k < first.size(); ++k) {
      const int a = first[k], b = receiver(k);
      const auto add = [&](int from, int to, std::int64_t bytes) {
        paths.push_back({from, to, 100 + static_cast<int>(paths.size()), bytes});
      };
      for (const auto size : detail::handled_sizes) add(a, b, size);
      add(a, b, 1);
      add(b, a, 1);
    }
    constexpr int each = detail::handled_sizes.size() + 2;
    static_assert(detail::handled_sizes.back() <= sizes.back());  // data_ has these
    std::unique_ptr<channels::endpoint> end;
    if (const auto wrong = me_.agree(job::attempt([&] { end = ranks_.connect(paths); })); !wrong.empty()) return wrong;
    for (std::size_t k = 0; k < first.size(); ++k) {
      const int a = first[k], b = receiver(k), path = static_cast<int>(k) * each;
      tell("measuring the CPU time of messages from " + host(a) + " to " + host(b));
      job::record mine;
      const auto error = job::attempt([&] {
        if (rank_ != a && rank_ != b) return;
        detail::message_trial trial(*end, path, path + each - 2, rank_ == a, data_.data());
        for (const double t : trial.run(connection_between(host(a), host(b)))) mine.put(text::json_number(t));
      });
      std::vector<std::string> all;
      if (const auto wrong = me_.agree(error, mine.text(), all); !wrong.empty()) return wrong;
      messages_of(host(a)).sending = handled(all[a]);
      messages_of(host(b)).receiving = handled(all[b]);
    }
    return me_.agree(job::attempt([&] { end->settle(); }));
  }

  platform::link connection_between(const std::string& a, const std::string& b) const {
    for (const auto& c : measured_.connections)
      if ((c.from == a && c.to == b) || (c.from == b && c.to == a))
        return {.bytes_per_s = c.mbit_per_s * 1e6 / 8, .seconds = c.us * 1e-6};
    return {};
  }
  measured_messages& messages_of(const std::string& host) {
    for (auto& m : measured_.messages)
      if (m.host == host) return m;
    measured_.messages.push_back({host, {}, {}});
    return measured_.messages.back();
  }
  static platform::link handled(const std::string& text) {
    job::record in(text);
    std::vector<double> bytes, seconds;
    while (in.more()) {
      bytes.push_back(static_cast<double>(detail::handled_sizes[bytes.size()]));
      seconds.push_back(std::stod(in.get()));
    }
    return seconds.back() > 0 ? detail::fitted(bytes, seconds) : platform::link{};
  }

  /// Measures messages between the first ranks of all pairs of hosts, and between the first two ranks of each host.
  [[gnu::cold]] std::string measure_connections() {
    const auto first = first_ranks();
    std::vector<std::pair<int, int>> pairs;
    for (std::size_t a = 0; a < first.size(); ++a) {
      for (int r = 0; r < ranks_.size(); ++r)
        if (turn(r) == 1 && hosts_[r] == hosts_[first[a]]) pairs.emplace_back(first[a], r);
      for (std::size_t b = a + 1; b < first.size(); ++b) pairs.emplace_back(first[a], first[b]);
    }
    for (const auto& pair : pairs) {
      const int a = pair.first, b = pair.second;
      const auto &from = hosts_[a], &to = hosts_[b];
      tell("measuring messages " + (from == to ? "within " + from : "between " + from + " and " + to));
      platform::link found;
      const auto error = job::attempt([&] {
        if (rank_ == a) found = ping(b);
        if (rank_ == b) pong(a);
      });
      job::record mine;
      mine.put(text::json_number(found.seconds * 1e6));
      mine.put(text::json_number(found.bytes_per_s * 8e-6));
      std::vector<std::string> all;
      if (const auto wrong = me_.agree(error, mine.text(), all); !wrong.empty()) return wrong;
      job::record in(all[a]);
      const double us = std::stod(in.get()), speed = std::stod(in.get());
      measured_.connections.push_back({from, to, us, speed});
    }
    return {};
  }

  /// Announces `rounds` round trips of messages of `bytes` bytes; 0 rounds announce the end.
  struct batch {
    std::int64_t rounds = 0, bytes = 0;
  };

  static constexpr std::array<std::int64_t, 7> sizes{1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22};

  /// Times messages of several sizes to the other rank: half of the round trip, the median of many.
  [[gnu::cold]] platform::link ping(int other) {
    constexpr double enough = 0.05, slow = 0.4;  // s
    const auto median = [&](const batch& b) {
      ranks_.send_block(other, &b, sizeof b);
      std::vector<double> times;
      for (std::int64_t k = 0; k < b.rounds; ++k) {
        const auto from = meta::now();
        ranks_.send_block(other, data_.data(), b.bytes);
        ranks_.receive_block(other, data_.data(), b.bytes);
        times.push_back(static_cast<double>(std::max<std::int64_t>(meta::now() - from, 1)) * 1e-9);
      }
      return meta::median(std::move(times));
    };
    std::vector<double> bytes, seconds;
    for (const auto size : sizes) {
      const auto rounds = static_cast<std::int64_t>(std::clamp(enough / median({3, size}), 3.0, 500.0));
      const double there_and_back = median({rounds, size});
      bytes.push_back(static_cast<double>(size));
      seconds.push_back(there_and_back / 2);
      if (there_and_back > slow && bytes.size() >= 3) break;
    }
    const batch none;
    ranks_.send_block(other, &none, sizeof none);
    return detail::fitted(bytes, seconds);
  }
  [[gnu::cold]] void pong(int other) {
    for (batch b;;) {
      ranks_.receive_block(other, &b, sizeof b);
      if (b.rounds == 0) return;
      for (std::int64_t k = 0; k < b.rounds; ++k) {
        ranks_.receive_block(other, data_.data(), b.bytes);
        ranks_.send_block(other, data_.data(), b.bytes);
      }
    }
  }

  const runtime::program& program_;
  const file_names files_;
  const std::string predicted_;
  job::rank_session& me_;
  channels::communicator& ranks_;
  const int rank_;
  std::vector<std::string> hosts_, units_;  ///< by rank
  std::vector<std::byte> data_;             ///< of messages
  measurements measured_;
};

}  // namespace dice::measure
