#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "admission/model/catalog_view.hpp"
#include "admission/quota/usage_ledger.hpp"
#include "admission/tables/registry.hpp"
#include "vocabulary/symbol.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::admission {

// What the domain keeps of each job, Workload, pod and LocalQueue, so that it knows whom a record concerns.

enum class JobKind : std::uint8_t { none, unqueued, queued };  ///< What a parent stands for: no job, one without queue name, one with.
/// Of a job that another object owns.
struct Lineage {
  std::string owner_uid;  ///< Controller owner.
  Symbol owner_kind;      ///< As the reference says; empty: it says nothing.
  Time created;
  bool child = false;    ///< It has a managed ancestor.
  std::string ancestor;  ///< Uid of the topmost one; empty when `child` is kept although the owner has gone.
  bool beyond = false;   ///< There is no room for it in its owner.
  /// Uid of the owner among whose children it is counted; told again after a snapshot was read.
  std::string counted_in;
};
/// A pod of an elastic job: whose it is, and who looks after it, which is the ancestor that is queued in place of its owner (EJ-78).
struct PodPlace {
  std::uint32_t owner = Registry::none, keeper = Registry::none;
  Symbol namespace_;
};
using Pods = std::map<std::string, PodPlace>;
/// Of a job: what a reference to an owner has to agree with.
struct JobPlace {
  Symbol kind, namespace_;
};
/// Of a Workload: its LocalQueue as it was observed last, and the ClusterQueue whose quota it holds or held last, which need not be that
/// of the LocalQueue.
struct WorkloadPlace {
  Catalog::LocalQueueKey member;
  Symbol holder;
  std::uint64_t version = 0;  ///< Of the object then; what is told of it late places nobody. In snapshots with its parent.
};

/// What the status of a LocalQueue said last; a ClusterQueue that comes into being starts from it.
struct Consumed {
  UsageVector usage;
  Time at;
};

}  // namespace hindsight::admission
