/// Umbrella of the room `files`: which file a path names, files written whole or not at all, mapped files, digests.
#pragma once

#include "dice/files/error.hpp"
#include "dice/files/host_lock.hpp"
#include "dice/files/interrupts.hpp"
#include "dice/files/last_words.hpp"
#include "dice/files/mapped.hpp"
#include "dice/files/place.hpp"
#include "dice/files/sha256.hpp"
#include "dice/files/standard_streams.hpp"
#include "dice/files/unfinished.hpp"
#include "dice/files/writer.hpp"
