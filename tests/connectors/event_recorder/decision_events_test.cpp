#include "connectors/event_recorder/decision_events.hpp"

#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "connectors/objects/resource_types.hpp"

namespace hindsight::connectors {
namespace {

using kubernetes::KubernetesEvent;

constexpr WorkloadRef workload{.uid = "u1", .namespace_ = "ns", .name = "job-a-12345"};
constexpr WorkloadRef other{.uid = "u2", .namespace_ = "ns2", .name = "job-b-67890"};
constexpr JobRef job{.uid = "j1", .kind = "Job", .group = "batch", .namespace_ = "ns", .name = "a"};

/// "Normal Workload ns/name Reason: message" for each event.
class DecisionEventsTest : public ::testing::Test {
 protected:
  DecisionEventsTest() {
    facts_["u1"] = pending("u1", "ns", "job-a-12345");
    facts_["u1"].job = JobFacts{.uid = "j1", .kind = "Job", .group = "batch", .namespace_ = "ns", .name = "a", .suspended = true};
    facts_["u2"] = pending("u2", "ns2", "job-b-67890");
  }

  static WorkloadFacts pending(std::string uid, std::string namespace_, std::string name) {
    WorkloadFacts w;
    w.uid = std::move(uid);
    w.namespace_ = std::move(namespace_);
    w.name = std::move(name);
    w.created = Time::from_seconds(1000);
    return w;
  }
  WorkloadFacts& reserve(const std::string& uid, Time at, bool admitted) {
    auto& w = facts_[uid];
    w.reserved = true;
    w.reserved_at = at;
    w.cluster_queue = "cq";
    w.admitted = admitted;
    w.admitted_at = admitted ? at : Time::never();
    return w;
  }

  std::vector<KubernetesEvent> events(const std::vector<Event>& decided) const {
    const Decisions decisions{.base = 1, .step = StepKind::cycle, .events = decided};
    return decision_events(decisions, now_, [this](Text uid) -> std::optional<WorkloadFacts> {
      const auto it = facts_.find(std::string(uid));
      return it == facts_.end() ? std::nullopt : std::optional(it->second);
    });
  }
  std::vector<std::string> texts(const std::vector<Event>& decided) const {
    std::vector<std::string> out;
    for (const auto& e : events(decided)) {
      EXPECT_EQ(e.first, now_);
      EXPECT_EQ(e.last, now_);
      EXPECT_EQ(e.count, 1);
      out.push_back((e.is_warning ? "Warning " : "Normal ") + std::string(e.type->kind) + " " + e.namespace_ + "/" + e.name + " " +
                    e.reason + ": " + e.message);
    }
    return out;
  }

  Time now_ = Time::from_seconds(1090);
  std::map<std::string, WorkloadFacts> facts_;
};

using Texts = std::vector<std::string>;

// BA-191 (base-api §8.1): QuotaReserved and Admitted with their waiting times; Started on the job.
TEST_F(DecisionEventsTest, AnAdmissionIsToldOnTheWorkloadAndItsJob) {
  reserve("u1", now_, true);
  EXPECT_EQ(texts({QuotaReserved{.workload = workload, .cluster_queue = "cq", .admitted = true}}),
            (Texts{"Normal Workload ns/job-a-12345 QuotaReserved: Quota reserved in ClusterQueue cq, wait time since queued was 90s",
                   "Normal Workload ns/job-a-12345 Admitted: Admitted by ClusterQueue cq, wait time since reservation was 0s",
                   "Normal Job ns/a Started: Admitted by clusterQueue cq"}));
}

TEST_F(DecisionEventsTest, AReservationThatWaitsForChecksIsNoAdmission) {
  reserve("u1", now_, false);
  EXPECT_EQ(texts({QuotaReserved{.workload = workload, .cluster_queue = "cq"}}),
            (Texts{"Normal Workload ns/job-a-12345 QuotaReserved: Quota reserved in ClusterQueue cq, wait time since queued was 90s"}));
}

TEST_F(DecisionEventsTest, WaitingCountsFromTheLastRequeueingAndIsRoundedAsGoDoes) {
  auto& w = reserve("u1", now_, false);
  w.requeued_at = Time{now_.micros - 2'500'000};
  EXPECT_TRUE(texts({QuotaReserved{.workload = workload, .cluster_queue = "cq"}})[0].ends_with("was 2s"));
  w.requeued_at = Time{now_.micros - 3'500'000};
  EXPECT_TRUE(texts({QuotaReserved{.workload = workload, .cluster_queue = "cq"}})[0].ends_with("was 4s"));
  w.requeued_at = now_ + Duration::seconds(5);  // A clock of another machine is ahead.
  EXPECT_TRUE(texts({QuotaReserved{.workload = workload, .cluster_queue = "cq"}})[0].ends_with("was 0s"));
}

TEST_F(DecisionEventsTest, AnAdmissionAfterChecksTellsHowLongTheyTook) {
  auto& w = reserve("u1", Time::from_seconds(1060), true);
  w.admitted_at = now_;
  EXPECT_EQ(texts({WorkloadAdmitted{workload}}),
            (Texts{"Normal Workload ns/job-a-12345 Admitted: Admitted by ClusterQueue cq, wait time since reservation was 30s",
                   "Normal Job ns/a Started: Admitted by clusterQueue cq"}));
}

// BA-67: every reason that the scheduler writes is a Warning of that name.
TEST_F(DecisionEventsTest, EveryReasonOfAWaitingEntryIsAWarning) {
  for (const Text reason : {"Misconfigured", "Suspended", "PendingEvaluation", "NoMatchingFlavor", "ExceedsMaxQuota", "WaitingForQuota",
                            "WaitingForPreemptedWorkloads", "TopologyPlacementFailed", "WaitingForPodsReady", "AdmissionGated", "Pending"})
    EXPECT_EQ(texts({EntryRequeued{.workload = workload, .cluster_queue = "cq", .reason = reason, .message = "couldn't assign"}}),
              (Texts{"Warning Workload ns/job-a-12345 " + std::string(reason) + ": couldn't assign"}));
}

TEST_F(DecisionEventsTest, WhatWritesNoConditionIsNoEvent) {
  EXPECT_TRUE(texts({EntryRequeued{.workload = workload, .write_status = false, .reason = "WaitingForQuota", .message = "m"}}).empty());
  EXPECT_TRUE(texts({EntryRequeued{.workload = workload, .message = "m"}}).empty());
  EXPECT_TRUE(texts({ReservationCleared{.workload = workload, .reason = "Suspended"}, WorkloadDeactivated{workload},
                     ChecksChanged{.workload = workload}, RequeueStateChanged{.workload = workload},
                     ReclaimableChanged{.workload = workload}, ExecutionTimeReset{workload}, TreeReactivated{"root"},
                     ConditionChanged{
                         .workload = workload, .type = ConditionType::pods_ready, .status = ConditionStatus::true_, .reason = "Started"},
                     ConditionChanged{.workload = workload,
                                      .type = ConditionType::quota_reserved,
                                      .status = ConditionStatus::false_,
                                      .reason = "Suspended",
                                      .message = "m"}})
                  .empty());
}

// BA-114: Preempted carries both priorities; PreemptedWorkload on the preemptor names the victim.
TEST_F(DecisionEventsTest, APreemptionIsToldOnVictimPreemptorAndTheStoppedJob) {
  auto& victim = reserve("u1", Time::from_seconds(1010), true);
  victim.evicted = true;
  victim.evicted_at = now_;
  victim.priority = 1;
  facts_["u2"].priority = 13;
  facts_["u2"].boost = 3;
  const std::string text =
      "Preempted to accommodate a workload (UID: u2, JobUID: UNKNOWN) due to prioritization in the ClusterQueue; preemptor path: /cq; "
      "preemptee path: /cq";
  const std::string both = "; preemptor effective priority: 13 (base: 10, boost: 3); preemptee effective priority: 1 (base: 1, boost: 0)";
  const WorkloadPreempted e{
      .workload = workload, .preemptor = other, .preemptor_cluster_queue = "cq", .reason = "InClusterQueue", .message = text};
  EXPECT_EQ(
      texts({e}),
      (Texts{"Normal Workload ns/job-a-12345 EvictedDueToPreempted: " + text, "Normal Job ns/a Stopped: " + text,
             "Normal Workload ns/job-a-12345 Preempted: " + text + both,
             "Normal Workload ns2/job-b-67890 PreemptedWorkload: Preempted workload ns/job-a-12345 (UID: u1) in ClusterQueue cq" + both}));
  // The preemptor is gone meanwhile.
  facts_.erase("u2");
  EXPECT_EQ(texts({e}), (Texts{"Normal Workload ns/job-a-12345 EvictedDueToPreempted: " + text, "Normal Job ns/a Stopped: " + text,
                               "Normal Workload ns/job-a-12345 Preempted: " + text}));
}

// base-admission §8.2: EvictedDueTo<Reason>, with a cause EvictedDueToDeactivatedDueTo<Cause>.
TEST_F(DecisionEventsTest, AnEvictionIsNamedByItsReason) {
  auto& w = reserve("u1", Time::from_seconds(1010), false);
  w.evicted = true;
  w.evicted_at = now_;
  const auto reason_of = [&](Text reason, Text cause) {
    const auto all = events({WorkloadEvicted{.workload = workload, .reason = reason, .cause = cause, .message = "m"}});
    EXPECT_EQ(all.size(), 1U);
    EXPECT_FALSE(all.at(0).is_warning);
    return all.at(0).reason;
  };
  EXPECT_EQ(reason_of("PodsReadyTimeout", "WaitForStart"), "EvictedDueToPodsReadyTimeout");
  EXPECT_EQ(reason_of("AdmissionCheck", ""), "EvictedDueToAdmissionCheck");
  EXPECT_EQ(reason_of("ClusterQueueStopped", ""), "EvictedDueToClusterQueueStopped");
  EXPECT_EQ(reason_of("LocalQueueStopped", ""), "EvictedDueToLocalQueueStopped");
  EXPECT_EQ(reason_of("NodeFailures", ""), "EvictedDueToNodeFailures");
  EXPECT_EQ(reason_of("Deactivated", ""), "EvictedDueToDeactivated");
  EXPECT_EQ(reason_of("Deactivated", "MaximumExecutionTimeExceeded"), "EvictedDueToDeactivatedDueToMaximumExecutionTimeExceeded");
}

TEST_F(DecisionEventsTest, TheJobIsToldThatItStopsOnlyIfItRan) {
  auto& w = reserve("u1", Time::from_seconds(1010), true);
  w.evicted = true;
  w.evicted_at = now_;
  const WorkloadEvicted e{.workload = workload, .reason = "ClusterQueueStopped", .message = "The ClusterQueue is stopped"};
  EXPECT_EQ(texts({e}), (Texts{"Normal Workload ns/job-a-12345 EvictedDueToClusterQueueStopped: The ClusterQueue is stopped",
                               "Normal Job ns/a Stopped: The ClusterQueue is stopped"}));
  w.admitted = false;
  EXPECT_EQ(texts({e}).size(), 1U);
}

// base-admission §8.2: evicted while pending gets no event.
TEST_F(DecisionEventsTest, AnEvictionWithoutAReservationIsNoEvent) {
  facts_["u1"].evicted = true;
  facts_["u1"].evicted_at = now_;
  facts_["u1"].active = false;
  EXPECT_TRUE(texts({WorkloadEvicted{.workload = workload, .reason = "Deactivated", .message = "The workload is deactivated"}}).empty());
}

// BA-136; base-admission §8.5
TEST_F(DecisionEventsTest, DeactivationTargetsAreWarnings) {
  reserve("u1", Time::from_seconds(1010), true).max_exec_seconds = 600;
  const auto target = [](Text reason, Text message) {
    return ConditionChanged{.workload = workload,
                            .type = ConditionType::deactivation_target,
                            .status = ConditionStatus::true_,
                            .reason = reason,
                            .message = message};
  };
  EXPECT_EQ(texts({target("AdmissionCheck", R"(AdmissionCheck(s): "c" (no))")}),
            (Texts{R"(Warning Workload ns/job-a-12345 AdmissionCheckRejected: Deactivated due to AdmissionCheck(s): "c" (no))"}));
  EXPECT_EQ(texts({target("MaximumExecutionTimeExceeded", "exceeding the maximum execution time")}),
            (Texts{"Warning Workload ns/job-a-12345 MaximumExecutionTimeExceeded: The maximum execution time (600s) exceeded"}));
  EXPECT_TRUE(texts({target("RequeuingLimitExceeded", "exceeding the maximum number of re-queuing retries")}).empty());
}

// SG-62, SG-64, SG-66; 6915 §2.3
TEST_F(DecisionEventsTest, AdmissionGatesAreTold) {
  const auto gate = [](GateChange change, const JobRef& of, Text value) {
    return GateChanged{.workload = workload, .job = of, .contract = GateContract::admission, .change = change, .value = value};
  };
  EXPECT_EQ(texts({gate(GateChange::observed, job, "a.io/x,b.io/y")}),
            (Texts{"Normal Workload ns/job-a-12345 AdmissionGated: Workload admission is gated by: a.io/x,b.io/y"}));
  EXPECT_EQ(texts({gate(GateChange::shrunk, job, "b.io/y")}),
            (Texts{"Normal Job ns/a UpdatedWorkload: Updated workload AdmissionGatedBy to \"b.io/y\""}));
  EXPECT_TRUE(texts({gate(GateChange::shrunk, {}, "b.io/y")}).empty()) << "somebody else changed the Workload";
  EXPECT_EQ(texts({gate(GateChange::cleared, job, "b.io/y")}),
            (Texts{"Normal Job ns/a UpdatedWorkload: Updated workload AdmissionGatedBy to \"\"",
                   "Normal Workload ns/job-a-12345 AdmissionGateCleared: Admission gate cleared, workload is now admissible"}));
}

// SG-5, SG-69; 6915 §2.4
TEST_F(DecisionEventsTest, SchedulingGatesAreToldOnTheJob) {
  const auto gate = [](GateChange change) { return GateChanged{.job = job, .change = change, .value = "a.io/x"}; };
  EXPECT_EQ(texts({gate(GateChange::observed)}), (Texts{"Normal Job ns/a SchedulingGated: Workload creation is gated by: a.io/x"}));
  EXPECT_TRUE(texts({gate(GateChange::shrunk)}).empty());
  EXPECT_EQ(texts({gate(GateChange::cleared)}), (Texts{"Normal Job ns/a SchedulingGateCleared: Scheduling gate cleared"}));
  EXPECT_EQ(texts({gate(GateChange::ignored)}),
            (Texts{"Warning Job ns/a SchedulingGateIgnored: The job has a Workload already; its scheduling gate is ignored: a.io/x"}));
}

TEST_F(DecisionEventsTest, TheLifeOfAJobsWorkloadIsToldOnTheJob) {
  EXPECT_EQ(texts({WorkloadRequested{.job = job, .name = "job-a-12345"}}),
            (Texts{"Normal Job ns/a CreatedWorkload: Created Workload: ns/job-a-12345"}));
  EXPECT_EQ(texts({WorkloadRevised{.workload = workload, .job = job, .pod_sets = true}}),
            (Texts{"Normal Job ns/a UpdatedWorkload: Updated not matching Workload for suspended job: ns/job-a-12345"}));
  EXPECT_TRUE(texts({WorkloadRevised{.workload = workload, .job = job}}).empty());
  EXPECT_EQ(texts({JobStopped{.job = job, .message = "Not admitted by cluster queue"}}),
            (Texts{"Normal Job ns/a Stopped: Not admitted by cluster queue"}));
  EXPECT_EQ(texts({WorkloadFinished{.workload = workload, .reason = "Succeeded", .message = "m"}}),
            (Texts{"Normal Job ns/a FinishedWorkload: Workload 'ns/job-a-12345' is declared finished"}));
  EXPECT_TRUE(texts({WorkloadFinished{.workload = other, .reason = "OwnerNotFound"}}).empty());
}

TEST_F(DecisionEventsTest, ARemovalIsADeletedWorkloadOfTheJobOrTheEndOfARetention) {
  EXPECT_EQ(texts({WorkloadRemoved{.workload = workload, .message = "No matching Workload"}}),
            (Texts{"Normal Job ns/a DeletedWorkload: Deleted not matching Workload: ns/job-a-12345"}));
  facts_["u1"].job->suspended = false;
  EXPECT_EQ(texts({WorkloadRemoved{.workload = workload, .message = "No matching Workload"}}),
            (Texts{"Normal Job ns/a Stopped: No matching Workload",
                   "Normal Job ns/a DeletedWorkload: Deleted not matching Workload: ns/job-a-12345"}));
  // BA-148
  EXPECT_EQ(texts({WorkloadRemoved{.workload = workload, .message = "Deleted job: deactivation retention period expired", .job = job}}),
            (Texts{"Normal Job ns/a Deleted: Deleted job: deactivation retention period expired"}));
  facts_["u1"].finished = true;
  EXPECT_EQ(texts({WorkloadRemoved{.workload = workload, .message = "Deleted finished workload due to elapsed retention"}}),
            (Texts{"Normal Workload ns/job-a-12345 Deleted: Deleted finished workload due to elapsed retention"}));
}

TEST_F(DecisionEventsTest, DecisionsThatWereVoidAreNoEvents) {
  const std::vector<Event> all = {
      QuotaReserved{.workload = workload, .cluster_queue = "cq", .admitted = true},
      WorkloadAdmitted{workload},
      WorkloadPreempted{.workload = workload, .preemptor = other, .message = "m"},
      WorkloadEvicted{.workload = workload, .reason = "NodeFailures", .message = "m"},
      EntryRequeued{.workload = workload, .reason = "WaitingForQuota", .message = "m"},
      ConditionChanged{
          .workload = workload, .type = ConditionType::deactivation_target, .status = ConditionStatus::true_, .reason = "AdmissionCheck"}};
  // It finished before.
  facts_["u1"].finished = true;
  EXPECT_TRUE(texts(all).empty());
  // It is gone.
  facts_.erase("u1");
  EXPECT_TRUE(texts(all).empty());
  // It got quota by another decision before.
  facts_["u1"] = pending("u1", "ns", "job-a-12345");
  reserve("u1", Time::from_seconds(1010), true);
  EXPECT_TRUE(texts({all[0], all[1], all[2], all[4]}).empty());
  // In another queue.
  reserve("u1", now_, true).cluster_queue = "elsewhere";
  EXPECT_TRUE(texts({all[0]}).empty());
}

// 77 §2.6 (EJ-51, EJ-138): of a replacement three events, in this order; the job runs on and is not started.
TEST_F(DecisionEventsTest, AReplacedSliceIsToldAfterTheAdmissionOfTheNewOne) {
  constexpr WorkloadRef slice{.uid = "u3", .namespace_ = "ns", .name = "job-a-67890"};
  facts_["u1"].job->suspended = false;
  facts_["u3"] = facts_["u1"];
  facts_["u3"].uid = "u3";
  facts_["u3"].name = "job-a-67890";
  reserve("u3", now_, true);
  reserve("u1", Time::from_seconds(1010), true).finished = true;
  const std::string text = "Replaced to accommodate a workload (UID: u3, JobUID: j1) due to workload slice aggregation";
  const std::vector<Event> decided{QuotaReserved{.workload = slice, .cluster_queue = "cq", .admitted = true, .replaces = workload},
                                   SliceReplaced{.workload = workload, .replacement = slice, .job = job, .message = text}};
  EXPECT_EQ(texts(decided),
            (Texts{"Normal Workload ns/job-a-67890 QuotaReserved: Quota reserved in ClusterQueue cq, wait time since queued was 90s",
                   "Normal Workload ns/job-a-67890 Admitted: Admitted by ClusterQueue cq, wait time since reservation was 0s",
                   "Normal Workload ns/job-a-12345 WorkloadSliceReplaced: " + text}));
  const auto all = events(decided);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].action + all[1].action, "");
  const auto body = nlohmann::json::parse(kubernetes::event_write(all[2]).body);
  EXPECT_EQ(body["reason"], "WorkloadSliceReplaced");
  EXPECT_EQ(body["action"], "Replaced");
  EXPECT_EQ(body["type"], "Normal");
  EXPECT_EQ(body["message"], text) << "that of the condition Finished";
  EXPECT_EQ(body["involvedObject"]["uid"], "u1") << "about the old slice";
  EXPECT_EQ(texts({WorkloadAdmitted{slice}, decided[1]}).size(), 2U) << "the same once its checks are ready";
  // Where the new one could not be admitted the old one runs on (EJ-55).
  facts_["u1"].finished = false;
  EXPECT_EQ(texts({decided[1]}), Texts{});
}

TEST_F(DecisionEventsTest, EventsKeepTheOrderOfTheDecisions) {
  reserve("u1", now_, false);
  const auto all = texts({EntryRequeued{.workload = other, .reason = "WaitingForQuota", .message = "m"},
                          QuotaReserved{.workload = workload, .cluster_queue = "cq"}});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_NE(all[0].find("WaitingForQuota"), std::string::npos);
  EXPECT_NE(all[1].find("QuotaReserved"), std::string::npos);
}

// BA-21
TEST_F(DecisionEventsTest, LongMessagesAreCutWhenTheyAreWritten) {
  const auto all = events({EntryRequeued{.workload = workload, .reason = "WaitingForQuota", .message = std::string(5'000, 'x')}});
  ASSERT_EQ(all.size(), 1U);
  const Write write = kubernetes::event_write(all[0]);
  const auto body = nlohmann::json::parse(write.body);
  EXPECT_EQ(body.at("message").get<std::string>(), std::string(1'020, 'x') + " ...");
  EXPECT_EQ(body.at("type"), "Warning");
  EXPECT_EQ(body.at("involvedObject").at("kind"), "Workload");
  EXPECT_EQ(body.at("involvedObject").at("uid"), "u1");
}

TEST_F(DecisionEventsTest, JobsOfUnknownKindsGetNone) {
  const JobRef unknown{.uid = "x", .kind = "Mystery", .group = "example.com", .namespace_ = "ns", .name = "m"};
  EXPECT_TRUE(texts({WorkloadRequested{.job = unknown, .name = "w"}, JobStopped{.job = unknown, .message = "m"}}).empty());
}

TEST_F(DecisionEventsTest, OtherPartsRaiseEventsWithTheRightType) {
  for (const Text reason : {"ErrWorkloadCompose", "JobNestingTooDeep", "WorkloadPriorityClassNotFound"})
    EXPECT_TRUE(job_event(job, reason, "m", now_).is_warning) << reason;
  for (const Text reason :
       {"ExcessPodDeleted", "OwnerReferencesAdded", "WorkloadNameConflict", "Suspended", "UpdatedAdmissionCheck", "SchedulingGated"})
    EXPECT_FALSE(job_event(job, reason, "m", now_).is_warning) << reason;
  for (const Text reason : {"SecondPassFailed", "FailedCreate"})
    EXPECT_TRUE(workload_event(workload, reason, "m", now_).is_warning) << reason;
  for (const Text reason : {"AdmissionCheckUpdated", "ProvisioningRequestCreated", "MultiKueue"})
    EXPECT_FALSE(workload_event(workload, reason, "m", now_).is_warning) << reason;
  EXPECT_EQ(job_event(job, "Suspended", "m", now_).type, &types::job);
}

// ---- families of concurrent admission (8691 §2.9) --------------------------------------------------------------------------------

constexpr WorkloadRef option{.uid = "o1", .namespace_ = "ns", .name = "job-a-12345-option-spot"};

class FamilyEventsTest : public DecisionEventsTest {
 protected:
  FamilyEventsTest() { facts_["o1"] = pending("o1", "ns", "job-a-12345-option-spot"); }
  std::vector<std::string> reporters(const std::vector<Event>& decided) const {
    std::vector<std::string> out;
    for (const auto& e : events(decided)) out.push_back(e.component);
    return out;
  }
};

// CA-3, CA-20, CA-70, CA-115: each with its reporter, on the Parent or on the Option
TEST_F(FamilyEventsTest, WhatBecomesOfAnOptionIsTold) {
  facts_["o1"].active = false;
  const std::vector<Event> decided{
      OptionRequested{.workload = workload, .name = option.name, .option = "spot"},
      OptionSwitched{.workload = option, .parent = workload, .message = "Variant Workload deactivated due to a reason"},
      PreemptionGateChanged{.workload = option, .parent = workload, .open = true},
      PreemptionGateChanged{.workload = option, .parent = workload},
      WorkloadRemoved{.workload = option,
                      .message = "Variant Workload \"ns/job-a-12345-option-spot\" deleted; flavor \"spot\" no longer in ClusterQueue",
                      .parent = workload}};
  EXPECT_EQ(texts(decided),
            (Texts{"Normal Workload ns/job-a-12345 CreatedVariant: Variant Workload \"ns/job-a-12345-option-spot\" created",
                   "Normal Workload ns/job-a-12345-option-spot DeactivatedVariant: Variant Workload deactivated due to a reason",
                   "Normal Workload ns/job-a-12345-option-spot PreemptionUngatedVariant: Opened preemption gate for variant workload "
                   "\"ns/job-a-12345-option-spot\"",
                   "Normal Workload ns/job-a-12345 DeletedVariant: Variant Workload \"ns/job-a-12345-option-spot\" deleted; flavor "
                   "\"spot\" no longer in ClusterQueue"}));
  EXPECT_EQ(reporters(decided), Texts(4, "concurrent-admission-controller"));

  facts_["o1"].active = true;
  EXPECT_EQ(texts({OptionSwitched{.workload = option,
                                  .parent = workload,
                                  .active = true,
                                  .message = "Variant Workload activated due to no other Variant being admitted"}}),
            (Texts{"Normal Workload ns/job-a-12345-option-spot ActivatedVariant: Variant Workload activated due to no other Variant being "
                   "admitted"}));
}

// CA-41, CA-42: the Parent's admission, and the start of its job
TEST_F(FamilyEventsTest, TheAdmissionOfAParentNamesItsOption) {
  reserve("u1", now_, true);
  EXPECT_EQ(texts({OptionAdmitted{workload, option}}),
            (Texts{"Normal Workload ns/job-a-12345 Admitted: The variant job-a-12345-option-spot is admitted",
                   "Normal Job ns/a Started: Admitted by clusterQueue cq"}));
}

// CA-44: the eviction tells of a migration; CA-126: the end of an attempt without reservation is told by DeactivatedVariant alone
TEST_F(FamilyEventsTest, AMigrationIsToldByTheEviction) {
  const std::string why = "Evicted to accommodate a workload (UID: o2) due to migration to more favorable resource flavor";
  const MigrationStarted migration{.workload = other, .parent = workload, .from = option, .cluster_queue = "cq"};
  const WorkloadEvicted eviction{.workload = option, .reason = "FlavorMigration", .message = why};
  EXPECT_TRUE(texts({migration, eviction}).empty()) << "it held nothing";
  reserve("o1", Time::from_seconds(1010), true);
  EXPECT_EQ(texts({migration, eviction}), (Texts{"Normal Workload ns/job-a-12345-option-spot EvictedDueToFlavorMigration: " + why}));
}

// What is void, and what has no event of its own
TEST_F(FamilyEventsTest, OfTheRestNothingIsTold) {
  EXPECT_TRUE(
      texts({FamilyFormed{workload}, FamilyDissolved{workload, "m"}, FamilyReset{workload, "m"}, OptionAdopted{option, workload, workload},
             OptionAdmitted{workload, option}, OptionSwitched{.workload = option, .parent = workload, .message = "m"}})
          .empty());
  facts_.clear();
  EXPECT_TRUE(texts({OptionRequested{.workload = workload, .name = "n"}, OptionSwitched{.workload = option, .parent = workload},
                     PreemptionGateChanged{.workload = option, .parent = workload, .open = true},
                     WorkloadRemoved{.workload = option, .message = "m", .parent = workload}})
                  .empty());
}

}  // namespace
}  // namespace hindsight::connectors
