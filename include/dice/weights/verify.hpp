// Weights compared with the digests in their file.
#pragma once

#include "dice/files/error.hpp"
#include "dice/weights/file.hpp"
#include "dice/weights/packed.hpp"
#include "dice/weights/store.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>

namespace dice::weights {

/// What was compared.
struct verified {
  std::int64_t tensors = 0, bytes = 0;
  void add(std::int64_t more) {
    ++tensors;
    bytes += more;
  }
};

/// Reads the tensors that `items` need and compares them with the digests that onnx2hpp wrote. The digests themselves are
/// checked by the file's digest, which the program contains. Throws files::error, which names the first tensor that differs.
[[gnu::cold]] inline verified verify(const file& from, std::span<const item> items) {
  const auto& all = from.tensors();
  std::set<const stored_tensor*> needed;
  for (const auto& n : items)
    for (const auto& p : n.parameters) {
      const auto end = p.end();
      const auto at =
          std::find_if(all.begin(), all.end(), [&](const auto& t) { return t.begin <= p.offset && end <= t.end; });
      if (at == all.end())
        throw files::error("weights file '" + from.path() + "' has no tensor at byte " + std::to_string(p.offset) +
                           ", where the program needs one; let onnx2hpp write header and file again");
      needed.insert(&*at);
    }
  verified out;
  for (const auto* t : needed) {
    from.verify(*t);
    out.add(t->end - t->begin);
  }
  return out;
}

/// The same for the packed weights of rank `rank`, which has `items`, and the digests that --pack wrote; name(i) says which
/// layers item i belongs to.
template <class Name>
[[gnu::cold]] verified verify(const packed_file& from, int rank, std::span<const item> items, Name name) {
  verified out;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].stored_bytes() == 0) continue;
    if (!from.holds(rank, items, i))
      from.fail("are damaged: the weights of layer '" + name(i) + "' of rank " + std::to_string(rank) +
                " differ from what --pack wrote");
    out.add(items[i].stored_bytes());
  }
  return out;
}

}  // namespace dice::weights
