#pragma once

// Records as a busy cluster makes them, for measuring.

#include <array>
#include <string>

#include "vocabulary/record.hpp"

namespace hindsight::bench {

inline const Envelope envelope{"cohort/research", 1'234'567, 3, Time{1'767'225'600'123'456}, 1'234'566};

/// The smallest thing that happens often: an object is gone.
inline RecordView deletion() {
  return {envelope, Observation(ObjectDeleted{ObjectKind::job, "team-a", "train-resnet-00042", "5f0c1a52-8c9e-4b7e-9a55-1f3f3c1f2a42"})};
}

/// One admission, decided alone.
inline RecordView admission() {
  static const std::array<FlavorChoice, 2> flavors{{{"cpu", "on-demand"}, {"memory", "on-demand"}}};
  static const std::array<ResourceAmount, 2> usage{{{"cpu", 4'000}, {"memory", Amount{16} << 30}}};
  static const std::array<PodSetAssignmentFacts, 1> assignments{{{"main", 4, flavors, usage}}};
  static const std::array<Event, 1> events{
      QuotaReserved{{"5f0c1a52-8c9e-4b7e-9a55-1f3f3c1f2a42", "team-a", "job-train-resnet-00042-8f21a"}, "research-a", assignments, true}};
  return {envelope, Decisions{1'234'566, StepKind::cycle, events}};
}

/// A batch Job with one pod set.
inline RecordView job() {
  static const std::array<ResourceAmount, 2> requests{{{"cpu", 1'000}, {"memory", Amount{4} << 30}}};
  static const std::array<Pair, 1> selector{{{"cloud.example.com/pool", "a"}}};
  static const std::array<PodSetFacts, 1> pod_sets = [] {
    PodSetFacts p;
    p.name = "main";
    p.count = 4;
    p.requests = requests;
    p.node_selector = selector;
    p.shape_hash = 0x1234567890ABCDEF;
    p.template_hash = 0x234567890ABCDEF1;
    p.core_hash = 0x34567890ABCDEF12;
    return std::array{p};
  }();
  JobObserved j;
  j.meta = {"team-a", "train-resnet-00042", "5f0c1a52-8c9e-4b7e-9a55-1f3f3c1f2a42", 991'234, 1, Time::from_seconds(1'767'225'600)};
  j.kind = "Job";
  j.group = "batch";
  j.queue_name = "research";
  j.suspended = true;
  j.pod_sets = pod_sets;
  j.workload_name = "job-train-resnet-00042-8f21a";
  return {envelope, Observation(j)};
}

/// A cycle that admits `n` workloads.
inline RecordView cycle(std::size_t n) {
  static std::vector<std::string> names;
  static std::vector<Event> events;
  if (names.size() != 2 * n) {
    names.clear();
    events.clear();
    names.reserve(2 * n);
    for (std::size_t i = 0; i < n; ++i) {
      names.push_back("5f0c1a52-8c9e-4b7e-9a55-" + std::to_string(100'000'000'000 + i));
      names.push_back("job-train-resnet-" + std::to_string(10'000 + i) + "-8f21a");
      auto event = std::get<QuotaReserved>(std::get<Decisions>(admission().body).events[0]);
      event.workload = {names[2 * i], "team-a", names[2 * i + 1]};
      events.push_back(event);
    }
  }
  return {envelope, Decisions{1'234'566, StepKind::cycle, events}};
}

}  // namespace hindsight::bench
