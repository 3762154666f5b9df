/// Umbrella of the room `runtime`: a program's values, the executor of a rank, sources and sinks of frames, figures.
#pragma once

#include "dice/runtime/affinity.hpp"
#include "dice/runtime/digest.hpp"
#include "dice/runtime/executor.hpp"
#include "dice/runtime/figures.hpp"
#include "dice/runtime/frames.hpp"
#include "dice/runtime/npy.hpp"
#include "dice/runtime/npy_stream.hpp"
#include "dice/runtime/paths.hpp"
#include "dice/runtime/program.hpp"
#include "dice/runtime/recorder.hpp"
#include "dice/runtime/sink.hpp"
#include "dice/runtime/source.hpp"
#include "dice/runtime/stream.hpp"
#include "dice/runtime/tensor.hpp"
