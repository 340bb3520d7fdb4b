// What a change of LimitRanges and RuntimeClasses costs. Any user of a namespace may write LimitRanges: what changes nothing costs nothing,
// what changes something is told of those that it changes, in pieces between which all others have their turn, and no faster than the log
// bears.

#include <algorithm>
#include <map>
#include <memory>

#include "tests/connectors/bridge/bridge_fixture.hpp"

namespace hindsight::connectors {
namespace {

using test::asks_nothing;
using Tasks = std::deque<std::function<void()>>;

std::string range(const std::string& name, const std::string& limits, const std::string& note = "") {
  return R"({"metadata":{"namespace":"ns","name":")" + name + R"(","annotations":{"note":")" + note + R"("}},"spec":{"limits":[)" + limits +
         "]}}";
}

std::string asks_by_default(int cpu) { return R"({"type":"Container","defaultRequest":{"cpu":")" + std::to_string(cpu) + R"("}})"; }

class Defaults : public test::BridgeTest {
 protected:
  using test::BridgeTest::BridgeTest;

  void pending(int count) {
    for (int i = 0; i < count; ++i) add(types::workload, workload("w" + std::to_string(1000 + i), "7", asks_nothing));
    seen_.clear();
  }
};

TEST_F(Defaults, WhatChangesNothingIsNotTold) {
  pending(100);
  add(types::limit_range, range("a", asks_by_default(2)));
  EXPECT_EQ(seen_.size(), 100U);
  seen_.clear();
  for (int i = 0; i < 50; ++i) change(types::limit_range, range("a", asks_by_default(2), std::to_string(i)));
  EXPECT_TRUE(seen_.empty()) << "an annotation";
  add(types::limit_range, range("b", asks_by_default(7)));
  EXPECT_TRUE(seen_.empty()) << "the first one by name counts";
  add(types::limit_range, range("c", R"({"type":"PersistentVolumeClaim","max":{"storage":"1"}})"));
  EXPECT_TRUE(seen_.empty()) << "no pod is concerned";
  remove(types::limit_range, range("b", asks_by_default(7)));
  EXPECT_TRUE(seen_.empty());
}

TEST_F(Defaults, OnlyThoseAreToldOfWhichTheOutcomeIsAnother) {
  pending(50);
  add(types::workload, workload("asks", "8", R"({"name":"c","resources":{"requests":{"cpu":"9"}}})"));
  seen_.clear();
  add(types::limit_range, range("a", R"({"type":"Container","max":{"cpu":"10"}})"));
  EXPECT_TRUE(seen_.empty()) << "nobody asks for so much";
  change(types::limit_range, range("a", R"({"type":"Container","max":{"cpu":"4"}})"));
  ASSERT_EQ(seen_.size(), 1U);
  EXPECT_EQ(seen_[0].name, "asks");
  EXPECT_NE(seen_[0].limit_range_error, "");
}

TEST_F(Defaults, ARuntimeClassThatStaysAsItIsIsNotTold) {
  add(types::workload, workload("a", "7", asks_nothing, R"(,"runtimeClassName":"gvisor")"));
  seen_.clear();
  const auto runtime = [](const char* note, const char* cpu) {
    return std::string(R"({"metadata":{"name":"gvisor","annotations":{"n":")") + note +
           R"("}},"handler":"x","overhead":{"podFixed":{"cpu":")" + cpu + R"("}}})";
  };
  add(types::runtime_class, runtime("1", "250m"));
  change(types::runtime_class, runtime("2", "250m"));
  EXPECT_EQ(seen_.size(), 1U);
  change(types::runtime_class, runtime("2", "500m"));
  EXPECT_EQ(seen_.size(), 2U);
}

// What was told by an observation of its own needs no second word.
TEST_F(Defaults, WhatWasSeenMeanwhileIsNotToldAgain) {
  add(types::workload, workload("a", "7", asks_nothing));
  add(types::limit_range, range("a", asks_by_default(2)));
  remove(types::workload, workload("a", "7", asks_nothing));
  add(types::workload, workload("a", "8", asks_nothing));
  seen_.clear();
  change(types::limit_range, range("a", asks_by_default(2), "again"));
  EXPECT_TRUE(seen_.empty());
  change(types::limit_range, range("a", asks_by_default(3)));
  EXPECT_EQ(seen_.size(), 1U);
}

/// Somebody flips a LimitRange each second.
TEST_F(Defaults, ManyChangesAreToldNoFasterThanTheLogBears) {
  pending(1'000);
  for (int second = 0; second < 100; ++second) {
    for (int i = 0; i < 10; ++i) change(types::limit_range, range("a", asks_by_default(1 + i % 2 + second % 3)));
    bridge_.retry();
  }
  EXPECT_LE(seen_.size(), 100U * 100 + 2'000) << "a hundred in a second, and what the first two changes told";
  EXPECT_GE(seen_.size(), 5'000U) << "and what is true now is told at last";
  for (int second = 0; second < 12; ++second) bridge_.retry();
  seen_.clear();
  change(types::limit_range, range("a", asks_by_default(50)));
  for (int second = 0; second < 12; ++second) bridge_.retry();
  ASSERT_FALSE(seen_.empty());
  EXPECT_EQ(seen_.back().requests, "cpu=50000 ");
  EXPECT_EQ(seen_.size(), 1'000U);
  EXPECT_EQ(bridge_.retries_until_next(), 0U);
}

/// On a thread of its own the bridge takes all that waits for it between two pieces.
class InPieces : public Defaults {
 protected:
  InPieces() : InPieces(std::make_shared<Tasks>()) {}

  bool run_one() {
    if (tasks_->empty()) return false;
    const auto task = std::move(tasks_->front());
    tasks_->pop_front();
    task();
    return true;
  }
  int run_all() {
    int pieces = 0;
    while (run_one()) ++pieces;
    return pieces;
  }

  std::shared_ptr<Tasks> tasks_;

 private:
  explicit InPieces(std::shared_ptr<Tasks> tasks) : Defaults(with(tasks)), tasks_(std::move(tasks)) {}
  static BridgeOptions with(const std::shared_ptr<Tasks>& tasks) {
    BridgeOptions out;
    out.later = [tasks](std::function<void()> work) { tasks->push_back(std::move(work)); };
    out.synced_kinds = {&types::workload, &types::limit_range};
    return out;
  }
};

TEST_F(InPieces, WhatIsMuchIsReadInPieces) {
  bridge_.on_watch({WatchEvent::Type::synced, &types::workload, ""});
  bridge_.on_watch({WatchEvent::Type::synced, &types::limit_range, ""});
  EXPECT_EQ(synced_, 1);
  pending(1'000);
  add(types::limit_range, range("a", asks_by_default(2)));
  EXPECT_TRUE(seen_.empty());
  ASSERT_TRUE(run_one());
  EXPECT_LE(seen_.size(), 32U) << "others wait no longer than this takes";
  // Several changes are one: nobody is told twice of what was not true for long.
  for (int i = 3; i < 50; ++i) change(types::limit_range, range("a", asks_by_default(i)));
  EXPECT_EQ(tasks_->size(), 1U);
  const int pieces = run_all();
  EXPECT_LE(pieces, 2 * (1'000 / 32 + 2));
  for (int second = 0; second < 20; ++second) {
    bridge_.retry();
    run_all();
  }
  EXPECT_LE(seen_.size(), 1'032U) << "those that had been told the first of them, and everybody of the last";
  std::map<std::string, std::string> last;
  for (const auto& s : seen_) last[s.name] = s.requests;
  EXPECT_EQ(last.size(), 1'000U);
  for (const auto& [name, requests] : last) EXPECT_EQ(requests, "cpu=49000 ") << name;
}

// Not even a look at them.
TEST_F(InPieces, WhatChangesNothingReadsNothing) {
  bridge_.on_watch({WatchEvent::Type::synced, &types::workload, ""});
  bridge_.on_watch({WatchEvent::Type::synced, &types::limit_range, ""});
  pending(10);
  add(types::limit_range, range("a", asks_by_default(2)));
  run_all();
  change(types::limit_range, range("a", asks_by_default(2), "a note"));
  add(types::limit_range, range("b", asks_by_default(3)));
  add(types::runtime_class, R"({"metadata":{"name":"of-nobody"},"handler":"x"})");
  EXPECT_TRUE(tasks_->empty());
}

TEST_F(InPieces, NamespacesTakeTurns) {
  bridge_.on_watch({WatchEvent::Type::synced, &types::workload, ""});
  bridge_.on_watch({WatchEvent::Type::synced, &types::limit_range, ""});
  pending(1'000);
  add(types::workload, workload("honest", "9", asks_nothing, "", "other"));
  add(types::limit_range, range("a", asks_by_default(2)));
  seen_.clear();
  add(types::limit_range, R"({"metadata":{"namespace":"other","name":"r"},"spec":{"limits":[)" + asks_by_default(5) + "]}}");
  run_one();
  run_one();
  EXPECT_TRUE(std::any_of(seen_.begin(), seen_.end(), [](const Seen& s) { return s.name == "honest"; }));
}

// Until everything is listed nobody decides, and what the LimitRanges add up to is told once.
TEST_F(InPieces, WhatIsListedIsToldBeforeItIsSaidThatAllIs) {
  pending(200);
  for (int i = 0; i < 10; ++i) add(types::limit_range, range(std::string(1, static_cast<char>('z' - i)), asks_by_default(10 + i)));
  EXPECT_EQ(run_all(), 0);
  EXPECT_TRUE(seen_.empty());
  bridge_.on_watch({WatchEvent::Type::synced, &types::workload, ""});
  bridge_.on_watch({WatchEvent::Type::synced, &types::limit_range, ""});
  EXPECT_EQ(synced_, 0) << "first the Workloads are told again";
  run_all();
  EXPECT_EQ(synced_, 1);
  ASSERT_EQ(seen_.size(), 200U);
  EXPECT_EQ(seen_.back().requests, "cpu=19000 ");
}

// A bridge that has ended does nothing any more.
TEST(PiecesOfABridgeThatEnded, DoNothing) {
  class Nobody final : public Cluster {
   public:
    void submit(Write, std::function<void(WriteAnswer)>) override {}
  };
  Nobody cluster;
  MemoryMirror mirror;
  Tasks tasks;
  int told = 0;
  BridgeOptions options;
  options.later = [&](std::function<void()> work) { tasks.push_back(std::move(work)); };
  auto bridge = std::make_unique<Bridge>(
      cluster, mirror, [&](const Observation&) { ++told; }, options);
  const std::string text = R"({"metadata":{"namespace":"ns","name":"w","uid":"u","resourceVersion":"1"},"spec":{"queueName":"q","podSets":[
      {"name":"main","count":1,"template":{"spec":{"containers":[{"name":"c"}]}}}]}})";
  mirror.on_watch({WatchEvent::Type::added, &types::workload, text});
  bridge->on_watch({WatchEvent::Type::added, &types::workload, text});
  const auto limits = range("a", asks_by_default(2));
  bridge->on_watch({WatchEvent::Type::added, &types::limit_range, limits});
  ASSERT_EQ(tasks.size(), 1U);
  bridge.reset();
  tasks.front()();
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace hindsight::connectors
