#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace hindsight::projections {

enum class MetricType : std::uint8_t { counter, gauge, histogram };
enum class MetricUnit : std::uint8_t { count, seconds, timestamp, bytes, state, resource, ratio, position };
/// Whose name it is, so that queries written for Kueue work here.
enum class MetricOrigin : std::uint8_t {
  kueue,      ///< Kueue has the same, with the same type and labels.
  extension,  ///< Of a part of the API that Kueue counts nothing of.
  own,        ///< Of Hindsight.
};

/// What is known of a metric without any value: what docs/metrics.md says, and what every answer of /metrics says of it.
struct MetricInfo {
  std::string_view name;
  MetricType type = MetricType::gauge;
  MetricUnit unit = MetricUnit::count;
  MetricOrigin origin = MetricOrigin::own;
  std::string_view labels;  ///< By name, with blanks between; one that ends with '?' is there in some answers only.
  std::string_view when;    ///< What must be so that it is there at all; empty: nothing.
  std::string_view help;
  std::string_view since = "0.1.0";
};

/// All metrics that there are, by name.
[[nodiscard]] std::span<const MetricInfo> metric_table();

namespace detail {

constexpr auto counter = MetricType::counter;
constexpr auto gauge = MetricType::gauge;
constexpr auto histogram = MetricType::histogram;
using U = MetricUnit;
constexpr auto kueue = MetricOrigin::kueue;
constexpr auto extension = MetricOrigin::extension;
constexpr auto own = MetricOrigin::own;

constexpr std::string_view of_resources = "`metrics.enableClusterQueueResources`";
constexpr std::string_view of_local = "`metrics.localQueueMetrics`";
constexpr std::string_view of_fair = "fair sharing";
constexpr std::string_view of_families = "gate `ConcurrentAdmission`";
constexpr std::string_view of_ready = "`waitForPodsReady`, or jobs that tell of their pods";
constexpr std::string_view of_log_file = "a log in a file";
constexpr std::string_view of_cluster = "`--role all`, `connector`";
constexpr std::string_view of_nodes = "`--role node`";
constexpr std::string_view of_deciding = "`--role all`, `node`";

// clang-format off
inline constexpr MetricInfo metrics[] = {
    // ---- of the process and its log ----------------------------------------------------------------------------------------------
    {"hindsight_admissions_withheld_total", counter, U::count, own, "cluster_queue replica_role", "", "Entries that had room and were not admitted, because a next cycle would have preempted them"},
    {"hindsight_api_answers_total", counter, U::count, own, "", of_cluster, "Complete answers of the API server, of any status"},
    {"hindsight_api_connection_errors_total", counter, U::count, own, "", of_cluster, "Requests to the API server that got no complete answer"},
    {"hindsight_api_requests_in_flight", gauge, U::count, own, "", of_cluster, "Requests to the API server that wait for their answer"},
    {"hindsight_api_requests_waiting", gauge, U::count, own, "", of_cluster, "Requests to the API server that wait to be sent"},
    {"hindsight_api_server_reachable", gauge, U::state, own, "", of_cluster, "Whether the API server answered the last request (1) or not (0)"},
    {"hindsight_api_write_retries_total", counter, U::count, own, "", of_cluster, "Writes that were sent once more"},
    {"hindsight_api_writes_in_flight_limit", gauge, U::count, own, "", of_cluster, "Writes that are given to the API server at a time: as many as it does well with, at most --max-in-flight"},
    {"hindsight_api_writes_refused_total", counter, U::count, own, "", of_cluster, "Writes that the API server refused, without conflicts"},
    {"hindsight_certificate_expiry_timestamp_seconds", gauge, U::timestamp, own, "use", "`--webhooks`, `--visibility`", "When the certificate that is shown ends"},
    {"hindsight_clock_api_server_offset_seconds", gauge, U::seconds, own, "", "the API server told its time within the last hour", "The API server's clock less the time that counts"},
    {"hindsight_clock_machine_offset_seconds", gauge, U::seconds, own, "", "", "The clock of this machine less the time that counts"},
    {"hindsight_clock_steps_total", counter, U::count, own, "", "", "How often a clock was found to have been set"},
    {"hindsight_deciding", gauge, U::state, own, "domain? partition?", of_deciding, "Whether this process decides the domain, and its log takes records (1), or not now (0)"},
    {"hindsight_decisions_total", counter, U::count, own, "domain? partition?", of_deciding, "Steps that this process decided and read back"},
    {"hindsight_domain_restarts_total", counter, U::count, own, "domain? partition?", "", "How often a domain was built again after an entity failed"},
    {"hindsight_epoch", gauge, U::position, own, "domain? partition? replica_role?", "", "The epoch of the domain"},
    {"hindsight_inbox", gauge, U::count, own, "domain? partition?", "", "Records on their way to the log and back"},
    {"hindsight_intents_outstanding", gauge, U::count, own, "", of_cluster, "Writes to objects that are wanted and not done"},
    {"hindsight_leader", gauge, U::state, own, "", of_cluster, "Whether this process has the Lease, or needs none (1), or not (0)"},
    {"hindsight_log_behind_seconds", gauge, U::seconds, own, "domain? partition?", "", "How long ago this process had last read its log to the end"},
    {"hindsight_log_clock_ahead_seconds", gauge, U::seconds, own, "", "", "The times of new records less the clock"},
    {"hindsight_log_disk_free_bytes", gauge, U::bytes, own, "", of_log_file, "What the disk of the log still gives"},
    {"hindsight_log_files_bytes", gauge, U::bytes, own, "", of_log_file, "What the files of the log take"},
    {"hindsight_log_full", gauge, U::state, own, "", of_log_file, "Whether the log refuses records, because there is no room (1), or takes them (0)"},
    {"hindsight_log_limit_bytes", gauge, U::bytes, own, "", "`--log-limit`", "How large the content of the log may become"},
    {"hindsight_log_position", gauge, U::position, own, "domain? partition?", "", "Position in the log of the record applied last"},
    {"hindsight_log_used_bytes", gauge, U::bytes, own, "", of_log_file, "What the content of the log takes"},
    {"hindsight_mirror_objects", gauge, U::count, own, "resource", of_cluster, "Objects that the API server has of a kind that is watched"},
    {"hindsight_mirror_synced", gauge, U::state, own, "", of_cluster, "Whether all kinds have been listed and compared with the log (1), or not yet (0)"},
    {"hindsight_oldest_pending_timestamp_seconds", gauge, U::timestamp, own, "cluster_queue replica_role", "somebody waits", "Since when the Workload waits that waits longest for quota of the ClusterQueue"},
    {"hindsight_partitions_open", gauge, U::count, own, "", of_nodes, "Partitions of this node whose log is open"},
    {"hindsight_partitions_wanted", gauge, U::count, own, "", of_nodes, "Partitions that are this node's"},
    {"hindsight_quarantined_objects", gauge, U::count, own, "kind replica_role", "an object was set aside", "Objects that were set aside because they cannot be read or written"},
    {"hindsight_quarantined_records", gauge, U::count, own, "replica_role", "a record was set aside", "Records of the log that were set aside and have no effect"},
    {"hindsight_repeated_preemptions", gauge, U::count, own, "replica_role", "", "Pairs of Workloads of which one preempts the other no more, because it came back each time"},
    {"hindsight_repeated_steps_total", counter, U::count, own, "domain? partition?", "", "Steps that were not recorded because they only repeat what was decided before"},
    {"hindsight_sequence", gauge, U::position, own, "replica_role", "one domain", "Sequence of the record applied last"},
    {"hindsight_snapshot_failures_total", counter, U::count, own, "domain? partition?", of_deciding, "Snapshots that could not be stored"},
    {"hindsight_snapshot_position", gauge, U::position, own, "domain? partition?", of_deciding, "Position in the log of the newest snapshot; 0: there is none"},
    {"hindsight_stale_decisions", gauge, U::count, own, "replica_role", "", "Decisions of replaced writers that were ignored"},
    {"hindsight_standby_domains", gauge, U::count, own, "", of_nodes, "Domains of other nodes that this one follows"},
    {"hindsight_standby_domains_ready", gauge, U::count, own, "", of_nodes, "Of these, those whose log it has read to the end"},
    {"hindsight_topology_capacity", gauge, U::resource, own, "domain flavor level replica_role resource", "`hindsight.topologyMetrics`", "What the nodes of a domain of a topology offer, without what pods of others use"},
    {"hindsight_topology_free", gauge, U::resource, own, "domain flavor level replica_role resource", "`hindsight.topologyMetrics`", "What of it no Workload has"},
    {"hindsight_watch_events_waiting", gauge, U::count, own, "", of_cluster, "Events of watches, and other work of that thread, that wait for their turn"},
    {"hindsight_watch_failing", gauge, U::state, own, "resource", of_cluster, "Whether the last list or watch of a kind failed (1), or not (0)"},
    {"hindsight_watch_failures_total", counter, U::count, own, "resource", of_cluster, "Lists and watches of a kind that failed"},
    {"hindsight_write_conflicts_total", counter, U::count, own, "", of_cluster, "Writes to objects that somebody else had changed before"},
    {"hindsight_writes_total", counter, U::count, own, "", of_cluster, "Writes to objects"},
    // ---- of queues and Workloads, under Kueue's names ----------------------------------------------------------------------------
    {"kueue_admission_attempt_duration_seconds", histogram, U::seconds, kueue, "replica_role result", of_deciding, "How long a scheduling cycle took on the clock of the machine"},
    {"kueue_admission_attempts_total", counter, U::count, kueue, "replica_role result", "", "Scheduling cycles"},
    {"kueue_admission_checks_wait_time_seconds", histogram, U::seconds, kueue, "cluster_queue priority_class replica_role", "admission checks", "From the reservation of quota to admission"},
    {"kueue_admission_cycle_preemption_skips", gauge, U::count, kueue, "cluster_queue replica_role", "", "Entries of the last cycle that would have preempted, had no earlier one been in the way"},
    {"kueue_admission_wait_time_seconds", histogram, U::seconds, kueue, "cluster_queue priority_class replica_role", "", "From queueing to admission"},
    {"kueue_admitted_active_workloads", gauge, U::count, kueue, "cluster_queue replica_role", "", "Admitted workloads that have not finished"},
    {"kueue_admitted_until_ready_wait_time_seconds", histogram, U::seconds, kueue, "cluster_queue priority_class replica_role", of_ready, "From admission to all pods ready"},
    {"kueue_admitted_workloads_total", counter, U::count, kueue, "cluster_queue priority_class replica_role", "", "Workloads that were admitted"},
    {"kueue_build_info", gauge, U::state, kueue, "build_date compiler git_commit git_version go_version platform", "", "The release, and what it was built from"},
    {"kueue_cluster_queue_borrowing_limit", gauge, U::resource, kueue, "cluster_queue cohort flavor replica_role resource", of_resources, "Borrowing limit"},
    {"kueue_cluster_queue_info", gauge, U::state, kueue, "cluster_queue parent_cohort replica_role root_cohort", "", "Where the ClusterQueue stands"},
    {"kueue_cluster_queue_lending_limit", gauge, U::resource, kueue, "cluster_queue cohort flavor replica_role resource", of_resources, "Lending limit"},
    {"kueue_cluster_queue_nominal_quota", gauge, U::resource, kueue, "cluster_queue cohort flavor replica_role resource", of_resources, "Nominal quota"},
    {"kueue_cluster_queue_resource_pending", gauge, U::resource, kueue, "cluster_queue replica_role resource", of_resources, "What pending workloads ask for"},
    {"kueue_cluster_queue_resource_reservation", gauge, U::resource, kueue, "cluster_queue cohort flavor replica_role resource", of_resources, "Quota reserved"},
    {"kueue_cluster_queue_resource_usage", gauge, U::resource, kueue, "cluster_queue cohort flavor replica_role resource", of_resources, "Quota used by admitted workloads"},
    {"kueue_cluster_queue_status", gauge, U::state, kueue, "cluster_queue replica_role status", "", "1 for the status that the ClusterQueue has"},
    {"kueue_cluster_queue_weighted_share", gauge, U::ratio, kueue, "cluster_queue cohort replica_role", of_fair, "Dominant resource share, in thousandths, divided by the weight"},
    {"kueue_cohort_info", gauge, U::state, kueue, "cohort parent_cohort replica_role root_cohort", "", "Where the cohort stands"},
    {"kueue_cohort_subtree_admitted_active_workloads", gauge, U::count, kueue, "cohort replica_role", "", "Admitted workloads below the cohort"},
    {"kueue_cohort_subtree_admitted_workloads_total", counter, U::count, kueue, "cohort priority_class replica_role", "", "Workloads that were admitted below the cohort"},
    {"kueue_cohort_subtree_quota", gauge, U::resource, kueue, "cohort flavor replica_role resource", "", "Quota of the cohort and of what its members lend"},
    {"kueue_cohort_subtree_resource_reservations", gauge, U::resource, kueue, "cohort flavor replica_role resource", "", "Quota of the cohort that is reserved"},
    {"kueue_cohort_weighted_share", gauge, U::ratio, kueue, "cohort replica_role", of_fair, "Dominant resource share, in thousandths, divided by the weight"},
    {"kueue_concurrent_admission_migrations_total", counter, U::count, extension, "cluster_queue from_flavor replica_role to_flavor", of_families, "Jobs that moved to a better Option"},
    {"kueue_concurrent_admission_options", gauge, U::count, extension, "cluster_queue replica_role state", of_families, "Options of families, by the state that their Parents show"},
    {"kueue_concurrent_admission_preemption_right_grants_total", counter, U::count, extension, "cluster_queue replica_role", of_families, "How often an Option was given the right of its family to preempt"},
    {"kueue_evicted_workloads_once_total", counter, U::count, kueue, "cluster_queue priority_class reason replica_role underlying_cause", "", "Workloads that were evicted at least once"},
    {"kueue_evicted_workloads_total", counter, U::count, kueue, "cluster_queue priority_class reason replica_role underlying_cause", "", "Evictions"},
    {"kueue_execution_time_seconds", histogram, U::seconds, kueue, "cluster_queue priority_class replica_role", "", "From admission to the end"},
    {"kueue_finished_workloads", gauge, U::count, kueue, "cluster_queue replica_role", "", "Workloads that have finished and still exist"},
    {"kueue_finished_workloads_total", counter, U::count, kueue, "cluster_queue priority_class replica_role", "", "Workloads that finished"},
    {"kueue_gated_jobs", gauge, U::count, extension, "contract kind replica_role", "a gate annotation", "Jobs and Workloads that a gate annotation holds back"},
    {"kueue_gated_time_seconds", histogram, U::seconds, extension, "contract kind replica_role", "a gate annotation", "From the observation of a gate annotation to its end"},
    {"kueue_local_queue_admission_checks_wait_time_seconds", histogram, U::seconds, kueue, "name namespace priority_class replica_role", of_local, "From the reservation of quota to admission"},
    {"kueue_local_queue_admission_fair_sharing_usage", gauge, U::ratio, kueue, "cluster_queue name namespace replica_role", "admission fair sharing", "What admission fair sharing compares LocalQueues by"},
    {"kueue_local_queue_admission_wait_time_seconds", histogram, U::seconds, kueue, "name namespace priority_class replica_role", of_local, "From queueing to admission"},
    {"kueue_local_queue_admitted_active_workloads", gauge, U::count, kueue, "name namespace replica_role", of_local, "Admitted workloads that have not finished"},
    {"kueue_local_queue_admitted_until_ready_wait_time_seconds", histogram, U::seconds, kueue, "name namespace priority_class replica_role", of_local, "From admission to all pods ready"},
    {"kueue_local_queue_admitted_workloads_total", counter, U::count, kueue, "name namespace priority_class replica_role", of_local, "Workloads that were admitted"},
    {"kueue_local_queue_evicted_workloads_total", counter, U::count, kueue, "name namespace priority_class reason replica_role underlying_cause", of_local, "Evictions"},
    {"kueue_local_queue_execution_time_seconds", histogram, U::seconds, kueue, "name namespace priority_class replica_role", of_local, "From admission to the end"},
    {"kueue_local_queue_finished_workloads", gauge, U::count, kueue, "name namespace replica_role", of_local, "Workloads that have finished and still exist"},
    {"kueue_local_queue_finished_workloads_total", counter, U::count, kueue, "name namespace priority_class replica_role", of_local, "Workloads that finished"},
    {"kueue_local_queue_pending_workloads", gauge, U::count, kueue, "name namespace replica_role status", of_local, "Pending workloads"},
    {"kueue_local_queue_quota_reserved_wait_time_seconds", histogram, U::seconds, kueue, "name namespace priority_class replica_role", of_local, "From queueing to the reservation of quota"},
    {"kueue_local_queue_quota_reserved_workloads_total", counter, U::count, kueue, "name namespace priority_class replica_role", of_local, "Workloads that got quota"},
    {"kueue_local_queue_ready_wait_time_seconds", histogram, U::seconds, kueue, "name namespace priority_class replica_role", of_local, "From queueing to all pods ready"},
    {"kueue_local_queue_reserving_active_workloads", gauge, U::count, kueue, "name namespace replica_role", of_local, "Workloads that hold quota"},
    {"kueue_local_queue_resource_reservation", gauge, U::resource, kueue, "flavor name namespace replica_role resource", of_local, "Quota reserved"},
    {"kueue_local_queue_resource_usage", gauge, U::resource, kueue, "flavor name namespace replica_role resource", of_local, "Quota used by admitted workloads"},
    {"kueue_local_queue_status", gauge, U::state, kueue, "active name namespace replica_role", of_local, "1 for the status that the LocalQueue has"},
    {"kueue_local_queue_unadmitted_workloads", gauge, U::count, kueue, "cluster_queue name namespace reason replica_role underlying_cause", of_local, "Workloads that are not admitted, by why"},
    {"kueue_pending_scheduling_hashes", gauge, U::count, kueue, "cluster_queue replica_role status", "gate `SchedulingEquivalenceHashing`", "Kinds of pending workloads that are equal for scheduling"},
    {"kueue_pending_workloads", gauge, U::count, kueue, "cluster_queue replica_role status", "", "Pending workloads"},
    {"kueue_pod_scheduling_gate_removal_seconds", histogram, U::seconds, kueue, "cluster_queue is_group name replica_role", "topologies, elastic jobs", "From admission to the removal of the scheduling gate of a pod"},
    {"kueue_pods_ready_to_evicted_time_seconds", histogram, U::seconds, kueue, "cluster_queue reason replica_role underlying_cause", of_ready, "From all pods ready to the eviction"},
    {"kueue_preempted_workloads_total", counter, U::count, kueue, "preempting_cluster_queue reason replica_role", "", "Preemptions by the ClusterQueue that preempts"},
    {"kueue_preemption_target_recomputations_total", counter, U::count, kueue, "cluster_queue replica_role result", "", "Entries whose victims were chosen anew within a cycle"},
    {"kueue_quota_reserved_wait_time_seconds", histogram, U::seconds, kueue, "cluster_queue priority_class replica_role", "", "From queueing to the reservation of quota"},
    {"kueue_quota_reserved_workloads_total", counter, U::count, kueue, "cluster_queue priority_class replica_role", "", "Workloads that got quota"},
    {"kueue_ready_wait_time_seconds", histogram, U::seconds, kueue, "cluster_queue priority_class replica_role", of_ready, "From queueing to all pods ready"},
    {"kueue_replaced_workload_slices_total", counter, U::count, kueue, "cluster_queue replica_role", "elastic jobs", "Slices of elastic jobs that another replaced"},
    {"kueue_reserving_active_workloads", gauge, U::count, kueue, "cluster_queue replica_role", "", "Workloads that hold quota"},
    {"kueue_unadmitted_workloads", gauge, U::count, kueue, "cluster_queue reason replica_role underlying_cause", "", "Workloads that are not admitted, by why"},
    {"kueue_workload_creation_latency_seconds", histogram, U::seconds, kueue, "job_kind replica_role", "", "From the creation of a job to that of its Workload"},
    {"kueue_workload_eviction_latency_seconds", histogram, U::seconds, kueue, "cluster_queue reason replica_role", "", "From the eviction to the release of quota"},
};
// clang-format on
static_assert(std::is_sorted(std::begin(metrics), std::end(metrics),
                             [](const MetricInfo& a, const MetricInfo& b) { return a.name < b.name; }));

constexpr std::size_t position_of(std::string_view name) {
  for (std::size_t i = 0; i < std::size(metrics); ++i)
    if (metrics[i].name == name) return i;
  throw std::logic_error("no such metric");
}

}  // namespace detail

inline std::span<const MetricInfo> metric_table() { return detail::metrics; }

/// Names a metric of the table. A name that does not stand there does not compile, so whatever /metrics shows is described.
class MetricName {
 public:
  consteval MetricName(const char* name) : row_(detail::position_of(name)) {}  // NOLINT(google-explicit-constructor): a name, checked
  [[nodiscard]] constexpr const MetricInfo& info() const { return detail::metrics[row_]; }
  [[nodiscard]] std::string text() const { return std::string(info().name); }
  [[nodiscard]] std::string help() const { return std::string(info().help); }

 private:
  std::size_t row_;
};

/// Of a ClusterQueue, and of each of its LocalQueues.
struct MetricPair {
  MetricName cluster_queue, local_queue;
};

}  // namespace hindsight::projections
