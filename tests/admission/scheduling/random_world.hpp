#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/admission/scheduling/world.hpp"

namespace hindsight::admission::testing {

/// Seeded choices without std distributions, so that a seed means the same everywhere.
class Dice {
 public:
  explicit Dice(std::uint32_t seed) : engine_(seed) {}
  /// 0 … n − 1.
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(engine_() % n); }
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool one_in(std::uint32_t n) { return below(n) == 0; }
  template <class T>
  const T& of(const std::vector<T>& list) {
    return list[below(static_cast<std::uint32_t>(list.size()))];
  }
  template <class T>
  void shuffle(std::vector<T>& list) {
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[below(static_cast<std::uint32_t>(i))]);
  }

 private:
  std::mt19937 engine_;
};

/// A random tree: a few cohorts below "root", queues at any place, up to three flavors of two resources.
struct RandomTree {
  std::vector<QueueSpec> queues;
  std::vector<CohortSpec> cohorts;
  std::vector<std::string> flavors;
  std::vector<std::string> resources;
};

inline Quota random_quota(Dice& dice, bool may_be_unlimited) {
  Quota q;
  q.nominal = dice.between(0, 10);
  if (may_be_unlimited && dice.one_in(40)) q.nominal = unlimited;
  if (dice.one_in(3)) q.borrowing_limit = may_be_unlimited && dice.one_in(20) ? unlimited : dice.between(0, 8);
  if (dice.one_in(3)) q.lending_limit = may_be_unlimited && dice.one_in(20) ? unlimited : dice.between(0, 10);
  return q;
}

inline std::vector<ResourceGroup> random_groups(Dice& dice, const RandomTree& tree, bool may_be_unlimited) {
  std::vector<Symbol> resources;
  for (const auto& r : tree.resources) resources.emplace_back(r);
  std::vector<std::string> flavors = tree.flavors;
  dice.shuffle(flavors);
  flavors.resize(1 + dice.below(static_cast<std::uint32_t>(flavors.size())));
  std::vector<ResourceGroup> groups;
  if (resources.size() > 1 && flavors.size() > 1 && dice.one_in(3)) {  // a group for each resource
    for (std::size_t g = 0; g < 2; ++g) {
      ResourceGroup& group = groups.emplace_back();
      group.resources = {resources[g]};
      for (std::size_t f = g; f < flavors.size(); f += 2)
        group.flavors.push_back({Symbol(flavors[f]), {random_quota(dice, may_be_unlimited)}});
    }
    return groups;
  }
  ResourceGroup& group = groups.emplace_back();
  group.resources = resources;
  for (const auto& f : flavors) {
    FlavorQuotas quotas{Symbol(f), {}};
    for (std::size_t r = 0; r < resources.size(); ++r) quotas.quotas.push_back(random_quota(dice, may_be_unlimited));
    group.flavors.push_back(std::move(quotas));
  }
  return groups;
}

inline RandomTree random_tree(Dice& dice, bool may_be_unlimited) {
  using enum PreemptionPolicy;
  RandomTree out;
  for (std::uint32_t i = 0; i <= dice.below(3); ++i) out.flavors.push_back("f" + std::to_string(i));
  out.resources = {"cpu"};
  if (dice.one_in(2)) out.resources.emplace_back("memory");

  std::vector<std::string> cohorts{"root"};
  const std::uint32_t extra = dice.below(4);
  for (std::uint32_t i = 0; i < extra; ++i) {
    CohortSpec& c = out.cohorts.emplace_back("c" + std::to_string(i), dice.of(cohorts));
    if (dice.one_in(2)) c.config.groups = random_groups(dice, out, may_be_unlimited);
    if (dice.one_in(4)) c.weight(dice.between(0, 3) * 500'000'000);
    cohorts.emplace_back(c.config.name.text());
  }
  if (dice.one_in(3)) out.cohorts.emplace_back("root").config.groups = random_groups(dice, out, may_be_unlimited);

  const bool alone = dice.one_in(12);
  const std::uint32_t count = alone ? 1 : 1 + dice.below(7);
  for (std::uint32_t i = 0; i < count; ++i) {
    QueueSpec& q = out.queues.emplace_back("q" + std::to_string(i), alone ? std::string() : dice.of(cohorts));
    q.config.groups = random_groups(dice, out, may_be_unlimited);
    q.config.has_namespace_selector = true;
    q.within(dice.of(std::vector{never, lower_priority, lower_or_newer_equal_priority}));
    q.reclaim(dice.of(std::vector{never, lower_priority, any}));
    if (q.config.reclaim_within_cohort != never && dice.one_in(3)) {
      q.borrow_within(lower_priority, dice.one_in(2) ? std::optional<std::int32_t>() : static_cast<std::int32_t>(dice.below(4)));
    }
    q.config.when_can_borrow = dice.one_in(2) ? FungibilityPolicy::may_stop_search : FungibilityPolicy::try_next_flavor;
    q.config.when_can_preempt = dice.one_in(2) ? FungibilityPolicy::may_stop_search : FungibilityPolicy::try_next_flavor;
    if (dice.one_in(4)) q.config.preference = FungibilityPreference::preemption_over_borrowing;
    if (dice.one_in(4)) q.weight(dice.between(0, 3) * 500'000'000);
  }
  if (alone) out.cohorts.clear();
  return out;
}

/// A reservation in `queue` on a random flavor of each of its groups.
inline Reservation random_reservation(Dice& dice, WorkloadId id, const QueueConfig& queue, std::int64_t most) {
  auto w = std::make_shared<WorkloadInfo>();
  w->id = id;
  w->name = "w" + std::to_string(id);
  w->uid = "uid-" + std::to_string(id);
  w->priority = w->base_priority = dice.between(0, 4);
  w->queue_time = w->created = Time::from_seconds(dice.between(0, 20));
  if (!dice.one_in(10)) w->reserved_at = Time::from_seconds(dice.between(20, 40));
  w->evicted = dice.one_in(8);
  Reservation r;
  r.workload = std::move(w);
  for (const auto& g : queue.groups) {
    if (g.flavors.empty()) continue;
    const Symbol flavor = dice.of(g.flavors).flavor;
    for (const Symbol& resource : g.resources) r.charges.push_back({flavor, resource, dice.between(0, most)});
  }
  return r;
}

}  // namespace hindsight::admission::testing
