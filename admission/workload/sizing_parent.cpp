// Sizes of a job's containers, as its parent sees to them: which ones the job has, and what happens when the API server does not take
// those of a plan (5440 §3.D). Starting with a plan and restoring after it are intents like all others (collect_intents).

#include <algorithm>

#include "admission/scheduling/sizing.hpp"
#include "admission/workload/workload_parent.hpp"

namespace hindsight::admission {
namespace {

constexpr std::string_view immutable = "field is immutable";  // what it says of a template that cannot be changed (5440 §2.2, E1)
constexpr std::int32_t refusals_max = 3;                      // one of several servers may be of another level (MR-80)

bool sized_as(const WorkloadState& w, const std::vector<PodSetSpec>& pod_sets, const SizingPlan& plan) {
  return std::equal(w.pod_sets.begin(), w.pod_sets.end(), pod_sets.begin(), pod_sets.end(), [&](const PodSetSpec& a, const PodSetSpec& b) {
    return a.sized.empty() || same_sizes(with_sizes(a.sized, plan, a.name), b.sized);
  });
}

}  // namespace

bool WorkloadParent::has_sizes_of(const WorkloadState& w) const {
  // Other bounds look at other resources; while a job runs, its resources cannot change anyway.
  return !same_bounds(w) || sized_as(w, job_->pod_sets, {}) || (!w.plan.empty() && sized_as(w, job_->pod_sets, w.plan));
}

/// Kept although its Workload may go: then nothing else tells what to restore (MR-70).
void WorkloadParent::note_sizes() {
  if (job_->plan.empty() && std::all_of(workloads_.begin(), workloads_.end(), [](const WorkloadState& w) { return w.plan.empty(); }))
    return;
  const auto planned = std::find_if(workloads_.begin(), workloads_.end(),
                                    [&](const WorkloadState& w) { return !w.plan.empty() && sized_as(w, job_->pod_sets, w.plan); });
  if (planned != workloads_.end())
    job_->plan = planned->plan;
  else if (std::any_of(workloads_.begin(), workloads_.end(), [&](const WorkloadState& w) { return same_bounds(w); }) ||
           (job_->suspended && !job_->stopping))
    job_->plan.clear();
  if (job_->suspended) return;
  for (auto& w : workloads_) {
    w.plan_refusals = 0;
    w.plan_refusal.clear();
  }
}

void WorkloadParent::note_refused_start(const WriteRefused& refused) {
  if (!job_ || !job_->suspended || refused.http_status == 0) return;
  for (auto& w : workloads_) {
    if (w.plan.empty() || !w.reserved()) continue;
    ++w.plan_refusals;
    w.plan_refusal = refused.message;
  }
}

/// True if something was proposed.
bool WorkloadParent::reconcile_sizing(const WorkloadState& w, const Context& c, Proposal& p) const {
  SizingBarred e;
  e.workload = {p.arena->copy(w.uid), w.namespace_.text(), p.arena->copy(w.name)};
  if (job_) e.job = job_ref(*p.arena);
  if (!w.reserved()) {  // it may be tried again
    if (!w.sizing_barred || c.now < w.sizing_barred_at + sizing_barred_for) return false;
    e.barred = false;
    p.events.emplace_back(e);
    return true;
  }
  if (w.plan_refusals == 0 || !job_ || !job_->suspended) return false;
  e.unsupported = w.plan_refusal.view().find(immutable) != std::string::npos;
  if (e.unsupported && w.plan_refusals < refusals_max) return false;
  e.message = p.message(w.plan_refusal);
  p.events.emplace_back(e);
  ReservationCleared cleared;
  cleared.workload = e.workload;
  cleared.reason = "PendingEvaluation";
  cleared.message = p.message("The API server refused other resources for the job: " + w.plan_refusal);
  p.events.emplace_back(cleared);
  return true;
}

}  // namespace hindsight::admission
