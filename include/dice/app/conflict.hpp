#pragma once

#include "dice/app/options.hpp"
#include "dice/channels/transports.hpp"
#include "dice/files/place.hpp"
#include "dice/files/writer.hpp"
#include "dice/job/record.hpp"

#include <string>
#include <utility>
#include <vector>

namespace dice::app {

/// The file that --input names as one that is read; "-" is the standard input.
inline files::use input_use(const std::string& file) {
  return file == "-" ? files::reads_standard_input(channels::launched().size > 0) : files::reads(file);
}
/// The same for the command line's word; commands and URLs are no files.
inline files::use input_use(const named_input& in) {
  using kinds = named_input::kinds;
  return in.kind == kinds::command || in.file.find("://") != std::string::npos ? files::use{} : input_use(in.file);
}

/// The files that the command line names for rank `rank`, which reads its weights from `weights` and its inputs from `read`.
/// holder(l): the rank that has the results of output l.
template <class Holder>
std::vector<files::use> uses_of(const options& o, int rank, const std::string& weights, const std::vector<std::string>& read,
                                const Holder& holder) {
  std::vector<files::use> out{files::reads(weights)};
  for (const auto& file : read) out.push_back(input_use(file));
  for (const auto& f : o.expected)
    if (holder(f.layer) == rank) out.push_back(files::reads(f.file));
  for (const auto& f : o.outputs)
    if (holder(f.layer) == rank) {
      out.push_back(files::writes(f.file));
      if (o.streams()) out.push_back(files::partial_use(f.file));
    }
  for (const auto& s : o.sinks)
    if (s.kind == result_sink::kinds::file && holder(s.layer) == rank) {
      out.push_back(files::writes(s.what));
      out.push_back(files::partial_use(s.what));
    }
  for (const auto* file : {&o.json, &o.trace, &o.profile})
    if (rank == 0 && !file->empty()) out.push_back(files::writes(*file));
  if (rank == 0 && !o.metrics.empty() && !job::status_reporter::port_of(o.metrics)) out.push_back(files::writes(o.metrics));
  return out;
}

/// The record of the files that a rank uses.
inline std::string uses_text(const std::vector<files::use>& all) {
  job::record out;
  for (const auto& u : all) {
    out.put(u.path);
    out.put(u.writes);
    out.put(u.id);
  }
  return out.text();
}

/// What is wrong if the ranks of a host read and write the same file, or "". `ranks`: each rank's host and uses_text; the
/// command line is not enough, because it may name folders.
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
