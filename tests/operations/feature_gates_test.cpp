#include "operations/feature_gates.hpp"

#include <gtest/gtest.h>

namespace hindsight::operations {
namespace {

std::string error_of(std::string_view text) {
  const auto values = parse_feature_gates(text);
  return values ? "" : values.error().message;
}

std::vector<std::string> problems_of(const GateValues& given) {
  std::vector<connectors::manifests::Problem> problems;
  judge_gates(given, problems);
  std::vector<std::string> texts;
  for (const auto& p : problems) texts.push_back(describe(p));
  return texts;
}

TEST(FeatureGatesTest, AreReadFromTheCommandLine) {
  EXPECT_EQ(parse_feature_gates("PartialAdmission=false,PriorityBoost=true").value(),
            (GateValues{{"PartialAdmission", false}, {"PriorityBoost", true}}));
  EXPECT_EQ(parse_feature_gates(" PriorityBoost = True , ,PartialAdmission=0,").value(),
            (GateValues{{"PartialAdmission", false}, {"PriorityBoost", true}}));
  EXPECT_EQ(parse_feature_gates("PriorityBoost=true,PriorityBoost=1").value(), (GateValues{{"PriorityBoost", true}}));
  EXPECT_TRUE(parse_feature_gates("").value().empty());
}

TEST(FeatureGatesTest, WhatIsNoNameAndValueIsAnError) {
  for (const char* bad :
       {"PriorityBoost", "PriorityBoost=", "=true", "PriorityBoost=yes", "PriorityBoost:true", "PriorityBoost=true=false"})
    EXPECT_EQ(error_of(bad), "--feature-gates: found \"" + std::string(bad) + "\"; allowed: NAME=true or NAME=false, with commas between");
  EXPECT_EQ(error_of("PriorityBoost=true,PriorityBoost=false"),
            "--feature-gates: PriorityBoost: found both true and false; allowed: one value");
}

TEST(FeatureGatesTest, AnUnknownNameIsAnErrorThatListsTheNearest) {
  EXPECT_EQ(error_of("PriorityBost=true"), "--feature-gates: PriorityBost: unknown feature gate; did you mean \"PriorityBoost\"?");
  const std::string many = error_of("FlavorFungib=true");
  EXPECT_NE(many.find("\"FlavorFungibility\""), std::string::npos) << many;
  EXPECT_NE(many.find("\"FlavorFungibilityPreserveScanProgress\""), std::string::npos) << many;
  EXPECT_EQ(error_of("zzzzzz=true"), "--feature-gates: zzzzzz: unknown feature gate; allowed: the gates that the documentation lists");
  EXPECT_NE(error_of(std::string(5'000, 'x').append("=true")), "");
}

// base-api §12
TEST(FeatureGatesTest, AlphaGatesAreOffAndStableOnesOn) {
  for (const auto& gate : feature_gates()) {
    const bool on = gate.stage == GateStage::stable || (gate.stage == GateStage::beta && gate.name != "UnadmittedWorkloadsExplicitStatus");
    EXPECT_EQ(gate.enabled, on) << gate.name;
    EXPECT_EQ(find_feature_gate(gate.name), &gate);
    for (const auto needed : {gate.needs, gate.needs_also})
      EXPECT_TRUE(needed.empty() || find_feature_gate(needed) != nullptr) << gate.name;
  }
  EXPECT_EQ(find_feature_gate("partialadmission"), nullptr);
  EXPECT_EQ(resolve_gates({}).size(), feature_gates().size());
  EXPECT_FALSE(resolve_gates({{"PartialAdmission", false}}).at("PartialAdmission"));
}

TEST(FeatureGatesTest, DefaultsDoNotContradictEachOther) {
  EXPECT_TRUE(problems_of({}).empty());
  EXPECT_TRUE(problems_of(resolve_gates({})).empty());
  // Switching a gate off leaves those that need it on by default; that is no contradiction of the user's making.
  EXPECT_TRUE(problems_of({{"TopologyAwareScheduling", false}}).empty());
}

// BA-27; 2724 §2.10: enabling a gate whose dependency is off is an error at start-up.
TEST(FeatureGatesTest, AGateCannotBeOnWithoutWhatItNeeds) {
  EXPECT_EQ(problems_of({{"TASBalancedPlacement", true}, {"TopologyAwareScheduling", false}}),
            (std::vector<std::string>{
                "featureGates.TASBalancedPlacement: Invalid value: true: needs the feature gate TopologyAwareScheduling, which is off"}));
  EXPECT_EQ(
      problems_of(
          {{"ElasticJobsViaWorkloadSlicesWithTAS", true}, {"ElasticJobsViaWorkloadSlices", false}, {"TopologyAwareScheduling", false}})
          .size(),
      2U);
  EXPECT_TRUE(problems_of({{"ElasticJobsViaWorkloadSlicesWithTAS", true}}).empty());
  EXPECT_EQ(problems_of({{"TASReplaceNodeOnNodeTaints", true}, {"TASFailedNodeReplacement", false}}).size(), 1U);
}

TEST(FeatureGatesTest, StableGatesCannotBeChanged) {
  EXPECT_EQ(problems_of({{"TLSOptions", false}}),
            (std::vector<std::string>{"featureGates.TLSOptions: Invalid value: false: cannot be changed any more; allowed: true"}));
  EXPECT_TRUE(problems_of({{"TLSOptions", true}}).empty());
}

}  // namespace
}  // namespace hindsight::operations
