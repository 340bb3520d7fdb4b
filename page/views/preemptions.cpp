#include "page/views/preemptions.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "admission/domain/domain.hpp"
#include "events/log.hpp"
#include "page/views/record_lines.hpp"
#include "projections/lookup.hpp"
#include "projections/queue_place.hpp"
#include "replay/scan.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::page {
namespace {

constexpr std::uint64_t arcs_default = 500, arcs_max = 5'000;
/// Of so many Workloads it is remembered since when they ran and in which queue; of others less is told.
constexpr std::size_t runs_remembered_max = 200'000;
constexpr std::uint64_t is_over_asked_every = 4'096;

/// One that was preempted, as its record says; texts are copies, for the record goes.
struct Arc {
  Position position = 0;
  Time time;
  std::string preemptor_namespace, preemptor, preemptor_queue, victim_namespace, victim, victim_uid, victim_queue, reason;
  Time admitted;  ///< Never: before the stretch that is looked at.
};

/// Gathers preemptions from records, and what belongs to them.
class Arcs {
 public:
  Arcs(const Audience& audience, std::size_t limit) : audience_(audience), limit_(limit) {}

  void see(Position position, Time time, const Decisions& decisions) {
    for (const Event& event : decisions.events) {
      if (const auto* e = std::get_if<QuotaReserved>(&event))
        remember(e->workload.uid, e->cluster_queue, e->admitted ? time : Time::never());
      else if (const auto* a = std::get_if<WorkloadAdmitted>(&event))
        admitted(a->workload.uid, time);
      else if (const auto* v = std::get_if<WorkloadEvicted>(&event))
        runs_.erase(std::string(v->workload.uid));
      else if (const auto* c = std::get_if<ReservationCleared>(&event))
        runs_.erase(std::string(c->workload.uid));
      else if (const auto* p = std::get_if<WorkloadPreempted>(&event))
        preempted(position, time, *p);
    }
  }

  [[nodiscard]] const std::deque<Arc>& arcs() const { return arcs_; }
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }
  [[nodiscard]] std::uint64_t hidden() const { return hidden_; }

 private:
  struct Run {
    std::string queue;
    Time since;
  };

  void remember(Text uid, Text queue, Time since) {
    if (runs_.size() < runs_remembered_max || runs_.contains(uid)) runs_[std::string(uid)] = {std::string(queue), since};
  }
  void admitted(Text uid, Time since) {
    if (const auto it = runs_.find(uid); it != runs_.end())
      it->second.since = since;
    else
      remember(uid, {}, since);
  }

  void preempted(Position position, Time time, const WorkloadPreempted& p) {
    Arc arc{position,
            time,
            std::string(p.preemptor.namespace_),
            std::string(p.preemptor.name),
            std::string(p.preemptor_cluster_queue),
            std::string(p.workload.namespace_),
            std::string(p.workload.name),
            std::string(p.workload.uid),
            {},
            std::string(p.reason),
            Time::never()};
    if (const auto run = runs_.find(p.workload.uid); run != runs_.end()) {
      arc.victim_queue = run->second.queue;
      arc.admitted = run->second.since;
      runs_.erase(run);
    }
    if (!audience_.may_see(arc.victim_namespace) && !audience_.may_see(arc.preemptor_namespace)) {
      ++hidden_;
      return;
    }
    arcs_.push_back(std::move(arc));
    if (arcs_.size() > limit_) {
      arcs_.pop_front();
      ++left_out_;
    }
  }

  const Audience& audience_;
  const std::size_t limit_;
  std::map<std::string, Run, std::less<>> runs_;  ///< By uid of who holds quota.
  std::deque<Arc> arcs_;
  std::uint64_t left_out_ = 0, hidden_ = 0;
};

/// Where the stretch does not tell in which queue a victim was: what the state says of it where one looks from. Empty: it has gone.
std::string queue_of_victim(const Look& look, const std::string& uid) {
  const auto& state = look.past.driver();
  const auto at = projections::find_by_uid(state, uid);
  if (at.workload == nullptr) return {};
  if (at.workload->admission) return std::string(at.workload->admission->cluster_queue.text());
  return std::string(projections::queue_of(state, *at.workload).text());
}

Json arc_json(const Look& look, const Arc& arc) {
  Json out = place_json(arc.position, arc.time);
  out["preemptor"] = object_ref_for(look.audience, "Workload", arc.preemptor_namespace, arc.preemptor);
  out["preemptorQueue"] = valid_utf8(arc.preemptor_queue);
  out["victim"] = object_ref_for(look.audience, "Workload", arc.victim_namespace, arc.victim);
  out["victimQueue"] = valid_utf8(arc.victim_queue.empty() ? queue_of_victim(look, arc.victim_uid) : arc.victim_queue);
  out["reason"] = valid_utf8(arc.reason);
  if (arc.admitted.is_set()) out["lostMicros"] = std::max<std::int64_t>(0, (arc.time - arc.admitted).micros);
  return out;
}

/// Tells of each decision whether any reader counts it: a writer that was replaced, or that wrote twice, has no effect.
class Counted {
 public:
  [[nodiscard]] bool counts(const events::StoredRecord& stored, const RecordView& record) {
    const auto* decisions = std::get_if<Decisions>(&record.body);
    if (decisions == nullptr) {
      if (std::holds_alternative<EpochStarted>(record.body)) epoch_ = std::max(epoch_, stored.epoch);
      return false;
    }
    if (stored.epoch < epoch_ || (decisions->base != 0 && decisions->base <= base_)) return false;
    epoch_ = stored.epoch;
    base_ = std::max(base_, decisions->base);
    return true;
  }

 private:
  std::uint64_t epoch_ = 0, base_ = 0;
};

}  // namespace

Result<Json> preemptions_view(const Look& look, const Parameters& parameters) {
  const auto last = look.log.last();
  if (!last) return tl::unexpected(last.error());
  const auto first = look.log.first();
  if (!first) return tl::unexpected(first.error());
  const auto to = parameters.number("to", look.position(), 0, *last);
  if (!to) return tl::unexpected(to.error());
  const auto from = parameters.number("from", std::min(*first, *to), 0, *to);
  if (!from) return tl::unexpected(from.error());
  const auto limit = parameters.number("limit", arcs_default, 1, arcs_max);
  if (!limit) return tl::unexpected(limit.error());
  const auto set_aside = look.log.quarantined();
  if (!set_aside) return tl::unexpected(set_aside.error());

  const Position begin = std::max(*from, *first);
  const Position end = *to - std::min(*to, begin) >= preemptions_scan_max ? begin + preemptions_scan_max - 1 : *to;
  Arcs arcs(look.audience, *limit);
  Counted counted;
  Position seen_to = begin == 0 ? 0 : begin - 1;
  std::uint64_t n = 0;
  bool ended = false;
  const auto see = [&](const events::StoredRecord& stored, const RecordView& record) {
    if (++n % is_over_asked_every == 0 && look.is_over()) {
      ended = true;
      return false;
    }
    seen_to = stored.offset;
    if (!set_aside->empty() && replay::find_quarantined(*set_aside, stored) != nullptr) return true;
    if (counted.counts(stored, record)) arcs.see(stored.offset, stored.time, std::get<Decisions>(record.body));
    return true;
  };
  if (begin <= end && end != 0)
    if (auto ok = replay::scan(look.log, look.past.domain_name(), begin, end, see); !ok) return tl::unexpected(ok.error());

  const auto from_place = place_at(look.log, begin <= *last ? begin : *last);
  if (!from_place) return tl::unexpected(from_place.error());
  const auto to_place = place_at(look.log, ended ? seen_to : std::min(end, *to));
  if (!to_place) return tl::unexpected(to_place.error());
  Json items = Json::array();
  for (const Arc& arc : arcs.arcs()) items.push_back(arc_json(look, arc));
  Json out{{"from", *from_place}, {"to", *to_place}, {"items", std::move(items)}, {"leftOut", arcs.left_out()}, {"hidden", arcs.hidden()}};
  if (ended)
    out["next"] = seen_to + 1;
  else if (end < *to)
    out["next"] = end + 1;
  return out;
}

}  // namespace hindsight::page
