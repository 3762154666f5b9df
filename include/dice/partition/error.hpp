// Names that the compiler prints for requests to best_mapping that are wrong or that no mapping meets.
#pragma once

namespace dice::remedy {
struct give_each_processor_watts;
struct write_one_objective_and_limits;
struct give_limits_above_0;
struct give_less_than_8_EiB;
struct relax_this_limit_or_add_devices;
struct build_with_the_backend_of_a_processor_of_the_cluster;
struct give_the_order_with_in_order;
struct give_each_constraint_once;
struct name_a_host_of_the_cluster;
struct give_a_percentage_from_0_to_100;
struct give_this_host_more_memory_or_name_another;
struct leave_out_one_of_these_constraints;
struct write_rows_columns_grid_channels_or_replicas;
struct name_the_layers_that_must_not_be_split;
struct name_layers_of_this_network_in_its_order;
}  // namespace dice::remedy

/// Incomplete on purpose: naming one of these is the error.
namespace dice::error {
template <class Processor, class Remedy> struct watts_missing;
template <class T, class Remedy> struct not_a_constraint;
template <class Requests, class Remedy> struct limit_not_positive;
template <class Limit, class Remedy> struct limit_too_large;
template <class First, class Second, class Remedy> struct constraint_twice;
template <class Constraint, class Remedy> struct constraint_for_unknown_host;
template <class Constraint, class Remedy> struct percentage_out_of_range;
template <class Constraint, class Remedy> struct not_kinds_of_splits;
template <class Constraint, class Remedy> struct no_layer_named;
/// The memory that the host of an input or output needs for it alone.
template <class Constraint, class Needed, class Remedy> struct host_too_small;
/// No mapping has all of these, whatever the memory and the limits.
template <class Constraints, class Remedy> struct conflicting_constraints;
/// Of the cluster, or of the host that a constraint names.
template <class ClusterOrConstraint, class Remedy> struct no_usable_processor;
template <class Cluster, class Remedy> struct too_many_kinds_of_hosts;
/// No mapping meets Limit together with the other limits; Nearest is the nearest limit that one can meet.
template <class Limit, class Nearest, class Remedy> struct no_mapping_within;
}  // namespace dice::error
