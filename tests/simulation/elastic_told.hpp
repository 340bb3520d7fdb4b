#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "admission/domain/loop_driver.hpp"
#include "admission/queue/cohort_tree.hpp"
#include "connectors/event_recorder/decision_events.hpp"
#include "events/settings.hpp"
#include "projections/metrics.hpp"
#include "tests/simulation/elastic_story.hpp"
#include "tests/simulation/log_records.hpp"

namespace hindsight::simulation {

/// What a log tells when it is folded anew: the events for the cluster, what a queue had in use at each record, pods and metrics.
class Told {
 public:
  struct Release {
    Time time;
    Lines pods;
  };

  explicit Told(const events::Log& log, const std::string& queue = "cq", const std::string& root = "cq") {
    admission::LoopDriver driver(&events::read_settings);
    projections::Metrics counting({});
    each_record(log, [&](const RecordView& view) {
      if (const auto applied = driver.apply(view); !applied) throw std::runtime_error(applied.error().message);
      counting.record(view, driver);
      for (const auto& e : connectors::record_events(view, driver)) {
        lines.push_back(std::string(e.type->kind) + " " + e.name + " " + e.reason + ": " + e.message);
        if (e.is_warning) warnings.push_back(lines.back());
      }
      const auto* tree = driver.tree(Symbol(root));
      const auto* quota = tree == nullptr ? nullptr : tree->quota();
      used.emplace_back(view.envelope.time, quota == nullptr ? 0 : quota->usage(Symbol(queue), Symbol("default"), Symbol("cpu")));
      if (const auto* decisions = std::get_if<Decisions>(&view.body)) note(*decisions, view.envelope.time);
    });
    metrics = counting.text(driver);
  }

  Lines lines;                                ///< "Workload NAME QuotaReserved: …", in their order.
  Lines warnings;                             ///< Those of type Warning.
  std::vector<std::pair<Time, Amount>> used;  ///< After each record.
  std::vector<Release> releases;
  Lines reclaimed;  ///< "NAME 2" of each decision about reclaimable pods, in their order.
  std::string metrics;

  /// What was in use, each amount once as long as it stays.
  [[nodiscard]] std::vector<Amount> amounts() const {
    std::vector<Amount> out;
    for (const auto& [time, amount] : used)
      if (out.empty() || out.back() != amount) out.push_back(amount);
    return out;
  }
  /// "NAME REASON" of the events about Workloads that have one of these reasons.
  [[nodiscard]] Lines reasons(const Lines& wanted) const {
    Lines out;
    for (const auto& line : lines)
      for (const auto& reason : wanted)
        if (line.starts_with("Workload ") && line.find(" " + reason + ": ") != std::string::npos)
          out.push_back(line.substr(9, line.find(": ") - 9));
    return out;
  }
  [[nodiscard]] std::size_t count(const std::string& part) const {
    return static_cast<std::size_t>(
        std::count_if(lines.begin(), lines.end(), [&](const std::string& line) { return line.find(part) != std::string::npos; }));
  }

 private:
  void note(const Decisions& decisions, Time time) {
    for (const Event& e : decisions.events) {
      if (const auto* r = std::get_if<PodsReleased>(&e)) {
        Release& release = releases.emplace_back();
        release.time = time;
        for (const auto& pod : r->pods) release.pods.emplace_back(pod.name);
      }
      if (const auto* r = std::get_if<ReclaimableChanged>(&e))
        for (const auto& entry : r->reclaimable) reclaimed.push_back(std::string(r->workload.name) + " " + std::to_string(entry.count));
    }
  }
};

}  // namespace hindsight::simulation
