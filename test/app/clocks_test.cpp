// Ranks ask for the difference of their clocks again at the end of a job.
#include "runtime/toy.hpp"

#include "dice/app/command_line.hpp"
#include "dice/app/rank.hpp"
#include "dice/channels/in_process/hub.hpp"
#include "dice/channels/in_process/transport.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

using namespace dice;

namespace {

/// Ranks as threads; rank 1's clock falls back by another 10 s each time it is asked.
class drifting final : public channels::communicator {
 public:
  drifting(channels::in_process::hub& hub, int rank) : ranks_(hub, rank) {}
  int rank() const override { return ranks_.rank(); }
  int size() const override { return ranks_.size(); }
  std::vector<std::string> all_gather(const std::string& text) override { return ranks_.all_gather(text); }
  std::int64_t clock_offset() override { return rank() * asked_++ * 10'000'000'000; }
  std::unique_ptr<channels::endpoint> connect(std::span<const channels::path> paths) override {
    return ranks_.connect(paths);
  }
  void send_block(int to, const void* data, std::int64_t bytes) override { ranks_.send_block(to, data, bytes); }
  void receive_block(int from, void* data, std::int64_t bytes) override { ranks_.receive_block(from, data, bytes); }
  void stop(const std::string& message) override { ranks_.stop(message); }

 private:
  channels::in_process::communicator ranks_;
  std::int64_t asked_ = 0;
};

struct scratch {
  scratch() { std::filesystem::create_directory(path); }
  ~scratch() { std::filesystem::remove_all(path); }
  std::string read(const char* name) const {
    std::stringstream out;
    out << std::ifstream(path / name).rdbuf();
    return out.str();
  }
  const std::filesystem::path path = std::filesystem::temp_directory_path() / ("dice_clocks_" + std::to_string(::getpid()));
};

TEST(clocks, are_asked_again_at_the_end) {
  const scratch folder;
  const toy::program toy(toy::diamond(), {0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, 6);  // frames enter on rank 0 and leave on rank 1
  const std::string weights = folder.path / "toy.safetensors", json = folder.path / "x.json";
  toy.write_weights(weights);
  const auto program = toy.view();
  const auto o = app::parse(program, std::vector<const char*>{"--random", "1", "--frames", "100", "--weights",
                                                              weights.c_str(), "--json", json.c_str()});
  toy::jitter = 2000;
  channels::in_process::hub hub(2);
  testing::internal::CaptureStdout();
  int codes[2] = {-1, -1};
  const auto work = [&](int rank) {
    drifting ranks(hub, rank);
    codes[rank] = app::rank_job(program, o, {}, ranks, channels::in_process::about, nullptr).run();
  };
  std::thread first(work, 0), second(work, 1);
  first.join();
  second.join();
  testing::internal::GetCapturedStdout();
  toy::jitter = 0;
  EXPECT_EQ(codes[0] + codes[1], 0);
  const auto told = folder.read("x.json");
  const auto ms = [&](const std::string& name) {
    return std::stod(told.substr(told.find("\"" + name + "\": ") + name.size() + 4));
  };
  EXPECT_LT(ms("min"), 2500) << told;  // latencies seem to be spread evenly from 0 to 10 s
  EXPECT_NEAR(ms("median"), 5000, 2000);
  EXPECT_GT(ms("max"), 7500);
}

}  // namespace
