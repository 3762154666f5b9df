// --pack: the weights of all ranks, or of some, as their kernels read them, in a file.
#pragma once

#include "dice/channels/transports.hpp"
#include "dice/files/error.hpp"
#include "dice/files/mapped.hpp"
#include "dice/files/place.hpp"
#include "dice/files/writer.hpp"
#include "dice/job/own_ranks.hpp"
#include "dice/report/plan.hpp"
#include "dice/report/progress_line.hpp"
#include "dice/runtime/digest.hpp"
#include "dice/runtime/weights_of.hpp"
#include "dice/text/print.hpp"
#include "dice/weights/packed.hpp"
#include "dice/weights/search.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

namespace dice::measure {

namespace detail {

/// Throws files::error if --pack did not write `file`, unless it is the file of packed weights beside the program.
[[gnu::cold]] inline void require_replaceable(const std::string& file) {
  const auto there = files::place_of(file);
  if (there.kind != files::place::kinds::regular) return;
  const files::opened in("", file, "");
  if (in.size() == 0 || weights::begins_like_packed(in)) return;
  if (weights::begins_like_weights(in))
    in.fail("is a weights file, and --pack would overwrite it; name another file (to read it: --weights)");
  if (const auto beside = weights::packed_beside(); beside.empty() || files::place_of(beside).id != there.id)
    in.fail("was not written by --pack, and would be overwritten; name another file, or delete this one first");
}

/// Those of `ranks` (empty: of all) that the program has. Throws files::error if `ranks` has one that it does not have.
[[gnu::cold]] inline std::vector<int> packable(const runtime::program& p, const std::vector<int>& ranks) {
  std::vector<int> own;
  for (int r = 0; r < p.ranks(); ++r)
    if (p.has(r) && (ranks.empty() || std::binary_search(ranks.begin(), ranks.end(), r))) own.push_back(r);
  if (!ranks.empty() && own.size() < ranks.size())
    throw files::error("--ranks: " + job::own_ranks_text(p) +
                       "; pack the weights of others with the program that has all ranks");
  return own;
}

/// Writes the packed weights of `ranks`, from packable(), to `file`. Throws files::error.
[[gnu::cold]] inline void write_packed(const runtime::program& p, const std::string& plain, const std::string& file,
                                       const std::vector<int>& ranks) {
  files::require_writable(file);
  const weights::file from(weights::find(p.weights, plain, p.weights_folder), p.network, p.weights);
  if (const auto wrong = files::conflict(std::array{files::reads(from.path()), files::writes(file)}); !wrong.empty())
    throw files::error(wrong);
  require_replaceable(file);
  const auto items = runtime::weights_of(p);
  report::progress_line line;
  files::writer out(file);
  const auto done = [&](std::int64_t bytes, std::int64_t all) {
    line.show_now([&] { return "packed " + text::bytes_text(bytes) + " of " + text::bytes_text(all); });
  };
  weights::write_packed(out, runtime::packed_identity(p), items, from, done, ranks);
  out.commit();
}

}  // namespace detail

/// Runs --pack: packs the weights of the file `plain` (empty: search the usual places) into `file`, those of `ranks`
/// (ascending; empty: all). Throws files::error.
[[gnu::cold]] inline void pack(const runtime::program& p, const std::string& plain, const std::string& file,
                               const std::vector<int>& ranks) {
  const auto own = detail::packable(p, ranks);
  detail::write_packed(p, plain, file, own);
  std::vector<std::vector<std::string>> lines{{"rank", "packed weights"}};
  const auto items = runtime::weights_of(p);
  for (const int r : own) lines.push_back({std::to_string(r), text::bytes_text(weights::stored_bytes(items[r]))});
  text::print(text::table_text(lines, 1));
}

/// Writes the file beside the program at its first start, in one process of each host. If that fails, it is not an error:
/// then each start packs the weights.
[[gnu::cold]] inline void pack_at_first_start(const runtime::program& p) {
  if (channels::launched().local_rank != 0 || weights::program_path().empty() || !weights::packed_beside().empty()) return;
  try {
    detail::write_packed(p, {}, weights::program_path() + ".packed", detail::packable(p, {}));
  } catch (const std::exception&) {
  }
}

}  // namespace dice::measure
