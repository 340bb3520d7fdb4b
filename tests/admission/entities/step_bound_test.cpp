// However much there is to say at one moment, no step says more than a record may hold: the rest is said in the next steps, and what comes
// of it is what would have come of one (design rule 2).

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "admission/model/event_size.hpp"
#include "admission/state/snapshot.hpp"
#include "tests/admission/decided_afresh.hpp"
#include "tests/admission/entities/fact_world.hpp"

namespace hindsight::admission::testing {
namespace {

using Lines = std::vector<std::string>;

constexpr std::size_t unbounded = std::size_t{1} << 40;

std::size_t bytes_of(const Domain::Step& step) {
  std::size_t out = 0;
  for (const Event& e : step.events) out += event_bytes(e);
  return out;
}

/// What is decided until nothing is left to decide.
struct Settled {
  std::size_t steps = 0, largest = 0, largest_event = 0;
  std::vector<std::size_t> events;  ///< Of each step.
};

/// `before`: called with each step before it is recorded.
Settled settle(FactWorld& w, const std::function<void(const Domain::Step&)>& before = {}) {
  Settled out;
  for (;;) {
    const auto step = w.driver().decide();
    if (!step) return out;
    if (before) before(*step);
    ++out.steps;
    out.largest = std::max(out.largest, bytes_of(*step));
    for (const Event& e : step->events) out.largest_event = std::max(out.largest_event, event_bytes(e));
    out.events.push_back(step->events.size());
    w.observe_decision(*step);
    if (out.steps > 2'000) throw std::runtime_error("the domain does not come to rest");
  }
}

// ---- the life cycle ---------------------------------------------------------------------------------------------------------------

constexpr int tenants_jobs = 60;

void set_up(FactWorld& w, std::size_t bound) {
  w.driver().entities().domain().bound_steps(bound);
  w.namespace_("default");
  w.flavor("default");
  w.queue({.name = "cq", .cpu = 10'000});
  w.local_queue("lq", "cq");
  w.observe(MirrorSynced{});
  w.tick(Duration::seconds(2));
  (void)settle(w);
}

void add_gated(FactWorld& w, int i, std::size_t bytes) {
  auto o = w.workload("w" + std::to_string(i), "lq", 1'000);
  o.admission_gated_by = w.keep("a.io/" + std::to_string(i) + "-" + std::string(bytes, static_cast<char>('a' + i % 26)));
  w.observe(o);
}
/// Each with another list of gates, as long as one may be, so that nothing of one text serves for the next.
void add_gated(FactWorld& w) {
  for (int i = 0; i < tenants_jobs; ++i) add_gated(w, i, 4'000);
}

void stop(FactWorld& w, StopPolicy policy) {
  LocalQueueObserved o;
  o.meta.namespace_ = "default";
  o.meta.name = "lq";
  o.cluster_queue = "cq";
  o.stop_policy = policy;
  w.observe(o);
}

Lines pending_of_all(const FactWorld& w) {
  Lines out;
  for (int i = 0; i < tenants_jobs; ++i) out.push_back(w.pending("w" + std::to_string(i)));
  return out;
}

constexpr std::size_t small = 32'000;  // some of them, of all

TEST(StepBound, AQueueThatIsStoppedAndResumedTellsItsMembersInParts) {
  FactWorld one, parts;
  set_up(one, unbounded);
  set_up(parts, small);
  for (auto* w : {&one, &parts}) add_gated(*w);
  const auto first = settle(one), first_parts = settle(parts);
  EXPECT_LT(first.steps, 5U);
  EXPECT_GT(first.largest, 10 * small) << "else nothing is proved";
  EXPECT_GT(first_parts.steps, 10U);
  EXPECT_LT(first_parts.largest, small + 2 * (4'300 + 4'300));
  EXPECT_EQ(pending_of_all(parts), pending_of_all(one));
  for (auto* w : {&one, &parts}) stop(*w, StopPolicy::hold);
  EXPECT_EQ(settle(one).steps, 1U);
  (void)settle(parts);
  for (const auto& text : pending_of_all(parts)) EXPECT_EQ(text, "Suspended: LocalQueue lq is inactive");
  for (auto* w : {&one, &parts}) stop(*w, StopPolicy::none);
  (void)settle(one);
  const auto resumed = settle(parts);
  EXPECT_GT(resumed.steps, 5U);
  EXPECT_LT(resumed.largest, small + 5'000);
  EXPECT_EQ(pending_of_all(parts), pending_of_all(one));
  for (const auto& text : pending_of_all(parts)) EXPECT_TRUE(text.starts_with("AdmissionGated: ")) << text.substr(0, 100);
  EXPECT_EQ(decided_afresh(parts.driver(), [](Text) -> Result<Settings> { return Settings{}; }), "");
}

/// What goes into a step follows from the state, in whatever order the answers come, and whoever decides.
TEST(StepBound, TheSameGoesIntoAStepInEveryOrder) {
  std::vector<std::vector<std::size_t>> seen;
  std::vector<std::uint64_t> hashes;
  for (const unsigned seed : {0U, 1U, 2U, 3U}) {
    std::mt19937 random(seed);
    FactWorld w(seed == 0 ? LoopDriver::Order{} : LoopDriver::Order([&](std::size_t n) { return random() % n; }));
    set_up(w, small);
    // small and large ones: what comes late and is small must not take the place of a large one that comes before it by key
    for (int i = 0; i < tenants_jobs; ++i) add_gated(w, i, i % 4 == 0 ? 15'000 : 200);
    seen.push_back(settle(w).events);
    stop(w, StopPolicy::hold);
    seen.back().push_back(settle(w).steps);
    stop(w, StopPolicy::none);
    for (const auto n : settle(w).events) seen.back().push_back(n);
    hashes.push_back(w.driver().state_hash());
  }
  for (std::size_t i = 1; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i], seen[0]);
    EXPECT_EQ(hashes[i], hashes[0]);
  }
}

/// Who has only folded the records decides the same from each base: a reader that verifies, and one that takes the domain over.
TEST(StepBound, AReaderDecidesTheSameFromTheSameBase) {
  FactWorld w, reader;
  for (auto* x : {&w, &reader}) {
    set_up(*x, small);
    add_gated(*x);
  }
  std::size_t steps = 0;
  const auto compare = [&](const Domain::Step& step) {
    // it asks only now and then: the parents that it has not asked are more than those that were left
    if (++steps % 3 == 0) {
      const auto own = reader.driver().decide();
      ASSERT_TRUE(own);
      EXPECT_EQ(own->base, step.base);
      ASSERT_EQ(own->events.size(), step.events.size());
      EXPECT_EQ(bytes_of(*own), bytes_of(step));
    }
    reader.observe_decision(step);
    EXPECT_EQ(reader.driver().domain().sequence(), step.base + 1);
  };
  (void)settle(w, compare);
  for (const StopPolicy policy : {StopPolicy::hold, StopPolicy::none}) {
    for (auto* x : {&w, &reader}) stop(*x, policy);
    (void)settle(w, compare);
  }
  EXPECT_GT(steps, 15U);
  EXPECT_EQ(reader.driver().state_hash(), w.driver().state_hash());
}

TEST(StepBound, ASnapshotBetweenTwoPartsKnowsWhoIsLeft) {
  FactWorld w;
  set_up(w, small);
  add_gated(w);
  (void)settle(w);
  stop(w, StopPolicy::hold);
  (void)settle(w);
  stop(w, StopPolicy::none);
  w.observe_decision(w.driver().decide().value());
  FactWorld copy;
  copy.now = w.now;
  copy.driver().entities().domain().bound_steps(small);
  ASSERT_TRUE(SnapshotCodec::read(SnapshotCodec::write(w.driver()), copy.driver()));
  EXPECT_EQ(copy.driver().state_hash(), w.driver().state_hash());
  const auto rest = settle(w), rest_of_copy = settle(copy);
  EXPECT_GT(rest.steps, 3U);
  EXPECT_EQ(rest_of_copy.events, rest.events);
  EXPECT_EQ(copy.driver().state_hash(), w.driver().state_hash());
  EXPECT_EQ(pending_of_all(copy), pending_of_all(w));
}

/// A new epoch asks all anew: what the one before decided and did not write is lost, and nobody with it.
TEST(StepBound, AnEpochBetweenTwoPartsLosesNobody) {
  FactWorld w;
  set_up(w, 4'000);
  add_gated(w);
  (void)settle(w);
  stop(w, StopPolicy::hold);
  w.observe_decision(w.driver().decide().value());
  ASSERT_TRUE(w.driver().decide());  // is lost
  w.observe_epoch();
  (void)settle(w);
  for (const auto& text : pending_of_all(w)) EXPECT_EQ(text, "Suspended: LocalQueue lq is inactive");
}

/// One job alone may have more Workloads than a step has room for.
TEST(StepBound, TheWorkloadsOfOneJobEndInParts) {
  FactWorld w;
  set_up(w, 6'000);
  auto j = w.job("j", "lq");
  w.observe(j);
  (void)settle(w);
  constexpr int copies = 200;
  for (int i = 0; i < copies; ++i) {
    auto o = w.workload_of(j);
    o.meta.name = w.keep("j-" + std::to_string(i));
    o.meta.uid = w.keep("uid-j-" + std::to_string(i));
    w.observe(o);
  }
  j.finished = j.succeeded = true;
  j.meta.resource_version = w.next_version();
  w.observe(j);
  const auto done = settle(w);
  EXPECT_GT(done.steps, 5U);
  EXPECT_LT(done.largest, 6'000 + 2 * done.largest_event);
  const auto* parent = w.driver().parent(*w.driver().domain().find_parent("job-j"));
  EXPECT_EQ(parent->workloads().size(), static_cast<std::size_t>(copies));
  for (const auto& workload : parent->workloads()) EXPECT_TRUE(workload.finished()) << workload.name;
}

TEST(StepBound, OneAnswerThatIsLargerThanAStepIsAStep) {
  FactWorld w;
  set_up(w, 100);
  add_gated(w);
  const auto done = settle(w);
  EXPECT_EQ(done.steps, static_cast<std::size_t>(tenants_jobs)) << "each by itself";
}

// ---- cycles -------------------------------------------------------------------------------------------------------------------------

/// Room is made by as many small ones as it takes, some in each cycle.
TEST(StepBound, ManyVictimsGoInParts) {
  FactWorld w;
  w.driver().entities().domain().bound_steps(4'000);
  w.namespace_("default");
  w.flavor("default");
  w.queue({.name = "cq", .cpu = 40'000, .within = PreemptionPolicy::lower_priority});
  w.local_queue("lq", "cq");
  w.observe(MirrorSynced{});
  w.tick(Duration::seconds(2));
  (void)settle(w);
  constexpr int small_ones = 40;
  for (int i = 0; i < small_ones; ++i) w.observe(w.workload("small-" + std::to_string(i), "lq", 1'000));
  (void)settle(w);
  w.observe(w.workload("large", "lq", 40'000, 10));
  const auto made = settle(w);
  EXPECT_GT(made.steps, 4U);
  EXPECT_LT(made.largest, 4'000 + 2 * made.largest_event);
  for (int i = 0; i < small_ones; ++i) EXPECT_TRUE(w.state("small-" + std::to_string(i)).evicted()) << i;
  for (int i = 0; i < small_ones; ++i) {
    const std::string name = "small-" + std::to_string(i);
    w.observe(ObjectDeleted{ObjectKind::workload, "default", w.keep(name), w.keep("uid-" + name)});
  }
  w.tick(Duration::seconds(2));
  (void)settle(w);
  EXPECT_TRUE(w.state("large").admitted());
}

Lines queues_decide(FactWorld& w, bool cohort, std::size_t bound) {
  w.driver().entities().domain().bound_steps(bound);
  w.namespace_("default");
  w.flavor("default");
  constexpr int queues = 30;
  for (int i = 0; i < queues; ++i) {
    const std::string name = "cq" + std::to_string(i);
    w.queue({.name = name, .cohort = cohort ? "all" : "", .cpu = 1'000});
    w.local_queue("lq" + std::to_string(i), name);
  }
  w.observe(MirrorSynced{});
  w.tick(Duration::seconds(2));
  (void)settle(w);
  for (int i = 0; i < queues; ++i) {
    const std::string suffix = std::to_string(i);
    w.observe(w.workload("fits" + suffix, "lq" + suffix, 1'000));
    w.observe(w.workload("waits" + suffix, "lq" + suffix, 700));
  }
  const auto done = settle(w);
  if (bound != unbounded) {
    EXPECT_GT(done.steps, 8U) << cohort;
    EXPECT_LT(done.largest, bound + 2 * done.largest_event) << cohort;
  }
  w.tick(Duration::seconds(2));
  (void)settle(w);
  Lines out;
  for (int i = 0; i < queues; ++i)
    for (const char* name : {"fits", "waits"}) {
      const auto& state = w.state(name + std::to_string(i));
      out.push_back(state.name + (state.admitted() ? " admitted" : " waits: " + w.pending(state.name)));
    }
  return out;
}

TEST(StepBound, ManyQueuesAreServedInParts) {
  for (const bool cohort : {false, true}) {
    FactWorld one, parts;
    const auto wanted = queues_decide(one, cohort, unbounded);
    EXPECT_EQ(std::count_if(wanted.begin(), wanted.end(), [](const auto& line) { return line.ends_with(" admitted"); }), 30);
    EXPECT_EQ(queues_decide(parts, cohort, 2'000), wanted);
    EXPECT_FALSE(parts.driver().decide().has_value());
  }
}

TEST(StepBound, ReactivationsOfManyTreesGoInParts) {
  FactWorld w;
  (void)queues_decide(w, false, 300);
  for (int i = 0; i < 30; ++i) {
    const std::string name = "cq" + std::to_string(i);
    w.queue({.name = name, .cpu = 2'000});
  }
  w.tick(Duration::seconds(2));
  const auto done = settle(w);
  EXPECT_GT(done.steps, 8U);
  EXPECT_LT(done.largest, 300 + 2 * done.largest_event) << "of timers too";
  for (int i = 0; i < 30; ++i) EXPECT_TRUE(w.state("waits" + std::to_string(i)).admitted()) << i;
}

/// A tree whose cycle leads nowhere keeps nobody from his turn who stands behind it by name (D10).
TEST(StepBound, ACycleThatRepeatsLetsTheOthersPass) {
  FactWorld w;
  w.driver().entities().domain().bound_steps(100);
  w.namespace_("default");
  w.flavor("default");
  for (const char* name : {"a", "b"}) {
    w.queue({.name = name, .cpu = 1'000});
    w.local_queue(name, name);
  }
  w.observe(MirrorSynced{});
  w.tick(Duration::seconds(2));
  (void)settle(w);
  for (const char* name : {"a", "b"}) w.observe(w.workload(name, name, 2'000));
  auto step = w.driver().decide();
  ASSERT_TRUE(step);
  ASSERT_EQ(step->kind, StepKind::cycle);
  ASSERT_EQ(step->events.size(), 1U) << "no more goes into a step";
  auto& requeued = std::get<EntryRequeued>(step->events.front());
  ASSERT_EQ(requeued.workload.name, "a");
  requeued.cluster_queue = "nowhere";  // so that its queue hears nothing of it, and offers it again
  w.observe_decision(*step);
  const auto rest = settle(w);
  EXPECT_LT(rest.steps, 5U);
  EXPECT_TRUE(w.pending("b").starts_with("ExceedsMaxQuota: ")) << w.pending("b");
}

// ---- the measure --------------------------------------------------------------------------------------------------------------------

TEST(StepBound, WhatOneObjectHoldsFitsIntoARecordBesideAFullStep) {
  constexpr std::size_t record = std::size_t{64} << 20;  // events::record_bytes_max
  const std::size_t one_check = limits::message.size() + limits::pod_set_updates_text.size() + 1'000;
  const std::size_t one_workload = limits::workload_checks.size() * one_check + 4 * limits::message.size() + limits::facts.size() * 20;
  EXPECT_LT(2 * limits::step.size() + one_workload, record / 2);
}

}  // namespace
}  // namespace hindsight::admission::testing
