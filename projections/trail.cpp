#include "projections/trail.hpp"

#include <algorithm>

#include "projections/format.hpp"
#include "vocabulary/record_order.hpp"

namespace hindsight::projections {
namespace {

struct Collect {
  TrailFact fact;  ///< With where and when.
  const Mentions& mentions;
  std::vector<TrailFact>& out;

  void put(TrailFact::Kind kind, const WorkloadRef& w, Text reason, Text message) {
    fact.kind = kind;
    fact.workload_uid = w.uid;
    fact.reason = reason;
    fact.message = message;
    out.push_back(fact);
  }
  void operator()(const QuotaReserved& e) {
    fact.borrowing_level = e.borrowing_level;
    put(TrailFact::Kind::reserved, e.workload, {}, {});
    if (e.admitted) put(TrailFact::Kind::admitted, e.workload, {}, {});
  }
  void operator()(const WorkloadAdmitted& e) { put(TrailFact::Kind::admitted, e.workload, {}, {}); }
  void operator()(const EntryRequeued& e) { put(TrailFact::Kind::tried, e.workload, e.reason, e.message); }
  void operator()(const WorkloadPreempted& e) {
    const bool victim = mentions.knows_workload(e.workload.uid);
    fact.other = full_name(victim ? e.preemptor : e.workload);
    fact.other_queue = e.preemptor_cluster_queue;
    fact.by_uid = e.preemptor.uid;
    put(victim ? TrailFact::Kind::preempted : TrailFact::Kind::preempts, e.workload, e.reason, e.message);
  }
  void operator()(const WorkloadEvicted& e) { put(TrailFact::Kind::evicted, e.workload, e.reason, e.message); }
  void operator()(const ReservationCleared& e) { put(TrailFact::Kind::released, e.workload, e.reason, e.message); }
  void operator()(const WorkloadDeactivated& e) { put(TrailFact::Kind::deactivated, e.workload, {}, {}); }
  void operator()(const WorkloadFinished& e) { put(TrailFact::Kind::finished, e.workload, e.reason, e.message); }
  void operator()(const OptionAdmitted& e) {
    fact.other = full_name(e.option);
    put(TrailFact::Kind::admitted, e.workload, {}, {});
  }
  void operator()(const SliceReplaced& e) {
    fact.other = full_name(e.replacement);
    put(TrailFact::Kind::finished, e.workload, "WorkloadSliceReplaced", e.message);
  }
  void operator()(const ConditionChanged& e) {
    if (e.type == ConditionType::quota_reserved) put(TrailFact::Kind::pending, e.workload, e.reason, e.message);
  }
  template <class E>
  void operator()(const E&) {}
};

}  // namespace

/// As the domain does; where the log begins later than the domain, the first record does not follow on another.
bool Trail::counts(const RecordView& record) {
  const Envelope& e = record.envelope;
  if (record_order(sequence_, epoch_, e.sequence, e.epoch) == RecordOrder::passed_over) return false;
  sequence_ = e.sequence == numbered_by_reader ? sequence_ + 1 : e.sequence;
  epoch_ = std::max(epoch_, e.epoch);
  const auto* d = std::get_if<Decisions>(&record.body);
  if (d == nullptr || d->base == 0) return true;
  if (d->base <= decided_base_) return false;  // an append that was repeated
  decided_base_ = d->base;
  return true;
}

void Trail::add(std::uint64_t offset, const RecordView& record) {
  if (!counts(record)) return;
  const bool concerns = mentions_.concerns(record);
  lives_.add(offset, record, mentions_, concerns);
  if (!concerns) return;
  if (const auto* o = std::get_if<Observation>(&record.body)) note_end(offset, record.envelope.time, *o);
  const auto* d = std::get_if<Decisions>(&record.body);
  if (d == nullptr) return;
  for (const Event& e : d->events) {
    if (!mentions_.concerns(e)) continue;
    TrailFact blank;
    blank.offset = offset;
    blank.sequence = sequence_;
    blank.time = record.envelope.time;
    std::visit(Collect{std::move(blank), mentions_, facts_}, e);
  }
}

void Trail::note_end(std::uint64_t offset, Time time, const Observation& o) {
  if (const auto* w = std::get_if<WorkloadObserved>(&o); w != nullptr && w->owner_kind != "Workload") {
    names_.insert_or_assign(std::string(w->meta.uid), std::pair(std::string(w->meta.namespace_), std::string(w->meta.name)));
    std::erase_if(ends_, [&](const TrailEnd& end) { return end.uid == w->meta.uid; });
  }
  const auto* d = std::get_if<ObjectDeleted>(&o);
  if (d == nullptr || d->kind != ObjectKind::workload) return;
  const auto known = names_.extract(std::string(d->uid));
  if (known) ends_.push_back({known.key(), known.mapped().first, known.mapped().second, offset, time, std::string(d->departed_to)});
}

const TrailFact* Trail::last(TrailFact::Kind kind, std::string_view workload_uid) const {
  for (auto it = facts_.rbegin(); it != facts_.rend(); ++it)
    if (it->kind == kind && it->workload_uid == workload_uid) return &*it;
  return nullptr;
}

}  // namespace hindsight::projections
