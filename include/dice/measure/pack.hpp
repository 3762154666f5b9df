// --pack: the weights of all ranks as their kernels read them, in a file.
#pragma once

#include "dice/job/launcher.hpp"
#include "dice/report/plan.hpp"
#include "dice/report/progress_line.hpp"
#include "dice/runtime/digest.hpp"
#include "dice/runtime/npy.hpp"
#include "dice/runtime/weights_of.hpp"
#include "dice/text/print.hpp"
#include "dice/weights/packed.hpp"
#include "dice/weights/search.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace dice::measure {

namespace detail {

/// Writes the packed weights of all ranks to `file`. Throws weights::error, runtime::file_error.
[[gnu::cold]] inline void write_packed(const runtime::program& p, const std::string& plain, const std::string& file) {
  runtime::require_writable(file);
  const weights::file from(weights::find(p.weights, plain, p.weights_folder), p.network, p.weights);
  if (runtime::is_same_file(file, from.path()))
    throw runtime::file_error("'" + file + "' is a weights file and would be overwritten; name another file");
  const auto items = runtime::weights_of(p);
  runtime::replace_file(file, [&](const std::string& temporary) {
    report::progress_line line;
    std::ofstream out(temporary, std::ios::binary);
    weights::write_packed(out, runtime::packed_identity(p), items, from, [&](std::int64_t done, std::int64_t all) {
      line.show_now([&] { return "packed " + text::bytes_text(done) + " of " + text::bytes_text(all); });
    });
    out.close();
    if (!out) throw std::runtime_error(errno ? std::strerror(errno) : "unknown reason");
  });
}

}  // namespace detail

/// Runs --pack: packs the weights of the file `plain` (empty: search the usual places) into `file`. Throws weights::error,
/// runtime::file_error.
[[gnu::cold]] inline void pack(const runtime::program& p, const std::string& plain, const std::string& file) {
  detail::write_packed(p, plain, file);
  std::vector<std::vector<std::string>> lines{{"rank", "packed weights"}};
  for (int r = 0; const auto& items : runtime::weights_of(p)) {
    std::int64_t bytes = 0;
    for (const auto& n : items) bytes += n.stored_bytes();
    lines.push_back({std::to_string(r++), text::bytes_text(bytes)});
  }
  text::print(text::table_text(lines, 1));
}

/// Writes the file beside the program at its first start, in one process of each host. If that fails, it is no error: then
/// each start packs the weights.
[[gnu::cold]] inline void pack_at_first_start(const runtime::program& p) {
  if (job::launched_local_rank() != 0 || weights::program_path().empty() || !weights::packed_beside().empty()) return;
  try {
    detail::write_packed(p, {}, weights::program_path() + ".packed");
  } catch (const std::exception&) {
  }
}

}  // namespace dice::measure
