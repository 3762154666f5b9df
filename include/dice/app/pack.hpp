// --pack: the weights of all ranks as their kernels read them, in a file.
#pragma once

#include "dice/app/options.hpp"
#include "dice/app/output/plan.hpp"
#include "dice/app/output/print.hpp"
#include "dice/runtime/digest.hpp"
#include "dice/runtime/executor.hpp"
#include "dice/runtime/npy.hpp"
#include "dice/weights/packed.hpp"
#include "dice/weights/search.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace dice::app {

/// Runs --pack. Throws weights::error, runtime::file_error.
[[gnu::cold]] inline void pack(const runtime::program& p, const options& o) {
  runtime::require_writable(o.pack);
  const weights::file from(weights::find(p.weights, o.weights, p.weights_folder), p.network, p.weights);
  if (runtime::is_same_file(o.pack, from.path()))
    throw runtime::file_error("'" + o.pack + "' holds the weights, and would be written; name another file");
  const auto needs = runtime::needs_of(p);
  runtime::replace_file(o.pack, [&](const std::string& temporary) {
    const bool shows = ::isatty(STDERR_FILENO);
    std::ofstream out(temporary, std::ios::binary);
    weights::write_packed(out, runtime::packed_identity(p), needs, from, [&](std::int64_t done, std::int64_t all) {
      if (shows)
        std::fprintf(stderr, "\r\033[Kpacked %s of %s", detail::bytes_text(done).c_str(), detail::bytes_text(all).c_str());
    });
    if (shows) std::fprintf(stderr, "\r\033[K");
    out.close();
    if (!out) throw std::runtime_error(errno ? std::strerror(errno) : "unknown reason");
  });
  std::vector<std::vector<std::string>> lines{{"rank", "packed weights"}};
  for (std::size_t r = 0; r < needs.size(); ++r) {
    std::int64_t bytes = 0;
    for (const auto& n : needs[r]) bytes += n.stored_bytes();
    lines.push_back({std::to_string(r), detail::bytes_text(bytes)});
  }
  print(detail::table_text(lines, 1));
}

}  // namespace dice::app
