#pragma once

#include "dice/channels/channel.hpp"
#include "dice/channels/patience.hpp"

#include <boost/mpi/communicator.hpp>

#include <algorithm>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace dice::channels::mpi {

/// This rank's ends of the paths, by non-blocking sends and receives of bytes. Boost.MPI's own isend and irecv allocate a
/// handler for each request; the requests here lie in arrays made at the start.
class endpoint final : public channels::endpoint {
 public:
  endpoint(const boost::mpi::communicator& world, std::span<const path> paths)
      : world_(world), paths_(paths.begin(), paths.end()) {
    const int rank = world_.rank();
    int operations = 0;
    for (const auto& p : paths_) {
      if (p.bytes > INT_MAX)
        throw std::runtime_error("a message of " + std::to_string(p.bytes) + " bytes from rank " + std::to_string(p.from) +
                                 " to rank " + std::to_string(p.to) + ": MPI sends at most " + std::to_string(INT_MAX) +
                                 " at once; map the layer that makes it and those that read it to one rank");
      send_.push_back(p.from == rank ? operations : -1);
      operations += p.from == rank ? p.send_slots : 0;
      receive_.push_back(p.to == rank ? operations : -1);
      operations += p.to == rank ? p.receive_slots : 0;
    }
    started_.resize(paths_.size());
    const auto n = static_cast<std::size_t>(operations);
    done_.assign(n, 1);
    requests_.assign(n, MPI_REQUEST_NULL);
    operations_.assign(n, 0);
    completed_.assign(n, 0);
    if (waits_for_neighbour()) patience_ = patience(patience::source::neighbour);
  }
  endpoint(const endpoint&) = delete;
  endpoint& operator=(const endpoint&) = delete;

  void start_send(int path, int slot, const std::byte* from) override {
    const auto& p = at(path);
    ++started_[index(path)];
    MPI_Isend(from, static_cast<int>(p.bytes), MPI_BYTE, p.to, p.tag, world_, next(send_[index(path)] + slot));
  }
  void start_receive(int path, int slot, std::byte* to) override {
    const auto& p = at(path);
    ++started_[index(path)];
    MPI_Irecv(to, static_cast<int>(p.bytes), MPI_BYTE, p.from, p.tag, world_, next(receive_[index(path)] + slot));
  }
  bool sent(int path, int slot) const override { return done_[index(send_[index(path)] + slot)]; }
  bool received(int path, int slot) const override { return done_[index(receive_[index(path)] + slot)]; }
  void progress() override {
    patience_.reset();
    static_cast<void>(test());
  }
  void wait() override {
    if (test()) patience_.reset();
    else
      patience_.pause([this](std::int64_t time) {
        std::unique_lock lock(asleep_);
        awake_.wait_for(lock, std::chrono::nanoseconds(time), [this] { return woken_; });
        woken_ = false;
      });
  }
  void wake() override {
    {
      const std::lock_guard lock(asleep_);
      woken_ = true;
    }
    awake_.notify_one();
  }

  void settle() override {
    std::vector<std::int64_t> sends(paths_.size());
    for (std::size_t p = 0; p < paths_.size(); ++p)
      if (send_[p] >= 0) sends[p] = started_[p];
    MPI_Request all;
    MPI_Iallreduce(MPI_IN_PLACE, sends.data(), static_cast<int>(sends.size()), MPI_INT64_T, MPI_SUM, world_, &all);
    finish(all);
    std::vector<std::byte> nobody;
    for (std::size_t p = 0; p < paths_.size(); ++p) {
      if (receive_[p] < 0) continue;
      for (; started_[p] > sends[p]; --started_[p])
        give_up(receive_[p] + static_cast<int>((started_[p] - 1) % paths_[p].receive_slots));
      for (; started_[p] < sends[p]; ++started_[p]) {
        nobody.resize(std::max(nobody.size(), static_cast<std::size_t>(paths_[p].bytes)));
        MPI_Request one;
        MPI_Irecv(nobody.data(), static_cast<int>(paths_[p].bytes), MPI_BYTE, paths_[p].from, paths_[p].tag, world_, &one);
        finish(one);
      }
    }
    for (patience p = patience_; active_ > 0;)
      if (!test()) p.pause();
  }

  void quit() override {}  // MPI_Abort ends the process, and its operations with it

 private:
  /// Whether a path here begins or ends in another rank of this host. Collective.
  bool waits_for_neighbour() const {
    MPI_Comm host;
    MPI_Comm_split_type(world_, MPI_COMM_TYPE_SHARED, world_.rank(), MPI_INFO_NULL, &host);
    MPI_Group all, here;
    MPI_Comm_group(world_, &all);
    MPI_Comm_group(host, &here);
    const bool any = std::any_of(paths_.begin(), paths_.end(), [&](const path& p) {
      if (p.from != world_.rank() && p.to != world_.rank()) return false;
      const int other = p.from == world_.rank() ? p.to : p.from;
      int found = MPI_UNDEFINED;
      MPI_Group_translate_ranks(all, 1, &other, here, &found);
      return found != MPI_UNDEFINED;
    });
    MPI_Group_free(&all);
    MPI_Group_free(&here);
    MPI_Comm_free(&host);
    return any;
  }

  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  const path& at(int path) const { return paths_[index(path)]; }

  static void finish(MPI_Request& request) {
    patience p(patience::source::neighbour);
    for (int done = 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done;) p.pause();
  }

  /// Cancels the receive `operation`, which no message matches.
  void give_up(int operation) {
    for (int i = 0; i < active_; ++i)
      if (operations_[index(i)] == operation) MPI_Cancel(&requests_[index(i)]);
  }

  /// A request for `operation`; those under way are kept together at the front.
  MPI_Request* next(int operation) {
    done_[index(operation)] = 0;
    operations_[index(active_)] = operation;
    return &requests_[index(active_++)];
  }

  /// Returns whether an operation was done. MPI errors end the job (MPI_ERRORS_ARE_FATAL).
  bool test() {
    if (active_ == 0) return false;
    int count = 0;
    MPI_Testsome(active_, requests_.data(), &count, completed_.data(), MPI_STATUSES_IGNORE);
    if (count <= 0) return false;
    for (int i = 0; i < count; ++i) done_[index(operations_[index(completed_[index(i)])])] = 1;
    int kept = 0;
    for (int i = 0; i < active_; ++i)
      if (requests_[index(i)] != MPI_REQUEST_NULL) {
        requests_[index(kept)] = requests_[index(i)];
        operations_[index(kept++)] = operations_[index(i)];
      }
    active_ = kept;
    return true;
  }

  boost::mpi::communicator world_;
  std::vector<path> paths_;
  std::vector<int> send_, receive_;    ///< first operation of each path's ends here, or -1
  std::vector<std::int64_t> started_;  ///< by path: sends or receives
  std::vector<char> done_;             ///< by operation
  std::vector<MPI_Request> requests_;
  std::vector<int> operations_, completed_;
  int active_ = 0;
  patience patience_{patience::source::network};
  std::mutex asleep_;
  std::condition_variable awake_;
  bool woken_ = false;
};

}  // namespace dice::channels::mpi
