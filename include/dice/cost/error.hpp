// Names that the compiler prints for a mistake in a cluster, its profiles, or the ranks on its hosts.
#pragma once

namespace dice::remedy {
struct write_cluster_of_hosts_and_connections;
struct write_board_of_a_name_and_ram_and_processors;
struct give_the_board_a_processor;
struct write_processor_of_a_unit_and_its_rates_or_a_profile;
struct give_gflops_and_gbytes_per_s_or_a_profile;
struct give_rates_above_0_and_no_more_idle_than_busy_watts;
struct give_rates_below_1e15_and_times_below_1e6_s;
struct state_each_speed_time_and_memory_once;
struct give_the_board_its_ram;
struct give_a_positive_number_of_bytes;
struct give_less_than_8_EiB;
struct give_each_host_a_name_of_its_own;
struct name_two_different_hosts_of_the_cluster;
struct write_connection_of_a_speed_and_a_latency;
struct give_connections_a_speed_above_0_and_no_negative_time;
struct state_each_connection_once;
struct add_a_connection_of_every_pair_or_between_these;
struct profile_this_model_again;
struct measure_a_plan_that_has_all_layers_on_this_kind_of_unit;
struct give_the_profile_of_this_unit_or_name_the_unit_measured;
struct choose_a_unit_that_the_board_of_this_host_has;
struct tie_the_rank_to_a_host_of_the_cluster;
}  // namespace dice::remedy

/// Incomplete on purpose: naming one of these is the error.
namespace dice::error {
template <class T, class Remedy> struct not_a_cluster;
template <class Host, class Remedy> struct not_a_board;
template <class Host, class Remedy> struct board_without_processor;
template <class Processor, class Remedy> struct not_a_processor;
template <class Processor, class Remedy> struct rate_missing;
template <class Processor, class Remedy> struct rate_not_positive;
template <class Processor, class Remedy> struct rate_too_large;
template <class Host, class Remedy> struct ram_missing;
template <class Host, class Remedy> struct ram_not_positive;
template <class Host, class Remedy> struct ram_too_large;
/// A processor, the host of a board or a connection that states the same twice.
template <class Stating, class Remedy> struct stated_twice;
template <class Host, class Remedy> struct host_without_name;
template <class Host, class SameName, class Remedy> struct host_twice;
template <class Connection, class Remedy> struct connection_of_unknown_host;
template <class Connection, class Remedy> struct not_a_connection;
template <class Connection, class Remedy> struct connection_rate_not_positive;
template <class Connection, class Remedy> struct connection_rate_too_large;
template <class Connection, class Again, class Remedy> struct connection_twice;
template <class HostA, class HostB, class Remedy> struct hosts_without_connection;
template <class Profile, class Network, class Remedy> struct profile_of_another_network;
template <class Profile, class Layer, class Remedy> struct profile_without_layer;
template <class Profile, class Processor, class Remedy> struct profile_of_another_unit;
template <int Rank, class Host, class Remedy> struct unit_not_on_host;
template <int Rank, class Remedy> struct rank_on_unknown_host;
}  // namespace dice::error
