#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "vocabulary/amount.hpp"
#include "vocabulary/compact_text.hpp"
#include "vocabulary/interned.hpp"
#include "vocabulary/symbol.hpp"

namespace hindsight {

/// Sorted by text of the key.
using LabelList = std::vector<std::pair<Symbol, CompactText>>;
/// By resource; sorted by text of the name.
using AmountList = std::vector<std::pair<Symbol, Amount>>;

// In the namespace of what the lists hold, where Interned looks for them.
[[nodiscard]] std::uint64_t interning_hash(const LabelList& labels);
[[nodiscard]] std::uint64_t interning_hash(const AmountList& amounts);

namespace admission {

/// The labels of a node. Hosts of one rack are labelled alike but for the name of the host, so they share one list of all other labels.
struct NodeLabels {
  Symbol hostname;  ///< kubernetes.io/hostname; empty: it has none, or an empty one, which stands among the others.
  Interned<LabelList> others;

  NodeLabels() = default;
  NodeLabels(LabelList labels);  // NOLINT(google-explicit-constructor)
  NodeLabels(std::initializer_list<LabelList::value_type> labels) : NodeLabels(LabelList(labels)) {}

  [[nodiscard]] bool has(Symbol key) const;
  /// Empty also where there is none.
  [[nodiscard]] std::string_view at(const Symbol& key) const;
  [[nodiscard]] LabelList all() const;
  void set(Symbol key, std::string_view value);
  void erase(Symbol key);

  friend bool operator==(const NodeLabels&, const NodeLabels&) = default;
};

}  // namespace admission
}  // namespace hindsight
