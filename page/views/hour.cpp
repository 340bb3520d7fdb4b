#include "page/views/hour.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "admission/domain/domain.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "admission/workload/workload_parent.hpp"
#include "page/views/extra_state.hpp"
#include "page/views/refs.hpp"
#include "projections/families.hpp"
#include "projections/phase.hpp"
#include "projections/quota_totals.hpp"
#include "projections/wait_reasons.hpp"
#include "projections/waits.hpp"
#include "replay/scan.hpp"

namespace hindsight::page {
namespace {

/// Looks on while the hour is folded.
class HourWatch {
 public:
  HourWatch(HourBefore hour, const Symbol& flavor, const Symbol& resource) : hour_(std::move(hour)), flavor_(flavor), resource_(resource) {}

  /// Stretches that end before `begin` are not known.
  void begin(Time begin) {
    while (point_ < hour_points && hour_.waiting.time[point_] < begin) ++point_;
  }
  /// Between two records nothing changes.
  void before(const RecordView& record, const admission::StateView& state) {
    while (point_ < hour_points && hour_.waiting.time[point_] < record.envelope.time) note(state);
    waits_.before(record, state);
  }
  void after(const RecordView& record, const admission::StateView& state) { waits_.after(record, state); }

  HourBefore finish(const admission::StateView& state) {
    while (point_ < hour_points) note(state);
    hour_.evicted_in_all = static_cast<std::int64_t>(evicted_so_far(state));
    return std::move(hour_);
  }

 private:
  void note(const admission::StateView& state) {
    const std::size_t point = point_++;
    const Time at = hour_.waiting.time[point];
    hour_.waiting.value[point] = waiting_in_queues(state);
    hour_.oldest_wait.value[point] = oldest_wait(state, at);
    for (const auto& total : projections::quota_totals(state))
      if (total.flavor == flavor_ && total.resource == resource_) hour_.used.value[point] = projections::use_in_thousandths(total);
    const std::size_t evicted = evicted_so_far(state);
    hour_.evicted.value[point] = static_cast<std::int64_t>(evicted - evicted_before_);
    evicted_before_ = evicted;
  }

  static std::int64_t waiting_in_queues(const admission::StateView& state) {
    std::int64_t out = 0;
    for (const auto& [name, config] : state.domain().catalog()->queues)
      if (const auto* queue = state.queue(name)) out += queue->counters().pending;
    return out;
  }

  static std::int64_t oldest_wait(const admission::StateView& state, Time now) {
    Time oldest;
    for (std::uint32_t i = 0; i < state.domain().parent_count(); ++i) {
      const auto* parent = state.parent(i);
      if (parent == nullptr) continue;
      for (const auto& w : parent->workloads()) {
        if (projections::phase_of(w) != projections::Phase::pending || w.is_made_as_option()) continue;
        const Time since = projections::waits_since(w);
        if (since.is_set() && (!oldest.is_set() || since < oldest)) oldest = since;
      }
    }
    return oldest.is_set() ? std::max<std::int64_t>(0, (now - oldest).micros / 1'000) : 0;
  }

  /// Also in queues that are not there any more.
  std::size_t evicted_so_far(const admission::StateView& state) {
    for (const auto& [name, config] : state.domain().catalog()->queues) queues_.insert(name);
    std::size_t out = 0;
    for (const Symbol& queue : queues_) out += waits_.of_queue(queue).evicted;
    return out;
  }

  HourBefore hour_;
  Symbol flavor_, resource_;
  projections::Waits waits_;
  std::set<Symbol, ByText> queues_;
  std::size_t point_ = 0, evicted_before_ = 0;
};

/// Behind which record a fold up to `from` begins: that of the newest snapshot before it, or the first of the log.
Result<Position> nearest_state(const Look& look, Position from, Position first) {
  const auto snapshots = look.log.snapshots();
  if (!snapshots) return tl::unexpected(snapshots.error());
  Position out = first;
  for (const auto& s : *snapshots)
    if (s.domain == look.past.domain_name() && s.position < from) out = std::max(out, s.position);
  return out;
}

}  // namespace

HourBefore unknown_hour(Time begin, Time now) {
  const Time from = std::clamp(begin, now - hour_span, now - Duration::seconds(1));
  const ViewCurve empty = empty_curve(std::max(from, Time{0}), now, hour_points);
  return {empty, empty, empty, empty, std::nullopt};
}

Result<HourBefore> fold_hour(const Look& look, const Symbol& flavor, const Symbol& resource, Position records_max) {
  const Time now = look.past.driver().now();
  const auto first = look.log.first();
  if (!first) return tl::unexpected(first.error());
  const auto sought = look.log.seek(std::max(now - hour_span, Time{0}));
  if (!sought) return tl::unexpected(sought.error());
  const Position from = std::max(*first, std::min(*sought, look.position() + 1));
  Time begin = now - hour_span;
  if (from == *first) {
    const auto note_time = [&](const events::StoredRecord&, const RecordView& record) {
      begin = record.envelope.time;
      return false;
    };
    if (auto ok = replay::scan(look.log, look.past.domain_name(), from, look.position(), note_time); !ok) return tl::unexpected(ok.error());
  }
  HourBefore unknown = unknown_hour(begin, now);
  const auto folded_from = nearest_state(look, from, *first);
  if (!folded_from) return tl::unexpected(folded_from.error());
  if (look.position() + 1 - *folded_from > records_max || look.past.driver().domain().parent_count() > hour_parents_max) return unknown;

  const auto turn = ExtraState::wait(look.is_over);
  if (!turn) return tl::unexpected(turn.error());
  replay::Past past(look.log, look.past.domain_name());
  if (auto there = ExtraState::go_to(past, from - 1, look.is_over); !there) {
    if (there.error().kind == ErrorKind::not_found) return unknown;  // a trimmed log without a snapshot from then
    return tl::unexpected(there.error());
  }
  HourWatch watch(std::move(unknown), flavor, resource);
  bool begun = past.position() != 0;  // a state of its beginning is one
  const bool from_nothing = !begun;
  past.look_on(
      [&](Position, const RecordView& record) {
        if (from_nothing && !begun) watch.begin(record.envelope.time);
        begun = true;
        watch.before(record, past.driver());
      },
      [&](Position, const RecordView& record) { watch.after(record, past.driver()); });
  constexpr Position records_at_once = 4'096;
  while (past.position() < look.position()) {
    if (look.is_over()) return nobody_waits();
    if (auto ok = past.fold_to(std::min(look.position(), past.position() + records_at_once)); !ok) return tl::unexpected(ok.error());
  }
  return watch.finish(past.driver());
}

}  // namespace hindsight::page
