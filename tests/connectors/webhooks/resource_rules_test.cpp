// Annotations about sizes as the webhooks judge them (5440 §2.4, MR-75).

#include <gtest/gtest.h>

#include "tests/connectors/webhooks/asking.hpp"

namespace hindsight::connectors::webhooks {
namespace {

using manifests::Json;
using test::Around;
using test::kueue;
using test::refusal;

constexpr const char* policy = "hindsight.dev/resource-policy";
constexpr const char* bounds = "hindsight.dev/resource-bounds";

Json sized(const std::string& how, const std::string& within) {
  Json job = test::job("{}");
  job["metadata"]["annotations"] = {{policy, how}, {bounds, within}};
  return job;
}

std::string of(const char* annotation, const std::string& error) {
  return std::string("metadata.annotations[") + annotation + "]: " + error;
}

// MR-75
TEST(ResourceRules, PolicyAndBoundsAreJudgedWithTheFeatureGate) {
  Around on;
  on.gates["AdjustResourcesOnAdmission"] = true;
  const std::string good = R"({"c":{"cpu":{"min":"1","step":"1"}}})";
  EXPECT_EQ(refusal(on, "CREATE", sized("Shrink", good)), "");
  EXPECT_EQ(refusal(on, "CREATE", sized("Grow", good)), of(policy, R"(Invalid value: "Grow": must be None, Shrink or Fit)"));
  EXPECT_EQ(refusal(on, "CREATE", sized("Fit", R"({"c":{"cpu":{"min":"1"}}})")),
            of(bounds, R"(Invalid value: "{\"c\":{\"cpu\":{\"min\":\"1\"}}}": c.cpu.step: found null, allowed: a quantity above 0)"));
  EXPECT_EQ(refusal({}, "CREATE", sized("Grow", good)), "") << "off unless switched on";

  Json elastic = sized("Shrink", good), partial = sized("Shrink", good);
  elastic["metadata"]["annotations"]["kueue.x-k8s.io/elastic-job"] = "true";
  partial["metadata"]["annotations"]["kueue.x-k8s.io/job-min-parallelism"] = "1";
  partial["spec"]["parallelism"] = 3;
  EXPECT_EQ(refusal(on, "CREATE", elastic), of(policy, "Forbidden: resources cannot be adjusted together with an elastic job"));
  EXPECT_EQ(refusal(on, "CREATE", partial), of(policy, "Forbidden: resources cannot be adjusted together with partial admission"));
  EXPECT_EQ(refusal(on, "UPDATE", partial, partial), "") << "what was there before the gate is not judged again";
  Json none = partial;
  none["metadata"]["annotations"][policy] = "None";
  EXPECT_EQ(refusal(on, "CREATE", none), "");
}

}  // namespace
}  // namespace hindsight::connectors::webhooks
