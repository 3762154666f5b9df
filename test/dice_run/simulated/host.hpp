// A host in memory: the files of a deployment, locks, processes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace simulated {

/// What is kept at one path.
struct node {
  enum { folder, file, link } what = folder;
  std::string text;  ///< of a file, or the target of a link
  bool operator==(const node&) const = default;
};

/// Files by their paths below the folder of the deployments. Files and folders need room on the disk, links and renames do
/// not.
class file_system {
 public:
  file_system() = default;
  explicit file_system(std::map<std::string, node> all) : all_(std::move(all)) {}

  bool is_full = false;
  long changes = 0;  ///< how often something was changed

  const node* find(const std::string& path) const {
    const auto at = all_.find(path);
    return at == all_.end() ? nullptr : &at->second;
  }
  bool has_folder(const std::string& path) const { return find(path) != nullptr && find(path)->what == node::folder; }
  bool has_file(const std::string& path) const { return find(path) != nullptr && find(path)->what == node::file; }
  /// Of a link, or "".
  std::string target(const std::string& path) const {
    return find(path) != nullptr && find(path)->what == node::link ? find(path)->text : "";
  }
  std::string text(const std::string& path) const { return has_file(path) ? find(path)->text : ""; }
  /// The names in a folder.
  std::vector<std::string> names(const std::string& folder) const {
    std::vector<std::string> out;
    const auto prefix = folder + "/";
    for (auto at = all_.lower_bound(prefix); at != all_.end() && at->first.starts_with(prefix); ++at)
      if (at->first.find('/', prefix.size()) == std::string::npos) out.push_back(at->first.substr(prefix.size()));
    return out;
  }
  const std::map<std::string, node>& all() const { return all_; }

  /// With the folders above it. False if there is no room.
  bool make_folder(const std::string& path) {
    for (std::size_t end = 0; end != std::string::npos;) {
      end = path.find('/', end + 1);
      const auto part = path.substr(0, end);
      if (find(part) != nullptr) continue;
      if (is_full) return false;
      ++changes;
      all_[part] = {node::folder, ""};
    }
    return true;
  }
  /// On a full disk, an empty file is left.
  bool write(const std::string& path, const std::string& text) {
    ++changes;
    all_[path] = {node::file, is_full ? "" : text};
    return !is_full;
  }
  void point(const std::string& path, const std::string& target) {
    ++changes;
    all_[path] = {node::link, target};
  }
  /// False if `to` is a folder that is not empty, or `from` is not there.
  bool rename(const std::string& from, const std::string& to) {
    if (find(from) == nullptr || (has_folder(to) && !names(to).empty())) return false;
    std::map<std::string, node> moved{{to, *find(from)}};
    const auto prefix = from + "/";
    for (auto at = all_.lower_bound(prefix); at != all_.end() && at->first.starts_with(prefix); ++at)
      moved[to + at->first.substr(from.size())] = at->second;
    remove(from);
    remove(to);
    all_.merge(moved);
    return true;
  }
  void copy(const std::string& from, const std::string& to) {
    ++changes;
    all_[to] = *find(from);
  }
  void remove(const std::string& path) {
    ++changes;
    all_.erase(path);
    const auto prefix = path + "/";
    const auto first = all_.lower_bound(prefix);
    auto last = first;
    while (last != all_.end() && last->first.starts_with(prefix)) ++last;
    all_.erase(first, last);
  }

 private:
  std::map<std::string, node> all_;
};

/// A lock of flock: kept as long as somebody keeps the key.
class kernel_lock {
 public:
  using key = std::shared_ptr<const int>;
  bool is_free() const { return keeper_.expired() && sharers_.expired(); }
  bool is_exclusive() const { return !keeper_.expired(); }
  key take() {
    const auto out = std::make_shared<const int>(0);
    keeper_ = out;
    return out;
  }
  /// Beside others who share it.
  key share() {
    auto out = sharers_.lock();
    if (!out) sharers_ = out = std::make_shared<const int>(0);
    return out;
  }

 private:
  std::weak_ptr<const int> keeper_, sharers_;
};

/// A process that belongs to a deployment (prelude.sh, processes).
struct process {
  int pid = 0;
  std::string program;  ///< path of its file, or its name if it is not the deployment's
  std::string version;  ///< of the files that it uses
  bool is_rank = false;
  std::function<void(int)> signal;  ///< gets SIGUSR1, SIGTERM
  std::function<void()> kill = {};
};

struct host {
  std::string name;
  file_system files;
  kernel_lock lock, mutex, job_lock;
  std::map<int, process> processes;
  bool is_on = true, is_reached = true;
  long long clock = 1'000'000, uptime = 1000;
  int boot = 1;
  long checked = 0;         ///< file_system::changes when its links were checked
  std::string job;          ///< number and phase of its last job, as they were seen
  long watched = -1;        ///< file_system::changes when they were seen,
  bool was_locked = false;  ///< and whether the job's lock was taken
};

}  // namespace simulated
