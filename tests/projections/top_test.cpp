// `hindsight top`: queues, cohorts and flavors by use and wait, and who waits for which reason.

#include "projections/top.hpp"

#include <nlohmann/json.hpp>

#include "tests/projections/reading.hpp"

namespace hindsight::projections {
namespace {

class TopOf : public Reading {
 protected:
  std::string text(TopKind kind, TopOrder order = TopOrder::use) { return to_text(top_of(w.driver(), kind, order), false, 10); }
  /// Only the table.
  std::string table(TopKind kind, TopOrder order = TopOrder::use) {
    const std::string all = text(kind, order);
    return all.substr(0, all.find("\n\n") + 1);
  }
  std::vector<std::string> names(TopKind kind, TopOrder order) {
    std::vector<std::string> out;
    for (const auto& row : top_of(w.driver(), kind, order).rows) out.push_back(row.name);
    return out;
  }
  using Names = std::vector<std::string>;
};

TEST_F(TopOf, AMomentShowsUseAndWhoWaits) {
  two_queues();
  EXPECT_EQ(text(TopKind::cluster_queues),
            "NAME   COHORT   QUOTA         USED   NOMINAL    USE   BORROWED   PENDING   LONGEST WAIT   MOST WAIT FOR\n"
            "b      all      default/cpu      3         2   150%          1         0\n"
            "a      all      default/cpu      3         4    75%          0         2   5s             ExceedsMaxQuota (default/cpu)\n"
            "\n"
            "Waiting: 2 workloads: 2 pending\n"
            "REASON            DETAIL        WORKLOADS   LONGEST WAIT   EXAMPLE\n"
            "ExceedsMaxQuota   default/cpu           1   4s             default/huge\n"
            "WaitingForQuota   default/cpu           1   5s             default/waits\n");
  EXPECT_EQ(table(TopKind::cohorts),
            "NAME   PARENT   QUOTA         USED   NOMINAL    USE   BORROWED   PENDING   LONGEST WAIT   MOST WAIT FOR\n"
            "all             default/cpu      6         6   100%          0         2   5s             ExceedsMaxQuota (default/cpu)\n");
  EXPECT_EQ(table(TopKind::local_queues, TopOrder::name),
            "NAME           CLUSTERQUEUE   QUOTA         USED   NOMINAL    USE   PENDING   LONGEST WAIT   MOST WAIT FOR\n"
            "default/lq     a              default/cpu      3         4    75%         2   5s             ExceedsMaxQuota (default/cpu)\n"
            "default/lq-b   b              default/cpu      3         2   150%         0\n");
  EXPECT_EQ(table(TopKind::flavors),
            "NAME      QUOTA         USED   NOMINAL    USE   BORROWED   PENDING   LONGEST WAIT   MOST WAIT FOR\n"
            "default   default/cpu      6         6   100%          1         2   5s             ExceedsMaxQuota (default/cpu)\n");
}

TEST_F(TopOf, IsSortedByWhatIsAskedFor) {
  two_queues();
  EXPECT_EQ(names(TopKind::cluster_queues, TopOrder::use), (Names{"b", "a"}));
  EXPECT_EQ(names(TopKind::cluster_queues, TopOrder::wait), (Names{"a", "b"}));
  EXPECT_EQ(names(TopKind::cluster_queues, TopOrder::pending), (Names{"a", "b"}));
  EXPECT_EQ(names(TopKind::cluster_queues, TopOrder::name), (Names{"a", "b"}));
}

TEST_F(TopOf, DocumentsHoldAmountsAndMilliseconds) {
  two_queues();
  const Json out = to_json(top_of(w.driver(), TopKind::cluster_queues, TopOrder::name));
  EXPECT_EQ(out["kind"], "clusterqueues");
  ASSERT_EQ(out["items"].size(), 2U);
  EXPECT_EQ(out["items"][0].dump(),
            R"({"name":"a","cohort":"all","quota":[{"flavor":"default","resource":"cpu","used":"3","nominal":"4","usePerMille":750,)"
            R"("borrowed":"0"}],"pending":2,"longestWaitMilliseconds":5000,"mostWaitFor":{"reason":"ExceedsMaxQuota",)"
            R"("detail":"default/cpu","workloads":1}})");
  EXPECT_EQ(out["waiting"]["total"], 2);
  EXPECT_EQ(out["waiting"]["reasons"][1].dump(),
            R"({"reason":"WaitingForQuota","detail":"default/cpu","lacks":[{"flavor":"default","resource":"cpu"}],"workloads":1,)"
            R"("longestWaitMilliseconds":5000,"example":"default/waits"})");
}

TEST_F(TopOf, AgesCountToTheMomentThatIsAskedFor) {
  two_queues();
  w.driver().look_at(w.now + Duration::seconds(55));
  const Top top = top_of(w.driver(), TopKind::cluster_queues, TopOrder::wait);
  ASSERT_TRUE(top.rows[0].waits_since.is_set());
  EXPECT_EQ((top.now - top.rows[0].waits_since).micros, Duration::seconds(60).micros);
}

TEST_F(TopOf, ASpanShowsWhatHappened) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4'000}}}});
  const auto from = w.position();
  w.submit({.name = "runs", .cpu = 3'000});
  w.settle();
  w.tick(Duration::seconds(10));
  w.submit({.name = "waits", .cpu = 2'000});
  w.settle();
  w.tick(Duration::seconds(10));
  w.settle();
  w.confirm();
  w.finish("runs");
  w.wake();  // two seconds
  ASSERT_TRUE(w.state("waits").admitted());
  w.flush();
  replay::Past past(log, "default");
  ASSERT_TRUE(past.go_to(from));
  TopOverTime watch(TopKind::cluster_queues, past.driver());
  past.look_on([&](events::Position, const RecordView& r) { watch.before(r, past.driver()); },
               [&](events::Position, const RecordView& r) { watch.after(r, past.driver()); });
  ASSERT_TRUE(past.fold_to(w.position()));
  const Top top = watch.finish(past.driver(), TopOrder::use);
  ASSERT_TRUE(top.span);
  EXPECT_EQ(top.span->micros, Duration::seconds(22).micros);
  EXPECT_EQ(to_text(top, false, 10),
            "NAME   COHORT   QUOTA         AVERAGE   NOMINAL   USE   ADMITTED   FINISHED   EVICTED   PREEMPTED   WAIT P50   P95   MAX   "
            "PENDING   LONGEST WAIT   MOST WAIT FOR\n"
            "cq              default/cpu     2727m         4   68%          2          1         0           0         0s   12s   12s   "
            "      0\n"
            "\n"
            "Nobody waits.\n");
  const Json item = to_json(top)["items"][0];
  EXPECT_EQ(item["waitMilliseconds"].dump(), R"({"count":2,"p50":0,"p95":12000,"max":12000})");
  EXPECT_EQ(item["quota"][0]["averageUsed"], "2727m");
}

// ---- reasons ------------------------------------------------------------------------------------------------------------------------

TEST_F(TopOf, EveryBlockerIsAReasonOfItsOwn) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4'000}}}, {.name = "checked", .quotas = {{.nominal = 4'000}}, .checks = {"prov"}}});
  w.check("prov");
  w.local_queue("lq-off", "cq", StopPolicy::hold);
  w.submit({.name = "gated", .gated_by = "example.com/gate"});
  w.submit({.name = "off", .active = false});
  w.submit({.name = "lost", .queue = "nowhere"});
  w.submit({.name = "stopped", .queue = "lq-off"});
  w.submit({.name = "checked", .queue = "lq-checked"});
  w.settle();
  w.tick(Duration::seconds(3));
  w.settle();
  const std::string all = text(TopKind::cluster_queues);
  EXPECT_EQ(all.substr(all.find("\n\n") + 2),
            "Waiting: 5 workloads: 3 pending, 1 with quota reserved, 1 inactive\n"
            "REASON                       DETAIL                                   WORKLOADS   LONGEST WAIT   EXAMPLE\n"
            "AdmissionGated               example.com/gate                                 1   3s             default/gated\n"
            "Deactivated                                                                   1   3s             default/off\n"
            "Misconfigured                there is no LocalQueue default/nowhere           1   3s             default/lost\n"
            "Suspended                    LocalQueue default/lq-off is stopped             1   3s             default/stopped\n"
            "UnsatisfiedAdmissionChecks   check prov                                       1   3s             default/checked\n");
  const Json reasons = reasons_document(waiters_of(w.driver()), w.driver().now());
  EXPECT_EQ(reasons["total"], 5);
  EXPECT_EQ(reasons["pending"], 3);
  ASSERT_EQ(reasons["reasons"].size(), 5U);
  EXPECT_EQ(reasons["reasons"][0]["clusterQueue"], "") << "who is in no queue comes first";
  const std::string by_queue = reasons_text(waiters_of(w.driver()), w.driver().now(), false);
  EXPECT_NE(by_queue.find("<none>         Misconfigured "), std::string::npos) << by_queue;
}

TEST_F(TopOf, WhoStandsBehindTheHeadOfAStrictQueueWaitsForThat) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4'000}}, .strategy = QueueingStrategy::strict_fifo}});
  w.submit({.name = "runs", .cpu = 3'000});
  w.settle();
  for (const auto& [name, cpu] : std::vector<std::pair<std::string, Amount>>{{"first", 2'000}, {"second", 1'000}, {"third", 1'000}}) {
    w.tick(Duration::seconds(1));
    w.submit({.name = name, .cpu = cpu});
    w.settle();
  }
  const Top top = top_of(w.driver(), TopKind::cluster_queues, TopOrder::name);
  ASSERT_TRUE(top.rows[0].mostly);
  EXPECT_EQ(text_of(top.rows[0].mostly->reason), "StrictFIFO (behind default/first)");
  EXPECT_EQ(top.rows[0].mostly->workloads, 2U);
  EXPECT_EQ(top.rows[0].pending, 3U);
}

// BA-211: who is parked because an equal one failed waits for the same
TEST_F(TopOf, EqualOnesWaitForWhatTheFirstOneWaitsFor) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4'000}}}});
  w.submit({.name = "runs", .cpu = 4'000});
  w.settle();
  for (int i = 0; i < 20; ++i) {
    w.tick(Duration::seconds(1));
    w.submit({.name = "equal-" + std::to_string(i), .cpu = 2'000});
    w.settle();
  }
  const auto waiters = waiters_of(w.driver());
  const auto counts = count_reasons(waiters, [](const Waiter&) { return true; });
  ASSERT_EQ(counts.size(), 1U);
  EXPECT_EQ(text_of(waiters.reasons[counts[0].reason]), "WaitingForQuota (default/cpu)");
  EXPECT_EQ(counts[0].workloads, 20U);
  EXPECT_EQ(counts[0].example, "default/equal-0");
}

TEST_F(TopOf, ACutListSaysHowMuchIsLeftOut) {
  two_queues();
  const std::string cut = to_text(top_of(w.driver(), TopKind::cluster_queues, TopOrder::name), false, 1);
  EXPECT_NE(cut.find("default/huge\nand 1 more reason with 1 workload (--reasons lists them all)\n"), std::string::npos) << cut;
}

}  // namespace
}  // namespace hindsight::projections
