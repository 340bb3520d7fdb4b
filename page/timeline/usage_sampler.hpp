#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "admission/domain/state_view.hpp"
#include "page/timeline/rows.hpp"
#include "vocabulary/symbol.hpp"

namespace hindsight::page::timeline {

using admission::StateView;

/// Reads off a state how much waits, runs and is used. It takes a time that grows with the queues and their quotas, and with no Workload.
/// Not thread-safe.
class UsageSampler {
 public:
  /// So many pairs of flavor and resource are told one by one, those that appeared first. `Row::used` is of all of them, up to `known_max`.
  static constexpr std::size_t told_max = 32;
  static constexpr std::size_t known_max = 4096;

  /// Pairs that rows have numbers for already, in this order; before the first sample.
  void know(const std::vector<PairName>& pairs);
  /// Writes the state into the row.
  void sample(const StateView& state, Row& row);
  /// Those that rows have numbers for.
  [[nodiscard]] std::vector<PairName> pairs() const;

 private:
  struct Pair {
    Symbol flavor, resource;
    Amount used = 0, nominal = 0;
  };
  [[nodiscard]] Pair* find(const Symbol& flavor, const Symbol& resource);
  void read_nominal(const StateView& state);
  void read_used(const StateView& state);

  std::vector<Pair> pairs_;                                ///< In the order in which they appeared.
  std::unordered_map<std::uint64_t, std::size_t> number_;  ///< By the numbers of both names, which `pairs_` keeps.
  bool configured_ = false;
  std::uint64_t configuration_ = 0;  ///< Sequence of the record by which `nominal` is.
};

}  // namespace hindsight::page::timeline
