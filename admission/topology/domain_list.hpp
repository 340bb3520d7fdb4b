#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "admission/topology/topology_tree.hpp"

namespace hindsight::admission::topology {

/// As many as there can be: nothing limits them.
inline constexpr std::int32_t unlimited_pods = std::numeric_limits<std::int32_t>::max();

/// What a domain offers, and later what it is given (2724 §3.4). `..._l`: if the leader stands there, too.
struct DomainOffer {
  DomainIndex domain = 0;
  std::int32_t pods = 0, slices = 0, pods_l = 0, slices_l = 0;
  std::int32_t lead = 0;   ///< Leaders that it can host.
  std::int64_t score = 0;  ///< Of its nodes, for those who prefer some; all 0: nobody does.
};

/// Domains of one level.
using DomainOffers = std::vector<DomainOffer>;

/// What is counted: pods, or groups of them that may not be divided.
enum class Unit : std::uint8_t { pods, slices };

[[nodiscard]] constexpr std::int32_t capacity(const DomainOffer& d, Unit unit, bool with_leader) {
  if (unit == Unit::slices) return with_leader ? d.slices_l : d.slices;
  return with_leader ? d.pods_l : d.pods;
}

/// The sum, at most unlimited_pods.
[[nodiscard]] constexpr std::int32_t sum_of_pods(std::int32_t a, std::int32_t b) {
  const std::int64_t s = std::int64_t{a} + b;
  return s > unlimited_pods ? unlimited_pods : static_cast<std::int32_t>(s);
}

/// How domains are preferred to each other and used up (§3.5, §3.7). All orders are total.
class DomainOrder {
 public:
  /// `least_free`: the smallest that fit first, in place of the largest.
  explicit DomainOrder(bool least_free) : best_fit_(!least_free) {}

  [[nodiscard]] bool best_fit() const { return best_fit_; }
  /// As hosts of pods (W).
  [[nodiscard]] bool before(const DomainOffer& a, const DomainOffer& b) const;
  void sort(DomainOffers& list) const;
  /// Only so many at the front are sorted, and none behind them goes before them. Returns where these begin.
  DomainOffers::iterator sort_first(DomainOffers& list, std::size_t count) const;
  /// The first of them, sorted, so many at most.
  [[nodiscard]] DomainOffers first_of(std::span<const DomainOffer> list, std::size_t count) const;
  /// As hosts of the leader (WL).
  [[nodiscard]] bool before_for_leader(const DomainOffer& a, const DomainOffer& b) const;
  void sort_for_leader(DomainOffers& list) const;
  /// Position of the smallest from `from` on that holds `n`; none does: `from`. Only among those with the score of the one at `from`.
  [[nodiscard]] static std::size_t best(const DomainOffers& list, std::size_t from, std::int32_t n, std::int32_t leaders, Unit unit);
  /// Moves a domain to the front that can host the leader and leaves enough for the others.
  static void promote(DomainOffers& list, std::int32_t units, std::int32_t leaders, Unit unit);
  /// Appends to `out` those of the list that take `count` pods together, each with what it gets. `size`: pods in a slice. False: they do
  /// not suffice.
  [[nodiscard]] bool give(DomainOffers list, std::int32_t count, std::int32_t leaders, std::int32_t size, Unit unit,
                          DomainOffers& out) const;

 private:
  bool best_fit_;
};

}  // namespace hindsight::admission::topology
