#pragma once

// A history with something of everything that the timeline shows, the same for equal seeds, and what is so at each of its records, found
// out a record at a time.

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "page/timeline/rows.hpp"
#include "projections/lookup.hpp"
#include "projections/quota_report.hpp"
#include "replay/past.hpp"
#include "tests/replay/log_world.hpp"

namespace hindsight::page::timeline {

class BusyHistory {
 public:
  BusyHistory(events::Log& log, unsigned seed) : world(log), random_(seed) {
    world.set_up({{.name = "a",
                   .cohort = "all",
                   .quotas = {{.nominal = 8000}, {.nominal = 64, .resource = "memory"}},
                   .within = PreemptionPolicy::lower_priority,
                   .reclaim = PreemptionPolicy::any},
                  {.name = "b",
                   .cohort = "all",
                   .quotas = {{.nominal = 6000}, {.nominal = 32, .resource = "memory"}},
                   .within = PreemptionPolicy::lower_priority,
                   .reclaim = PreemptionPolicy::any}});
    world.flush();
  }

  /// Goes on until the log is at least so long.
  void live_to(std::uint64_t records) {
    while (world.position() < records) act();
    world.flush();
  }

  testing::LogWorld world;

 private:
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }

  void act() {
    const auto what = below(1000);
    if (what < 380 && names_.size() < 40)
      submit();
    else if (what < 700 && !names_.empty())
      work_on(below(static_cast<std::uint32_t>(names_.size())));
    else if (what < 990)
      world.tick(Duration::seconds(1 + below(20)));
    else if (what < 993)
      world.queue({.name = "b",
                   .cohort = "all",
                   .quotas = {{.nominal = 4000 + 1000 * below(4)}, {.nominal = 32, .resource = "memory"}},
                   .within = PreemptionPolicy::lower_priority,
                   .reclaim = PreemptionPolicy::any});
    else if (what < 995)
      begin_epoch();
    else if (what < 998)
      world.observe(WriteRefused{ObjectKind::workload, "default", "refused", "uid-refused", 0, 403, "no"});
    else
      world.observe(
          ObjectQuarantined{.kind = ObjectKind::job, .api_kind = "Job", .namespace_ = "default", .name = "bad", .uid = "uid-bad"});
    world.settle();
    if (below(3) == 0) {
      world.confirm();
      world.settle();
    }
  }
  void submit() {
    const std::string name = "w" + std::to_string(++submitted_);
    world.submit({.name = name,
                  .queue = below(2) == 0 ? "lq" : "lq-b",
                  .cpu = 1000 * (1 + below(4)),
                  .priority = static_cast<std::int32_t>(below(5)),
                  .more = {{"memory", 1 + below(8)}}});
    names_.push_back(name);
  }
  void work_on(std::size_t which) {
    const std::string name = names_[which];
    world.confirm();
    const auto& w = world.state(name);
    if (w.evicted() && w.admission) return world.release(name);
    if (!w.admitted()) return;
    world.finish(name);
    world.settle();
    world.remove(name);
    names_.erase(names_.begin() + static_cast<std::ptrdiff_t>(which));
  }
  void begin_epoch() {
    world.now = world.now + Duration::seconds(30);
    world.start_epoch(++epoch_);
  }

  std::mt19937 random_;
  std::vector<std::string> names_;
  unsigned submitted_ = 0;
  std::uint64_t epoch_ = 1;
};

/// What is so after one record, and what happened in it.
struct Moment {
  Time time;
  std::int64_t waiting = 0, running = 0, used = 0;
  std::map<std::string, PairUse> pairs;  ///< "flavor resource".
  std::uint64_t admitted = 0, evicted = 0, decisions = 0;
  std::map<MarkKind, std::uint64_t> marks;
};

/// By position, of a log of one domain; 0 is before the first. Everything is counted anew after each record, from what stands in the
/// state's own lists.
inline std::vector<Moment> all_moments(const events::Log& log, const std::string& domain = "default") {
  std::vector<Moment> out(1);
  replay::Past past(log, domain);
  past.look_on({}, [&](Position, const RecordView& record) {
    Moment m;
    const auto& state = past.driver();
    if (const auto* d = std::get_if<Decisions>(&record.body); d != nullptr && state.domain().took_decision()) {
      ++m.decisions;
      for (const Event& e : d->events) {
        const auto* reserved = std::get_if<QuotaReserved>(&e);
        m.admitted += (reserved != nullptr && reserved->admitted) || std::holds_alternative<WorkloadAdmitted>(e) ? 1 : 0;
        m.evicted += std::holds_alternative<WorkloadPreempted>(e) || std::holds_alternative<WorkloadEvicted>(e) ? 1 : 0;
      }
    }
    if (m.evicted > 0) m.marks[MarkKind::eviction] = m.evicted;
    if (std::holds_alternative<EpochStarted>(record.body)) ++m.marks[MarkKind::epoch];
    if (const auto* o = std::get_if<Observation>(&record.body)) {
      if (std::holds_alternative<WriteRefused>(*o)) ++m.marks[MarkKind::refusal];
      if (std::holds_alternative<ObjectQuarantined>(*o)) ++m.marks[MarkKind::quarantine];
    }
    m.time = state.domain().now();
    for (const auto& w : projections::all_workloads(state))
      if (w.workload->admitted() && !w.workload->finished()) ++m.running;
    for (const auto& [name, config] : state.domain().catalog()->queues) {
      m.waiting += static_cast<std::int64_t>(state.queue(name)->waiting().size());
      for (const auto& line : projections::quota_of_queue(state, name)) {
        auto& pair = m.pairs[std::string(line.flavor.text()) + " " + std::string(line.resource.text())];
        pair.used += line.figures.usage;
        pair.nominal += line.nominal;
      }
    }
    for (const auto& [name, pair] : m.pairs) m.used = std::max(m.used, pair.used * 1000 / pair.nominal);
    if (m.pairs.empty()) m.used = not_known;
    out.push_back(std::move(m));
  });
  if (auto ok = past.fold_to(log.last().value()); !ok) throw std::runtime_error(ok.error().message);
  return out;
}

}  // namespace hindsight::page::timeline
