// Ten thousand gated jobs, and the release of all of them within a second (6915 SG-78).

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/admission/entities/fact_world.hpp"

namespace hindsight::admission::testing {
namespace {

constexpr int jobs = 10'000;

class GateBurst : public ::testing::Test {
 protected:
  FactWorld w;

  void SetUp() override {
    w.namespace_("default");
    w.flavor("default");
    w.queue({.name = "cq", .cpu = 0});  // nothing is admitted: what matters here comes before
    w.local_queue("lq", "cq");
    w.observe(MirrorSynced{});
    Settings settings;
    settings.scheduling_gated_by = true;
    w.configure(settings);
    (void)w.settle();
    (void)w.driver().collect_intents();
  }
  void show(int n, std::string_view gate) {
    JobObserved j = w.job("j" + std::to_string(n), "lq");
    j.scheduling_gated_by = gate;
    w.observe(j);
  }
  /// How many gates were observed and cleared, and of which jobs a Workload was asked for, how often.
  struct Said {
    int observed = 0, cleared = 0, requests = 0;
    std::set<std::string> jobs;
    std::size_t steps = 0;
  };
  /// Decides until at rest.
  Said decide() {
    Said out;
    while (const auto step = w.driver().decide()) {
      ++out.steps;
      for (const Event& e : step->events) {
        if (const auto* g = std::get_if<GateChanged>(&e)) ++(g->change == GateChange::cleared ? out.cleared : out.observed);
        if (const auto* r = std::get_if<WorkloadRequested>(&e)) {
          ++out.requests;
          out.jobs.insert(std::string(r->job.name));
        }
      }
      w.observe_decision(*step);
    }
    return out;
  }
};

// SG-78: each gets its Workload asked for once, however the releases come: told twice, mixed with decisions, and over a change of writers
TEST_F(GateBurst, TenThousandReleasesAskForEachWorkloadOnce) {
  for (int n = 0; n < jobs; ++n) show(n, "example.com/g");
  const Said held = decide();
  EXPECT_EQ(held.observed, jobs);
  EXPECT_EQ(held.requests, 0);
  EXPECT_TRUE(w.all<WorkloadCreateIntent>().empty());
  (void)w.driver().collect_intents();

  Said all;
  for (int n = 0; n < jobs; ++n) {
    w.now = w.now + Duration::millis(n % 10 == 0 ? 1 : 0);
    show(n, "");
    if (n % 100 == 0) show(n, "");  // a watch that begins anew tells it again
    if (n % 2'500 != 2'499) continue;
    const Said some = decide();
    all.cleared += some.cleared;
    all.requests += some.requests;
    all.jobs.insert(some.jobs.begin(), some.jobs.end());
    EXPECT_LE(some.steps, 4U) << "what came together is decided together";
  }
  EXPECT_EQ(all.cleared, jobs);
  EXPECT_EQ(all.requests, jobs);
  EXPECT_EQ(all.jobs.size(), static_cast<std::size_t>(jobs));

  std::set<std::string> wanted;
  const auto creates = w.wanted<WorkloadCreateIntent>();
  for (const auto& i : creates) wanted.insert(i.name);
  EXPECT_EQ(creates.size(), static_cast<std::size_t>(jobs));
  EXPECT_EQ(wanted.size(), static_cast<std::size_t>(jobs));
  w.observe_epoch();
  EXPECT_EQ(decide().requests, 0) << "a new writer has nothing to add";
}

}  // namespace
}  // namespace hindsight::admission::testing
