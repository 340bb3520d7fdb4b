// The effective request of a pod, by the rules of base-admission §1.3.

#include "connectors/json/pod_requests.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "connectors/json/document.hpp"
#include "connectors/json/pod_defaults.hpp"

namespace hindsight::connectors {
namespace {

struct Outcome {
  std::map<std::string, Amount> requests;
  std::string limits_error;
  std::string limit_range_error;
};

Outcome read(std::string_view spec, const ClusterDefaults* defaults = nullptr) {
  const auto document = Document::parse(R"({"spec":)" + std::string(spec) + "}");
  Arena arena;
  Reading reading(arena, document->root(), "Workload ns/wl");
  PodSetFacts facts;
  read_pod_requests(reading.root().object("spec"), {defaults, "ns", 2}, facts);
  EXPECT_FALSE(reading.failed()) << reading.take_error().message;
  Outcome out;
  for (const auto& r : facts.requests) out.requests.emplace(r.resource, r.amount);
  out.limits_error = facts.limits_error;
  out.limit_range_error = facts.limit_range_error;
  return out;
}

using Requests = std::map<std::string, Amount>;

void apply(ClusterDefaults& defaults, std::string_view json, bool runtime_class) {
  const auto document = Document::parse(json);
  ASSERT_TRUE(document);
  const auto done = runtime_class ? defaults.set_runtime_class(document->root()) : defaults.set_limit_range(document->root());
  ASSERT_TRUE(done) << done.error().message;
}

// BA-43
TEST(PodRequests, AddContainersAndTakeTheLargestInitStep) {
  struct Case {
    std::string_view what, spec;
    Requests requests;
  };
  const Case cases[] = {
      {"no containers", R"({})", {}},
      {"a container without resources", R"({"containers":[{"name":"a"}]})", {}},
      {"two containers",
       R"({"containers":[{"resources":{"requests":{"cpu":"500m","memory":"1Gi"}}},{"resources":{"requests":{"cpu":1}}}]})",
       {{"cpu", 1500}, {"memory", 1 << 30}}},
      {"a larger init step",
       R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}],
         "initContainers":[{"resources":{"requests":{"cpu":"3"}}},{"resources":{"requests":{"cpu":"2","gpu":"1"}}}]})",
       {{"cpu", 3000}, {"gpu", 1}}},
      {"a smaller init step",
       R"({"containers":[{"resources":{"requests":{"cpu":"4"}}}],
         "initContainers":[{"resources":{"requests":{"cpu":"3"}}}]})",
       {{"cpu", 4000}}},
      {"a sidecar adds to containers",
       R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}],
         "initContainers":[{"restartPolicy":"Always","resources":{"requests":{"cpu":"2"}}}]})",
       {{"cpu", 3000}}},
      {"a step after a sidecar runs beside it",
       R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}],
         "initContainers":[{"restartPolicy":"Always","resources":{"requests":{"cpu":"2"}}},{"resources":{"requests":{"cpu":"3"}}}]})",
       {{"cpu", 5000}}},
      {"a step before a sidecar runs alone",
       R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}],
         "initContainers":[{"resources":{"requests":{"cpu":"3"}}},{"restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}}]})",
       {{"cpu", 3000}}},
      {"limits stand in for requests",
       R"({"containers":[{"resources":{"limits":{"cpu":"2","gpu":"1"},"requests":{"cpu":"1"}}}]})",
       {{"cpu", 1000}, {"gpu", 1}}},
      {"overhead",
       R"({"overhead":{"cpu":"250m","memory":"1Mi"},"containers":[{"resources":{"requests":{"cpu":"1"}}}]})",
       {{"cpu", 1250}, {"memory", 1 << 20}}},
      {"pod-level requests replace",
       R"({"resources":{"requests":{"cpu":"2","example.com/x":"7"}},
         "containers":[{"resources":{"requests":{"cpu":"1","memory":"1Gi","gpu":"1"}}}]})",
       {{"cpu", 2000}, {"memory", 1 << 30}, {"gpu", 1}}},
      {"pod-level limits only for what no container asks",
       R"({"resources":{"limits":{"cpu":"8","memory":"2Gi"}},
         "containers":[{"resources":{"requests":{"cpu":"1"}}}]})",
       {{"cpu", 1000}, {"memory", Amount{2} << 30}}},
      {"a zero stays", R"({"containers":[{"resources":{"requests":{"cpu":"0"}}}]})", {{"cpu", 0}}},
  };
  for (const auto& c : cases) {
    const auto out = read(c.spec);
    EXPECT_EQ(out.requests, c.requests) << c.what;
    EXPECT_EQ(out.limits_error, "") << c.what;
  }
}

// BA-43
TEST(PodRequests, TakeOverheadFromTheRuntimeClassWhereThePodHasNone) {
  ClusterDefaults defaults;
  apply(defaults, R"({"metadata":{"name":"kata"},"handler":"kata","overhead":{"podFixed":{"cpu":"100m","memory":"64Mi"}}})", true);
  apply(defaults, R"({"metadata":{"name":"plain"},"handler":"runc"})", true);
  const auto request = [&](std::string_view more) {
    return read(R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}])" + std::string(more) + "}", &defaults).requests;
  };
  EXPECT_EQ(request(R"(,"runtimeClassName":"kata")"), (Requests{{"cpu", 1100}, {"memory", 64 << 20}}));
  EXPECT_EQ(request(R"(,"runtimeClassName":"kata","overhead":{"cpu":"1"})"), (Requests{{"cpu", 2000}}));
  EXPECT_EQ(request(R"(,"runtimeClassName":"plain")"), (Requests{{"cpu", 1000}}));
  EXPECT_EQ(request(R"(,"runtimeClassName":"unknown")"), (Requests{{"cpu", 1000}}));
  defaults.remove_runtime_class("kata");
  EXPECT_EQ(request(R"(,"runtimeClassName":"kata")"), (Requests{{"cpu", 1000}}));
}

// BA-43
TEST(PodRequests, TakeLimitRangeDefaultsWhereNothingIsGiven) {
  ClusterDefaults defaults;
  apply(defaults, R"({"metadata":{"namespace":"ns","name":"b"},"spec":{"limits":[
      {"type":"Container","default":{"cpu":"9"},"defaultRequest":{"cpu":"9","memory":"1Gi"}}]}})",
        false);
  apply(defaults, R"({"metadata":{"namespace":"ns","name":"a"},"spec":{"limits":[
      {"type":"Container","default":{"cpu":"2"},"defaultRequest":{"cpu":"1"}},{"type":"PersistentVolumeClaim","min":{"storage":"1Gi"}}]}})",
        false);
  apply(defaults, R"({"metadata":{"namespace":"other","name":"a"},"spec":{"limits":[{"type":"Container","defaultRequest":{"gpu":"1"}}]}})",
        false);
  EXPECT_EQ(read(R"({"containers":[{"name":"a"}]})", &defaults).requests, (Requests{{"cpu", 1000}, {"memory", 1 << 30}}));
  EXPECT_EQ(read(R"({"containers":[{"resources":{"requests":{"cpu":"500m"},"limits":{"memory":"2Gi"}}}]})", &defaults).requests,
            (Requests{{"cpu", 500}, {"memory", 1 << 30}}));
  defaults.remove_limit_range("ns", "a");
  EXPECT_EQ(read(R"({"containers":[{"name":"a"}]})", &defaults).requests, (Requests{{"cpu", 9000}, {"memory", 1 << 30}}));
  defaults.remove_limit_range("ns", "b");
  EXPECT_EQ(read(R"({"containers":[{"name":"a"}]})", &defaults).requests, Requests{});
}

// BA-22
TEST(PodRequests, NameContainersThatAskForMoreThanTheirLimit) {
  const auto out = read(R"({"initContainers":[{"resources":{"requests":{"cpu":"3"},"limits":{"cpu":"2"}}}],
      "containers":[{"resources":{"requests":{"cpu":"1"},"limits":{"cpu":"1"}}},
                    {"resources":{"requests":{"memory":"2Gi","cpu":"3"},"limits":{"memory":"1Gi","cpu":"2"}}}],
      "resources":{"requests":{"cpu":"9"},"limits":{"cpu":"8"}}})");
  EXPECT_EQ(out.limits_error,
            "spec.podSets[2].template.spec.initContainers[0]: Invalid value: [\"cpu\"]: requests must not exceed its limits, "
            "spec.podSets[2].template.spec.containers[1]: Invalid value: [\"cpu\",\"memory\"]: requests must not exceed its limits, "
            "spec.podSets[2].template.spec.resources: Invalid value: [\"cpu\"]: requests must not exceed its limits");
}

// BA-22
TEST(PodRequests, NameWhatBreaksALimitRange) {
  ClusterDefaults defaults;
  apply(defaults, R"({"metadata":{"namespace":"ns","name":"a"},"spec":{"limits":[
      {"type":"Container","max":{"cpu":"4"},"min":{"cpu":"500m"}},{"type":"Container","max":{"cpu":"2"}},
      {"type":"Pod","max":{"cpu":"3"},"min":{"memory":"1Gi"}}]}})",
        false);
  EXPECT_EQ(read(R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}]})", &defaults).limit_range_error, "");
  EXPECT_EQ(read(R"({"containers":[{"resources":{"requests":{"cpu":"1"},"limits":{"cpu":"3"}}}]})", &defaults).limit_range_error,
            "spec.podSets[2].template.spec.containers[0]: Invalid value: [\"cpu\"]: requests must not be above the limitRange max");
  EXPECT_EQ(read(R"({"containers":[{"resources":{"requests":{"cpu":"100m"}}}]})", &defaults).limit_range_error,
            "spec.podSets[2].template.spec.containers[0]: Invalid value: [\"cpu\"]: requests must not be below the limitRange min");
  const auto both = read(R"({"containers":[{"resources":{"requests":{"cpu":"9"},"limits":{"cpu":"8"}}}]})", &defaults);
  EXPECT_NE(both.limits_error, "");  // the message names these alone (base-admission §4)
  EXPECT_NE(both.limit_range_error, "");
  const std::string two = R"({"resources":{"requests":{"cpu":"2"}}},{"resources":{"requests":{"cpu":"2","memory":"1Mi"}}})";
  EXPECT_EQ(read(R"({"containers":[)" + two + "]}", &defaults).limit_range_error,
            "spec.podSets[2].template.spec: Invalid value: [\"cpu\"]: requests must not be above the limitRange max, "
            "spec.podSets[2].template.spec: Invalid value: [\"memory\"]: requests must not be below the limitRange min");
}

TEST(ClusterDefaults, NameTheObjectThatCannotBeRead) {
  ClusterDefaults defaults;
  const auto range = Document::parse(R"({"metadata":{"namespace":"ns","name":"r"},"spec":{"limits":[{"type":"Pod","max":{"cpu":"x"}}]}})");
  const auto done = defaults.set_limit_range(range->root());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "LimitRange ns/r: spec.limits[0].max.cpu: found \"x\", allowed: a quantity such as 500m, 2 or 1Gi");
  EXPECT_EQ(defaults.limits("ns"), nullptr);
}

}  // namespace
}  // namespace hindsight::connectors
