// Issue 14: memory. Bodies of large writes are bounded, whoever's objects they are about; nobody else's write waits for a flood of them.

#include "connectors/bridge/large_writes.hpp"

#include <algorithm>
#include <map>
#include <random>

#include "tests/connectors/bridge/bridge_fixture.hpp"

namespace hindsight::connectors {
namespace {

using test::asks_nothing;

constexpr std::size_t most = 100'000, one = 60'000;

class LargeWritesTest : public test::BridgeTest {
 protected:
  LargeWritesTest() : BridgeTest({.large_bodies_bytes_max = most}) {}

  void add_workload(const std::string& name, const std::string& ns) { add(types::workload, workload(name, "1", asks_nothing, "", ns)); }
  /// Its write is a large one: it lets work go on, and says much.
  static admission::WorkloadIntent long_status(const std::string& name, const std::string& ns, char letter = 'x') {
    auto out = test::admission_of(name);
    out.namespace_ = ns;
    out.conditions[0].message = std::string(one / 2, letter);
    out.conditions.push_back(
        {ConditionType::pods_ready, ConditionStatus::false_, "WaitForStart", std::string(one / 2, letter), Time::from_seconds(1)});
    return out;
  }
  [[nodiscard]] std::size_t bytes_under_way() const {
    std::size_t out = 0;
    for (const auto& sent : sent_) out += sent.write.body.size();
    return out;
  }
  /// The API server takes the oldest one.
  std::string take() {
    const auto name = sent_.front().write.name, ns = sent_.front().write.namespace_;
    Json object = Json::parse(*mirror_.find(types::workload, ns, name));
    object.merge_patch(Json::parse(sent_.front().write.body));
    object["metadata"]["resourceVersion"] = std::to_string(std::stoi(object["metadata"]["resourceVersion"].get<std::string>()) + 1);
    answer(200, object.dump());
    return ns + "/" + name;
  }
};

TEST_F(LargeWritesTest, AreBoundedAndNamespacesHaveTheirTurns) {
  std::vector<admission::Intent> wanted;
  for (int i = 0; i < 10; ++i) {
    add_workload("flood" + std::to_string(i), "noisy");
    wanted.emplace_back(long_status("flood" + std::to_string(i), "noisy"));
  }
  add_workload("large", "quiet");
  wanted.emplace_back(long_status("large", "quiet"));
  add_workload("small", "ns");
  wanted.emplace_back(test::admission_of("small"));
  bridge_.want(std::move(wanted));
  ASSERT_EQ(sent_.size(), 3U);
  EXPECT_EQ(sent_.back().write.name, "small") << "a small write waits for none of them";
  std::vector<std::string> taken;
  while (!sent_.empty()) {
    EXPECT_LE(bytes_under_way(), most + 2 * one);
    taken.push_back(take());
    bridge_.retry();  // comes in between
  }
  ASSERT_EQ(taken.size(), 12U) << "each is written once";
  EXPECT_LE(std::find(taken.begin(), taken.end(), "quiet/large") - taken.begin(), 4) << "nor a large one for all of a flood";
  EXPECT_EQ(bridge_.outstanding(), 0U);
}

TEST_F(LargeWritesTest, WhatIsWantedAnewMeanwhileIsWrittenOnce) {
  for (int i = 0; i < 3; ++i) {
    add_workload("w" + std::to_string(i), "ns");
    bridge_.want({long_status("w" + std::to_string(i), "ns")});
  }
  ASSERT_EQ(sent_.size(), 2U);
  bridge_.want({long_status("w2", "ns", 'y')});
  bridge_.want({long_status("w2", "ns", 'z')});
  ASSERT_EQ(sent_.size(), 2U);
  take();
  take();
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_NE(sent_.front().write.body.find("zzzz"), std::string::npos);
  EXPECT_EQ(take(), "ns/w2");
  EXPECT_TRUE(sent_.empty());
  EXPECT_EQ(bridge_.outstanding(), 0U);
}

TEST_F(LargeWritesTest, WhatGoesWhileItWaitsLeavesNothingBehind) {
  for (int i = 0; i < 4; ++i) {
    add_workload("w" + std::to_string(i), "ns");
    bridge_.want({long_status("w" + std::to_string(i), "ns")});
  }
  remove(types::workload, workload("w2", "2", asks_nothing));
  take();
  take();
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(take(), "ns/w3");
  EXPECT_TRUE(sent_.empty());
  EXPECT_EQ(bridge_.outstanding(), 0U);
}

/// Whatever comes between, in whatever order: bounded, and in the end all that is wanted was written.
TEST_F(LargeWritesTest, HoldInAnyOrder) {
  std::mt19937 random(5);
  const auto any = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  std::map<std::string, char> wanted;
  for (int i = 0; i < 12; ++i) add_workload("w" + std::to_string(i), i % 3 == 0 ? "a" : "b");
  for (int step = 0; step < 400; ++step) {
    const auto i = any(12);
    const auto name = "w" + std::to_string(i);
    switch (any(4)) {
      case 0: {
        const char letter = static_cast<char>('a' + any(20));
        bridge_.want({long_status(name, i % 3 == 0 ? "a" : "b", letter)});
        wanted[name] = letter;
        break;
      }
      case 1:
        bridge_.retry();
        break;
      default:
        if (sent_.empty()) break;
        if (any(5) == 0)
          answer(500);
        else
          take();
    }
    EXPECT_LE(bytes_under_way(), most + 2 * one);
  }
  for (int i = 0; i < 10'000 && bridge_.outstanding() != 0; ++i) {
    while (!sent_.empty()) take();
    bridge_.retry();
  }
  EXPECT_EQ(bridge_.outstanding(), 0U);
  for (const auto& [name, letter] : wanted) {
    const auto text = mirror_.find_by_uid("uid-" + name);
    ASSERT_TRUE(text);
    EXPECT_NE(text->find(std::string(100, letter)), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace hindsight::connectors
