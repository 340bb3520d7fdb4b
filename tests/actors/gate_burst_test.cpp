// Many gated jobs that are released at once, through the actors of a running node (6915 SG-78).

#include <algorithm>
#include <set>

#include "admission/workload/workload_parent.hpp"
#include "tests/actors/node_fixture.hpp"

namespace hindsight::actors::testing {
namespace {

#ifdef __SANITIZE_THREAD__
constexpr int jobs = 1'000;
#else
constexpr int jobs = 10'000;
#endif

class GateBurst : public NodeFixture {
 protected:
  GateBurst() {
    options.settings_reader = [](Text) -> Result<admission::Settings> {
      admission::Settings settings;
      settings.scheduling_gated_by = true;
      return settings;
    };
    options.credit_records = 256;
  }
  /// Waits for credit as a bridge does, and looks how much is under way.
  void show(int n, Text gate) {
    Arena arena;
    JobObserved j;
    j.meta.namespace_ = "default";
    j.meta.name = arena.copy("j" + std::to_string(n));
    j.meta.uid = arena.copy("job-" + std::to_string(n));
    j.meta.resource_version = ++version_;
    j.meta.generation = 1;
    j.meta.created = facts.now;
    j.kind = "Job";
    j.group = "batch";
    j.queue_name = "lq";
    j.suspended = true;
    j.scheduling_gated_by = gate;
    j.workload_name = arena.copy("w-" + std::to_string(n));
    auto requests = arena.make<ResourceAmount>(1);
    requests[0] = {"cpu", 1'000};
    auto pods = arena.make<PodSetFacts>(1);
    pods[0].name = "main";
    pods[0].count = 1;
    pods[0].requests = requests;
    pods[0].shape_hash = pods[0].template_hash = pods[0].core_hash = 7;
    j.pod_sets = pods;
    ASSERT_TRUE(node->observe_and_wait(j));
    most_under_way_ = std::max(most_under_way_, node->status().in_flight_records);
  }
  [[nodiscard]] std::size_t most_under_way() const { return most_under_way_; }

 private:
  std::uint64_t version_ = 0;
  std::size_t most_under_way_ = 0;
};

// SG-78: each Workload is asked for once, and what waits in front of the entities stays bounded by the credit, whatever comes
TEST_F(GateBurst, MakesEachWorkloadOnceAndWaitsInFrontOfTheDoor) {
  start();
  set_up_queue(0);
  observe(ConfigurationObserved{"{}"});
  rest();
  for (int n = 0; n < jobs; ++n) show(n, "example.com/g");
  rest();
  for (int n = 0; n < jobs; ++n) show(n, "");
  rest();
  EXPECT_LE(most_under_way(), options.credit_records + 1);
  EXPECT_EQ(node->status().in_flight_records, 0U);

  int cleared = 0, requests = 0;
  std::set<std::string> requested;
  for (const auto& record : records())
    if (const auto* d = std::get_if<Decisions>(&record->view().body))
      for (const Event& e : d->events) {
        if (const auto* g = std::get_if<GateChanged>(&e)) cleared += g->change == GateChange::cleared ? 1 : 0;
        if (const auto* r = std::get_if<WorkloadRequested>(&e)) {
          ++requests;
          requested.insert(std::string(r->name));
        }
      }
  EXPECT_EQ(cleared, jobs);
  EXPECT_EQ(requests, jobs);
  EXPECT_EQ(requested.size(), static_cast<std::size_t>(jobs));
  expect_state_of_log();
}

}  // namespace
}  // namespace hindsight::actors::testing
