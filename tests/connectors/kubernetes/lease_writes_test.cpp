// Shows that a copy writes only while it has the lease: nothing is sent after the moment in which it is lost.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "connectors/kubernetes/kubernetes_cluster.hpp"
#include "tests/connectors/kubernetes/fake_api_server.hpp"
#include "tests/connectors/kubernetes/lease_server.hpp"
#include "tests/connectors/kubernetes/waiting.hpp"

namespace hindsight::connectors::kubernetes {
namespace {

using testing::Exchange;
using testing::LeaseServer;
using testing::seconds;
using testing::settings;
using testing::Watched;
using Verb = LeaseElection::Request::Verb;

/// A server with a lease, for writes and reads of all kinds. Renewals can be made to hang.
class LeaseAndWrites {
 public:
  explicit LeaseAndWrites(std::function<void(Exchange&, int)> on_write)
      : fake_([this, on_write = std::move(on_write)](Exchange& exchange) {
          if (exchange.path.find("/leases") == std::string::npos) {
            int number = 0;
            writes.change([&](int& n) { number = ++n; });
            on_write(exchange, number);
            return;
          }
          if (silent) {
            exchange.wait_for_end();
            return;
          }
          const std::lock_guard lock(mutex_);
          const Verb verb = exchange.method == "GET" ? Verb::get : exchange.method == "POST" ? Verb::create : Verb::merge_patch;
          const auto answer = server_.handle({verb, exchange.body});
          exchange.answer(answer.status, answer.body);
        }) {}

  [[nodiscard]] std::unique_ptr<KubernetesCluster> connect() const {
    Connection connection;
    connection.server = fake_.url();
    KubernetesClusterOptions options;
    options.http.fixed_in_flight = true;
    options.backoff = {std::chrono::milliseconds(5), std::chrono::milliseconds(50)};
    return *KubernetesCluster::connect(connection, std::move(options));
  }

  std::atomic<bool> silent{false};  ///< The lease is not answered any more.
  Watched<int> writes;              ///< That arrived.

 private:
  std::mutex mutex_;
  LeaseServer server_;
  testing::FakeApiServer fake_;
};

LeaseSettings short_lease(const std::string& identity) {
  LeaseSettings out = settings(identity);
  out.lease_duration = seconds(6);
  out.renew_deadline = seconds(1.5);
  out.retry_period = seconds(0.1);
  return out;
}

constexpr ResourceType config_map{"ConfigMap", "", "v1", "configmaps", true};

Write patch_of(const std::string& name) {
  Write write;
  write.type = &config_map;
  write.namespace_ = "ns";
  write.name = name;
  write.body = "{}";
  return write;
}

TEST(WritesAndTheLease, NothingIsSentAfterTheLeaseIsLost) {
  // The server is too busy for every write, so all of them wait to be tried again; then renewals hang.
  LeaseAndWrites server([](Exchange& exchange, int) { exchange.answer(429, "busy"); });
  const auto cluster = server.connect();
  const Watched<std::vector<bool>> history;
  cluster->elect(short_lease("one"), [history](bool leads) { history.change([&](auto& list) { list.push_back(leads); }); });
  ASSERT_TRUE(history.wait([](const auto& list) { return list.size() == 1; }));

  const Watched<std::vector<int>> answers;
  const auto note = [answers](const WriteAnswer& answer) { answers.change([&](auto& list) { list.push_back(answer.http_status); }); };
  for (int i = 0; i < 40; ++i) cluster->submit(patch_of("o" + std::to_string(i % 20)), note);
  ASSERT_TRUE(server.writes.wait([](int n) { return n > 100; }));
  EXPECT_TRUE(answers.get().empty());

  server.silent = true;
  ASSERT_TRUE(history.wait([](const auto& list) { return list.size() == 2; }));
  ASSERT_TRUE(answers.wait([](const auto& list) { return list.size() == 40; }));
  for (const int status : answers.get()) EXPECT_EQ(status, 0);
  // What the server has taken is counted a moment later than we know of it.
  cluster->loop().run([] {});
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const int arrived = server.writes.get();
  for (int i = 0; i < 20; ++i) {
    cluster->submit(patch_of("late" + std::to_string(i)), note);
    cluster->submit_best_effort(patch_of("event" + std::to_string(i)), note);
  }
  ASSERT_TRUE(answers.wait([](const auto& list) { return list.size() == 80; }));
  for (const int status : answers.get()) EXPECT_EQ(status, 0);
  EXPECT_EQ(server.writes.get(), arrived);
  // Whoever needs no lease writes on (certificates); and with the lease all goes on.
  cluster->write_once(patch_of("certificate"), note);
  ASSERT_TRUE(answers.wait([](const auto& list) { return list.size() == 81; }));
  EXPECT_EQ(answers.get().back(), 429);
  EXPECT_EQ(server.writes.get(), arrived + 1);
  server.silent = false;
  ASSERT_TRUE(history.wait([](const auto& list) { return list.size() == 3; }));
  cluster->submit_best_effort(patch_of("event"), note);
  ASSERT_TRUE(answers.wait([](const auto& list) { return list.size() == 82; }));
  EXPECT_EQ(answers.get().back(), 429);
  cluster->stop();
}

TEST(WritesAndTheLease, WhatIsOnItsWayIsBrokenOff) {
  const Watched<int> gone;
  LeaseAndWrites server([gone](Exchange& exchange, int) {
    exchange.wait_for_end();  // It never answers, and sees that the client has left.
    gone.change([](int& n) { ++n; });
  });
  const auto cluster = server.connect();
  const Watched<std::vector<bool>> history;
  cluster->elect(short_lease("one"), [history](bool leads) { history.change([&](auto& list) { list.push_back(leads); }); });
  ASSERT_TRUE(history.wait([](const auto& list) { return list.size() == 1; }));
  const Watched<std::vector<int>> answers;
  for (int i = 0; i < 5; ++i) {
    cluster->submit(patch_of("o" + std::to_string(i)),
                    [answers](const WriteAnswer& answer) { answers.change([&](auto& list) { list.push_back(answer.http_status); }); });
  }
  ASSERT_TRUE(server.writes.wait([](int n) { return n == 5; }));
  server.silent = true;
  ASSERT_TRUE(answers.wait([](const auto& list) { return list.size() == 5; }));
  EXPECT_TRUE(gone.wait([](int n) { return n == 5; }));
  cluster->stop();
}

TEST(WritesAndTheLease, ACopyThatWasPausedSendsNothingWhenItGoesOn) {
  // The client's thread stands still for longer than the lease is good for, with writes waiting behind it.
  LeaseAndWrites server([](Exchange& exchange, int) { exchange.answer(200, "{}"); });
  const auto cluster = server.connect();
  const Watched<std::vector<bool>> history;
  cluster->elect(short_lease("one"), [history](bool leads) { history.change([&](auto& list) { list.push_back(leads); }); });
  ASSERT_TRUE(history.wait([](const auto& list) { return list.size() == 1; }));
  const Watched<std::vector<int>> answers;
  const auto note = [answers](const WriteAnswer& answer) { answers.change([&](auto& list) { list.push_back(answer.http_status); }); };
  cluster->submit(patch_of("before"), note);
  ASSERT_TRUE(answers.wait([](const auto& list) { return list.size() == 1; }));
  EXPECT_EQ(answers.get()[0], 200);
  server.silent = true;
  cluster->loop().post([] { std::this_thread::sleep_for(std::chrono::milliseconds(2000)); });
  for (int i = 0; i < 10; ++i) cluster->submit(patch_of("late" + std::to_string(i)), note);
  ASSERT_TRUE(answers.wait([](const auto& list) { return list.size() == 11; }));
  for (std::size_t i = 1; i < 11; ++i) EXPECT_EQ(answers.get()[i], 0);
  EXPECT_EQ(server.writes.get(), 1);
  cluster->stop();
}

TEST(WritesAndTheLease, WithoutAnElectionEverybodyWrites) {
  LeaseAndWrites server([](Exchange& exchange, int) { exchange.answer(200, "{}"); });
  const auto cluster = server.connect();
  const Watched<int> status;
  cluster->submit(patch_of("a"), [status](const WriteAnswer& answer) { status.set(answer.http_status); });
  EXPECT_TRUE(status.wait([](int s) { return s == 200; }));
  cluster->stop();
}

}  // namespace
}  // namespace hindsight::connectors::kubernetes
