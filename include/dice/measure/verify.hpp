// --verify without frames: the weights of all ranks, or of those in a packed file, compared with their digests.
#pragma once

#include "dice/files/error.hpp"
#include "dice/runtime/digest.hpp"
#include "dice/runtime/figures.hpp"
#include "dice/runtime/weights_of.hpp"
#include "dice/text/print.hpp"
#include "dice/text/table.hpp"
#include "dice/weights/current.hpp"
#include "dice/weights/packed.hpp"
#include "dice/weights/search.hpp"
#include "dice/weights/verify.hpp"

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace dice::measure {

/// "verified 12 tensors, 1.2 MiB, in 0.004 s: 'digits.safetensors' (digest 0123456789abcdef…)".
inline std::string verified_text(const weights::verified& v, std::int64_t nanoseconds, const std::string& file,
                                 const std::string& digest) {
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.3g s", static_cast<double>(nanoseconds) * 1e-9);
  return "verified " + std::to_string(v.tensors) + (v.tensors == 1 ? " tensor, " : " tensors, ") +
         text::bytes_text(v.bytes) + ", in " + seconds + ": '" + file + "' (digest " + weights::shown_digest(digest) + ")";
}

/// Runs --verify for all ranks (of a packed file: those in it), with the files as job::rank_session::equip chooses them.
/// Throws files::error.
[[gnu::cold]] inline void verify(const runtime::program& p, const std::string& plain, const std::string& packed) {
  const auto begin = runtime::now();
  const auto items = runtime::weights_of(p);
  auto path = packed.empty() && plain.empty() ? weights::packed_beside() : packed;
  std::optional<weights::packed_file> file;
  if (!path.empty()) try {
      file.emplace(path, runtime::packed_identity(p), items, !packed.empty());
      std::string warning;
      if (packed.empty()) warning = weights::require_current(*file, p.network, p.weights, p.weights_folder);
      if (!warning.empty()) text::print_error("dice: warning: " + warning);
    } catch (const files::error& e) {  // a run would warn, and pack the weights file
      if (!packed.empty()) throw;
      throw files::error(std::string(e.what()) + ", or delete it");
    }
  weights::verified all;
  std::string digest;
  if (file) {
    digest = file->about().content;
    for (const int r : file->about().ranks) {
      const auto own = weights::verify(*file, r, items[r], runtime::item_names(p, r));
      all.tensors += own.tensors;
      all.bytes += own.bytes;
    }
  } else {
    const weights::file plain_file(weights::find(p.weights, plain, p.weights_folder), p.network, p.weights);
    std::vector<weights::item> every;
    for (const auto& own : items) every.insert(every.end(), own.begin(), own.end());
    all = weights::verify(plain_file, every);
    path = plain_file.path();
    digest = plain_file.content();
  }
  const bool some = file && std::ssize(file->about().ranks) < p.ranks();
  text::print(verified_text(all, runtime::now() - begin, path, digest) + (some ? ", only of " + file->ranks_text() : "") +
              "\n");
}

}  // namespace dice::measure
