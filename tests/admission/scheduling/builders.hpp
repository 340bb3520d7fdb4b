#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "admission/model/catalog.hpp"
#include "admission/model/workload_info.hpp"
#include "admission/quota/quota_tree.hpp"

// Short words for the scenarios of base-admission §13. CPU amounts are in cores: 1c = 1000 milli-cores.

namespace hindsight::admission::testing {

/// n cores.
constexpr Amount cores(std::int64_t n) { return n * 1000; }

/// A queue or cohort under construction; converts to the shared configuration.
struct QueueSpec {
  QueueConfig config;

  explicit QueueSpec(std::string_view name, std::string_view cohort = {}) {
    config.name = Symbol(name);
    config.cohort = Symbol(cohort);
  }
  /// Quota of `flavor` for cpu, in cores; flavors in the order of the calls.
  QueueSpec& cpu(std::string_view flavor, std::int64_t nominal, std::optional<std::int64_t> borrow = {},
                 std::optional<std::int64_t> lend = {}) {
    Quota q{cores(nominal), {}, {}};
    if (borrow) q.borrowing_limit = cores(*borrow);
    if (lend) q.lending_limit = cores(*lend);
    return quota({"cpu"}, flavor, {q});
  }
  /// Adds a flavor to the group that covers exactly `resources`, which is made if it is missing.
  QueueSpec& quota(const std::vector<std::string_view>& resources, std::string_view flavor, std::vector<Quota> quotas) {
    std::vector<Symbol> names;
    for (const auto r : resources) names.emplace_back(r);
    for (auto& g : config.groups) {
      if (g.resources != names) continue;
      g.flavors.push_back({Symbol(flavor), std::move(quotas)});
      return *this;
    }
    config.groups.push_back({names, {{Symbol(flavor), std::move(quotas)}}});
    return *this;
  }
  QueueSpec& within(PreemptionPolicy p) {
    config.within_cluster_queue = p;
    return *this;
  }
  QueueSpec& reclaim(PreemptionPolicy p) {
    config.reclaim_within_cohort = p;
    return *this;
  }
  QueueSpec& borrow_within(PreemptionPolicy p, std::optional<std::int32_t> threshold = {}) {
    config.borrow_within_cohort = p;
    config.max_priority_threshold = threshold;
    return *this;
  }
  QueueSpec& weight(std::int64_t nano) {
    config.fair_weight_nano = nano;
    return *this;
  }
};

struct CohortSpec {
  CohortConfig config;

  explicit CohortSpec(std::string_view name, std::string_view parent = {}) {
    config.name = Symbol(name);
    config.parent = Symbol(parent);
  }
  CohortSpec& cpu(std::string_view flavor, std::int64_t nominal, std::optional<std::int64_t> borrow = {},
                  std::optional<std::int64_t> lend = {}) {
    QueueSpec q("");
    q.cpu(flavor, nominal, borrow, lend);
    config.groups.insert(config.groups.end(), q.config.groups.begin(), q.config.groups.end());
    return *this;
  }
  CohortSpec& weight(std::int64_t nano) {
    config.fair_weight_nano = nano;
    return *this;
  }
};

inline QuotaTree build_tree(const std::vector<QueueSpec>& queues, const std::vector<CohortSpec>& cohorts = {}) {
  std::vector<QuotaTree::Member> members;
  for (const auto& q : queues) members.push_back({std::make_shared<QueueConfig>(q.config), true});
  std::vector<std::shared_ptr<const CohortConfig>> configs;
  for (const auto& c : cohorts) configs.push_back(std::make_shared<CohortConfig>(c.config));
  return QuotaTree::build(members, configs);
}

/// A reservation of `amount` of one flavor and resource.
inline Reservation reservation(WorkloadId id, std::string_view flavor, std::string_view resource, Amount amount) {
  auto w = std::make_shared<WorkloadInfo>();
  w->id = id;
  w->uid = "uid-" + std::to_string(id);
  Reservation r;
  r.workload = std::move(w);
  r.charges.push_back({Symbol(flavor), Symbol(resource), amount});
  return r;
}

}  // namespace hindsight::admission::testing
