#include "projections/why.hpp"

#include <algorithm>

#include "admission/domain/domain.hpp"
#include "events/decision_fields.hpp"
#include "projections/families.hpp"
#include "projections/format.hpp"

namespace hindsight::projections {
namespace {

using namespace admission;
using events::api_name;
using Kind = TrailFact::Kind;

constexpr std::size_t the_whole = static_cast<std::size_t>(-1);

/// Remedies that are still to be looked for, when all facts are told.
struct Quest {
  std::size_t option = the_whole;            ///< In whose explanation they belong: that of this Option, or the whole one.
  std::shared_ptr<const WorkloadInfo> info;  ///< As its queue has it; null: its LocalQueue is stopped, and it stands in none.
  Symbol queue;
};

/// Builds the explanation of one workload piece by piece.
class Explanation {
 public:
  /// `option`: number of an Option in the explanation of its Parent, which says what concerns the whole family.
  Explanation(const StateView& state, const WorkloadAt& at, const Trail& trail, std::vector<Quest>& quests, std::size_t option = the_whole)
      : state_(state),
        catalog_(*state.domain().catalog()),
        parent_(*at.parent),
        w_(*at.workload),
        at_(at),
        trail_(trail),
        quests_(quests),
        family_(parent_of(at)),
        option_(option),
        nested_(option != the_whole) {
    if (w_.family || family_ != nullptr) lanes_ = lanes_of(state_, {at.parent, family_ == nullptr ? at.workload : family_});
  }

  Why make() {
    out_.object = "Workload " + full_name(w_.namespace_.text(), w_.name);
    if (const auto& job = parent_.job()) out_.job = text(job->kind) + "/" + job->name;
    out_.phase = phase_of(w_);
    if (w_.family && !(w_.family->holds_itself && w_.reserved())) {
      explain_family();
      return std::move(out_);
    }
    if (family_ != nullptr) option_facts();
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
    if (w_.deleting) fact(w_.gone ? "it was deleted, and its quota is free when its job has stopped" : "it is being deleted");
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

  // ---- families (8691) ------------------------------------------------------------------------------------------------------------

  /// A Parent is where its Options are; each of them says why it is where it is.
  void explain_family() {
    switch (out_.phase) {
      case Phase::finished:
        return finished();
      case Phase::inactive:
        inactive();
        break;
      case Phase::evicted:
        family_stops();
        break;
      case Phase::quota_reserved:
      case Phase::admitted:
        family_runs();
        break;
      case Phase::pending:
        family_waits();
        break;
    }
    for (const auto& lane : lanes_) {
      if (lane.target) migration_facts(lane);
      if (lane.may_preempt) fact("Option " + lane.name + " has the right of the family to preempt" + right_times(lane));
    }
    next_fact();
    for (const auto& lane : lanes_) {
      if (lane.workload != nullptr) {
        out_.options.push_back(Explanation(state_, {&parent_, lane.workload}, trail_, quests_, out_.options.size()).make());
        continue;
      }
      Why& one = out_.options.emplace_back();
      one.object = "Workload " + full_name(w_.namespace_.text(), lane.name);
      one.flavors = lane.flavors;
      one.headline = "It was asked for, and is not there yet";
    }
  }

  void family_waits() {
    condition(w_.find(ConditionType::quota_reserved));
    if (lanes_.empty())
      out_.headline = out_.reason.empty() ? "It waits for its Options to be made" : "It waits: " + out_.reason;
    else
      out_.headline = "It waits: none of its " + counted(lanes_.size(), "Option") + " is admitted";
    before_it_waited();
    blockers();
    ask_for_return_of_queue();
  }

  void family_runs() {
    condition(w_.find(ConditionType::admitted));
    out_.headline = "It is admitted in ClusterQueue " + text(w_.admission->cluster_queue);
    if (const auto* lane = running_lane(lanes_)) out_.headline += " by its Option " + lane->name + ", " + flavors_words(lane->flavors);
    if (const auto* f = decided(Kind::admitted, w_.find(ConditionType::admitted))) event(*f, "admitted by its Option " + f->other);
    job_facts();
  }

  void family_stops() {
    condition(w_.find(ConditionType::evicted));
    const auto* lane = running_lane(lanes_);
    const auto* why = lane == nullptr ? nullptr : lane->workload->find(ConditionType::evicted);
    if (out_.reason == "VariantEvicted" && why != nullptr && why->is_true()) {
      out_.headline = "Its Option " + lane->name + " was evicted: " + text(why->reason);
      fact(why->message);
    } else {
      out_.headline = "It was evicted: " + out_.reason;
    }
    if (const auto* f = trail_.last(Kind::evicted, w_.uid)) event(*f, "evicted: " + f->reason);
    fact("no Option of it is admitted until its job has stopped" + stop_words());
  }

  [[nodiscard]] std::string stop_words() const {
    const auto& job = parent_.job();
    return !job             ? ": whoever made it has not cleared its admission yet"
           : job->active    ? ": its pods are still active"
           : job->suspended ? ""
                            : ": it is not suspended yet";
  }

  void migration_facts(const OptionLane& target) {
    const auto* running = running_lane(lanes_);
    const bool stops = running != nullptr && running != &target;
    fact("its job moves to Option " + target.name + ", " + flavors_words(target.flavors) +
         (stops ? ", as soon as it has stopped on " + running->name : std::string()));
    const WorkloadState& parent = family_ == nullptr ? w_ : *family_;
    const auto hold = hold_of(state_, parent);
    if (hold == nullptr) return;
    std::vector<std::string> kept;
    for (const auto& c : hold->charges) kept.push_back(text(c.flavor) + "/" + text(c.resource) + " " + amount_text(c.amount, c.resource));
    if (!kept.empty()) fact("kept for it: " + joined(kept));
  }

  static std::string right_times(const OptionLane& lane) {
    return " since " + format_rfc3339(lane.workload->option->gate_since) +
           (lane.right_until.is_set() ? ", until " + format_rfc3339(lane.right_until) + " unless it gets quota before" : std::string());
  }

  /// Who of the family is tried next, if anybody can be.
  void next_fact() {
    const auto* queue = state_.queue(queue_of(state_, w_));
    if (queue == nullptr) return;
    const auto sticky = queue->image().sticky_uid;
    const WorkloadInfo* next = nullptr;
    const auto waiting = queue->waiting();
    for (const auto& x : waiting) {
      const WorkloadInfo& o = *x.workload;
      if (o.option == nullptr || o.option->parent != w_.id || x.parked || o.requeued_false) continue;
      if (o.requeue_at.is_set() && o.requeue_at > state_.domain().now()) continue;
      if (next == nullptr || o.uid == sticky) next = &o;
    }
    if (next != nullptr) fact("of its Options " + next->name + " is tried next");
  }

  void option_facts() {
    const auto mine = std::find_if(lanes_.begin(), lanes_.end(), [&](const OptionLane& l) { return l.workload == &w_; });
    if (mine == lanes_.end()) return;
    out_.flavors = mine->flavors;
    const auto ranked = std::count_if(lanes_.begin(), lanes_.end(), [](const OptionLane& l) { return l.rank.has_value(); });
    const std::string parent = full_name(family_->namespace_.text(), family_->name);
    if (mine->rank && !nested_)
      fact("it is an Option of " + parent + ", number " + std::to_string(*mine->rank + 1) + " of " + std::to_string(ranked) +
           ", the best first");
    if (!mine->rank) fact("its ClusterQueue does not ask for such an Option of " + parent);
    if (!nested_) {
      const auto* running = running_lane(lanes_);
      if (running != nullptr && running != &*mine)
        fact("the job of " + parent + " runs on Option " + running->name + ", " + flavors_words(running->flavors));
      if (mine->target) migration_facts(*mine);
      if (mine->may_preempt) fact("it has the right of its family to preempt" + right_times(*mine));
    }
    if (mine->not_before.is_set()) fact("it is not tried before " + format_rfc3339(mine->not_before) + ": createDelaySeconds");
    if (mine->until.is_set())
      fact("it is tried until " + format_rfc3339(mine->until) + " only: deleteDelaySeconds after the first admission of its family");
  }

  void inactive_option() {
    const OptionCause cause = w_.option ? w_.option->cause : OptionCause::none;
    for (const auto& lane : lanes_)
      if (lane.workload == &w_) {
        out_.message = lane.why;
        out_.since = lane.since;
      }
    out_.reason = "Deactivated";
    out_.headline = "It is not active" + (cause == OptionCause::none ? std::string() : ": " + std::string(api_name(cause)));
    switch (cause) {
      case OptionCause::policy:
        return fact("it is tried again when its family begins anew, or when the policy or the order of flavors changes");
      case OptionCause::delete_delay:
      case OptionCause::rejected:
        return fact("it is tried again when its family begins anew");
      case OptionCause::parent_inactive:
        return fact("it is tried again when spec.active of its Parent is set to true");
      case OptionCause::none:
      case OptionCause::create_delay:
        return;
    }
  }

  /// Whom it preempted since it was released last, up to this record.
  void preempted_for_it(std::uint64_t before) {
    std::uint64_t since = 0;
    for (const auto& f : trail_.facts())
      if (f.workload_uid == w_.uid && (f.kind == Kind::released || f.kind == Kind::reserved) && f.sequence < before)
        since = std::max(since, f.sequence);
    for (const auto& f : trail_.facts())
      if (f.kind == Kind::preempts && f.by_uid == w_.uid && f.sequence >= since && f.sequence <= before)
        event(f, "preempted " + f.other + ": " + f.reason);
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
    if (!nested_) job_facts();
  }

  void job_facts() {
    if (const auto& job = parent_.job(); job && job->suspended) fact("its job is still suspended: the start has not been seen yet");
    if (const auto* ready = w_.find(ConditionType::pods_ready); ready != nullptr && ready->is_false())
      fact("its pods are not ready: " + ready->message);
  }

  void waits_for_checks() {
    condition(w_.find(ConditionType::admitted));
    out_.headline = "It holds quota in ClusterQueue " + text(w_.admission->cluster_queue) +
                    (family_ != nullptr && w_.checks_ready() ? " and waits for the job to stop" : " and waits for its admission checks");
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
      fact("why it and not another: ask why of workload/" + preempted->other + " at " + std::to_string(preempted->offset - 1) +
           ", right before that decision");
    } else {
      out_.headline = "It was evicted: " + out_.reason;
      if (const auto* f = trail_.last(Kind::evicted, w_.uid)) event(*f, "evicted: " + f->reason);
    }
    if (family_ != nullptr && !w_.admitted()) return;  // nothing runs on it: it gives its quota back at once
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
    if (family_ != nullptr) return inactive_option();
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
    if (!out_.place) {
      if (!nested_) ask_for_return_of_queue();  // else it is asked for with the Parent
      return;
    }
    queue_facts(*out_.place);
    if (out_.reason == "WaitingForPreemptedWorkloads") victims();
    if (out_.reason == "WaitingForPodsReady") not_ready();
    quota_facts(*out_.place);
  }

  // ---- pending --------------------------------------------------------------------------------------------------------------------

  /// Of one that stands in no line, because its LocalQueue is stopped.
  void ask_for_return_of_queue() {
    const auto* lq = catalog_.local_queue(w_.namespace_, w_.queue_name);
    if (lq != nullptr && lq->stop_policy != StopPolicy::none) quests_.push_back({option_, nullptr, lq->cluster_queue});
  }

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
    if (!nested_) blockers_of_job();
    backs_off(w_);
    if (family_ != nullptr) backs_off(*family_);  // the back-off of a family stands on its Parent
    const bool failed = std::any_of(w_.checks.begin(), w_.checks.end(),
                                    [](const CheckStatus& k) { return k.state == CheckState::retry || k.state == CheckState::rejected; });
    if (failed) check_facts();
  }

  /// What concerns all Workloads of a family alike.
  void blockers_of_job() {
    const WorkloadState& asked = family_ == nullptr ? w_ : *family_;
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
    if (const auto gate = parent_.admission_gate(asked, catalog_); !gate.empty())
      fact("its admission is gated by " + std::string(gate) +
           (asked.gated_since.is_set() ? " since " + format_rfc3339(asked.gated_since) : std::string()) +
           "; the annotation admission-gated-by of " + (asked.admission_gated_by == gate && !parent_.job() ? "the Workload" : "its job") +
           " is to be taken away");
    if (asked.is_true(ConditionType::waiting_for_replacement_pods)) fact("it waits for replacements of failed pods");
    for (const auto& p : w_.pod_sets)
      for (const auto* finding : {&p.limits_error, &p.limit_range_error})
        if (!finding->empty()) fact("pod set " + text(p.name) + ": " + *finding);
  }

  void backs_off(const WorkloadState& w) {
    if (w.has_requeue_state && w.requeue_at.is_set() && w.requeue_at > state_.domain().now()) {
      fact("it backs off after " + counted(static_cast<std::size_t>(std::max(0, w.requeue_count)), "eviction") + " until " +
           format_rfc3339(w.requeue_at) + ", " + human_duration(w.requeue_at - state_.domain().now()) + " from now");
    }
    if (const auto* r = w.find(ConditionType::requeued); r != nullptr && r->is_false()) {
      fact("it may not be tried: condition Requeued is False, " + text(r->reason) + (r->message.empty() ? "" : ": " + r->message));
    }
  }

  void cluster_queue_blockers(const Symbol& name) {
    const auto* queue = catalog_.queue(name);
    if (queue == nullptr) {
      std::vector<std::string> names;
      for (const auto& [other, config] : catalog_.queues) names.push_back(text(other));
      return fact("there is no ClusterQueue " + text(name) + did_you_mean(name.text(), names));
    }
    if (const auto a = catalog_.activity.find(name); a != catalog_.activity.end() && !a->second.active) {
      fact("ClusterQueue " + text(name) + " is not active, " + a->second.reason + ": " + a->second.message);
      // the reason of an inactive queue does not say so (base-admission §2.1)
      if (const auto cycle = cohort_cycle(state_, queue->cohort); !cycle.empty())
        fact("its cohorts form a cycle: " + joined(cycle, " -> "));
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

  /// Who holds up a StrictFIFO queue, and with it this Workload; null: nobody. Where families are tried as one, siblings do not, nor do
  /// those that are parked (CA-142, CA-143).
  const admission::WorkloadInfo* strict_head(const QueuePlace& p) const {
    const bool families = catalog_.settings.strict_families;
    for (const auto& x : p.ahead) {
      const bool sibling = x.workload->option != nullptr && w_.is_made_as_option() && x.workload->option->family == w_.option_of();
      if (!families || (!x.parked && !sibling)) return x.parked ? nullptr : x.workload.get();
    }
    return nullptr;
  }

  void queue_facts(const QueuePlace& p) {
    if (!p.equal_to.empty()) {
      fact("it was not tried itself: " + p.equal_to + " is equal and failed" + (p.record_reason.empty() ? "" : ", " + p.record_reason));
      if (out_.reason.empty()) out_.reason = p.record_reason;
    }
    if (p.parked) {
      fact("it is parked: it is tried again when something changes in the tree of ClusterQueue " + text(p.queue));
    } else if (!p.served_first.empty()) {
      fact(p.served_first + ", for which room is made, goes before it");
    } else if ((p.ahead.empty() || p.sticky) && catalog_.queue_active(p.queue)) {
      fact("it is the next of ClusterQueue " + text(p.queue) + " to be tried");
    }
    const auto* queue = catalog_.queue(p.queue);
    if (queue != nullptr && queue->strategy == QueueingStrategy::strict_fifo)
      if (const auto* first = strict_head(p); first != nullptr)
        fact("ClusterQueue " + text(p.queue) + " is StrictFIFO: nothing is tried before " +
             full_name(first->namespace_.text(), first->name));
    if (const auto* tried = trail_.last(Kind::tried, w_.uid)) event(*tried, "tried: " + tried->reason);
  }

  /// Those that it preempted and that still hold what it waits for.
  void victims() {
    for (const auto& f : trail_.facts()) {
      if (f.kind != Kind::preempts || f.by_uid != w_.uid) continue;
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
      if (parent_of(other) != nullptr) continue;  // its Parent tells
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
    out_.users = users_of(state_, *info, out_.trials, p.queue);
    out_.preemption = preemption_facts(state_, *info, p.queue, out_.trials);
    out_.preempting = explain_preemption(state_, *info, p.queue, out_.trials);
    for (auto& line : preemption_lines(out_.preempting, *catalog_.queue(p.queue), info->priority))
      out_.preemption.push_back(std::move(line));
    quests_.push_back({option_, info, p.queue});
  }

  const StateView& state_;
  const Catalog& catalog_;
  const WorkloadParent& parent_;
  const WorkloadState& w_;
  const WorkloadAt& at_;
  const Trail& trail_;
  std::vector<Quest>& quests_;
  const WorkloadState* family_;  ///< The Parent of an Option; null: it is none.
  std::size_t option_;
  bool nested_;
  std::vector<OptionLane> lanes_;  ///< Of its family.
  Why out_;
};

/// `quests`: is told for whom remedies are to be looked for.
Why facts_of(const StateView& state, const WorkloadAt& at, const Trail& trail, std::vector<Quest>& quests) {
  Why out = Explanation(state, at, trail, quests).make();
  const auto sort = [](Why& why) {
    std::stable_sort(why.events.begin(), why.events.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
  };
  sort(out);
  for (auto& option : out.options) sort(option);
  auto life = trail.life(at.workload->uid, state.now());
  if (life && (out.phase == Phase::finished || life->was_admitted())) out.life = std::move(life);
  return out;
}

void look_for_remedies(const StateView& state, const WorkloadState& w, const Stage* stage, const Quest& quest, Why& out,
                       const WhyListener& listener) {
  const auto tell = [&](const Remedy& r) {
    if (listener.remedy) listener.remedy(out, r);
  };
  if (quest.info == nullptr) {
    auto resumed = stage == nullptr ? std::nullopt : play_resumed(state, *stage, w);
    if (!resumed) return;
    tell(*resumed);
    out.remedies.push_back(std::move(*resumed));
    return;
  }
  const WorkloadInfo& info = *quest.info;
  auto remedies = find_remedies(state, info, quest.queue, out.trials);
  for (auto& remedy : find_place_remedies(state, info, quest.queue, out.places)) remedies.push_back(std::move(remedy));
  if (stage == nullptr) {
    for (auto& remedy : find_asks(state, info, quest.queue)) remedies.push_back(std::move(remedy));
    std::for_each(remedies.begin(), remedies.end(), tell);
    out.remedies = std::move(remedies);
    return;
  }
  const std::size_t known = out.facts.size();
  out.remedies = play_remedies(state, *stage, info, quest.queue, out.trials, std::move(remedies), out.facts, tell);
  if (listener.further_fact)
    for (std::size_t i = known; i < out.facts.size(); ++i) listener.further_fact(out, out.facts[i]);
}

}  // namespace

Why explain_facts(const StateView& state, const WorkloadAt& at, const Trail& trail) {
  std::vector<Quest> quests;
  return facts_of(state, at, trail, quests);
}

Why explain(const StateView& state, const WorkloadAt& at, const Trail& trail, const Stage* stage, const WhyListener& listener) {
  std::vector<Quest> quests;
  Why out = facts_of(state, at, trail, quests);
  if (listener.facts) listener.facts(out);
  for (const Quest& quest : quests)
    look_for_remedies(state, *at.workload, stage, quest, quest.option == the_whole ? out : out.options[quest.option], listener);
  return out;
}

}  // namespace hindsight::projections
