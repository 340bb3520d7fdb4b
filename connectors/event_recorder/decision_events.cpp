#include "connectors/event_recorder/decision_events.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <variant>

#include "admission/domain/domain.hpp"
#include "admission/workload/workload_parent.hpp"
#include "connectors/objects/resource_types.hpp"

namespace hindsight::connectors {
namespace {

using kubernetes::KubernetesEvent;

/// Who reports what becomes of Options (8691 §2.9).
constexpr std::string_view family_reporter = "concurrent-admission-controller";

/// Events of type Warning (W in base-api §8.1), beside the reasons of QuotaReserved=False that the scheduler writes.
constexpr std::array<std::string_view, 10> warnings{"AdmissionCheckRejected",    "MaximumExecutionTimeExceeded",
                                                    "SecondPassFailed",          "FailedCreate",
                                                    "ErrWorkloadCompose",        "JobNestingTooDeep",
                                                    "SchedulingGateIgnored",     "WorkloadPriorityClassNotFound",
                                                    "ResourceUpdateUnsupported", "ResourceUpdateRejected"};

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string out;
  for (const auto part : parts) out.append(part);
  return out;
}

/// As Kueue prints spans: whole seconds, rounded half to even.
std::string seconds_between(Time from, Time to) {
  const double seconds = static_cast<double>(std::max<std::int64_t>(0, (to - from).micros)) / 1e6;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.0f", seconds);
  return text.data();
}

std::string priorities(const WorkloadFacts& preemptor, const WorkloadFacts& victim) {
  const auto of = [](const WorkloadFacts& w) {
    return joined({"effective priority: ", std::to_string(w.priority), " (base: ", std::to_string(w.priority - w.boost),
                   ", boost: ", std::to_string(w.boost), ")"});
  };
  return joined({"; preemptor ", of(preemptor), "; preemptee ", of(victim)});
}

KubernetesEvent event_about(const ResourceType* type, std::string namespace_, std::string name, std::string uid, std::string_view reason,
                            std::string message, Time now) {
  KubernetesEvent event;
  event.type = type;
  event.namespace_ = std::move(namespace_);
  event.name = std::move(name);
  event.uid = std::move(uid);
  event.is_warning = std::find(warnings.begin(), warnings.end(), reason) != warnings.end();
  event.reason = reason;
  event.message = std::move(message);
  event.first = event.last = now;
  return event;
}

class Translator {
 public:
  Translator(Time now, const FactSource& facts, std::vector<KubernetesEvent>& out) : now_(now), facts_(facts), out_(out) {}

  // ---- the job and its Workload

  void operator()(const WorkloadRequested& e) {
    about(e.job, "CreatedWorkload", joined({"Created Workload: ", e.job.namespace_, "/", e.name}));
  }

  void operator()(const WorkloadRevised& e) {
    if (e.pod_sets) about(e.job, "UpdatedWorkload", joined({"Updated not matching Workload for suspended job: ", key(e.workload)}));
  }

  void operator()(const WorkloadRemoved& e) {
    const auto w = facts_(e.workload.uid);
    if (!w) return;
    if (!e.parent.uid.empty()) return about_family(e.parent, "DeletedVariant", std::string(e.message));
    if (!e.job.uid.empty()) return about(e.job, "Deleted", std::string(e.message));
    if (w->finished) return about(e.workload, "Deleted", std::string(e.message));  // Its time of retention is over (§8.9).
    if (!w->job) return;
    if (!w->job->suspended) about(*w->job, "Stopped", std::string(e.message));
    about(*w->job, "DeletedWorkload", joined({"Deleted not matching Workload: ", key(e.workload)}));
  }

  void operator()(const JobStopped& e) { about(e.job, "Stopped", std::string(e.message)); }

  void operator()(const WorkloadFinished& e) {
    const auto w = facts_(e.workload.uid);
    if (w && w->job) about(*w->job, "FinishedWorkload", joined({"Workload '", key(e.workload), "' is declared finished"}));
  }

  // ---- admission

  void operator()(const QuotaReserved& e) {
    const auto w = facts_(e.workload.uid);
    if (!w || !w->reserved || w->cluster_queue != e.cluster_queue || w->reserved_at != now_) return;
    const Time queued = w->requeued_at.is_set() ? w->requeued_at : w->created;
    about(
        e.workload, "QuotaReserved",
        joined({"Quota reserved in ClusterQueue ", e.cluster_queue, ", wait time since queued was ", seconds_between(queued, now_), "s"}));
    if (!e.plan.empty() && w->job) about(*w->job, "ResourcesAdjusted", joined({"Resources adjusted at admission: ", sizes(e.plan)}));
    if (e.admitted) admitted(e.workload, *w);
  }

  void operator()(const WorkloadAdmitted& e) {
    const auto w = facts_(e.workload.uid);
    if (w && w->admitted && w->admitted_at == now_) admitted(e.workload, *w);
  }

  void operator()(const EntryRequeued& e) {
    if (!e.write_status || e.reason.empty()) return;
    const auto w = facts_(e.workload.uid);
    if (!w || w->finished || !w->active || w->reserved) return;
    about(e.workload, e.reason, std::string(e.message));
    out_.back().is_warning = true;  // BA-67
  }

  void operator()(const ReservationCleared& e) {
    const auto w = facts_(e.workload.uid);
    if (w && w->job && e.resources_restored) about(*w->job, "ResourcesRestored", "Resources are again as the job was made with");
  }

  void operator()(const SizingBarred& e) {
    if (!e.barred) return;
    about(e.job, e.unsupported ? "ResourceUpdateUnsupported" : "ResourceUpdateRejected", std::string(e.message));
  }

  void operator()(const SliceReplaced& e) {
    const auto w = facts_(e.workload.uid);
    if (!w || !w->finished) return;
    about(e.workload, "WorkloadSliceReplaced", std::string(e.message));
    out_.back().action = "Replaced";  // 77 §2.6
  }

  // ---- eviction

  void operator()(const WorkloadPreempted& e) {
    const auto victim = facts_(e.workload.uid);
    if (!victim || !victim->evicted || victim->evicted_at != now_) return;
    evicted(e.workload, *victim, "EvictedDueToPreempted", e.message);
    const auto preemptor = facts_(e.preemptor.uid);
    if (!preemptor) return about(e.workload, "Preempted", std::string(e.message));
    const std::string both = priorities(*preemptor, *victim);
    about(e.workload, "Preempted", joined({e.message, both}));
    about(e.preemptor, "PreemptedWorkload",
          joined({"Preempted workload ", key(e.workload), " (UID: ", e.workload.uid, ") in ClusterQueue ", victim->cluster_queue, both}));
  }

  void operator()(const WorkloadEvicted& e) {
    const auto w = facts_(e.workload.uid);
    // Evicted while pending: the condition says enough (§8.2).
    if (!w || w->finished || !w->reserved) return;
    const bool caused = e.reason == "Deactivated" && !e.cause.empty();
    evicted(e.workload, *w, joined({"EvictedDueTo", e.reason, caused ? "DueTo" : "", caused ? e.cause : ""}), e.message);
  }

  void operator()(const ConditionChanged& e) {
    const auto w = facts_(e.workload.uid);
    if (!w || w->finished || e.remove) return;
    if (e.type == ConditionType::deactivation_target && e.status == ConditionStatus::true_) {
      if (e.reason == "AdmissionCheck") about(e.workload, "AdmissionCheckRejected", joined({"Deactivated due to ", e.message}));
      if (e.reason == "MaximumExecutionTimeExceeded")
        about(e.workload, "MaximumExecutionTimeExceeded",
              joined({"The maximum execution time (", std::to_string(w->max_exec_seconds), "s) exceeded"}));
    }
  }

  // ---- gates (6915 §2.3, §2.4)

  void operator()(const GateChanged& e) {
    if (e.contract == GateContract::scheduling) return scheduling_gate(e);
    const bool cleared = e.change == GateChange::cleared;
    if (e.change != GateChange::observed && !e.job.uid.empty())
      about(e.job, "UpdatedWorkload", joined({"Updated workload AdmissionGatedBy to \"", cleared ? Text() : e.value, "\""}));
    if (e.change == GateChange::observed) about(e.workload, "AdmissionGated", joined({"Workload admission is gated by: ", e.value}));
    if (cleared) about(e.workload, "AdmissionGateCleared", "Admission gate cleared, workload is now admissible");
  }

  // ---- families of concurrent admission (8691 §2.9)

  void operator()(const OptionRequested& e) {
    if (!facts_(e.workload.uid)) return;
    about_family(e.workload, "CreatedVariant", joined({"Variant Workload \"", e.workload.namespace_, "/", e.name, "\" created"}));
  }

  void operator()(const OptionSwitched& e) {
    const auto w = facts_(e.workload.uid);
    if (!w || w->active != e.active) return;
    about_family(e.workload, e.active ? "ActivatedVariant" : "DeactivatedVariant", std::string(e.message));
  }

  void operator()(const PreemptionGateChanged& e) {
    if (!e.open || !facts_(e.workload.uid)) return;
    about_family(e.workload, "PreemptionUngatedVariant", joined({"Opened preemption gate for variant workload \"", key(e.workload), "\""}));
  }

  void operator()(const OptionAdmitted& e) {
    const auto w = facts_(e.workload.uid);
    if (!w || !w->admitted || w->admitted_at != now_) return;
    about(e.workload, "Admitted", joined({"The variant ", e.option.name, " is admitted"}));
    started(*w);
  }

  // Of the Options the events tell, and conditions of the rest; the eviction of the one that gives way has an event of its own.
  void operator()(const FamilyFormed&) {}
  void operator()(const FamilyDissolved&) {}
  void operator()(const FamilyReset&) {}
  void operator()(const OptionAdopted&) {}
  void operator()(const MigrationStarted&) {}

  // ---- what is seen in conditions and fields, or concerns no single object
  void operator()(const PodsReleased&) {}
  void operator()(const PodsPlaced&) {}
  void operator()(const NodesUnhealthy&) {}
  void operator()(const TopologyReassigned&) {}  // no second Admitted (TAS-98)
  void operator()(const TopologyAssigned&) {}    // Admitted follows
  void operator()(const SecondPassFailed& e) { about(e.workload, "SecondPassFailed", std::string(e.message)); }
  void operator()(const PodsFailed& e) {
    for (const PodRef& pod : e.pods) {
      about(JobRef{pod.uid, "Pod", "", pod.namespace_, pod.name}, "PodTerminatedByKueue", pod_failed_message);
      if (!out_.empty()) out_.back().action = "PodTerminated";
    }
  }
  void operator()(const WorkloadDeactivated&) {}
  void operator()(const ChecksChanged&) {}
  void operator()(const RequeueStateChanged&) {}
  void operator()(const ReclaimableChanged&) {}
  void operator()(const ExecutionTimeReset&) {}
  void operator()(const TreeReactivated&) {}

 private:
  static std::string sizes(List<PlannedAmount> plan) {
    std::string out;
    for (const auto& p : plan)
      out += joined({out.empty() ? "" : ", ", "container ", p.container, " ", p.resource, " ", format_amount(p.original, p.resource),
                     " -> ", format_amount(p.amount, p.resource)});
    return out;
  }
  static std::string key(const WorkloadRef& w) { return joined({w.namespace_, "/", w.name}); }

  void about(const WorkloadRef& w, std::string_view reason, std::string message) {
    out_.push_back(workload_event(w, reason, std::move(message), now_));
  }
  void about_family(const WorkloadRef& w, std::string_view reason, std::string message) {
    about(w, reason, std::move(message));
    out_.back().component = family_reporter;
  }
  void about(const JobRef& job, std::string_view reason, std::string message) {
    auto event = job_event(job, reason, std::move(message), now_);
    if (event.type != nullptr) out_.push_back(std::move(event));
  }
  void about(const JobFacts& job, std::string_view reason, std::string message) {
    about(JobRef{.uid = job.uid, .kind = job.kind, .group = job.group, .namespace_ = job.namespace_, .name = job.name}, reason,
          std::move(message));
  }

  void scheduling_gate(const GateChanged& e) {
    switch (e.change) {
      case GateChange::observed:
        return about(e.job, "SchedulingGated", joined({"Workload creation is gated by: ", e.value}));
      case GateChange::cleared:
        return about(e.job, "SchedulingGateCleared", "Scheduling gate cleared");
      case GateChange::ignored:
        return about(e.job, "SchedulingGateIgnored", joined({"The job has a Workload already; its scheduling gate is ignored: ", e.value}));
      case GateChange::shrunk:
        return;
    }
  }

  void admitted(const WorkloadRef& ref, const WorkloadFacts& w) {
    about(ref, "Admitted",
          joined({"Admitted by ClusterQueue ", w.cluster_queue, ", wait time since reservation was ", seconds_between(w.reserved_at, now_),
                  "s"}));
    started(w);
  }

  /// A job that grows runs already, and its new slice starts nothing (EJ-5).
  void started(const WorkloadFacts& w) {
    if (w.job && w.job->suspended) about(*w.job, "Started", joined({"Admitted by clusterQueue ", w.cluster_queue}));
  }

  void evicted(const WorkloadRef& ref, const WorkloadFacts& w, std::string_view reason, std::string_view message) {
    about(ref, reason, std::string(message));
    // A job that was never admitted is suspended still, and nothing is stopped.
    if (w.job && w.admitted) about(*w.job, "Stopped", std::string(message));
  }

  Time now_;
  const FactSource& facts_;
  std::vector<KubernetesEvent>& out_;
};

}  // namespace

std::vector<KubernetesEvent> decision_events(const Decisions& decisions, Time now, const FactSource& facts) {
  std::vector<KubernetesEvent> out;
  Translator translator(now, facts, out);
  for (const auto& event : decisions.events) std::visit(translator, event);
  return out;
}

namespace {

std::vector<KubernetesEvent> job_events(const JobObserved& o, const admission::StateView& state) {
  std::vector<KubernetesEvent> out;
  const auto index = state.domain().find_parent(o.meta.uid);
  const auto* parent = index ? state.parent(*index) : nullptr;
  if (parent == nullptr || !parent->job() || parent->job()->resource_version != o.meta.resource_version) return out;  // told late
  const JobRef job{o.meta.uid, o.kind, o.group, o.meta.namespace_, o.meta.name};
  const auto add = [&](std::string_view reason, std::string message) {
    if (auto event = job_event(job, reason, std::move(message), state.domain().now()); event.type != nullptr)
      out.push_back(std::move(event));
  };
  if (parent->lacks_priority_class(*state.domain().catalog()))
    add("WorkloadPriorityClassNotFound", joined({"WorkloadPriorityClass ", o.priority_class, " not found"}));
  if (state.domain().nested_too_deep(*index))
    add("JobNestingTooDeep", "Terminated the search for a managed ancestor because the job has more than 10 owners above it");
  if (parent->runs_before_its_ancestor()) add("Suspended", "Suspended because the workload of its managed ancestor is not admitted");
  return out;
}

/// What a job waits for that has quota and is held by its admission checks.
std::vector<KubernetesEvent> workload_events(const WorkloadObserved& o, const admission::StateView& state) {
  const auto index = state.domain().find_parent(o.meta.uid);
  const auto* parent = index ? state.parent(*index) : nullptr;
  if (parent == nullptr || !parent->job() || !parent->job()->suspended) return {};
  const auto& all = parent->workloads();
  const auto w = std::find_if(all.begin(), all.end(), [&](const auto& x) { return x.uid == o.meta.uid; });
  if (w == all.end() || w->resource_version != o.meta.resource_version || !w->reserved() || w->admitted() || w->finished()) return {};
  std::string message;
  for (const auto& check : w->checks)
    if (check.state == CheckState::pending && !check.message.empty())
      message += joined({message.empty() ? "" : "; ", check.name.text(), ": ", check.message});
  if (message.empty()) return {};
  const auto& job = *parent->job();
  auto event = job_event({job.uid, job.kind.text(), job.group.text(), job.namespace_.text(), job.name}, "UpdatedAdmissionCheck",
                         std::move(message), state.domain().now());
  if (event.type == nullptr) return {};
  return {std::move(event)};
}

/// What was set aside has a condition at most where it is a Workload or a queue: an Event tells its owner, whatever it is.
std::vector<KubernetesEvent> quarantine_events(const ObjectQuarantined& o, const admission::StateView& state) {
  std::vector<KubernetesEvent> out;
  const auto type =
      std::find_if(all_resource_types.begin(), all_resource_types.end(), [&](const auto* t) { return t->kind == o.api_kind; });
  if (o.lifted || type == all_resource_types.end() || !state.domain().quarantined().contains(o.uid)) return out;
  out.push_back(event_about(*type, std::string(o.namespace_), std::string(o.name), std::string(o.uid), "Quarantined",
                            joined({"Set aside: ", o.reason}), state.domain().now()));
  out.back().is_warning = true;
  return out;
}

}  // namespace

std::vector<KubernetesEvent> record_events(const RecordView& record, const admission::StateView& state) {
  if (const auto* o = std::get_if<Observation>(&record.body)) {
    if (const auto* q = std::get_if<ObjectQuarantined>(o)) return quarantine_events(*q, state);
    if (const auto* w = std::get_if<WorkloadObserved>(o)) return workload_events(*w, state);
    const auto* job = std::get_if<JobObserved>(o);
    return job == nullptr ? std::vector<KubernetesEvent>{} : job_events(*job, state);
  }
  const auto* decisions = std::get_if<Decisions>(&record.body);
  if (decisions == nullptr || !state.domain().took_decision()) return {};
  return decision_events(*decisions, state.domain().now(), facts_of(state));
}

KubernetesEvent job_event(const JobRef& job, std::string_view reason, std::string message, Time now) {
  return event_about(find_resource_type(job.kind, job.group), std::string(job.namespace_), std::string(job.name), std::string(job.uid),
                     reason, std::move(message), now);
}

KubernetesEvent workload_event(const WorkloadRef& workload, std::string_view reason, std::string message, Time now) {
  return event_about(&types::workload, std::string(workload.namespace_), std::string(workload.name), std::string(workload.uid), reason,
                     std::move(message), now);
}

}  // namespace hindsight::connectors
