#pragma once

namespace hindsight::test {

/// A description of jobs to draw that has most of what there may be in one.
inline constexpr const char* two_forms = R"(seed: 1
count: 6
arrival: {kind: exponential, mean: 30s}
jobs:
- name: short
  weight: 3
  runTime: {kind: fixed, value: 10s}
  requests: {cpu: 1}
  queues: [{namespace: a, queue: lq, weight: 1}, {queue: lq, weight: 2}]
- name: long
  weight: 1
  runTime: {kind: lognormal, median: 10m, p95: 1h}
  pods: 2
  requests: {cpu: 500m, nvidia.com/gpu: 1}
  queues: [{namespace: a, queue: lq, weight: 1}, {queue: lq, weight: 2}]
  priorities: [{class: low}, {class: high}]
)";

}  // namespace hindsight::test
