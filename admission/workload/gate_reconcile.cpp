// Gate annotations (6915). scheduling-gated-by holds back the job: it gets no Workload until the annotation has gone. admission-gated-by
// holds back the Workload: it is not admissible. Both work one way only, and what was seen of them stands in the log, so that each release
// is told once (SG-36, SG-64, SG-74).

#include "admission/workload/workload_parent.hpp"
#include "vocabulary/gate_names.hpp"

namespace hindsight::admission {
namespace {

constexpr std::string_view not_restorable = "Missing Workload; unable to restore pod templates";

}  // namespace

bool WorkloadParent::gated(const Catalog& catalog) const {
  const Settings& settings = catalog.settings;
  if (!job_ || is_child(catalog) || !settings.scheduling_gated_by || job_->scheduling_gated_by.empty() || job_->gate_ignored) return false;
  if (job_->finished || job_->deleting || !managed(catalog)) return false;
  if (job_->queue_name.empty() && !settings.manage_jobs_without_queue_name) return false;  // SG-40
  return !has_own_workloads() && job_->requested_since == 0;
}

std::string_view WorkloadParent::admission_gate(const WorkloadState& w, const Catalog& catalog) const {
  if (!catalog.settings.admission_gated_by) return {};
  if (!w.admission_gated_by.empty()) return w.admission_gated_by;
  // A Workload that was made beforehand does not carry the gate of the job that names it (SG-58).
  return job_ && job_->prebuilt_workload == w.name && !w.admitted() ? std::string_view(job_->admission_gated_by) : std::string_view();
}

bool WorkloadParent::wants_gate(const WorkloadState& w, const Settings& settings) const {
  return settings.admission_gated_by && !w.admitted() && shrinks_gates(w.admission_gated_by, job_->admission_gated_by);
}

/// Contract S. True: the job is held back, or something was said about its gate; nothing else is decided about it now.
bool WorkloadParent::hold_back(const Context& c, Proposal& p) const {
  const JobState& j = *job_;
  const bool wanted = c.catalog->settings.scheduling_gated_by && !j.scheduling_gated_by.empty();
  if (wanted ? j.gate_ignored : j.gate_noted.empty()) return false;
  GateChanged e;
  e.job = job_ref(*p.arena);
  e.job_generation = j.generation;
  e.since = j.gate_noted.empty() ? c.now : j.gated_since;
  e.value = p.arena->copy(wanted ? j.scheduling_gated_by : j.gate_noted);
  if (!wanted) {
    e.change = GateChange::cleared;  // also when the feature gate was switched off (SG-6)
  } else if (has_own_workloads() || j.requested_since != 0) {
    e.change = GateChange::ignored;  // SG-5
  } else if (j.gate_noted.empty()) {
    e.change = GateChange::observed;
  } else if (j.gate_noted != j.scheduling_gated_by) {
    e.change = GateChange::shrunk;
  } else {
    if (!j.suspended && !j.stopping && !j.stop_noted) p.events.emplace_back(JobStopped{e.job, not_restorable});  // SG-26
    return true;
  }
  p.events.emplace_back(e);
  return true;
}

/// Contract A: what is told of a Workload's gate. It says nothing of one that was admitted before the gate came (SG-63).
void WorkloadParent::note_gate(const WorkloadState& w, const Context& c, Proposal& p) const {
  const std::string_view value = admission_gate(w, *c.catalog);
  if (value == w.gate_noted || (w.gate_noted.empty() && w.admitted())) return;
  GateChanged e;
  e.contract = GateContract::admission;
  e.workload = {p.arena->copy(w.uid), w.namespace_.text(), p.arena->copy(w.name)};
  if (job_ && job_->admission_gated_by == value) {
    e.job = job_ref(*p.arena);
    e.job_generation = job_->generation;
  }
  e.change = w.gate_noted.empty() ? GateChange::observed : value.empty() ? GateChange::cleared : GateChange::shrunk;
  e.value = p.arena->copy(value.empty() ? std::string_view(w.gate_noted) : value);
  e.since = w.gate_noted.empty() ? c.now : w.gated_since;
  p.events.emplace_back(e);
}

void WorkloadParent::apply_gate(const GateChanged& e) {
  const bool held = e.change == GateChange::observed || e.change == GateChange::shrunk;
  const auto note = [&](CompactText& noted, Time& since) {
    noted = held ? e.value : std::string_view();
    since = held ? e.since : Time::never();
  };
  if (e.contract == GateContract::scheduling) {
    if (!job_ || job_->uid != e.job.uid) return;
    note(job_->gate_noted, job_->gated_since);
    if (e.change == GateChange::ignored) job_->gate_ignored = true;
    return;
  }
  for (auto& w : workloads_)
    if (w.uid == e.workload.uid) note(w.gate_noted, w.gated_since);
}

}  // namespace hindsight::admission
