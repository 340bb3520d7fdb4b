#include <map>
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "connectors/simulated/job_simulator.hpp"
#include "connectors/simulated/scenario_player.hpp"

namespace hindsight::connectors::simulated {
namespace {

/// Plays the files and, in place of a control plane, starts every job when it arrives.
Time play_unqueued(const std::string& folder, std::set<std::string>& jobs) {
  auto input = manifests::read_input({folder});
  if (!input) {
    ADD_FAILURE() << input.error().message;
    return {};
  }
  ClusterOptions options;
  options.webhooks = true;
  SimulatedCluster cluster(options);
  JobSimulator simulator(cluster);
  ScenarioPlayer player(cluster, scenario_of(std::move(input->manifests), folder));
  while (player.next_step()) {
    const auto refused = player.run_step();
    EXPECT_TRUE(refused) << refused.error().message;
    if (!refused) return {};
    for (const auto& refusal : *refused) ADD_FAILURE() << refusal.kind << " " << refusal.name << ": " << refusal.message;
    for (const auto& [key, job] : cluster.store().of_kind("Job")) {
      if (jobs.insert(key).second) {
        EXPECT_TRUE(flag(job->spec(), "suspend")) << key;
        cluster.merge_patch("Job", job->namespace_, job->name, Part::main, {{"spec", {{"suspend", false}}}});
      }
    }
  }
  while (simulator.next_due().is_set()) {
    cluster.set_time(simulator.next_due());
    simulator.run_due();
  }
  for (const auto& [key, job] : cluster.store().of_kind("Job")) EXPECT_TRUE(condition_is(job->status(), "Complete")) << key;
  return cluster.now();
}

TEST(Quickstart, is_accepted_by_the_api_server_and_ends_within_a_minute) {
  std::set<std::string> jobs;
  const Time end = play_unqueued("examples/quickstart", jobs);
  EXPECT_EQ(jobs.size(), 12U);
  EXPECT_GT(end, virtual_start + Duration::seconds(20));
  EXPECT_LE(end, virtual_start + Duration::seconds(60));
}

}  // namespace
}  // namespace hindsight::connectors::simulated
