#include "projections/why.hpp"

#include <algorithm>

#include "admission/domain/domain.hpp"
#include "events/decision_fields.hpp"
#include "projections/format.hpp"

namespace hindsight::projections {
namespace {

using namespace admission;
using events::api_name;
using Kind = TrailFact::Kind;

/// Builds the explanation of one workload piece by piece.
class Explanation {
 public:
  Explanation(const StateView& state, const WorkloadAt& at, const Trail& trail)
      : state_(state), catalog_(*state.domain().catalog()), parent_(*at.parent), w_(*at.workload), at_(at), trail_(trail) {}

  Why make() {
    out_.object = "Workload " + full_name(w_.namespace_.text(), w_.name);
    if (const auto& job = parent_.job()) out_.job = text(job->kind) + "/" + job->name;
    out_.phase = phase_of(w_);
    switch (out_.phase) {
      case Phase::finished:
        finished();
        break;
      case Phase::evicted:
        evicted();
        break;
      case Phase::admitted:
        admitted();
        break;
      case Phase::quota_reserved:
        waits_for_checks();
        break;
      case Phase::inactive:
        inactive();
        break;
      case Phase::pending:
        pending();
        break;
    }
    return std::move(out_);
  }

 private:
  // ---- helpers ------------------------------------------------------------------------------------------------------------------

  void fact(std::string line) { out_.facts.push_back(std::move(line)); }

  /// Takes reason and message from a condition.
  void condition(const Condition* c) {
    if (c == nullptr) return;
    out_.reason = text(c->reason);
    out_.message = c->message;
    out_.since = c->last_transition;
  }
  void event(const TrailFact& f, std::string what) { out_.events.push_back({f.offset, f.time, std::move(what)}); }

  /// The newest decision of a kind that can have set a condition at this time; what came later was without effect.
  const TrailFact* decided(Kind kind, const Condition* c) const {
    const TrailFact* newest = nullptr;
    for (const auto& f : trail_.facts()) {
      if (f.kind != kind || f.workload_uid != w_.uid) continue;
      if (c == nullptr || f.time.floor_seconds() <= c->last_transition.floor_seconds()) newest = &f;
    }
    return newest;
  }

  std::string assignment() const {
    std::vector<std::string> parts;
    for (const auto& p : w_.admission->pod_sets) {
      std::string part = text(p.pod_set) + " x" + std::to_string(p.count);
      for (const auto& [resource, flavor] : p.flavors) {
        part += " " + text(flavor) + "/" + text(resource);
        for (const auto& [used, amount] : p.usage)
          if (used == resource) part += " " + amount_text(amount, resource);
      }
      parts.push_back(std::move(part));
    }
    return joined(parts);
  }

  void reservation_facts() {
    const auto* reserved = decided(Kind::reserved, w_.find(ConditionType::quota_reserved));
    const Symbol queue = w_.admission->cluster_queue;
    if (reserved == nullptr) {
      fact("its reservation was not decided here: it was found in the cluster");
    } else {
      std::string how = "quota reserved in ClusterQueue " + text(queue) + ": " + assignment();
      how += reserved->borrowing_level == 0 ? ", within nominal quota"
                                            : ", borrowing from the cohort (level " + std::to_string(reserved->borrowing_level) + ")";
      preempted_for_it(reserved->sequence);
      event(*reserved, how);
    }
    for (const auto& line : quota_of_queue(state_, queue)) {
      if (line.figures.borrowed <= 0) continue;
      const bool uses = std::any_of(w_.admission->pod_sets.begin(), w_.admission->pod_sets.end(), [&](const auto& p) {
        return std::any_of(p.flavors.begin(), p.flavors.end(),
                           [&](const auto& f) { return f.first == line.resource && f.second == line.flavor; });
      });
      if (uses)
        fact("ClusterQueue " + text(queue) + " now borrows " + amount_text(line.figures.borrowed, line.resource) + " of " +
             text(line.resource) + " in flavor " + text(line.flavor));
    }
  }

  /// Whom it preempted since it was released last, up to this record.
  void preempted_for_it(std::uint64_t before) {
    std::uint64_t since = 0;
    for (const auto& f : trail_.facts())
      if (f.workload_uid == w_.uid && (f.kind == Kind::released || f.kind == Kind::reserved) && f.sequence < before)
        since = std::max(since, f.sequence);
    for (const auto& f : trail_.facts())
      if (f.kind == Kind::preempts && f.sequence >= since && f.sequence <= before) event(f, "preempted " + f.other + ": " + f.reason);
  }

  void check_facts() {
    for (const auto& c : w_.checks) {
      if (c.state == CheckState::ready) continue;
      std::string line = "admission check " + text(c.name) + " is " + std::string(api_name(c.state));
      if (c.last_transition.is_set()) line += " since " + format_rfc3339(c.last_transition);
      if (!c.message.empty()) line += ": " + c.message;
      const auto known = catalog_.checks.find(c.name);
      if (known == catalog_.checks.end()) {
        line += " (there is no AdmissionCheck of this name)";
      } else {
        line += " (its controller is " + known->second->controller + (known->second->active ? ")" : ", which is not active)");
      }
      fact(std::move(line));
    }
  }

  // ---- phases ---------------------------------------------------------------------------------------------------------------------

  void finished() {
    condition(w_.find(ConditionType::finished));
    out_.headline = "It has finished: " + out_.reason;
    if (const auto* f = trail_.last(Kind::finished, w_.uid))
      event(*f, "finished: " + f->reason + (f->other.empty() ? "" : " by " + f->other));
  }

  void admitted() {
    condition(w_.find(ConditionType::admitted));
    out_.headline = "It is admitted in ClusterQueue " + text(w_.admission->cluster_queue);
    reservation_facts();
    const auto* f = decided(Kind::admitted, w_.find(ConditionType::admitted));
    if (f != nullptr) event(*f, w_.checks.empty() ? "admitted" : "admitted: all admission checks are ready");
    if (const auto& job = parent_.job(); job && job->suspended) fact("its job is still suspended: the start has not been seen yet");
    if (const auto* ready = w_.find(ConditionType::pods_ready); ready != nullptr && ready->is_false())
      fact("its pods are not ready: " + ready->message);
  }

  void waits_for_checks() {
    condition(w_.find(ConditionType::admitted));
    out_.headline = "It holds quota in ClusterQueue " + text(w_.admission->cluster_queue) + " and waits for its admission checks";
    check_facts();
    reservation_facts();
  }

  void evicted() {
    condition(w_.find(ConditionType::evicted));
    const auto* preempted = trail_.last(Kind::preempted, w_.uid);
    const auto* condition_preempted = w_.find(ConditionType::preempted);
    if (condition_preempted != nullptr && condition_preempted->is_true() && preempted != nullptr) {
      out_.headline = "It was preempted by " + preempted->other + " of ClusterQueue " + preempted->other_queue + ": " + preempted->reason;
      event(*preempted, "preempted by " + preempted->other + ": " + preempted->reason);
    } else {
      out_.headline = "It was evicted: " + out_.reason;
      if (const auto* f = trail_.last(Kind::evicted, w_.uid)) event(*f, "evicted: " + f->reason);
    }
    const auto& job = parent_.job();
    if (!job) {
      fact("it holds its quota until whoever made it clears its admission");
    } else if (job->active) {
      fact("it holds its quota until no pod of its job is active any more");
    } else {
      fact("it holds its quota until its job is suspended");
    }
  }

  void inactive() {
    const auto* e = w_.find(ConditionType::evicted);
    condition(e != nullptr && e->is_true() ? e : w_.find(ConditionType::quota_reserved));
    out_.headline = "It is not active: spec.active is false";
    if (out_.reason.empty()) out_.reason = "Deactivated";
    const auto* f = trail_.last(Kind::deactivated, w_.uid);
    if (f != nullptr) {
      event(*f, "deactivated");
    } else {
      fact("somebody else set it inactive");
    }
    fact("it is queued again when spec.active is set to true");
  }

  void pending() {
    const auto* c = w_.find(ConditionType::quota_reserved);
    condition(c);
    out_.headline = c == nullptr ? "It waits, and nothing was decided about it yet" : "It waits: " + out_.reason;
    before_it_waited();
    slice_facts();
    blockers();
    out_.place = place_of(state_, at_);
    if (!out_.place) return;
    queue_facts(*out_.place);
    if (out_.reason == "WaitingForPreemptedWorkloads") victims();
    if (out_.reason == "WaitingForPodsReady") not_ready();
    quota_facts(*out_.place);
  }

  // ---- pending --------------------------------------------------------------------------------------------------------------------

  /// How it lost the quota that it once had.
  void before_it_waited() {
    const auto* released = trail_.last(Kind::released, w_.uid);
    const auto* e = w_.find(ConditionType::evicted);
    if (e == nullptr || !e->is_true()) return;
    const auto* preempted = trail_.last(Kind::preempted, w_.uid);
    const auto* evicted = trail_.last(Kind::evicted, w_.uid);
    if (preempted != nullptr && (evicted == nullptr || evicted->sequence < preempted->sequence)) {
      event(*preempted, "preempted by " + preempted->other + " of ClusterQueue " + preempted->other_queue + ": " + preempted->reason);
    } else if (evicted != nullptr) {
      event(*evicted, "evicted: " + evicted->reason + (evicted->message.empty() ? "" : ", " + evicted->message));
    }
    if (released != nullptr) event(*released, "its quota was given back");
  }

  /// Of a slice that waits to replace another (77): which, since when, and what it is charged.
  void slice_facts() {
    if (w_.replacement_for.empty()) return;
    const auto chain = admission::slice_chain(parent_.workloads());
    const auto holder = chain.holder;
    if (holder == admission::SliceChain::none || !admission::names(w_, parent_.workloads()[holder])) return;
    const WorkloadState& old = parent_.workloads()[holder];
    fact("it is a slice that was requested at " + format_rfc3339(w_.created) + " to replace " + w_.replacement_for +
         (admission::is_leaving(old) ? ", which is on its way out; until that has given its quota back it is not tried"
                                     : ", which runs on until then: " + sizes(old.pod_sets) + " -> " + sizes(w_.pod_sets)));
    std::vector<admission::PodSetReservation> asked;
    for (const auto& p : w_.pod_sets) {
      auto& pod_set = asked.emplace_back();
      pod_set.pod_set = p.name;
      const auto pods = std::max(0, p.count - w_.reclaimable_of(p.name));
      for (const auto& r : p.requests) pod_set.usage.emplace_back(r.resource, multiply(r.amount, pods));
    }
    std::vector<std::string> parts;
    for (const auto& [resource, amount] : admission::slice_delta(asked, admission::effective_usage(old)))
      parts.push_back(text(resource) + " " + (amount > 0 ? "+" : "") + amount_text(amount, resource));
    fact("it is charged the difference only: " + (parts.empty() ? std::string("nothing") : joined(parts)));
  }

  static std::string sizes(const std::vector<admission::PodSetSpec>& pod_sets) {
    std::vector<std::string> parts;
    for (const auto& p : pod_sets) parts.push_back(text(p.name) + " x" + std::to_string(p.count));
    return joined(parts);
  }

  /// What keeps it out of the queue, or from being tried (base-api §6.3, in that order).
  void blockers() {
    if (w_.deleting) fact("it is being deleted");
    if (const auto& job = parent_.job()) {
      if (job->on_hold) fact("its job is on hold");
      if (job->finished) fact("its job has finished");
      if (!job->managed) fact("its job is not managed here: its namespace or an owner excludes it");
    }
    const auto* lq = catalog_.local_queue(w_.namespace_, w_.queue_name);
    if (lq == nullptr) {
      std::vector<std::string> names;
      for (const auto& [key, q] : catalog_.local_queues)
        if (q.namespace_ == w_.namespace_) names.push_back(text(q.name));
      std::sort(names.begin(), names.end());
      fact("there is no LocalQueue " + full_name(w_.namespace_.text(), w_.queue_name.text()) +
           (names.empty() ? ", and no other in this namespace" : "; this namespace has " + joined(names)));
    } else {
      if (lq->stop_policy != StopPolicy::none)
        fact("LocalQueue " + text(lq->name) + " is stopped: stopPolicy " + std::string(api_name(lq->stop_policy)));
      cluster_queue_blockers(lq->cluster_queue);
    }
    if (const auto gate = parent_.admission_gate(w_, catalog_); !gate.empty())
      fact("its admission is gated by " + std::string(gate) +
           (w_.gated_since.is_set() ? " since " + format_rfc3339(w_.gated_since) : std::string()) +
           "; the annotation admission-gated-by of " + (w_.admission_gated_by == gate && !parent_.job() ? "the Workload" : "its job") +
           " is to be taken away");
    if (w_.is_true(ConditionType::waiting_for_replacement_pods)) fact("it waits for replacements of failed pods");
    for (const auto& p : w_.pod_sets)
      for (const auto* finding : {&p.limits_error, &p.limit_range_error})
        if (!finding->empty()) fact("pod set " + text(p.name) + ": " + *finding);
    if (w_.has_requeue_state && w_.requeue_at.is_set() && w_.requeue_at > state_.domain().now()) {
      fact("it backs off after " + counted(static_cast<std::size_t>(std::max(0, w_.requeue_count)), "eviction") + " until " +
           format_rfc3339(w_.requeue_at) + ", " + human_duration(w_.requeue_at - state_.domain().now()) + " from now");
    }
    if (const auto* r = w_.find(ConditionType::requeued); r != nullptr && r->is_false()) {
      fact("it may not be tried: condition Requeued is False, " + text(r->reason) + (r->message.empty() ? "" : ": " + r->message));
    }
    const bool failed = std::any_of(w_.checks.begin(), w_.checks.end(),
                                    [](const CheckStatus& k) { return k.state == CheckState::retry || k.state == CheckState::rejected; });
    if (failed) check_facts();
  }

  void cluster_queue_blockers(Symbol name) {
    const auto* queue = catalog_.queue(name);
    if (queue == nullptr) {
      std::vector<std::string> names;
      for (const auto& [other, config] : catalog_.queues) names.push_back(text(other));
      return fact("there is no ClusterQueue " + text(name) + did_you_mean(name.text(), names));
    }
    if (const auto a = catalog_.activity.find(name); a != catalog_.activity.end() && !a->second.active) {
      fact("ClusterQueue " + text(name) + " is not active, " + a->second.reason + ": " + a->second.message);
      cohort_cycle(queue->cohort);
    }
    if (catalog_.namespace_matches(*queue, w_.namespace_)) return;
    const auto it = catalog_.namespaces.find(w_.namespace_);
    if (it == catalog_.namespaces.end()) return fact("namespace " + text(w_.namespace_) + " is not known");
    std::vector<std::string> labels;
    for (const auto& [key, value] : it->second->labels) labels.push_back(text(key) + "=" + value);
    std::vector<std::string> wanted;
    for (const auto& r : queue->namespace_selector)
      wanted.push_back(text(r.key) + " " + std::string(api_name(r.op)) + (r.values.empty() ? "" : " " + joined(r.values, "|")));
    fact("the namespaceSelector of ClusterQueue " + text(name) + " does not match namespace " + text(w_.namespace_) + ": it asks for " +
         (queue->has_namespace_selector ? joined(wanted) : std::string("no namespace at all")) + "; the labels are " +
         (labels.empty() ? "none" : joined(labels)));
  }

  /// The reason of an inactive queue does not say so (base-admission §2.1).
  void cohort_cycle(Symbol cohort) {
    std::vector<Symbol> way;
    for (Symbol at = cohort; !at.empty();) {
      if (const auto seen = std::find(way.begin(), way.end(), at); seen != way.end()) {
        std::vector<Symbol> cycle(seen, way.end());
        cycle.push_back(at);
        return fact("its cohorts form a cycle: " + joined(cycle, " -> "));
      }
      way.push_back(at);
      const auto config = catalog_.cohorts.find(at);
      at = config == catalog_.cohorts.end() ? Symbol() : config->second->parent;
    }
  }

  void queue_facts(const QueuePlace& p) {
    if (!p.equal_to.empty()) {
      fact("it was not tried itself: " + p.equal_to + " is equal and failed" + (p.record_reason.empty() ? "" : ", " + p.record_reason));
      if (out_.reason.empty()) out_.reason = p.record_reason;
    }
    if (p.parked) {
      fact("it is parked: it is tried again when something changes in the tree of ClusterQueue " + text(p.queue));
    } else if (p.ahead.empty() || p.sticky) {
      fact("it is the next of ClusterQueue " + text(p.queue) + " to be tried");
    }
    const auto* queue = catalog_.queue(p.queue);
    if (queue != nullptr && queue->strategy == QueueingStrategy::strict_fifo && !p.ahead.empty() && !p.ahead.front().parked) {
      fact("ClusterQueue " + text(p.queue) + " is StrictFIFO: nothing is tried before " +
           full_name(p.ahead.front().workload->namespace_.text(), p.ahead.front().workload->name));
    }
    if (const auto* tried = trail_.last(Kind::tried, w_.uid)) event(*tried, "tried: " + tried->reason);
  }

  /// Those that it preempted and that still hold what it waits for.
  void victims() {
    for (const auto& f : trail_.facts()) {
      if (f.kind != Kind::preempts) continue;
      const WorkloadAt victim = find_by_uid(state_, f.workload_uid);
      if (victim.workload == nullptr || !victim.workload->evicted() || !victim.workload->reserved()) continue;
      event(f, "preempted " + f.other + ": " + f.reason);
      fact(f.other + " still holds its quota: " +
           (victim.parent->job() && victim.parent->job()->active ? "its pods are still active" : "its reservation is not cleared yet"));
    }
  }

  void not_ready() {
    std::vector<std::string> names;
    for (const auto& other : all_workloads(state_)) {
      const auto* ready = other.workload->find(ConditionType::pods_ready);
      if (phase_of(*other.workload) == Phase::admitted && (ready == nullptr || !ready->is_true()))
        names.push_back(full_name(other.workload->namespace_.text(), other.workload->name));
    }
    fact("admission is blocked until the pods of all admitted workloads are ready; not ready: " +
         (names.empty() ? "none any more" : joined(names)));
  }

  void quota_facts(const QueuePlace& p) {
    const auto* queue = state_.queue(p.queue);
    std::shared_ptr<const WorkloadInfo> info;
    for (const auto& x : queue->waiting())
      if (x.workload->uid == w_.uid) info = x.workload;
    if (info == nullptr) return;
    for (const Symbol& r : uncovered_resources(state_, *info, p.queue))
      fact("it asks for " + text(r) + ", which no resource group of ClusterQueue " + text(p.queue) + " covers");
    out_.trials = try_flavors(state_, *info, p.queue);
    out_.places = try_places(state_, *info, p.queue);
    out_.users = users_of(state_, out_.trials, p.queue);
    out_.preemption = preemption_facts(state_, *info, p.queue, out_.trials);
    out_.remedies = find_remedies(state_, *info, p.queue, out_.trials);
    for (auto& remedy : find_place_remedies(state_, *info, p.queue, out_.places)) out_.remedies.push_back(std::move(remedy));
  }

  const StateView& state_;
  const Catalog& catalog_;
  const WorkloadParent& parent_;
  const WorkloadState& w_;
  const WorkloadAt& at_;
  const Trail& trail_;
  Why out_;
};

}  // namespace

Why explain(const StateView& state, const WorkloadAt& at, const Trail& trail) {
  Why out = Explanation(state, at, trail).make();
  std::stable_sort(out.events.begin(), out.events.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
  return out;
}

}  // namespace hindsight::projections
