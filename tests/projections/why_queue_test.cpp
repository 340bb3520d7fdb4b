// `hindsight why clusterqueue/Q`: what a queue lacks, and who uses it.

#include "projections/why_queue.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/projections/reading.hpp"

namespace hindsight::projections {
namespace {

using Kind = QueueTarget::Kind;

class WhyQueue : public Reading {
 protected:
  void two_queues(PreemptionPolicy reclaim = PreemptionPolicy::never) { Reading::two_queues(reclaim, 7); }
  QueueWhy why_queue(Kind kind, const std::string& name, const std::string& namespace_ = {}) {
    auto out = explain_queue(w.driver(), {kind, namespace_, name});
    EXPECT_TRUE(out) << (out ? "" : out.error().message);
    return out ? *out : QueueWhy();
  }
  static bool mentions(const std::vector<std::string>& facts, const std::string& part) {
    return std::any_of(facts.begin(), facts.end(), [&](const auto& f) { return f.find(part) != std::string::npos; });
  }
};

std::string parsed(std::string_view text) {
  const auto out = parse_queue_target(text, "default");
  if (!out) return out.error().message;
  return *out ? (*out)->text() : "none";
}

TEST(QueueTargets, AreNamedByKind) {
  EXPECT_EQ(parsed("clusterqueue/team-a"), "ClusterQueue team-a");
  EXPECT_EQ(parsed("cq/team-a"), "ClusterQueue team-a");
  EXPECT_EQ(parsed("ClusterQueue/team-a"), "ClusterQueue team-a");
  EXPECT_EQ(parsed("cohort/research"), "Cohort research");
  EXPECT_EQ(parsed("localqueue/jobs"), "LocalQueue default/jobs");
  EXPECT_EQ(parsed("lq/team-a/jobs"), "LocalQueue team-a/jobs");
  EXPECT_EQ(parsed("job/train"), "none");
  EXPECT_EQ(parsed("team-a/train"), "none");
  EXPECT_EQ(parsed("cq"), "none") << "a workload of that name";
  for (const char* wrong : {"cq/", "cq/a/b", "lq/a/b/c", "lq//b", "cohort/"})
    EXPECT_EQ(parsed(wrong).find("found \"" + std::string(wrong) + "\" for a queue; allowed: "), 0U) << wrong;
}

TEST_F(WhyQueue, SaysWhatItsHeadLacksAndWhoHasThat) {
  two_queues();
  QueueWhy why = why_queue(Kind::cluster_queue, "a");
  ASSERT_TRUE(why.head);
  EXPECT_FALSE(why.head->preemption.empty());
  why.head->preemption.clear();  // as of a workload: why_test.cpp
  EXPECT_EQ(to_text(why),
            "ClusterQueue a, in cohort all: active\n"
            "Its head default/waits lacks 2 of default/cpu\n"
            "- default/cpu: it uses 3 of its own 4, and others hold 1 of the rest (b borrows 1); reclaimWithinCohort is Never, so it gets "
            "that back only when they end\n"
            "Head: default/waits, priority 0, waits for 5s, parked until something in the tree changes; WaitingForQuota (default/cpu)\n"
            "  POD SET   QUOTA         ASKED   AVAILABLE   VERDICT\n"
            "  main      default/cpu       2           0   2 short: capacity of Cohort all\n"
            "Quota of ClusterQueue a:\n"
            "  QUOTA         USED   NOMINAL   BORROWED   AVAILABLE   MAXIMUM\n"
            "  default/cpu      3         4          0           0         6\n"
            "Who uses default/cpu, 6 in all:\n"
            "  CLUSTERQUEUE   USED   NOMINAL   BORROWED   WORKLOADS   LARGEST\n"
            "  a                 3         4          0           1   default/runs 3\n"
            "  b                 3         2          1           1   default/lent 3\n"
            "Waiting: 2 workloads: 2 pending\n"
            "  REASON            DETAIL        WORKLOADS   LONGEST WAIT   EXAMPLE\n"
            "  ExceedsMaxQuota   default/cpu           1   4s             default/huge\n"
            "  WaitingForQuota   default/cpu           1   5s             default/waits\n");
  const Json document = to_json(why);
  EXPECT_EQ(document["scarce"][0]["ownHeldByOthers"], "1");
  EXPECT_EQ(document["scarce"][0]["others"][0]["borrowed"], "1");
  EXPECT_EQ(document["head"]["asks"][0]["missing"], "2");
}

TEST_F(WhyQueue, SaysWhetherItMayTakeBackWhatIsItsOwn) {
  two_queues(PreemptionPolicy::lower_priority);  // and who borrows has a higher one
  EXPECT_TRUE(
      mentions(why_queue(Kind::cluster_queue, "a").facts,
               "reclaimWithinCohort is LowerPriority, so it may take that back by preemption, but not from workloads of higher priority"))
      << ::testing::PrintToString(why_queue(Kind::cluster_queue, "a").facts);
}

TEST_F(WhyQueue, WhoBorrowsKnowsThatMoreHasToBeBorrowed) {
  two_queues();
  w.submit({.name = "more", .queue = "lq-b", .cpu = 1'000});
  w.settle();
  const QueueWhy why = why_queue(Kind::cluster_queue, "b");
  EXPECT_EQ(why.headline, "Its head default/more lacks 1 of default/cpu");
  EXPECT_TRUE(mentions(why.facts, "default/cpu: nobody holds what would be its own by nominal quota; it uses 3 of 2"))
      << ::testing::PrintToString(why.facts);
}

TEST_F(WhyQueue, AQueueThatIsNotActiveSaysWhy) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4'000}}}});
  w.queue({.name = "cq", .quotas = {{.flavor = "gone", .nominal = 4'000}}, .stop = StopPolicy::hold, .checks = {"prov"}});
  w.submit({.name = "waits"});
  w.settle();
  const QueueWhy why = why_queue(Kind::cluster_queue, "cq");
  EXPECT_FALSE(why.active);
  EXPECT_EQ(why.headline, "It admits nothing: ClusterQueue cq is not active, Stopped");
  EXPECT_TRUE(mentions(why.facts, "references missing ResourceFlavor(s): gone"));
  EXPECT_TRUE(mentions(why.facts, "references missing AdmissionCheck(s): prov"));
  EXPECT_TRUE(mentions(why.facts, "stopPolicy of ClusterQueue cq is Hold"));
  ASSERT_EQ(why.reasons.size(), 1U);
  EXPECT_EQ(text_of(why.waiters.reasons[why.reasons[0].reason]), "Suspended (ClusterQueue cq: Stopped)");
}

TEST_F(WhyQueue, AStrictQueueSaysHowManyItsHeadHoldsUp) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4'000}}, .strategy = QueueingStrategy::strict_fifo}});
  w.submit({.name = "runs", .cpu = 3'000});
  w.settle();
  w.tick(Duration::seconds(1));
  w.submit({.name = "first", .cpu = 2'000});
  w.settle();
  w.tick(Duration::seconds(1));
  w.submit({.name = "second", .cpu = 1'000});
  w.settle();
  const QueueWhy why = why_queue(Kind::cluster_queue, "cq");
  EXPECT_EQ(why.headline, "Its head default/first lacks 1 of default/cpu");
  EXPECT_TRUE(mentions(why.facts,
                       "ClusterQueue cq is StrictFIFO: nothing is tried before its head; 1 workload waits for no other reason than that"))
      << ::testing::PrintToString(why.facts);
}

TEST_F(WhyQueue, ACohortIsTheSumOfItsMembers) {
  two_queues();
  const QueueWhy why = why_queue(Kind::cohort, "all");
  EXPECT_EQ(why.headline, "Nothing is available of default/cpu; 2 workloads wait");
  EXPECT_TRUE(mentions(why.facts, "there is no object Cohort all"));
  ASSERT_EQ(why.scarce.size(), 1U);
  EXPECT_EQ(why.scarce[0].total, 6'000);
  ASSERT_EQ(why.scarce[0].others.size(), 2U);
  EXPECT_EQ(why.scarce[0].others[0].queue.text(), "b") << "who borrows most comes first";
  ASSERT_EQ(why.reasons.size(), 2U);
  EXPECT_EQ(why.reasons[0].queue.text(), "a");
}

TEST_F(WhyQueue, ALocalQueueSaysWhereItsFirstOneStands) {
  two_queues();
  w.local_queue("second", "a");
  w.tick(Duration::seconds(1));
  w.submit({.name = "late", .queue = "second", .cpu = 2'500});
  w.settle();
  const QueueWhy why = why_queue(Kind::local_queue, "second", "default");
  EXPECT_EQ(why.place, "of ClusterQueue a");
  EXPECT_TRUE(mentions(why.facts, "its first in line, default/late, stands at position 2 of 3 in ClusterQueue a"))
      << ::testing::PrintToString(why.facts);
  EXPECT_TRUE(mentions(why.facts, "none of its workloads holds quota"));
  EXPECT_EQ(why.waiters.all.size(), 1U);
  const QueueWhy first = why_queue(Kind::local_queue, "lq", "default");
  EXPECT_TRUE(mentions(first.facts, "1 workload of it holds default/cpu 3")) << ::testing::PrintToString(first.facts);
}

TEST_F(WhyQueue, ALongListOfUsersSaysWhatIsLeftOut) {
  std::vector<hindsight::testing::QueueOf> queues{{.name = "a", .cohort = "all", .quotas = {{.nominal = 0}}}};
  for (int i = 10; i < 24; ++i) queues.push_back({.name = "q" + std::to_string(i), .cohort = "all", .quotas = {{.nominal = 1'000}}});
  w.set_up(queues);
  for (int i = 10; i < 24; ++i) w.submit({.name = "holds-" + std::to_string(i), .queue = "lq-q" + std::to_string(i)});
  w.submit({.name = "waits"});
  w.settle();
  const QueueWhy why = why_queue(Kind::cluster_queue, "a");
  ASSERT_EQ(why.scarce.size(), 1U);
  const ScarcePair& pair = why.scarce[0];
  EXPECT_EQ(pair.total, 14'000);
  EXPECT_EQ(pair.queues_left_out, 4U);
  EXPECT_EQ(pair.amount_left_out, 4'000);
  Amount sum = pair.amount_left_out + (pair.own ? pair.own->used : 0);
  for (const auto& other : pair.others) sum += other.used;
  EXPECT_EQ(sum, pair.total);
  EXPECT_NE(to_text(why).find("\n  and 4 more ClusterQueues with 4\n"), std::string::npos) << to_text(why);
}

TEST_F(WhyQueue, NamesThatAreNotThereAreToldWithSimilarOnes) {
  two_queues();
  EXPECT_EQ(explain_queue(w.driver(), {Kind::cohort, "", "al"}).error().message, "Cohort al not found, did you mean all?");
  EXPECT_EQ(explain_queue(w.driver(), {Kind::local_queue, "default", "lq-c"}).error().message,
            "LocalQueue default/lq-c not found, did you mean lq-b, lq?");
  EXPECT_EQ(explain_queue(w.driver(), {Kind::local_queue, "elsewhere", "lq"}).error().kind, ErrorKind::not_found);
}

}  // namespace
}  // namespace hindsight::projections
