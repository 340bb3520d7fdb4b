#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "events/memory_log.hpp"
#include "projections/history.hpp"
#include "projections/why.hpp"
#include "replay/past.hpp"
#include "tests/replay/log_world.hpp"

namespace hindsight::projections {

/// A world and its log, and the read models on them as the commands make them.
class Reading : public ::testing::Test {
 protected:
  events::MemoryLog log;
  hindsight::testing::LogWorld w{log};

  /// `target`: as on the command line.
  Why why(const std::string& target) {
    w.flush();
    const auto t = parse_target(target, "default").value();
    Trail trail(t);
    events::RecordReader reader;
    events::RecordBatch batch;
    for (events::Position p = 1;; p += batch.size()) {
      EXPECT_TRUE(log.read(p, {}, batch));
      if (batch.empty()) break;
      for (const auto& stored : batch) trail.add(stored.offset, **reader.read(stored.bytes));
    }
    const Stage stage = Stage::of(w.driver());
    return explain(w.driver(), find_workload(w.driver(), t).value(), trail, &stage);
  }

  std::vector<HistoryEntry> history(const std::string& target) {
    w.flush();
    History story(parse_target(target, "default").value());
    replay::Past past(log, "default");
    past.look_on([&](events::Position, const RecordView& r) { story.before(r, past.driver()); },
                 [&](events::Position offset, const RecordView& r) { story.after(offset, r, past.driver()); });
    EXPECT_TRUE(past.fold_to(w.position()));
    return story.entries();
  }
  /// "source object: text"
  std::vector<std::string> story(const std::string& target) {
    std::vector<std::string> out;
    for (const auto& e : history(target)) out.push_back(std::string(e.decided ? "decided " : "observed ") + e.object + ": " + e.text);
    return out;
  }
};

}  // namespace hindsight::projections
