#pragma once

#include "dice/channels/channel.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace dice::job {

/// Gathers all ranks' texts in rank 0; for long texts. Collective.
inline std::vector<std::string> to_first(channels::communicator& ranks, std::string text) {
  const auto sizes = ranks.all_gather(std::to_string(text.size()));
  std::vector<std::string> out(sizes.size());
  for (int r = 1; r < ranks.size(); ++r) {
    auto& theirs = out[r];
    if (ranks.rank() == r) ranks.send_block(0, text.data(), static_cast<std::int64_t>(text.size()));
    if (ranks.rank() != 0) continue;
    theirs.resize(std::stoull(sizes[r]));
    ranks.receive_block(r, theirs.data(), static_cast<std::int64_t>(theirs.size()));
  }
  out[0] = std::move(text);
  return out;
}

}  // namespace dice::job
