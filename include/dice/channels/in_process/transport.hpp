#pragma once

#include "dice/channels/transport_info.hpp"
#include "dice/meta/library.hpp"

namespace dice::channels::in_process {

/// All ranks, on a hub of their own.
DICE_API membership join(int ranks, bool embedded);

inline constexpr transport_info about{
    .id = transport::in_process, .word = "in-process", .ranks = "threads of this process", .join = join};

}  // namespace dice::channels::in_process

#ifdef DICE_HEADER_ONLY
#include "dice/channels/in_process/transport.ipp"
#endif
