// Issue 16: statuses of queues were half of all writes on a busy cluster. What changes once is told at once; of what changes all the time
// the last is told.

#include "connectors/bridge/status_budget.hpp"

#include <set>

#include "tests/connectors/bridge/bridge_fixture.hpp"

namespace hindsight::connectors {
namespace {

TEST(StatusBudget, AFewGoAtOnceAndTenASecondFollow) {
  StatusBudget budget;
  Time now = Time::from_seconds(1000);
  const auto taken = [&](std::size_t waiting) {
    int out = 0;
    for (; budget.has_one(now, waiting); ++out) budget.take();
    return out;
  };
  EXPECT_EQ(taken(0), 20);
  now = now + Duration::seconds(1);
  EXPECT_EQ(taken(0), 10);
  now = now + Duration::millis(150);
  EXPECT_EQ(taken(0), 1);
  now = now + Duration::seconds(100'000'000);
  EXPECT_EQ(taken(0), 20) << "what is not used is not saved up";
  now = now + Duration::seconds(1);
  EXPECT_EQ(taken(5'000), 200) << "each of very many is written within half a minute";
  now = now + Duration::seconds(-500);
  EXPECT_EQ(taken(0), 0) << "a clock that goes back gives nothing";
  now = now + Duration::seconds(501);
  EXPECT_EQ(taken(0), 10);
  EXPECT_FALSE(budget.has_one(now, 250'000));
  now = now + Duration::millis(100);
  EXPECT_EQ(taken(0), 1'000) << "as long as it takes to write all that waited";
  now = now + Duration::seconds(25);
  EXPECT_EQ(taken(0), 20);
}

class SparedStatuses : public test::BridgeTest {
 protected:
  SparedStatuses() : BridgeTest(with_clock(now_)) { bridge_.retry(); }
  static BridgeOptions with_clock(const Time& now) {
    BridgeOptions out;
    out.spares_queue_statuses = true;
    out.now = [&now] { return now; };
    out.reports_in_flight_max = 100;
    return out;
  }
  static std::string queue(int n) { return "q" + std::to_string(n); }
  void add_queue(int n) {
    add(types::cluster_queue, R"({"metadata":{"name":")" + queue(n) + R"(","uid":"uid-)" + queue(n) +
                                  R"(","resourceVersion":"1","generation":1},"spec":{"namespaceSelector":{}}})");
  }
  static admission::QueueStatusIntent pending(int n, int count) {
    admission::QueueStatusIntent out;
    out.name = queue(n);
    out.pending = count;
    return out;
  }
  /// Answers all, and says which queues were written.
  std::multiset<std::string> take_all() {
    std::multiset<std::string> out;
    while (!sent_.empty()) {
      const auto& write = sent_.front().write;
      out.insert(write.name);
      Json object = Json::parse(*mirror_.find(types::cluster_queue, "", write.name));
      object.merge_patch(Json::parse(write.body));
      object["metadata"]["resourceVersion"] = std::to_string(std::stoi(object["metadata"]["resourceVersion"].get<std::string>()) + 1);
      answer(200, object.dump());
    }
    return out;
  }
  [[nodiscard]] std::int64_t shown(int n) const {
    return Json::parse(*mirror_.find(types::cluster_queue, "", queue(n)))["status"].value("pendingWorkloads", -1);
  }
  void pass(Duration time) {
    now_ = now_ + time;
    bridge_.write_postponed();
  }

  Time now_ = Time::from_seconds(1000);
};

TEST_F(SparedStatuses, WhatChangesOnceIsWrittenAtOnce) {
  for (int n = 0; n < 5; ++n) {
    add_queue(n);
    bridge_.want({pending(n, 1)});
  }
  EXPECT_EQ(take_all().size(), 5U);
  bridge_.want({pending(0, 0)});
  EXPECT_EQ(take_all().size(), 1U);
  EXPECT_EQ(bridge_.outstanding(), 0U);
}

TEST_F(SparedStatuses, OfWhatChangesAllTheTimeTheLastIsWritten) {
  constexpr int queues = 40;
  for (int n = 0; n < queues; ++n) add_queue(n);
  std::size_t writes = 0;
  for (int round = 1; round <= 200; ++round) {  // 20 seconds
    for (int n = 0; n < queues; ++n) bridge_.want({pending(n, round)});
    pass(Duration::millis(100));
    writes += take_all().size();
  }
  EXPECT_LE(writes, 20U + 10U * 20U + 1U);
  EXPECT_GE(writes, 200U);
  for (int i = 0; i < 50; ++i) {
    pass(Duration::millis(100));
    (void)take_all();
  }
  for (int n = 0; n < queues; ++n) EXPECT_EQ(shown(n), 200) << n;
  EXPECT_EQ(bridge_.outstanding(), 0U);
}

TEST_F(SparedStatuses, EachOfManyHasItsTurn) {
  constexpr int queues = 300;
  for (int n = 0; n < queues; ++n) {
    add_queue(n);
    bridge_.want({pending(n, 1)});
  }
  (void)take_all();
  std::multiset<std::string> written;
  for (int tenth = 0; tenth < 290; ++tenth) {
    pass(Duration::millis(100));
    for (const auto& name : take_all()) written.insert(name);
    // The first ones change again and again.
    for (int n = 0; n < 10; ++n) bridge_.want({pending(n, tenth + 2)});
  }
  for (int n = 20; n < queues; ++n) EXPECT_GE(written.count(queue(n)), 1U) << n;
}

TEST_F(SparedStatuses, AQueueThatGoesLeavesNothing) {
  for (int n = 0; n < 30; ++n) {
    add_queue(n);
    bridge_.want({pending(n, 1)});
  }
  (void)take_all();
  for (int n = 20; n < 30; ++n)
    remove(types::cluster_queue, R"({"metadata":{"name":")" + queue(n) + R"(","uid":"uid-)" + queue(n) + R"(","resourceVersion":"2"}})");
  for (int i = 0; i < 80; ++i) {
    pass(Duration::seconds(1));
    bridge_.retry();
    (void)take_all();
  }
  EXPECT_EQ(bridge_.outstanding(), 0U);
}

}  // namespace
}  // namespace hindsight::connectors
