#include "bench/insight/long_log.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <vector>

#include "bench/actors/big_domain.hpp"
#include "events/record.hpp"
#include "replay/past.hpp"

namespace hindsight::bench {
namespace {

const Time origin = Time::from_seconds(1'700'000'000);

template <class T>
T must(Result<T> r) {
  if (!r) {
    std::fprintf(stderr, "error: %s\n", r.error().message.c_str());
    std::abort();
  }
  if constexpr (!std::is_void_v<T>) return std::move(*r);
}

class Writer {
 public:
  Writer(events::Log& log, const LongHistory& history, const replay::SnapshotPolicy& policy,
         const std::function<void(std::uint64_t)>& progress)
      : log_(log),
        history_(history),
        progress_(progress),
        // A tenth of the Workloads fits.
        facts_({.cohorts = 10, .queues = history.queues, .workloads = history.workloads / 10, .borrowing = false}),
        snapshots_(log, "default", policy) {}

  Written run() {
    for (const auto& o : facts_.configuration())
      if (!std::holds_alternative<ConfigurationObserved>(o)) tell(o);
    for (std::size_t i = 0; i < history_.workloads; ++i) tell(arrived(next_++));
    while (sequence_ < history_.records) {
      decide();
      now_ = now_ + Duration::seconds(1);
      // They start in one second and would all end in one, too.
      const std::size_t at_once =
          std::max<std::size_t>(1, history_.workloads / 10 / static_cast<std::size_t>(history_.runs.micros / 1'000'000));
      for (std::size_t n = 0; n < at_once && !running_.empty() && sequence_ < history_.records; ++n) {
        end(running_.front());
        running_.pop_front();
        tell(arrived(next_++));
      }
    }
    flush();
    written_.last = position_;
    return written_;
  }

 private:
  void flush() {
    if (batch_.empty()) return;
    position_ = must(log_.append(batch_.views(), position_));
    batch_ = {};
    if (progress_) progress_(position_);
    if (!snapshots_.due(position_, now_)) return;
    const auto snapshot = replay::encode_state(driver_->entities(), "default", position_, "bench");
    written_.snapshot_bytes += snapshot.bytes.size();
    ++written_.snapshots;
    must(snapshots_.store(snapshot));
  }

  void tell(Body body) {
    const RecordView r = record_after(sequence_++, now_, std::move(body));
    must(driver_->apply(r));
    const auto bytes = encoder_.encode(r);
    written_.record_bytes += bytes.size();
    batch_.add({r.envelope.domain, r.envelope.sequence, r.envelope.epoch, r.envelope.time, bytes});
    if (batch_.size() == 1'000) flush();
  }

  WorkloadObserved facts(std::size_t i) {
    auto w = std::get<WorkloadObserved>(facts_.workload(i));
    w.meta.resource_version = ++version_;
    w.priority = 0;  // or the lowest would be preempted at once
    return w;
  }
  Observation arrived(std::size_t i) { return facts(i); }

  /// The status that the admission of the i-th was written with, and perhaps its end.
  void observe(std::size_t i, bool ended) {
    auto w = facts(i);
    const FlavorChoice flavor{"cpu", "default-flavor"};
    const ResourceAmount usage{"cpu", 1'000};
    const PodSetAssignmentFacts assignment{"main", 1, {&flavor, 1}, {&usage, 1}};
    std::string queue = std::to_string(i % history_.queues);
    queue = "queue-" + std::string(6 - queue.size(), '0') + queue;
    const std::array<ConditionFacts, 3> conditions{{
        {ConditionType::quota_reserved, ConditionStatus::true_, "QuotaReserved", "", now_},
        {ConditionType::admitted, ConditionStatus::true_, "Admitted", "", now_},
        {ConditionType::finished, ConditionStatus::true_, "Succeeded", "the run time is over", now_},
    }};
    w.has_admission = true;
    w.admission_cluster_queue = queue;
    w.assignments = {&assignment, 1};
    w.conditions = std::span(conditions).first(ended ? 3 : 2);
    tell(Observation{w});
  }

  void end(std::size_t i) {
    observe(i, true);
    const auto w = facts(i);
    ObjectDeleted gone;
    gone.kind = ObjectKind::workload;
    gone.namespace_ = w.meta.namespace_;
    gone.name = w.meta.name;
    gone.uid = w.meta.uid;
    tell(Observation{gone});
  }

  void decide() {
    while (auto step = driver_->decide()) {
      std::vector<std::size_t> started;
      for (const Event& e : step->events)
        if (const auto* r = std::get_if<QuotaReserved>(&e))
          started.push_back(std::stoul(std::string(r->workload.name.substr(std::string_view("workload-").size()))));
      tell(Decisions{step->base, step->kind, step->events});
      for (const std::size_t i : started) {
        observe(i, false);
        running_.push_back(i);
      }
    }
  }

  events::Log& log_;
  const LongHistory history_;
  const std::function<void(std::uint64_t)>& progress_;
  BigDomain facts_;
  replay::SnapshotWriter snapshots_;
  std::unique_ptr<replay::LoopDriver> driver_ = replay::new_driver();
  events::Encoder encoder_;
  events::RecordBatch batch_;
  std::deque<std::size_t> running_;
  std::size_t next_ = 0;
  std::uint64_t sequence_ = 0, version_ = 0;
  events::Position position_ = 0;
  Time now_ = origin;
  Written written_;
};

}  // namespace

Written write_history(events::Log& log, const LongHistory& history, const replay::SnapshotPolicy& policy,
                      const std::function<void(std::uint64_t)>& progress) {
  return Writer(log, history, policy, progress).run();
}

}  // namespace hindsight::bench
