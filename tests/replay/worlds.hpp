#pragma once

#include "tests/replay/log_world.hpp"

namespace hindsight::testing {

/// A day in the life of two teams: 12 workloads, a preemption, a stop, a new epoch, a late decision of the old one.
inline void two_teams(LogWorld& w, bool snapshots = false) {
  w.set_up({{.name = "team-a",
             .cohort = "all",
             .quotas = {{.nominal = 4000}},
             .within = PreemptionPolicy::lower_priority,
             .reclaim = PreemptionPolicy::any},
            {.name = "team-b", .cohort = "all", .quotas = {{.nominal = 4000}}, .strategy = QueueingStrategy::strict_fifo}});
  if (snapshots) w.snapshot();
  for (int i = 0; i < 10; ++i) {
    w.submit({.name = "w" + std::to_string(i), .queue = i % 3 == 0 ? "lq-team-b" : "lq", .cpu = 1000 * (1 + i % 4), .priority = i % 5});
    if (i % 2 == 0) w.settle();
    if (i % 3 == 0) w.confirm();
    w.tick(Duration::millis(700));
  }
  w.settle();
  w.confirm();
  if (snapshots) w.snapshot();
  w.submit({.name = "astray", .queue = "nowhere"});
  const auto lost = w.driver().decide();
  w.start_epoch(2);
  w.settle();
  w.decide(lost.value(), 1);  // a writer that has been replaced comes too late
  for (const char* name : {"w0", "w1", "w3"}) w.finish(name);
  w.wake();
  w.confirm();
  w.submit({.name = "late", .cpu = 3000, .priority = 9});
  w.wake();
  w.confirm();
  if (snapshots) w.snapshot();
  w.tick(Duration::seconds(30));
  w.wake();
  w.flush();
}

}  // namespace hindsight::testing
