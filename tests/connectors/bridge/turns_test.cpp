// Issue 16: bind late. Where the server takes only so many writes at a time, others wait as wishes: what is overtaken is never written,
// what gives quota back goes first, and no namespace waits for all that another one has.

#include <algorithm>
#include <map>
#include <random>

#include "tests/connectors/bridge/bridge_fixture.hpp"

namespace hindsight::connectors {
namespace {

using test::admission_of;
using test::asks_nothing;

class Turns : public test::BridgeTest {
 protected:
  Turns() { at_once_ = 2; }

  void add_workload(const std::string& name, const std::string& ns = "ns") {
    add(types::workload, workload(name, "1", asks_nothing, "", ns));
  }
  static admission::WorkloadIntent admitted(const std::string& name, const std::string& ns = "ns", const std::string& queue = "cq") {
    auto out = admission_of(name);
    out.namespace_ = ns;
    out.cluster_queue = queue;
    return out;
  }
  static admission::WorkloadIntent evicted(const std::string& name) {
    auto out = admission_of(name);
    out.conditions.push_back({ConditionType::evicted, ConditionStatus::true_, "Preempted", "", Time::from_seconds(3)});
    return out;
  }
  /// The API server takes the oldest one.
  std::string take() {
    const auto& write = sent_.front().write;
    const auto name = write.name, ns = write.namespace_;
    Json object = Json::parse(*mirror_.find(types::workload, ns, name));
    object.merge_patch(Json::parse(write.body));
    object["metadata"]["resourceVersion"] = std::to_string(std::stoi(object["metadata"]["resourceVersion"].get<std::string>()) + 1);
    answer(200, object.dump());
    return ns + "/" + name;
  }
  std::vector<std::string> take_all() {
    std::vector<std::string> out;
    while (!sent_.empty()) {
      EXPECT_LE(sent_.size(), at_once_ + more_.reports_in_flight_max);
      out.push_back(take());
    }
    return out;
  }
};

// D15: decisions wait for what the server takes.
TEST_F(Turns, HowManyTheServerTakesIsTold) {
  write_limit_ = 5;
  bridge_.retry();
  EXPECT_EQ(limits_told_.size(), 0U) << "nobody decides anything before all is listed";
  tell(WatchEvent::Type::synced, types::workload, "");
  write_limit_ = 0;
  bridge_.retry();
  EXPECT_EQ(limits_told_.size(), 0U) << "nothing is known";
  for (const std::uint32_t limit : {5U, 5U, 7U}) {
    write_limit_ = limit;
    bridge_.retry();
  }
  EXPECT_EQ(limits_told_, (std::vector<std::uint32_t>{5, 5, 7})) << "what of that is news others judge";
}

TEST_F(Turns, WhatIsOvertakenWhileItWaitsIsNotWritten) {
  for (int i = 0; i < 6; ++i) {
    add_workload("w" + std::to_string(i));
    bridge_.want({admitted("w" + std::to_string(i))});
  }
  ASSERT_EQ(sent_.size(), 2U);
  EXPECT_EQ(bridge_.writes(), 2U);
  bridge_.want({admitted("w4", "ns", "another")});
  bridge_.want({test::status_of("w5", "")});  // it is not admitted after all, and shows that already
  remove(types::workload, workload("w3", "2", asks_nothing));
  const auto taken = take_all();
  EXPECT_EQ(std::count(taken.begin(), taken.end(), "ns/w3"), 0);
  EXPECT_EQ(std::count(taken.begin(), taken.end(), "ns/w4"), 1) << "once, as it was wanted last";
  EXPECT_NE(mirror_.find_by_uid("uid-w4")->find("another"), std::string::npos);
  EXPECT_EQ(mirror_.find_by_uid("uid-w5")->find("clusterQueue"), std::string::npos);
  EXPECT_EQ(bridge_.outstanding(), 0U);
}

TEST_F(Turns, WhatGivesQuotaBackGoesFirst) {
  for (int i = 0; i < 8; ++i) {
    add_workload("w" + std::to_string(i));
    bridge_.want({admitted("w" + std::to_string(i))});
  }
  add_workload("v");
  bridge_.want({evicted("v")});
  bridge_.want({evicted("w7")});  // it waited already, as one that is to be admitted
  const auto taken = take_all();
  ASSERT_GE(taken.size(), 9U);
  EXPECT_EQ(taken[2], "ns/v");
  EXPECT_EQ(taken[3], "ns/w7");
  EXPECT_EQ(bridge_.outstanding(), 0U);
}

TEST_F(Turns, NobodyWhoStopsJobsAllTheTimeKeepsOthersFromStarting) {
  for (int i = 0; i < 60; ++i) add_workload("stops" + std::to_string(i));
  for (int i = 0; i < 3; ++i) add_workload("starts" + std::to_string(i));
  for (int i = 0; i < 60; ++i) bridge_.want({evicted("stops" + std::to_string(i))});
  for (int i = 0; i < 3; ++i) bridge_.want({admitted("starts" + std::to_string(i))});
  const auto taken = take_all();
  ASSERT_EQ(taken.size(), 63U);
  EXPECT_LT(std::find(taken.begin(), taken.end(), "ns/starts0") - taken.begin(), 11);
  EXPECT_LT(std::find(taken.begin(), taken.end(), "ns/starts2") - taken.begin(), 30);
}

TEST_F(Turns, NamespacesHaveTheirs) {
  std::vector<admission::Intent> wanted;
  for (int i = 0; i < 50; ++i) {
    add_workload("flood" + std::to_string(i), "noisy");
    wanted.emplace_back(admitted("flood" + std::to_string(i), "noisy"));
  }
  for (int i = 0; i < 3; ++i) {
    add_workload("quiet" + std::to_string(i), "quiet");
    wanted.emplace_back(admitted("quiet" + std::to_string(i), "quiet"));
  }
  bridge_.want(std::move(wanted));
  const auto taken = take_all();
  ASSERT_EQ(taken.size(), 53U);
  EXPECT_LT(std::find(taken.begin(), taken.end(), "quiet/quiet2") - taken.begin(), 9);
}

TEST_F(Turns, ALowerLimitHoldsFromTheNextWriteOn) {
  at_once_ = 6;
  for (int i = 0; i < 12; ++i) {
    add_workload("w" + std::to_string(i));
    bridge_.want({admitted("w" + std::to_string(i))});
  }
  ASSERT_EQ(sent_.size(), 6U);
  at_once_ = 1;
  for (int left = 6; left > 1; --left) {
    ASSERT_EQ(sent_.size(), static_cast<std::size_t>(left));
    take();
  }
  ASSERT_EQ(sent_.size(), 1U);
  take();
  EXPECT_EQ(sent_.size(), 1U);
  at_once_ = 3;
  take();
  EXPECT_EQ(sent_.size(), 3U);
  (void)take_all();
  EXPECT_EQ(bridge_.outstanding(), 0U);
}

/// Any mixture: never more under way than may be, and in the end each Workload shows what was wanted of it last.
TEST_F(Turns, HoldInAnyOrder) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    std::mt19937 random(seed);
    const auto any = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
    const auto prefix = "s" + std::to_string(seed) + "-";
    std::map<std::string, std::string> wanted;
    for (int i = 0; i < 12; ++i) add_workload(prefix + std::to_string(i));
    for (int step = 0; step < 400; ++step) {
      const auto name = prefix + std::to_string(any(12));
      switch (any(6)) {
        case 0:
        case 1: {
          const auto queue = "queue-" + std::to_string(any(1000));
          auto intent = any(3) == 0 ? evicted(name) : admission_of(name);
          intent.cluster_queue = queue;
          bridge_.want({std::move(intent)});
          wanted[name] = queue;
          break;
        }
        case 2:
          bridge_.retry();
          break;
        case 3:
          at_once_ = 1 + any(4);
          break;
        default:
          if (sent_.empty()) break;
          if (any(6) == 0)
            answer(any(2) == 0 ? 500 : 0);
          else
            take();
      }
      ASSERT_LE(sent_.size(), 4U + more_.reports_in_flight_max);
    }
    for (int i = 0; i < 5'000 && bridge_.outstanding() != 0; ++i) {
      while (!sent_.empty()) take();
      bridge_.retry();
    }
    EXPECT_EQ(bridge_.outstanding(), 0U) << seed;
    for (const auto& [name, queue] : wanted)
      EXPECT_NE(mirror_.find_by_uid("uid-" + name)->find("\"" + queue + "\""), std::string::npos) << seed << " " << name;
  }
}

}  // namespace
}  // namespace hindsight::connectors
