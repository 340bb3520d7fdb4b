// Shows how writes look on the wire, that writes to one object keep their order, and what is retried.
#include "connectors/kubernetes/object_writer.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "connectors/kubernetes/kubernetes_cluster.hpp"
#include "tests/connectors/kubernetes/fake_api_server.hpp"
#include "tests/connectors/kubernetes/waiting.hpp"

namespace hindsight::connectors::kubernetes {
namespace {

using nlohmann::json;
using testing::Exchange;
using testing::FakeApiServer;
using testing::Watched;
using Verb = Write::Verb;

constexpr ResourceType config_map{"ConfigMap", "", "v1", "configmaps", true};
constexpr ResourceType workload{"Workload", "kueue.x-k8s.io", "v1beta2", "workloads", true};
constexpr ResourceType node{"Node", "", "v1", "nodes", false};

Write write_of(Verb verb, const ResourceType& type, const std::string& name, const std::string& body = "{}",
               const std::string& subresource = "") {
  Write write;
  write.verb = verb;
  write.type = &type;
  write.namespace_ = type.namespaced ? "ns" : "";
  write.name = name;
  write.subresource = subresource;
  write.body = body;
  return write;
}

TEST(RequestFor, PutsEachVerbWhereTheApiWantsIt) {
  const HttpRequest create = request_for(write_of(Verb::create, workload, "a"));
  EXPECT_EQ(create.method, HttpRequest::Method::post);
  EXPECT_EQ(create.path, "/apis/kueue.x-k8s.io/v1beta2/namespaces/ns/workloads?fieldManager=hindsight");
  const HttpRequest merge = request_for(write_of(Verb::merge_patch, workload, "a", "{}", "status"));
  EXPECT_EQ(merge.method, HttpRequest::Method::patch);
  EXPECT_EQ(merge.content, HttpRequest::Content::merge_patch);
  EXPECT_EQ(merge.path, "/apis/kueue.x-k8s.io/v1beta2/namespaces/ns/workloads/a/status?fieldManager=hindsight");
  const HttpRequest apply = request_for(write_of(Verb::apply_patch, node, "n"));
  EXPECT_EQ(apply.content, HttpRequest::Content::apply_patch);
  EXPECT_EQ(apply.path, "/api/v1/nodes/n?fieldManager=hindsight&force=true");
  const HttpRequest escaped = request_for(write_of(Verb::merge_patch, node, "a/../b?c"));
  EXPECT_EQ(escaped.path, "/api/v1/nodes/a%2F..%2Fb%3Fc?fieldManager=hindsight");
}

TEST(RequestFor, DeletesInTheBackgroundWithPreconditions) {
  const auto body_of = [](const std::string& body) {
    return json::parse(*request_for(write_of(Verb::delete_, config_map, "a", body)).body);
  };
  EXPECT_EQ(request_for(write_of(Verb::delete_, config_map, "a", "")).path, "/api/v1/namespaces/ns/configmaps/a");
  EXPECT_EQ(body_of(""), json::parse(R"({"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Background"})"));
  EXPECT_EQ(body_of(R"({"metadata":{"uid":"u","resourceVersion":"7","name":"a"}})"),
            json::parse(R"({"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Background",
                            "preconditions":{"uid":"u","resourceVersion":"7"}})"));
  EXPECT_EQ(body_of(R"({"propagationPolicy":"Orphan","preconditions":{"uid":"u"}})"),
            json::parse(R"({"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Orphan","preconditions":{"uid":"u"}})"));
}

class ObjectWriterTest : public ::testing::Test {
 protected:
  void start(FakeApiServer::Handler handler, std::size_t max_in_flight = 64) {
    server = std::make_unique<FakeApiServer>(std::move(handler));
    Connection connection;
    connection.server = server->url();
    connection.description = "the test";
    KubernetesClusterOptions options;
    options.max_in_flight = max_in_flight;
    options.http.fixed_in_flight = true;
    options.backoff = {std::chrono::milliseconds(1), std::chrono::milliseconds(20)};
    options.random = [] { return 0.5; };
    options.http.settling.time = settle_time;
    auto connected = KubernetesCluster::connect(connection, std::move(options));
    ASSERT_TRUE(connected) << connected.error().message;
    cluster = *std::move(connected);
  }
  void TearDown() override {
    if (cluster) cluster->stop();
    server.reset();
  }
  void submit(Write write) {
    cluster->submit(std::move(write),
                    [this](WriteAnswer answer) { answers.change([&](auto& list) { list.push_back(std::move(answer)); }); });
  }
  bool wait_for_answers(std::size_t count) {
    return answers.wait([&](const auto& list) { return list.size() >= count; });
  }

  std::chrono::milliseconds settle_time = std::chrono::seconds(15);
  Watched<bool> open;  ///< For handlers that wait.
  std::unique_ptr<FakeApiServer> server;
  std::unique_ptr<KubernetesCluster> cluster;
  Watched<std::vector<WriteAnswer>> answers;
};

TEST_F(ObjectWriterTest, HandsSuccessConflictAndRefusalToTheCaller) {
  start([](Exchange& exchange) {
    exchange.answer(std::stoi(json::parse(exchange.body)["status"].get<std::string>()), exchange.path, {"Retry-After: 3"});
  });
  const std::vector<int> statuses = {200, 201, 400, 401, 403, 404, 409, 422};
  for (const int status : statuses) {
    submit(write_of(Verb::merge_patch, config_map, "x" + std::to_string(status), json{{"status", std::to_string(status)}}.dump()));
  }
  ASSERT_TRUE(wait_for_answers(statuses.size()));
  std::vector<int> seen;
  for (const WriteAnswer& answer : answers.get()) {
    seen.push_back(answer.http_status);
    EXPECT_EQ(answer.body, "/api/v1/namespaces/ns/configmaps/x" + std::to_string(answer.http_status));
    EXPECT_EQ(answer.retry_after_seconds, 3);
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen, statuses);
  const WriterStatistics statistics = cluster->statistics().writer;
  EXPECT_EQ(statistics.submitted, 8U);
  EXPECT_EQ(statistics.answered, 8U);
  EXPECT_EQ(statistics.conflicts, 1U);
  EXPECT_EQ(statistics.refused, 5U);
  EXPECT_EQ(statistics.retries, 0U);
}

// Issue 16: who decides how many writes to have under way is told of those that are not. Where a webhook fails, that is all of them; where
// the server serves nobody, a few.
TEST_F(ObjectWriterTest, WhatWaitsForAnotherTryTakesNobodysPlace) {
  start([](Exchange& exchange) {
    const bool fails = exchange.path.find("fails") != std::string::npos;
    exchange.answer(fails ? 500 : 503, "", {"Retry-After: 30"});
  });
  const auto before = cluster->writes_at_once();
  EXPECT_EQ(before, 128U);
  const auto comes_to = [&](std::size_t more) {
    for (int i = 0; i < 1000 && cluster->writes_at_once() != before + more; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return cluster->writes_at_once() == before + more;
  };
  const auto submit_some = [&](const std::string& name, int count) {
    for (int i = 0; i < count; ++i) submit(write_of(Verb::merge_patch, config_map, name + std::to_string(i), "{}"));
  };
  submit_some("fails", 40);
  EXPECT_TRUE(comes_to(40)) << cluster->writes_at_once();
  submit_some("busy", 5);
  EXPECT_TRUE(comes_to(45)) << cluster->writes_at_once();
  submit_some("busier", 40);
  for (int i = 0; i < 1000 && cluster->statistics().writer.retries < 85; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(cluster->writes_at_once(), before + 40 + ObjectWriter::awaiting_server_max);
  cluster->stop();
  EXPECT_EQ(answers.get().size(), 85U);
  EXPECT_EQ(cluster->writes_at_once(), before);
}

TEST_F(ObjectWriterTest, KeepsTheOrderForEachObjectAndNeverHasTwoOfOneUnderWay) {
  struct State {
    std::mutex mutex;
    std::map<std::string, int> next;
    std::map<std::string, int> running;
    int wrong = 0;
  };
  const auto shared = std::make_shared<State>();
  start([shared](Exchange& exchange) {
    State& state = *shared;
    // The status subresource is the same object.
    const std::string object = exchange.path.substr(0, exchange.path.find("/status"));
    {
      const std::lock_guard lock(state.mutex);
      if (++state.running[object] > 1) ++state.wrong;
      if (json::parse(exchange.body)["n"].get<int>() != state.next[object]++) ++state.wrong;
    }
    std::this_thread::yield();
    {
      const std::lock_guard lock(state.mutex);
      --state.running[object];
    }
    exchange.answer(200, exchange.body);
  });
  constexpr int objects = 20;
  constexpr int writes = 25;
  for (int n = 0; n < writes; ++n) {
    for (int object = 0; object < objects; ++object) {
      submit(write_of(Verb::merge_patch, config_map, "o" + std::to_string(object), json{{"n", n}}.dump(), n % 2 == 0 ? "status" : ""));
    }
  }
  ASSERT_TRUE(wait_for_answers(objects * writes));
  EXPECT_EQ(shared->wrong, 0);
  cluster->loop().run([&] { EXPECT_EQ(cluster->statistics().writer.answered, static_cast<std::uint64_t>(objects * writes)); });
}

TEST_F(ObjectWriterTest, TheCallerHearsOfOneWriteBeforeTheNextSetsOut) {
  start([](Exchange& exchange) { exchange.answer(200, exchange.body); });
  Watched<std::vector<std::size_t>> requests_seen;
  for (int n = 0; n < 3; ++n) {
    cluster->submit(write_of(Verb::merge_patch, config_map, "a", json{{"n", n}}.dump()), [this, requests_seen](const WriteAnswer&) {
      const std::size_t count = server->requests().size();
      requests_seen.change([&](auto& list) { list.push_back(count); });
    });
  }
  ASSERT_TRUE(requests_seen.wait([](const auto& list) { return list.size() == 3; }));
  EXPECT_EQ(requests_seen.get(), (std::vector<std::size_t>{1, 2, 3}));
}

TEST_F(ObjectWriterTest, ACallbackMaySubmitMore) {
  start([](Exchange& exchange) { exchange.answer(200, exchange.body); });
  const auto next = std::make_shared<std::function<void(int)>>();
  const std::weak_ptr<std::function<void(int)>> again = next;  // The function may not own itself.
  *next = [this, again](int left) {
    cluster->submit(write_of(Verb::merge_patch, config_map, "o" + std::to_string(left), "{}"), [this, again, left](WriteAnswer answer) {
      answers.change([&](auto& list) { list.push_back(std::move(answer)); });
      const auto function = again.lock();
      if (left > 0 && function) (*function)(left - 1);
    });
  };
  (*next)(50);
  EXPECT_TRUE(wait_for_answers(51));
}

TEST_F(ObjectWriterTest, RetriesWhatTheServerIsTooBusyFor) {
  const Watched<std::map<std::string, int>> tries;
  start([tries](Exchange& exchange) {
    int n = 0;
    tries.change([&](auto& map) { n = ++map[exchange.path]; });
    const bool is_429 = exchange.path.ends_with("/a");
    if (n <= 3) {
      exchange.answer(is_429 ? 429 : 503, "busy",
                      n == 1 && is_429 ? std::vector<std::string>{"Retry-After: 1"} : std::vector<std::string>{});
    } else {
      exchange.answer(200, "done");
    }
  });
  submit(write_of(Verb::merge_patch, config_map, "a"));
  submit(write_of(Verb::merge_patch, config_map, "b"));
  ASSERT_TRUE(wait_for_answers(2));
  for (const WriteAnswer& answer : answers.get()) EXPECT_EQ(answer.http_status, 200);
  EXPECT_EQ(cluster->statistics().writer.retries, 6U);
}

TEST_F(ObjectWriterTest, DoesNotComeBackBeforeRetryAfter) {
  using Clock = std::chrono::steady_clock;
  Watched<std::vector<Clock::time_point>> times;
  start([times](Exchange& exchange) {
    std::size_t count = 0;
    times.change([&](auto& list) {
      list.push_back(Clock::now());
      count = list.size();
    });
    exchange.answer(count == 1 ? 429 : 200, "", {"Retry-After: 1"});
  });
  submit(write_of(Verb::merge_patch, config_map, "a"));
  ASSERT_TRUE(wait_for_answers(1));
  ASSERT_EQ(times.get().size(), 2U);
  // A lower bound holds on the slowest machine.
  EXPECT_GE(times.get()[1] - times.get()[0], std::chrono::seconds(1));
}

TEST_F(ObjectWriterTest, RetriesAServerErrorAFewTimesOnly) {
  start([](Exchange& exchange) { exchange.answer(500, "broken"); });
  submit(write_of(Verb::merge_patch, config_map, "a"));
  ASSERT_TRUE(wait_for_answers(1));
  EXPECT_EQ(answers.get()[0].http_status, 500);
  EXPECT_EQ(answers.get()[0].body, "broken");
  EXPECT_EQ(server->requests().size(), 4U);
}

TEST_F(ObjectWriterTest, WaitsForAServerThatSaysThatItIsNotReady) {
  // Its admission plugins wait ten seconds for what they need before they say so: longer than a server settles.
  const auto count = std::make_shared<std::atomic<int>>(0);
  start([count](Exchange& exchange) {
    if (exchange.path.ends_with("/denied"))
      return exchange.answer(403, R"(admission webhook \"w\" denied the request: not yet ready to handle request)");
    exchange.answer(++*count < 6 ? 403 : 200, R"(configmaps \"a\" is forbidden: not yet ready to handle request)");
  });
  submit(write_of(Verb::merge_patch, config_map, "a"));
  ASSERT_TRUE(wait_for_answers(1));
  EXPECT_EQ(answers.get()[0].http_status, 200);
  submit(write_of(Verb::merge_patch, config_map, "denied"));
  ASSERT_TRUE(wait_for_answers(2));
  EXPECT_EQ(answers.get()[1].http_status, 403);
  EXPECT_EQ(server->requests().size(), 7U);
}

TEST_F(ObjectWriterTest, RetriesAcrossBrokenConnectionsAndAnAbsentServer) {
  const auto count = std::make_shared<std::atomic<int>>(0);
  start([count](Exchange& exchange) {
    if (++*count % 2 == 1) {
      exchange.cut();
    } else {
      exchange.answer(200, exchange.body);
    }
  });
  for (int i = 0; i < 30; ++i) submit(write_of(Verb::merge_patch, config_map, "o" + std::to_string(i)));
  ASSERT_TRUE(wait_for_answers(30));
  server->close();
  submit(write_of(Verb::merge_patch, config_map, "late"));
  // It keeps trying: two failures at least before the server comes back.
  const auto before = cluster->statistics().writer.retries;
  ASSERT_TRUE(testing::eventually([&] { return cluster->statistics().writer.retries >= before + 2; }));
  server->reopen();
  ASSERT_TRUE(wait_for_answers(31));
  for (const WriteAnswer& answer : answers.get()) EXPECT_EQ(answer.http_status, 200);
}

TEST_F(ObjectWriterTest, DoesNotBelieveRefusalsOfAServerThatHasJustComeBack) {
  // A starting API server serves before it has read its roles and kinds: seen with kube-apiserver 1.36, which answered 403.
  const auto starting = std::make_shared<std::atomic<int>>(0);
  start([starting](Exchange& exchange) {
    const bool early = *starting > 0 && (*starting)-- > 0;
    const int status = exchange.path.ends_with("/a") ? 403 : exchange.path.ends_with("/b") ? 401 : 404;
    const std::string about_object = R"({"kind":"Status","message":"gone","details":{"name":"d"}})";
    exchange.answer(early                           ? status
                    : exchange.path.ends_with("/d") ? 404
                                                    : 200,
                    exchange.path.ends_with("/d") ? about_object : "404 page not found");
  });
  submit(write_of(Verb::merge_patch, config_map, "d"));
  ASSERT_TRUE(wait_for_answers(1));
  EXPECT_EQ(answers.get()[0].http_status, 404);
  server->close();
  for (const char* name : {"a", "b", "c"}) submit(write_of(Verb::merge_patch, config_map, name));
  ASSERT_TRUE(testing::eventually([&] { return cluster->statistics().writer.retries >= 3; }));
  *starting = 6;
  server->reopen();
  ASSERT_TRUE(wait_for_answers(4));
  for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(answers.get()[i].http_status, 200);
  // An object that is not there is believed at once.
  submit(write_of(Verb::merge_patch, config_map, "d"));
  ASSERT_TRUE(wait_for_answers(5));
  EXPECT_EQ(answers.get()[4].http_status, 404);
}

TEST_F(ObjectWriterTest, OutlastsTheErrorsOfAServerThatHasJustComeBack) {
  // One more than it tries at a server that has been there all the time.
  const auto failing = std::make_shared<std::atomic<int>>(0);
  start([failing](Exchange& exchange) { exchange.answer(*failing > 0 && (*failing)-- > 0 ? 500 : 200, "etcdserver: no leader"); });
  submit(write_of(Verb::merge_patch, config_map, "before"));
  ASSERT_TRUE(wait_for_answers(1));
  server->close();
  submit(write_of(Verb::merge_patch, config_map, "a"));
  ASSERT_TRUE(testing::eventually([&] { return cluster->statistics().writer.retries >= 1; }));
  *failing = 5;
  server->reopen();
  ASSERT_TRUE(wait_for_answers(2));
  EXPECT_EQ(answers.get()[1].http_status, 200);
  EXPECT_EQ(*failing, 0);
}

TEST_F(ObjectWriterTest, BelievesARefusalOfAServerThatComesAndGoes) {
  // Every second connection breaks, and what is answered is refused: the server seems to have come back each time.
  settle_time = std::chrono::milliseconds(200);
  const auto count = std::make_shared<std::atomic<int>>(0);
  start([count](Exchange& exchange) {
    if (++*count % 2 == 1) {
      exchange.cut();
    } else {
      exchange.answer(401, "who are you");
    }
  });
  // Others keep breaking connections all the time.
  for (int i = 0; i < 5; ++i) submit(write_of(Verb::merge_patch, config_map, "o" + std::to_string(i)));
  ASSERT_TRUE(wait_for_answers(5));
  for (const WriteAnswer& answer : answers.get()) EXPECT_EQ(answer.http_status, 401);
  EXPECT_GE(server->requests().size(), 10U);
}

TEST_F(ObjectWriterTest, StopAnswersEveryWriteWithStatusZero) {
  start(
      [this](Exchange& exchange) {
        (void)open.wait([](bool o) { return o; });
        exchange.answer(200, "");
      },
      2);
  for (int i = 0; i < 10; ++i) submit(write_of(Verb::merge_patch, config_map, "o" + std::to_string(i % 4)));
  cluster->stop();
  EXPECT_EQ(answers.get().size(), 10U);
  submit(write_of(Verb::merge_patch, config_map, "after"));
  EXPECT_EQ(answers.get().size(), 11U);
  for (const WriteAnswer& answer : answers.get()) EXPECT_EQ(answer.http_status, 0);
  open.change([](bool& o) { o = true; });
}

TEST_F(ObjectWriterTest, BestEffortWritesAreDroppedRatherThanPiledUp) {
  start(
      [this](Exchange& exchange) {
        (void)open.wait([](bool o) { return o; });
        exchange.answer(exchange.path.ends_with("/e1") ? 403 : 200, "");
      },
      1);
  for (int i = 0; i < 1500; ++i) cluster->submit_best_effort(write_of(Verb::merge_patch, config_map, "e" + std::to_string(i)));
  cluster->loop().run([] {});
  EXPECT_EQ(cluster->statistics().best_effort_dropped, 500U);
  open.change([](bool& o) { o = true; });
  ASSERT_TRUE(testing::eventually([&] { return cluster->statistics().http.answers >= 1000; }));
  EXPECT_EQ(cluster->statistics().best_effort_failed, 1U);
}

}  // namespace
}  // namespace hindsight::connectors::kubernetes
