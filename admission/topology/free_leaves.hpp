#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "admission/topology/offers.hpp"
#include "admission/topology/topology_tree.hpp"

namespace hindsight::admission::topology {

/// Leaves where no pod of one shape may stand (TAS-65), and those that it prefers.
struct LeafFilter {
  std::vector<std::uint8_t> excluded;           ///< By leaf; empty: none is.
  std::map<std::string, std::int32_t> reasons;  ///< "nodeSelector" → how many.
  std::vector<std::int64_t> scores;             ///< By leaf; empty: it prefers none, or that does not count.
};

/// What is free of the leaves of a flavor, and what they offer to those who asked lately. What was counted once is kept, and follows what
/// changes leaf by leaf; so a question that is asked again costs what has changed since, not what there is.
class FreeLeaves {
 public:
  FreeLeaves() = default;
  explicit FreeLeaves(Capacity capacity) : capacity_(std::move(capacity)) {}
  /// What was counted stays with the one that counted it.
  FreeLeaves(const FreeLeaves& other) : capacity_(other.capacity_) {}
  FreeLeaves& operator=(const FreeLeaves& other) { return *this = FreeLeaves(other); }
  FreeLeaves(FreeLeaves&&) noexcept = default;
  FreeLeaves& operator=(FreeLeaves&&) noexcept = default;
  ~FreeLeaves() = default;

  [[nodiscard]] const Capacity& capacity() const { return capacity_; }

  /// As Capacity::change.
  void change(Symbol resource, DomainIndex leaf, Amount amount) {
    capacity_.change(resource, leaf, amount);
    touch(leaf);
  }
  /// Something else about a leaf has changed: whether it takes part, or what a filter says of it.
  void touch(DomainIndex leaf);

  /// `workers` and `leader`: for whom the question is, the second without meaning where nobody leads. Filters that are equal are one
  /// object; they change only as `touch` says. `absent` as in LeafRules. Valid until the next change, or the next question.
  [[nodiscard]] const Offers& offers(const TopologyTree& tree, const Question& question, const std::shared_ptr<const LeafFilter>& workers,
                                     const std::shared_ptr<const LeafFilter>& leader, std::span<const std::uint8_t> absent);

  /// Leaves of all questions that are kept, together.
  static constexpr std::size_t leaves_kept = 1'000'000;
  static constexpr std::size_t questions_min = 2, questions_max = 64;

 private:
  struct Kept {
    Offers offers;
    std::shared_ptr<const LeafFilter> workers, leader;
    std::uint64_t seen;  ///< Changes that it has followed.
    std::uint64_t asked;
  };
  /// Of the changes that `kept` has not followed; all leaves where these are too many.
  void follow(Kept& kept, const TopologyTree& tree, const LeafRules& rules) const;

  Capacity capacity_;
  std::vector<std::unique_ptr<Kept>> kept_;
  std::vector<DomainIndex> changed_;  ///< Leaves, the last ones; nobody is interested in those before.
  std::uint64_t forgotten_ = 0;       ///< How many changes were before these.
  std::uint64_t read_ = 0;            ///< Up to here somebody has followed.
  std::uint64_t questions_ = 0;       ///< That were asked.
};

}  // namespace hindsight::admission::topology
