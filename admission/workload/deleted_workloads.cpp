// Workloads that were deleted while their job runs. A Workload that Hindsight makes has no finalizer, which would cost a write for each
// job: its object goes at once, and what it held stays here until the job has stopped and has its own templates again (D16 in
// docs/deviations.md). The log knows what that was, so it needs no object to say so.

#include <algorithm>

#include "admission/workload/workload_parent.hpp"

namespace hindsight::admission {

bool WorkloadParent::outlives_its_object(const WorkloadState& w, const Catalog& catalog) const {
  if (!w.reserved() || w.finished() || w.removal_pending || at_rest() || job_->finished) return false;
  if (is_child(catalog)) return false;  // it runs with what its ancestor was granted
  if (w.option_of().empty()) return true;
  // Those of a Parent go with it, one after the other. Of one that was deleted by itself the job has still its Parent.
  return std::any_of(workloads_.begin(), workloads_.end(), [&](const WorkloadState& p) { return p.uid == w.option_of() && p.deleting; });
}

bool WorkloadParent::runs_on_deleted() const {
  if (job_->suspended || job_->stopping || running_workload() != nullptr) return false;
  return std::any_of(workloads_.begin(), workloads_.end(),
                     [](const WorkloadState& w) { return w.deleting && w.reserved() && !w.finished() && w.option_of().empty(); });
}

void WorkloadParent::apply_workload_gone(const msg::WorkloadGone& m, const Context& c, Outbox& out) {
  something_happened(c);
  const auto it = std::find_if(workloads_.begin(), workloads_.end(), [&](const WorkloadState& w) { return w.id == m.id; });
  if (it != workloads_.end()) {
    const auto index = static_cast<std::size_t>(it - workloads_.begin());
    const bool never_held = undo_replacement(*it, c, out);
    if (m.deleted && !never_held && outlives_its_object(*it, *c.catalog)) {
      it->gone = it->deleting = true;
      it->in_use_finalizer = it->revision_pending = false;
      it->unconfirmed = 0;
      publish(index, {.touched = true}, c, out);
    } else {
      remove_workload(index, c, out);
      if (m.deleted) {
        out.send(self_, domain_address, msg::Forgotten{m.id});
        publish_all({}, c, out);  // of slices another one is the current one now
      }
    }
  } else if (m.deleted) {
    out.send(self_, domain_address, msg::Forgotten{m.id});
  }
  out.send(self_, domain_address, msg::WorldChanged{});
  retire_if_empty(out);
}

void WorkloadParent::forget_gone(const Context& c, Outbox& out) {
  for (std::size_t i = workloads_.size(); i-- > 0;) {
    if (!workloads_[i].gone || outlives_its_object(workloads_[i], *c.catalog)) continue;
    const WorkloadId id = workloads_[i].id;
    remove_workload(i, c, out);
    out.send(self_, domain_address, msg::Forgotten{id});
    out.send(self_, domain_address, msg::WorldChanged{});
    publish_all({}, c, out);
    retire_if_empty(out);
  }
}

}  // namespace hindsight::admission
