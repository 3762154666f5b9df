// The packages that `cmake --build build --target NAME-packages` makes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace dice_run {

/// A file of a package.
struct package_file {
  std::string name;  ///< within the package's folder; packages have no folders
  std::int64_t bytes = 0;
  std::string sha256;
};

/// The package of one host.
struct package {
  std::string host, board;
  std::vector<int> ranks;
  std::vector<package_file> files;      ///< with manifest.json
  std::filesystem::path folder;         ///< on this machine
  std::string processor;                ///< for which it was compiled, as `uname -m` says it; or ""
  std::vector<std::string> unlisted{};  ///< files in its folder that manifest.json does not list
  /// What the program needs of its host, if the manifest says so: instructions of the CPU, as compilers call them (-mavx2),
  /// and glibc of this version or newer.
  std::vector<std::string> instructions{};
  std::string glibc{};
};

/// The packages of all hosts of one build.
struct deployment {
  std::string name;
  std::string version;             ///< 12 hexadecimal digits: a digest of all manifests
  std::string folder;              ///< dice_add_deployment's FOLDER, or ""
  std::vector<package> packages;   ///< ordered by their first ranks
  std::vector<std::string> hosts;  ///< of `packages`
  /// The host of each rank.
  std::vector<std::string> host_of_rank;
};

/// The folder of packages, NAME-packages: the only one in `given`, or else `given` itself. If `given` is empty: the only one
/// in . and ./build. Throws usage_error if there is none, or more than one.
std::filesystem::path find_packages(const std::string& given);

/// Reads the manifests. Throws usage_error if there is none, and run_error if one is missing or damaged, or if they belong
/// to different deployments.
deployment read_packages(const std::filesystem::path& folder);

}  // namespace dice_run
