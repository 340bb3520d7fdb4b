#include "routing/router.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "tests/routing/facts.hpp"

namespace hindsight::routing::testing {
namespace {

class RouterTest : public ::testing::Test {
 protected:
  /// Two trees with a queue each, behind LocalQueues of their names.
  void SetUp() override {
    for (const char* name : {"a", "b"}) {
      (void)router.observe(facts.queue(name));
      (void)router.observe(facts.local_queue(name, name));
    }
    router.settle();
  }
  std::string_view home(std::string_view uid) const { return router.home_of_uid(uid).text(); }

  Facts facts;
  Router router{"east"};
};

TEST_F(RouterTest, ADomainIsNamedByClusterAndRoot) {
  const auto route = router.observe(facts.job("train", "a"));
  EXPECT_EQ(route.domain.text(), "east/queue/a");
  EXPECT_TRUE(route.moves.empty());
  EXPECT_TRUE(router.owns("east/queue/a"));
  EXPECT_FALSE(router.owns("eastern/queue/a"));
}

TEST_F(RouterTest, WhatAnyQueueMayNeedIsEverywhere) {
  EXPECT_TRUE(router.observe(facts.flavor("spot")).everywhere);
  EXPECT_TRUE(router.observe(facts.namespace_()).everywhere);
  EXPECT_TRUE(router.observe(ConfigurationObserved{}).everywhere);
  EXPECT_TRUE(router.observe(ObjectDeleted{ObjectKind::resource_flavor, "", "spot", "", {}}).everywhere);
  EXPECT_FALSE(router.observe(ObjectDeleted{ObjectKind::cluster_queue, "", "a", "", {}}).everywhere);
}

TEST_F(RouterTest, WhatNamesNoKnownQueueHasADomainOfItsOwn) {
  EXPECT_EQ(router.observe(facts.job("lost", "nowhere")).domain, router.homeless());
  (void)router.observe(facts.local_queue("dangling", "gone"));
  EXPECT_EQ(router.observe(facts.workload("w", "dangling")).domain, router.homeless());
  const auto route = router.observe(facts.queue("gone"));
  ASSERT_EQ(route.moves.size(), 2U) << "the LocalQueue and the Workload behind it";
  EXPECT_EQ(home("uid-w"), "east/queue/gone");
}

TEST_F(RouterTest, AJobItsWorkloadsAndItsPodsStayTogether) {
  (void)router.observe(facts.job("train", "a"));
  (void)router.observe(facts.workload("w-train", "b", "job-train"));  // the job has been given another queue, its Workload not yet
  (void)router.observe(facts.pod("p", "job-train"));
  for (const char* uid : {"job-train", "uid-w-train", "pod-p"}) EXPECT_EQ(home(uid), "east/queue/a") << uid;
}

TEST_F(RouterTest, APendingJobGoesWhereItsQueueNameGoes) {
  (void)router.observe(facts.job("train", "a"));
  (void)router.observe(facts.workload("w-train", "a", "job-train"));
  const auto route = router.observe(facts.job("train", "b"));
  ASSERT_EQ(route.moves.size(), 2U);
  for (const auto& move : route.moves) {
    EXPECT_EQ(move.from.text(), "east/queue/a");
    EXPECT_EQ(move.to.text(), "east/queue/b");
  }
}

TEST_F(RouterTest, WhoHoldsQuotaStaysWhereItIsCounted) {
  (void)router.observe(facts.job("train", "a"));
  const auto workload = facts.workload("w-train", "a", "job-train");
  (void)router.observe(facts.admitted(workload, "a"));
  EXPECT_TRUE(router.observe(facts.job("train", "b")).moves.empty());
  EXPECT_TRUE(router.observe(facts.local_queue("a", "b")).moves.size() == 1) << "the LocalQueue alone";
  EXPECT_EQ(home("uid-w-train"), "east/queue/a");
  EXPECT_EQ(router.observe(facts.workload("w-train", "a", "job-train")).moves.size(), 2U) << "it has given its quota back";
  EXPECT_EQ(home("uid-w-train"), "east/queue/b");
}

TEST_F(RouterTest, AFinishedWorkloadHoldsNothing) {
  const auto running = facts.admitted(facts.workload("w", "b"), "a");
  EXPECT_EQ(router.observe(running).domain.text(), "east/queue/a");
  EXPECT_EQ(router.observe(facts.finished(running)).domain.text(), "east/queue/b");
}

TEST_F(RouterTest, AJobGoesWithTheQueuedJobThatOwnsIt) {
  (void)router.observe(facts.job("child", "", "job-set"));
  EXPECT_EQ(home("job-child"), router.homeless().text());
  const auto route = router.observe(facts.job("set", "b"));
  ASSERT_EQ(route.moves.size(), 1U);
  EXPECT_EQ(route.moves[0].object.uid, "job-child");
  EXPECT_EQ(home("job-child"), "east/queue/b");
  (void)router.observe(ObjectDeleted{ObjectKind::job, "team", "set", "job-set", {}});
  EXPECT_EQ(home("job-set"), "");
}

TEST_F(RouterTest, OwnersInACircleComeToAnEnd) {
  (void)router.observe(facts.job("x", "", "job-y"));
  (void)router.observe(facts.job("y", "b", "job-x"));
  EXPECT_EQ(home("job-x"), "east/queue/b");
  EXPECT_EQ(home("job-y"), "east/queue/b");
}

// Uids are no secrets: who names that of somebody else's job, in a namespace of his own, comes nowhere near it.
TEST_F(RouterTest, NothingJoinsAJobOfAnotherNamespace) {
  (void)router.observe(facts.job("victim", "b"));
  auto workload = facts.workload("forged", "a", "job-victim");
  workload.meta.namespace_ = "evil";
  (void)router.observe(workload);
  EXPECT_NE(home("uid-forged"), "east/queue/b");
  auto child = facts.job("child", "", "job-victim");
  child.meta.namespace_ = "evil";
  (void)router.observe(child);
  EXPECT_NE(home("job-child"), "east/queue/b");
  auto pod = facts.pod("p", "job-victim");
  pod.meta.namespace_ = "evil";
  (void)router.observe(pod);
  EXPECT_NE(home("pod-p"), "east/queue/b");
  EXPECT_EQ(home("job-victim"), "east/queue/b");
}

// Whichever comes first: the namespace of the job is known only when the job is.
TEST_F(RouterTest, NothingJoinsAJobOfAnotherNamespaceThatComesLater) {
  auto workload = facts.admitted(facts.workload("forged", "a", "job-victim"), "a");
  workload.meta.namespace_ = "evil";
  (void)router.observe(workload);
  (void)router.observe(facts.job("victim", "b"));
  EXPECT_EQ(home("job-victim"), "east/queue/b") << "where its own queue is, not where the other says that it holds quota";
}

TEST_F(RouterTest, AWorkloadThatAJobTakesOverGoesToThatJob) {
  (void)router.observe(facts.job("train", "b"));
  (void)router.observe(facts.workload("made-before", "a"));
  EXPECT_EQ(home("uid-made-before"), "east/queue/a");
  const auto route = router.observe(facts.workload("made-before", "a", "job-train"));
  ASSERT_EQ(route.moves.size(), 1U);
  EXPECT_EQ(home("uid-made-before"), "east/queue/b");
}

TEST_F(RouterTest, AQueueTakesEverythingAlongToAnotherTree) {
  (void)router.observe(facts.job("train", "a"));
  const auto route = router.observe(facts.queue("a", "all"));
  EXPECT_EQ(route.moves.size(), 3U) << "queue, LocalQueue, job";
  EXPECT_EQ(home("job-train"), "east/cohort/all");
}

TEST_F(RouterTest, ADeletionAndARefusalAreToldWhereTheObjectIs) {
  (void)router.observe(facts.workload("w", "b"));
  WriteRefused refused;
  refused.kind = ObjectKind::workload;
  refused.uid = "uid-w";
  EXPECT_EQ(router.observe(refused).domain.text(), "east/queue/b");
  const ObjectDeleted gone{ObjectKind::workload, "team", "w", "uid-w", {}};
  EXPECT_EQ(router.observe(gone).domain.text(), "east/queue/b");
  EXPECT_TRUE(router.observe(gone).domain.empty()) << "twice";
}

TEST(RouterOrder, NothingHasAHomeBeforeTheListsAreComplete) {
  Facts facts;
  Router router("east");
  EXPECT_TRUE(router.observe(facts.job("train", "a")).domain.empty());
  (void)router.observe(facts.local_queue("a", "a"));
  EXPECT_TRUE(router.observe(facts.queue("a")).moves.empty());
  router.settle();
  EXPECT_EQ(router.home_of_uid("job-train").text(), "east/queue/a");
}

/// What a router knows follows from the newest observations alone: after each of them it says of every object what a router says that
/// saw nothing but these, and it tells of each object that moved.
TEST(RouterProperty, HomesFollowFromTheNewestObservationsWhateverCameBefore) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    std::mt19937 random(seed);
    const auto one_of = [&](std::initializer_list<const char*> words) { return words.begin()[random() % words.size()]; };
    Facts facts;
    Router router("east");
    std::map<std::string, Observation> newest;
    std::map<std::string, std::string> homes;
    for (const char* name : {"a", "b"}) (void)router.observe(newest[name] = facts.queue(name));
    router.settle();
    for (int step = 0; step < 120; ++step) {
      std::string key;
      Observation seen;
      const char* const number = one_of({"1", "2", "3", "4"});
      switch (random() % 4) {
        case 0:
          key = one_of({"x", "y", "z"});
          seen = facts.local_queue(key, one_of({"a", "b", "gone"}));
          if (random() % 3 == 0) seen = ObjectDeleted{ObjectKind::local_queue, "team", facts.keep(key), "", {}};
          key.insert(0, "local-");
          break;
        case 1:
          key = std::string("job-") + number;
          seen = facts.job(number, one_of({"x", "y", "z", ""}), one_of({"", "", "job-1", "job-2", "job-3"}));
          if (random() % 4 == 0) seen = ObjectDeleted{ObjectKind::job, "team", number, facts.keep(key), {}};
          break;
        case 2: {
          key = std::string("uid-") + number;
          const auto w = facts.workload(number, one_of({"x", "y", "z", ""}), one_of({"", "job-1", "job-2"}));
          seen = w;
          if (random() % 3 == 0) seen = facts.admitted(w, one_of({"a", "b", "gone"}));
          if (random() % 4 == 0) seen = ObjectDeleted{ObjectKind::workload, "team", number, facts.keep(key), {}};
          break;
        }
        default:
          key = "b";
          seen = facts.queue("b", one_of({"", "team"}));
      }
      const auto route = router.observe(seen);
      if (std::holds_alternative<ObjectDeleted>(seen))
        newest.erase(key);
      else
        newest[key] = seen;

      Router fresh("east");
      for (const auto& [name, o] : newest) (void)fresh.observe(o);
      fresh.settle();
      for (const auto& [name, o] : newest) {
        if (!name.starts_with("job-") && !name.starts_with("uid-")) continue;
        const std::string home(router.home_of_uid(name).text());
        ASSERT_EQ(home, fresh.home_of_uid(name).text()) << name << ", seed " << seed << ", step " << step;
        const bool moved = homes.contains(name) && homes.at(name) != home;
        const bool told = std::ranges::any_of(route.moves, [&](const Move& m) { return m.object.uid == name && m.to.text() == home; });
        ASSERT_EQ(moved, told) << name << ", seed " << seed << ", step " << step;
        homes[name] = home;
      }
      std::erase_if(homes, [&](const auto& entry) { return !newest.contains(entry.first); });
    }
  }
}

}  // namespace
}  // namespace hindsight::routing::testing
