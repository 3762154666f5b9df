// Addresses that several hosts have, and the networks that remain.
#include "networks.hpp"
#include "check.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace dice_run {
namespace {

using texts = std::vector<std::string>;

/// A host with networks as scripts/facts.sh prints them: "eth0 10.0.0.1/24".
host_facts with(const std::string& name, const texts& networks) {
  host_facts out;
  out.host = name;
  std::string printed = "network lo 127.0.0.1/8\n";
  for (const auto& one : networks) printed += "network " + one + "\n";
  read_facts(printed, {}, out);
  return out;
}

texts shared(const std::vector<host_facts>& hosts) {
  texts out;
  for (const auto& s : shared_addresses(hosts)) out.push_back(text_of(s));
  return out;
}

TEST(Networks, AreReadFromAddresses) {
  const auto h = with("pc", {"eth0 192.168.50.11/24", "wlan0 10.1.255.7/23", "ppp0 10.9.0.1", "x 1.2.3.4/0",
                             "y 300.1.1.1/24", "z fe80::1/64"});
  texts found;
  for (const auto& n : h.networks) found.push_back(n.interface + " " + n.address + " " + n.network);
  EXPECT_EQ(found,
            (texts{"eth0 192.168.50.11 192.168.50.0/24", "wlan0 10.1.255.7 10.1.254.0/23", "ppp0 10.9.0.1 10.9.0.1/32"}));
}

TEST(Networks, WithoutSharedAddressesAreLeftToOpenMpi) {
  const std::vector hosts{with("pc", {"eth0 10.0.0.1/24", "wlan0 10.1.0.1/24"}), with("pi", {"eth0 10.0.0.2/24"}),
                          with("tv", {})};
  EXPECT_EQ(shared(hosts), texts());
  EXPECT_EQ(usable_networks(hosts), texts());
}

/// As of a bridge and its port.
TEST(Networks, AHostMayHaveAnAddressTwice) {
  const std::vector hosts{with("pc", {"eth0 10.0.0.1/24", "br0 10.0.0.1/24", "wlan0 10.1.0.1/24"}),
                          with("pi", {"eth0 10.0.0.2/24"})};
  EXPECT_EQ(shared(hosts), texts());
  EXPECT_EQ(usable_networks(hosts), texts());
}

TEST(Networks, WithASharedAddressAreNotUsed) {
  const std::vector hosts{with("pc", {"docker0 172.17.0.1/16", "eth0 10.0.0.1/24", "wlan0 10.1.0.1/24"}),
                          with("pi", {"eth0 10.0.0.2/24", "l4tbr0 192.168.55.1/24", "br0 172.17.0.1/16"}),
                          with("tv", {"eth0 10.0.0.3/24", "l4tbr0 192.168.55.1/24", "docker0 172.17.0.9/16"})};
  EXPECT_EQ(shared(hosts),
            (texts{"pc, pi have the address 172.17.0.1 (docker0, br0)", "pi, tv have the address 192.168.55.1 (l4tbr0)"}));
  EXPECT_EQ(usable_networks(hosts), texts{"10.0.0.0/24"});  // not Wi-Fi, which only one has
}

TEST(Networks, WithRoutersBetweenThemAreAllUsed) {
  const std::vector hosts{with("pc", {"docker0 172.17.0.1/16", "eth0 10.0.0.1/24"}),
                          with("pi", {"docker0 172.17.0.1/16", "eth0 10.2.0.1/24"})};
  EXPECT_EQ(usable_networks(hosts), (texts{"10.0.0.0/24", "10.2.0.0/24"}));
}

TEST(Networks, OfOneSystemUnderTwoNamesAreNoMistake) {
  const std::vector hosts{with("pc", {"docker0 172.17.0.1/16", "eth0 10.0.0.1/24"}),
                          with("same", {"docker0 172.17.0.1/16", "eth0 10.0.0.1/24"}), with("pi", {"eth0 10.0.0.2/24"})};
  EXPECT_EQ(shared(hosts), texts());
  EXPECT_EQ(usable_networks(hosts), texts());
}

TEST(Networks, HaveOptionsForEachVersionOfMpirun) {
  EXPECT_EQ(network_options({"10.0.0.0/24", "10.2.0.0/24"}, "4.1.4"),
            "--mca btl_tcp_if_include 10.0.0.0/24,10.2.0.0/24 --mca oob_tcp_if_include 10.0.0.0/24,10.2.0.0/24");
  EXPECT_EQ(network_options({"10.0.0.0/24"}, "5.0.7"),
            "--mca btl_tcp_if_include 10.0.0.0/24 --prtemca prte_if_include 10.0.0.0/24");
}

TEST(Networks, TheMeasuredOneIsKnownIfItIsOne) {
  const auto link = [](std::size_t a, std::size_t b, const std::string& of_a, const std::string& of_b) {
    link_facts out;
    out.a = a;
    out.b = b;
    out.address = of_a;
    out.back_address = of_b;
    return out;
  };
  std::vector hosts{with("pc", {"eth0 10.0.0.1/24"}), with("pi", {"eth0 10.0.0.2/24"}), with("tv", {"eth0 10.0.0.3/24"})};
  const std::vector links{link(0, 1, "10.0.0.1", "10.0.0.2"), link(0, 2, "10.0.0.1", "10.0.0.3"),
                          link(1, 2, "10.0.0.2", "10.0.0.3")};
  EXPECT_EQ(measured_network(hosts, links), "");  // there is no other
  hosts[2] = with("tv", {"wlan0 10.1.0.3/24", "eth0 10.0.0.3/24"});
  EXPECT_EQ(measured_network(hosts, links), "10.0.0.0/24");
  auto other = links;
  other[2].back_address = "10.1.0.3";
  EXPECT_EQ(measured_network(hosts, other), "");
  other[2].back_address = "";  // it was not measured
  EXPECT_EQ(measured_network(hosts, other), "");
  EXPECT_EQ(measured_network(hosts, {}), "");
}

TEST(Networks, ThatCheckWarnsOf) {
  const auto docker = [](const char* name, const std::string& own) { return with(name, {"docker0 172.17.0.1/16", own}); };
  const auto warned = [](const std::vector<host_facts>& hosts) {
    texts out;
    for (const auto& f : findings_of({hosts, {}, "/f"}))
      if (f.text.find("172.17") != std::string::npos) out.push_back((f.is_error ? "error: " : "") + f.text);
    return out;
  };
  EXPECT_EQ(
      warned({docker("pc", "eth0 10.0.0.1/24"), docker("pi", "eth0 10.0.0.2/24")}),
      texts{"pc, pi have the address 172.17.0.1 (docker0); a job whose Open MPI takes this for one network waits for ever. "
            "dice-run start keeps jobs to 10.0.0.0/24; without it: MPIRUN_OPTIONS=\"--mca btl_tcp_if_include 10.0.0.0/24 "
            "--mca oob_tcp_if_include 10.0.0.0/24\""});
  EXPECT_EQ(
      warned({docker("pc", "br1 172.17.0.2/16"), docker("pi", "br1 172.17.0.3/16")}),
      texts{"pc, pi have the address 172.17.0.1 (docker0); a job whose Open MPI takes this for one network waits for ever. "
            "Name the network to use (docs/boards.md, several networks)"});
}

}  // namespace
}  // namespace dice_run
