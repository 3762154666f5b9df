// Names that the compiler prints for requests to best_mapping that are wrong or that no mapping meets.
#pragma once

namespace dice::remedy {
struct give_each_processor_watts;
struct write_one_objective_and_limits;
struct give_limits_above_0;
struct relax_this_limit_or_add_devices;
struct build_with_the_backend_of_a_processor_of_the_cluster;
struct give_the_order_with_in_order;
}  // namespace dice::remedy

/// Incomplete on purpose: naming one of these is the error.
namespace dice::error {
template <class Processor, class Remedy> struct watts_missing;
template <class T, class Remedy> struct not_a_wish;
template <class Requests, class Remedy> struct limit_not_positive;
template <class Cluster, class Remedy> struct no_usable_processor;
template <class Cluster, class Remedy> struct too_many_kinds_of_hosts;
/// No mapping meets Limit together with the other limits; Nearest is the nearest limit that one can meet.
template <class Limit, class Nearest, class Remedy> struct no_mapping_within;
}  // namespace dice::error
