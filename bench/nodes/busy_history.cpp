#include "bench/nodes/busy_history.hpp"

#include <algorithm>
#include <array>
#include <variant>

#include "admission/rules.hpp"
#include "replay/past.hpp"
#include "replay/snapshots.hpp"
#include "vocabulary/record_order.hpp"

namespace hindsight::bench {

namespace {

constexpr std::size_t queues = 1'000;
constexpr std::size_t with_quota = 20;      ///< Workloads in a queue that are admitted at a time, on average.
constexpr std::size_t lives_between = 100;  ///< Between two looks at what can be decided.
constexpr std::size_t batch_records = 2'000;

std::size_t number_of(Text name) { return std::stoul(std::string(name.substr(name.find('-') + 1))); }

}  // namespace

BusyHistory::BusyHistory(events::Log& log, std::size_t waiting)
    : log_(log), waiting_(waiting), facts_({.queues = queues, .workloads = queues * with_quota}), driver_(replay::new_driver()) {}

Result<void> BusyHistory::flush() {
  if (batch_.empty()) return {};
  const auto written = log_.append(batch_.views(), std::nullopt);
  if (!written) return tl::unexpected(written.error());
  position_ = *written;
  batch_ = {};
  return {};
}

Result<void> BusyHistory::tell(const Body& body, std::uint64_t epoch, std::uint64_t cause) {
  now_ = now_ + Duration{10};
  RecordView r;
  r.envelope = {"bench", driver_->domain().sequence() + 1, std::max(epoch, driver_->domain().epoch()), now_, cause};
  r.body = body;
  if (auto ok = driver_->apply(r); !ok) return ok;
  r.envelope.sequence = numbered_by_reader;
  r.envelope.epoch = epoch;
  batch_.add({r.envelope.domain, numbered_by_reader, epoch, now_, encoder_.encode(r)});
  ++records_;
  return batch_.size() < batch_records ? Result<void>() : flush();
}

Result<void> BusyHistory::write_waiting() {
  for (Observation o : facts_.configuration()) {
    if (std::holds_alternative<MirrorSynced>(o)) continue;
    if (std::holds_alternative<ConfigurationObserved>(o)) o = ConfigurationObserved{"{}"};
    if (auto ok = observe(o); !ok) return ok;
  }
  if (auto ok = tell(Body{EpochStarted{"bench", "bench", admission::rules_version}}, 1, 0); !ok) return ok;
  for (; next_ < waiting_; ++next_)
    if (auto ok = observe(facts_.workload(next_)); !ok) return ok;
  driver_->forget_touched();
  return flush();
}

Result<void> BusyHistory::write_snapshot() {
  const auto snapshot = replay::encode_state(driver_->entities(), "bench", position_, "bench");
  snapshot_bytes_ = snapshot.bytes.size();
  return log_.put_snapshot(snapshot.meta, snapshot.bytes);
}

/// After a while, so that what waits for a batch of wake-ups is woken.
Result<void> BusyHistory::decide() {
  now_ = now_ + Duration::seconds(2);
  if (auto ok = observe(TimerFired{}); !ok) return ok;
  for (auto step = driver_->decide(); step; step = driver_->decide()) {
    for (const Event& e : step->events)
      if (const auto* reserved = std::get_if<QuotaReserved>(&e)) {
        admitted_.push_back({number_of(reserved->workload.name), std::string(reserved->cluster_queue)});
        ++admissions_;
      }
    if (auto ok = tell(Body{Decisions{step->base, step->kind, step->events}}, 1, step->base); !ok) return ok;
  }
  driver_->forget_touched();
  return {};
}

/// The one that was admitted first is seen as admitted, then as finished, then it goes, and another one comes.
Result<void> BusyHistory::live_on() {
  const Admitted one = admitted_.front();
  admitted_.pop_front();
  auto w = std::get<WorkloadObserved>(facts_.workload(one.number));
  const std::array<ConditionFacts, 3> conditions{{{ConditionType::quota_reserved, ConditionStatus::true_, "QuotaReserved", "", now_},
                                                  {ConditionType::admitted, ConditionStatus::true_, "Admitted", "", now_},
                                                  {ConditionType::finished, ConditionStatus::true_, "Succeeded", "", now_}}};
  const std::array<FlavorChoice, 1> flavors{{{"cpu", "default-flavor"}}};
  const std::array<ResourceAmount, 1> usage{{{"cpu", 1'000}}};
  const std::array<PodSetAssignmentFacts, 1> assignments{{{"main", 1, flavors, usage}}};
  w.has_admission = true;
  w.admission_cluster_queue = one.queue;
  w.assignments = assignments;
  w.conditions = {conditions.data(), 2};
  w.meta.resource_version += 10'000'000;
  if (auto ok = observe(w); !ok) return ok;
  w.conditions = conditions;
  w.meta.resource_version += 10'000'000;
  if (auto ok = observe(w); !ok) return ok;
  if (auto ok = observe(ObjectDeleted{ObjectKind::workload, "default", w.meta.name, w.meta.uid}); !ok) return ok;
  return observe(facts_.workload(next_++));
}

Result<void> BusyHistory::write_lives(std::size_t records) {
  const std::size_t end = records_ + records;
  if (auto ok = observe(MirrorSynced{}); !ok) return ok;
  if (auto ok = decide(); !ok) return ok;
  while (records_ < end) {
    if (admitted_.empty()) return tl::unexpected(Error{ErrorKind::invalid, "nothing is admitted any more"});
    for (std::size_t i = 0; i < lives_between && !admitted_.empty(); ++i)
      if (auto ok = live_on(); !ok) return ok;
    if (auto ok = decide(); !ok) return ok;
  }
  return flush();
}

}  // namespace hindsight::bench
