// What a Workload parent decides about the slices of an elastic job (77 §3.2 to §3.4, §3.9): which of them stand, what a change of the
// job's size becomes, and that all of them follow the job. Each step is a function of the state and is asked again until it says nothing.

#include <algorithm>

#include "admission/model/slices.hpp"
#include "admission/rules.hpp"
#include "admission/scheduling/outcome_text.hpp"
#include "admission/workload/workload_parent.hpp"

namespace hindsight::admission {
namespace {

constexpr std::string_view slice_replaced = "WorkloadSliceReplaced";
constexpr std::string_view out_of_sync = "OutOfSync";
constexpr std::string_view out_of_sync_message = "The workload slice is out of sync with its parent job";

/// How the counts of the job differ from those of a slice with the same pod sets.
struct Change {
  bool higher = false;
  bool lower = false;
  [[nodiscard]] bool any() const { return higher || lower; }
};

Change change_of(const WorkloadState& w, const JobState& j) {
  Change out;
  for (std::size_t i = 0; i < w.pod_sets.size(); ++i) {
    out.higher = out.higher || j.pod_sets[i].count > w.pod_sets[i].count;
    out.lower = out.lower || j.pod_sets[i].count < w.pod_sets[i].count;
  }
  return out;
}

}  // namespace

List<PodSetCount> WorkloadParent::job_counts(Arena& arena) const {
  auto out = arena.make<PodSetCount>(job_->pod_sets.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = {job_->pod_sets[i].name.text(), job_->pod_sets[i].count};
  return out;
}

/// True if something was proposed.
bool WorkloadParent::reconcile_slices(const Context& c, Proposal& p) const {
  const JobState& j = *job_;
  const std::size_t before = p.events.size();
  const auto said = [&] { return p.events.size() != before; };

  const bool ended = std::any_of(workloads_.begin(), workloads_.end(), [](const WorkloadState& w) {
    return is_slice(w) && w.finished() && !w.deleting && !w.removal_pending && !is_superseded(w);
  });
  if (ended) return false;  // its end is the job's end
  const SliceChain chain = slice_chain(workloads_);
  end_slices(chain, p);  // before anything else is decided (EJ-23)
  if (said()) return true;
  if (chain.current == SliceChain::none) {
    const bool going =
        std::any_of(workloads_.begin(), workloads_.end(), [](const WorkloadState& w) { return is_slice(w) && !w.finished(); });
    if (!going && j.suspended && !j.active && !j.stopping && j.requested_since == 0) request_first_slice(c, p);
    return said();
  }
  const bool same = std::all_of(workloads_.begin(), workloads_.end(),
                                [&](const WorkloadState& w) { return !is_live(w) || !is_slice(w) || same_templates(w); });
  if (!same) {
    replace_templates(chain, c, p);  // EJ-14, EJ-15
    return said();
  }
  evict_chain(chain, p);
  if (said()) return true;
  const bool leaving = chain.holder != SliceChain::none && is_leaving(workloads_[chain.holder]);
  if (!leaving) resize(chain, c, p);  // EJ-153: a slice that drains is resized when its quota is free
  if (said()) return true;
  for (const auto& w : workloads_)
    if (is_live(w) && is_slice(w) && !p.full()) follow_job(w, chain, c, p);
  forget_slices(c, p);
  return said();
}

/// EJ-7. What was told late can end a slice that would have been the right one; the next one of the same generation has its name, too.
void WorkloadParent::request_first_slice(const Context& c, Proposal& p) const {
  const auto holder = std::find_if(workloads_.begin(), workloads_.end(),
                                   [&](const WorkloadState& w) { return !w.gone && w.name == job_->workload_name && is_slice(w); });
  if (holder == workloads_.end())
    request_workload(nullptr, c, p);
  else if (!holder->deleting && !holder->removal_pending)
    p.events.emplace_back(WorkloadRemoved{ref(*holder, *p.arena), "Deleted finished workload slice: the next one has its name", {}});
}

/// EJ-25. A slice that was just evicted keeps its quota until the pods are gone; it is the holder so long, and does not come here.
void WorkloadParent::end_slices(const SliceChain& chain, Proposal& p) const {
  for (const auto& end : chain.ends) {
    if (p.full()) return;
    const auto w = ref(workloads_[end.slice], *p.arena);
    if (end.replaced)
      p.events.emplace_back(WorkloadFinished{w, slice_replaced, "Replaced to accommodate a new workload slice"});
    else
      p.events.emplace_back(WorkloadFinished{w, out_of_sync, out_of_sync_message});
  }
}

/// The chain is evicted as a whole (EJ-83): what waits for its checks gives its share back, and who loses that by preemption takes the
/// slice that the job runs on along.
void WorkloadParent::evict_chain(const SliceChain& chain, Proposal& p) const {
  if (chain.holder == SliceChain::none || chain.pending == SliceChain::none) return;
  const WorkloadState& holder = workloads_[chain.holder];
  for (std::size_t i = 0; i < workloads_.size() && !p.full(); ++i)  // of a family the Option that holds quota for it (CA-95)
    if (workloads_[i].reserved() && (i == chain.pending || family_parent_of(workloads_[i]) == chain.pending))
      evict_waiting(workloads_[i], holder, p);
}

/// What an end of the one of two slices means for the other. `waiting`: it holds quota for the slice that is to come.
void WorkloadParent::evict_waiting(const WorkloadState& waiting, const WorkloadState& holder, Proposal& p) const {
  if (waiting.admitted() && !is_slice(waiting)) return;  // the Option has taken the place
  const Condition* evicted = waiting.find(ConditionType::evicted);
  const bool preempted = evicted != nullptr && evicted->is_true() && evicted->reason.text() == "Preempted";
  if (preempted && !holder.evicted()) {
    WorkloadEvicted e;
    e.workload = ref(holder, *p.arena);
    e.reason = "Preempted";
    e.message = p.message(evicted->message);
    p.events.emplace_back(e);
  }
  if (!waiting.evicted() && !is_leaving(holder)) return;
  ReservationCleared out;  // it has no pods of its own: nothing drains
  out.workload = ref(waiting, *p.arena);
  out.reason = "PendingEvaluation";
  out.message =
      p.message(evicted != nullptr && evicted->is_true() ? evicted->message.value() : "The workload slice that it replaces is evicted");
  if (waiting.evicted()) {
    out.writes_requeued = true;
    out.requeued = preempted;  // as of any other Workload (BA-133)
    out.requeued_reason = evicted->reason.text();
    out.requeued_message = out.message;
  }
  p.events.emplace_back(out);
}

/// §3.3: a change of size becomes a change of the slice that follows the job, or a new slice.
void WorkloadParent::resize(const SliceChain& chain, const Context& c, Proposal& p) const {
  const JobState& j = *job_;
  const WorkloadState& w = workloads_[chain.current];
  const Change change = change_of(w, j);
  if (!change.any() || (w.evicted() && w.reserved())) return;
  if (w.reserved() && change.higher) {
    if (chain.current == chain.pending)  // EJ-147: it may not be raised any more
      p.events.emplace_back(WorkloadFinished{ref(w, *p.arena), out_of_sync, out_of_sync_message});
    else if (j.requested_since == 0)
      request_workload(&w, c, p);  // EJ-8, EJ-18
    return;
  }
  if (w.revision_pending && w.revised_for >= j.generation) return;
  WorkloadRevised e;
  e.workload = ref(w, *p.arena);
  e.job = job_ref(*p.arena);
  e.queue_name = w.queue_name.text();
  e.priority = w.priority.value_or(0);
  e.priority_class_kind = w.priority_class_kind;
  e.priority_class = w.priority_class.text();
  if (w.max_exec_seconds > 0) e.max_exec_seconds = w.max_exec_seconds;
  e.job_generation = j.generation;
  e.counts = job_counts(*p.arena);
  p.events.emplace_back(e);
}

/// No resize, but another job: in place while it waits and nothing runs, else by a Workload of its own (base-api §7.1).
void WorkloadParent::replace_templates(const SliceChain& chain, const Context& c, Proposal& p) const {
  const JobState& j = *job_;
  for (std::size_t i = 0; i < workloads_.size(); ++i) {
    const WorkloadState& w = workloads_[i];
    if (!is_live(w) || !is_slice(w) || (w.revision_pending && w.revised_for >= j.generation) || p.full()) continue;
    if (i != chain.current || !j.suspended || j.stopping || w.reserved()) {
      p.events.emplace_back(WorkloadRemoved{ref(w, *p.arena), "No matching Workload; the job's pod sets changed", {}});
      continue;
    }
    auto e = revision(w, j.queue_name, job_priority(*c.catalog), *p.arena);
    e.pod_sets = true;
    p.events.emplace_back(e);
  }
}

/// What each slice shows of its job: class, queue, limit of time, reclaimable and ready pods.
void WorkloadParent::follow_job(const WorkloadState& w, const SliceChain& chain, const Context& c, Proposal& p) const {
  const JobState& j = *job_;
  const Settings& settings = c.catalog->settings;
  if (!j.start_error.empty() && w.admitted()) {
    p.events.emplace_back(WorkloadFinished{ref(w, *p.arena), "FailedToStart", p.message(j.start_error)});
    return;
  }
  const bool holds = chain.holder != SliceChain::none && &w == &workloads_[chain.holder];

  if (!w.revision_pending) {
    const auto priority = job_priority(*c.catalog);
    const bool queue_changed = j.suspended && !w.reserved() && w.queue_name != j.queue_name && !j.queue_name.empty();
    const bool class_changed = wants_class(w, priority) && !(w.reserved() && w.priority_class.empty());  // EJ-94
    const bool limit_changed = j.suspended && !w.admitted() && w.max_exec_seconds != j.max_exec_seconds;
    if (queue_changed || class_changed || limit_changed || wants_gate(w, settings)) {  // SG-50
      p.events.emplace_back(revision(w, queue_changed ? j.queue_name : w.queue_name, priority, *p.arena));
    }
  }

  const bool resizing = w.revision_pending && c.rules >= rules_with_sizes_first;
  if (settings.reclaimable_pods && !resizing) {  // EJ-60, EJ-62, EJ-156: each slice by its own count
    std::vector<PodSetCount> wanted;
    for (const auto& s : w.pod_sets) {
      std::int32_t count = 0;
      for (const auto& [name, n] : j.remaining)
        if (name == s.name) count = std::max(0, s.count - n);
      for (const auto& [name, n] : j.reclaimable)
        if (name == s.name && j.remaining.empty()) count = std::min(n, s.count);
      bool shrunk = false;
      if (w.admission)
        for (const auto& a : w.admission->pod_sets) shrunk = shrunk || (a.pod_set == s.name && s.count < a.count);
      if (w.reserved() && !shrunk) count = std::max(count, std::min(w.reclaimable_of(s.name), s.count));  // EJ-63
      if (count > 0) wanted.push_back({s.name.text(), count});
    }
    const bool same = wanted.size() == w.reclaimable.size() && std::all_of(wanted.begin(), wanted.end(), [&](const PodSetCount& x) {
                        return w.reclaimable_of(Symbol(x.pod_set)) == x.count;
                      });
    if (!same) p.events.emplace_back(ReclaimableChanged{ref(w, *p.arena), p.arena->copy(wanted)});
  }

  if (!settings.pods_ready_enabled) return;
  // While a larger slice waits, the pods that it would add are no reason to call the old one unready (EJ-48).
  std::optional<bool> ready = j.pods_ready;
  if (holds && chain.pending != SliceChain::none && !j.pods_ready) {
    std::int32_t pods = 0;
    for (const auto& s : w.pod_sets) pods += s.count;
    ready = j.ready_pods < 0 ? std::nullopt : std::optional<bool>(j.ready_pods >= pods);
  }
  follow_readiness(w, ready, c, p);
}

/// EJ-100
void WorkloadParent::forget_slices(const Context& c, Proposal& p) const {
  const auto& limit = c.catalog->settings.slice_history;
  if (!limit) return;
  for (const std::size_t i : forgotten_slices(workloads_, static_cast<std::size_t>(*limit))) {
    if (p.full()) return;
    p.events.emplace_back(
        WorkloadRemoved{ref(workloads_[i], *p.arena), "Deleted replaced workload slice beyond the limit of kept ones", {}});
  }
}

/// The replacement is admitted: with it the old slice gives its place away, in the same record (EJ-45, EJ-55). `holder`: who has the quota
/// of `w`, itself or its Option.
void WorkloadParent::replace_slice(const WorkloadState& w, const WorkloadState& holder, const Context& c, Proposal& p) const {
  if (!holder.admission) return;
  const auto chain = chain_of(c);
  if (!chain || chain->pending == SliceChain::none || &workloads_[chain->pending] != &w) return;
  const WorkloadState& old = workloads_[chain->holder];  // also one in another ClusterQueue
  const WorkloadState* before = quota_holder(chain->holder, c);
  SliceReplaced e;
  e.workload = ref(old, *p.arena);
  e.replacement = ref(w, *p.arena);
  if (job_) e.job = job_ref(*p.arena);
  e.slice_name = p.arena->copy(chain_name(w));
  e.message = p.message(replaced_message(w.uid, job_ ? job_->uid : w.owner_uid));
  const auto now = effective_usage(holder);
  const auto delta = slice_delta(now, effective_usage(before == nullptr ? old : *before));
  auto amounts = p.arena->make<ResourceAmount>(delta.size());
  for (std::size_t i = 0; i < delta.size(); ++i) amounts[i] = {delta[i].first.text(), delta[i].second};
  e.delta = amounts;
  auto counts = p.arena->make<PodSetCount>(now.size());
  for (std::size_t i = 0; i < now.size(); ++i) counts[i] = {now[i].pod_set.text(), now[i].count};
  e.counts = counts;
  p.events.emplace_back(e);
}

}  // namespace hindsight::admission
