// What the events of a family say in a history.

#include "projections/history_words.hpp"

#include <array>

#include <gtest/gtest.h>

namespace hindsight::projections {
namespace {

constexpr WorkloadRef parent{.uid = "p", .namespace_ = "ns", .name = "w"};
constexpr WorkloadRef spot{.uid = "s", .namespace_ = "ns", .name = "w-option-spot"};
constexpr WorkloadRef best{.uid = "b", .namespace_ = "ns", .name = "w-option-res"};

std::string line(const Event& event) {
  const auto words = words_for(event, false);
  return words.kind + " | " + words.text;
}

// CA-130: every transition of a family has its words
TEST(HistoryWords, OfAFamily) {
  const std::array<Text, 1> one{"spot"};
  const std::array<Text, 2> two{"spot", "cpu"};
  EXPECT_EQ(line(FamilyFormed{parent}), "familyFormed | becomes a Parent: its Options are queued in its place");
  EXPECT_EQ(line(FamilyDissolved{parent, "the feature was switched off"}),
            "familyDissolved | is no Parent any more, and its Options go: the feature was switched off");
  EXPECT_EQ(line(FamilyReset{parent, "No variant is running"}), "familyReset | its Options begin anew: No variant is running");
  EXPECT_EQ(line(OptionRequested{.workload = parent, .name = "w-option-spot", .option = "spot", .flavors = one}),
            "optionRequested | Option w-option-spot requested for flavor spot");
  EXPECT_EQ(line(OptionRequested{.workload = parent,
                                 .name = "w-option-spot",
                                 .option = "spot",
                                 .flavors = two,
                                 .active = false,
                                 .message = "createDelaySeconds 7200"}),
            "optionRequested | Option w-option-spot requested for flavors spot, cpu, inactive: createDelaySeconds 7200");
  EXPECT_EQ(line(OptionSwitched{.workload = spot, .parent = parent, .active = true}), "optionActivated | activated");
  EXPECT_EQ(line(OptionSwitched{.workload = spot, .parent = parent, .message = "Variant Workload deactivated due to a reason"}),
            "optionDeactivated | Variant Workload deactivated due to a reason");
  EXPECT_EQ(line(OptionAdopted{spot, parent, parent}), "optionAdopted | takes over what ns/w holds");
  EXPECT_EQ(line(OptionAdmitted{parent, spot}), "optionAdmitted | admitted by its Option ns/w-option-spot");
  EXPECT_EQ(line(MigrationStarted{.workload = best, .parent = parent, .from = spot, .cluster_queue = "cq"}),
            "migrationStarted | goes before ns/w-option-spot in cq with what it holds");
  const std::array<FlavorChoice, 1> flavors{{{"cpu", "res"}}};
  const std::array<ResourceAmount, 1> usage{{{"cpu", 4000}}};
  const std::array<PodSetAssignmentFacts, 1> assignments{
      PodSetAssignmentFacts{.pod_set = "main", .count = 4, .flavors = flavors, .usage = usage}};
  EXPECT_EQ(line(MigrationStarted{.workload = best, .parent = parent, .from = spot, .cluster_queue = "cq", .assignments = assignments}),
            "migrationStarted | goes before ns/w-option-spot in cq, kept for it: main x4 res/cpu 4");
  EXPECT_EQ(line(PreemptionGateChanged{.workload = spot, .parent = parent, .open = true}),
            "preemptionGateOpened | has its family's right to preempt");
  EXPECT_EQ(line(PreemptionGateChanged{.workload = spot, .parent = parent}), "preemptionGateClosed | gives back the right to preempt");
  EXPECT_EQ(line(PreemptionGateChanged{.workload = spot, .parent = parent, .unused = true}),
            "preemptionGateClosed | loses the right to preempt: nothing came of it in its time");
}

}  // namespace
}  // namespace hindsight::projections
