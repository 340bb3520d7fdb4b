// What pods ask for before quota is looked at: names left out and transformed (base-admission §1.3).

#include <gtest/gtest.h>

#include "tests/admission/entities/fact_world.hpp"

namespace hindsight::admission::testing {
namespace {

class Transformations : public ::testing::Test {
 protected:
  /// Requests of one pod under these settings, in the order of names.
  std::string requests(const Settings& settings, const std::vector<ResourceAmount>& asked) {
    WorkloadState s;
    s.uid = "u";
    s.namespace_ = Symbol("default");
    PodSetSpec p;
    p.name = Symbol("main");
    for (const auto& r : asked) p.requests.push_back({Symbol(r.resource), r.amount});
    s.pod_sets = std::vector{std::move(p)};
    Catalog catalog;
    catalog.settings = settings;
    std::string out;
    const auto info = make_info(s, catalog, {});
    for (const auto& r : info->pod_sets[0].requests)
      out += (out.empty() ? "" : " ") + std::string(r.resource.text()) + "=" + std::to_string(r.amount);
    return out;
  }
  static Settings with(Settings::Transformation t) {
    Settings s;
    s.transformations.push_back(std::move(t));
    return s;
  }
  static constexpr std::int64_t one = 1'000'000'000;
};

// BA-44
TEST_F(Transformations, PrefixesAreLeftOut) {
  Settings s;
  s.exclude_resource_prefixes = {"example.com/"};
  EXPECT_EQ(requests(s, {{"cpu", 1'000}, {"example.com/gpu", 4}, {"other.com/gpu", 2}}), "cpu=1000 other.com/gpu=2");
}

// BA-44: Replace drops the input, Retain keeps it
TEST_F(Transformations, ReplaceDropsTheInputAndRetainKeepsIt) {
  const std::vector<ResourceAmount> asked{{"cpu", 1'000}, {"example.com/mig-1g", 3}};
  EXPECT_EQ(requests(with({"example.com/mig-1g", true, "", {{"memory", 5 * one}}}), asked), "cpu=1000 memory=15");
  EXPECT_EQ(requests(with({"example.com/mig-1g", false, "", {{"memory", 5 * one}}}), asked), "cpu=1000 example.com/mig-1g=3 memory=15");
  EXPECT_EQ(requests(with({"example.com/mig-1g", true, "", {}}), asked), "cpu=1000") << "without outputs it is simply gone";
}

// BA-44: several outputs of one name add up, also with what was asked for itself
TEST_F(Transformations, OutputsOfOneNameAddUp) {
  Settings s = with({"a", true, "", {{"credits", 2 * one}}});
  s.transformations.push_back({"b", false, "", {{"credits", 3 * one}}});
  EXPECT_EQ(requests(s, {{"a", 10}, {"b", 100}, {"credits", 1}}), "b=100 credits=321");
}

// BA-44: cpu counts in cores on either side; fractions round up
TEST_F(Transformations, FactorsAreOfCores) {
  EXPECT_EQ(requests(with({"cpu", true, "", {{"credits", 3 * one}}}), {{"cpu", 1'500}}), "credits=5");
  EXPECT_EQ(requests(with({"vcpu", true, "", {{"cpu", one / 2}}}), {{"vcpu", 3}}), "cpu=1500");
}

// BA-44: multiplied by another resource; without that there is nothing to multiply by
TEST_F(Transformations, OutputsAreMultipliedByAnotherResource) {
  const auto s = with({"per-gpu", true, "gpu", {{"memory", 10 * one}}});
  EXPECT_EQ(requests(s, {{"gpu", 4}, {"per-gpu", 2}}), "gpu=4 memory=80");
  EXPECT_EQ(requests(s, {{"per-gpu", 2}}), "memory=0");
  EXPECT_EQ(requests(with({"a", true, "cpu", {{"b", 2 * one}}}), {{"a", 3}, {"cpu", 1'500}}), "b=9 cpu=1500");
}

// BA-44, BA-35: results below 0 are 0, results beyond the range are clamped
TEST_F(Transformations, ResultsStayInTheRange) {
  EXPECT_EQ(requests(with({"a", true, "", {{"b", -one}}}), {{"a", 3}}), "b=0");
  EXPECT_EQ(requests(with({"a", true, "c", {{"b", unlimited}}}), {{"a", unlimited}, {"c", unlimited}}),
            "b=" + std::to_string(unlimited) + " c=" + std::to_string(unlimited));
  EXPECT_EQ(requests(with({"a", true, "", {{"cpu", unlimited}}}), {{"a", unlimited}}), "cpu=" + std::to_string(unlimited));
}

// BA-44: it is the transformed request that quota is checked against
TEST_F(Transformations, QuotaIsCheckedAfterwards) {
  FactWorld w;
  w.configure(with({"widgets", true, "", {{"cpu", one / 10}}}));
  w.namespace_("default");
  w.flavor("default");
  w.queue({.name = "a", .cpu = 1'000});
  w.local_queue("l", "a");
  w.observe(MirrorSynced{});
  (void)w.settle();
  for (const auto& [name, n] : {std::pair{"fits", 10}, std::pair{"does-not", 11}}) {
    auto o = w.workload(name, "l", 0);
    auto requests = w.arena().make<ResourceAmount>(1);
    requests[0] = {"widgets", n};
    auto pods = w.arena().make<PodSetFacts>(1);
    pods[0] = o.pod_sets[0];
    pods[0].requests = requests;
    o.pod_sets = pods;
    w.observe(o);
  }
  EXPECT_EQ(w.settle(), (std::vector<std::string>{"requeued does-not ExceedsMaxQuota", "reserved fits admitted"}));
}

}  // namespace
}  // namespace hindsight::admission::testing
