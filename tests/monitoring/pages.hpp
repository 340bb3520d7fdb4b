#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "cli/migrate/rules.hpp"
#include "operations/feature_gates.hpp"
#include "projections/metric_table.hpp"

namespace hindsight::monitoring {

inline const std::string begin_generated = "<!-- generated -->\n", end_generated = "<!-- end -->\n";

inline std::string name_of(projections::MetricType type) {
  return type == projections::MetricType::counter ? "counter" : type == projections::MetricType::gauge ? "gauge" : "histogram";
}

inline std::string name_of(projections::MetricUnit unit) {
  using U = projections::MetricUnit;
  switch (unit) {
    case U::count:
      return "number";
    case U::seconds:
      return "seconds";
    case U::timestamp:
      return "seconds since 1970";
    case U::bytes:
      return "bytes";
    case U::state:
      return "0 or 1";
    case U::resource:
      return "cores, or the unit of the resource";
    case U::ratio:
      return "ratio";
    case U::position:
      return "place in the log";
  }
  return {};
}

inline std::string name_of(projections::MetricOrigin origin) {
  using O = projections::MetricOrigin;
  return origin == O::kueue ? "the same" : origin == O::extension ? "of an extension" : "no";
}

inline std::string labels_text(std::string_view labels) {
  std::string out;
  while (!labels.empty()) {
    const auto end = labels.find(' ');
    out.append(out.empty() ? "`" : ", `").append(labels.substr(0, end)).append("`");
    labels = end == std::string_view::npos ? std::string_view() : labels.substr(end + 1);
  }
  return out;
}

/// The part of docs/metrics.md that follows from the table.
inline std::string metrics_page() {
  struct Section {
    std::string_view title, prefix;
  };
  // The longest prefix has it.
  constexpr std::array<Section, 4> sections{{{"The process, its log and its cluster", "hindsight_"},
                                             {"Workloads and ClusterQueues", "kueue_"},
                                             {"LocalQueues", "kueue_local_queue_"},
                                             {"Cohorts", "kueue_cohort_"}}};
  const auto section_of = [&](std::string_view name) {
    std::size_t best = 0, length = 0;
    for (std::size_t i = 0; i < sections.size(); ++i) {
      if (!name.starts_with(sections[i].prefix) || sections[i].prefix.size() < length) continue;
      best = i;
      length = sections[i].prefix.size();
    }
    return best;
  };
  std::string out;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    out.append("\n## ").append(sections[i].title).append("\n\n| metric | type | labels | unit | what | there with | Kueue | since |\n");
    out += "|---|---|---|---|---|---|---|---|\n";
    for (const auto& m : projections::metric_table()) {
      if (section_of(m.name) != i) continue;
      out.append("| `").append(m.name).append("` | ").append(name_of(m.type)).append(" | ").append(labels_text(m.labels));
      out.append(" | ").append(name_of(m.unit)).append(" | ").append(m.help).append(" | ").append(m.when);
      out.append(" | ").append(name_of(m.origin)).append(" | ").append(m.since).append(" |\n");
    }
  }
  return out;
}

inline std::string name_of(operations::GateStage stage) {
  using S = operations::GateStage;
  switch (stage) {
    case S::alpha:
      return "alpha";
    case S::beta:
      return "beta";
    case S::stable:
      return "stable";
    case S::deprecated:
      return "deprecated";
  }
  return {};
}

/// What has become of it here.
inline std::string standing_text(const cli::migrate::GateStanding& gate) {
  using S = cli::migrate::Standing;
  switch (gate.standing) {
    case S::same:
      return "it switches that";
    case S::always_on:
      return "no effect; always on: " + std::string(gate.instead);
    case S::absent:
      return "no effect; not there: " + std::string(gate.instead);
    case S::inner:
      return "no effect; a matter of how Kueue works inside";
  }
  return {};
}

/// The part of docs/feature-gates.md that follows from the tables.
inline std::string gates_page() {
  std::string out = "\n| gate | stage | default | what it switches on | here | needs | Kueue |\n|---|---|---|---|---|---|---|\n";
  for (const auto& gate : operations::feature_gates()) {
    std::string here;
    for (const auto& standing : cli::migrate::gate_standings())
      if (standing.name == gate.name) here = standing_text(standing);
    out.append("| `").append(gate.name).append("` | ").append(name_of(gate.stage)).append(" | ").append(gate.enabled ? "on" : "off");
    out.append(" | ").append(gate.what).append(" | ").append(here).append(" | ");
    for (const auto needed : {gate.needs, gate.needs_also})
      if (!needed.empty()) out.append(needed == gate.needs ? "`" : ", `").append(needed).append("`");
    out.append(" | ").append(gate.of_kueue ? "the same name" : "no").append(" |\n");
  }
  return out;
}

/// A page with what is generated in place of what stood there; empty: it has no place for that.
inline std::string with_generated(const std::string& page, const std::string& generated) {
  const auto begin = page.find(begin_generated);
  const auto end = page.find(end_generated);
  if (begin == std::string::npos || end == std::string::npos || end < begin) return {};
  return page.substr(0, begin + begin_generated.size()) + generated + "\n" + page.substr(end);
}

}  // namespace hindsight::monitoring
