#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "admission/model/intents.hpp"
#include "tests/explorer/history.hpp"
#include "tests/explorer/random.hpp"

namespace hindsight::explorer {

// ---- objects, as the API server has them -------------------------------------------------------------------------------

struct PodSet {
  std::string name = "main";
  std::int32_t count = 1;
  std::optional<std::int32_t> min_count;
  std::vector<std::pair<std::string, Amount>> requests;  ///< Per pod, sorted by name.
};

struct Job {
  std::string name, uid;
  std::uint64_t version = 0;
  std::int64_t generation = 1;
  Time created;
  std::string namespace_, queue, priority_class;
  std::vector<PodSet> templates;             ///< As its maker wrote them.
  std::vector<std::int32_t> running_counts;  ///< Not empty between start and stop: counts that admission gave.
  std::int32_t max_exec_seconds = 0;
  bool suspended = true, active = false, pods_ready = false, finished = false, succeeded = false;
  std::int32_t reclaimable = 0;
  std::int32_t remaining = -1;  ///< Of an elastic job: pods of its first set that are still to run, whatever its size; -1: nobody knows.
  bool elastic = false;
};

struct Condition {
  ConditionType type = ConditionType::unspecified;
  ConditionStatus status = ConditionStatus::unknown;
  std::string reason, message;
  Time last_transition;
  friend bool operator==(const Condition&, const Condition&) = default;
};

struct Check {
  std::string name;
  CheckState state = CheckState::pending;
  Time last_transition;
  std::string message;
  std::optional<std::int32_t> requeue_after_seconds, retry_count;
  friend bool operator==(const Check&, const Check&) = default;
};

struct Assignment {
  std::string pod_set;
  std::int32_t count = 0;
  std::vector<std::pair<std::string, std::string>> flavors;
  std::vector<std::pair<std::string, Amount>> usage;
  friend bool operator==(const Assignment&, const Assignment&) = default;
};

/// The part of a Workload that status updates replace.
struct WorkloadStatus {
  std::vector<Condition> conditions;
  std::string cluster_queue;  ///< Empty: no admission.
  std::vector<Assignment> assignments;
  std::vector<Check> checks;
  bool has_requeue_state = false;
  std::int32_t requeue_count = 0;
  Time requeue_at;
  std::vector<std::pair<std::string, std::int32_t>> reclaimable;
  std::optional<std::int32_t> accumulated_exec_seconds;
  std::vector<admission::WorkloadIntent::Eviction> evictions;
  bool gate_open = false;  ///< Of an Option: its preemption gate.
  std::vector<admission::WantedOption> options;

  [[nodiscard]] const Condition* find(ConditionType type) const;
  [[nodiscard]] bool is_true(ConditionType type) const;
};

struct Workload {
  std::string name, uid, job_uid;  ///< job_uid empty: no job owns it.
  std::uint64_t version = 0;
  std::int64_t generation = 1;
  Time created;
  std::string namespace_, queue;
  std::vector<PodSet> pod_sets;
  std::int32_t priority = 0;
  PriorityClassKind priority_class_kind = PriorityClassKind::none;
  std::string priority_class;
  std::int32_t max_exec_seconds = 0;
  bool active = true, deleting = false, finalizer = true;
  bool elastic = false;
  std::string replacement_for, slice_name;
  // of families (8691)
  std::string option_of;             ///< Uid of the Workload that controls it; empty: none does.
  std::vector<std::string> allowed;  ///< Flavors that it may be assigned; empty: all.
  bool gated = false;                ///< It carries the preemption gate of an Option.
  bool parent_marked = false;
  WorkloadStatus status;
};

struct Quota {
  Amount nominal = 0;
  std::optional<Amount> borrowing_limit, lending_limit;
};

/// What a ClusterQueue says of concurrent admission (8691 §2.2).
struct ConcurrentPolicy {
  bool enabled = false;
  OnSuccess on_success = OnSuccess::remove_lower;
  std::string target;  ///< With remove_below_target.
  struct Option {
    std::string name;
    std::int32_t create_delay = 0;
    std::optional<std::int32_t> delete_delay;
    std::vector<std::string> flavors;
  };
  std::vector<Option> options;  ///< Explicit ones.
};

/// ClusterQueue or Cohort: quota by flavor and resource.
struct QuotaHolder {
  std::string name, cohort;
  std::vector<std::string> flavors, resources;
  std::map<std::pair<std::string, std::string>, Quota> quota;
  std::int64_t weight_nano = 1'000'000'000;
  // ClusterQueue only
  QueueingStrategy strategy = QueueingStrategy::best_effort_fifo;
  PreemptionPolicy within = PreemptionPolicy::never, reclaim = PreemptionPolicy::never, borrow_within = PreemptionPolicy::never;
  FungibilityPolicy when_can_borrow = FungibilityPolicy::may_stop_search, when_can_preempt = FungibilityPolicy::try_next_flavor;
  StopPolicy stop = StopPolicy::none;
  AdmissionMode mode = AdmissionMode::unset;
  std::vector<std::string> checks;
  std::map<std::string, std::vector<std::string>> check_flavors;  ///< By check; none: it is for all flavors.
  ConcurrentPolicy concurrent;
};

struct LocalQueue {
  std::string namespace_, name, cluster_queue;
  StopPolicy stop = StopPolicy::none;
  std::int64_t weight_nano = 1'000'000'000;
};

// ---- the server ------------------------------------------------------------------------------------------------------------

/// A model of the API server on the level of facts: it keeps objects, and for each of them the versions that its watcher has not
/// been told of yet. Writers are the users (users.hpp) and the applier (applier.hpp).
class ApiServer {
 public:
  std::map<std::string, Job> jobs;            ///< By uid.
  std::map<std::string, Workload> workloads;  ///< By uid.
  std::map<std::string, QuotaHolder> queues, cohorts;
  std::map<std::string, LocalQueue> local_queues;  ///< By name: names are unique over all namespaces here.
  std::map<std::string, std::int32_t> priority_classes;
  std::map<std::string, bool> checks;  ///< Name → active.
  std::vector<std::string> flavors;
  Time now;

  // ---- writing: change the object above, then publish it ---------------------------------------------------------------------

  void publish(Job& job, std::uint64_t start_settled = 0);
  void publish(Workload& workload);
  /// A Workload that an intent made.
  void publish_made(Workload& workload) {
    unseen_.insert(workload.uid);
    publish(workload);
  }
  void publish_queue(const std::string& name);
  void publish_cohort(const std::string& name);
  void publish_local_queue(const std::string& name);
  void publish_priority_class(const std::string& name);
  void publish_check(const std::string& name);
  void publish_flavor(const std::string& name);
  void publish_namespace(const std::string& name);
  /// Any observation that no object stands behind.
  void publish_as(const std::string& key, OwnedObservation o);

  /// Takes the object away; its Workloads follow when they carry no finalizer any more.
  void remove_job(const std::string& uid);
  void remove_workload(const std::string& uid);
  void remove_queue(const std::string& name);
  void remove_cohort(const std::string& name);
  void remove_local_queue(const std::string& name);
  void remove_flavor(const std::string& name);
  /// The garbage collector: takes away an Option whose Parent has gone. False: there is none.
  bool collect_option();

  std::string new_uid(const std::string& name) { return name + "-" + std::to_string(++uids_); }

  // ---- watching ----------------------------------------------------------------------------------------------------------------

  [[nodiscard]] bool all_told() const { return waiting_.empty() && again_.empty(); }
  /// The next version of some object. With `faults` sometimes only its newest one (a watch was cut and resumed), sometimes the last few
  /// observations once more in their order (an append of which nobody knows whether it worked is done again).
  [[nodiscard]] std::optional<OwnedObservation> watch(Random& random, bool faults);
  /// Has the watcher been told of this object's newest version?
  [[nodiscard]] bool is_told(const std::string& key) const { return !waiting_.contains(key); }

  static std::string key_of(const Job& j) { return "job/" + j.uid; }
  static std::string key_of(const Workload& w) { return "workload/" + w.uid; }

 private:
  void enqueue(const std::string& key, OwnedObservation o) { waiting_[key].push_back(std::move(o)); }
  void gone(const std::string& key, ObjectKind kind, const std::string& namespace_, const std::string& name, const std::string& uid);

  std::map<std::string, std::deque<OwnedObservation>> waiting_;  ///< By object.
  std::deque<OwnedObservation> told_;                            ///< The last ones.
  std::set<std::string, std::less<>> unseen_;  ///< Uids of Workloads that were made by intents, of which nothing was told yet.
  std::deque<OwnedObservation> again_;         ///< To be told once more.
  [[nodiscard]] std::string config_uid(const std::string& key, const std::string& name) const;
  [[nodiscard]] ObjectMeta config_meta(Arena& a, const std::string& key, const std::string& namespace_, const std::string& name);
  void config_gone(const std::string& key, ObjectKind kind, const std::string& namespace_, const std::string& name);

  std::map<std::string, int> lives_;  ///< How often an object of the configuration was made again.
  std::uint64_t versions_ = 0, uids_ = 0;
};

}  // namespace hindsight::explorer
