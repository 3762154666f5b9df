#pragma once

#include "dice/advice/cluster_model.hpp"
#include "dice/app/here.hpp"
#include "dice/app/run.hpp"

#include <type_traits>

namespace dice {
namespace app {

/// What the program of the valid mapping Map knows of the valid cluster Cluster.
template <class Net, class Map, class Cluster>
inline constexpr advice::cluster_model cluster_model_of{cost::setting_of<Net, Cluster>,
                                                        cost::detail::ranks<Net, Map, Cluster>, &advice::predicted_text,
                                                        &advice::advised, &advice::searched_text};

/// What main calls after the phases of schedule::phases_of.
template <class Net, class Map, class Cluster> int run_program(int argc, char** argv) {
  constexpr auto& program = assembly::program_of<Net, Map, here<Net, Map, Cluster>>;
  if constexpr (std::is_void_v<Cluster>) return run(program, nullptr, argc, argv);
  else return run(program, &cluster_model_of<Net, Map, Cluster>, argc, argv);
}

}  // namespace app

/// The main function of a program that runs network Net as mapping Map says: reads the command line (see --help), runs this
/// process's rank (all ranks with --transport in-process), and returns the exit status: 0 done, 1 failed, 2 wrong usage. Net
/// is the `network` of a header made by onnx2hpp, Map a `mapping` or `split`. Errors are messages on stderr, not exceptions.
/// Cluster is optional: --plan and --explain predict for it, and --search finds a mapping for it.
template <class Net, class Map, class Cluster = void>
requires app::right_on<Net, Map, Cluster>
int main(int argc, char** argv) {
  static_cast<void>(schedule::phases_of<Net, Map>);
  return app::run_program<Net, Map, Cluster>(argc, argv);
}

/// Chosen for a mapping or cluster with a mistake: naming its return type is the error that the user reads.
template <class Net, class Map, class Cluster = void>
requires(!app::right_on<Net, Map, Cluster>) decltype(app::verdict_on<Net, Map, Cluster>()()) main(int, char**);

}  // namespace dice
