// The contract of transports: how the ranks of a job are started, how they are joined, and what is lost with one of them.
#pragma once

#include "dice/channels/channel.hpp"
#include "dice/channels/transport.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dice::channels {

struct transport_info;

/// This process among those that a launcher has started, before any of them has joined its job.
struct launch {
  const transport_info* by = nullptr;  ///< whose launcher; null: none has started this process
  int size = 0;                        ///< number of processes, this one included; 0: none, or not known
  int rank = 0;                        ///< this one's number among them
  int local_rank = 0;                  ///< its number among those of its host
};

/// The program that starts the processes of a job, and its options, in words for messages.
struct launcher {
  std::string_view name;
  std::string_view count;               ///< gives the number of ranks
  std::string_view input;               ///< gives the rank that gets the standard input
  std::string_view place;               ///< gives the host of each rank
  std::string_view hosts;               ///< gives the hosts of all ranks, "a:1,b:1"
  std::string_view bind, unbind;        ///< give each rank cores of its own, or all cores
  std::chrono::milliseconds signals{};  ///< how long it holds a signal before passing it on
};

/// The ranks of a job that run in this process: one, or all of them if ranks are threads. Each is for a thread of its own;
/// if all are here, any thread may stop() them.
struct membership {
  const transport_info& by;
  std::shared_ptr<const void> kept;  ///< what the ranks use; destroyed after them
  std::vector<std::unique_ptr<communicator>> ranks;
};

/// A transport. When a rank is lost, the job ends, whatever the transport: no other rank goes on alone.
struct transport_info {
  transport id;
  std::string_view word;         ///< of --transport
  std::string_view ranks;        ///< what ranks are: "MPI processes"
  bool processes = false;        ///< ranks are processes, which a launcher starts; else all are threads of one process
  bool gpu_messages = false;     ///< messages may lie in GPU memory
  std::string_view library{};    ///< the library that this build may lack
  std::string_view remedy{};     ///< what to do then
  launcher started_by{};         ///< of processes
  std::string_view lost_peer{};  ///< what a signal that ends this rank may mean; empty: ranks end together

  /// What the launcher says in the environment; by is null. Null: there is no launcher.
  launch (*launched)() = nullptr;
  /// Whether the user told the launcher which cores this process gets. Null as `launched` is.
  bool (*bound)() = nullptr;
  /// Why a program that was built elsewhere cannot join on this host, after "host NAME "; or empty. Null: it always can.
  std::string (*misfit)() = nullptr;
  /// Joins the job: makes `ranks` ranks if they are threads, else this process is one of those that were launched.
  /// `embedded`: other threads of this process use the transport, too. Throws std::runtime_error. Null: this build lacks the
  /// transport.
  membership (*join)(int ranks, bool embedded) = nullptr;

  constexpr bool available() const { return join != nullptr; }
};

}  // namespace dice::channels
