// A program of dice::main with a toy network. Environment variables configure it, so that one program serves all tests:
// TOY_NET, TOY_TWIST (ends all ONNX names), TOY_OWNER (the rank of each layer), TOY_IN_FLIGHT, TOY_FAIL_AFTER, TOY_SLOW
// (µs), TOY_ACCELERATORS (yes: ranks 0, 2, … compute on accelerators), TOY_MEASURES (ms that an accelerator takes to measure
// a kernel), TOY_PACK (hangs: the first start packs weights, and never ends). TOY_VERSION, TOY_STRUCTURE, TOY_PINNED,
// TOY_KILL, TOY_HANG (yes: a kernel never returns) and TOY_NAP (ms that kernels sleep; they do nothing else) may be
// "RANK=TEXT". With --write-weights FILE it writes its weights, with the content digest TOY_CONTENT, and exits.
#include "runtime/fake_accelerator.hpp"
#include "runtime/toy.hpp"

#include "dice/app/run.hpp"
#include "dice/channels/transports.hpp"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <thread>

namespace {

std::string environment(const char* name, const char* otherwise) {
  const char* text = std::getenv(name);
  return text ? text : otherwise;
}

/// The text after "RANK=" if RANK is this process's rank.
std::string for_rank(const char* name, std::string otherwise) {
  const auto text = environment(name, "");
  const auto at = text.find('=');
  return at != std::string::npos && std::atoi(text.c_str()) == dice::channels::launched().rank ? text.substr(at + 1)
                                                                                               : otherwise;
}

/// Says so, and never returns.
void hang(const dice::kernels::task&, const dice::kernels::buffers&) {
  std::fputs("a kernel hangs\n", stderr);
  for (;;) ::pause();
}
void hang_packing(const dice::kernels::task&, dice::kernels::parameter_list, std::byte*) {
  std::fputs("packing hangs\n", stderr);
  for (;;) ::pause();
}
std::chrono::milliseconds nap_time{0};
void nap(const dice::kernels::task&, const dice::kernels::buffers&) { std::this_thread::sleep_for(nap_time); }
void fail_hard(const dice::kernels::task&, const dice::kernels::buffers&) { std::raise(SIGKILL); }

}  // namespace

int main(int argc, char** argv) {
  auto net = environment("TOY_NET", "diamond") == "two" ? toy::two_by_two() : toy::diamond();
  std::vector<int> owner;
  std::istringstream ranks(environment("TOY_OWNER", "0,0,0,0,0,0,0,0,0,0"));
  for (std::string r; std::getline(ranks, r, ',');) owner.push_back(std::atoi(r.c_str()));
  owner.resize(net.size());
  if (const char* after = std::getenv("TOY_FAIL_AFTER")) {
    toy::failing_after = std::atoi(after);
    net[6].what = toy::op::failing;
  }
  toy::fake_accelerator::measures_for = std::chrono::milliseconds(std::atoi(environment("TOY_MEASURES", "0").c_str()));
  toy::jitter = std::atoi(environment("TOY_SLOW", "0").c_str());
  toy::program toy(net, owner, std::atoi(environment("TOY_IN_FLIGHT", "4").c_str()), environment("TOY_TWIST", ""));
  if (argc == 3 && std::string(argv[1]) == "--write-weights") {
    toy.content = environment("TOY_CONTENT", toy.content.c_str());
    toy.write_weights(argv[2]);
    return 0;
  }
  toy.version = for_rank("TOY_VERSION", toy.version);
  toy.structure = for_rank("TOY_STRUCTURE", toy.structure);
  toy.pinned = for_rank("TOY_PINNED", "");
  if (environment("TOY_ACCELERATORS", "") == "yes")
    for (int r = 0; r < toy.view().ranks(); r += 2)
      toy.accelerate(r, [](const dice::platform::unit&) {
        return dice::kernels::opened_accelerator{std::make_unique<toy::fake_accelerator>()};
      });
  auto program = toy.view();
  std::vector<dice::kernels::entry> deadly(program.kernels.begin(), program.kernels.end());
  const bool hangs = for_rank("TOY_HANG", "") == "yes";
  if (hangs || for_rank("TOY_KILL", "") == "yes")
    for (auto& k : deadly) k.by.run = hangs ? hang : fail_hard;
  nap_time = std::chrono::milliseconds(std::atoi(for_rank("TOY_NAP", "0").c_str()));
  if (nap_time.count() > 0)
    for (auto& k : deadly) k.by.run = nap;
  if (environment("TOY_PACK", "") == "hangs") {
    program.pack_at_start = true;
    for (auto& k : deadly)
      if (k.by.pack) k.by.pack = hang_packing;
  }
  program.kernels = deadly;
  return dice::app::run(program, nullptr, argc, argv);
}
