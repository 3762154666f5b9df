#pragma once

#include "dice/files/place.hpp"
#include "dice/job/record.hpp"

#include <string>
#include <utility>
#include <vector>

namespace dice::app {

/// The record of the files that a rank uses.
inline std::string uses_text(const std::vector<files::use>& all) {
  job::record out;
  for (const auto& u : all) out.put(u.path), out.put(u.writes), out.put(u.id);
  return out.text();
}

/// What is wrong if the ranks of a host read and write the same file, or "": from each rank's host and uses_text. The
/// command line alone does not tell, because it may name folders.
[[gnu::cold]] inline std::string conflict_between(const std::vector<std::pair<std::string, std::string>>& ranks) {
  std::vector<files::use> uses;
  for (const auto& [host, text] : ranks)
    for (job::record in(text); in.more();) {
      files::use u{in.get(), in.get_number() != 0, in.get()};
      if (!u.id.empty()) u.id = host + ' ' + u.id;
      uses.push_back(std::move(u));
    }
  return files::conflict(uses);
}

}  // namespace dice::app
