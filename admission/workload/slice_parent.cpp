// What slices of one elastic job mean for each other while records are applied: a replacement is charged the difference only, waits while
// its job is on its way out, and takes the place of the old slice in one step.

#include <algorithm>

#include "admission/model/slices.hpp"
#include "admission/workload/workload_parent.hpp"

namespace hindsight::admission {

bool WorkloadParent::sliced(const Context& c) const {
  if (!c.catalog->settings.elastic_jobs || workloads_.size() < 2) return false;
  return std::count_if(workloads_.begin(), workloads_.end(),
                       [](const WorkloadState& w) { return w.elastic && is_live(w) && is_slice(w); }) > 1;
}

std::optional<SliceChain> WorkloadParent::chain_of(const Context& c) const {
  return sliced(c) ? std::optional(slice_chain(workloads_)) : std::nullopt;
}

const WorkloadState* WorkloadParent::replaced_by(std::size_t index, const Context& c, const std::optional<SliceChain>* known) const {
  const WorkloadState& w = workloads_[index];
  if (w.replacement_for.empty() || w.admitted()) return nullptr;
  const auto chain = known != nullptr ? *known : chain_of(c);
  const std::size_t parent = family_parent_of(w);  // an Option stands for its Parent
  if (!chain || chain->pending != (parent == Family::none ? index : parent)) return nullptr;
  if (const WorkloadState& slice = workloads_[chain->holder]; !slice.active || !slice.elastic) return nullptr;
  const WorkloadState* holder = quota_holder(chain->holder, c);
  if (holder == nullptr) return nullptr;
  Symbol queue = w.admission ? w.admission->cluster_queue : Symbol();
  if (queue.empty())
    if (const auto* lq = c.catalog->local_queue(w.namespace_, w.queue_name)) queue = lq->cluster_queue;
  return queue == holder->admission->cluster_queue ? holder : nullptr;
}

/// Who is charged for a slice that holds quota: of a family the Option that the job runs on; null: nobody.
const WorkloadState* WorkloadParent::quota_holder(std::size_t slice, const Context& c) const {
  const WorkloadState& w = workloads_[slice];
  if (!w.family || w.family->holds_itself) return &w;
  const std::size_t running = family_of(slice, c).running;
  return running == Family::none ? nullptr : &workloads_[running];
}

bool WorkloadParent::withheld(std::size_t index, const Context& c, const std::optional<SliceChain>* known) const {
  if (!c.catalog->settings.elastic_jobs || !workloads_[index].elastic) return false;
  const WorkloadState& w = workloads_[index];
  // One that the job has outgrown is about to be resized. Were it admitted before, the admission would be for another size.
  if (job_ && job_->elastic && !job_->finished && same_templates(w)) {
    for (std::size_t i = 0; i < w.pod_sets.size(); ++i)
      if (w.pod_sets[i].count != job_->pod_sets[i].count) return true;
  }
  const auto chain = known != nullptr ? *known : chain_of(c);
  if (!chain) return false;
  if (chain->current != index) return true;
  return chain->holder != SliceChain::none && chain->holder != index && is_leaving(workloads_[chain->holder]);
}

/// What was told of a slice follows from the others as well: says it again where it is no longer true.
void WorkloadParent::publish_again(const Context& c, Outbox& out) {
  if (workloads_.size() < 2 || !c.catalog->settings.elastic_jobs) return;
  const auto chain = chain_of(c);  // once: anybody can make thousands of slices of one job
  const Known known{nullptr, &chain};
  for (std::size_t i = 0; i < workloads_.size(); ++i) {
    const WorkloadState& w = workloads_[i];
    if (!w.elastic || w.finished() || !is_slice(w)) continue;  // Options: see publish_family
    const Placement& at = placements_[i];
    if (at.kind == Placement::Kind::reserving) {
      if (w.admitted()) continue;
      const auto now = make_reservation(w, at.info, replaced_by(i, c, &chain));
      publish(i, {.touched = at.held == nullptr || now->charges != at.held->charges}, c, out, known);
      continue;
    }
    const bool waited = at.kind == Placement::Kind::pending;
    const WorkloadState* replaced = replaced_by(i, c, &chain);
    const auto info = waited ? make_info(w, *c.catalog, job_ ? job_->uid : w.owner_uid, replaced) : nullptr;
    const bool changes = waited && (info->replaces != at.info->replaces || info->asks_nothing != at.info->asks_nothing ||
                                    info->equivalence_hash != at.info->equivalence_hash);
    publish(i, {.repush = changes}, c, out, known);
  }
}

/// With all Options that stand for it, so that its quota passes on as one (CA-95).
void WorkloadParent::end_slice(std::size_t index, std::string_view message, const Context& c, Outbox& out) {
  static const Symbol replaced("WorkloadSliceReplaced");
  workloads_[index].decide_condition(ConditionType::finished, ConditionStatus::true_, replaced, message, c.now);
  if (workloads_[index].family) {
    const auto options = family_of(index, c).options;
    for (const std::size_t option : options) {
      if (workloads_[option].finished()) continue;
      workloads_[option].decide_condition(ConditionType::finished, ConditionStatus::true_, replaced, message, c.now);
      workloads_[option].last_decision = c.sequence;
      publish(option, {.touched = true}, c, out);
    }
  }
  publish(index, {.touched = true}, c, out);
}

/// Both or neither: where the replacement is not admitted, nothing happens to the old slice (EJ-55).
void WorkloadParent::apply_replacement(const SliceReplaced& e, std::size_t index, const Context& c, Outbox& out) {
  WorkloadState& old = workloads_[index];
  if (old.finished()) return;  // EJ-54
  for (std::size_t i = 0; i < workloads_.size(); ++i) {
    WorkloadState& w = workloads_[i];
    if (w.uid != e.replacement.uid || !w.reserved() || !w.admitted() || w.finished()) continue;
    if (w.max_exec_seconds > 0 && old.admitted())  // EJ-98: the clock of the job runs on
      w.add_exec_time(old.accumulated_exec_seconds, old.find(ConditionType::admitted)->last_transition, c.now);
    old.last_decision = w.last_decision = c.sequence;
    end_slice(index, e.message, c, out);
    publish(i, {.touched = true}, c, out);
    if (!w.family || w.family->holds_itself) return;
    const std::size_t running = family_of(i, c).running;  // it is charged in full from now on
    if (running != Family::none) publish(running, {.touched = true}, c, out);
    return;
  }
}

/// A slice that was admitted in another ClusterQueue than the one that it names was charged in full there (EJ-28). The job has a place once
/// all the same: the old slice ends with that admission.
void WorkloadParent::end_elsewhere(const WorkloadState& slice, const Context& c, Outbox& out) {
  if (!slice.elastic || slice.replacement_for.empty() || !slice.admitted() || !slice.reserved()) return;
  for (std::size_t i = 0; i < workloads_.size(); ++i) {
    WorkloadState& old = workloads_[i];
    if (!is_live(old) || !is_slice(old) || !old.reserved() || !names(slice, old)) continue;
    if (old.admission->cluster_queue == slice.admission->cluster_queue) continue;
    old.last_decision = c.sequence;
    end_slice(i, "Replaced to accommodate a new workload slice", c, out);
  }
}

bool WorkloadParent::end_is_early(const WorkloadState& w) const {
  if (const std::size_t parent = family_parent_of(w); parent != Family::none) return w.finished() && end_is_early(workloads_[parent]);
  if (!w.finished() || !w.waits_for(ConditionType::finished) || !is_superseded(w) || !w.reserved()) return false;
  return std::any_of(workloads_.begin(), workloads_.end(), [&](const WorkloadState& other) {
    return is_live(other) && other.reserved() && other.waits_for(Section::admission) && names(other, w);
  });
}

/// The reservation of the replacement cannot be written, or its object has gone before it was: the old slice has its quota back (EJ-50).
bool WorkloadParent::undo_replacement(const WorkloadState& replacement, const Context& c, Outbox& out) {
  if (replacement.finished() || !replacement.reserved() || !replacement.waits_for(Section::admission)) return false;
  for (std::size_t i = 0; i < workloads_.size(); ++i) {
    WorkloadState& w = workloads_[i];
    if (&w == &replacement || !is_slice(w) || !names(replacement, w) || !end_is_early(w)) continue;
    const auto go_on = [&](std::size_t index) {
      WorkloadState& one = workloads_[index];
      one.remove_condition(ConditionType::finished);
      one.unconfirmed &= ~(1U << static_cast<unsigned>(ConditionType::finished));  // it was never written
      one.last_decision = c.sequence;
      publish(index, {.touched = true}, c, out);
    };
    go_on(i);
    if (workloads_[i].family) {
      const auto options = family_of(i, c).options;
      for (const std::size_t option : options)
        if (workloads_[option].waits_for(ConditionType::finished)) go_on(option);
    }
    return true;
  }
  return false;
}

}  // namespace hindsight::admission
