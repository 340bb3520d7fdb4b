// What the API server refuses for good, or takes without becoming what is wanted: it is tried ever more rarely, and told as often as it is
// news, so that an object that cannot be written costs neither the server nor the log more than a little, for as long as it is there.

#include "tests/connectors/bridge/bridge_fixture.hpp"

namespace hindsight::connectors {
namespace {

using test::admission_of;
using test::asks_nothing;
using test::status_of;
using Lines = std::vector<std::string>;

class Refusals : public test::BridgeTest {
 protected:
  void wait(int seconds) {
    for (int i = 0; i < seconds; ++i) bridge_.retry();
  }
  static admission::WorkloadIntent inactive(std::uint64_t decision = 1) {
    admission::WorkloadIntent out;
    out.uid = "uid-w";
    out.namespace_ = "ns";
    out.name = "w";
    out.set_active = false;
    out.decision_sequence = decision;
    return out;
  }
  static std::string job(const std::string& version, const std::string& annotation = "") {
    return R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"namespace":"ns","name":"j","uid":"u","resourceVersion":")" + version +
           R"(","annotations":{"note":")" + annotation +
           R"("}},"spec":{"suspend":true,"template":{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"4"}}}]}}}})";
  }
  static admission::JobIntent start(std::uint64_t decision) {
    auto out = job_intent();
    out.run = true;
    out.pod_sets = {{"main", 1, {}, {}, {}}};
    out.decision_sequence = decision;
    return out;
  }
  /// Status with a message, as the API server gives it.
  static std::string status(const std::string& message) { return Json{{"kind", "Status"}, {"message", message}}.dump(); }
};

// BA-75
TEST_F(Refusals, WhatWasRefusedIsTriedAgainEverMoreRarely) {
  add(types::workload, workload("w", "7", asks_nothing));
  bridge_.want({inactive()});
  for (const int wait : {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600, 3600}) {
    ASSERT_EQ(sent_.size(), 1U) << "before the wait of " << wait;
    answer(403);
    bridge_.want({inactive()});  // said again for some other reason
    EXPECT_EQ(bridge_.retries_until_next(), static_cast<std::uint32_t>(wait));
    this->wait(wait - 1);
    ASSERT_TRUE(sent_.empty()) << "within the wait of " << wait;
    bridge_.retry();
  }
  EXPECT_EQ(refused_, Lines{"w 403 HTTP 403 by 1"}) << "it stands in the log once";
  EXPECT_EQ(notices_.size(), 1U);
  ASSERT_EQ(sent_.size(), 1U);
  auto inactive = Json::parse(workload("w", "8", asks_nothing));
  inactive["spec"]["active"] = false;
  answer(200, inactive.dump());
  EXPECT_EQ(bridge_.retries_until_next(), 0U);
  EXPECT_EQ(bridge_.outstanding(), 0U);
}

// A refusal that was not told changes nothing in the state, so nobody says again that it is wanted.
TEST_F(Refusals, WhatIsNotToldAgainStaysWanted) {
  add(types::workload, workload("w", "7", asks_nothing));
  bridge_.want({inactive()});
  answer(403);
  EXPECT_EQ(bridge_.outstanding(), 0U) << "the state says again what it wants when it has read that";
  bridge_.want({inactive(2)});
  wait(1);
  answer(403);
  EXPECT_EQ(bridge_.outstanding(), 1U);
  wait(2);
  EXPECT_EQ(sent_.size(), 1U);
  EXPECT_EQ(refusals_seen_, 1);
}

TEST_F(Refusals, AnotherAnswerIsTold) {
  add(types::workload, workload("w", "7", asks_nothing));
  const auto say = [&](int code, const std::string& message) {
    bridge_.want({inactive()});
    for (int i = 0; i < 64 && sent_.empty(); ++i) bridge_.retry();
    answer(code, status(message));
  };
  for (int i = 0; i < 3; ++i) say(403, "no");
  for (int i = 0; i < 2; ++i) say(422, "no");
  say(422, "never");
  EXPECT_EQ(refused_, (Lines{"w 403 no by 1", "w 422 no by 1", "w 422 never by 1"}));
}

// The user has mended it, or has made it worse.
TEST_F(Refusals, AnObjectThatChangedIsTriedAtOnce) {
  add(types::job, job("3"));
  bridge_.want({start(1)});
  for (int i = 0; i < 6; ++i) {
    answer(422, status("the template is wrong"));
    bridge_.want({start(1)});
    for (int k = 0; k < 64 && sent_.empty(); ++k) bridge_.retry();
  }
  answer(422, status("the template is wrong"));
  EXPECT_EQ(refusals_seen_, 1);
  change(types::job, job("4"));
  EXPECT_TRUE(sent_.empty()) << "only its version is another one";
  change(types::job, job("5", "mended"));
  ASSERT_EQ(sent_.size(), 1U);
  answer(422, status("the template is wrong"));
  EXPECT_EQ(refusals_seen_, 2) << "of this object it was not known";
  bridge_.want({start(1)});
  for (int i = 6; i < 100; ++i) change(types::job, job(std::to_string(i), std::to_string(i)));
  EXPECT_TRUE(sent_.empty()) << "once a second";
  bridge_.retry();
  EXPECT_EQ(sent_.size(), 1U);
}

// What is wanted may change because of the refusal: then it would circle for ever.
TEST_F(Refusals, SomethingElseThatIsWantedIsTriedAtOnceButNotForEver) {
  add(types::workload, workload("w", "7", asks_nothing));
  auto intent = admission_of("w");
  bridge_.want({intent});
  int writes = 0;
  for (int second = 0; second < 200; ++second) {
    for (int i = 0; i < 3; ++i) {
      while (!sent_.empty()) {
        ++writes;
        answer(422);
      }
      intent.cluster_queue = "cq-" + std::to_string(second) + "-" + std::to_string(i);
      ++intent.decision_sequence;
      bridge_.want({intent});
    }
    bridge_.retry();
  }
  EXPECT_GE(writes, 8);
  EXPECT_LE(writes, 20);
  EXPECT_LE(refusals_seen_, 20);
  // All else as it was, the first change after a wait is tried without one.
  wait(3600);
  while (!sent_.empty()) answer(422);
  bridge_.retry();
  intent.cluster_queue = "the right one";
  bridge_.want({intent});
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(Json::parse(sent_[0].write.body)["status"]["admission"]["clusterQueue"], "the right one");
}

TEST_F(Refusals, WhatIsWantedByNowIsNotRefusedByTheAnswerToSomethingElse) {
  add(types::workload, workload("w", "7", asks_nothing));
  auto intent = admission_of("w");
  bridge_.want({intent});
  intent.cluster_queue = "other";
  bridge_.want({intent});  // while the first is under way
  answer(422);
  EXPECT_EQ(refusals_seen_, 0);
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(Json::parse(sent_[0].write.body)["status"]["admission"]["clusterQueue"], "other");
  answer(422);
  EXPECT_EQ(refusals_seen_, 1);
}

// Why something waits is said in other words whenever its queue changes.
TEST_F(Refusals, WordsForReadersAreNoReasonToHurry) {
  add(types::workload, workload("w", "7", asks_nothing));
  bridge_.want({status_of("w", "one")});
  answer(422);
  bridge_.want({status_of("w", "two")});
  EXPECT_TRUE(sent_.empty());
  bridge_.retry();
  EXPECT_EQ(sent_.size(), 1U);
}

// BA-75: a reservation that could not be written is taken back; that of a later decision is another one, which has to be taken back, too.
TEST_F(Refusals, AReservationOfALaterDecisionIsToldAgain) {
  add(types::workload, workload("w", "7", asks_nothing));
  auto intent = admission_of("w");
  for (const std::uint64_t decision : {5, 9, 9, 13}) {
    intent.decision_sequence = decision;
    bridge_.want({intent});
    for (int i = 0; i < 64 && sent_.empty(); ++i) bridge_.retry();
    answer(422);
  }
  EXPECT_EQ(refused_, (Lines{"w 422 HTTP 422 by 5", "w 422 HTTP 422 by 9", "w 422 HTTP 422 by 13"}));
}

// Nothing is taken back of one that stands in the status: it holds quota and runs.
TEST_F(Refusals, OfAReservationThatStandsInTheStatusTheRestIsToldOnce) {
  auto shown = Json::parse(workload("w", "7", asks_nothing));
  shown["status"]["admission"] = {{"clusterQueue", "cq"}, {"podSetAssignments", Json::array()}};
  add(types::workload, shown.dump());
  auto intent = admission_of("w");
  for (const std::uint64_t decision : {5, 9, 13}) {
    intent.decision_sequence = decision;
    bridge_.want({intent});
    for (int i = 0; i < 64 && sent_.empty(); ++i) bridge_.retry();
    answer(422);
  }
  EXPECT_EQ(refused_, Lines{"w 422 HTTP 422 by 5"});
}

// 5440 MR-51, MR-53: refused starts with other sizes are counted by the state.
TEST_F(Refusals, RefusedSizesAreToldAsOftenAsTheyAreCounted) {
  add(types::job, job("3"));
  add(types::workload, workload("w", "5", R"({"name":"c","resources":{"requests":{"cpu":"4"}}})"));
  auto intent = start(5);
  intent.workload_uid = "uid-w";
  intent.sizes = {{"main", "c", "cpu", 4000, 2000}};
  const auto refuse = [&] {
    bridge_.want({intent});
    for (int i = 0; i < 4000 && sent_.empty(); ++i) bridge_.retry();
    answer(422, status("field is immutable"));
  };
  for (int i = 0; i < 8; ++i) refuse();
  EXPECT_EQ(refusals_seen_, 4) << "the state gives up after three";
  intent.decision_sequence = 17;
  for (int i = 0; i < 8; ++i) refuse();
  EXPECT_EQ(refusals_seen_, 8) << "it has tried once more";
}

// No retry helps, and none is sent.
TEST_F(Refusals, WhatCannotBePlannedIsToldOnce) {
  add(types::job, job("3"));
  auto intent = start(5);
  intent.pod_sets = {};
  for (int i = 0; i < 5; ++i) {
    bridge_.want({intent});
    wait(10);
  }
  EXPECT_EQ(refused_, Lines{"j 0 Job ns/j: invalid podset infos: expecting 1 podset, got 0 by 5"});
  EXPECT_TRUE(sent_.empty());
  change(types::job, job("4", "another"));
  EXPECT_EQ(refusals_seen_, 2);
}

// ---- circles ----------------------------------------------------------------------------------------------------------------------------

/// The server says yes and keeps what it had: a webhook puts it back, or the definition does not know the field.
TEST_F(Refusals, WhatTheServerTakesWithoutChangingIsTriedEverMoreRarely) {
  const auto as_it_was = [](int version) { return workload("w", std::to_string(version), asks_nothing); };
  for (const bool rises : {false, true}) {
    SCOPED_TRACE(rises ? "with a new version each time" : "with the old version");
    int version = 7;
    add(types::workload, as_it_was(version));
    notices_.clear();
    int writes = 0;
    const auto serve = [&] {
      while (!sent_.empty()) {
        ++writes;
        if (rises) ++version;
        answer(200, as_it_was(version));
        if (rises) {
          change(types::workload, as_it_was(version));
          bridge_.want({inactive(static_cast<std::uint64_t>(version))});  // the state says so once more when it has seen that
        }
        ASSERT_LT(writes, 100);
      }
    };
    bridge_.want({inactive()});
    serve();
    EXPECT_EQ(writes, 12);
    for (int second = 0; second < 1000; ++second) {
      bridge_.retry();
      serve();
    }
    EXPECT_LE(writes, 12 + 3 * 10);
    EXPECT_LE(notices_.size(), 10U);
    EXPECT_EQ(bridge_.outstanding(), 1U);
    // It takes it at last.
    wait(3600);
    ASSERT_FALSE(sent_.empty());
    auto taken = Json::parse(as_it_was(++version));
    taken["spec"]["active"] = false;
    answer(200, taken.dump());
    EXPECT_EQ(bridge_.outstanding(), 0U);
    EXPECT_EQ(bridge_.retries_until_next(), 0U);
    remove(types::workload, taken.dump());
  }
}

// A server that does not answer is no circle: it is asked each second.
TEST_F(Refusals, AServerThatIsAwayIsNoCircle) {
  add(types::workload, workload("w", "7", asks_nothing));
  bridge_.want({inactive()});
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(sent_.size(), 1U) << i;
    answer(i % 2 == 0 ? 0 : 503);
    bridge_.retry();
  }
  EXPECT_TRUE(notices_.empty());
}

// ---- what is left
// ------------------------------------------------------------------------------------------------------------------------

TEST_F(Refusals, OfAnObjectThatWentMeanwhileNothingIsRemembered) {
  const auto before = bridge_.entries();
  const auto w = workload("w", "7", asks_nothing);
  add(types::workload, w);
  bridge_.want({inactive()});
  remove(types::workload, w);
  answer(422);
  EXPECT_EQ(bridge_.entries(), before);
  EXPECT_EQ(refusals_seen_, 0);

  add(types::job, job("3"));
  add(types::workload, w);
  bridge_.want({admission::WorkloadAdoptIntent{"ns", "w", "u", "Job", "batch", "j"}});
  answer(422);
  EXPECT_EQ(bridge_.outstanding(), 1U) << "no decision stands behind it: it stays wanted";
  remove(types::job, job("3"));
  EXPECT_EQ(bridge_.outstanding(), 0U);
  remove(types::workload, w);
  EXPECT_EQ(bridge_.entries(), before);
}

}  // namespace
}  // namespace hindsight::connectors
