// An accelerator whose queues are threads of this process: copies in, jobs and copies out each run in order, and in parallel
// as far as the contract of kernels::accelerator allows, with random pauses.
#pragma once

#include "dice/kernels/accelerator.hpp"
#include "toy.hpp"

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace toy {

class fake_accelerator final : public dice::kernels::accelerator {
 public:
  /// How long times() takes at least.
  static inline std::chrono::milliseconds measures_for{0};
  /// What remember() returns.
  static inline std::string forgets;

  fake_accelerator() {
    for (auto q : {in, jobs, out}) threads_[q] = std::thread([this, q] { work(q); });
  }
  fake_accelerator(const fake_accelerator&) = delete;
  ~fake_accelerator() override {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    for (auto& t : threads_) t.join();
  }

  std::string remember() override { return forgets; }
  std::byte* memory(std::int64_t bytes) override { return keep(bytes); }
  std::byte* staging(std::int64_t bytes) override { return keep(bytes); }
  void upload(std::byte* to, const std::byte* from, std::int64_t bytes) override {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  int record(std::function<void()> body) override {
    recorded_.push_back(std::move(body));
    return static_cast<int>(recorded_.size()) - 1;
  }
  std::vector<std::int64_t> times(std::function<void()> body) override {
    const auto begin = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(measures_for);
    start(record(std::move(body)));
    settle();
    return {std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count()};
  }
  /// How many jobs.
  int recorded() const { return static_cast<int>(recorded_.size()); }
  void start(int job) override { add(jobs, recorded_.at(static_cast<std::size_t>(job)), {put_[in], 0, 0}); }
  void copy_in(std::byte* to, const std::byte* from, std::int64_t bytes, bool apart) override {
    add(apart ? in : jobs, [=] { std::memcpy(to, from, static_cast<std::size_t>(bytes)); }, {});
  }
  void copy_out(std::byte* to, const std::byte* from, std::int64_t bytes, bool apart) override {
    add(apart ? out : jobs, [=] { std::memcpy(to, from, static_cast<std::size_t>(bytes)); },
        {put_[in], apart ? put_[jobs] : 0, 0});
  }
  std::int64_t mark() override {
    marks_.push_back(put_);
    return static_cast<std::int64_t>(marks_.size()) - 1;
  }
  bool reached(std::int64_t mark) override {
    const std::lock_guard lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    return done_here(marks_.at(static_cast<std::size_t>(mark)));
  }
  void settle() noexcept override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_here(put_); });
  }

 private:
  enum queue { in, jobs, out };
  using counts = std::array<std::int64_t, 3>;
  struct task {
    std::function<void()> run;
    counts after;  ///< how many tasks of each queue must be done before
  };

  std::byte* keep(std::int64_t bytes) {
    return memory_.emplace_back(std::make_unique<std::byte[]>(static_cast<std::size_t>(bytes))).get();
  }
  bool done_here(const counts& wanted) const {
    for (auto q : {in, jobs, out})
      if (done_[q] < wanted[q]) return false;
    return true;
  }
  void add(queue q, std::function<void()> f, const counts& after) {
    ++put_[q];
    {
      const std::lock_guard lock(mutex_);
      tasks_[q].push_back({std::move(f), after});
    }
    changed_.notify_all();
  }
  void work(queue q) {
    kept = true;  // kernels insist on it
    std::minstd_rand rng(std::random_device{}());
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return tasks_[q].empty() ? ends_ : done_here(tasks_[q].front().after); });
      if (tasks_[q].empty()) return;
      const auto next = std::move(tasks_[q].front());
      tasks_[q].pop_front();
      lock.unlock();
      if (rng() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(rng() % 40));
      std::exception_ptr error;
      try {
        next.run();
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      if (error) error_ = error;
      ++done_[q];
      changed_.notify_all();
    }
  }

  std::vector<std::unique_ptr<std::byte[]>> memory_;
  std::vector<std::function<void()>> recorded_;
  counts put_{};  ///< used only by the rank's thread
  std::vector<counts> marks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<std::deque<task>, 3> tasks_;
  counts done_{};
  std::exception_ptr error_;
  bool ends_ = false;
  std::array<std::thread, 3> threads_;
};

}  // namespace toy
