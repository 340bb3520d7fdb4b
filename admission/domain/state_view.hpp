#pragma once

#include <cstdint>

#include "vocabulary/symbol.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::admission {

class ClusterQueue;
class CohortTree;
class Domain;
class WorkloadParent;

/// Read access to one domain between records, whichever driver runs it: the loop (replay, simulation) or the actors (live). What it gives
/// stays valid until the next record is applied.
class StateView {
 public:
  StateView() = default;
  StateView(const StateView&) = delete;
  StateView& operator=(const StateView&) = delete;
  virtual ~StateView() = default;

  [[nodiscard]] virtual const Domain& domain() const = 0;
  /// The moment that is looked at, to which ages count: the time of the last record, or a later one that was asked for. Decisions know
  /// the time of the last record only.
  [[nodiscard]] virtual Time now() const = 0;
  /// By number, 0 … domain().parent_count() − 1; null where none lives. One that is `empty()` waits for its number to be reused.
  [[nodiscard]] virtual const WorkloadParent* parent(std::uint32_t index) const = 0;
  [[nodiscard]] virtual const ClusterQueue* queue(Symbol name) const = 0;
  [[nodiscard]] virtual const CohortTree* tree(Symbol root) const = 0;
  /// Of the whole domain; the same for equal records, whatever the driver and the order of delivery.
  [[nodiscard]] virtual std::uint64_t state_hash() const = 0;
};

}  // namespace hindsight::admission
