#include "projections/history.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "admission/domain/domain.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "events/decision_fields.hpp"
#include "events/json.hpp"
#include "projections/families.hpp"
#include "projections/format.hpp"
#include "projections/history_words.hpp"

namespace hindsight::projections {
namespace {

using admission::CheckStatus;
using admission::Condition;
using admission::JobState;
using events::api_name;

std::string object_of(const WorkloadState& w) { return "Workload " + full_name(w.namespace_.text(), w.name); }
std::string object_of(const JobState& j) { return text(j.kind) + " " + full_name(j.namespace_.text(), j.name); }

std::string in_brackets(Symbol reason, const std::string& message) { return ": " + text(reason) + (message.empty() ? "" : ", " + message); }

bool same(const Condition& a, const Condition& b) { return a.status == b.status && a.reason == b.reason && a.message == b.message; }

/// The Workload that an event is about; one without a uid: it is about the job.
WorkloadRef subject(const Event& event) {
  return std::visit(
      []<class E>(const E& e) {
        if constexpr (requires { e.workload; })
          return e.workload;
        else
          return WorkloadRef{};
      },
      event);
}

/// ", as an Option of default/w for flavor spot"; empty: it is none.
std::string option_words(const StateView& state, const WorkloadState& w) {
  const WorkloadState* parent = parent_of(find_by_uid(state, w.uid));
  if (parent == nullptr) return {};
  return ", as an Option of " + full_name(parent->namespace_.text(), parent->name) + " for " + flavors_words(w.family_facts->allowed);
}

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

const WorkloadState* History::Known::find(std::string_view uid) const {
  const auto it = workloads.find(uid);
  return it == workloads.end() ? nullptr : &it->second;
}

History::Known History::look(const RecordView& record, const StateView& state) const {
  Known out;
  const auto keep = [&](std::string_view uid) {
    if (uid.empty() || out.find(uid) != nullptr) return;
    if (const WorkloadAt at = find_by_uid(state, uid); at.workload != nullptr) out.workloads.emplace(uid, *at.workload);
  };
  for (const auto& uid : mentions_.workloads()) keep(uid);
  if (const auto* d = std::get_if<Decisions>(&record.body))
    for (const Event& e : d->events)
      if (mentions_.concerns(e)) keep(subject(e).uid);
  const std::string& job_uid = mentions_.latest_job();
  const auto index = job_uid.empty() ? std::nullopt : state.domain().find_parent(job_uid);
  const auto* parent = index ? state.parent(*index) : nullptr;
  if (parent != nullptr && parent->job() && parent->job()->uid == job_uid) out.job = parent->job();
  return out;
}

void History::before(const RecordView& record, const StateView& state) {
  concerned_ = mentions_.concerns(record);
  may_move_ = !concerned_ && !mentions_.workloads().empty() && may_move(record);
  if (concerned_) was_ = look(record, state);
  places_.clear();
  if (!may_move_) return;
  for (const auto& uid : mentions_.workloads())
    if (const WorkloadAt at = find_by_uid(state, uid); at.workload != nullptr) places_.emplace(uid, standing_of(state, *at.workload));
}

void History::after(std::uint64_t offset, const RecordView& record, const StateView& state) {
  const Envelope& e = record.envelope;
  blank_ = {offset, e.sequence, e.epoch, e.time, false, e.cause, {}, {}, {}, false};
  for (const auto& [uid, place] : places_) moved(uid, place, state);
  if (const auto* o = std::get_if<Observation>(&record.body))
    if (const auto* q = std::get_if<RecordQuarantined>(o); q != nullptr && passed_over_.contains(q->sequence))
      say("record " + std::to_string(q->position), "recordQuarantined",
          "set aside by " + std::string(q->writer) + ": " + std::string(q->reason));
  if (!concerned_) return;
  const Known now = look(record, state);
  if (const auto* o = std::get_if<Observation>(&record.body)) observed(*o, now, state);
  if (const auto* d = std::get_if<Decisions>(&record.body)) {
    blank_.decided = true;
    blank_.cause = d->base;
    decided(*d, now);
  }
  if (const auto* n = std::get_if<DecisionsNoted>(&record.body)) {
    blank_.noted = true;
    blank_.cause = n->base;
    noted(*n);
  }
}

void History::passed_over(std::uint64_t offset, const RecordView& record) {
  const Envelope& e = record.envelope;
  if (!mentions_.concerns(record)) return;
  passed_over_.insert(e.sequence);
  blank_ = {offset, e.sequence, e.epoch, e.time, std::holds_alternative<Decisions>(record.body), e.cause, {}, {}, {}, false};
  say("record " + std::to_string(offset), "setAside", "was set aside and has no effect: " + events::to_text(record), true);
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
  if (const auto* q = std::get_if<ObjectQuarantined>(&o))
    say(std::string(q->api_kind) + " " + full_name(q->namespace_, q->name), q->lifted ? "quarantineLifted" : "quarantined",
        q->lifted ? "can be read again" : "set aside: " + std::string(q->reason));
  compare_jobs(now);
  for (const auto& uid : mentions_.workloads()) compare_workloads(was_.find(uid), now.find(uid), state);
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
  if (!b.quarantined.empty() && j.quarantined.empty()) say(object, "quarantineLifted", "can be read again");
  if (b.queue_name != j.queue_name) say(object, "jobQueue", "LocalQueue " + text(b.queue_name) + " -> " + text(j.queue_name));
  if (b.priority_class != j.priority_class)
    say(object, "jobPriorityClass", "priority class " + text(b.priority_class) + " -> " + text(j.priority_class));
  if (pod_set_words(b.pod_sets) != pod_set_words(j.pod_sets)) {
    // Sizes are ours where a plan came into force or ended; all else is its user's doing (5440 MR-84).
    const bool planned = !j.plan.empty() && b.plan != j.plan, restored = j.plan.empty() && !b.plan.empty();
    say(object, "jobPodSets",
        "pod sets" +
            std::string(planned    ? ", sized at admission: "
                        : restored ? ", its own again: "
                                   : ": ") +
            pod_set_words(j.pod_sets));
  }
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

void History::compare_workloads(const WorkloadState* before, const WorkloadState* now, const StateView& state) {
  if (now == nullptr) {
    if (before != nullptr) say(object_of(*before), "deleted", "deleted");
    return;
  }
  const WorkloadState& w = *now;
  const std::string object = object_of(w);
  if (before == nullptr) {
    const Symbol queue = queue_of(state, w);
    say(object, "created",
        "created in LocalQueue " + text(w.queue_name) + (queue.empty() ? " (which does not exist)" : " of ClusterQueue " + text(queue)) +
            ", priority " + std::to_string(w.effective_priority(state.domain().catalog()->settings)) + ": " + pod_set_words(w.pod_sets) +
            option_words(state, w));
    return;
  }
  const WorkloadState& b = *before;
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
    const auto* earlier = b.find(c.type);
    if (earlier != nullptr && same(*earlier, c)) continue;
    const bool finished = c.type == ConditionType::finished && c.is_true();
    say(object, finished ? "finished" : "condition",
        (finished ? std::string("finished") : std::string(api_name(c.type)) + "=" + std::string(api_name(c.status))) +
            in_brackets(c.reason, c.message));
  }
  for (const auto& c : b.conditions)
    if (w.find(c.type) == nullptr) say(object, "condition", std::string(api_name(c.type)) + " taken away");
  for (const auto& c : w.checks) {
    const auto earlier = std::find_if(b.checks.begin(), b.checks.end(), [&](const CheckStatus& x) { return x.name == c.name; });
    if (earlier != b.checks.end() && earlier->state == c.state && earlier->message == c.message) continue;
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
  const auto essence = [](const WorkloadState* workload) {
    if (workload == nullptr) return std::uint64_t{0};
    WorkloadState w = *workload;
    w.last_decision = w.resolve_since = 0;
    return w.hash();
  };
  for (const Event& e : d.events) {
    if (!mentions_.concerns(e)) continue;
    const auto* p = std::get_if<WorkloadPreempted>(&e);
    const auto* r = std::get_if<SliceReplaced>(&e);
    const bool as_preemptor = p != nullptr && !mentions_.knows_workload(p->workload.uid);
    const bool as_replacement = r != nullptr && !mentions_.knows_workload(r->workload.uid);
    auto words = words_for(e, as_preemptor || as_replacement);
    const WorkloadRef about = as_preemptor ? p->preemptor : as_replacement ? r->replacement : subject(e);
    const bool is_void = words.writes && !about.uid.empty() && essence(was_.find(about.uid)) == essence(now.find(about.uid)) &&
                         was_.job.has_value() == now.job.has_value();
    if (is_void) words.text += " (without effect: it had moved on)";
    std::string object = !about.name.empty() ? "Workload " + full_name(about.namespace_, about.name) : now.job ? object_of(*now.job) : "";
    if (about.name.empty() && !now.job && was_.job) object = object_of(*was_.job);
    say(std::move(object), std::move(words.kind), std::move(words.text), is_void);
  }
}

/// It changed nothing, so there are no states to compare.
void History::noted(const DecisionsNoted& note) {
  for (const Event& e : note.events) {
    if (!mentions_.concerns(e)) continue;
    const auto* p = std::get_if<WorkloadPreempted>(&e);
    const auto* r = std::get_if<SliceReplaced>(&e);
    const bool as_preemptor = p != nullptr && !mentions_.knows_workload(p->workload.uid);
    const bool as_replacement = r != nullptr && !mentions_.knows_workload(r->workload.uid);
    const auto words = words_for(e, as_preemptor || as_replacement);
    const WorkloadRef about = as_preemptor ? p->preemptor : as_replacement ? r->replacement : subject(e);
    say(about.name.empty() ? std::string() : "Workload " + full_name(about.namespace_, about.name), "noted", "would have: " + words.text);
  }
  for (const WorkloadRef& w : note.withdrawn)
    if (mentions_.knows_workload(w.uid)) say("Workload " + full_name(w.namespace_, w.name), "noted", "would not have admitted it any more");
  for (const WorkloadRef& w : note.would_not)
    if (mentions_.knows_workload(w.uid))
      say("Workload " + full_name(w.namespace_, w.name), "noted", "would not have done what the other controller did next");
}

/// What records about others did to its place in the queue.
std::optional<History::Standing> History::standing_of(const StateView& state, const WorkloadState& w) {
  const Symbol name = queue_of(state, w);
  const auto* queue = name.empty() ? nullptr : state.queue(name);
  const auto parked = queue == nullptr ? std::nullopt : queue->parked(w.id);
  return parked ? std::optional(Standing{name, *parked}) : std::nullopt;
}

void History::moved(const std::string& uid, const std::optional<Standing>& before, const StateView& state) {
  const WorkloadAt at = find_by_uid(state, uid);
  if (at.workload == nullptr) return;
  const auto now = standing_of(state, *at.workload);
  const std::string object = object_of(*at.workload);
  if (before && !now && !at.workload->reserved()) return say(object, "leftQueue", "taken out of ClusterQueue " + text(before->queue));
  if (!before && now) return say(object, "enteredQueue", "queued in ClusterQueue " + text(now->queue));
  if (!before || !now) return;
  if (before->queue != now->queue)
    return say(object, "enteredQueue", "queued in ClusterQueue " + text(now->queue) + " instead of " + text(before->queue));
  if (before->parked && !now->parked)
    return say(object, "woken", "back in line: something changed in the cohort tree of " + text(now->queue));
  if (before->parked || !now->parked) return;
  if (const auto with = parked_with(*state.queue(now->queue), at.workload->id))
    say(object, "parked", "parked together with " + with->name + ", which is equal: " + with->reason);
}

Json to_json(const HistoryEntry& e) {
  Json out{{"offset", e.offset}, {"sequence", e.sequence}, {"epoch", e.epoch}};
  if (e.time.is_set()) out["time"] = format_rfc3339_micro(e.time);
  out["source"] = e.decided ? "decided" : e.noted ? "noted" : "observed";
  if (e.cause != 0) out[e.decided || e.noted ? "base" : "cause"] = e.cause;
  out["object"] = e.object;
  out["kind"] = e.kind;
  out["text"] = e.text;
  if (e.void_) out["void"] = true;
  return out;
}

}  // namespace hindsight::projections
