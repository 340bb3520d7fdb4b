#pragma once

#include <gtest/gtest.h>

#include <cstdint>
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

  /// Queue "a" has room for nobody more because "b" borrows from it. `lent`: the priority of who has what was borrowed.
  void two_queues(PreemptionPolicy reclaim = PreemptionPolicy::never, std::int32_t lent = 0) {
    w.set_up({{.name = "a", .cohort = "all", .quotas = {{.nominal = 4'000}}, .reclaim = reclaim},
              {.name = "b", .cohort = "all", .quotas = {{.nominal = 2'000}}}});
    w.submit({.name = "runs", .cpu = 3'000});
    w.submit({.name = "lent", .queue = "lq-b", .cpu = 3'000, .priority = lent});
    w.settle();
    w.tick(Duration::seconds(10));
    w.submit({.name = "waits", .cpu = 2'000});
    w.settle();
    w.tick(Duration::seconds(1));
    w.submit({.name = "huge", .cpu = 90'000});
    w.settle();
    w.tick(Duration::seconds(4));
    w.settle();
  }

  /// Cohort "mid" with 1 cpu of its own and the queues "a" and "b" is below "root", as queue "c" is. Of the 4 of "a" 3 are lent to nobody.
  void cohorts_in_a_tree() {
    w.cohort("root", "", {});
    w.cohort("mid", "root", {{.nominal = 1000}});
    w.set_up({{.name = "a", .cohort = "mid", .quotas = {{.nominal = 4000, .lending_limit = 1000}}},
              {.name = "b", .cohort = "mid", .quotas = {{.nominal = 2000}}},
              {.name = "c", .cohort = "root", .quotas = {{.nominal = 4000}}}});
    w.submit({.name = "in-a", .cpu = 2000});
    w.submit({.name = "in-b", .queue = "lq-b", .cpu = 3000});
    w.settle();
  }

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
    const auto at = find_workload(w.driver(), t).value();
    const Stage stage = Stage::of_tree(w.driver(), at);
    return explain(w.driver(), at, trail, &stage);
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
