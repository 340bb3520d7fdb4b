// Events of records that a real domain decided and applied.

#include <gtest/gtest.h>

#include "admission/domain/loop_driver.hpp"
#include "admission/rules.hpp"
#include "connectors/event_recorder/decision_events.hpp"

namespace hindsight::connectors {
namespace {

/// A domain with one ClusterQueue of 4 CPU. Records what events each decision gives.
class World {
 public:
  World() : driver_([](Text) -> Result<admission::Settings> { return admission::Settings{}; }) {
    append(EpochStarted{.writer = "test", .release = "test", .rules = admission::rules_version}, 1);
    ResourceFlavorObserved flavor;
    flavor.meta.name = "default";
    observe(flavor);
    NamespaceObserved ns;
    ns.meta.name = "ns";
    observe(ns);
    ClusterQueueObserved queue;
    queue.meta.name = "cq";
    auto quotas = arena_.make<QuotaFacts>(1);
    quotas[0] = {"cpu", 4000, {}, {}};
    auto flavors = arena_.make<FlavorQuotasFacts>(1);
    flavors[0] = {"default", quotas};
    auto resources = arena_.make<Text>(1);
    resources[0] = "cpu";
    auto groups = arena_.make<ResourceGroupFacts>(1);
    groups[0] = {resources, flavors};
    queue.resource_groups = groups;
    queue.has_namespace_selector = true;
    queue.within_cluster_queue = PreemptionPolicy::lower_priority;
    observe(queue);
    LocalQueueObserved local;
    local.meta.namespace_ = "ns";
    local.meta.name = "lq";
    local.cluster_queue = "cq";
    observe(local);
    observe(MirrorSynced{});
  }

  void observe(Observation o) { append(std::move(o), epoch_); }
  void pass(Duration span) { now_ = now_ + span; }

  void workload(Text name, Amount cpu, std::int32_t priority) {
    WorkloadObserved w;
    w.meta.namespace_ = "ns";
    w.meta.name = name;
    w.meta.uid = name;
    w.meta.resource_version = ++version_;
    w.meta.created = Time::from_seconds(now_.floor_seconds());
    w.queue_name = "lq";
    w.priority = priority;
    auto requests = arena_.make<ResourceAmount>(1);
    requests[0] = {"cpu", cpu};
    auto pods = arena_.make<PodSetFacts>(1);
    pods[0].name = "main";
    pods[0].requests = requests;
    w.pod_sets = pods;
    observe(w);
  }

  /// Observes the Workload of a Job, which has quota, and one admission check for each message; gives the events of that.
  std::vector<std::string> with_checks(Text name, CheckState state, const std::vector<Text>& messages, bool admitted = false) {
    WorkloadObserved w;
    w.meta.namespace_ = "ns";
    w.meta.name = name;
    w.meta.uid = arena_.copy("wl-" + std::string(name));
    w.meta.resource_version = ++version_;
    w.owner_uid = w.owner_name = name;
    w.owner_kind = "Job";
    w.queue_name = "lq";
    auto pods = arena_.make<PodSetFacts>(1);
    pods[0].name = "main";
    w.pod_sets = pods;
    w.has_admission = true;
    w.admission_cluster_queue = "cq";
    auto conditions = arena_.make<ConditionFacts>(admitted ? 2 : 1);
    conditions[0] = {ConditionType::quota_reserved, ConditionStatus::true_, "QuotaReserved", "Quota reserved", now_};
    if (admitted) conditions[1] = {ConditionType::admitted, ConditionStatus::true_, "Admitted", "The workload is admitted", now_};
    w.conditions = conditions;
    auto checks = arena_.make<CheckFacts>(messages.size());
    for (std::size_t i = 0; i < messages.size(); ++i) {
      checks[i].name = arena_.copy("check-" + std::to_string(i));
      checks[i].state = state;
      checks[i].message = messages[i];
    }
    w.checks = checks;
    observe(w);
    return events_of_last();
  }

  /// Observes a Job; gives the events of that.
  std::vector<std::string> job(Text name, Text queue, Text owner = {}, Text priority_class = {}, bool suspended = true) {
    JobObserved j;
    j.meta.namespace_ = "ns";
    j.meta.name = name;
    j.meta.uid = name;
    j.meta.resource_version = ++version_;
    j.kind = "Job";
    j.group = "batch";
    j.queue_name = queue;
    j.priority_class = priority_class;
    j.suspended = suspended;
    j.active = !suspended;
    j.workload_name = name;
    if (!owner.empty()) {
      j.owner_uid = owner;
      j.owner_kind = "Job";
      j.owner_name = owner;
    }
    observe(j);
    return events_of_last();
  }

  /// Decides until at rest; gives "reason name: message" for each event.
  std::vector<std::string> settle() {
    std::vector<std::string> out;
    while (auto step = driver_.decide()) {
      const Decisions decisions{step->base, step->kind, step->events};
      append(decisions, epoch_);
      for (const auto& e : record_events(record_, driver_)) out.push_back(e.reason + " " + e.name + ": " + e.message);
      last_ = std::move(*step);
    }
    return out;
  }
  [[nodiscard]] admission::LoopDriver& driver() { return driver_; }
  [[nodiscard]] const RecordView& last_record() const { return record_; }
  std::uint64_t epoch_ = 1;

  void append(Body body, std::uint64_t epoch) {
    record_ = {};
    record_.envelope = {.domain = "default", .sequence = driver_.domain().sequence() + 1, .epoch = epoch, .time = now_};
    record_.body = std::move(body);
    const auto applied = driver_.apply(record_);
    if (!applied) throw std::runtime_error(applied.error().message);
  }

 private:
  std::vector<std::string> events_of_last() {
    std::vector<std::string> out;
    for (const auto& e : record_events(record_, driver_))
      out.push_back((e.is_warning ? "W " : "") + e.reason + " " + e.name + ": " + e.message);
    return out;
  }

  Arena arena_;
  admission::LoopDriver driver_;
  RecordView record_;
  std::optional<admission::Domain::Step> last_;
  Time now_ = Time::from_seconds(1'000'000);
  std::uint64_t version_ = 0;
};

TEST(StateEventsTest, AdmissionWaitingAndPreemptionAreToldFromTheState) {
  World world;
  world.workload("low", 3000, 1);
  world.pass(Duration::seconds(7));
  EXPECT_EQ(world.settle(), (std::vector<std::string>{"QuotaReserved low: Quota reserved in ClusterQueue cq, wait time since queued was 7s",
                                                      "Admitted low: Admitted by ClusterQueue cq, wait time since reservation was 0s"}));
  world.pass(Duration::seconds(5));
  world.workload("high", 2000, 9);
  world.pass(Duration::seconds(2));
  const auto events = world.settle();
  ASSERT_EQ(events.size(), 4U);
  EXPECT_TRUE(events[0].starts_with("EvictedDueToPreempted low: Preempted to accommodate a workload (UID: high, JobUID: UNKNOWN) due to"))
      << events[0];
  EXPECT_TRUE(
      events[1].ends_with("; preemptor effective priority: 9 (base: 9, boost: 0); preemptee effective priority: 1 (base: 1, boost: 0)"))
      << events[1];
  EXPECT_TRUE(events[2].starts_with("PreemptedWorkload high: Preempted workload ns/low (UID: low) in ClusterQueue cq; ")) << events[2];
  EXPECT_TRUE(events[3].starts_with("WaitingForPreemptedWorkloads high: ")) << events[3];
}

TEST(StateEventsTest, ObservationsAndDecisionsOfAnOldEpochGiveNone) {
  World world;
  world.workload("a", 1000, 0);
  EXPECT_TRUE(record_events(world.last_record(), world.driver()).empty());
  world.append(EpochStarted{.writer = "other", .release = "test", .rules = admission::rules_version}, 2);
  // A decision of the writer before, which applying ignores.
  const EntryRequeued late{
      .workload = {.uid = "a", .namespace_ = "ns", .name = "a"}, .cluster_queue = "cq", .reason = "WaitingForQuota", .message = "m"};
  const std::vector<Event> events{late};
  world.append(Decisions{.base = 1, .step = StepKind::cycle, .events = events}, 1);
  EXPECT_TRUE(record_events(world.last_record(), world.driver()).empty());
  world.append(Decisions{.base = 1, .step = StepKind::cycle, .events = events}, 2);
  EXPECT_EQ(record_events(world.last_record(), world.driver()).size(), 1U);
}

// BA-191, EJ-54: an append that was repeated has written the decision once more
TEST(StateEventsTest, ADecisionThatStandsInTheLogTwiceIsToldOnce) {
  World world;
  world.workload("a", 1000, 0);
  const auto step = world.driver().decide();
  ASSERT_TRUE(step);
  const Decisions decisions{step->base, step->kind, step->events};
  world.append(decisions, 1);
  const auto told = record_events(world.last_record(), world.driver());
  EXPECT_FALSE(told.empty());
  world.append(decisions, 1);
  EXPECT_TRUE(record_events(world.last_record(), world.driver()).empty());
}

// BA-191: what the checks say for which a job waits that has quota
TEST(StateEventsTest, ChecksThatSayWhyAJobWaitsAreTold) {
  World world;
  using Lines = std::vector<std::string>;
  EXPECT_EQ(world.job("j", "lq"), Lines{});
  EXPECT_EQ(world.with_checks("j", CheckState::pending, {"", ""}), Lines{});
  EXPECT_EQ(world.with_checks("j", CheckState::pending, {"ETA 5 min", "", "in review"}),
            (Lines{"UpdatedAdmissionCheck j: check-0: ETA 5 min; check-2: in review"}));
  EXPECT_EQ(world.with_checks("j", CheckState::ready, {"done"}), Lines{});
  EXPECT_EQ(world.with_checks("j", CheckState::pending, {"late"}, true), Lines{}) << "it is admitted";
  EXPECT_EQ(world.job("runs", "lq", "", "", false), Lines{});
  EXPECT_EQ(world.with_checks("runs", CheckState::pending, {"late"}), Lines{}) << "it is not suspended";
}

// BA-191: what is seen of a job that cannot go on as it is
TEST(StateEventsTest, JobsThatCannotGoOnAreTold) {
  World world;
  using Lines = std::vector<std::string>;
  EXPECT_EQ(world.job("fine", "lq"), Lines{});
  EXPECT_EQ(world.job("classless", "lq", "", "nowhere"),
            (Lines{"W WorkloadPriorityClassNotFound classless: WorkloadPriorityClass nowhere not found"}));
  WorkloadPriorityClassObserved c;
  c.meta.name = "nowhere";
  world.observe(c);
  EXPECT_EQ(world.job("classless", "lq", "", "nowhere"), Lines{}) << "it is there now";
  EXPECT_EQ(world.job("child", "", "fine"), Lines{});
  EXPECT_EQ(world.job("child", "", "fine", "", false),
            (Lines{"Suspended child: Suspended because the workload of its managed ancestor is not admitted"}));
  // a chain of owners: the tenth above is the last that is looked at
  EXPECT_EQ(world.job("n0", "lq"), Lines{});
  std::vector<std::string> names{"n0"};
  for (int i = 1; i <= 12; ++i) names.push_back("n" + std::to_string(i));
  for (std::size_t i = 1; i <= 10; ++i) EXPECT_EQ(world.job(names[i], "", names[i - 1]), Lines{}) << i;
  EXPECT_EQ(
      world.job(names[11], "", names[10]),
      (Lines{"W JobNestingTooDeep n11: Terminated the search for a managed ancestor because the job has more than 10 owners above it"}));
}

}  // namespace
}  // namespace hindsight::connectors
