#pragma once

#include "dice/advice/cluster_model.hpp"
#include "dice/meta/library.hpp"
#include "dice/runtime/program.hpp"
#include "dice/this_host/refuse_cpu.hpp"

namespace dice::app {

/// The run-time half of dice::main: runs the program as its command line says; `f` may be null. Exit code: 0 done, 1 failed,
/// 2 wrong usage, 3 stopped by a signal.
DICE_API int run(const runtime::program& p, const advice::cluster_model* f, int argc, char** argv);

}  // namespace dice::app

#ifdef DICE_HEADER_ONLY
#include "dice/app/run.ipp"
#endif
