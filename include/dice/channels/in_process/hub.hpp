// Ranks as threads of one process. The reference for the other transports: the same contract, no intermediate copies.
#pragma once

#include "dice/channels/channel.hpp"
#include "dice/files/last_words.hpp"
#include "dice/text/foreign.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace dice::channels::in_process {

/// State that the ranks share. Must outlive their communicators and endpoints.
class hub {
 public:
  explicit hub(int ranks)
      : size_(ranks),
        bells_(static_cast<std::size_t>(ranks)),
        texts_(static_cast<std::size_t>(ranks)),
        offers_(static_cast<std::size_t>(ranks)) {}

  int size() const { return size_; }
  bool is_stopped() const { return stopped_.load(std::memory_order_acquire); }

  /// The first call prints `message`, if it is not empty, and wakes all ranks.
  void stop(const std::string& message = {}) {
    quit();
    if (stopped_.exchange(true)) return;
    if (!message.empty()) files::say_last(text::shown(message) + "\n");
    for (auto& b : bells_) b.ring();
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }

 private:
  friend class endpoint;
  friend class communicator;

  /// Where a rank waits.
  struct bell {
    std::mutex mutex;
    std::condition_variable changed;
    std::uint64_t events = 0;

    void ring() {
      {
        const std::lock_guard lock(mutex);
        ++events;
      }
      changed.notify_one();
    }
  };

  /// A path: the n-th send matches the n-th receive; whichever comes second copies from buffer to buffer.
  struct line {
    explicit line(const path& p)
        : about(p), from(static_cast<std::size_t>(p.send_slots)), to(static_cast<std::size_t>(p.receive_slots)) {
      for (int i = 0; i < p.send_slots; ++i) sent.push_back(std::make_unique<std::atomic<bool>>(true));
      for (int i = 0; i < p.receive_slots; ++i) received.push_back(std::make_unique<std::atomic<bool>>(true));
    }
    path about;
    std::mutex mutex;
    std::vector<const std::byte*> from;
    std::vector<std::byte*> to;
    std::uint64_t sends = 0, receives = 0, matched = 0;
    std::vector<std::unique_ptr<std::atomic<bool>>> sent, received;
  };

  /// Lets no further copy begin and waits for those that have begun. Afterwards nobody touches a failing rank's memory.
  void quit() {
    closed_ = true;
    while (copying_ > 0) std::this_thread::yield();
  }

  void match(line& l) {
    ++copying_;
    while (!closed_) {
      const std::byte* from;
      std::byte* to;
      std::size_t s, r;
      {
        const std::lock_guard lock(l.mutex);
        if (l.matched == std::min(l.sends, l.receives)) break;
        s = l.matched % l.from.size();
        r = l.matched % l.to.size();
        ++l.matched;
        from = l.from[s];
        to = l.to[r];
      }
      std::memcpy(to, from, static_cast<std::size_t>(l.about.bytes));
      l.sent[s]->store(true, std::memory_order_release);
      l.received[r]->store(true, std::memory_order_release);
      bells_[l.about.from].ring();
      bells_[l.about.to].ring();
    }
    --copying_;
  }

  /// Waits for `ready` on the hub's own condition. Throws stopped.
  template <class F> void await(std::unique_lock<std::mutex>& lock, F ready) {
    changed_.wait(lock, [&] { return is_stopped() || ready(); });
    if (is_stopped()) throw stopped();
  }

  int size_;
  std::atomic<bool> stopped_{false}, closed_{false};
  std::atomic<int> copying_{0};
  std::vector<bell> bells_;
  std::vector<std::unique_ptr<line>> lines_;
  // Collective operations:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> texts_, gathered_;
  int arrived_ = 0;
  std::uint64_t rounds_ = 0;
  struct offer {
    const void* data = nullptr;
    int to = -1;
  };
  std::vector<offer> offers_;  ///< by rank: what it offers by send_block; to = -1: nothing
};

class endpoint final : public channels::endpoint {
 public:
  endpoint(hub& h, int rank) : hub_(h), rank_(rank), bell_(h.bells_[rank]) {}

  void start_send(int path, int slot, const std::byte* from) override {
    auto& l = line(path);
    l.sent[index(slot)]->store(false, std::memory_order_relaxed);
    {
      const std::lock_guard lock(l.mutex);
      l.from[index(slot)] = from;
      ++l.sends;
    }
    hub_.match(l);
  }
  void start_receive(int path, int slot, std::byte* to) override {
    auto& l = line(path);
    l.received[index(slot)]->store(false, std::memory_order_relaxed);
    {
      const std::lock_guard lock(l.mutex);
      l.to[index(slot)] = to;
      ++l.receives;
    }
    hub_.match(l);
  }
  bool sent(int path, int slot) const override { return line(path).sent[index(slot)]->load(std::memory_order_acquire); }
  bool received(int path, int slot) const override {
    return line(path).received[index(slot)]->load(std::memory_order_acquire);
  }
  void progress() override {
    if (hub_.is_stopped()) throw stopped();
    const std::lock_guard lock(bell_.mutex);
    seen_ = bell_.events;
  }
  void wait() override {
    std::unique_lock lock(bell_.mutex);
    bell_.changed.wait(lock, [&] { return bell_.events != seen_ || hub_.is_stopped(); });
    seen_ = bell_.events;
    if (hub_.is_stopped()) throw stopped();
  }
  void wake() override { bell_.ring(); }
  void settle() override;
  void quit() override { hub_.quit(); }

 private:
  static std::size_t index(int slot) { return static_cast<std::size_t>(slot); }
  hub::line& line(int path) const { return *hub_.lines_[path]; }

  hub& hub_;
  const int rank_;
  hub::bell& bell_;
  std::uint64_t seen_ = 0;
};

class communicator final : public channels::communicator {
 public:
  communicator(hub& h, int rank) : hub_(h), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return hub_.size(); }

  std::vector<std::string> all_gather(const std::string& text) override {
    std::unique_lock lock(hub_.mutex_);
    hub_.texts_[rank_] = text;
    if (++hub_.arrived_ == hub_.size()) {
      hub_.gathered_ = hub_.texts_;
      hub_.arrived_ = 0;
      ++hub_.rounds_;
      hub_.changed_.notify_all();
    } else {
      hub_.await(lock, [&, round = hub_.rounds_] { return hub_.rounds_ != round; });
    }
    return hub_.gathered_;
  }
  std::int64_t clock_offset() override { return 0; }

  std::unique_ptr<channels::endpoint> connect(std::span<const path> paths) override {
    {
      const std::lock_guard lock(hub_.mutex_);
      if (hub_.lines_.empty())
        for (const auto& p : paths) hub_.lines_.push_back(std::make_unique<hub::line>(p));
    }
    all_gather({});
    return std::make_unique<endpoint>(hub_, rank_);
  }

  void send_block(int to, const void* data, std::int64_t) override {
    std::unique_lock lock(hub_.mutex_);
    auto& mine = hub_.offers_[rank_];
    mine = {data, to};
    hub_.changed_.notify_all();
    hub_.await(lock, [&] { return mine.to < 0; });
  }
  void receive_block(int from, void* data, std::int64_t bytes) override {
    std::unique_lock lock(hub_.mutex_);
    auto& theirs = hub_.offers_[from];
    hub_.await(lock, [&] { return theirs.to == rank_; });
    std::memcpy(data, theirs.data, static_cast<std::size_t>(bytes));
    theirs.to = -1;
    hub_.changed_.notify_all();
  }
  void stop(const std::string& message) override { hub_.stop(message); }

 private:
  hub& hub_;
  int rank_;
};

/// Matched operations were copied immediately; the others are dropped with their lines.
inline void endpoint::settle() {
  communicator ranks(hub_, rank_);
  ranks.all_gather({});  // no rank starts operations any more
  {
    const std::lock_guard lock(hub_.mutex_);
    hub_.lines_.clear();
  }
  ranks.all_gather({});  // or a rank could connect again and find the old lines
}

}  // namespace dice::channels::in_process
