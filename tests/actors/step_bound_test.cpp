// What is decided at one moment goes into records that a log takes, however much it is; and none of them is larger than its measure.

#include <algorithm>
#include <string>

#include "actors/actor_driver.hpp"
#include "admission/model/event_size.hpp"
#include "replay/verify.hpp"
#include "tests/actors/node_fixture.hpp"

namespace hindsight::actors::testing {
namespace {

class NodeSteps : public NodeFixture {
 protected:
  std::string_view keep(std::string text) { return arena_.copy(text); }
  WorkloadObserved gated(int i, std::size_t bytes) {
    auto o = facts.workload("w" + std::to_string(i), "lq", 1'000);
    o.admission_gated_by = keep("a.io/" + std::to_string(i) + "-" + std::string(bytes, static_cast<char>('a' + i % 26)));
    return o;
  }
  Observation queue_that(StopPolicy policy) {
    auto o = std::get<LocalQueueObserved>(facts.local_queue("lq", "cq"));
    o.stop_policy = policy;
    return o;
  }

 private:
  Arena arena_;
};

/// The log here takes less than 64 MiB, so that the test takes less, too. One record beyond that, and the node gives up at each start.
TEST_F(NodeSteps, AQueueOfManyLongTextsStopsAndGoesOn) {
  constexpr std::size_t record_max = 10U << 20U;
  constexpr int jobs = 1'400;
  std::atomic<std::size_t> refused = 0;
  log.on_append([&](std::span<const events::EncodedRecord> records) {
    const bool fits = std::ranges::all_of(records, [](const auto& r) { return r.bytes.size() <= record_max; });
    if (!fits) ++refused;
    return fits ? events::AppendFault::none : events::AppendFault::refused;
  });
  options.append_failures_max = 3;
  start();
  set_up_queue(1'000);
  for (int i = 0; i < jobs; ++i) observe(gated(i, 8'000));
  rest();
  observe(queue_that(StopPolicy::hold));
  rest();
  observe(queue_that(StopPolicy::none));
  rest();
  EXPECT_EQ(refused, 0U);
  std::size_t gated_again = 0;
  ASSERT_TRUE(node->inspect([&](const admission::StateView& view) {
    for (int i = 0; i < jobs; ++i) {
      const auto parent = view.domain().find_parent("uid-w" + std::to_string(i));
      const auto* c = view.parent(*parent)->workloads().front().find(ConditionType::quota_reserved);
      gated_again += c->reason.text() == "AdmissionGated" ? 1 : 0;
    }
  }));
  EXPECT_EQ(gated_again, static_cast<std::size_t>(jobs));
  expect_state_of_log();
  const auto report = replay::verify(log, "default");
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report->clean()) << report->mismatched_decisions;
  // and once more, as after a restart
  node.reset();
  start();
  rest();
  expect_state_of_log();
}

/// Under actors the answers come as they come; the cut is the same.
TEST_F(NodeSteps, ActorsCutWhereTheLoopDoes) {
  constexpr std::size_t bound = 20'000;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    ActorDriver::Options driver_options;
    driver_options.schedule_seed = seed;
    driver_options.shells_max = 5;
    ActorDriver driver(options.settings_reader, std::move(driver_options));
    ASSERT_TRUE(driver.with_entities([](admission::Entities& e) { e.domain().bound_steps(bound); }));
    admission::LoopDriver twin(options.settings_reader);
    twin.entities().domain().bound_steps(bound);
    const auto both = [&](const Body& body) {
      RecordView r;
      r.envelope = {"default", twin.domain().sequence() + 1, 1, facts.now, 0};
      r.body = body;
      ASSERT_TRUE(driver.apply(r));
      ASSERT_TRUE(twin.apply(r));
    };
    std::size_t steps = 0;
    const auto settle = [&] {
      for (;; ++steps) {
        const auto step = twin.decide();
        const auto other = driver.decide();
        ASSERT_TRUE(other);
        ASSERT_EQ(other->has_value(), step.has_value());
        if (!step) return;
        ASSERT_EQ((*other)->events.size(), step->events.size()) << seed;
        both(Decisions{step->base, step->kind, step->events});
      }
    };
    for (const auto& o : {facts.flavor(), facts.namespace_(), facts.queue("cq", 1'000), facts.local_queue("lq", "cq")}) both(o);
    both(Observation(MirrorSynced{}));
    for (int i = 0; i < 40; ++i) both(Observation(gated(i, 2'000)));
    settle();
    both(queue_that(StopPolicy::hold));
    settle();
    both(queue_that(StopPolicy::none));
    settle();
    EXPECT_GT(steps, 12U);
    std::uint64_t hash = 0;
    ASSERT_TRUE(driver.inspect([&](const admission::StateView& view) { hash = view.state_hash(); }));
    EXPECT_EQ(hash, twin.state_hash());
  }
}

// ---- the measure ----------------------------------------------------------------------------------------------------------------------

TEST_F(NodeSteps, NoEventTakesMoreThanItsMeasure) {
  Arena a;
  std::vector<Event> events;
  int serial = 0;
  for (const std::size_t n : {0U, 1U, 3U, 4U, 7U, 40U, 253U, 32'768U}) {
    // no text twice: a record may hold equal ones once
    const auto text = [&] { return n == 0 ? std::string_view() : a.copy(std::to_string(++serial).substr(0, n) + std::string(n, 'x')); };
    const auto workload = [&] { return WorkloadRef{text(), text(), text()}; };
    const auto job = [&] { return JobRef{text(), text(), text(), text(), text()}; };
    const std::size_t many = n > 1'000 ? 3 : 20;
    const auto counts = [&] {
      auto out = a.make<PodSetCount>(many);
      for (auto& x : out) x = {text(), 7};
      return out;
    };
    const auto checks = [&] {
      auto out = a.make<CheckFacts>(many);
      for (auto& x : out) x = {text(), CheckState::retry, facts.now, text(), 7, 7, text()};
      return out;
    };
    const auto amounts = [&] {
      auto out = a.make<ResourceAmount>(many);
      for (auto& x : out) x = {text(), 7};
      return out;
    };
    events.emplace_back(WorkloadRequested{job(), text(), text(), 7, PriorityClassKind::workload_priority_class, text(), 7, 7, workload(),
                                          text(), counts()});
    events.emplace_back(
        WorkloadRevised{workload(), job(), true, text(), 7, PriorityClassKind::workload_priority_class, text(), 7, 7, counts()});
    events.emplace_back(WorkloadRemoved{workload(), text(), job()});
    events.emplace_back(JobStopped{job(), text()});
    QuotaReserved reserved;
    reserved.workload = workload();
    reserved.cluster_queue = text();
    auto assignments = a.make<PodSetAssignmentFacts>(many);
    for (auto& x : assignments) {
      auto flavors = a.make<FlavorChoice>(many);
      for (auto& f : flavors) f = {text(), text()};
      x = {text(), 7, flavors, amounts()};
    }
    reserved.assignments = assignments;
    reserved.admitted = reserved.checks_changed = true;
    reserved.checks = checks();
    reserved.borrowing_level = 7;
    reserved.replaces = workload();
    auto plan = a.make<PlannedAmount>(many);
    for (auto& x : plan) x = {text(), text(), text(), 7, 7};
    reserved.plan = plan;
    events.emplace_back(reserved);
    EntryRequeued requeued;
    requeued.workload = workload();
    requeued.cluster_queue = text();
    requeued.requeue_reason = RequeueReason::no_fit;
    requeued.to_heap = requeued.preemption_skipped = true;
    requeued.reason = text();
    requeued.message = text();
    auto progress = a.make<ScanProgress>(many);
    for (auto& x : progress) x = {text(), text(), 7};
    requeued.progress = progress;
    requeued.bulk_parked = requeued.scan_generation = 7;
    requeued.recomputed = Recomputation::skipped;
    events.emplace_back(requeued);
    events.emplace_back(WorkloadPreempted{workload(), workload(), text(), text(), text()});
    events.emplace_back(WorkloadEvicted{workload(), text(), text(), text(), true, 7, facts.now});
    events.emplace_back(ReservationCleared{workload(), text(), text(), true, true, text(), text(), true});
    events.emplace_back(WorkloadAdmitted{workload()});
    events.emplace_back(WorkloadFinished{workload(), text(), text()});
    events.emplace_back(ConditionChanged{workload(), ConditionType::evicted, ConditionStatus::true_, text(), text(), true});
    events.emplace_back(WorkloadDeactivated{workload()});
    events.emplace_back(ChecksChanged{workload(), checks()});
    events.emplace_back(RequeueStateChanged{workload(), true, 7, facts.now});
    events.emplace_back(ReclaimableChanged{workload(), counts()});
    events.emplace_back(ExecutionTimeReset{workload()});
    events.emplace_back(TreeReactivated{text()});
    events.emplace_back(SliceReplaced{workload(), workload(), job(), text(), text(), amounts(), counts()});
    auto pods = a.make<PodRef>(many);
    for (auto& x : pods) x = {text(), text(), text(), text()};
    events.emplace_back(PodsReleased{workload(), job(), text(), pods});
    events.emplace_back(GateChanged{workload(), job(), GateContract::admission, GateChange::shrunk, text(), 7, facts.now});
    events.emplace_back(SizingBarred{workload(), job(), true, true, text()});
  }
  events::Encoder encoder;
  const auto encoded = [&](const std::vector<Event>& of) {
    RecordView r;
    r.envelope = {"default", 7, 7, facts.now, 7};
    r.body = Decisions{7, StepKind::life_cycle, of};
    return encoder.encode(r).size();
  };
  const std::size_t empty = encoded({});
  for (const Event& e : events) {
    const std::size_t takes = encoded({e}) - empty;
    EXPECT_LE(takes, admission::event_bytes(e)) << e.index();
    EXPECT_GE(4 * takes + 300, admission::event_bytes(e)) << e.index() << ": the measure has little to do with it";
  }
  std::size_t sum = empty;
  for (const Event& e : events) sum += admission::event_bytes(e);
  EXPECT_LE(encoded(events), sum);
}

}  // namespace
}  // namespace hindsight::actors::testing
