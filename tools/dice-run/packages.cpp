#include "packages.hpp"

#include "diagnostics.hpp"

#include "dice/files/sha256.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>

namespace dice_run {

namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string out;
  if (!fs::is_directory(path)) out.assign(std::istreambuf_iterator<char>(in), {});
  if (!in) throw run_error(fmt::format("cannot read {}; build the packages again", quote(path.string())));
  if (out.empty())
    throw run_error(fmt::format("{} {}; build the packages again", quote(path.string()),
                                fs::is_directory(path) ? "is a folder" : "is empty"));
  return out;
}

bool plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." &&
         std::ranges::none_of(name, [](unsigned char c) { return c == '/' || c < 32 || c == 127; });
}

using json = nlohmann::json;

/// Throws a run_error that says what is wrong in a manifest.
[[noreturn]] void fail(const fs::path& manifest, const std::string& why) {
  throw run_error(fmt::format("{} {}; build the packages again", quote(manifest.string()), why));
}

json parsed(const fs::path& manifest, const std::string& text) {
  try {
    return json::parse(text);
  } catch (const json::parse_error& e) {
    const auto before = std::string_view(text).substr(0, std::max<std::size_t>(e.byte, 1) - 1);
    const auto line = std::ranges::count(before, '\n') + 1;
    const auto column = before.size() - (before.rfind('\n') + 1) + 1;
    fail(manifest, fmt::format("is damaged: line {}, column {}: {}", line, column,
                               e.byte > text.size() ? "it ends too early" : "this is not JSON"));
  }
}

/// The value of `key`, which must be of the kind that `is` tests and `kind` names.
const json& field(const fs::path& manifest, const json& in, const char* key, bool (json::*is)() const noexcept,
                  const char* kind) {
  if (!in.is_object() || !in.contains(key)) fail(manifest, fmt::format("has no '{}'", key));
  const auto& out = in[key];
  if (!(out.*is)()) fail(manifest, fmt::format("is damaged: '{}' is {}, and not {}", key, out.dump().substr(0, 40), kind));
  return out;
}

package read_package(const fs::path& folder, std::string& name, const std::string& manifest) {
  const auto path = folder / "manifest.json";
  const auto all = parsed(path, manifest);
  const auto text = [&](const json& in, const char* key) -> std::string {
    return field(path, in, key, &json::is_string, "a text");
  };
  package out{
      text(all, "host"), text(all, "board"), {}, {}, folder, all.contains("processor") ? text(all, "processor") : ""};
  name = text(all, "name");
  if (all.contains("glibc")) out.glibc = text(all, "glibc");  // older manifests lack these
  if (all.contains("instructions"))
    for (const auto& one : field(path, all, "instructions", &json::is_array, "a list")) {
      if (!one.is_string()) fail(path, fmt::format("is damaged: {} does not name instructions", one.dump()));
      out.instructions.push_back(one);
    }
  std::vector<std::string> names{name, out.host, out.board, out.processor, out.glibc};
  names.insert(names.end(), out.instructions.begin(), out.instructions.end());
  for (const auto& one : names)
    if (std::ranges::any_of(one, [](unsigned char c) { return c < 32 || c == 127; }))
      throw run_error(fmt::format("{}: {} is not a name", quote(path.string()), quote(one)));
  for (const auto& rank : field(path, all, "ranks", &json::is_array, "a list")) {
    if (!rank.is_number_unsigned() || rank > 1'000'000) fail(path, fmt::format("is damaged: {} is not a rank", rank.dump()));
    out.ranks.push_back(rank);
  }
  for (const auto& f : field(path, all, "files", &json::is_array, "a list")) {
    package_file file{text(f, "file"), 0, text(f, "sha256")};
    if (!plain_name(file.name) || file.sha256.size() != 64 ||
        file.sha256.find_first_not_of("0123456789abcdef") != std::string::npos)
      throw run_error(fmt::format("{}: {} is not a file of a package", quote(path.string()), quote(file.name)));
    const std::uint64_t bytes = field(path, f, "bytes", &json::is_number_unsigned, "a number of bytes");
    if (bytes > std::uint64_t{1} << 60)
      fail(path, fmt::format("is damaged: {} cannot have {} bytes", quote(file.name), bytes));
    file.bytes = static_cast<std::int64_t>(bytes);
    if (file.name == "manifest.json" || std::ranges::count(out.files, file.name, &package_file::name) > 0)
      fail(path, fmt::format("lists {} {}", quote(file.name), file.name == "manifest.json" ? "itself" : "twice"));
    out.files.push_back(std::move(file));
  }
  dice::files::sha256 hash;
  hash.add(manifest);
  out.files.push_back({"manifest.json", static_cast<std::int64_t>(manifest.size()), hash.text()});
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(folder, unreadable))
    if (const auto found = entry.path().filename().string(); std::ranges::count(out.files, found, &package_file::name) == 0)
      out.unlisted.push_back(found);
  std::ranges::sort(out.unlisted);
  return out;
}

/// FOLDER of dice_add_deployment: the file `app` has "-wdir FOLDER/NAME ./NAME".
std::string folder_of(const fs::path& package, const std::string& name) {
  const auto app = lines_of(content_of(package / "app"));
  const std::string before = "-wdir ", after = "/" + name + " ./" + name;
  if (app.empty()) return {};
  const auto from = app[0].find(before);
  if (from == std::string::npos || !app[0].ends_with(after)) return {};
  return app[0].substr(from + before.size(), app[0].size() - after.size() - from - before.size());
}

}  // namespace

fs::path find_packages(const std::string& given) {
  std::error_code none;
  if (!given.empty() && !fs::is_directory(given, none))
    throw usage_error(
        fmt::format("--packages: there is no folder {}; cmake --build build --target NAME-packages makes it", quote(given)));
  std::vector<std::string> found;
  for (const auto& where : given.empty() ? std::vector<std::string>{".", "build"} : std::vector{given})
    for (const auto& entry : fs::directory_iterator(where, none)) {
      const auto name = entry.path().filename().string();
      if (name.ends_with("-packages") && name[0] != '.' && entry.is_directory(none))
        found.push_back((fs::path(where) / name).lexically_normal());
    }
  std::ranges::sort(found);
  if (found.empty() && !given.empty()) return given;  // whatever its name is
  if (found.empty())
    throw usage_error(
        "no packages in . or ./build: cmake --build build --target NAME-packages makes them, -p FOLDER names them");
  if (found.size() > 1)
    throw usage_error(fmt::format("several deployments: {}; choose one by -p FOLDER", fmt::join(found, ", ")));
  return found[0];
}

deployment read_packages(const fs::path& folder) {
  deployment out;
  std::map<std::string, std::string> manifests;  // by host, so that the digest does not depend on an order
  std::map<int, std::string> ranks;
  std::error_code failed;  // what cannot be read is not a package
  for (const auto& host : fs::directory_iterator(folder, failed)) {
    for (const auto& inner : fs::directory_iterator(host.path(), failed)) {
      if (!fs::exists(inner.path() / "manifest.json", failed)) continue;
      std::string name;
      const auto manifest = content_of(inner.path() / "manifest.json");
      auto one = read_package(fs::absolute(inner.path()), name, manifest);
      if (one.host != host.path().filename() || name != inner.path().filename() || !(out.name.empty() || out.name == name))
        throw run_error(fmt::format("{} is the package of the host {} of the deployment {}; build the packages again",
                                    quote(inner.path().string()), quote(one.host), quote(name)));
      out.name = name;
      manifests[one.host] = manifest;
      for (const int r : one.ranks)
        if (!ranks.emplace(r, one.host).second)
          throw run_error(fmt::format("two packages in {} have rank {}", quote(folder.string()), r));
      out.packages.push_back(std::move(one));
    }
  }
  if (out.packages.empty())
    throw usage_error(
        fmt::format("no packages in {}; cmake --build build --target NAME-packages makes them", quote(folder.string())));
  const auto count = lines_of(content_of(out.packages[0].folder / "app")).size();  // it has a line for each rank
  for (std::size_t rank = 0; rank < count; ++rank) {
    const auto at = ranks.find(static_cast<int>(rank));
    if (at == ranks.end())
      throw run_error(fmt::format("no {} has rank {}; build the packages again",
                                  (folder / "HOST" / out.name / "manifest.json").string(), rank));
    out.host_of_rank.push_back(at->second);
  }
  if (ranks.size() != count)
    throw run_error(fmt::format("the packages in {} have {} ranks, but the file app of {} has {}; build the packages again",
                                quote(folder.string()), ranks.size(), quote(out.packages[0].host), count));
  std::ranges::sort(out.packages, {}, [](const package& p) {
    return p.ranks.empty() ? std::pair{1 << 30, p.host} : std::pair{p.ranks[0], p.host};
  });
  for (const auto& p : out.packages) out.hosts.push_back(p.host);
  dice::files::sha256 hash;
  for (const auto& [host, manifest] : manifests) {
    hash.add(fmt::format("{} {}\n", host, manifest.size()));
    hash.add(manifest);
  }
  out.version = hash.text().substr(0, 12);
  out.folder = folder_of(out.packages[0].folder, out.name);
  return out;
}

}  // namespace dice_run
