#pragma once

#include "dice/channels/channel.hpp"
#include "dice/job/record.hpp"
#include "dice/weights/file.hpp"

#include <unistd.h>

#include <cstddef>
#include <exception>
#include <new>
#include <string>
#include <string_view>
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

/// The same for anything else that is thrown.
inline constexpr const char* not_an_exception = "an exception that is not a std::exception";

/// Calls f; the text of what it throws, or "".
template <class F> std::string attempt(F f) {
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

/// A rank that tells the others of its errors, so that each stage of a job fails in all ranks or in none.
class agreement {
 public:
  /// `needed`: how many ranks the job's plan has. `board`: the kind of board of this program, or empty.
  agreement(channels::communicator& ranks, int needed, std::string_view board)
      : ranks_(ranks), needed_(needed), board_(board), host_(host_name()) {}

  int rank() const { return ranks_.rank(); }
  const std::string& host() const { return host_; }
  /// "rank 1 (host b)", or "host b" if there is only one rank.
  std::string where_text(int rank, const std::string& host) const {
    return ranks_.size() == 1 ? "host " + host : "rank " + std::to_string(rank) + " (host " + host + ")";
  }
  std::string where_text() const { return where_text(rank(), host_); }

  /// Exchanges the error of each rank's stage (empty: none) and `more`, which `all` receives from all ranks. Returns the
  /// first error with its rank, or "". It is also an error if ranks have opened weights of different trainings. Collective.
  std::string agree(const std::string& error, const std::string& more, std::vector<std::string>& all) const {
    record mine;
    mine.put(error);
    mine.put(host_);
    mine.put(more);
    mine.put(content_);
    mine.put(weights_path_);
    const auto answers = ranks_.all_gather(mine.text());
    all.clear();
    std::string first, mixed, first_content, first_said;
    for (std::size_t r = 0; r < answers.size(); ++r) {
      record in(answers[r]);
      const auto text = in.get(), host = in.get();
      all.push_back(in.get());
      if (!text.empty() && first.empty()) first = needed_ == 1 ? text : where_text(static_cast<int>(r), host) + ": " + text;
      const auto content = in.get(), path = in.get();
      const auto said =
          where_text(static_cast<int>(r), host) + " has '" + path + "' (digest " + weights::shown_digest(content) + ")";
      if (r == 0) {
        first_content = content;
        first_said = said;
      }
      if (content != first_content && mixed.empty())
        mixed = "the weights are of different trainings: " + first_said + ", " + said +
                (board_.empty() ? "; copy the same weights to all hosts"
                                : "; give each host its own weights of one training: its package, or what --pack --ranks "
                                  "writes for its ranks");
    }
    return first.empty() ? mixed : first;
  }
  std::string agree(const std::string& error) const {
    std::vector<std::string> ignored;
    return agree(error, {}, ignored);
  }

  /// From now on, ranks with weights of another `content` cannot agree with this one. `path`: the file.
  void uses_weights(const std::string& content, const std::string& path) {
    content_ = content;
    weights_path_ = path;
  }
  /// The file of weights, and the digest of the weights in it.
  const std::string& weights_path() const { return weights_path_; }
  const std::string& weights_digest() const { return content_; }

 private:
  channels::communicator& ranks_;
  const int needed_;
  const std::string_view board_;
  const std::string host_;
  std::string content_, weights_path_;
};

}  // namespace dice::job
