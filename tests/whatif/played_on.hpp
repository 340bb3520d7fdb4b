#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "events/memory_log.hpp"
#include "replay/scan.hpp"
#include "replay/verify.hpp"
#include "tests/projections/simulated.hpp"
#include "whatif/comparison.hpp"
#include "whatif/player.hpp"

namespace hindsight::whatif {

/// A log played on, with what was and what would be.
struct PlayedOn {
  events::MemoryLog result;
  PlayReport report;
  Comparison comparison;

  PlayedOn(const events::Log& log, events::Position from, const Changes& changes, bool model_all = false, Duration beyond = {},
           Progress progress = Progress::lost) {
    Responses responses(progress);
    const auto last = log.last().value();
    EXPECT_TRUE(replay::scan(log, "default", 1, last, [&](const auto&, const RecordView& r) {
      responses.see(r);
      return true;
    }));
    Ledger was, would_be;
    replay::Past past(log, "default");
    EXPECT_TRUE(past.go_to(from));
    was.begin(past.driver());
    past.look_on({}, [&](events::Position, const RecordView& r) { was.see(r, past.driver()); });
    EXPECT_TRUE(past.fold_to(last));
    state_then = past.driver().state_hash();
    PlayOptions options{.from = from, .until = last, .model_all = model_all, .beyond = beyond, .out = &result};
    options.on_begin = [&](const admission::LoopDriver& d) { would_be.begin(d); };
    options.on_record = [&](const RecordView& r, const admission::LoopDriver& d) { would_be.see(r, d); };
    Player player(log, "default", responses, changes, options);
    const auto played = player.play();
    EXPECT_TRUE(played) << played.error().message;
    if (!played) return;
    report = *played;
    would_be.end(report.end);
    comparison = compare(std::move(was), std::move(would_be));
  }

  std::uint64_t state_then = 0;

  [[nodiscard]] const Fate& was(const std::string& job) const { return of(comparison.was, job); }
  [[nodiscard]] const Fate& would_be(const std::string& job) const { return of(comparison.would_be, job); }
  [[nodiscard]] bool verifies() const {
    const auto verified = replay::verify(result, "default");
    if (!verified) return false;
    for (const auto& m : verified->mismatches) ADD_FAILURE() << "record " << m.offset << " does not follow";
    return verified->clean();
  }

 private:
  static const Fate& of(const Ledger& ledger, const std::string& job) {
    for (const auto& [key, fate] : ledger.fates())
      if (fate.job == "Job/" + job) return fate;
    throw std::runtime_error("no Workload of job " + job);
  }
};

/// Manifests as the items of a step of a scenario.
inline std::string items_of(const std::string& manifests) {
  std::string out, line;
  bool first = true;
  for (std::size_t i = 0; i <= manifests.size(); ++i) {
    if (i < manifests.size() && manifests[i] != '\n') {
      line += manifests[i];
      continue;
    }
    if (line == "---") {
      first = true;
    } else if (!line.empty()) {
      out += (first ? "    - " : "      ") + line + "\n";
      first = false;
    }
    line.clear();
  }
  return out;
}

}  // namespace hindsight::whatif
