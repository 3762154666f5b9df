// What is said about a running job.
#include "dice/job/status.hpp"
#include "dice/job/status_reporter.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using namespace dice;

namespace {

constexpr std::int64_t second = 1'000'000'000, ms = 1'000'000;

#define EXPECT_TELLS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

/// What two ranks say after `s` seconds at 20 frames/s: rank 0 stamps frames, rank 1 has the output.
std::vector<runtime::rank_health> after(std::int64_t s) {
  runtime::rank_health first{.heard = s * second, .frames = 20 * s, .computing = 20 * s * 30 * ms, .enters = true};
  first.entered = 20 * s + 2;
  first.streams = {25 * s, 5 * s, 1};
  runtime::rank_health last{.heard = s * second - 200 * ms, .frames = 20 * s, .computing = 20 * s * 10 * ms, .leaves = true};
  last.temperature = 61'500;
  last.left = 20 * s;
  last.latency_sum = 20 * s * 80 * ms;
  last.median = 80 * ms;
  last.p95 = 95 * ms;
  last.last_left = s * second - 300 * ms;
  return {first, last};
}

job::job_status after_a_minute() {
  job::status_maker maker({"pc", "pi"});
  for (std::int64_t s = 1; s < 60; ++s) maker.make(job::phase::waiting, after(s), 0, s * second);
  return maker.make(job::phase::waiting, after(60), 0, 60 * second);
}

std::string content(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST(status, of_a_job_that_runs) {
  const auto s = after_a_minute();
  EXPECT_EQ(s.phase, job::phase::running);
  EXPECT_EQ(s.answered, 1200);
  EXPECT_EQ(s.entered, 1202);
  EXPECT_EQ(s.streams.dropped, 300);
  EXPECT_NEAR(s.frames_per_second, 20, 1e-9);
  EXPECT_NEAR(s.median_ms, 80, 1e-9);
  EXPECT_NEAR(s.last_frame_s, 0.3, 1e-6);
  ASSERT_EQ(s.ranks.size(), 2u);
  EXPECT_NEAR(s.ranks[0].stage_ms, 30, 1e-9);
  EXPECT_NEAR(s.ranks[0].busy, 0.6, 1e-9);
  EXPECT_NEAR(s.ranks[1].busy, 0.2, 1e-9);
  EXPECT_NEAR(s.ranks[1].temperature, 61.5, 1e-9);
  EXPECT_NEAR(s.ranks[1].silent_s, 0.2, 1e-6);
  EXPECT_EQ(job::status_line(s),
            "1200 frames, 20 frames/s, latency median 80.0 ms, p95 95.0; 300 dropped; 1 restart of the source; "
            "the last one 0.3 s ago");
}

/// The speed is that of the last ten seconds, also after a pause; a rank that says nothing more is seen.
TEST(status, of_a_job_that_stalls) {
  job::status_maker maker({"pc", "pi"});
  for (std::int64_t s = 1; s <= 60; ++s) maker.make(job::phase::waiting, after(s), 0, s * second);
  job::job_status now;
  for (std::int64_t s = 61; s <= 75; ++s) {
    auto said = after(60);
    said[0].heard = s * second;  // only rank 0 still speaks
    now = maker.make(job::phase::waiting, said, 0, s * second);
    if (s == 67) {  // what its last report does not count did not happen, if it is two seconds old
      EXPECT_NEAR(now.frames_per_second, 100 / 10.2, 1e-9) << "frames came in five of ten seconds";
    }
  }
  EXPECT_EQ(now.frames_per_second, 0);
  EXPECT_NEAR(now.last_frame_s, 15.3, 1e-6);
  EXPECT_NEAR(now.ranks[1].silent_s, 15.2, 1e-6);
  EXPECT_LT(now.ranks[0].silent_s, 0.1);
}

TEST(status, of_a_job_that_has_just_begun_in_the_cold) {
  const std::vector<runtime::rank_health> said{
      {.heard = 1010 * second, .frames = 20, .computing = 5 * second, .temperature = -5'000}};
  const auto s = job::status_maker({"pc"}).make(job::phase::waiting, said, 1000 * second, 1010 * second);
  EXPECT_NEAR(s.running_s, 10, 1e-9);
  EXPECT_TELLS(job::status_json(s, 77, 1),
               R"({"host": "pc", "stage_ms": 250, "busy": 0.5, "temperature_c": -5, "silent_s": 0})");
  EXPECT_TELLS(job::status_metrics(s, "a\nb"), "dice_temperature_celsius{network=\"a\\nb\",rank=\"0\",host=\"pc\"} -5\n");
}

TEST(status, of_a_job_that_ends_after_its_first_frame) {
  const std::vector<runtime::rank_health> said{
      {.heard = second, .frames = 1, .computing = 30 * ms, .leaves = true, .left = 1}};
  const auto s = job::status_maker({"pc"}).make(job::phase::ending, said, 0, 3 * second);
  EXPECT_NEAR(s.ranks[0].stage_ms, 30, 1e-9);
  EXPECT_EQ(s.ranks[0].silent_s, -1) << "it need not say anything any more";
  EXPECT_EQ(s.phase, job::phase::ending);
}

/// What the rank with the results has said last may be old; if it says nothing for long, the job becomes slow.
TEST(status, the_speed_is_of_the_time_in_which_frames_were_counted) {
  job::status_maker maker({"pc", "pi"});
  job::job_status now;
  for (std::int64_t s = 1; s <= 30; ++s) {
    auto said = after(s);
    if (s % 3 == 0) said = after(s - 1);  // its report comes a moment too late
    now = maker.make(job::phase::waiting, said, 0, s * second);
    if (s > 2) {
      EXPECT_NEAR(now.frames_per_second, 20, 1e-9) << s;
    }
  }
  for (std::int64_t s = 31; s <= 35; ++s) now = maker.make(job::phase::waiting, after(30), 0, s * second);
  EXPECT_NEAR(now.frames_per_second, 14, 2);
}

/// A job that has prepared itself for seconds is not slow.
TEST(status, the_speed_counts_from_the_first_frame) {
  job::status_maker maker({"pc", "pi"});
  for (std::int64_t s = 1; s <= 8; ++s) maker.make(job::phase::waiting, {{}, {}}, 0, s * second);
  for (std::int64_t s = 1; s <= 3; ++s) {
    auto said = after(s);
    said[1].heard += 8 * second;
    const auto now = maker.make(job::phase::waiting, said, 0, (8 + s) * second);
    if (s > 1) {
      EXPECT_NEAR(now.frames_per_second, 20, 1e-9);
    }
  }
}

TEST(status, before_the_first_frame) {
  job::status_maker maker({});
  auto s = maker.make(job::phase::joining, {}, 0, second);
  EXPECT_EQ(job::status_line(s), "the ranks are joining");
  job::status_maker met({"pc", "pi"});
  s = met.make(job::phase::waiting, {{}, {}}, 0, 2 * second);
  EXPECT_EQ(s.phase, job::phase::waiting);
  EXPECT_EQ(job::status_line(s), "no frame has come out yet; 0 frames entered");
  EXPECT_EQ(s.last_frame_s, -1);
  EXPECT_EQ(s.ranks[1].silent_s, -1);
  EXPECT_EQ(met.make(job::phase::preparing, {}, 0, 3 * second).phase, job::phase::preparing);
}

TEST(status, with_several_outputs_counts_frames_that_have_left_everywhere) {
  auto said = after(10);
  said.push_back(said[1]);
  said[1].left = 198;
  said[1].last_left += 200 * ms;
  said[2].median = 90 * ms;
  said[2].p95 = 94 * ms;
  said[2].latency_sum -= second;
  job::status_maker maker({"a", "b", "c"});
  const auto s = maker.make(job::phase::waiting, said, 0, 10 * second);
  EXPECT_EQ(s.answered, 198);
  EXPECT_NEAR(s.median_ms, 90, 1e-9);
  EXPECT_NEAR(s.p95_ms, 95, 1e-9);
  EXPECT_NEAR(s.latency_sum_s, 16, 1e-9);
  EXPECT_NEAR(s.last_frame_s, 0.1, 1e-6);
  std::swap(said[1], said[2]);
  const auto swapped = job::status_maker({"a", "c", "b"}).make(job::phase::waiting, said, 0, 10 * second);
  EXPECT_NEAR(swapped.median_ms, 90, 1e-9);
  EXPECT_NEAR(swapped.p95_ms, 95, 1e-9);
  EXPECT_NEAR(swapped.latency_sum_s, 16, 1e-9);
  EXPECT_NEAR(swapped.last_frame_s, 0.1, 1e-6);
}

/// Frames that have left everywhere were counted when the last of the ranks has said so.
TEST(status, with_several_outputs_the_speed_is_of_the_time_in_which_the_latest_counted) {
  for (const bool late_first : {true, false}) {
    job::status_maker maker({"a", "b", "c"});
    for (std::int64_t s = 1; s <= 30; ++s) {
      auto said = after(s);
      said.insert(said.begin() + (late_first ? 1 : 2), after(s % 3 == 0 ? s - 1 : s)[1]);
      const auto now = maker.make(job::phase::waiting, said, 0, s * second);
      if (s > 2) {
        EXPECT_NEAR(now.frames_per_second, 20, 1e-9) << s;
      }
    }
  }
}

TEST(status, as_json) {
  const auto text = job::status_json(after_a_minute(), 77, 123.9);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << "one line";
  for (const char* part :
       {R"("phase": "running", "pid": 77, "uptime_s": 123.90, "running_s": 60, "entered": 1202, )",
        R"("answered": 1200, "read": 1500, "dropped": 300, "source_restarts": 1, "frames_per_second": 20, )",
        R"("latency_ms": {"median": 80, "p95": 95}, "last_frame_s": 0.3)",
        R"({"host": "pc", "stage_ms": 30, "busy": 0.6, "temperature_c": null, "silent_s": 0})",
        R"({"host": "pi", "stage_ms": 10, "busy": 0.2, "temperature_c": 61.5, "silent_s": 0.2})"})
    EXPECT_TELLS(text, part);
}

TEST(status, as_metrics) {
  const auto text = job::status_metrics(after_a_minute(), "net \"x\"\\");
  for (const char* part : {"dice_up{network=\"net \\\"x\\\"\\\\\"} 1\n", "# TYPE dice_frames_total counter\n",
                           "end=\"answered\"} 1200\n", "end=\"dropped\"} 300\n", "quantile=\"0.95\"} 0.095\n",
                           "dice_latency_seconds_sum{network=\"net \\\"x\\\"\\\\\"} 96\n",
                           "dice_stage_seconds{network=\"net \\\"x\\\"\\\\\",rank=\"0\",host=\"pc\"} 0.03\n",
                           "rank=\"1\",host=\"pi\"} 61.5\n", "dice_last_frame_age_seconds"})
    EXPECT_TELLS(text, part);
  const auto plain = job::status_metrics(after_a_minute(), "n");
  for (const char* line :
       {"dice_up{network=\"n\"} 1", "dice_running_seconds{network=\"n\"} 60", "dice_source_restarts_total{network=\"n\"} 1",
        "dice_frames_per_second{network=\"n\"} 20", "dice_latency_seconds{network=\"n\",quantile=\"0.5\"} 0.08",
        "dice_latency_seconds_count{network=\"n\"} 1200", "dice_last_frame_age_seconds{network=\"n\"} 0.3",
        "dice_busy_ratio{network=\"n\",rank=\"1\",host=\"pi\"} 0.2",
        "dice_rank_silent_seconds{network=\"n\",rank=\"1\",host=\"pi\"} 0.2"}) {
    const std::string_view all = line, name = all.substr(0, all.find('{'));
    EXPECT_TELLS(plain, "\n" + std::string(line) + "\n");
    const auto of_a_name = std::string(name.substr(0, name.find("_count")));
    for (const auto& head : {"# HELP " + of_a_name + " ", "# TYPE " + of_a_name + " "})
      EXPECT_TRUE(plain.find(head) < plain.find(line) && plain.find(head) == plain.rfind(head))
          << "once, before its values: " << head;
  }
  EXPECT_EQ(text.find("rank=\"0\",host=\"pc\"} -"), std::string::npos) << "what is not known is left out";
  job::status_maker fresh({"pc"});
  const auto nothing = job::status_metrics(fresh.make(job::phase::preparing, {}, 0, second), "n");
  EXPECT_TELLS(nothing, "dice_up{network=\"n\"} 0\n");
  EXPECT_EQ(nothing.find("last_frame_age"), std::string::npos);
}

TEST(status_reporter, writes_files_and_removes_its_own) {
  const auto folder = std::filesystem::temp_directory_path() / ("dice_status_" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const auto json = (folder / "s.json").string(), metrics = (folder / "m.prom").string();
  { const job::status_reporter not_ready({"", metrics, false}, "net"); }
  EXPECT_FALSE(std::filesystem::exists(metrics)) << "a rank may read it";
  {
    job::status_reporter reporter({json, metrics, false}, "net");
    const auto until = [&](const std::string& path, const std::string& part) {
      for (int i = 0; i < 500 && content(path).find(part) == std::string::npos; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      return content(path);
    };
    EXPECT_TELLS(until(json, "joining"), R"("phase": "joining")");
    reporter.meet({"pc", "pi"});
    EXPECT_TELLS(until(json, "preparing"), R"("phase": "preparing")");
    reporter.enter(job::phase::waiting);
    EXPECT_TELLS(until(json, "waiting"), R"({"host": "pi",)");
    EXPECT_TELLS(until(metrics, "dice_up"), "dice_up{network=\"net\"} 0");
    reporter.end(7);
    EXPECT_TELLS(until(json, "ending"), R"("entered": 7, "answered": 7,)");
    EXPECT_TELLS(content(json), R"("last_frame_s": 0,)");
    EXPECT_TELLS(until(metrics, "} 7"), "dice_frames_total{network=\"net\",end=\"answered\"} 7");
  }
  EXPECT_FALSE(std::filesystem::exists(json)) << "else it would be taken for a job that runs";
  EXPECT_TRUE(std::filesystem::exists(metrics));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  std::filesystem::remove_all(folder);
  testing::internal::CaptureStderr();
  { const job::status_reporter nowhere({json, metrics, false}, "net"); }
  const auto said = testing::internal::GetCapturedStderr();
  EXPECT_TELLS(said, "dice: warning: the job's status is not written: ");
  EXPECT_EQ(said.find('\n'), said.size() - 1) << "only once";
}

/// A phase is said at once, and not when the next second is over.
TEST(status_reporter, says_what_changes_at_once) {
  const auto json = (std::filesystem::temp_directory_path() / ("dice_phases_" + std::to_string(::getpid()))).string();
  job::status_reporter reporter({json, "", false}, "net");
  const auto begin = std::chrono::steady_clock::now();
  constexpr std::chrono::seconds late(4);
  for (int i = 0; i < 6; ++i) {
    reporter.enter(i % 2 == 0 ? job::phase::preparing : job::phase::waiting);
    while (content(json).find(i % 2 == 0 ? "preparing" : "waiting") == std::string::npos &&
           std::chrono::steady_clock::now() - begin < late)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, late);
}

TEST(status_reporter, prints_a_line_each_minute) {
  const auto minute = std::chrono::milliseconds(300);
  const auto begin = std::chrono::steady_clock::now();
  testing::internal::CaptureStderr();
  {
    job::status_reporter reporter({"", "", true, std::chrono::nanoseconds(minute).count()}, "net");
    for (int i = 0; i < 25; ++i) {
      std::this_thread::sleep_for(minute / 20);
      reporter.enter(job::phase::preparing);  // it looks at the time
    }
  }
  const auto said = testing::internal::GetCapturedStderr();
  const auto lines = std::count(said.begin(), said.end(), '\n');
  EXPECT_TELLS(said, "dice: the ranks are preparing\n");
  EXPECT_LE(lines, (std::chrono::steady_clock::now() - begin) / minute);
  EXPECT_EQ((job::status_targets{.minutes = true}.minute), 60 * second);
}

TEST(status_reporter, ports_and_files) {
  EXPECT_EQ(job::status_reporter::port_of("9187"), 9187);
  for (const char* file : {"", "0", "65536", "123456", "m.prom", "80x", "./80"})
    EXPECT_FALSE(job::status_reporter::port_of(file)) << file;
}

TEST(metrics_server, answers_on_this_host) {
  std::optional<job::metrics_server> server;
  std::uint16_t port = 20000;
  for (; !server; ++port) try {
      server.emplace(port);
    } catch (const files::error&) {
      ASSERT_LT(port, 20100);
    }
  --port;
  server->show("a page\n");
  const auto connect = [&](int from, in_addr_t address) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(address);
    return ::connect(from, reinterpret_cast<const sockaddr*>(&at), sizeof at);
  };
  const auto ask = [&](const std::string& request) {
    const int to = ::socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_EQ(connect(to, INADDR_LOOPBACK), 0);
    EXPECT_EQ(::write(to, request.data(), request.size()), static_cast<ssize_t>(request.size()));
    std::string out;
    char some[512];
    for (ssize_t n; (n = ::read(to, some, sizeof some)) > 0;) out.append(some, static_cast<std::size_t>(n));
    ::close(to);
    return out;
  };
  const auto page = ask("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TELLS(page, "HTTP/1.1 200 OK\r\n");
  EXPECT_TELLS(page, "\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n");  // Prometheus 3 reads no other
  EXPECT_TELLS(page, "Content-Length: 7\r\n");
  EXPECT_TRUE(page.ends_with("\r\n\r\na page\n"));
  EXPECT_TELLS(ask("GET / HTTP/1.1\r\n\r\n"), "a page");
  EXPECT_TELLS(ask("GET /secret HTTP/1.1\r\n\r\n"), "404");
  EXPECT_TELLS(ask("POST /metrics HTTP/1.1\r\n\r\n"), "404");
  EXPECT_EQ(ask(std::string(10000, 'x')), "") << "it reads no endless request";
  const std::string large(10'000'000, 'x');  // more than the kernel takes at once
  server->show(large);
  const int leaves = ::socket(AF_INET, SOCK_STREAM, 0);
  constexpr linger at_once{1, 0};
  EXPECT_EQ(connect(leaves, INADDR_LOOPBACK), 0);
  ::setsockopt(leaves, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  EXPECT_EQ(::write(leaves, "GET / HTTP/1.1\r\n\r\n", 18), 18);
  ::shutdown(leaves, SHUT_WR);
  char some[1];
  EXPECT_EQ(::read(leaves, some, 1), 1);
  ::close(leaves);  // which ends no program
  EXPECT_TRUE(ask("GET /metrics HTTP/1.1\r\n\r\n").ends_with("\r\n\r\n" + large));
  const int from_elsewhere = ::socket(AF_INET, SOCK_STREAM, 0);
  EXPECT_NE(connect(from_elsewhere, INADDR_LOOPBACK + 1), 0)
      << "other addresses, as of this host's networks, have no metrics";
  ::close(from_elsewhere);
  try {
    job::metrics_server second_one(port);
    FAIL();
  } catch (const files::error& e) {
    EXPECT_TELLS(std::string(e.what()),
                 "--metrics: port " + std::to_string(port) + " of this host cannot be used: Address already in use");
  }
  server.reset();
  EXPECT_NO_THROW(server.emplace(port)) << "a job that starts again has its port at once, though it has closed connections";
}
