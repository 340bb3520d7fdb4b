// Figures of objects add up, over random histories that were played in virtual time: a cohort has what its members have, and a ClusterQueue
// what its Workloads use. HINDSIGHT_SEED: only this history.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "admission/domain/domain.hpp"
#include "projections/objects.hpp"
#include "projections/quota_report.hpp"
#include "projections/tables.hpp"
#include "tests/projections/simulated.hpp"

namespace hindsight::projections {
namespace {

using Pair = std::pair<std::string, std::string>;  // flavor, resource
using Amounts = std::map<Pair, Amount>;

/// Cohorts in a tree, some with quota of their own, queues that lend and borrow within limits, jobs that come and go.
std::string random_world(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<std::uint64_t>(n)); };
  const std::string kueue = "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ";
  std::string out = basics + kueue + "ResourceFlavor\nmetadata: {name: spot}\n";
  const int cohorts = 2 + below(4);
  for (int i = 0; i < cohorts; ++i) {
    out += kueue + "Cohort\nmetadata: {name: c" + std::to_string(i) + "}\nspec:\n";
    out += i == 0 ? "  fairSharing: {weight: 1}\n" : "  parentName: c" + std::to_string(below(i)) + "\n";
    if (i > 0 && below(2) == 0)
      out += "  resourceGroups:\n  - coveredResources: [cpu]\n    flavors: [{name: default, resources: [{name: cpu, nominalQuota: " +
             std::to_string(1 + below(3)) + "}]}]\n";
  }
  const int queues = 3 + below(4);
  for (int i = 0; i < queues; ++i) {
    const std::string name = "q" + std::to_string(i);
    const auto quota = [&] {
      const int nominal = below(6);
      std::string text = "{name: cpu, nominalQuota: " + std::to_string(nominal);
      if (below(3) == 0) text += ", borrowingLimit: " + std::to_string(below(4));
      if (below(2) == 0) text += ", lendingLimit: " + std::to_string(below(nominal + 1));
      return text + "}";
    };
    out += kueue + "ClusterQueue\nmetadata: {name: " + name + "}\nspec:\n  namespaceSelector: {}\n  cohortName: c" +
           std::to_string(below(cohorts)) + "\n";
    if (below(2) == 0) out += "  preemption: {withinClusterQueue: LowerPriority, reclaimWithinCohort: Any}\n";
    out += "  resourceGroups:\n  - coveredResources: [cpu]\n    flavors:\n    - {name: default, resources: [" + quota() + "]}\n";
    if (below(2) == 0) out += "    - {name: spot, resources: [" + quota() + "]}\n";
    out += kueue + "LocalQueue\nmetadata: {name: lq-" + name + ", namespace: default}\nspec: {clusterQueue: " + name + "}\n";
  }
  for (int i = 0; i < 30; ++i)
    out += job_text({.name = "j" + std::to_string(i),
                     .queue = "q" + std::to_string(below(queues)),
                     .cpu = std::to_string(1 + below(3)),
                     .arrives = below(60),
                     .runs = 10 + below(60),
                     .priority_class = below(4) == 0 ? "high" : ""});
  return out;
}

Amount amount_of(const Json& quantity) { return parse_quantity(quantity.get<std::string>(), "cpu").value(); }

/// A figure of status.hindsight.quota by flavor and resource.
Amounts figures(const Json& object, const char* figure) {
  Amounts out;
  for (const auto& line : object["status"]["hindsight"]["quota"])
    out[{line["flavor"].get<std::string>(), line["resource"].get<std::string>()}] = amount_of(line[figure]);
  return out;
}

void add_to(Amounts& sums, const Amounts& more) {
  for (const auto& [pair, amount] : more) sums[pair] += amount;
}
/// So that a pair of which there is nothing is as one that is not there.
Amounts without_zeros(Amounts amounts) {
  std::erase_if(amounts, [](const auto& one) { return one.second == 0; });
  return amounts;
}

bool has_condition(const Json& workload, const char* type) {
  const auto conditions = workload["status"].value("conditions", Json::array());
  return std::any_of(conditions.begin(), conditions.end(), [&](const Json& c) { return c["type"] == type && c["status"] == "True"; });
}

/// What a Workload that reserves uses: its assignment, less pods that are given back (BA-209).
Amounts use_of(const Json& workload) {
  Amounts out;
  std::map<std::string, std::int64_t> still;
  for (const auto& p : workload["spec"]["podSets"]) still[p["name"]] = p["count"].get<std::int64_t>();
  for (const auto& r : workload["status"].value("reclaimablePods", Json::array())) still[r["name"]] -= r["count"].get<std::int64_t>();
  for (const auto& a : workload["status"]["admission"]["podSetAssignments"]) {
    const auto count = a["count"].get<std::int64_t>();
    for (const auto& [resource, flavor] : a["flavors"].items())
      out[{flavor.get<std::string>(), resource}] +=
          amount_of(a["resourceUsage"][resource]) * std::min(count, still[a["name"].get<std::string>()]) / count;
  }
  return out;
}

/// How much there was to look at.
struct Looked {
  int used = 0, unlent = 0, borrowed = 0;
};

void look_at_queues(const StateView& state, Looked& looked) {
  std::map<std::string, Amounts> used;
  std::map<std::string, int> reserving;
  for (const auto& at : select_workloads(state, {})) {
    const Json w = workload_object(state, at);
    if (!has_condition(w, "QuotaReserved") || has_condition(w, "Finished")) continue;
    const std::string queue = w["status"]["admission"]["clusterQueue"];
    add_to(used[queue], use_of(w));
    ++reserving[queue];
  }
  for (const auto& [name, config] : state.domain().catalog()->queues) {
    const Json q = cluster_queue_object(state, *config);
    const std::string queue(name.text());
    Amounts told;
    for (const auto& flavor : q["status"]["flavorsReservation"])
      for (const auto& r : flavor["resources"])
        told[{flavor["name"].get<std::string>(), r["name"].get<std::string>()}] = amount_of(r["total"]);
    EXPECT_EQ(without_zeros(told), without_zeros(used[queue])) << queue;
    EXPECT_EQ(without_zeros(figures(q, "used")), without_zeros(used[queue])) << queue;
    EXPECT_EQ(q["status"]["reservingWorkloads"], reserving[queue]) << queue;
    looked.used += !without_zeros(told).empty();
    looked.borrowed += !without_zeros(figures(q, "borrowed")).empty();
  }
}

void look_at_cohorts(const StateView& state, Looked& looked) {
  for (const Symbol& cohort : all_cohorts(state)) {
    if (tree_of_cohort(state, cohort) == nullptr) continue;  // nobody is below it yet
    const Json c = cohort_object(state, cohort);
    Amounts nominal = figures(c, "own"), used;
    const auto add_member = [&](const Json& member) {
      add_to(nominal, figures(member, "nominal"));
      add_to(used, figures(member, "used"));
    };
    for (const auto& name : c["status"]["hindsight"]["cohorts"]) add_member(cohort_object(state, Symbol(name.get<std::string>())));
    for (const auto& name : c["status"]["hindsight"]["clusterQueues"])
      add_member(cluster_queue_object(state, *state.domain().catalog()->queue(Symbol(name.get<std::string>()))));
    EXPECT_EQ(without_zeros(figures(c, "nominal")), without_zeros(nominal)) << cohort.text();
    EXPECT_EQ(without_zeros(figures(c, "used")), without_zeros(used)) << cohort.text();
    const bool root = !c.contains("spec") || !c["spec"].contains("parentName");
    for (const auto& line : c["status"]["hindsight"]["quota"]) {
      const auto of = [&](const char* figure) { return amount_of(line[figure]); };
      EXPECT_EQ(of("guaranteed") + of("lendable"), of("nominal")) << line;
      EXPECT_EQ(of("nominal") + of("borrowable"), of("maximum")) << line;
      EXPECT_GE(of("borrowable"), 0) << line;
      EXPECT_LE(of("used"), of("maximum")) << line;
      looked.unlent += !root && of("guaranteed") > 0;
      if (!root) continue;
      EXPECT_EQ(of("maximum"), of("nominal")) << line;
      EXPECT_EQ(of("used") + of("available"), of("nominal")) << line;
    }
  }
}

TEST(ObjectSums, CohortsAreTheirMembersAndQueuesTheirWorkloads) {
  const char* only = std::getenv("HINDSIGHT_SEED");
  Looked looked;
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    if (only != nullptr && std::strtoull(only, nullptr, 10) != seed) continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    Played run(random_world(seed));
    for (events::Position p = 1; p <= run.end(); p += std::max<events::Position>(1, run.end() / 10)) {
      SCOPED_TRACE("record " + std::to_string(p));
      const auto& state = run.state(p);
      look_at_queues(state, looked);
      look_at_cohorts(state, looked);
      if (::testing::Test::HasFailure()) return;
    }
  }
  if (only != nullptr) return;
  EXPECT_GT(looked.used, 100);
  EXPECT_GT(looked.borrowed, 10);
  EXPECT_GT(looked.unlent, 10);
}

}  // namespace
}  // namespace hindsight::projections
