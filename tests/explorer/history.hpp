#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "admission/domain/domain.hpp"
#include "admission/rules.hpp"
#include "vocabulary/arena.hpp"
#include "vocabulary/record.hpp"

namespace hindsight::explorer {

/// An observation with the memory of its views.
struct OwnedObservation {
  std::shared_ptr<Arena> arena;
  Observation observation;
};

/// A record of the log under test, with everything that its views point to.
struct HistoryRecord {
  std::vector<std::shared_ptr<Arena>> arenas;
  std::shared_ptr<const std::vector<Event>> events;
  std::shared_ptr<const std::string> writer;  ///< Of a log with several.
  RecordView view;
};

/// The log of one run, in memory and without encoding.
class History {
 public:
  const HistoryRecord& append(OwnedObservation o, Time time, std::uint64_t epoch) {
    HistoryRecord r = blank(time, epoch);
    r.arenas.push_back(std::move(o.arena));
    r.view.body = Body{std::move(o.observation)};
    return keep(std::move(r));
  }
  const HistoryRecord& append(const admission::Domain::Step& step, Time time, std::uint64_t epoch) {
    HistoryRecord r = blank(time, epoch);
    r.arenas = step.arenas;
    r.events = std::make_shared<const std::vector<Event>>(step.events);
    r.view.body = Body{Decisions{step.base, step.kind, *r.events}};
    return keep(std::move(r));
  }
  const HistoryRecord& start_epoch(Time time, std::uint64_t epoch) {
    HistoryRecord r = blank(time, epoch);
    r.view.body = Body{EpochStarted{"explorer", "test", admission::rules_version}};
    return keep(std::move(r));
  }
  [[nodiscard]] const std::vector<HistoryRecord>& records() const { return records_; }

 private:
  [[nodiscard]] HistoryRecord blank(Time time, std::uint64_t epoch) const {
    HistoryRecord r;
    // A writer that has been replaced knows nothing of the record that took its number.
    r.view.envelope = {"default", epoch < epoch_ ? sequence_ : sequence_ + 1, epoch, time, 0};
    return r;
  }
  const HistoryRecord& keep(HistoryRecord r) {
    if (r.view.envelope.epoch >= epoch_) ++sequence_;
    epoch_ = std::max(epoch_, r.view.envelope.epoch);
    records_.push_back(std::move(r));
    return records_.back();
  }

  std::vector<HistoryRecord> records_;
  std::uint64_t sequence_ = 0, epoch_ = 0;
};

}  // namespace hindsight::explorer
