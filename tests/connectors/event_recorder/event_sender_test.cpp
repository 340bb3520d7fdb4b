#include "connectors/event_recorder/event_sender.hpp"

#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "connectors/objects/resource_types.hpp"
#include "tests/support/sanitized.hpp"

namespace hindsight::connectors {
namespace {

using kubernetes::KubernetesEvent;
using nlohmann::json;

Time at(std::int64_t seconds) { return Time::from_seconds(10'000 + seconds); }

KubernetesEvent event(const std::string& name, Time now) {
  KubernetesEvent e;
  e.type = &types::workload;
  e.namespace_ = "ns";
  e.name = name;
  e.uid = "uid-" + name;
  e.reason = "QuotaReserved";
  e.message = "m";
  e.first = e.last = now;
  return e;
}

/// No time passes between a write and its answer, so that a slow machine is not taken for a busy cluster.
std::chrono::steady_clock::time_point standing_clock() { return {}; }

/// Takes writes and answers when it is told to.
class SlowCluster : public Cluster {
 public:
  void submit(Write write, std::function<void(WriteAnswer)> done) override { under_way.emplace_back(std::move(write), std::move(done)); }
  void answer(int status) {
    auto [write, done] = std::move(under_way.front());
    under_way.pop_front();
    done({.http_status = status, .body = "", .retry_after_seconds = 0});
  }
  std::deque<std::pair<Write, std::function<void(WriteAnswer)>>> under_way;
};

/// Answers within submit(), as a simulated cluster does.
class PromptCluster : public Cluster {
 public:
  void submit(Write write, std::function<void(WriteAnswer)> done) override {
    int status = 201;
    if (write.verb == Write::Verb::create) {
      if (refuse_all) status = 403;
      if (!refuse_all && !events.insert(write.name).second) status = 409;
    } else if (!events.contains(write.name)) {
      status = 404;
    }
    writes.push_back(std::move(write));
    done({.http_status = status, .body = "", .retry_after_seconds = 0});
  }
  std::set<std::string> events;
  std::vector<Write> writes;
  bool refuse_all = false;
};

TEST(EventSenderTest, AnEventIsOneCreationAndItsRepetitionsAPatchOfTheSame) {
  PromptCluster cluster;
  EventSender sender(cluster, {.clock = standing_clock});
  sender.offer({event("a", at(0))}, at(0));
  sender.offer({event("a", at(1)), event("a", at(2))}, at(2));
  ASSERT_EQ(cluster.writes.size(), 1U);
  EXPECT_EQ(cluster.writes[0].verb, Write::Verb::create);
  EXPECT_EQ(cluster.writes[0].type, &types::event);
  EXPECT_EQ(cluster.writes[0].namespace_, "ns");
  sender.tick(at(61));
  ASSERT_EQ(cluster.writes.size(), 2U);
  EXPECT_EQ(cluster.writes[1].verb, Write::Verb::merge_patch);
  EXPECT_EQ(cluster.writes[1].name, cluster.writes[0].name);
  EXPECT_EQ(json::parse(cluster.writes[1].body).at("count"), 3);
  const auto s = sender.statistics();
  EXPECT_EQ(s.offered, 3U);
  EXPECT_EQ(s.merged, 2U);
  EXPECT_EQ(s.sent, 2U);
  EXPECT_EQ(s.failed, 0U);
}

TEST(EventSenderTest, ACountWhoseEventIsGoneIsMadeAnew) {
  PromptCluster cluster;
  EventSender sender(cluster, {.clock = standing_clock});
  sender.offer({event("a", at(0)), event("a", at(0))}, at(0));
  cluster.events.clear();  // Its time to live is over.
  sender.tick(at(60));
  ASSERT_EQ(cluster.writes.size(), 3U);
  EXPECT_EQ(cluster.writes[2].verb, Write::Verb::create);
  const json body = json::parse(cluster.writes[2].body);
  EXPECT_EQ(body.at("count"), 2);
  EXPECT_EQ(body.at("reason"), "QuotaReserved");
  EXPECT_EQ(sender.statistics().sent, 2U);
}

TEST(EventSenderTest, ARefusalIsCountedAndNotTriedAgain) {
  PromptCluster cluster;
  cluster.refuse_all = true;
  EventSender sender(cluster, {.clock = standing_clock});
  sender.offer({event("a", at(0)), event("b", at(0))}, at(0));
  for (int i = 1; i < 1'000; ++i) sender.tick(at(i));
  EXPECT_EQ(cluster.writes.size(), 2U);
  EXPECT_EQ(sender.statistics().failed, 2U);
}

TEST(EventSenderTest, WhenTheClusterIsSlowTheOldestAreDroppedAndNobodyWaits) {
  SlowCluster cluster;
  EventSender sender(cluster, {.waiting_max = 10, .in_flight_max = 2, .per_second = 0, .clock = standing_clock});
  for (int i = 0; i < 100; ++i) sender.offer({event(std::to_string(i), at(0))}, at(0));
  EXPECT_EQ(cluster.under_way.size(), 2U);
  EXPECT_EQ(sender.statistics().waiting, 10U);
  EXPECT_EQ(sender.statistics().dropped, 88U);
  std::vector<std::string> order;
  while (!cluster.under_way.empty()) {
    order.push_back(json::parse(cluster.under_way.front().first.body).at("involvedObject").at("name"));
    cluster.answer(201);
  }
  EXPECT_EQ(order, (std::vector<std::string>{"0", "1", "90", "91", "92", "93", "94", "95", "96", "97", "98", "99"}));
  EXPECT_EQ(sender.statistics().sent, 12U);
}

TEST(EventSenderTest, TheRateOfWritesIsBounded) {
  PromptCluster cluster;
  EventSender sender(cluster, {.waiting_max = 1'000, .per_second = 10, .burst = 20, .clock = standing_clock});
  std::vector<KubernetesEvent> many;
  for (int i = 0; i < 100; ++i) many.push_back(event(std::to_string(i), at(0)));
  sender.offer(many, at(0));
  EXPECT_EQ(cluster.writes.size(), 20U);
  sender.tick(at(1));
  EXPECT_EQ(cluster.writes.size(), 30U);
  sender.tick(at(1));
  EXPECT_EQ(cluster.writes.size(), 30U);
  sender.tick(at(60));  // What was saved up is bounded by the burst.
  EXPECT_EQ(cluster.writes.size(), 50U);
}

TEST(EventSenderTest, ABusyClusterIsLeftAloneForThreeTimesAsLongAsItTook) {
  SlowCluster cluster;
  std::chrono::steady_clock::time_point now;
  EventSender sender(cluster, {.clock = [&now] { return now; }});
  sender.offer({event("a", at(0)), event("b", at(0)), event("c", at(0))}, at(0));
  now += std::chrono::milliseconds(50);
  cluster.answer(201);
  ASSERT_EQ(cluster.under_way.size(), 1U) << "not yet busy: the next follows at once";
  now += std::chrono::milliseconds(200);
  cluster.answer(201);
  now += std::chrono::milliseconds(599);
  sender.tick(at(1));
  EXPECT_TRUE(cluster.under_way.empty());
  now += std::chrono::milliseconds(1);
  sender.tick(at(1));
  ASSERT_EQ(cluster.under_way.size(), 1U);

  sender.offer({event("d", at(2))}, at(2));
  now += std::chrono::minutes(10);  // it was away
  cluster.answer(201);
  now += std::chrono::seconds(5);
  sender.tick(at(3));
  EXPECT_EQ(cluster.under_way.size(), 1U);
}

TEST(EventSenderTest, APromptClusterDoesNotDeepenTheStack) {
  PromptCluster cluster;
  EventSender sender(cluster, {.waiting_max = 200'000, .per_second = 0, .clock = standing_clock});
  std::vector<KubernetesEvent> many;
  constexpr std::size_t count = as_much_as<std::size_t>(100'000, 20'000);
  for (std::size_t i = 0; i < count; ++i) many.push_back(event(std::to_string(i), at(0)));
  sender.offer(std::move(many), at(0));
  EXPECT_EQ(cluster.writes.size(), count);
}

TEST(EventSenderTest, AnswersAfterTheEndAreHarmless) {
  SlowCluster cluster;
  {
    EventSender sender(cluster, {.in_flight_max = 1, .clock = standing_clock});
    sender.offer({event("a", at(0)), event("b", at(0))}, at(0));
  }
  ASSERT_EQ(cluster.under_way.size(), 1U);
  cluster.answer(0);
  EXPECT_TRUE(cluster.under_way.empty());
}

TEST(EventSenderTest, ThreadsMayOfferAndAnswerAtTheSameTime) {
  struct LockedCluster : Cluster {
    void submit(Write, std::function<void(WriteAnswer)> done) override {
      const std::lock_guard lock(mutex);
      waiting.push_back(std::move(done));
    }
    std::mutex mutex;
    std::deque<std::function<void(WriteAnswer)>> waiting;
  } cluster;
  EventSender sender(cluster, {.waiting_max = 100'000, .per_second = 0, .clock = standing_clock});
  sender.start_ticking();
  constexpr int threads = 3, each = 2'000;
  std::vector<std::thread> offering;
  for (int t = 0; t < threads; ++t)
    offering.emplace_back([&, t] {
      for (int i = 0; i < each; ++i) sender.offer({event(std::to_string(t) + "-" + std::to_string(i), at(0))}, at(0));
    });
  std::uint64_t answered = 0;
  while (answered < threads * each) {
    std::function<void(WriteAnswer)> done;
    {
      const std::lock_guard lock(cluster.mutex);
      if (!cluster.waiting.empty()) {
        done = std::move(cluster.waiting.front());
        cluster.waiting.pop_front();
      }
    }
    if (!done) {
      std::this_thread::yield();
      continue;
    }
    done({.http_status = 201, .body = "", .retry_after_seconds = 0});
    ++answered;
  }
  for (auto& thread : offering) thread.join();
  EXPECT_EQ(sender.statistics().sent, static_cast<std::uint64_t>(threads * each));
}

}  // namespace
}  // namespace hindsight::connectors
