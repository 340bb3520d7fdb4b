// Shows the election on a clock of our own: two candidates, lost and late messages, and never two leaders.
#include "connectors/kubernetes/lease/lease_election.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "connectors/kubernetes/kubernetes_cluster.hpp"
#include "tests/connectors/kubernetes/fake_api_server.hpp"
#include "tests/connectors/kubernetes/lease_server.hpp"
#include "tests/connectors/kubernetes/waiting.hpp"

namespace hindsight::connectors::kubernetes {
namespace {

using nlohmann::json;
using testing::LeaseServer;
using testing::operator+;
using testing::seconds;
using testing::settings;
using Verb = LeaseElection::Request::Verb;

/// Lets a candidate do all that is due now, answered at once.
void step(LeaseElection& candidate, LeaseServer& server, Duration now) {
  while (const auto request = candidate.next(now, Time{now.micros})) {
    const auto answer = server.handle(*request);
    candidate.answer(now, answer.status, answer.body);
  }
}

TEST(LeaseSettings, AreChecked) {
  EXPECT_TRUE(checked(settings("a")));
  EXPECT_NE(checked(settings("")).error().message.find("identity"), std::string::npos);
  LeaseSettings bad = settings("a");
  bad.renew_deadline = seconds(20);
  EXPECT_NE(checked(bad).error().message.find("leaseDuration"), std::string::npos);
  bad.renew_deadline = seconds(1);
  EXPECT_NE(checked(bad).error().message.find("renewDeadline"), std::string::npos);
  bad.retry_period = seconds(0);
  EXPECT_NE(checked(bad).error().message.find("retryPeriod"), std::string::npos);
  bad = settings("a");
  bad.name = "";
  EXPECT_FALSE(checked(bad));
  bad = settings("a");
  bad.namespace_ = "";
  EXPECT_FALSE(checked(bad));
}

TEST(LeaseElection, TheFirstCreatesTheLeaseAndTheSecondWaits) {
  LeaseServer server;
  LeaseElection a(settings("a"));
  LeaseElection b(settings("b"));
  step(a, server, seconds(0));
  step(b, server, seconds(0));
  EXPECT_TRUE(a.leads(seconds(0)));
  EXPECT_FALSE(b.leads(seconds(0)));
  EXPECT_EQ(b.holder(), "a");
  EXPECT_EQ(server.lease()["spec"], json::parse(R"({"holderIdentity":"a","leaseDurationSeconds":15,"leaseTransitions":0,
      "renewTime":"1970-01-01T00:00:00.000000Z","acquireTime":"1970-01-01T00:00:00.000000Z"})"));
}

TEST(LeaseElection, RenewsEveryRetryPeriodAndKeepsTheTimeOfAcquisition) {
  LeaseServer server;
  LeaseElection a(settings("a"));
  step(a, server, seconds(0));
  EXPECT_EQ(a.due(), seconds(2));
  EXPECT_FALSE(a.next(seconds(1.9), Time::from_seconds(1)));
  for (int t = 2; t <= 60; t += 2) step(a, server, seconds(t));
  EXPECT_TRUE(a.leads(seconds(69)));
  EXPECT_EQ(server.lease()["spec"]["renewTime"], "1970-01-01T00:01:00.000000Z");
  EXPECT_EQ(server.lease()["spec"]["acquireTime"], "1970-01-01T00:00:00.000000Z");
}

TEST(LeaseElection, ADeadLeaderIsFollowedAfterItsLeaseHasStoodStill) {
  LeaseServer server;
  LeaseElection a(settings("a"));
  LeaseElection b(settings("b"));
  step(a, server, seconds(0));
  int halves = 0;
  for (; !b.leads(seconds(halves * 0.5)); ++halves) step(b, server, seconds(halves * 0.5));
  EXPECT_GE(halves, 30);
  EXPECT_LE(halves, 36);
  EXPECT_EQ(server.holder(), "b");
  EXPECT_EQ(server.lease()["spec"]["leaseTransitions"], 1);
  // The old leader has long known that it must not act.
  EXPECT_FALSE(a.leads(seconds(10)));
  EXPECT_TRUE(a.leads(seconds(9.9)));
}

TEST(LeaseElection, ItStandsDownAtTheRenewDeadlineWhenNoAnswerComes) {
  LeaseServer server;
  LeaseElection a(settings("a"));
  step(a, server, seconds(0));
  for (int t = 2; t < 10; t += 2) {
    if (a.next(seconds(t), Time{})) a.answer(seconds(t + 0.1), 0, "");
  }
  EXPECT_TRUE(a.leads(seconds(9.99)));
  EXPECT_FALSE(a.leads(seconds(10)));
  // It stands again as a candidate when the server is back.
  step(a, server, seconds(20));
  EXPECT_TRUE(a.leads(seconds(20)));
}

TEST(LeaseElection, TheDeadlineCountsFromTheSendingOfTheRenewal) {
  LeaseServer server;
  LeaseElection a(settings("a"));
  step(a, server, seconds(0));
  const auto renewal = a.next(seconds(2), Time::from_seconds(2));
  ASSERT_TRUE(renewal);
  const auto answer = server.handle(*renewal);
  EXPECT_FALSE(a.next(seconds(5), Time::from_seconds(5)));  // Still awaited.
  a.answer(seconds(9), answer.status, answer.body);
  EXPECT_TRUE(a.leads(seconds(11.9)));
  EXPECT_FALSE(a.leads(seconds(12)));
}

TEST(LeaseElection, ALeaderThatFindsAnotherHolderStandsDown) {
  LeaseServer server;
  LeaseElection a(settings("a"));
  step(a, server, seconds(0));
  json stolen = server.lease();
  stolen["spec"]["holderIdentity"] = "x";
  ASSERT_EQ(server.handle({Verb::merge_patch, stolen.dump()}).status, 200);
  step(a, server, seconds(2));
  EXPECT_FALSE(a.leads(seconds(2)));
  EXPECT_EQ(a.holder(), "x");
}

TEST(LeaseElection, ALeaderWhoseLeaseWasTouchedOrDeletedGoesOn) {
  LeaseServer server;
  LeaseElection a(settings("a"));
  step(a, server, seconds(0));
  json touched = server.lease();
  touched["metadata"]["labels"] = {{"l", "v"}};
  ASSERT_EQ(server.handle({Verb::merge_patch, touched.dump()}).status, 200);
  step(a, server, seconds(2));
  EXPECT_TRUE(a.leads(seconds(11)));
  server.remove();
  step(a, server, seconds(4));
  EXPECT_TRUE(a.leads(seconds(13)));
  EXPECT_EQ(server.holder(), "a");
}

TEST(LeaseElection, AReleasedLeaseIsTakenAtTheNextLook) {
  LeaseServer server;
  LeaseElection a(settings("a"));
  LeaseElection b(settings("b"));
  step(a, server, seconds(0));
  step(b, server, seconds(0));
  const auto release = a.release(Time::from_seconds(1));
  ASSERT_TRUE(release);
  EXPECT_FALSE(a.leads(seconds(1)));
  EXPECT_EQ(server.handle(*release).status, 200);
  EXPECT_EQ(server.holder(), "");
  step(b, server, seconds(2));
  EXPECT_TRUE(b.leads(seconds(2)));
  EXPECT_FALSE(b.release(Time{}) == std::nullopt);
}

TEST(LeaseElection, WhoHoldsNothingReleasesNothing) {
  LeaseServer server;
  LeaseElection a(settings("a"));
  LeaseElection b(settings("b"));
  EXPECT_FALSE(a.release(Time{}));
  step(a, server, seconds(0));
  step(b, server, seconds(0));
  EXPECT_FALSE(b.release(Time{}));
}

TEST(LeaseElection, ACopyThatRestartsUnderItsOldNameLeadsAtOnce) {
  LeaseServer server;
  LeaseElection before(settings("a"));
  step(before, server, seconds(0));
  LeaseElection after(settings("a"));
  step(after, server, seconds(3));
  EXPECT_TRUE(after.leads(seconds(3)));
  EXPECT_EQ(server.lease()["spec"]["leaseTransitions"], 0);
}

TEST(LeaseElection, HeedsRetryAfterButAsksBeforeItHasToStandDown) {
  LeaseElection a(settings("a"));
  LeaseServer server;
  step(a, server, seconds(0));
  ASSERT_TRUE(a.leads(seconds(0)));
  ASSERT_TRUE(a.next(seconds(2), Time{}));
  a.answer(seconds(2), 429, "", 3);
  EXPECT_EQ(a.due(), seconds(5));
  ASSERT_TRUE(a.next(seconds(5), Time{}));
  // An hour is too much to ask of a leader: half of the renew deadline of 10 s it gives.
  a.answer(seconds(5), 429, "", 3600);
  EXPECT_EQ(a.due(), seconds(10));
  ASSERT_TRUE(a.next(seconds(10), Time{}));
  a.answer(seconds(10), 503, "", 0);
  EXPECT_EQ(a.due(), seconds(12));
}

TEST(LeaseElection, NeverHasTwoLeadersWhateverTheNetworkDoes) {
  // Three candidates over a network that delays and loses requests and answers; some crash and come back. Clocks run up to 10 %
  // apart, less than the difference of lease duration and renew deadline allows for.
  std::size_t changes_of_leader = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    const auto chance = [&](unsigned percent) { return random() % 100 < percent; };
    struct Candidate {
      LeaseElection election;
      double speed;
      bool crashed;
      std::uint32_t life;
    };
    struct Message {
      Duration at;
      std::size_t to;
      std::uint32_t life;
      bool is_request;
      LeaseElection::Request request;
      LeaseServer::Answer answer;
    };
    LeaseServer server;
    std::vector<Candidate> candidates;
    for (int i = 0; i < 3; ++i) {
      candidates.push_back({LeaseElection(settings(std::string(1, static_cast<char>('a' + i)))), 0.95 + 0.05 * i, false, 0});
    }
    std::vector<Message> messages;
    const auto loss = static_cast<unsigned>(random() % 40);
    const double delay_max = 0.05 + static_cast<double>(random() % 100) * 0.06;
    const auto delay = [&] { return seconds(delay_max * static_cast<double>(random() % 1000) / 1000); };
    std::string last_leader;
    for (int tick = 0; tick < 4000; ++tick) {
      const Duration now = seconds(tick * 0.05);
      const auto local = [&](const Candidate& c) { return Duration{static_cast<std::int64_t>(static_cast<double>(now.micros) * c.speed)}; };
      for (std::size_t i = 0; i < messages.size();) {
        if (messages[i].at > now) {
          ++i;
          continue;
        }
        const Message message = messages[i];
        messages.erase(messages.begin() + static_cast<std::ptrdiff_t>(i));
        Candidate& to = candidates[message.to];
        if (message.is_request) {
          Message answer{now + delay(), message.to, message.life, false, {}, server.handle(message.request)};
          if (chance(loss)) answer.answer = {0, ""};
          messages.push_back(answer);
        } else if (!to.crashed && to.life == message.life) {
          to.election.answer(local(to), message.answer.status, message.answer.body);
        }
      }
      int leaders = 0;
      for (std::size_t i = 0; i < candidates.size(); ++i) {
        Candidate& candidate = candidates[i];
        if (candidate.crashed) {
          if (random() % 400 == 0) {
            candidate.crashed = false;
            candidate.election = LeaseElection(settings(candidate.election.settings().identity + "'"));
          }
          continue;
        }
        if (random() % 2000 == 0) {
          candidate.crashed = true;
          ++candidate.life;
          continue;
        }
        if (const auto request = candidate.election.next(local(candidate), Time{now.micros})) {
          const bool lost = chance(loss);
          Message message{now + delay(), i, candidate.life, !lost, *request, {0, ""}};
          if (lost) message.at = now + seconds(5);  // The request's time limit.
          messages.push_back(message);
        }
        if (candidate.election.leads(local(candidate))) {
          ++leaders;
          if (last_leader != candidate.election.settings().identity) {
            last_leader = candidate.election.settings().identity;
            ++changes_of_leader;
          }
        }
      }
      ASSERT_LE(leaders, 1) << "seed " << seed << " tick " << tick;
    }
  }
  // The runs were not idle: leaders did change.
  EXPECT_GT(changes_of_leader, 800U);
}

// ---------------------------------------------------------------- over HTTP

TEST(LeaderElector, OfTwoCopiesOneLeadsAndTheOtherFollowsWhenItResigns) {
  using testing::Exchange;
  using testing::Watched;
  LeaseServer server;
  std::mutex mutex;
  testing::FakeApiServer fake([&](Exchange& exchange) {
    const std::lock_guard lock(mutex);
    const Verb verb = exchange.method == "GET" ? Verb::get : exchange.method == "POST" ? Verb::create : Verb::merge_patch;
    EXPECT_EQ(exchange.path, verb == Verb::create ? "/apis/coordination.k8s.io/v1/namespaces/ns/leases"
                                                  : "/apis/coordination.k8s.io/v1/namespaces/ns/leases/lease");
    const auto answer = server.handle({verb, exchange.body});
    exchange.answer(answer.status, answer.body);
  });
  Connection connection;
  connection.server = fake.url();
  auto first = *KubernetesCluster::connect(connection);
  auto second = *KubernetesCluster::connect(connection);
  const auto quick = [](const std::string& identity) {
    LeaseSettings out = settings(identity);
    out.lease_duration = seconds(3);
    out.renew_deadline = seconds(2);
    out.retry_period = seconds(0.05);
    return out;
  };
  Watched<std::vector<std::string>> history;
  const auto tell = [&](const std::string& who) {
    return [history, who](bool leads) { history.change([&](auto& list) { list.push_back(who + (leads ? "+" : "-")); }); };
  };
  first->elect(quick("one"), tell("one"));
  ASSERT_TRUE(history.wait([](const auto& list) { return list == std::vector<std::string>{"one+"}; }));
  second->elect(quick("two"), tell("two"));
  ASSERT_TRUE(testing::eventually([&] { return fake.requests().size() >= 20; }));
  EXPECT_EQ(history.get(), std::vector<std::string>{"one+"});
  first->resign();
  ASSERT_TRUE(history.wait([](const auto& list) { return list.size() == 3; }));
  EXPECT_EQ(history.get(), (std::vector<std::string>{"one+", "one-", "two+"}));
  second->stop();
  EXPECT_EQ(history.get().back(), "two-");
  {
    const std::lock_guard lock(mutex);
    EXPECT_EQ(server.holder(), "");
  }
  first->stop();
}

TEST(LeaderElector, StandsDownWhenTheServerStaysAway) {
  using testing::Exchange;
  using testing::Watched;
  LeaseServer server;
  std::mutex mutex;
  testing::FakeApiServer fake([&](Exchange& exchange) {
    const std::lock_guard lock(mutex);
    const Verb verb = exchange.method == "GET" ? Verb::get : exchange.method == "POST" ? Verb::create : Verb::merge_patch;
    const auto answer = server.handle({verb, exchange.body});
    exchange.answer(answer.status, answer.body);
  });
  Connection connection;
  connection.server = fake.url();
  auto cluster = *KubernetesCluster::connect(connection);
  LeaseSettings quick = settings("one");
  quick.lease_duration = seconds(3);
  quick.renew_deadline = seconds(0.5);
  quick.retry_period = seconds(0.05);
  Watched<std::vector<bool>> history;
  cluster->elect(quick, [history](bool leads) { history.change([&](auto& list) { list.push_back(leads); }); });
  ASSERT_TRUE(history.wait([](const auto& list) { return !list.empty() && list.back(); }));
  fake.close();
  ASSERT_TRUE(history.wait([](const auto& list) { return !list.back(); }));
  fake.reopen();
  ASSERT_TRUE(history.wait([](const auto& list) { return list.back(); }));
  cluster->stop();
}

}  // namespace
}  // namespace hindsight::connectors::kubernetes
