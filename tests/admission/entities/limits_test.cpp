// Requests that break limits, and requests that change because a LimitRange or a RuntimeClass did (base-admission §3.7, §4).

#include <gtest/gtest.h>

#include "tests/admission/entities/fact_world.hpp"

namespace hindsight::admission::testing {
namespace {

using Lines = std::vector<std::string>;

class Limits : public ::testing::Test {
 protected:
  FactWorld w;
  Arena arena;
  void SetUp() override {
    w.namespace_("default");
    w.flavor("default");
    w.queue({.name = "cq", .cpu = 4'000});
    w.local_queue("lq", "cq");
    w.observe(MirrorSynced{});
    w.tick(Duration::seconds(2));
    (void)w.settle();
  }
  WorkloadObserved with(WorkloadObserved o, Text limits_error, Text limit_range_error) {
    auto pods = arena.make<PodSetFacts>(1);
    pods[0] = o.pod_sets[0];
    pods[0].limits_error = limits_error;
    pods[0].limit_range_error = limit_range_error;
    o.pod_sets = pods;
    return o;
  }
};

constexpr Text above = "spec.podSets[0].template.spec.containers[0]: Invalid value: [\"cpu\"]: requests must not exceed its limits";
constexpr Text range =
    "spec.podSets[0].template.spec.containers[0]: Invalid value: [\"cpu\"]: requests must not be above the limitRange max";
constexpr Text two =
    "spec.podSets[0].template.spec.containers[0]: Invalid value: [\"cpu\"]: requests must not be above the limitRange max, "
    "spec.podSets[0].template.spec: Invalid value: [\"cpu\"]: requests must not be above the limitRange max";

// BA-64, base-admission §4 step 3
TEST_F(Limits, EachKindOfBreachHasItsMessage) {
  w.observe(with(w.workload("own", "lq", 1'000), above, range));
  w.observe(with(w.workload("range", "lq", 1'000), "", range));
  w.observe(with(w.workload("both", "lq", 1'000), "", two));
  (void)w.settle();
  EXPECT_EQ(w.pending("own"), "Misconfigured: resources validation failed: " + std::string(above));
  EXPECT_EQ(w.pending("range"), "Misconfigured: resources didn't satisfy LimitRange constraints: " + std::string(range));
  EXPECT_EQ(w.pending("both"), "Misconfigured: resources didn't satisfy LimitRange constraints: [" + std::string(two) + "]");
}

// §3.7: seen anew with other requests, a parked workload is tried again, although its version is the same
TEST_F(Limits, OtherDefaultsLetAParkedWorkloadTryAgain) {
  auto o = w.workload("w", "lq", 5'000);
  w.observe(o);
  EXPECT_EQ(w.settle(), Lines{"requeued w ExceedsMaxQuota"});
  w.observe(o);  // a repetition
  EXPECT_EQ(w.settle(), Lines{});
  auto requests = arena.make<ResourceAmount>(1);
  requests[0] = {"cpu", 4'000};
  auto pods = arena.make<PodSetFacts>(1);
  pods[0] = o.pod_sets[0];
  pods[0].requests = requests;
  o.pod_sets = pods;
  o.meta.resource_version = 0;
  w.observe(o);
  EXPECT_EQ(w.settle(), Lines{"reserved w admitted"});
}

// §3.7
TEST_F(Limits, ALimitRangeThatAllowsItLetsItTryAgain) {
  auto o = with(w.workload("w", "lq", 1'000), "", range);
  w.observe(o);
  (void)w.settle();
  ASSERT_TRUE(w.pending("w").starts_with("Misconfigured"));
  o = with(o, "", "");
  o.meta.resource_version = 0;
  w.observe(o);
  EXPECT_EQ(w.settle().back(), "reserved w admitted");
}

}  // namespace
}  // namespace hindsight::admission::testing
