// What `check` makes of what hosts say: each member, each finding, each line of the header.
#include "check.hpp"
#include "cluster_header.hpp"

#include "dice/version.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace dice_run {
namespace {

/// All that scripts/check.sh and facts.sh can print, with no value twice.
constexpr const char* facts_printed =
    "hostname raspberrypi\narchitecture aarch64\nuser anna\naddress 10.0.0.2\n"
    "system NAME=\"Debian GNU/Linux\"\nsystem PRETTY_NAME=\"Debian GNU/Linux 12\"\nsystem ID=debian\n"
    "boot 7d1c\nmodel Raspberry Pi 4 Model B \ncompatible raspberrypi,4-model-b brcm,bcm2711 \ntegra # R36\n"
    "cpuinfo processor\t: 0\ncpuinfo CPU implementer\t: 0x41\ncpuinfo CPU part\t: 0xd08\n"
    "cpuinfo processor\t: 2\ncpuinfo cpu MHz\t\t: 500.0\ncpuinfo CPU implementer\t: 0x51\ncpuinfo CPU part\t: 0xd03\n"
    "flags Features\t: fp asimd\ncore 10 1500000 0,10\ncore 0 1500000 0,10\ncore 2 - -\n"
    "memory MemFree:        1 kB\nmemory MemTotal:       4000000 kB\nmemory MemAvailable:       2 kB\n"
    "disk /dev/root 30000000 1 20000000 1% /\n"
    "mpirun mpirun (Open MPI) 4.1.4\nmpirun \nmpirun Report bugs to http://www.open-mpi.org/community/help/\n"
    "bits 64\nlibc glibc 2.36\nmount rw,noexec\nnetwork lo 127.0.0.1/8\nnetwork eth0 10.0.0.2/24\n"
    "library libmpi.so.40\nlibrary libgomp.so.1\nlibrary libmpi.so.40\nperl yes\ngpu NVIDIA A2, 15356 MiB\ngpu NVIDIA T4\n"
    "fill 268435456 bytes (268 MB, 256 MiB) copied, 0.1 s, 2.7 GB/s\nfill 268435456 bytes (…) copied, 0.05 s, 5.4 GB/s\n"
    "fill 268435456 bytes (268 MB, 256 MiB) copied, 0.2 s, 1.3 GB/s\n"
    "reaches 2\nrefused 0 Permission denied (publickey).\nrefused 1\n";

/// A host of which nothing is missing.
host_facts host(const std::string& name) {
  host_facts out;
  out.host = out.hostname = name;
  out.architecture = "aarch64";
  out.model = "Raspberry Pi 4 Model B";
  out.memory = std::int64_t{4} << 30;
  out.disk_free = std::int64_t{1} << 30;
  out.open_mpi = "4.1.4";
  out.libraries = {"libmpi.so.40", "libboost_mpi.so.1.74.0", "libgomp.so.1", "libstb.so.0"};
  out.has_perl = out.has_rsync = true;
  return out;
}

cluster_facts three_hosts() {
  cluster_facts out;
  out.place = "/opt";
  host_facts b;
  b.host = "b";
  b.ssh_seconds = 0.25;
  b.clock_offset = -0.5;
  b.clock_error = 0.125;
  read_facts(facts_printed, {"c", "d", "gone"}, b);
  EXPECT_NEAR(b.fill_gbytes_per_s, 5.37, 0.01);  // the best of three
  b.fill_gbytes_per_s = 2.5;
  auto gone = host("gone"), c = host("c");
  gone.failure = "it does not answer";
  c.architecture = "x86_64";
  c.model = c.open_mpi = "";
  c.cpu = "a CPU";
  c.tegra = "# R36";
  c.cores = {
      {.id = 0, .ghz = 0, .siblings = ""}, {.id = 1, .ghz = 2.25, .siblings = ""}, {.id = 2, .ghz = 2.2, .siblings = ""}};
  c.ssh = {{"b", ""}, {"gone", ""}};
  c.clock_offset = 1.5;
  out.hosts = {b, gone, c};
  out.links = {{0, 1, 0, 0, 0, "gone is not reached"}, {0, 2, 200, 90, 40, ""}};
  return out;
}

TEST(Check, JsonHasAllThatHostsSay) {
  const auto text = json_of(three_hosts(), {{true, "an error"}, {false, "a warning"}, {true, "another"}});
  auto found = nlohmann::ordered_json::parse(text);
  EXPECT_EQ(found["dice_version"], dice::version);
  EXPECT_EQ(found["hosts"][2]["host"], "c");
  found["hosts"].erase(2);
  found.erase("dice_version");
  const auto expected = nlohmann::ordered_json::parse(R"({
    "folder": "/opt", "starting_hosts": ["c"],
    "hosts": [
      {"host": "b", "reached": true, "hostname": "raspberrypi", "ssh_s": 0.25, "address": "10.0.0.2", "user": "anna",
       "system": "Debian GNU/Linux 12", "architecture": "aarch64", "system_bits": 64, "model": "Raspberry Pi 4 Model B",
       "compatible": ["raspberrypi,4-model-b", "brcm,bcm2711"], "board": "raspberry_pi_4", "cpu": "Cortex-A72",
       "cpu_flags": "fp asimd",
       "cores": [{"core": 0, "ghz": 1.5, "cpu_implementer": 65, "cpu_part": 3336, "siblings": "0,10"},
                 {"core": 2, "ghz": 0.5, "cpu_implementer": 81, "cpu_part": 3331, "siblings": ""},
                 {"core": 10, "ghz": 1.5, "cpu_implementer": 0, "cpu_part": 0, "siblings": "0,10"}],
       "physical_cores": 2, "memory_bytes": 4096000000, "disk_free_bytes": 20480000000, "memory_fill_gbytes_per_s": 2.5,
       "open_mpi": "4.1.4", "glibc": "2.36", "musl": false, "noexec": true,
       "networks": [{"interface": "eth0", "address": "10.0.0.2", "network": "10.0.0.0/24"}],
       "libraries": ["libmpi.so.40", "libgomp.so.1"], "perl": true, "rsync": false,
       "gpus": ["NVIDIA A2, 15356 MiB", "NVIDIA T4"], "tegra": "# R36", "clock_offset_ms": -500.0, "clock_error_ms": 125.0,
       "ssh": {"c": "Permission denied (publickey).", "d": "no message", "gone": true}},
      {"host": "gone", "reached": false, "failure": "it does not answer"}],
    "links": [{"hosts": ["b", "gone"], "measured": false, "failure": "gone is not reached"},
              {"hosts": ["b", "c"], "measured": true, "mbit_per_s": 90.0, "back_mbit_per_s": 40.0, "us": 200.0}],
    "errors": ["an error", "another"], "warnings": ["a warning"]})");
  EXPECT_EQ(found.dump(1), expected.dump(1));
}

TEST(Check, JsonTakesBytesThatAreNoText) {
  auto h = host("a");
  h.model = "a\xff";
  EXPECT_NE(json_of({{h}, {}, ""}, {}).find("\"model\": \"a\xef\xbf\xbd\""), std::string::npos);
}

TEST(Check, CoresOfArmHaveNames) {
  for (const auto& [part, name] : std::vector<std::pair<std::string, std::string>>{{"0xd03", "Cortex-A53"},
                                                                                   {"0xd04", "Cortex-A35"},
                                                                                   {"0xd05", "Cortex-A55"},
                                                                                   {"0xd07", "Cortex-A57"},
                                                                                   {"0xd08", "Cortex-A72"},
                                                                                   {"0xd09", "Cortex-A73"},
                                                                                   {"0xd0a", "Cortex-A75"},
                                                                                   {"0xd0b", "Cortex-A76"},
                                                                                   {"0xd0c", "Neoverse-N1"},
                                                                                   {"0xd0d", "Cortex-A77"},
                                                                                   {"0xd40", "Neoverse-V1"},
                                                                                   {"0xd41", "Cortex-A78"},
                                                                                   {"0xd42", "Cortex-A78AE"},
                                                                                   {"0xd44", "Cortex-X1"},
                                                                                   {"0xd46", "Cortex-A510"},
                                                                                   {"0xd47", "Cortex-A710"},
                                                                                   {"0xd49", "Neoverse-N2"},
                                                                                   {"0xd4f", "Neoverse-V2"},
                                                                                   {"0xd99", ""}}) {
    host_facts h;
    read_facts("cpuinfo processor : 0\ncpuinfo CPU part : " + part + "\ncore 0 - -\n", {}, h);
    EXPECT_EQ(h.cpu, name);
  }
}

TEST(Check, TablesHaveAllThatHostsSay) {
  EXPECT_EQ(
      text_of(three_hosts()),
      R"(host  machine                 architecture  cores                      memory   disk free  Open MPI  glibc  GPU                   clock     ssh
b     Raspberry Pi 4 Model B  aarch64       1 × 0.5 GHz + 2 × 1.5 GHz  3.8 GiB  19.1 GiB   4.1.4     2.36   NVIDIA A2, 15356 MiB  -500 ms   250 ms
gone  not reached
c     a CPU                   x86_64        1 + 2 × 2.2 GHz            4.0 GiB  1.0 GiB    –         –      Tegra                 +1500 ms  0 ms

connection        Mbit/s  back  latency
b – gone    not measured
b – c                 90    40   0.2 ms
)");
  const auto of_one = text_of({{host("a")}, {}, ""});
  EXPECT_TRUE(of_one.ends_with("  4.0 GiB  1.0 GiB    4.1.4     –      –    +0 ms  0 ms\n")) << of_one;
}

std::vector<std::string> found_in(const cluster_facts& cluster) {
  std::vector<std::string> out;
  for (const auto& f : findings_of(cluster)) out.push_back((f.is_error ? "error: " : "warning: ") + f.text);
  return out;
}

TEST(Check, FindsWhatHostsLack) {
  const std::vector<std::string> none;
  const auto changed = [](void (*change)(host_facts&), const std::string& name = "a") {
    auto h = host(name);
    change(h);
    return found_in({{h, host("z")}, {}, ""});
  };
  const auto one = [](const std::string& text) { return std::vector{text}; };
  EXPECT_EQ(changed([](auto&) {}), none);
  EXPECT_EQ(changed([](auto& h) {
              h.failure = "it does not answer";
              h.open_mpi = "";
              h.has_rsync = false;
            }),
            one("error: a: it does not answer"));
  EXPECT_EQ(changed([](auto& h) { h.open_mpi = ""; }), one("error: a: there is no mpirun of Open MPI; install it (Debian: "
                                                           "openmpi-bin), or add it to the PATH of ssh's shells"));
  const std::string lacks = "warning: a: there is no ", install =
                                                            ", which programs need; install the package NAME-BOARD.deb, or "
                                                            "the library (Debian: ";
  EXPECT_EQ(changed([](auto& h) {
              h.libraries = {"libmpi.so.40x", "libmpi_cxx.so.40", "libgomp.so.1"};
            }),
            (std::vector{lacks + "libboost_mpi" + install + "libboost-mpi1.74.0; 13: libboost-mpi1.83.0)",
                         lacks + "libstb" + install + "libstb0; programs built without stb do not need it)"}));
  EXPECT_EQ(changed([](auto& h) {
              h.libraries = {"libmpi_cxx.so.40", "libboost_mpi.so.1", "libstb.so.0"};
            }),
            (std::vector{lacks + "libmpi" + install + "openmpi-bin)", lacks + "libgomp" + install + "libgomp1)"}));
  EXPECT_EQ(changed([](auto& h) { h.has_rsync = false; }),
            one("warning: a: there is no rsync, which dice-run deploy needs; install it (Debian: rsync)"));
  EXPECT_EQ(changed([](auto& h) { --h.disk_free; }),
            one("warning: a: only 1023 MiB of disk are free where deployments go; make "
                "room, or choose another folder with --to"));
  EXPECT_EQ(changed([](auto& h) {
              h.clock_offset = 1.4;
              h.clock_error = 0.5;
            }),
            none);
  EXPECT_EQ(
      changed([](auto& h) {
        h.clock_offset = -1.6;
        h.clock_error = 0.5;
      }),
      one("warning: a: its clock is 1.6 s behind this machine's, so that logs and files have wrong times; let it ask a time "
          "server (timedatectl set-ntp true)"));
  EXPECT_EQ(changed([](auto& h) {
              h.clock_offset = 1.6;
              h.clock_error = 0.5;
            })[0]
                .substr(0, 40),
            "warning: a: its clock is 1.6 s ahead of ");
  EXPECT_EQ(
      changed([](auto& h) { h.hostname = "pi"; }, "a b"),
      one("warning: a b: it calls itself \"pi\"; if jobs are started there, name it so in the cluster, or give it this name "
          "(hostnamectl set-hostname 'a b', and 'a b' in its /etc/hosts): mpirun takes another name for another machine"));
  EXPECT_EQ(
      changed([](auto& h) { h.hostname = "pi"; }, "pi.local"),
      one("warning: pi.local: it calls itself \"pi\"; if jobs are started there, name it so in the cluster, with this name "
          "in /etc/hosts of all hosts: mpirun takes another name for another machine"));
  EXPECT_EQ(changed([](auto& h) { h.hostname = "pi"; }, "localhost"),
            one("error: localhost: other hosts cannot reach it by this name; use \"pi\""));
  for (const auto* name : {"localhost", "a"}) {  // it is alone
    auto h = host(name);
    h.hostname = "pi";
    EXPECT_EQ(found_in({{h}, {}, ""}), none);
  }
}

TEST(Check, FindsWhatKeepsHostsApart) {
  auto a = host("a"), b = host("b"), c = host("c"), gone = host("gone");
  gone.failure = "it does not answer";
  a.ssh = {
      {"b", "Host key verification failed."}, {"c", "ssh: connect to host c port 22: Connection refused"}, {"gone", "x"}};
  b.ssh = {{"a", ""}, {"c", "Connection closed"}, {"gone", "x"}};
  c.ssh = {{"a", ""}, {"b", "Host key verification failed."}, {"gone", "x"}};
  const std::string as_mpirun = ", as mpirun must from the host that starts a job. On ";
  auto expected = std::vector<std::string>{
      "error: gone: it does not answer",
      "error: a, c cannot log in to b without a password (Host key verification failed.)" + as_mpirun +
          "each of them: log in once: ssh b",
      "error: b cannot log in to c without a password (Connection closed)" + as_mpirun + "b: see what ssh c says",
      "error: a cannot log in to c without a password (ssh: connect to host c port 22: Connection refused)" + as_mpirun +
          "a: see what ssh c says",
      "warning: the connection between b and c was not measured: b has no perl; ranks need free TCP connections, so look at "
      "cables, firewalls and names"};
  cluster_facts cluster{{a, b, c, gone}, {{0, 1, 1, 1, 1, ""}, {1, 2, 0, 0, 0, "b has no perl"}, {1, 3, 0, 0, 0, "x"}}, ""};
  EXPECT_EQ(found_in(cluster), expected);
  for (auto& h : cluster.hosts) {  // of one name, and nothing is known of their systems
    h.host = h.hostname = "a";
    h.failure = "";
    h.ssh.clear();
  }
  cluster.links.clear();
  EXPECT_EQ(found_in(cluster), std::vector<std::string>());
}

TEST(ClusterHeader, BoardsAreKnownByTheirDeviceTrees) {
  for (const auto& [tree, board] :
       std::vector<std::pair<std::string, std::string>>{{"raspberrypi,4-model-b", "raspberry_pi_4"},
                                                        {"raspberrypi,400", "raspberry_pi_4"},
                                                        {"raspberrypi,5-model-b", "raspberry_pi_5"},
                                                        {"raspberrypi,500", "raspberry_pi_5"},
                                                        {"raspberrypi,3-model-b", ""},
                                                        {"nvidia,p3450-0000", "jetson_nano"},
                                                        {"nvidia,jetson-nano", "jetson_nano"},
                                                        {"nvidia,p2771-0000", "jetson_tx2"},
                                                        {"nvidia,p3509-0000+p3668-0001", ""},
                                                        {"nvidia,p3509-0000+nvidia,p3668-0001", "jetson_xavier_nx"},
                                                        {"nvidia,p3767-0002", ""},
                                                        {"nvidia,p3767-0003", "jetson_orin_nano"},
                                                        {"nvidia,p3767-0004", "jetson_orin_nano"},
                                                        {"nvidia,p3767-0005", "jetson_orin_nano"}}) {
    host_facts h;
    h.compatible = {"x", tree};
    EXPECT_EQ(known_board(h), board) << tree;
  }
  for (const auto& [model, board] :
       std::vector<std::pair<std::string, std::string>>{{"Raspberry Pi 4 Model B Rev 1.4", "raspberry_pi_4"},
                                                        {"Raspberry Pi 5 Model B Rev 1.0", "raspberry_pi_5"},
                                                        {"NVIDIA Jetson Nano Developer Kit", "jetson_nano"},
                                                        {"NVIDIA Jetson TX2", "jetson_tx2"},
                                                        {"NVIDIA Jetson Xavier NX", "jetson_xavier_nx"},
                                                        {"NVIDIA Jetson Orin Nano", "jetson_orin_nano"},
                                                        {"like a Raspberry Pi 4", ""}}) {
    host_facts h;
    h.model = model;
    EXPECT_EQ(known_board(h), board) << model;
  }
}

/// How a program for a host that dice does not know is compiled.
std::string compiled_for(const host_facts& h) { return kinds_of({h})[0].dice_board; }

TEST(ClusterHeader, ProgramsUseInstructionsThatAllCoresHave) {
  auto h = host("pc");
  h.architecture = "x86_64";
  h.model = "";
  std::string expected = "x86-64";
  for (const auto& [level, flags] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"x86-64-v2", {"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"}},
           {"x86-64-v3", {"abm", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"}},
           {"x86-64-v4", {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}}}) {
    h.flags.insert(h.flags.end(), flags.begin(), flags.end());
    for (const auto& flag : flags) {  // all are needed
      auto lacks = h;
      std::erase(lacks.flags, flag);
      EXPECT_EQ(compiled_for(lacks), expected) << flag;
    }
    expected = level;
  }
  EXPECT_EQ(compiled_for(h), expected);
  h = host("board");
  h.model = "unknown";
  EXPECT_EQ(compiled_for(h), "generic");
  for (const auto& [part, name] : std::vector<std::pair<unsigned, std::string>>{{0xd0c, "-mcpu=neoverse-n1"},
                                                                                {0xd0b, "-mcpu=cortex-a76"},
                                                                                {0xd0a, "-mcpu=cortex-a75"},
                                                                                {0xd09, "-mcpu=cortex-a73"},
                                                                                {0xd08, "-mcpu=cortex-a72"},
                                                                                {0xd07, "-mcpu=cortex-a57"},
                                                                                {0xd05, "-mcpu=cortex-a55"},
                                                                                {0xd03, "-mcpu=cortex-a53"}}) {
    h.cores.push_back({.implementer = 0x41, .part = part, .siblings = ""});
    EXPECT_EQ(compiled_for(h), name);
  }
  h.cores.push_back({.implementer = 0x41, .part = 0xd99, .siblings = ""});
  EXPECT_EQ(compiled_for(h), "generic");
  h.cores.back() = {.implementer = 0x42, .part = 0xd0b, .siblings = ""};
  EXPECT_EQ(compiled_for(h), "generic");
  EXPECT_EQ(kinds_of({h})[0].name, "board_of_board");
}

// A program for the oldest has kernels for the others. Boards have programs of their own, whether dice knows them or not.
TEST(ClusterHeader, PcsOfSeveralKindsGetOneProgram) {
  std::vector<host_facts> hosts{host("pi")};
  std::vector<std::string> flags;
  for (const auto& [name, more] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"v2", {"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"}},
           {"v3", {"abm", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"}},
           {"v4", {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}}}) {
    flags.insert(flags.end(), more.begin(), more.end());
    hosts.push_back(host(name));
    hosts.back().architecture = "x86_64";
    hosts.back().model = "";
    hosts.back().flags = flags;
  }
  const auto boards = [&] {
    std::vector<std::string> out;
    for (const auto& k : kinds_of(hosts)) {
      out.push_back(k.name + "|" + k.type + "|" + k.dice_board);
      EXPECT_EQ(k.name == "x86", k.definition.find(" = dice::board<\"x86\", ") != std::string::npos) << k.definition;
      EXPECT_EQ(k.type == "board_of_v2",
                k.definition.find("\n// CMakeLists.txt needs dice_add_board(x86 DICE_BOARD x86-64-v2): "
                                  "the level of this PC.\nusing ") != std::string::npos)
          << k.definition;
    }
    return out;
  };
  using names = std::vector<std::string>;
  EXPECT_EQ(boards(), (names{"raspberry_pi_4|dice::boards::raspberry_pi_4|", "x86|board_of_v2|x86-64-v2",
                             "x86|board_of_v3|x86-64-v2", "x86|board_of_v4|x86-64-v2"}));
  hosts.erase(hosts.begin() + 1);
  hosts[0].model = "unknown";
  EXPECT_EQ(boards(), (names{"board_of_pi|board_of_pi|generic", "x86|board_of_v3|", "x86|board_of_v4|"}));
  hosts[0].model = "Raspberry Pi 4 Model B";
  EXPECT_EQ(boards(), (names{"raspberry_pi_4|dice::boards::raspberry_pi_4|", "x86|board_of_v3|", "x86|board_of_v4|"}));
  hosts.erase(hosts.begin() + 1);
  EXPECT_EQ(boards(), (names{"raspberry_pi_4|dice::boards::raspberry_pi_4|", "board_of_v4|board_of_v4|x86-64-v4"}));
}

TEST(ClusterHeader, HostsThatAreAlikeAreOfOneKind) {
  std::vector<host_facts> hosts;
  for (const auto* name : {"b-1", "b_1", "b.1", "b1"}) {
    hosts.push_back(host(name));
    hosts.back().model = "unknown";
    hosts.back().cores = {{.id = 0, .part = 0xd08, .ghz = 1.5, .siblings = "0"}};
  }
  const auto kinds = [&] { return kinds_of(hosts); };
  EXPECT_EQ(kinds().size(), 1u);
  hosts[0].fill_gbytes_per_s = 3;
  hosts[2].fill_gbytes_per_s = 7;
  hosts[2].ssh_seconds = 1;  // says nothing of the kind
  EXPECT_NE(kinds()[0].definition.find("dice::gbytes_per_s<7>"), std::string::npos) << kinds()[0].definition;
  const auto parts = [&](auto change) {
    const auto before = hosts[1];
    change(hosts[1]);
    const auto out = kinds();
    hosts[1] = before;
    return out.size();
  };
  EXPECT_EQ(parts([](auto& h) { h.memory = h.memory * 96 / 100; }), 1u);
  EXPECT_EQ(parts([](auto& h) { h.memory = h.memory * 104 / 100; }), 1u);
  EXPECT_EQ(parts([](auto& h) { h.memory = h.memory * 94 / 100; }), 2u);
  EXPECT_EQ(parts([](auto& h) { h.memory = h.memory * 106 / 100; }), 2u);
  EXPECT_EQ(parts([](auto& h) { h.architecture = "riscv64"; }), 2u);
  EXPECT_EQ(parts([](auto& h) { h.model = "another"; }), 2u);
  EXPECT_EQ(parts([](auto& h) { h.cpu = "another"; }), 2u);
  EXPECT_EQ(parts([](auto& h) { h.cores[0].id = 1; }), 2u);
  EXPECT_EQ(parts([](auto& h) { h.cores[0].part = 0xd03; }), 2u);
  EXPECT_EQ(parts([](auto& h) { h.cores[0].ghz = 1.6; }), 2u);
  EXPECT_EQ(parts([](auto& h) { h.cores[0].ghz = 1.51; }), 1u);
  EXPECT_EQ(parts([](auto& h) { h.cores[0].siblings = "0,1"; }), 2u);
  EXPECT_EQ(parts([](auto& h) { h.failure = "x"; }), 1u);
  for (const auto& [percent, is_known] : {std::pair{76, true}, {74, false}, {109, true}, {111, false}}) {
    auto h = host("a");
    h.memory = h.memory * percent / 100;
    EXPECT_EQ(kinds_of({h})[0].definition.empty(), is_known) << percent;
    EXPECT_EQ(kinds_of({h})[0].name, "raspberry_pi_4");
    EXPECT_EQ(kinds_of({h})[0].dice_board, "");
  }
  hosts[1].model = "another";
  hosts[2].model = "a third";
  hosts[3].model = "a fourth";
  std::vector<std::string> names;
  for (const auto& k : kinds()) names.push_back(k.name + "|" + k.type);
  EXPECT_EQ(names, (std::vector<std::string>{"board_of_b_1|board_of_b_1", "board_of_b_1_|board_of_b_1_",
                                             "board_of_b_1__|board_of_b_1__", "board_of_b1|board_of_b1"}));
}

TEST(ClusterHeader, CoresOfOneKindAndSpeedAreOneProcessor) {
  auto h = host("a");
  h.model = "unknown";
  for (int i = 0; i < 4; ++i)
    h.cores.push_back({.id = i, .implementer = 0x41, .part = 0xd03, .ghz = i < 3 ? 1. : 2., .siblings = ""});
  const auto definition = [&] { return kinds_of({h})[0].definition; };
  EXPECT_NE(definition().find("dice::processor<dice::cores<0, 1, 2>, dice::gflops<24>, "), std::string::npos)
      << definition();
  EXPECT_NE(definition().find("dice::processor<dice::cores<3>, dice::gflops<16>, "), std::string::npos) << definition();
  h.architecture = "x86_64";  // where some cores may be slower than others by chance
  EXPECT_NE(definition().find("dice::processor<dice::cpu, dice::gflops<40>, "), std::string::npos) << definition();
}

TEST(ClusterHeader, HasAllThatWasFound) {
  auto a = host("a"), b = host("b\"1\"\t"), big = host("big"), board = host("board"), e = host("e"), gone = host("gone\n");
  big.memory = big.memory * 2;
  board.model = "a\\b\nc";
  board.gpus = {"NVIDIA\tA2", "another"};
  board.memory = 7654321;
  for (int i = 0; i < 3; ++i)
    board.cores.push_back(
        {.id = i, .implementer = 0x41, .part = i < 2 ? 0xd03u : 0xd0bu, .ghz = i < 2 ? 1.234567 : 0, .siblings = ""});
  gone.failure = "x";
  const cluster_facts cluster{{a, b, big, board, e, gone},
                              {{1, 3, 4000, 0.00012345, 0.00012345, ""},  // alone
                               {0, 4, 1000, 100, 112, ""},                // two that are nearly the same
                               {1, 4, 1299, 100, 100, ""},
                               {0, 1, 50, 1234.5678, 1000, ""},  // three
                               {0, 2, 70, 1100, 1100, ""},
                               {2, 4, 60, 1010, 1010, ""},
                               {0, 3, 111, 1000, 1000, ""},  // too slow for these
                               {1, 2, 50, 1300, 1300, ""},   // too fast
                               {2, 3, 1700, 100, 109, ""},
                               {0, 5, 0, 0, 0, "gone"},
                               {3, 4, 0, 0, 0, "no\nway"}},
                              "/opt"};
  EXPECT_EQ(cluster_header(cluster),
            R"(// The cluster, as dice-run check found it. Speeds of boards are the makers' figures or estimates:
// with what dice-run measure finds, predictions are better (docs/partitioning.md, Measured times).
#pragma once

#include <dice/dice.hpp>

using namespace dice::literals;

/// Raspberry Pi 4 Model B: dice::boards::raspberry_pi_4 with another amount of memory.
using board_of_big = dice::board<"raspberry_pi_4", dice::ram<8192_MiB>,
    dice::processor<dice::cores<0, 1, 2, 3>, dice::gflops<48>, dice::gbytes_per_s<4>, dice::watts<6.4, 2.7>>>;

// It also has a GPU, NVIDIA A2: docs/gpu.md says how ranks use it.
/// a b c, aarch64.
// estimated: 2 cores × 1.23 GHz × 8 operations in a cycle.
// estimated: 1 cores × 1.5 GHz (a guess) × 16 operations in a cycle.
// gbytes_per_s is a guess.
// Its power is not known. For --search=energy, write dice::watts<BUSY, IDLE> into each processor: what the board draws while
// the processor computes and while it waits, in W, as a meter shows it.
using board_of_board = dice::board<"board_of_board", dice::ram<7_MiB>,
    dice::processor<dice::cores<0, 1>, dice::gflops<19.8>, dice::gbytes_per_s<4>>,
    dice::processor<dice::cores<2>, dice::gflops<24>, dice::gbytes_per_s<4>>>;

// gone  was not reached.
// a – e has 100 Mbit/s there and 112 Mbit/s back; the slower one counts.
// a – b"1"  has 1230 Mbit/s there and 1000 Mbit/s back; the slower one counts.
// board – e was not measured: no way
using machines = dice::cluster<dice::host<"a", dice::boards::raspberry_pi_4>,
                               dice::host<"b\"1\"\011", dice::boards::raspberry_pi_4>,
                               dice::host<"big", board_of_big>,
                               dice::host<"board", board_of_board>,
                               dice::host<"e", dice::boards::raspberry_pi_4>,
                               dice::connection<dice::mbit_per_s<1010>, dice::us<60>>,
                               dice::connection<dice::between<"a", "e">, dice::mbit_per_s<100>, dice::us<1300>>,
                               dice::connection<dice::between<"b\"1\"\011", "e">, dice::mbit_per_s<100>, dice::us<1300>>,
                               dice::connection<dice::between<"b\"1\"\011", "board">, dice::mbit_per_s<0.000123>, dice::us<4000>>,
                               dice::connection<dice::between<"a", "board">, dice::mbit_per_s<1000>, dice::us<111>>,
                               dice::connection<dice::between<"b\"1\"\011", "big">, dice::mbit_per_s<1300>, dice::us<50>>,
                               dice::connection<dice::between<"big", "board">, dice::mbit_per_s<100>, dice::us<1700>>>;
)");
  EXPECT_NE(cluster_header({{a, b}, {}, ""}).find("dice::connection<dice::mbit_per_s<940>, dice::us<150>>>;"),
            std::string::npos);
  EXPECT_EQ(cluster_header({{a, gone}, {}, ""}).find("dice::connection"), std::string::npos);
}

}  // namespace
}  // namespace dice_run
