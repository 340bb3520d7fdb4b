#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "vocabulary/amount.hpp"
#include "vocabulary/compact_text.hpp"
#include "vocabulary/interned.hpp"
#include "vocabulary/symbol.hpp"

namespace hindsight::admission {

/// Labels that a node must carry; sorted by key text.
struct NodeSelector {
  std::vector<std::pair<Symbol, Symbol>> entries;

  [[nodiscard]] bool empty() const { return entries.empty(); }
  [[nodiscard]] bool contains(const NodeSelector& part) const;
  friend bool operator==(const NodeSelector&, const NodeSelector&) = default;
};
[[nodiscard]] std::uint64_t interning_hash(const NodeSelector& selector);

/// Amounts by resource; sorted by resource text.
struct PodAmounts {
  std::vector<std::pair<Symbol, Amount>> amounts;
  friend bool operator==(const PodAmounts&, const PodAmounts&) = default;
};
[[nodiscard]] std::uint64_t interning_hash(const PodAmounts& amounts);
/// Adds `more`; both sorted by resource text.
void add_amounts(std::vector<std::pair<Symbol, Amount>>& amounts, const std::vector<std::pair<Symbol, Amount>>& more);

/// A pod of an elastic job, or of a pod set that has places in a topology, as far as its scheduling gates go.
struct PodState {
  CompactText uid, name;
  Symbol pod_set;           ///< Empty: it belongs to none.
  std::int32_t index = -1;  ///< Completion index; -1: none.
  std::uint64_t resource_version = 0;
  bool gated = false;  ///< By the gate elastic-job.
  bool ended = false;
  bool released = false;          ///< That gate was decided to go, and is still seen.
  std::uint64_t released_at = 0;  ///< Sequence of the decision by which one of its gates goes.

  // Of a pod that carries annotations of topologies (2724 §4.7).
  bool placed = false;
  bool topology_gated = false;    ///< By the gate topology.
  bool index_offset_bad = false;  ///< Its annotation pod-index-offset is no number.
  std::int32_t index_offset = 0;
  std::int32_t group = -1;          ///< Index of its sub-group; -1: none.
  Symbol workload;                  ///< Name of the one that its job was started for.
  Interned<NodeSelector> selector;  ///< As it was seen.
  Interned<NodeSelector> place;     ///< While it is gated: the domain that it was given. Empty: none.
  Symbol node;                      ///< That it is bound to.
  bool terminating = false;         ///< It is being deleted.
  Interned<PodAmounts> requests;    ///< Of one that is bound, one of resource "pods" included.
  bool failing = false;             ///< It was decided that it fails, and is not seen so.

  friend bool operator==(const PodState&, const PodState&) = default;
};

}  // namespace hindsight::admission
