#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace dice::this_host {

/// The folders of this process's control groups and of those above them, for `controller` ("cpu", "memory"), of cgroup v1
/// and v2. `root` is "/". /proc/self/cgroup has lines "NUMBER:CONTROLLERS:PATH", of v2 without controllers. In a container
/// the path may be that of the host; then only the topmost folder is there.
[[gnu::cold]] inline std::vector<std::filesystem::path> control_groups(const std::filesystem::path& root,
                                                                       std::string_view controller) {
  std::vector<std::filesystem::path> out;
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && ("," + controllers + ",").find("," + std::string(controller) + ",") == std::string::npos)
      continue;
    const auto top = root / "sys/fs/cgroup" / controllers;
    auto group = std::filesystem::path(line.substr(second + 1)).relative_path();
    for (;; group = group.parent_path()) {
      out.push_back(top / group);
      if (group.empty()) break;
    }
  }
  return out;
}

}  // namespace dice::this_host
