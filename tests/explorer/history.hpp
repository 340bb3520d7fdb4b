#pragma once

#include <memory>
#include <vector>

#include "admission/domain.hpp"
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
  RecordView view;
};

/// The log of one run, in memory and without encoding.
class History {
 public:
  const HistoryRecord& append(OwnedObservation o, Time time, std::uint64_t epoch) {
    HistoryRecord r = blank(time, epoch);
    r.arenas.push_back(std::move(o.arena));
    r.view.body = Body{std::move(o.observation)};
    records_.push_back(std::move(r));
    return records_.back();
  }
  const HistoryRecord& append(const admission::Domain::Step& step, Time time, std::uint64_t epoch) {
    HistoryRecord r = blank(time, epoch);
    r.arenas = step.arenas;
    r.events = std::make_shared<const std::vector<Event>>(step.events);
    r.view.body = Body{Decisions{step.base, step.kind, *r.events}};
    records_.push_back(std::move(r));
    return records_.back();
  }
  const HistoryRecord& start_epoch(Time time, std::uint64_t epoch) {
    HistoryRecord r = blank(time, epoch);
    r.view.body = Body{EpochStarted{"explorer", "test"}};
    records_.push_back(std::move(r));
    return records_.back();
  }
  [[nodiscard]] const std::vector<HistoryRecord>& records() const { return records_; }

 private:
  [[nodiscard]] HistoryRecord blank(Time time, std::uint64_t epoch) const {
    HistoryRecord r;
    r.view.envelope = {"default", records_.size() + 1, epoch, time, 0};
    return r;
  }

  std::vector<HistoryRecord> records_;
};

}  // namespace hindsight::explorer
