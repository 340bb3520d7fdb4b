#include "projections/mentions.hpp"

#include <algorithm>
#include <cctype>

#include "vocabulary/ascii.hpp"

namespace hindsight::projections {

void Mentions::note_workload(std::string_view uid) {
  if (uid.empty()) return;
  workload_uids_.emplace(uid);
}

void Mentions::note_job(std::string_view uid) {
  if (uid.empty()) return;
  job_uids_.emplace(uid);
  latest_job_ = uid;
}

bool Mentions::see(const WorkloadObserved& w) {
  const bool named = target_.is_workload() && w.meta.namespace_ == target_.namespace_ && w.meta.name == target_.name;
  const bool is_option = w.owner_kind == "Workload";
  const bool owned = is_option ? knows_workload(w.owner_uid) : !target_.is_workload() && knows_job(w.owner_uid);
  if (!named && !owned) return false;
  note_workload(w.meta.uid);
  if (named && !is_option) note_job(w.owner_uid);
  return true;
}

bool Mentions::see(const JobObserved& j) {
  if (j.meta.namespace_ != target_.namespace_) return false;
  // the job of a Workload is known by the Workload's name before there is one
  const bool named = target_.is_workload() ? j.workload_name == target_.name || j.prebuilt_workload == target_.name || knows_job(j.meta.uid)
                                           : j.meta.name == target_.name && is_lower_of(j.kind, target_.kind);
  if (!named) return false;
  note_job(j.meta.uid);
  return true;
}

bool Mentions::see(const ObjectQuarantined& q) {
  if (knows_workload(q.uid) || knows_job(q.uid)) return true;
  if (q.namespace_ != target_.namespace_ || q.name != target_.name) return false;
  if (target_.is_workload() && q.kind == ObjectKind::workload)
    note_workload(q.uid);
  else if (!target_.is_workload() && q.kind == ObjectKind::job && is_lower_of(q.api_kind, target_.kind))
    note_job(q.uid);
  else
    return false;
  return true;
}

bool Mentions::concerns(const Observation& o) {
  if (const auto* w = std::get_if<WorkloadObserved>(&o)) return see(*w);
  if (const auto* j = std::get_if<JobObserved>(&o)) return see(*j);
  if (const auto* d = std::get_if<ObjectDeleted>(&o)) return knows_workload(d->uid) || knows_job(d->uid);
  if (const auto* r = std::get_if<WriteRefused>(&o)) return knows_workload(r->uid) || knows_job(r->uid);
  if (const auto* q = std::get_if<ObjectQuarantined>(&o)) return see(*q);
  return false;
}

bool Mentions::concerns(const Event& event) const {
  return std::visit(
      [&]<class E>(const E& e) {
        bool out = false;
        if constexpr (requires { e.workload; }) out = out || knows_workload(e.workload.uid);
        if constexpr (requires { e.job; }) out = out || knows_job(e.job.uid);
        if constexpr (requires { e.replacement; }) out = out || knows_workload(e.replacement.uid);
        if constexpr (requires { e.replaces; }) out = out || knows_workload(e.replaces.uid);
        if constexpr (requires { e.preemptor; }) out = out || knows_workload(e.preemptor.uid);
        if constexpr (requires { e.parent; }) out = out || knows_workload(e.parent.uid);
        if constexpr (requires { e.from; }) out = out || knows_workload(e.from.uid);
        if constexpr (requires { e.option.uid; }) out = out || knows_workload(e.option.uid);
        return out;
      },
      event);
}

bool Mentions::concerns(const RecordView& record) {
  if (const auto* o = std::get_if<Observation>(&record.body)) return concerns(*o);
  if (const auto* n = std::get_if<DecisionsNoted>(&record.body)) {
    const auto known = [&](const WorkloadRef& w) { return knows_workload(w.uid); };
    return std::any_of(n->events.begin(), n->events.end(), [&](const Event& e) { return concerns(e); }) ||
           std::any_of(n->withdrawn.begin(), n->withdrawn.end(), known) || std::any_of(n->would_not.begin(), n->would_not.end(), known);
  }
  const auto* d = std::get_if<Decisions>(&record.body);
  return d != nullptr && std::any_of(d->events.begin(), d->events.end(), [&](const Event& e) { return concerns(e); });
}

}  // namespace hindsight::projections
