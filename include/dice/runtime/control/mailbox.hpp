// What ranks tell each other, besides tensors: letters of several kinds, on one path from each rank to each other.
#pragma once

#include "dice/channels/channel.hpp"
#include "dice/meta/enum_name.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace dice::runtime {

/// As it travels.
struct letter {
  enum class kind : std::int64_t {
    credit,    ///< a frame has left (credits.hpp)
    notice,    ///< how many frames there are (frame_count.hpp)
    question,  ///< where a frame is (frame_watch.hpp)
    answer,    ///< to a question
    turn,      ///< which replica computes a frame (turns.hpp)
    time,      ///< how long a replica took for one
    stamp,     ///< when a frame came (frame_stamps.hpp)
    health,    ///< how a rank is (health.hpp)
    note,      ///< what was found in a frame (notes.hpp)
  };
  static constexpr std::size_t kinds = meta::value_count<kind>;
  using words = std::array<std::int64_t, 6>;

  std::int64_t number = 0;  ///< on its path, from 0 on
  kind is = kind::credit;
  words says{};
};
static_assert(sizeof(letter) <= 64 && std::is_trivially_copyable_v<letter> &&
              std::has_unique_object_representations_v<letter>);

/// The letters from one rank to another. Each kind has its own slots of the path (channels::path): at most that many of its
/// letters are under way at the sender, and the receiver is ready for that many.
struct letter_path {
  int from = 0, to = 0;
  std::array<int, letter::kinds> send_slots{}, receive_slots{};  ///< by kind; 0: there are no letters of that kind

  void add(letter::kind k, int sends, int receives) {
    send_slots[static_cast<std::size_t>(k)] += sends;
    receive_slots[static_cast<std::size_t>(k)] += receives;
  }
  int sends() const { return sum(send_slots); }
  int receives() const { return sum(receive_slots); }

 private:
  static int sum(const std::array<int, letter::kinds>& slots) {
    int out = 0;
    for (const int n : slots) out += n;
    return out;
  }
};

/// This rank's ends of all letter paths. Letters of a path are read in the order in which they were sent. A kind without a
/// free slot does not keep others from being sent, and a letter that finds a slot is sent at once. Allocates only when made.
class mailbox {
 public:
  /// Reads a letter from rank `from`; returns false if there is no room for what it says. Then it is read again later, and
  /// all letters behind it on its path wait, whatever their kind. So what makes room must not depend on a letter of that
  /// path.
  using reader = std::function<bool(int from, const letter::words& says)>;

  /// `paths` are the endpoint's paths from `first` on.
  mailbox(std::span<const letter_path> paths, int first, int rank, channels::endpoint& end) : end_(end) {
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const auto& p = paths[i];
      const int path = first + static_cast<int>(i);
      if (p.from == rank) {
        out_.resize(std::max(out_.size(), static_cast<std::size_t>(p.to) + 1));
        out_[p.to] = {path, std::vector<letter>(p.sends()), p.send_slots};
      }
      if (p.to == rank) in_.push_back({path, p.from, std::vector<letter>(p.receives()), p.receive_slots});
    }
  }
  mailbox(const mailbox&) = delete;
  mailbox& operator=(const mailbox&) = delete;

  /// `r` reads the letters of this kind. Each kind that other ranks send needs a reader before advance().
  void set_reader(letter::kind k, reader r) { readers_[index(k)] = std::move(r); }
  /// The ranks to which this one sends letters of a kind, and those that send it some.
  std::vector<int> receivers(letter::kind k) const {
    std::vector<int> out;
    for (std::size_t r = 0; r < out_.size(); ++r)
      if (out_[r].slots[index(k)] > 0) out.push_back(static_cast<int>(r));
    return out;
  }
  std::vector<int> senders(letter::kind k) const {
    std::vector<int> out;
    for (const auto& l : in_)
      if (l.slots[index(k)] > 0) out.push_back(l.from);
    return out;
  }

  /// Whether another letter of this kind can be sent to rank `to`.
  bool has_room(letter::kind k, int to) {
    auto& l = out_[to];
    for (; l.sent < l.begun && end_.sent(l.path, slot(l, l.sent)); ++l.sent)
      --l.under_way[index(l.letters[slot(l, l.sent)].is)];
    return l.under_way[index(k)] < l.slots[index(k)];
  }
  /// Sends a letter. Requires has_room(k, to).
  void send(letter::kind k, int to, const letter::words& says) {
    auto& l = out_[to];
    ++l.under_way[index(k)];
    const int s = slot(l, l.begun);
    l.letters[s] = {l.begun++, k, says};
    end_.start_send(l.path, s, reinterpret_cast<const std::byte*>(&l.letters[s]));
  }
  /// Whether all letters of this kind are sent.
  bool all_sent(letter::kind k) const {
    return std::all_of(out_.begin(), out_.end(), [&](const outgoing& l) {
      for (auto i = l.sent; i < l.begun; ++i)
        if (l.letters[slot(l, i)].is == k && !end_.sent(l.path, slot(l, i))) return false;
      return true;
    });
  }

  /// Lets the readers read the letters that have arrived. Throws std::runtime_error, and what readers throw.
  void advance() {
    for (auto& l : in_) {
      for (; l.read < l.begun && end_.received(l.path, slot(l, l.read)); ++l.read) {
        const auto& one = l.letters[slot(l, l.read)];
        const auto k = index(one.is);
        if (one.number != l.read || k >= letter::kinds || !readers_[k])
          throw std::runtime_error("the transport has lost or mixed up messages");
        if (!readers_[k](l.from, one.says)) break;
      }
      for (; l.begun < l.read + static_cast<std::int64_t>(l.letters.size()); ++l.begun) {
        const int s = slot(l, l.begun);
        end_.start_receive(l.path, s, reinterpret_cast<std::byte*>(&l.letters[s]));
      }
    }
  }

 private:
  struct outgoing {
    int path = -1;
    std::vector<letter> letters{};  ///< by slot
    std::array<int, letter::kinds> slots{}, under_way{};
    std::int64_t begun = 0, sent = 0;  ///< `sent`: the first ones, as far as has_room() has seen
  };
  struct incoming {
    int path = -1, from = 0;
    std::vector<letter> letters{};  ///< by slot
    std::array<int, letter::kinds> slots{};
    std::int64_t begun = 0, read = 0;
  };

  static constexpr std::size_t index(letter::kind k) { return static_cast<std::size_t>(k); }
  template <class Line> static int slot(const Line& l, std::int64_t number) {
    return static_cast<int>(number % static_cast<std::int64_t>(l.letters.size()));
  }

  channels::endpoint& end_;
  std::vector<outgoing> out_;  ///< by rank
  std::vector<incoming> in_;
  std::array<reader, letter::kinds> readers_{};
};

}  // namespace dice::runtime
