#pragma once

#include "vocabulary/record.hpp"

namespace hindsight::admission {

/// The job that an event is about, where it is about no Workload.
struct OnlyJob {
  const JobRef* operator()(const WorkloadRequested& e) const { return &e.job; }
  const JobRef* operator()(const JobStopped& e) const { return &e.job; }
  const JobRef* operator()(const GateChanged& e) const { return e.workload.uid.empty() ? &e.job : nullptr; }
  template <class E>
  const JobRef* operator()(const E&) const {
    return nullptr;
  }
};

/// The uid of the Workload that an event is about; empty: it is about none.
struct NamedWorkload {
  Text operator()(const WorkloadRequested&) const { return {}; }
  Text operator()(const JobStopped&) const { return {}; }
  Text operator()(const TreeReactivated&) const { return {}; }
  template <class E>
  Text operator()(const E& e) const {
    return e.workload.uid;
  }
};

}  // namespace hindsight::admission
