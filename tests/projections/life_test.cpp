// The account of a Workload's time: every moment of it is in one span, and each loss has its cause.

#include "projections/life.hpp"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "admission/domain/domain.hpp"
#include "tests/projections/reading.hpp"
#include "tests/projections/simulated.hpp"

namespace hindsight::projections {
namespace {

using SpanKind = LifeSpan::Kind;
using Lines = std::vector<std::string>;

/// The spans follow each other from the creation to the end, and their sums are the whole.
void expect_sums(const Life& life, const std::string& where = {}) {
  Time at = life.created;
  for (const auto& span : life.spans) {
    EXPECT_EQ(span.from, at) << where;
    EXPECT_LE(span.from, span.to) << where;
    at = span.to;
  }
  EXPECT_EQ(at, life.until) << where;
  EXPECT_EQ(life.waited().micros + life.ran().micros + life.stopped().micros + life.unknown().micros, life.total().micros) << where;
  EXPECT_LE(life.lost(), life.ran()) << where;
}

std::int64_t whole_seconds(const LifeSpan& span) { return (span.to - span.from).micros / 1'000'000; }

/// "quota 8s for quota of default/cpu"
Lines told(const Life& life) {
  static constexpr std::array<const char*, 11> names{"unknown",  "turn",     "quota",  "victims", "others_ready", "held",
                                                     "back_off", "inactive", "checks", "running", "stopping"};
  Lines out;
  for (const auto& span : life.spans)
    out.push_back(std::string(names.at(static_cast<std::size_t>(span.kind))) + " " + std::to_string(whole_seconds(span)) + "s" +
                  (span.words.empty() ? "" : " " + span.words));
  return out;
}

// ---- from records -------------------------------------------------------------------------------------------------------------------

constexpr const char* lacks_4_cpu =
    "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor default, 4 more needed";
constexpr const char* lacks_2_cpu =
    "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor default, 2 more needed";

/// Records about default/w, uid "u", of LocalQueue lq of ClusterQueue cq. Offsets are 1, 2, 3, ...
class LifeFromRecords : public ::testing::Test {
 protected:
  static constexpr WorkloadRef u{.uid = "u", .namespace_ = "default", .name = "w"};

  static WorkloadRef other(Text name) { return {.uid = name, .namespace_ = "default", .name = name}; }
  static WorkloadObserved seen(std::uint64_t version) {
    WorkloadObserved o;
    o.meta.namespace_ = "default";
    o.meta.name = "w";
    o.meta.uid = "u";
    o.meta.resource_version = version;
    o.queue_name = "lq";
    return o;
  }
  static EntryRequeued tried(Text reason, Text message) {
    EntryRequeued e;
    e.workload = u;
    e.cluster_queue = "cq";
    e.reason = reason;
    e.message = message;
    return e;
  }
  static QuotaReserved reserved(WorkloadRef w, Text queue = "cq", bool admitted = true) {
    QuotaReserved e;
    e.workload = w;
    e.cluster_queue = queue;
    e.admitted = admitted;
    return e;
  }
  static WorkloadPreempted preempted(WorkloadRef victim, WorkloadRef by, Text reason = "InCohortReclamation") {
    return {.workload = victim, .preemptor = by, .preemptor_cluster_queue = "b", .reason = reason, .message = "to make room"};
  }
  static ReservationCleared cleared(Text requeued_reason, bool requeued) {
    ReservationCleared e;
    e.workload = u;
    e.reason = "PendingEvaluation";
    e.message = "evicted";
    e.writes_requeued = true;
    e.requeued = requeued;
    e.requeued_reason = requeued_reason;
    e.requeued_message = "evicted";
    return e;
  }
  static WorkloadFinished finished() { return {u, "Succeeded", "Job finished successfully"}; }

  void after(std::int64_t n) { now = now + Duration::seconds(n); }
  void put(Body body, std::uint64_t sequence, std::uint64_t epoch) {
    RecordView r;
    r.envelope = {.domain = "default", .sequence = sequence, .epoch = epoch, .time = now};
    r.body = std::move(body);
    trail.add(++offset, r);
  }
  void observe(Observation o) { put(std::move(o), offset + 1, 1); }
  void decide(const std::vector<Event>& events) {
    put(Decisions{.base = offset, .step = StepKind::cycle, .events = events}, offset + 1, 1);
  }
  void begin() {
    LocalQueueObserved q;
    q.meta.namespace_ = "default";
    q.meta.name = "lq";
    q.cluster_queue = "cq";
    observe(q);
    observe(seen(1));
  }
  Life life() { return trail.life("u", now).value(); }

  Time now = Time::from_seconds(1'767'225'600);  // 2026-01-01T00:00:00Z
  std::uint64_t offset = 0;
  Trail trail{parse_target("default/w", "default").value()};
};

TEST_F(LifeFromRecords, WaitedRanAndLost) {
  begin();
  after(2);
  decide({tried("WaitingForQuota", lacks_4_cpu)});
  after(3);
  decide({reserved(other("x"))});
  after(1);
  decide({reserved(other("y"), "b")});  // of another queue: it passed nobody by
  after(1);
  decide({tried("WaitingForQuota", lacks_2_cpu)});  // the same lack
  after(3);
  decide({reserved(u)});
  after(10);
  decide({preempted(u, other("p"))});
  after(1);
  decide({cleared("Preempted", true)});
  after(4);
  decide({reserved(u)});
  after(20);
  decide({finished()});
  after(100);  // nothing comes to that

  const Life l = life();
  expect_sums(l);
  EXPECT_EQ(told(l), (Lines{"turn 2s for its turn", "quota 8s for quota of default/cpu", "running 10s", "stopping 1s",
                            "turn 4s for its turn", "running 20s"}));
  EXPECT_EQ(l.spans[1].lacks, (std::vector<std::pair<std::string, std::string>>{{"default", "cpu"}}));
  EXPECT_EQ(l.spans[1].offset, 3U);
  EXPECT_EQ(l.spans[1].names, (Lines{"default/x"}));
  EXPECT_EQ(l.end, "finished: Succeeded");
  EXPECT_EQ(life_lines(l), (Lines{
                               "Life: 45s, from 2026-01-01T00:00:00.000000Z to 2026-01-01T00:00:45.000000Z",
                               "  waited 14s:",
                               "    8s for quota of default/cpu; meanwhile quota was given to default/x in its ClusterQueue",
                               "    6s for its turn",
                               "  ran 30s in 2 runs, 10s of it lost:",
                               "    10s to preemption by default/p of ClusterQueue b (InCohortReclamation) at 8",
                               "  took 1s to stop after it was evicted",
                           }));
  const Json j = to_json(l);
  EXPECT_EQ(j["totalMicros"], 45'000'000);
  EXPECT_EQ(j["waitedMicros"], 14'000'000);
  EXPECT_EQ(j["ranMicros"], 30'000'000);
  EXPECT_EQ(j["lostMicros"], 10'000'000);
  EXPECT_EQ(j["stoppedMicros"], 1'000'000);
  EXPECT_EQ(j["end"], "finished: Succeeded");
  EXPECT_EQ(j["losses"][0]["by"]["workload"], "default/p");
  std::int64_t sum = 0;
  for (const auto& span : j["spans"]) sum += span["micros"].get<std::int64_t>();
  EXPECT_EQ(sum, 45'000'000);
}

TEST_F(LifeFromRecords, EveryWaitHasItsReason) {
  begin();
  decide({ConditionChanged{u, ConditionType::quota_reserved, ConditionStatus::false_, "AdmissionGated", "Admission is gated by: x"}});
  after(5);
  decide({ConditionChanged{u, ConditionType::quota_reserved, ConditionStatus::false_, "PendingEvaluation", "gate cleared"}});
  after(1);
  std::array<CheckFacts, 1> checks{CheckFacts{.name = "prov"}};
  auto held = reserved(u, "cq", false);
  held.checks = checks;
  held.checks_changed = true;
  decide({held});
  after(7);
  checks[0].state = CheckState::ready;
  decide({ChecksChanged{u, checks}, WorkloadAdmitted{u}});
  after(30);
  WorkloadEvicted evicted;
  evicted.workload = u;
  evicted.reason = "PodsReadyTimeout";
  evicted.message = "Exceeded the PodsReady timeout default/w";
  evicted.has_requeue_state = true;
  evicted.requeue_count = 1;
  evicted.requeue_at = now + Duration::seconds(60);
  decide({evicted, cleared("PodsReadyTimeout", false)});
  after(60);
  decide({RequeueStateChanged{u, true, 1, Time::never()},
          ConditionChanged{u, ConditionType::requeued, ConditionStatus::true_, "BackoffFinished", "The workload backoff was finished"}});
  after(2);
  decide({preempted(other("v"), u, "InClusterQueue"), tried("WaitingForPreemptedWorkloads", "Pending the preemption of 1 workload(s)")});
  after(4);
  decide({reserved(u)});
  after(6);

  const Life l = life();
  expect_sums(l);
  EXPECT_EQ(told(l), (Lines{"held 5s held back: Admission is gated by: x", "turn 1s for its turn", "checks 7s for admission check prov",
                            "running 30s", "back_off 60s backing off after PodsReadyTimeout", "turn 2s for its turn",
                            "victims 4s for those that it preempted to stop", "running 6s"}));
  EXPECT_EQ(l.spans[2].checks, (Lines{"prov"}));
  EXPECT_TRUE(l.end.empty());
  EXPECT_EQ(life_lines(l), (Lines{
                               "Life: 1m55s so far, since 2026-01-01T00:00:00.000000Z",
                               "  waited 1m19s:",
                               "    1m0s backing off after PodsReadyTimeout",
                               "    7s for admission check prov",
                               "    5s held back: Admission is gated by: x",
                               "    4s for those that it preempted to stop: default/v",
                               "    3s for its turn",
                               "  ran 36s in 2 runs, 30s of it lost:",
                               "    30s to eviction: PodsReadyTimeout at 7",
                           }));
}

TEST_F(LifeFromRecords, AnInactiveOneWaitsAsSuch) {
  begin();
  after(1);
  decide({WorkloadDeactivated{u}});
  after(8);
  WorkloadObserved o = seen(2);
  o.active = false;
  observe(o);  // it is written
  after(1);
  observe(seen(3));  // its user sets it active
  after(2);
  EXPECT_EQ(told(life()), (Lines{"turn 1s for its turn", "inactive 9s inactive", "turn 2s for its turn"}));
  expect_sums(life());
  EXPECT_FALSE(life().was_admitted());
}

// Our own writes that are not confirmed yet are not undone by older observations, and what others clear counts.
TEST_F(LifeFromRecords, WhatOthersWriteCounts) {
  begin();
  decide({reserved(u)});
  after(3);
  observe(seen(2));  // from before the write
  after(4);
  WorkloadObserved o = seen(3);
  o.has_admission = true;
  o.admission_cluster_queue = "cq";
  const Time then = Time::from_seconds(1'767'225'600);
  const std::array<ConditionFacts, 2> conditions{
      ConditionFacts{ConditionType::quota_reserved, ConditionStatus::true_, "QuotaReserved", "Quota reserved in ClusterQueue cq", then},
      ConditionFacts{ConditionType::admitted, ConditionStatus::true_, "Admitted", "The workload is admitted", then}};
  o.conditions = conditions;
  observe(o);
  after(5);
  observe(seen(4));  // somebody took it all away
  after(1);
  const Life l = life();
  expect_sums(l);
  EXPECT_EQ(told(l), (Lines{"running 12s", "turn 1s for its turn"}));
  ASSERT_EQ(l.losses.size(), 1U);
  EXPECT_EQ(l.losses[0].lost, Duration::seconds(12));
  EXPECT_EQ(life_lines(l).back(), "    12s because its admission was cleared at 6");
}

// BA-75: the reservation that could not be written is none
TEST_F(LifeFromRecords, ARefusedAdmissionIsNoRun) {
  begin();
  decide({reserved(u)});
  after(2);
  observe(WriteRefused{ObjectKind::workload, "default", "w", "u", 3, 422, "no"});
  decide({reserved(u)});
  after(5);
  const Life l = life();
  expect_sums(l);
  EXPECT_EQ(told(l), (Lines{"turn 2s for its turn, while an admission could not be written", "running 5s"}));
  EXPECT_TRUE(l.losses.empty());
}

TEST_F(LifeFromRecords, TimeThatTheLogDoesNotTellOfIsUnknown) {
  WorkloadObserved o = seen(1);
  o.meta.created = now - Duration::seconds(50);
  observe(o);
  after(5);
  observe(ObjectDeleted{ObjectKind::workload, "default", "w", "u", "cluster/b"});
  after(10);
  Life l = life();
  expect_sums(l);
  EXPECT_EQ(l.end, "moved to domain cluster/b");
  EXPECT_EQ(told(l), (Lines{"unknown 50s", "turn 5s for its turn"}));
  observe(seen(9));  // it is back
  after(1);
  l = life();
  expect_sums(l);
  EXPECT_EQ(told(l), (Lines{"unknown 50s", "turn 5s for its turn", "unknown 10s", "turn 1s for its turn"}));
  EXPECT_EQ(life_lines(l).back(), "  was out of sight of this log for 1m0s");
  observe(ObjectDeleted{ObjectKind::workload, "default", "w", "u", ""});
  EXPECT_EQ(life().end, "deleted");
  EXPECT_FALSE(trail.life("nobody", now).has_value());
}

TEST_F(LifeFromRecords, RecordsThatDoNotCountAreLeftOut) {
  const auto admits = [] { return std::vector<Event>{reserved(u)}; };
  const auto ends = [] { return std::vector<Event>{finished()}; };
  const auto first = admits(), last = ends();
  put(seen(1), 1, 2);
  put(Decisions{.base = 1, .step = StepKind::cycle, .events = first}, 2, 1);  // of a writer that was replaced
  after(1);
  EXPECT_EQ(told(life()), (Lines{"turn 1s for its turn"}));
  put(Decisions{.base = 1, .step = StepKind::cycle, .events = first}, 2, 2);
  after(1);
  put(Decisions{.base = 1, .step = StepKind::life_cycle, .events = last}, 3, 2);  // an append that was repeated
  EXPECT_EQ(told(life()), (Lines{"turn 1s for its turn", "running 1s"}));
  EXPECT_TRUE(life().end.empty());
  put(Decisions{.base = 3, .step = StepKind::life_cycle, .events = last}, 4, 2);
  EXPECT_EQ(life().end, "finished: Succeeded");
}

TEST_F(LifeFromRecords, LongListsAreCutAndSaySo) {
  begin();
  for (int i = 0; i < 8; ++i) {
    decide({reserved(u)});
    after(1);
    decide({preempted(u, other("p"))});
    decide({cleared("Preempted", true)});
    decide({reserved(other("x")), reserved(other("y")), reserved(other("z")), reserved(other("q"))});
    after(1);
  }
  const Life l = life();
  expect_sums(l);
  const auto lines = life_lines(l);
  ASSERT_EQ(lines.size(), 10U);
  EXPECT_EQ(lines[2],
            "    8s for its turn; meanwhile quota was given 32 times in its ClusterQueue, first to default/x, default/y, default/z");
  EXPECT_EQ(lines[3], "  ran 8s in 8 runs, all of it lost:");
  EXPECT_EQ(lines[9], "    3s by 3 more");
}

TEST(ExactDuration, LosesNothing) {
  EXPECT_EQ(exact_duration(Duration{0}), "0s");
  EXPECT_EQ(exact_duration(Duration{1}), "0.000001s");
  EXPECT_EQ(exact_duration(Duration::millis(250)), "0.25s");
  EXPECT_EQ(exact_duration(Duration::seconds(60)), "1m0s");
  EXPECT_EQ(exact_duration(Duration::seconds(3600)), "1h0m0s");
  EXPECT_EQ(exact_duration(Duration::millis(26 * 3'600'000 + 3500)), "26h0m3.5s");
  for (const std::int64_t micros : {1LL, 999'999LL, 61'000'001LL, 86'400'000'000LL})
    EXPECT_EQ(parse_duration(exact_duration(Duration{micros})).value().micros, micros);
}

// ---- from whole logs ------------------------------------------------------------------------------------------------------------------

TEST(LifeOfAJob, OneThatWasPreemptedSaysByWhomAndWhatThatCost) {
  Played run(basics + queue_text({.name = "cq", .more = "  preemption: {withinClusterQueue: LowerPriority}\n"}) +
             job_text({.name = "low", .cpu = "4"}) +
             job_text({.name = "urgent", .cpu = "4", .arrives = 10, .runs = 30, .priority_class = "high"}));
  const Why low = run.why("job/low", run.end());
  ASSERT_TRUE(low.life.has_value());
  const Life& l = *low.life;
  expect_sums(l);
  EXPECT_EQ(l.end, "finished: Succeeded");
  ASSERT_EQ(l.losses.size(), 1U);
  EXPECT_EQ(l.losses[0].offset, run.first<WorkloadPreempted>());
  EXPECT_TRUE(l.losses[0].by.starts_with("default/job-urgent-")) << l.losses[0].by;
  EXPECT_EQ(l.lost(), Duration::seconds(10));
  EXPECT_EQ(l.ran(), Duration::seconds(70));
  EXPECT_EQ(l.waited(), Duration::millis(30'100));
  const auto wait = std::find_if(l.spans.begin(), l.spans.end(), [](const LifeSpan& s) { return s.kind == SpanKind::quota; });
  ASSERT_NE(wait, l.spans.end());
  EXPECT_EQ(wait->names, (Lines{l.losses[0].by}));
  const auto text = to_text(low);
  EXPECT_NE(text.find("\n  ran 1m10s in 2 runs, 10s of it lost:\n"), std::string::npos) << text;
  EXPECT_EQ(to_json(low)["life"]["lostMicros"], 10'000'000);
  // open spans count to the moment that is asked for
  const Why then = run.why("job/low", run.at(20));
  ASSERT_TRUE(then.life.has_value());
  expect_sums(*then.life);
  EXPECT_TRUE(then.life->end.empty());
  EXPECT_EQ(then.life->until, run.state(run.at(20)).now());
}

TEST(LifeOfAJob, OneThatWasNeverAdmittedHasNothingToTellBesideItsWait) {
  Played run(basics + queue_text({.name = "cq"}) + job_text({.name = "huge", .cpu = "40"}));
  const Why huge = run.why("job/huge", run.end());
  EXPECT_EQ(huge.phase, Phase::pending);
  EXPECT_FALSE(huge.life.has_value());
  EXPECT_FALSE(to_json(huge).contains("life"));
}

/// Is what the account says of the present what the state says?
bool agrees(Phase phase, const admission::WorkloadState& w, const Life& life) {
  if (phase == Phase::finished) return life.end.starts_with("finished");
  if (!life.end.empty() || life.spans.empty()) return false;
  const LifeSpan& last = life.spans.back();
  switch (phase) {
    case Phase::pending:
      return last.is_wait() && last.kind != SpanKind::checks && last.kind != SpanKind::inactive;
    case Phase::inactive:
      return last.kind == SpanKind::inactive || (w.deleting && last.kind == SpanKind::held);
    case Phase::quota_reserved:
      return last.kind == SpanKind::checks;
    case Phase::admitted:
      return last.kind == SpanKind::running;
    case Phase::evicted:
      return last.kind == SpanKind::stopping;
    case Phase::finished:
      break;
  }
  return false;
}

/// After every record the account of each Workload adds up, and ends with the phase that the whole fold finds.
void expect_accounts_follow_the_state(const std::string& example) {
  const Played run(std::vector<std::string>{example});
  std::set<std::pair<std::string, std::string>> names;
  run.each([&](events::Position, const RecordView& r) {
    const auto* o = std::get_if<Observation>(&r.body);
    const auto* w = o == nullptr ? nullptr : std::get_if<WorkloadObserved>(o);
    if (w != nullptr) names.emplace(w->meta.namespace_, w->meta.name);
  });
  ASSERT_FALSE(names.empty());
  std::vector<std::pair<Target, Trail>> all;
  for (const auto& [namespace_, name] : names) {
    const Target target = parse_target(namespace_ + "/" + name, "default").value();
    all.emplace_back(target, Trail(target));
  }
  std::size_t compared = 0;
  replay::Past past(run.log, "default");
  past.look_on({}, [&](events::Position offset, const RecordView& r) {
    for (auto& [target, trail] : all) {
      trail.add(offset, r);
      const auto at = find_workload(past.driver(), target);
      if (!at || ::testing::Test::HasFailure()) continue;
      const std::string where = target.text() + " at " + std::to_string(offset);
      const auto life = trail.life(at->workload->uid, past.driver().now());
      ASSERT_TRUE(life.has_value()) << where;
      expect_sums(*life, where);
      const Phase phase = phase_of(*at->workload);
      EXPECT_TRUE(agrees(phase, *at->workload, *life))
          << where << ": the state says " << name_of(phase) << ", the account " << ::testing::PrintToString(told(*life)) << life->end;
      ++compared;
    }
  });
  EXPECT_TRUE(past.fold_to(run.end()));
  EXPECT_GT(compared, names.size());
}

TEST(LifeOfAJob, AccountsFollowTheStateOnTheQuickStart) { expect_accounts_follow_the_state("examples/quickstart"); }
TEST(LifeOfAJob, AccountsFollowTheStateWithTopologies) { expect_accounts_follow_the_state("examples/topology"); }
TEST(LifeOfAJob, AccountsFollowTheStateOfFamilies) { expect_accounts_follow_the_state("examples/concurrent-admission"); }

}  // namespace
}  // namespace hindsight::projections
