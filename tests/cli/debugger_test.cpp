// The debugger goes where it is told, forth and back, and says what is there.

#include "cli/debugger.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "events/sqlite_log.hpp"
#include "replay/snapshots.hpp"
#include "tests/events/temporary_folder.hpp"
#include "tests/projections/simulated.hpp"

namespace hindsight::cli {
namespace {

using projections::Played;

class DebuggerTest : public ::testing::Test {
 protected:
  DebuggerTest()
      : played_(projections::basics +
                projections::queue_text({.name = "cq", .cpu = "1", .more = "  preemption: {withinClusterQueue: LowerPriority}\n"}) +
                projections::job_text({.name = "victim", .runs = 100}) +
                projections::job_text({.name = "urgent", .arrives = 30, .runs = 50, .priority_class = "high"})),
        path_(folder_.file("log.db")) {
    auto log = events::SqliteLog::open(path_, {}).value();
    events::RecordBatch batch;
    for (events::Position at = 1;; at += batch.size()) {
      EXPECT_TRUE(played_.log.read(at, {}, batch));
      if (batch.empty()) break;
      EXPECT_TRUE(log->append(batch.views(), std::nullopt));
    }
  }

  Debugger at(const std::string& moment) {
    PastOptions options;
    options.log = path_;
    options.at = moment;
    auto journey = travel(session_, options);
    EXPECT_TRUE(journey) << journey.error().message;
    return {session_, std::move(*journey)};
  }

  /// What it says to that.
  std::string said(Debugger& d, const std::string& line) {
    out_.str("");
    const auto went_on = d.run(line);
    EXPECT_TRUE(went_on) << line << ": " << went_on.error().message;
    return out_.str();
  }
  std::string refused(Debugger& d, const std::string& line) {
    const auto went_on = d.run(line);
    EXPECT_FALSE(went_on) << line;
    return went_on ? std::string() : went_on.error().message;
  }

  /// In the log; one in three cannot be read.
  void keep_snapshots() {
    auto log = events::SqliteLog::open(path_, {}).value();
    replay::Past past(*log, "default");
    for (events::Position at = 5; at < log->last().value(); at += 7) {
      ASSERT_TRUE(past.go_to(at));
      auto snapshot = replay::encode_state(past.driver().entities(), "default", at, "test");
      if (at % 3 == 0) snapshot.bytes[snapshot.bytes.size() / 2] ^= std::byte{1};
      ASSERT_TRUE(log->put_snapshot(snapshot.meta, snapshot.bytes));
    }
  }

  Played played_;
  test::TemporaryFolder folder_;
  std::string path_;
  std::ostringstream out_, err_;
  Session session_{.out = out_, .err = err_};
};

// What lies before is looked for from snapshots, the last one first; one that cannot be read makes no difference.
TEST_F(DebuggerTest, GoesBackTheSameWayWithSnapshotsAndWithout) {
  const auto walk = [&] {
    std::string all;
    for (const char* stop : {"event QuotaReserved", "event WorkloadPreempted", "clusterqueue/cq:.status.pendingWorkloads > 0"}) {
      auto d = at("now");
      all += said(d, std::string("break ") + stop);
      for (int i = 0; i < 6; ++i) all += said(d, "reverse");
      all += said(d, "goto 30") + said(d, "back 3") + said(d, "previous 2") + said(d, "back") + said(d, "step") + said(d, "back 2");
      all += said(d, "print clusterqueue/cq:.status");
    }
    return all;
  };
  const std::string without = walk();
  keep_snapshots();
  EXPECT_EQ(walk(), without);
}

TEST_F(DebuggerTest, StepsForthAndBackByRecordAndByDecision) {
  auto d = at("1");
  EXPECT_TRUE(said(d, "step").starts_with("At 2, ")) << out_.str();
  EXPECT_TRUE(said(d, "s 3").starts_with("At 5, "));
  EXPECT_TRUE(said(d, "back 2").starts_with("At 3, "));
  EXPECT_NE(said(d, "back 9").find("The log begins here."), std::string::npos);
  const auto reserved = std::to_string(played_.first<QuotaReserved>());
  (void)said(d, "goto " + reserved);
  (void)said(d, "back");
  EXPECT_TRUE(said(d, "next").starts_with("At " + reserved + ", ")) << out_.str();
  (void)said(d, "step");
  EXPECT_TRUE(said(d, "previous").starts_with("At " + reserved + ", ")) << out_.str();
  EXPECT_NE(said(d, "step 100000").find("The log ends here."), std::string::npos);
}

TEST_F(DebuggerTest, RunsToBreakpointsAndReversesToThem) {
  auto d = at("0");
  EXPECT_EQ(said(d, "break event WorkloadPreempted"), "1  event WorkloadPreempted\n");
  const std::string place = "At " + std::to_string(played_.first<WorkloadPreempted>()) + ", ";
  EXPECT_TRUE(said(d, "run").starts_with("Breakpoint: event WorkloadPreempted\n" + place)) << out_.str();
  EXPECT_NE(said(d, "run").find("The log ends here."), std::string::npos);
  EXPECT_TRUE(said(d, "reverse").starts_with("Breakpoint: event WorkloadPreempted\n" + place)) << out_.str();
  EXPECT_NE(said(d, "reverse").find("The log begins here."), std::string::npos);
  (void)said(d, "delete 1");
  EXPECT_EQ(said(d, "break"), "");
}

TEST_F(DebuggerTest, TellsWhenAWatchedValueChanges) {
  auto d = at("0");
  EXPECT_EQ(said(d, "watch clusterqueue/cq:.status.pendingWorkloads"), "clusterqueue/cq:.status.pendingWorkloads is (nothing)\n");
  (void)said(d, "break clusterqueue/cq:.status.pendingWorkloads > 0");
  EXPECT_NE(said(d, "run").find("clusterqueue/cq:.status.pendingWorkloads: (nothing) became 1"), std::string::npos) << out_.str();
  EXPECT_EQ(said(d, "print clusterqueue/cq:.status.pendingWorkloads"), "1\n");
  EXPECT_NE(said(d, "queues").find("cq"), std::string::npos);
  EXPECT_NE(said(d, "record").find("\"kind\""), std::string::npos);
  EXPECT_EQ(said(d, "print clusterqueue/none"), "(nothing)\n");
}

// Issue 19, section 2: watch a value and find who last changed it
TEST_F(DebuggerTest, FindsWhoChangedAValueLast) {
  const std::string name = "clusterqueue/cq.usage.cpu";
  const auto blamed_everywhere = [&] {
    std::vector<std::string> out;
    for (events::Position p = 0; p <= played_.end(); p += 3) {
      auto d = at(std::to_string(p));
      out.push_back(said(d, "blame " + name));
    }
    return out;
  };
  const auto without = blamed_everywhere();
  // By hand: the last record before which the value was another one.
  const auto value = ObjectValue::parse(name).value();
  std::vector<std::string> texts;
  for (events::Position q = 0; q <= played_.end(); ++q) texts.push_back(value.text_in(played_.state(q)));
  for (events::Position p = 0; p <= played_.end(); p += 3) {
    events::Position last = 0;
    for (events::Position q = 1; q <= p; ++q)
      if (texts[q - 1] != texts[q]) last = q;
    const std::string& told = without[p / 3];
    if (last == 0)
      EXPECT_EQ(told, name + " is not there, and never was up to " + std::to_string(p) + "\n");
    else
      EXPECT_TRUE(told.starts_with("At " + std::to_string(last) + ", ") &&
                  told.find(name + " became " + texts[last] + ", from " + texts[last - 1] + "\n") != std::string::npos)
          << "at " << p << ": " << told << " but " << last;
  }
  // Snapshots, of which one cannot be read, change nothing but how far back it is looked.
  keep_snapshots();
  EXPECT_EQ(blamed_everywhere(), without);
  auto d = at("5");
  EXPECT_NE(refused(d, "blame nonsense").find("blame: "), std::string::npos);
  EXPECT_TRUE(said(d, "where").starts_with("At 5, "));
}

TEST_F(DebuggerTest, ShowsTheStateBesideTheRecord) {
  auto d = at(std::to_string(played_.first<QuotaReserved>() - 1));
  EXPECT_NE(said(d, "show queues").find("PENDING WORKLOADS"), std::string::npos) << out_.str();
  EXPECT_NE(said(d, "step").find("PENDING WORKLOADS"), std::string::npos) << out_.str();
  EXPECT_EQ(out_.str().find("RESERVED IN"), std::string::npos);
  (void)said(d, "show state");
  const std::string both = said(d, "back");
  EXPECT_NE(both.find("PENDING WORKLOADS"), std::string::npos) << both;
  EXPECT_NE(both.find("RESERVED IN"), std::string::npos) << both;
  EXPECT_NE(both.find(said(d, "state")), std::string::npos) << both;
  EXPECT_EQ(said(d, "show nothing"), "");
  EXPECT_EQ(said(d, "step").find("RESERVED IN"), std::string::npos);
  EXPECT_NE(refused(d, "show all").find("show: found \"all\"; allowed: queues, workloads, state, nothing"), std::string::npos);
}

TEST_F(DebuggerTest, StopsWhereARecordIsAboutSomebody) {
  auto d = at("0");
  (void)said(d, "break job default/urgent");
  (void)said(d, "run");
  const std::string place = said(d, "where");
  EXPECT_NE(place.find("JobObserved default/urgent"), std::string::npos) << place;
  (void)said(d, "delete");
  EXPECT_EQ(said(d, "break queue cq pending>0"), "1  queue cq pending>0\n");
  EXPECT_NE(said(d, "reverse").find("Breakpoint: queue cq pending>0"), std::string::npos) << out_.str();
}

TEST_F(DebuggerTest, AnswersWhyOfQueuesAndOfWhoIsGone) {
  auto d = at(std::to_string(played_.end()));
  EXPECT_NE(said(d, "why clusterqueue/cq").find("ClusterQueue cq"), std::string::npos) << out_.str();
  EXPECT_NE(said(d, "why localqueue/lq-cq").find("LocalQueue default/lq-cq"), std::string::npos) << out_.str();
  EXPECT_NE(refused(d, "why clusterqueue/none").find("why: "), std::string::npos);
}

TEST_F(DebuggerTest, AnswersWhyWhereItStands) {
  auto d = at("0");
  (void)said(d, "break event WorkloadPreempted");
  (void)said(d, "run");
  EXPECT_NE(said(d, "why job/victim").find("preempted by default/"), std::string::npos) << out_.str();
}

TEST_F(DebuggerTest, TellsHowTheDecisionHereCameAbout) {
  auto d = at(std::to_string(played_.first<WorkloadPreempted>()));
  const std::string whole = said(d, "how");
  EXPECT_TRUE(whole.starts_with("Decision " + std::to_string(played_.first<WorkloadPreempted>()) + " at ")) << whole;
  EXPECT_NE(whole.find("Made again, it comes out as recorded."), std::string::npos);
  EXPECT_NE(whole.find("taken (InClusterQueue)"), std::string::npos) << whole;
  EXPECT_NE(said(d, "how 1 job/urgent").find("taken (InClusterQueue)"), std::string::npos) << out_.str();
  EXPECT_NE(said(d, "how job/victim").find("taken (InClusterQueue)"), std::string::npos) << "it is told who took it: " << out_.str();
  EXPECT_NE(said(d, "how clusterqueue/cq").find("taken (InClusterQueue)"), std::string::npos);
  EXPECT_NE(said(d, "how clusterqueue/none").find("Nobody whom this decision looked at"), std::string::npos);
  EXPECT_TRUE(said(d, "where").starts_with("At " + std::to_string(played_.first<WorkloadPreempted>()))) << "it stands where it stood";
  EXPECT_NE(refused(d, "how 0").find("how: found 0 for how many heads"), std::string::npos);
  EXPECT_NE(refused(d, "how 99999999999999999999999").find("allowed: 1 to 10000"), std::string::npos);
  EXPECT_NE(refused(d, "how cohort/co").find("allowed: NAME, NAMESPACE/NAME"), std::string::npos);
  EXPECT_NE(refused(d, "how a/b/c/d").find("allowed: NAME, NAMESPACE/NAME"), std::string::npos);
  EXPECT_NE(refused(d, "how job/none").find("how: job default/none not found"), std::string::npos);
  EXPECT_NE(refused(d, "how 3 job/urgent more").find("found \"more\""), std::string::npos);
  (void)said(d, "goto 1");
  EXPECT_NE(refused(d, "how").find("record 1 is no decision; the decision behind it is record"), std::string::npos);
  (void)said(d, "goto 0");
  EXPECT_NE(refused(d, "how").find("found record 0"), std::string::npos);
}

TEST_F(DebuggerTest, RefusesWhatMeansNothingAndStandsWhereItStood) {
  auto d = at("5");
  EXPECT_NE(refused(d, "fly").find("found the command \"fly\"; allowed"), std::string::npos);
  EXPECT_NE(refused(d, "step -1").find("allowed: a whole number"), std::string::npos);
  EXPECT_NE(refused(d, "step 99999999999999999999").find("allowed: a whole number"), std::string::npos);
  EXPECT_NE(refused(d, "step 0").find("found 0"), std::string::npos);
  EXPECT_NE(refused(d, "goto yesterday").find("goto: "), std::string::npos);
  EXPECT_NE(refused(d, "goto 999999").find("past the end"), std::string::npos);
  EXPECT_NE(refused(d, "break nonsense").find("break: "), std::string::npos);
  EXPECT_NE(refused(d, "delete 7").find("delete: "), std::string::npos);
  EXPECT_NE(refused(d, "why job/none").find("why: "), std::string::npos);
  EXPECT_TRUE(said(d, "where").starts_with("At 5, "));
  for (std::size_t i = 0; i < Debugger::breakpoints_max; ++i) (void)said(d, "break event JobStopped");
  EXPECT_NE(refused(d, "break event JobStopped").find("allowed: no more"), std::string::npos);
  EXPECT_EQ(said(d, "  # a remark"), "");
  EXPECT_FALSE(d.run("quit").value());
}

}  // namespace
}  // namespace hindsight::cli
