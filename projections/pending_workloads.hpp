#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "projections/lookup.hpp"

namespace hindsight::projections {

/// One line of the visibility API (base-api §9). A family of concurrent admission is one, under the name of its Parent, where the first of
/// its Options waits; none if its job runs (CA-105). Positions count from 0, over heap and inadmissible set together (BA-192).
struct PendingWorkload {
  struct Owner {
    std::string kind, group, name, uid;
  };
  std::string namespace_, name;
  Time created;
  std::optional<Owner> owner;  ///< The job that it belongs to.
  std::int64_t priority = 0;   ///< Of its spec, without a boost.
  std::string local_queue;
  std::size_t position = 0;        ///< In the ClusterQueue.
  std::size_t local_position = 0;  ///< Among those of the same LocalQueue.
};

/// Which part of a list is wanted. Positions do not depend on it.
struct PendingPage {
  std::size_t offset = 0;
  std::size_t limit = 1000;
};

// In the order of the queue. Nothing: there is no such queue. In a LocalQueue whose ClusterQueue does not exist nobody waits. Names come
// from anybody who asks, so they are not interned.

[[nodiscard]] std::optional<std::vector<PendingWorkload>> pending_in_cluster_queue(const StateView& state, std::string_view name,
                                                                                   PendingPage page);
/// `offset` and `limit` count those of the LocalQueue only.
[[nodiscard]] std::optional<std::vector<PendingWorkload>> pending_in_local_queue(const StateView& state, std::string_view namespace_,
                                                                                 std::string_view name, PendingPage page);

}  // namespace hindsight::projections
