#include "projections/history.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "admission/domain.hpp"
#include "events/decision_fields.hpp"
#include "projections/format.hpp"
#include "projections/history_words.hpp"

namespace hindsight::projections {
namespace {

using admission::CheckStatus;
using admission::Condition;
using admission::JobState;
using events::api_name;

std::string text(Symbol s) { return std::string(s.text()); }
std::string object_of(const WorkloadState& w) { return "Workload " + full_name(w.namespace_.text(), w.name); }
std::string object_of(const JobState& j) { return text(j.kind) + " " + full_name(j.namespace_.text(), j.name); }

std::string in_brackets(Symbol reason, const std::string& message) { return ": " + text(reason) + (message.empty() ? "" : ", " + message); }

bool same(const Condition& a, const Condition& b) { return a.status == b.status && a.reason == b.reason && a.message == b.message; }

/// Is the record of a kind that can take the workload out of its queue, or put it in, without naming it?
bool may_move(const RecordView& record) {
  if (const auto* o = std::get_if<Observation>(&record.body)) {
    return std::holds_alternative<LocalQueueObserved>(*o) || std::holds_alternative<ClusterQueueObserved>(*o) ||
           std::holds_alternative<ObjectDeleted>(*o);
  }
  const auto* d = std::get_if<Decisions>(&record.body);
  return d != nullptr && std::any_of(d->events.begin(), d->events.end(), [](const Event& e) {
           const auto* r = std::get_if<EntryRequeued>(&e);
           return std::holds_alternative<TreeReactivated>(e) || (r != nullptr && r->bulk_parked > 0);
         });
}

}  // namespace

History::Known History::look(const StateView& state, std::string_view workload_uid, std::string_view job_uid) const {
  Known out;
  const WorkloadAt at = workload_uid.empty() ? WorkloadAt{} : find_by_uid(state, workload_uid);
  if (at.workload != nullptr) out.workload = *at.workload;
  const auto index = job_uid.empty() ? std::nullopt : state.domain().find_parent(job_uid);
  const auto* parent = index ? state.parent(*index) : nullptr;
  if (parent != nullptr && parent->job() && parent->job()->uid == job_uid) out.job = parent->job();
  return out;
}

void History::before(const RecordView& record, const StateView& state) {
  concerned_ = mentions_.concerns(record);
  may_move_ = !concerned_ && !mentions_.latest_workload().empty() && may_move(record);
  if (concerned_) was_ = look(state, mentions_.latest_workload(), mentions_.latest_job());
  place_.reset();
  if (!may_move_) return;
  const WorkloadAt at = find_by_uid(state, mentions_.latest_workload());
  if (at.workload != nullptr) place_ = place_of(state, at);
}

void History::after(std::uint64_t offset, const RecordView& record, const StateView& state) {
  const Envelope& e = record.envelope;
  blank_ = {offset, e.sequence, e.epoch, e.time, false, e.cause, {}, {}, {}, false};
  if (may_move_) moved(state);
  if (!concerned_) return;
  const Known now = look(state, mentions_.latest_workload(), mentions_.latest_job());
  if (const auto* o = std::get_if<Observation>(&record.body)) observed(*o, now, state);
  if (const auto* d = std::get_if<Decisions>(&record.body)) {
    blank_.decided = true;
    blank_.cause = d->base;
    decided(*d, now);
  }
}

void History::say(std::string object, std::string kind, std::string what, bool is_void) {
  HistoryEntry& e = entries_.emplace_back(blank_);
  e.object = std::move(object);
  e.kind = std::move(kind);
  e.text = std::move(what);
  e.void_ = is_void;
}

// ---- observations -----------------------------------------------------------------------------------------------------------------

void History::observed(const Observation& o, const Known& now, const StateView& state) {
  if (const auto* refused = std::get_if<WriteRefused>(&o)) {
    const std::string status = refused->http_status == 0 ? "" : " (HTTP " + std::to_string(refused->http_status) + ")";
    say(std::string(api_name(refused->kind)) + " " + full_name(refused->namespace_, refused->name), "writeRefused",
        "a write was refused" + status + ": " + std::string(refused->message));
  }
  compare_jobs(now);
  compare_workloads(now, state);
}

void History::compare_jobs(const Known& now) {
  if (!was_.job && !now.job) return;
  if (!now.job) return say(object_of(*was_.job), "jobDeleted", "deleted");
  const JobState& j = *now.job;
  const std::string object = object_of(j);
  if (!was_.job) {
    say(object, "jobCreated",
        "created" + (j.queue_name.empty() ? std::string() : " for LocalQueue " + text(j.queue_name)) +
            (j.suspended ? ", suspended: " : ", not suspended: ") + pod_set_words(j.pod_sets));
    return;
  }
  const JobState& b = *was_.job;
  if (b.queue_name != j.queue_name) say(object, "jobQueue", "LocalQueue " + text(b.queue_name) + " -> " + text(j.queue_name));
  if (b.priority_class != j.priority_class)
    say(object, "jobPriorityClass", "priority class " + text(b.priority_class) + " -> " + text(j.priority_class));
  if (pod_set_words(b.pod_sets) != pod_set_words(j.pod_sets)) say(object, "jobPodSets", "pod sets: " + pod_set_words(j.pod_sets));
  if (b.suspended != j.suspended) say(object, j.suspended ? "suspended" : "started", j.suspended ? "suspended" : "started");
  if (b.active != j.active) say(object, j.active ? "active" : "inactive", j.active ? "pods are active" : "no pod is active");
  if (b.pods_ready != j.pods_ready)
    say(object, j.pods_ready ? "podsReady" : "podsNotReady", j.pods_ready ? "all pods are ready" : "pods are not ready");
  if (b.on_hold != j.on_hold) say(object, j.on_hold ? "onHold" : "offHold", j.on_hold ? "put on hold" : "taken off hold");
  if (b.scheduling_gated_by != j.scheduling_gated_by)
    say(object, "gate", j.scheduling_gated_by.empty() ? "scheduling gate taken away" : "scheduling gated by " + j.scheduling_gated_by);
  if (b.deleting != j.deleting) say(object, "jobDeleting", "is being deleted");
  if (b.finished != j.finished) {
    say(object, "jobFinished",
        std::string(j.succeeded ? "succeeded" : "failed") + (j.finish_message.empty() ? "" : ": " + j.finish_message));
  }
}

void History::compare_workloads(const Known& now, const StateView& state) {
  if (!was_.workload && !now.workload) return;
  if (!now.workload) return say(object_of(*was_.workload), "deleted", "deleted");
  const WorkloadState& w = *now.workload;
  const std::string object = object_of(w);
  if (!was_.workload) {
    const Symbol queue = queue_of(state, w);
    say(object, "created",
        "created in LocalQueue " + text(w.queue_name) + (queue.empty() ? " (which does not exist)" : " of ClusterQueue " + text(queue)) +
            ", priority " + std::to_string(w.effective_priority(state.domain().catalog()->settings)) + ": " + pod_set_words(w.pod_sets));
    return;
  }
  const WorkloadState& b = *was_.workload;
  if (b.queue_name != w.queue_name) say(object, "queue", "LocalQueue " + text(b.queue_name) + " -> " + text(w.queue_name));
  if (b.priority != w.priority || b.priority_boost != w.priority_boost) {
    const auto& settings = state.domain().catalog()->settings;
    say(object, "priority",
        "priority " + std::to_string(b.effective_priority(settings)) + " -> " + std::to_string(w.effective_priority(settings)));
  }
  if (pod_set_words(b.pod_sets) != pod_set_words(w.pod_sets)) say(object, "podSets", "pod sets: " + pod_set_words(w.pod_sets));
  if (b.active != w.active) say(object, w.active ? "activated" : "deactivated", w.active ? "set active" : "set inactive");
  if (b.admission_gated_by != w.admission_gated_by) {
    say(object, "gate", w.admission_gated_by.empty() ? "admission gate taken away" : "admission gated by " + w.admission_gated_by);
  }
  if (b.deleting != w.deleting) say(object, "deleting", "is being deleted");
  if (b.admission.has_value() != w.admission.has_value()) {
    say(object, w.admission ? "admissionSet" : "admissionCleared",
        w.admission ? "admission set to ClusterQueue " + text(w.admission->cluster_queue) : "admission cleared");
  }
  for (const auto& c : w.conditions) {
    const auto* before = b.find(c.type);
    if (before != nullptr && same(*before, c)) continue;
    const bool finished = c.type == ConditionType::finished && c.is_true();
    say(object, finished ? "finished" : "condition",
        (finished ? std::string("finished") : std::string(api_name(c.type)) + "=" + std::string(api_name(c.status))) +
            in_brackets(c.reason, c.message));
  }
  for (const auto& c : b.conditions)
    if (w.find(c.type) == nullptr) say(object, "condition", std::string(api_name(c.type)) + " taken away");
  for (const auto& c : w.checks) {
    const auto before = std::find_if(b.checks.begin(), b.checks.end(), [&](const CheckStatus& x) { return x.name == c.name; });
    if (before != b.checks.end() && before->state == c.state && before->message == c.message) continue;
    say(object, "check", "check " + text(c.name) + " is " + std::string(api_name(c.state)) + (c.message.empty() ? "" : ": " + c.message));
  }
  if (b.reclaimable != w.reclaimable) {
    std::vector<std::string> counts;
    for (const auto& [pod_set, n] : w.reclaimable) counts.push_back(text(pod_set) + " " + std::to_string(n));
    say(object, "reclaimable", "reclaimable pods: " + (counts.empty() ? std::string("none") : joined(counts)));
  }
}

// ---- decisions ----------------------------------------------------------------------------------------------------------------------

void History::decided(const Decisions& d, const Known& now) {
  // the hash leaves out what no reader cares for but takes in the number of the decision: compare without it
  const auto essence = [](const Known& k) {
    if (!k.workload) return std::uint64_t{0};
    WorkloadState w = *k.workload;
    w.last_decision = w.resolve_since = 0;
    return w.hash();
  };
  const bool changed = essence(was_) != essence(now) || was_.job.has_value() != now.job.has_value();
  for (const Event& e : d.events) {
    if (!mentions_.concerns(e)) continue;
    const auto* p = std::get_if<WorkloadPreempted>(&e);
    const auto* r = std::get_if<SliceReplaced>(&e);
    const bool as_preemptor =
        (p != nullptr && !mentions_.knows_workload(p->workload.uid)) || (r != nullptr && r->replacement.uid == mentions_.latest_workload());
    auto words = words_for(e, as_preemptor);
    std::string object = now.workload ? object_of(*now.workload) : now.job ? object_of(*now.job) : std::string();
    if (std::holds_alternative<WorkloadRequested>(e) && now.job) object = object_of(*now.job);
    const bool is_void = words.writes && !changed;
    if (is_void) words.text += " (without effect: it had moved on)";
    say(std::move(object), std::move(words.kind), std::move(words.text), is_void);
  }
}

/// What records about others did to its place in the queue.
void History::moved(const StateView& state) {
  const WorkloadAt at = find_by_uid(state, mentions_.latest_workload());
  if (at.workload == nullptr) return;
  const auto now = place_of(state, at);
  const std::string object = object_of(*at.workload);
  if (place_ && !now && !at.workload->reserved()) return say(object, "leftQueue", "taken out of ClusterQueue " + text(place_->queue));
  if (!place_ && now) return say(object, "enteredQueue", "queued in ClusterQueue " + text(now->queue));
  if (!place_ || !now) return;
  if (place_->queue != now->queue)
    return say(object, "enteredQueue", "queued in ClusterQueue " + text(now->queue) + " instead of " + text(place_->queue));
  if (place_->parked && !now->parked)
    return say(object, "woken", "back in line: something changed in the cohort tree of " + text(now->queue));
  if (!place_->parked && now->parked && !now->equal_to.empty()) {
    say(object, "parked", "parked together with " + now->equal_to + ", which is equal: " + now->record_reason);
  }
}

Json to_json(const HistoryEntry& e) {
  Json out{{"offset", e.offset}, {"sequence", e.sequence}, {"epoch", e.epoch}};
  if (e.time.is_set()) out["time"] = format_rfc3339_micro(e.time);
  out["source"] = e.decided ? "decided" : "observed";
  if (e.cause != 0) out[e.decided ? "base" : "cause"] = e.cause;
  out["object"] = e.object;
  out["kind"] = e.kind;
  out["text"] = e.text;
  if (e.void_) out["void"] = true;
  return out;
}

}  // namespace hindsight::projections
