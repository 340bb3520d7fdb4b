// A node that only looks on (issue 21, section 2: `run --observe`): its state follows what another controller makes of the cluster, what it
// would decide are notes that change no state, and nothing is wanted of the cluster.

#include <algorithm>
#include <string>
#include <vector>

#include "replay/verify.hpp"
#include "tests/actors/foreign_controller.hpp"
#include "tests/actors/node_fixture.hpp"

namespace hindsight::actors::testing {
namespace {

class Observing : public NodeFixture {
 protected:
  Observing() { options.observes = true; }

  [[nodiscard]] std::vector<std::shared_ptr<const events::Record>> notes() const {
    std::vector<std::shared_ptr<const events::Record>> out;
    for (auto& r : records())
      if (std::holds_alternative<DecisionsNoted>(r->view().body)) out.push_back(r);
    return out;
  }
  /// Names of the Workloads of which notes say that they would get quota, in the order of the notes.
  [[nodiscard]] std::vector<std::string> would_admit() const {
    std::vector<std::string> out;
    for (const auto& r : notes())
      for (const Event& e : std::get<DecisionsNoted>(r->view().body).events)
        if (const auto* q = std::get_if<QuotaReserved>(&e)) out.emplace_back(q->workload.name);
    return out;
  }
  [[nodiscard]] std::vector<std::string> withdrawn() const {
    std::vector<std::string> out;
    for (const auto& r : notes())
      for (const auto& w : std::get<DecisionsNoted>(r->view().body).withdrawn) out.emplace_back(w.name);
    return out;
  }
  /// Names of the Workloads about which the other controller decided what would not have been decided, in the order of the notes.
  [[nodiscard]] std::vector<std::string> would_not() const {
    std::vector<std::string> out;
    for (const auto& r : notes())
      for (const auto& w : std::get<DecisionsNoted>(r->view().body).would_not) out.emplace_back(w.name);
    return out;
  }
  /// Sequence of the first observation that shows an admission.
  [[nodiscard]] std::uint64_t first_admission() const {
    for (const auto& r : records())
      if (const auto* o = std::get_if<Observation>(&r->view().body))
        if (const auto* w = std::get_if<WorkloadObserved>(o); w != nullptr && w->has_admission) return r->view().envelope.sequence;
    return 0;
  }
  /// Each note stands in the log, changed nothing, and is found again by whoever has the log.
  void expect_sound_log() {
    EXPECT_EQ(count_bodies<Decisions>(), 0U);
    EXPECT_TRUE(intents.empty()) << "nothing is wanted of a cluster that another one acts upon";
    expect_state_of_log();
    const auto report = replay::verify(log, options.domain);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_TRUE(report->clean()) << (report->mismatches.empty() ? "" : report->mismatches[0].difference.recorded);
    EXPECT_EQ(report->notes, notes().size());
    EXPECT_EQ(report->judged_notes, report->notes);
  }

  ForeignController kueue;
};

TEST_F(Observing, ItsStateFollowsTheOtherControllerAndItsOwnDecisionsAreNotes) {
  start();
  set_up_queue(2'000);
  const auto w1 = facts.workload("w1", "lq", 1'000);
  observe(w1);
  rest();
  EXPECT_EQ(admitted(), 0) << "nobody has admitted it yet";
  EXPECT_EQ(would_admit(), std::vector<std::string>{"w1"});
  const auto noted = notes();
  ASSERT_FALSE(noted.empty());
  const auto& note = std::get<DecisionsNoted>(noted[0]->view().body);
  EXPECT_EQ(noted[0]->view().envelope.epoch, 1U);
  EXPECT_EQ(noted[0]->view().envelope.cause, note.base);
  EXPECT_NE(note.rules, 0U);
  for (const auto& r : records()) {
    const auto* started = std::get_if<EpochStarted>(&r->view().body);
    EXPECT_TRUE(started == nullptr || started->observes);
  }

  observe(kueue.admitted(w1, "cq", "default", facts.now));
  rest();
  EXPECT_EQ(admitted(), 1);
  EXPECT_TRUE(withdrawn().empty()) << "it came about";
  EXPECT_EQ(node->status().notes, notes().size());
  EXPECT_EQ(node->status().decisions, 0U);
  expect_sound_log();
}

TEST_F(Observing, OfOneRoundOfNewsThereIsAtMostOneNoteAndOfNoNewsNone) {
  start();
  set_up_queue(2'000);
  for (int i = 0; i < 5; ++i) observe(facts.workload("w" + std::to_string(i), "lq", 1'000));
  rest();
  const std::size_t before = notes().size();
  EXPECT_GE(before, 1U);
  EXPECT_LE(before, records().size() - before) << "a look follows on a record that is no note";
  for (std::uint64_t i = 0; i < 20; ++i) {
    auto n = facts.namespace_();
    std::get<NamespaceObserved>(n).meta.resource_version = 10 + i;
    observe(n);
    rest();
  }
  EXPECT_EQ(notes().size(), before) << "the world is another one, and what would be decided is the same";
  EXPECT_EQ(would_admit(), (std::vector<std::string>{"w0", "w1"})) << "only two fit";
  expect_sound_log();
}

// Kueue decides within milliseconds: what it does may be in the log before anybody had the time to look.
TEST_F(Observing, FindsOutWhatItWouldDecideBeforeItAppliesWhatTheOtherOneDecided) {
  start();
  set_up_queue(2'000);
  rest();
  const auto w1 = facts.workload("w1", "lq", 1'000), w2 = facts.workload("w2", "lq", 1'000);
  const std::vector<Observation> at_once{w1, w2, kueue.admitted(w1, "cq", "default", facts.now),
                                         kueue.admitted(w2, "cq", "default", facts.now)};
  ASSERT_NE(node->observe(at_once), Credit::stopped);
  rest();
  EXPECT_EQ(admitted(), 2);
  auto would = would_admit();
  std::sort(would.begin(), would.end());
  EXPECT_EQ(would, (std::vector<std::string>{"w1", "w2"}));
  for (const auto& r : notes()) {
    const auto& note = std::get<DecisionsNoted>(r->view().body);
    const bool admits = !note.events.empty() && std::holds_alternative<QuotaReserved>(note.events[0]);
    EXPECT_TRUE(!admits || note.base < first_admission()) << note.base;
  }
  expect_sound_log();
}

// A burst of what Hindsight would not have done. Of what was looked at a note says so; of what was not, nothing does, and who compares says
// that nobody looked (tests/projections/beside_test.cpp).
TEST_F(Observing, SaysOfWhatItWouldNotHaveDoneThatItLooked) {
  start();
  set_up_queue(1'000);
  const auto first = facts.workload("first", "lq", 1'000, 10), second = facts.workload("second", "lq", 1'000, 0);
  observe(first);
  observe(second);
  rest();
  const auto runs = kueue.admitted(second, "cq", "default", facts.now);
  observe(runs);
  rest();
  EXPECT_EQ(would_not(), std::vector<std::string>{"second"});
  for (const auto& r : notes()) {
    const auto& note = std::get<DecisionsNoted>(r->view().body);
    if (!note.would_not.empty()) {
      EXPECT_EQ(note.base + 1, first_admission()) << "the moment before it";
      EXPECT_TRUE(note.events.empty());
    }
  }
  const auto goes = kueue.evicted(runs, "PodsReadyTimeout", facts.now);
  observe(goes);
  rest();
  EXPECT_EQ(would_not(), (std::vector<std::string>{"second", "second"})) << "an eviction is a decision as well";
  observe(kueue.released(goes, facts.now));
  rest();
  EXPECT_EQ(would_not().size(), 2U) << "that it gives its quota back is none";
  expect_sound_log();
}

TEST_F(Observing, AnotherFlavorIsNotWhatItWouldHaveDone) {
  start();
  set_up_queue(1'000);
  const auto w = facts.workload("w", "lq", 1'000);
  observe(w);
  rest();
  observe(kueue.admitted(w, "cq", "another", facts.now));
  rest();
  EXPECT_EQ(would_not(), std::vector<std::string>{"w"});
  expect_sound_log();
}

// A look copies the state; a burst of decisions that no look has come to must not cost one each.
TEST_F(Observing, ABurstOfWhatNobodyForesawCostsNoLookEachWhereTheyMayNot) {
  options.unpaced_looks_max = {};
  start();
  set_up_queue(1'000);
  rest();
  constexpr int burst = 200;
  std::vector<Observation> at_once;
  for (int i = 0; i < burst; ++i) {
    const auto w = facts.workload("w" + std::to_string(i), "lq", 1'000);
    at_once.push_back(w);
    at_once.push_back(kueue.admitted(w, "cq", "another", facts.now));
  }
  const auto looks_before = node->status().looks;
  ASSERT_NE(node->observe(at_once), Credit::stopped);
  rest();
  EXPECT_EQ(admitted(), burst) << "its state follows all the same";
  const auto looks = node->status().looks - looks_before;
  EXPECT_LE(looks, burst / 2U) << "only those that have their pause";
  EXPECT_LE(would_not().size(), looks) << "it claims nothing of what it did not look at";
  expect_sound_log();
}

TEST_F(Observing, AsManyLooksWithoutAPauseAsThereIsTimeForAreMade) {
  options.unpaced_looks_max = std::chrono::hours(1);
  start();
  set_up_queue(1'000);
  rest();
  constexpr int burst = 50;
  std::vector<Observation> at_once;
  for (int i = 0; i < burst; ++i) {
    const auto w = facts.workload("w" + std::to_string(i), "lq", 1'000);
    at_once.push_back(w);
    at_once.push_back(kueue.admitted(w, "cq", "another", facts.now));
  }
  ASSERT_NE(node->observe(at_once), Credit::stopped);
  rest();
  EXPECT_EQ(would_not().size(), static_cast<std::size_t>(burst));
  expect_sound_log();
}

// Steps that follow on each other are found on a copy of the state, so that who does not fit holds nobody up.
TEST_F(Observing, LooksAtWhoWaitsBehindThoseThatDoNotFit) {
  start();
  set_up_queue(2'000);
  observe(facts.workload("huge", "lq", 5'000));
  for (int i = 0; i < 3; ++i) observe(facts.workload("w" + std::to_string(i), "lq", 1'000));
  rest();
  EXPECT_EQ(would_admit(), (std::vector<std::string>{"w0", "w1"}));
  EXPECT_EQ(admitted(), 0);
  expect_sound_log();
}

TEST_F(Observing, NamesWhomItWouldPreempt) {
  start();
  set_up_queue(1'000, PreemptionPolicy::lower_priority);
  const auto low = facts.workload("low", "lq", 1'000, 0);
  observe(low);
  observe(kueue.admitted(low, "cq", "default", facts.now));
  rest();
  observe(facts.workload("high", "lq", 1'000, 10));
  rest();
  std::size_t preemptions = 0;
  for (const auto& r : notes())
    for (const Event& e : std::get<DecisionsNoted>(r->view().body).events)
      if (const auto* p = std::get_if<WorkloadPreempted>(&e)) {
        ++preemptions;
        EXPECT_EQ(p->workload.name, "low");
        EXPECT_EQ(p->preemptor.name, "high");
      }
  EXPECT_EQ(preemptions, 1U);
  EXPECT_EQ(admitted(), 1) << "the victim runs on, for the other controller has not preempted it";
  expect_sound_log();
}

TEST_F(Observing, TakesBackWhatItWouldNotDoAnyMore) {
  start();
  set_up_queue(1'000);
  observe(facts.workload("w1", "lq", 1'000));
  rest();
  observe(facts.queue("cq", 500));
  rest();
  EXPECT_EQ(withdrawn(), std::vector<std::string>{"w1"});
  observe(facts.queue("cq", 1'000));
  rest();
  EXPECT_EQ(would_admit(), (std::vector<std::string>{"w1", "w1"})) << "it was no news the first time, and is some now";
  expect_sound_log();
}

TEST_F(Observing, GoesOnInItsLogAfterARestartAndNotesNothingAnew) {
  start();
  set_up_queue(1'000);
  observe(facts.workload("w1", "lq", 1'000));
  rest();
  const std::size_t before = notes().size();
  ASSERT_TRUE(node->stop());
  start();
  rest();
  EXPECT_EQ(notes().size(), before);
  observe(facts.workload("w2", "lq", 500, 100));
  rest();
  EXPECT_GT(notes().size(), before);
  expect_sound_log();
}

TEST_F(Observing, RefusesALogWithDecisionsUnlessItIsToldTo) {
  options.observes = false;
  start();
  set_up_queue(1'000);
  observe(facts.workload("w1", "lq", 1'000));
  rest();
  ASSERT_TRUE(node->stop());
  options.observes = true;
  start();
  const auto refused = node->wait();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::conflict);
  EXPECT_NE(refused.error().message.find("found decisions in"), std::string::npos) << refused.error().message;
  EXPECT_NE(refused.error().message.find("--switch-mode"), std::string::npos) << refused.error().message;
  const std::size_t before = records().size();
  (void)node->stop();
  options.switches_mode = true;
  start();
  rest();
  EXPECT_GT(records().size(), before);
}

TEST_F(Observing, ARunThatDecidesRefusesALogOfNotesUnlessItIsToldTo) {
  start();
  set_up_queue(1'000);
  observe(facts.workload("w1", "lq", 1'000));
  rest();
  ASSERT_TRUE(node->stop());
  options.observes = false;
  start();
  const auto refused = node->wait();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("found notes of a run with --observe"), std::string::npos) << refused.error().message;
  (void)node->stop();
  options.switches_mode = true;
  start();
  rest();
  EXPECT_EQ(admitted(), 1) << "it takes over what was observed, and decides";
  ASSERT_TRUE(node->stop());
  options.switches_mode = false;
  start();
  rest();
  EXPECT_EQ(admitted(), 1) << "from then on the log is one of decisions";
}

// What is overdue stays undone, and is no reason to wake up again and again.
TEST_F(Observing, TimersThatHavePassedWakeNobodyTwice) {
  start();
  set_up_queue(1'000);
  observe(facts.workload("w1", "lq", 1'000));
  rest();
  const std::size_t before = records().size();
  ASSERT_TRUE(node->advance_to(*clock, facts.now + Duration::seconds(3600)));
  EXPECT_LE(records().size(), before + 10);
  expect_sound_log();
}

}  // namespace
}  // namespace hindsight::actors::testing
