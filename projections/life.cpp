#include "projections/life.hpp"

#include <algorithm>
#include <variant>

#include "projections/event_subject.hpp"
#include "projections/format.hpp"
#include "projections/wait_reasons.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::projections {
namespace {

using admission::Condition;
using SpanKind = LifeSpan::Kind;

constexpr std::size_t life_names_max = 10;
/// What says more than how it was made: API servers tell creation in whole seconds, and a watch needs a moment.
constexpr Duration unseen_min = Duration::seconds(1);

std::string pair_words(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::vector<std::string> parts;
  for (const auto& [flavor, resource] : pairs) parts.push_back(flavor + "/" + resource);
  return first_names(parts);
}

LifeSpan span_of_kind(SpanKind kind, std::string reason, std::string words) {
  LifeSpan out;
  out.kind = kind;
  out.reason = std::move(reason);
  out.words = cut_message(words, limits::finding.size());
  return out;
}

/// It was tried, or an equal one was.
LifeSpan lack_of_quota(const Condition& c) {
  const std::string_view message = c.message.value();
  const bool too_much = c.reason.text() == "ExceedsMaxQuota";
  auto lacks = short_pairs(message);
  std::string words = too_much ? "for more quota than there ever is" : "for quota";
  if (!lacks.empty())
    words += (too_much ? ", " : " of ") + pair_words(lacks);
  else if (c.reason.text() == "NoMatchingFlavor")
    words = "for a flavor that matches";
  else if (c.reason.text() == "TopologyPlacementFailed")
    words = "for places in a topology";
  else if (message.starts_with("Bypassed scheduling evaluation"))
    words += ", because an equal workload had found none";
  else if (message.starts_with("Workload no longer fits"))
    words += ", because another workload came first";
  LifeSpan out = span_of_kind(SpanKind::quota, text(c.reason), std::move(words));
  out.lacks = std::move(lacks);
  return out;
}

/// Holds quota, and is not admitted.
LifeSpan wait_for_checks(const admission::WorkloadState& w) {
  const auto* c = w.find(ConditionType::admitted);
  std::vector<std::string> names;
  for (const auto& check : w.checks)
    if (check.state != CheckState::ready) names.push_back(text(check.name));
  std::string words;
  if (!names.empty())
    words = (names.size() == 1 ? "for admission check " : "for admission checks ") + joined(names);
  else
    words = w.lacks_places() ? "for places in a topology" : "for its admission, holding quota";
  LifeSpan out = span_of_kind(SpanKind::checks, c == nullptr ? std::string() : text(c->reason), std::move(words));
  out.checks = std::move(names);
  return out;
}

/// What a Workload that holds no quota waits for.
LifeSpan wait_of(const admission::WorkloadState& w, Time now) {
  if (w.deleting) return span_of_kind(SpanKind::held, {}, "being deleted");
  if (!w.active) return span_of_kind(SpanKind::inactive, "Deactivated", "inactive");
  const auto* requeued = w.find(ConditionType::requeued);
  const bool not_yet = requeued != nullptr && requeued->is_false();
  const std::string_view why_not = not_yet ? requeued->reason.text() : std::string_view();
  if (why_not == "LocalQueueStopped" || why_not == "ClusterQueueStopped")
    return span_of_kind(SpanKind::held, std::string(why_not), "held back: " + requeued->message.value());
  if (not_yet || (w.has_requeue_state && w.requeue_at.is_set() && w.requeue_at > now)) {
    const auto* evicted = w.find(ConditionType::evicted);
    const std::string reason = not_yet ? std::string(why_not) : evicted == nullptr ? std::string() : text(evicted->reason);
    return span_of_kind(SpanKind::back_off, reason, "backing off" + (reason.empty() ? std::string() : " after " + reason));
  }
  const auto* c = w.find(ConditionType::quota_reserved);
  const std::string_view reason = c == nullptr ? std::string_view() : c->reason.text();
  if (reason.empty() || c->is_true() || reason == "PendingEvaluation" || reason == "Pending")
    return span_of_kind(SpanKind::turn, {}, "for its turn");
  if (reason == "WaitingForQuota" || reason == "ExceedsMaxQuota" || reason == "NoMatchingFlavor" || reason == "TopologyPlacementFailed")
    return lack_of_quota(*c);
  if (reason == "WaitingForPreemptedWorkloads") {
    LifeSpan out = span_of_kind(SpanKind::victims, std::string(reason), "for those that it preempted to stop");
    out.lacks = short_pairs(c->message.value());
    return out;
  }
  if (reason == "WaitingForPodsReady")
    return span_of_kind(SpanKind::others_ready, std::string(reason), "for the pods of all admitted workloads to be ready");
  if (reason == "AdmissionGated" || reason == "Suspended" || reason == "Misconfigured" || reason == "OnHold")
    return span_of_kind(SpanKind::held, std::string(reason),
                        "held back: " + (c->message->empty() ? std::string(reason) : c->message.value()));
  return span_of_kind(SpanKind::turn, std::string(reason), "for its turn (" + std::string(reason) + ")");
}

LifeSpan stand_of(const admission::WorkloadState& w, Time now) {
  if (!w.reserved()) return wait_of(w, now);
  if (w.evicted()) return span_of_kind(SpanKind::stopping, {}, {});
  return w.admitted() ? span_of_kind(SpanKind::running, {}, {}) : wait_for_checks(w);
}

bool same_stand(const LifeSpan& a, const LifeSpan& b) { return a.kind == b.kind && a.reason == b.reason && a.words == b.words; }

/// Others may be given quota while it waits so.
bool lets_others_by(const LifeSpan& span) { return span.kind == SpanKind::turn || span.kind == SpanKind::quota; }

void add_name(std::vector<std::string>& names, std::string name) {
  if (names.size() < life_names_max && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
}

}  // namespace

// ---- decisions ------------------------------------------------------------------------------------------------------------------------

/// What a decision changes in the Workload that it names, as far as spans depend on it; the same as the domain does
/// (admission/workload/workload_events.cpp), with the same cases in which it is void.
struct Lives::Fold {
  Lives& lives;
  One& one;
  std::uint64_t offset;

  [[nodiscard]] admission::WorkloadState& w() const { return one.w; }
  void decide(ConditionType type, ConditionStatus status, std::string_view reason, std::string_view message) const {
    w().decide_condition(type, status, Symbol(reason), message, lives.now_);
  }
  void no_reservation() const {
    decide(ConditionType::admitted, ConditionStatus::false_, "NoReservation", "The workload has no reservation");
  }
  void set_checks(List<CheckFacts> checks) const {
    w().checks.clear();
    for (const auto& k : checks) w().checks.push_back(admission::own_check(k));
    w().await(admission::Section::checks);
  }
  void release(One& other, std::string_view message) const {
    other.w.clear_reservation(Symbol("PendingEvaluation"), message, lives.now_);
    lives.settle(other, offset, nullptr);
  }

  void operator()(const QuotaReserved& e) const {
    if (w().finished() || !w().active || w().reserved() || w().deleting) return;
    for (const auto& p : w().pod_sets)  // a slice that has more pods by now
      for (const auto& a : e.assignments)
        if (w().elastic && a.pod_set == p.name.text() && p.count - w().reclaimable_of(p.name) > a.count) return;
    w().admission = admission::Admission{Symbol(e.cluster_queue), admission::own_assignments(e.assignments)};
    w().await(admission::Section::admission);
    w().reset_previous(lives.now_);
    decide(ConditionType::quota_reserved, ConditionStatus::true_, "QuotaReserved",
           "Quota reserved in ClusterQueue " + std::string(e.cluster_queue));
    if (e.checks_changed) set_checks(e.checks);
    decide(ConditionType::admitted, e.admitted ? ConditionStatus::true_ : ConditionStatus::false_,
           e.admitted ? "Admitted" : "UnsatisfiedAdmissionChecks",
           e.admitted ? "The workload is admitted" : "The workload has not all checks ready");
    if (One* parent = lives.find(w().option_of())) parent->keeps_hold = false;
  }
  void operator()(const EntryRequeued& e) const {
    if (!e.write_status || w().finished() || !w().active || w().reserved()) return;
    decide(ConditionType::quota_reserved, ConditionStatus::false_, e.reason, e.message);
    no_reservation();
  }
  void operator()(const WorkloadPreempted& e) const {
    if (std::exchange(one.keeps_hold, false)) return;  // what was kept is taken, and nothing of what runs
    if (w().finished() || !w().reserved() || w().evicted()) return;
    w().evict(Symbol("Preempted"), Symbol(), e.message, lives.now_, Symbol("Preempted"), true);
    decide(ConditionType::preempted, ConditionStatus::true_, e.reason, e.message);
  }
  void operator()(const WorkloadEvicted& e) const {
    if (w().finished()) return;
    const bool deactivation = e.reason == "Deactivated";
    const std::string reason = deactivation && !e.cause.empty() ? "DeactivatedDueTo" + std::string(e.cause) : std::string(e.reason);
    w().evict(Symbol(reason), Symbol(e.cause), e.message, lives.now_, Symbol(reason), w().reserved());
    if (deactivation) {
      w().remove_condition(ConditionType::deactivation_target);
      if (w().has_requeue_state) set_requeue(false, 0, Time::never());
    }
    if (e.has_requeue_state) set_requeue(true, e.requeue_count, e.requeue_at);
  }
  void set_requeue(bool present, std::int32_t count, Time at) const {
    w().has_requeue_state = present;
    w().requeue_count = count;
    w().requeue_at = at;
    w().await(admission::Section::requeue_state);
  }
  void operator()(const ReservationCleared& e) const {
    if (w().finished() || !w().reserved()) return;
    w().clear_reservation(Symbol(e.reason), e.message, lives.now_);
    if (e.writes_requeued)
      decide(ConditionType::requeued, e.requeued ? ConditionStatus::true_ : ConditionStatus::false_, e.requeued_reason, e.requeued_message);
  }
  void operator()(const WorkloadAdmitted&) const {
    if (w().finished() || !w().reserved() || w().evicted() || w().admitted()) return;
    decide(ConditionType::admitted, ConditionStatus::true_, "Admitted", "The workload is admitted");
  }
  void operator()(const WorkloadFinished& e) const {
    if (!w().finished()) decide(ConditionType::finished, ConditionStatus::true_, e.reason, e.message);
  }
  void operator()(const SliceReplaced& e) const {
    if (w().finished()) return;
    if (const One* other = lives.find(e.replacement.uid);
        other != nullptr && (!other->w.reserved() || !other->w.admitted() || other->w.finished()))
      return;
    const std::string uid = w().uid.text();
    for (auto& [key, o] : lives.all_) {  // with the Options that stood for it
      if (o.ended || (&o != &one && o.w.option_of() != uid)) continue;
      o.w.decide_condition(ConditionType::finished, ConditionStatus::true_, Symbol("WorkloadSliceReplaced"), e.message, lives.now_);
      if (&o != &one) lives.settle(o, offset, nullptr);
    }
  }
  void operator()(const ConditionChanged& e) const {
    if (w().finished()) return;
    if (e.remove) return w().remove_condition(e.type);
    if (e.type == ConditionType::quota_reserved && e.status == ConditionStatus::false_) {
      if (w().reserved()) return;
      no_reservation();
    }
    decide(e.type, e.status, e.reason, e.message);
  }
  void operator()(const WorkloadDeactivated&) const {
    if (!w().active) return;
    w().active = false;
    w().await(admission::Section::active);
  }
  void operator()(const ChecksChanged& e) const {
    if (!w().finished()) set_checks(e.checks);
  }
  void operator()(const RequeueStateChanged& e) const { set_requeue(e.present, e.count, e.at); }
  void operator()(const TopologyAssigned& e) const {
    if (w().finished() || !w().reserved() || w().evicted()) return;
    for (auto& mine : w().admission->pod_sets)
      for (const auto& now : admission::own_assignments(e.assignments))
        if (now.pod_set == mine.pod_set && mine.delayed == DelayedTopology::pending) mine.delayed = now.delayed;
    w().await(admission::Section::admission);
  }

  // ---- families (8691; admission/workload/family_events.cpp) --------------------------------------------------------------------------

  void operator()(const FamilyReset&) const { one.keeps_hold = false; }
  void operator()(const OptionSwitched& e) const {
    if (w().finished()) return;
    if (w().active != e.active) {
      w().active = e.active;
      w().await(admission::Section::active);
    }
    if (!w().active && !w().reserved()) {
      constexpr std::string_view why = "The workload is deactivated";
      if (!w().evicted()) decide(ConditionType::evicted, ConditionStatus::true_, "Deactivated", why);
      decide(ConditionType::quota_reserved, ConditionStatus::false_, "Deactivated", why);
      no_reservation();
    }
    if (w().active && w().find(ConditionType::requeued) != nullptr)
      decide(ConditionType::requeued, ConditionStatus::true_, "Reactivated", "The workload was reactivated");
  }
  void operator()(const OptionAdopted& e) const {
    One* from = lives.find(e.from.uid);
    if (w().reserved() || w().finished() || (from != nullptr && !from->w.reserved())) return;
    if (from == nullptr) {  // of its family only itself is looked at
      w().admission = admission::Admission{};
      decide(ConditionType::quota_reserved, ConditionStatus::true_, "QuotaReserved", {});
      decide(ConditionType::admitted, ConditionStatus::true_, "Admitted", {});
    } else {
      w().admission = from->w.admission;
      for (const auto type : {ConditionType::quota_reserved, ConditionType::admitted})
        if (const auto* c = from->w.find(type)) w().decide_condition(type, c->status, c->reason, c->message.value(), c->last_transition);
      w().checks = from->w.checks;
      w().await(admission::Section::checks);
    }
    w().await(admission::Section::admission);
    if (One* parent = lives.find(e.parent.uid)) parent->shown = w().uid.text();
    if (from == nullptr) return;
    if (e.from.uid != e.parent.uid)
      release(*from, "Another Option has taken its place");
    else if (!w().admitted())
      release(*from, "An Option has taken over its reservation");
  }
  void operator()(const OptionAdmitted& e) const {
    const One* option = lives.find(e.option.uid);
    if (w().finished() || option == nullptr || !option->w.reserved() || !option->w.admitted()) return;
    const bool anew = one.shown != e.option.uid || !w().reserved();
    w().admission = option->w.admission;
    w().await(admission::Section::admission);
    one.shown = e.option.uid;
    if (!anew) return;
    one.keeps_hold = false;
    w().reset_previous(lives.now_);
    decide(ConditionType::quota_reserved, ConditionStatus::true_, "QuotaReserved",
           "Quota reserved in ClusterQueue " + text(option->w.admission->cluster_queue));
    decide(ConditionType::admitted, ConditionStatus::true_, "Admitted", "The variant " + option->w.name.text() + " is admitted");
  }
  void operator()(const MigrationStarted& e) const {
    if (One* parent = lives.find(e.parent.uid)) parent->keeps_hold = !e.assignments.empty();
  }
  template <class E>
  void operator()(const E&) const {}
};

// ---- records --------------------------------------------------------------------------------------------------------------------------

void Lives::add(std::uint64_t offset, const RecordView& record, const Mentions& mentions, bool concerns) {
  now_ = std::max(now_, record.envelope.time);  // a clock that steps back does not turn time back
  if (const auto* o = std::get_if<Observation>(&record.body)) return observed(offset, *o, mentions);
  const auto* d = std::get_if<Decisions>(&record.body);
  if (d == nullptr || open_.empty()) return;
  if (concerns) decided(offset, *d);
  granted(*d, mentions);
}

void Lives::know_local_queue(std::string_view namespace_, std::string_view name, std::string_view cluster_queue) {
  local_queues_[full_name(namespace_, name)] = cluster_queue;
}

void Lives::observed(std::uint64_t offset, const Observation& o, const Mentions& mentions) {
  if (const auto* q = std::get_if<LocalQueueObserved>(&o)) {
    local_queues_[full_name(q->meta.namespace_, q->meta.name)] = q->cluster_queue;
  } else if (const auto* w = std::get_if<WorkloadObserved>(&o)) {
    if (!mentions.knows_workload(w->meta.uid)) return;
    const auto [at, first] = all_.try_emplace(std::string(w->meta.uid));
    One& one = at->second;
    if (one.ended && !one.w.finished()) {
      if (w->meta.resource_version != 0 && w->meta.resource_version < one.w.resource_version) return;  // from before it went
      one.w = admission::WorkloadState{};                                                              // it is there again
    }
    if (!first && w->meta.resource_version != 0 && w->meta.resource_version <= one.w.resource_version) return;  // told late
    (void)one.w.observe(*w, 0);
    if (first) {
      begin(one, offset);
    } else if (one.ended) {
      if (!one.w.finished()) resume(one, offset);
    } else {
      settle(one, offset, nullptr);
    }
  } else if (const auto* d = std::get_if<ObjectDeleted>(&o)) {
    if (d->kind == ObjectKind::local_queue) local_queues_.erase(full_name(d->namespace_, d->name));
    if (One* one = find(d->uid); one != nullptr && !one->ended)
      end(*one, d->departed_to.empty() ? std::string("deleted") : "moved to domain " + std::string(d->departed_to));
  } else if (const auto* refused = std::get_if<WriteRefused>(&o)) {
    One* one = refused->kind == ObjectKind::workload ? find(refused->uid) : nullptr;
    if (one == nullptr || one->ended || !one->w.reserved() || !one->w.waits_for(admission::Section::admission)) return;
    one->w.take_back_reservation();  // BA-75: nobody ever saw it
    for (auto span = one->spans.rbegin(); span != one->spans.rend(); ++span) {
      if (span->kind != SpanKind::running && span->kind != SpanKind::checks && span->kind != SpanKind::stopping) break;
      span->kind = SpanKind::turn;
      span->reason.clear();
      span->words = "for its turn, while an admission could not be written";
      span->checks.clear();
    }
    settle(*one, offset, nullptr);
  }
}

void Lives::decided(std::uint64_t offset, const Decisions& d) {
  for (const Event& e : d.events) {
    const auto* preempted = std::get_if<WorkloadPreempted>(&e);
    if (preempted != nullptr) {
      if (One* preemptor = find(preempted->preemptor.uid); preemptor != nullptr && !preemptor->ended) {
        ++preemptor->victims;
        add_name(preemptor->victim_names, full_name(preempted->workload));
      }
    }
    One* one = find(subject_uid(e));
    if (one == nullptr || one->ended) continue;
    std::visit(Fold{*this, *one, offset}, e);
    settle(*one, offset, preempted);
  }
}

/// Others that were given quota in the ClusterQueue of one that waits. Its own family and slices are no others.
void Lives::granted(const Decisions& d, const Mentions& mentions) {
  for (const Event& e : d.events) {
    const auto* reserved = std::get_if<QuotaReserved>(&e);
    if (reserved == nullptr || mentions.knows_workload(reserved->workload.uid)) continue;
    for (const auto& uid : open_) {
      One& one = all_.find(uid)->second;
      if (one.spans.empty() || !lets_others_by(one.spans.back())) continue;
      const auto queue = local_queues_.find(full_name(one.w.namespace_.text(), one.w.queue_name.text()));
      if (queue == local_queues_.end() || queue->second != reserved->cluster_queue) continue;
      ++one.spans.back().others;
      add_name(one.spans.back().names, full_name(reserved->workload));
    }
  }
}

std::vector<Lives::WaitsIn> Lives::waits_in() const {
  std::vector<WaitsIn> out;
  for (const auto& uid : open_) {
    const One& one = all_.find(uid)->second;
    if (one.spans.empty() || !lets_others_by(one.spans.back())) continue;
    const auto queue = local_queues_.find(full_name(one.w.namespace_.text(), one.w.queue_name.text()));
    if (queue != local_queues_.end()) out.push_back({queue->second, one.spans.back().names.size() < life_names_max});
  }
  return out;
}

void Lives::pass_by(std::string_view cluster_queue, std::uint64_t count) {
  for (const auto& uid : open_) {
    One& one = all_.find(uid)->second;
    if (one.spans.empty() || !lets_others_by(one.spans.back())) continue;
    const auto queue = local_queues_.find(full_name(one.w.namespace_.text(), one.w.queue_name.text()));
    if (queue != local_queues_.end() && queue->second == cluster_queue) one.spans.back().others += count;
  }
}

// ---- accounts -------------------------------------------------------------------------------------------------------------------------

Lives::One* Lives::find(std::string_view uid) {
  if (uid.empty()) return nullptr;
  const auto it = all_.find(uid);
  return it == all_.end() ? nullptr : &it->second;
}

void Lives::begin(One& one, std::uint64_t offset) {
  const Time made = one.w.created;
  const bool older = made.is_set() && now_ - made > unseen_min;
  one.created = older ? made : now_;
  if (older) {
    LifeSpan before = span_of_kind(SpanKind::unknown, {}, {});
    before.from = made;
    before.to = now_;
    one.spans.push_back(std::move(before));
  }
  open_.insert(one.w.uid.text());
  open_span(one, stand_of(one.w, now_), offset);
  settle(one, offset, nullptr);  // it may have ended already
}

/// What was over goes on: it came back from another domain, or somebody took its end away.
void Lives::resume(One& one, std::uint64_t offset) {
  LifeSpan between = span_of_kind(SpanKind::unknown, {}, {});
  between.from = one.end_time;
  between.to = now_;
  between.offset = offset;
  if (between.from < between.to) one.spans.push_back(std::move(between));
  one.ended = false;
  one.end.clear();
  open_.insert(one.w.uid.text());
  open_span(one, stand_of(one.w, now_), offset);
}

void Lives::settle(One& one, std::uint64_t offset, const WorkloadPreempted* preempted) {
  const admission::WorkloadState& w = one.w;
  if (one.ended || one.spans.empty()) return;
  if (w.finished()) {
    const auto* c = w.find(ConditionType::finished);
    return end(one, "finished" + (c->reason.empty() ? std::string() : ": " + text(c->reason)));
  }
  LifeSpan stand = stand_of(w, now_);
  const LifeSpan& last = one.spans.back();
  const bool held = last.kind == SpanKind::running || last.kind == SpanKind::checks;
  if (held && (stand.kind == SpanKind::stopping || (last.kind == SpanKind::running && stand.kind != SpanKind::running))) {
    LifeLoss loss{.offset = offset, .time = now_};
    if (last.kind == SpanKind::running) loss.lost = now_ - last.from;
    if (preempted != nullptr) {
      loss.reason = preempted->reason;
      loss.by = full_name(preempted->preemptor);
      loss.by_queue = preempted->preemptor_cluster_queue;
    } else if (const auto* c = w.find(ConditionType::evicted); c != nullptr && c->is_true()) {
      loss.reason = text(c->reason);
    }
    one.losses.push_back(std::move(loss));
  }
  if (w.reserved()) {
    one.victims = 0;
    one.victim_names.clear();
  }
  if (stand.kind == SpanKind::victims && same_stand(last, stand)) {
    one.spans.back().others = one.victims;
    one.spans.back().names = one.victim_names;
  }
  if (same_stand(last, stand)) return;
  close_span(one);
  open_span(one, std::move(stand), offset);
}

void Lives::end(One& one, std::string how) {
  close_span(one);
  one.ended = true;
  one.end_time = now_;
  one.end = std::move(how);
  open_.erase(one.w.uid.text());
}

/// One that took no time is no part of the account; who was given quota in that moment counts for the wait that follows.
void Lives::close_span(One& one) const {
  LifeSpan& last = one.spans.back();
  last.to = now_;
  one.passed_by = 0;
  one.passed_by_names.clear();
  if (last.from < last.to) return;
  if (lets_others_by(last)) {
    one.passed_by = last.others;
    one.passed_by_names = std::move(last.names);
  }
  one.spans.pop_back();
}

void Lives::open_span(One& one, LifeSpan span, std::uint64_t offset) const {
  const std::uint64_t others = std::exchange(one.passed_by, 0);
  const auto names = std::exchange(one.passed_by_names, {});
  // What was only interrupted for no time goes on; a run that was lost does not.
  const bool goes_on = !one.spans.empty() && span.kind != SpanKind::running && same_stand(one.spans.back(), span);
  if (!goes_on) {
    span.from = now_;
    span.offset = offset;
    one.spans.push_back(std::move(span));
  }
  LifeSpan& last = one.spans.back();
  last.to = Time::never();
  if (lets_others_by(last)) {
    last.others += others;
    for (const auto& name : names) add_name(last.names, name);
  }
  if (last.kind == SpanKind::victims) {
    last.others = one.victims;
    last.names = one.victim_names;
  }
}

std::optional<Life> Lives::of(std::string_view workload_uid, Time until) const {
  const auto it = all_.find(workload_uid);
  if (it == all_.end()) return std::nullopt;
  const One& one = it->second;
  Life out{one.created, one.ended ? one.end_time : std::max(until, now_), one.end, one.spans, one.losses};
  if (!one.ended) out.spans.back().to = out.until;
  return out;
}

}  // namespace hindsight::projections
