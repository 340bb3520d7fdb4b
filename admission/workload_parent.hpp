#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "admission/messages.hpp"
#include "admission/workload_state.hpp"

namespace hindsight::admission {

/// A job as its integration reported it last.
struct JobState {
  std::string uid, name;
  Symbol kind, group, namespace_;
  std::uint64_t resource_version = 0;
  std::int64_t generation = 0;
  bool deleting = false;
  Symbol queue_name, priority_class, pod_priority_class;
  std::string prebuilt_workload;
  std::int32_t max_exec_seconds = 0;
  bool suspended = false, active = false, pods_ready = false, stopping = false, finished = false, succeeded = false, on_hold = false,
       managed = true;
  std::string finish_message, admission_gated_by, workload_name;
  std::vector<PodSetSpec> pod_sets;
  std::vector<std::pair<Symbol, std::int32_t>> reclaimable;
  std::string start_error;            ///< Why the job cannot be started as assigned; permanent (base-api §7.1).
  bool removal_pending = false;       ///< It was decided that the job shall be deleted.
  std::uint64_t requested_since = 0;  ///< Sequence of a WorkloadRequested whose object has not been seen; 0: none.

  [[nodiscard]] std::uint64_t hash() const;
  /// Only of what others than we change: a job that starts and stops because we say so is no news (D10).
  [[nodiscard]] std::uint64_t outside_hash() const;
};

/// The actor that stands for a job through resizes, evictions and restarts, or for a Workload that no job owns. It owns the life
/// cycle (base-admission §8, base-api §6.3 and §7.1): the job's state and its Workload objects.
class WorkloadParent final : public Entity {
 public:
  explicit WorkloadParent(Address self) : self_(self) {}

  void receive(Message& message, const Context& context, Outbox& out) override;

  /// What the objects of this parent should look like; only those that differ from what was seen.
  void collect_intents(const Context& context, std::vector<Intent>& out) const;

  [[nodiscard]] const std::optional<JobState>& job() const { return job_; }
  [[nodiscard]] const std::vector<WorkloadState>& workloads() const { return workloads_; }
  [[nodiscard]] bool empty() const { return !job_ && workloads_.empty(); }
  /// The job runs although it has a managed ancestor whose Workload is not admitted: it is to be suspended (BA-171).
  [[nodiscard]] bool runs_before_its_ancestor() const {
    return job_ && child_ && !ancestor_runs_ && !job_->suspended && !job_->finished && !job_->deleting;
  }
  /// The job waits for a WorkloadPriorityClass that does not exist, and has no Workload because of it (base-api §7.1).
  [[nodiscard]] bool lacks_priority_class(const Catalog& catalog) const;
  [[nodiscard]] std::uint64_t hash() const;

  /// For snapshots: the state whole, and back. After `restore` the parent announces itself to its queues on the next Refresh.
  struct Image {
    std::optional<JobState> job;
    std::vector<WorkloadState> workloads;
  };
  [[nodiscard]] Image image() const { return {job_, workloads_}; }
  void restore(Image image);

 private:
  /// Where a Workload stands in the queues; follows from its state and the catalog.
  struct Placement {
    enum class Kind : std::uint8_t { none, pending, reserving } kind = Kind::none;
    Symbol queue;
    std::shared_ptr<const WorkloadInfo> info;
    bool admitted = false;
    Symbol record_reason;    ///< Set while parked by a hash record.
    bool not_ready = false;  ///< As the domain was told (BA-76).
    friend class WorkloadParent;
  };

  // applying
  void apply_job(const JobObserved& o, const Context& c, Outbox& out);
  void apply_workload(const WorkloadObserved& o, WorkloadId id, const Context& c, Outbox& out);
  void apply_event(const Event& e, WorkloadId id, const Context& c, Outbox& out);
  void remove_workload(std::size_t index, const Context& c, Outbox& out);
  /// Tells the queues what changed since `publish` was called last. `touched`: the stored copy is replaced in any case.
  struct Publish {
    bool repush = false, force = false, touched = false;
    bool assumed = false;  ///< The reservation was just decided.
  };
  void publish(std::size_t index, Publish how, const Context& c, Outbox& out);
  void announce_due(const Context& c, Outbox& out);
  void request_reactivation(const WorkloadState& w, const Context& c, Outbox& out) const;

  // deciding (workload_reconcile.cpp, job_reconcile.cpp)
  void reconcile(const Context& c, Proposal& p) const;
  [[nodiscard]] bool reconcile_job(const Context& c, Proposal& p) const;
  void reconcile_workload(std::size_t index, const Context& c, Proposal& p) const;
  [[nodiscard]] bool resolve_pending(const WorkloadState& w, const Placement& at, const Context& c, Proposal& p) const;
  [[nodiscard]] bool reconcile_reserved(const WorkloadState& w, const Context& c, Proposal& p) const;
  [[nodiscard]] bool sync_checks(const WorkloadState& w, const Context& c, Proposal& p) const;
  [[nodiscard]] Time next_due(const Context& c) const;
  [[nodiscard]] const WorkloadState* running_workload() const;
  /// The priority class that the job's Workload gets (base-api §7.1); `known` is false for a missing WorkloadPriorityClass.
  struct Priority {
    bool known = true;
    std::int32_t value = 0;
    PriorityClassKind kind = PriorityClassKind::none;
    Symbol name;
  };
  [[nodiscard]] Priority job_priority(const Catalog& catalog) const;
  /// Is the job looked after, or does its namespace keep it out (BA-172)?
  [[nodiscard]] bool managed(const Catalog& catalog) const { return job_->managed && catalog.manages_jobs_in(job_->namespace_); }
  /// When the job is to be deleted because its Workload was deactivated by us (BA-148); never: not at all.
  [[nodiscard]] static Time job_retained_until(const WorkloadState& w, const Settings& settings);
  [[nodiscard]] JobRef job_ref(Arena& arena) const;
  [[nodiscard]] JobIntent job_intent() const;
  void tell_runs(Outbox& out);
  void tell_not_ready(std::size_t index, bool not_ready, Outbox& out);
  [[nodiscard]] static bool wants_class(const WorkloadState& w, const Priority& priority);
  [[nodiscard]] bool matches_job(const WorkloadState& w) const;

  Address self_;
  std::optional<JobState> job_;
  std::vector<WorkloadState> workloads_;
  std::vector<Placement> placements_;  ///< Parallel to workloads_.
  Time announced_due_;
  // What the domain says of ancestors and descendants (BA-171); it says so again after a snapshot was read.
  bool child_ = false;          ///< The job has a managed ancestor.
  bool ancestor_runs_ = false;  ///< Whose Workload is admitted.
  bool watched_ = false;        ///< Other jobs descend from this one.
  bool told_runs_ = false;
};

}  // namespace hindsight::admission
