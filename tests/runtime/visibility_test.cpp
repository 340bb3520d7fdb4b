// The visibility API as an aggregated API server: who may ask, what discovery gets, and lists of pending workloads.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "events/memory_log.hpp"
#include "runtime/front_proxy.hpp"
#include "runtime/visibility_api.hpp"
#include "runtime/visibility_service.hpp"
#include "tests/replay/log_world.hpp"

namespace hindsight::runtime {
namespace {

using connectors::manifests::Json;
using nlohmann::json;
using operations::HttpRequest;
using operations::HttpResponse;

class VisibilityApi : public ::testing::Test {
 protected:
  VisibilityApi() {
    world_.set_up({{.name = "cluster-queue", .quotas = {{.nominal = 1000}}}});
    world_.local_queue("user-queue", "cluster-queue");
    world_.submit({.name = "first"});
    world_.settle();
    for (const char* name : {"one", "two", "three"}) {
      world_.tick(Duration::seconds(1));
      world_.submit_job({.name = name, .queue = "user-queue"});
      world_.settle();
    }
  }

  [[nodiscard]] HttpResponse ask(const std::string& path, std::multimap<std::string, std::string> query = {},
                                 std::map<std::string, std::string> headers = {}) {
    return answer_visibility({.method = "GET", .path = path, .query = std::move(query), .headers = std::move(headers)},
                             [&](const std::function<void(const admission::StateView&)>& reader) {
                               reader(world_.driver());
                               return true;
                             });
  }
  [[nodiscard]] json get(const std::string& path, std::multimap<std::string, std::string> query = {}) {
    const auto response = ask(path, std::move(query));
    EXPECT_EQ(response.status, 200) << path << ": " << response.body;
    return json::parse(response.body);
  }
  static std::vector<std::string> names(const json& summary) {
    std::vector<std::string> out;
    for (const auto& item : summary.at("items")) out.push_back(item.at("metadata").at("name"));
    return out;
  }

  const std::string base_ = "/apis/visibility.kueue.x-k8s.io/v1beta2";
  const std::string in_cluster_queue_ = base_ + "/clusterqueues/cluster-queue/pendingworkloads";
  events::MemoryLog log_;
  hindsight::testing::LogWorld world_{log_};
};

// BA-192: the example of the Kueue documents.
TEST_F(VisibilityApi, ListsPendingWorkloadsOfAClusterQueue) {
  const json summary = get(in_cluster_queue_);
  EXPECT_EQ(summary.at("kind"), "PendingWorkloadsSummary");
  EXPECT_EQ(summary.at("apiVersion"), "visibility.kueue.x-k8s.io/v1beta2");
  ASSERT_EQ(summary.at("items").size(), 3U);
  const json second = {
      {"metadata",
       {{"name", "job-two"},
        {"namespace", "default"},
        {"creationTimestamp", summary.at("items").at(1).at("metadata").at("creationTimestamp")},
        {"ownerReferences", json::array({{{"apiVersion", "batch/v1"}, {"kind", "Job"}, {"name", "two"}, {"uid", "job-uid-two"}}})}}},
      {"priority", 0},
      {"localQueueName", "user-queue"},
      {"positionInClusterQueue", 1},
      {"positionInLocalQueue", 1}};
  EXPECT_EQ(summary.at("items").at(1), second);
  EXPECT_TRUE(second.at("metadata").at("creationTimestamp").get<std::string>().ends_with("Z"));
}

// BA-192
TEST_F(VisibilityApi, ListsPendingWorkloadsOfALocalQueueInBothVersions) {
  for (const std::string version : {"v1beta1", "v1beta2"}) {
    const json summary = get("/apis/visibility.kueue.x-k8s.io/" + version + "/namespaces/default/localqueues/user-queue/pendingworkloads");
    EXPECT_EQ(summary.at("apiVersion"), "visibility.kueue.x-k8s.io/" + version);
    EXPECT_EQ(names(summary), names(get(in_cluster_queue_)));
  }
}

// BA-192: offset and limit, with their defaults and bounds (base-api §9).
TEST_F(VisibilityApi, GivesPages) {
  const auto all = names(get(in_cluster_queue_));
  const auto page = [&](std::multimap<std::string, std::string> query) { return names(get(in_cluster_queue_, std::move(query))); };
  using Names = std::vector<std::string>;
  EXPECT_EQ(page({{"limit", "1"}, {"offset", "1"}}), Names{all[1]});
  EXPECT_EQ(get(in_cluster_queue_, {{"limit", "1"}, {"offset", "1"}}).at("items").at(0).at("positionInClusterQueue"), 1);
  EXPECT_EQ(page({{"offset", "3"}}), Names{});
  EXPECT_EQ(page({{"offset", "9223372036854775807"}}), Names{});
  EXPECT_EQ(page({{"offset", "-5"}}), all);
  EXPECT_EQ(page({{"limit", "-1"}}), Names{});
  EXPECT_EQ(page({{"limit", "100001"}}), all);
  for (const char* bad : {"x", "1x", "1.5", " 1", "99999999999999999999", "0x1"}) {
    const auto refused = ask(in_cluster_queue_, {{"limit", bad}});
    EXPECT_EQ(refused.status, 400);
    EXPECT_EQ(json::parse(refused.body).at("message"), std::string("limit: found \"") + bad + "\"; allowed: a whole number");
  }
}

// BA-192: an unknown queue is 404, as a Status.
TEST_F(VisibilityApi, UnknownQueuesAreNotFound) {
  const auto cluster_queue = ask(base_ + "/clusterqueues/nowhere/pendingworkloads");
  EXPECT_EQ(cluster_queue.status, 404);
  EXPECT_EQ(json::parse(cluster_queue.body),
            (json{{"kind", "Status"},
                  {"apiVersion", "v1"},
                  {"metadata", json::object()},
                  {"status", "Failure"},
                  {"message", "clusterqueue.visibility.kueue.x-k8s.io \"nowhere\" not found"},
                  {"reason", "NotFound"},
                  {"details", {{"name", "nowhere"}, {"group", "visibility.kueue.x-k8s.io"}, {"kind", "clusterqueue"}}},
                  {"code", 404}}));
  const auto local_queue = ask(base_ + "/namespaces/other/localqueues/user-queue/pendingworkloads");
  EXPECT_EQ(local_queue.status, 404);
  EXPECT_EQ(json::parse(local_queue.body).at("message"), "localqueue.visibility.kueue.x-k8s.io \"user-queue\" not found");
  for (const char* path :
       {"/", "/apis/", "/apis/other", "/openapi/", "/openapi/v4", "/apis/visibility.kueue.x-k8s.io/v1",
        "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues", "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/x",
        "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues//pendingworkloads",
        "/apis/visibility.kueue.x-k8s.io/v1beta2/namespaces/d/clusterqueues/cluster-queue/pendingworkloads"}) {
    const auto response = ask(path);
    EXPECT_EQ(response.status, 404) << path;
    EXPECT_EQ(json::parse(response.body).at("kind"), "Status") << path;
  }
}

TEST_F(VisibilityApi, SaysWhatItServes) {
  EXPECT_EQ(get("/apis").at("groups").at(0), get("/apis/visibility.kueue.x-k8s.io"));
  const json group = get("/apis/visibility.kueue.x-k8s.io");
  EXPECT_EQ(group.at("preferredVersion").at("version"), "v1beta2");
  EXPECT_EQ(group.at("versions").size(), 2U);
  for (const auto& version : group.at("versions")) {
    const json resources = get("/apis/" + version.at("groupVersion").get<std::string>());
    EXPECT_EQ(resources.at("groupVersion"), version.at("groupVersion"));
    std::map<std::string, json> by_name;
    for (const auto& one : resources.at("resources")) by_name[one.at("name")] = one;
    EXPECT_EQ(by_name.at("clusterqueues/pendingworkloads").at("verbs"), json{"get"});
    EXPECT_EQ(by_name.at("clusterqueues/pendingworkloads").at("namespaced"), false);
    EXPECT_EQ(by_name.at("localqueues/pendingworkloads").at("namespaced"), true);
    EXPECT_EQ(by_name.at("localqueues/pendingworkloads").at("kind"), "PendingWorkloadsSummary");
    EXPECT_TRUE(get("/openapi/v3/apis/" + version.at("groupVersion").get<std::string>()).contains("openapi"));
  }
  EXPECT_EQ(get("/openapi/v2").at("swagger"), "2.0");
  EXPECT_EQ(get("/openapi/v3").at("paths").size(), 2U);
}

TEST_F(VisibilityApi, SaysItAllAtOnceToWhoAsksSo) {
  for (const std::string version : {"v2", "v2beta1"}) {
    const std::string type = "application/json;g=apidiscovery.k8s.io;v=" + version + ";as=APIGroupDiscoveryList";
    const auto response = ask("/apis", {}, {{"accept", type + ",application/json"}});
    EXPECT_EQ(response.content_type, type);
    const json list = json::parse(response.body);
    EXPECT_EQ(list.at("apiVersion"), "apidiscovery.k8s.io/" + version);
    EXPECT_EQ(list.at("items").at(0).at("versions").at(0).at("resources").at(1).at("subresources").at(0).at("subresource"),
              "pendingworkloads");
  }
}

TEST_F(VisibilityApi, ACopyThatStandsBySaysSo) {
  const auto response = answer_visibility({.method = "GET", .path = in_cluster_queue_}, [](const auto&) { return false; });
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(json::parse(response.body).at("reason"), "ServiceUnavailable");
}

// ---- many domains ---------------------------------------------------------------------------------------------------------------------

/// A tree of a cluster in a domain of its own, with one queue in which one Workload runs and others wait.
struct TreeOf {
  TreeOf(const std::string& domain, const std::string& queue, const std::vector<std::string>& waiting) : world(log, domain) {
    world.set_up({{.name = queue, .quotas = {{.nominal = 1000}}}});
    world.local_queue("lq-" + queue, queue);
    world.submit({.name = "runs-in-" + queue, .queue = "lq-" + queue});
    world.settle();
    for (const auto& name : waiting) {
      world.tick(Duration::seconds(1));
      world.submit({.name = name, .queue = "lq-" + queue});
      world.settle();
    }
  }
  events::MemoryLog log;
  hindsight::testing::LogWorld world;
  bool folded = true;
};

class VisibilityOfTrees : public ::testing::Test {
 protected:
  [[nodiscard]] HttpResponse ask(const std::string& path) {
    return answer_visibility({.method = "GET", .path = "/apis/visibility.kueue.x-k8s.io/v1beta2" + path + "/pendingworkloads"},
                             [&](const std::function<void(const admission::StateView&)>& reader) {
                               bool all = true;
                               for (auto* tree : {&red_, &blue_}) {
                                 all = all && tree->folded;
                                 if (tree->folded) reader(tree->world.driver());
                               }
                               return all;
                             });
  }
  [[nodiscard]] std::vector<std::string> waiting(const std::string& path) {
    const auto response = ask(path);
    EXPECT_EQ(response.status, 200) << path << ": " << response.body;
    std::vector<std::string> out;
    const auto list = json::parse(response.body);
    for (const auto& item : list.at("items")) out.push_back(item.at("metadata").at("name"));
    return out;
  }
  using Names = std::vector<std::string>;

  TreeOf red_{"east/queue/red", "red", {"r1", "r2"}}, blue_{"east/queue/blue", "blue", {"b1"}};
};

TEST_F(VisibilityOfTrees, AQueueIsFoundInItsDomain) {
  EXPECT_EQ(waiting("/clusterqueues/red"), (Names{"r1", "r2"}));
  EXPECT_EQ(waiting("/clusterqueues/blue"), Names{"b1"});
  EXPECT_EQ(waiting("/namespaces/default/localqueues/lq-red"), (Names{"r1", "r2"}));
  EXPECT_EQ(waiting("/namespaces/default/localqueues/lq-blue"), Names{"b1"});
  EXPECT_EQ(ask("/clusterqueues/green").status, 404);
  EXPECT_EQ(ask("/namespaces/other/localqueues/lq-blue").status, 404);
}

TEST_F(VisibilityOfTrees, WhatIsInADomainThatIsNotFoldedIsNotSaidToBeMissing) {
  blue_.folded = false;
  EXPECT_EQ(waiting("/clusterqueues/red"), (Names{"r1", "r2"}));
  EXPECT_EQ(ask("/clusterqueues/blue").status, 503);
  EXPECT_EQ(ask("/namespaces/default/localqueues/lq-blue").status, 503);
}

// The old domain may hear later that a queue has left than the new one that it has come.
TEST_F(VisibilityOfTrees, AQueueThatMovesIsFoundWhereItIsWhole) {
  auto& to = blue_.world;
  to.tick(Duration::seconds(30));
  to.observe(MirrorSynced{true});
  to.queue({.name = "red", .quotas = {{.nominal = 1000}}});
  to.local_queue("lq-red", "red");
  to.submit({.name = "r2", .queue = "lq-red"});
  EXPECT_EQ(waiting("/clusterqueues/red"), (Names{"r1", "r2"})) << "more is to come";
  to.observe(MirrorSynced{});
  EXPECT_EQ(waiting("/clusterqueues/red"), Names{"r2"});
  EXPECT_EQ(waiting("/namespaces/default/localqueues/lq-red"), Names{"r2"});
  auto& from = red_.world;
  for (const char* name : {"runs-in-red", "r1", "r2"}) from.remove(name);
  from.observe(ObjectDeleted{ObjectKind::local_queue, "default", "lq-red", {}, "east/queue/blue"});
  from.observe(ObjectDeleted{ObjectKind::cluster_queue, {}, "red", {}, "east/queue/blue"});
  from.tick(Duration::seconds(60));
  EXPECT_EQ(waiting("/clusterqueues/red"), Names{"r2"});
  EXPECT_EQ(waiting("/namespaces/default/localqueues/lq-red"), Names{"r2"});
}

// ---- who may ask ------------------------------------------------------------------------------------------------------------------

Json authentication(const char* names, const char* headers) {
  return {{"data",
           {{"requestheader-client-ca-file", "PEM"}, {"requestheader-allowed-names", names}, {"requestheader-username-headers", headers}}}};
}

TEST(FrontProxyTest, IsReadFromItsConfigMap) {
  const auto proxy = read_front_proxy(authentication(R"(["front-proxy-client"])", R"(["X-Remote-User","X-Other"])"));
  ASSERT_TRUE(proxy) << proxy.error().message;
  EXPECT_EQ(proxy->authorities, "PEM");
  EXPECT_EQ(proxy->allowed_names, std::vector<std::string>{"front-proxy-client"});
  EXPECT_EQ(proxy->user_headers, (std::vector<std::string>{"x-remote-user", "x-other"}));
  EXPECT_EQ(read_front_proxy(authentication("[]", "[]"))->user_headers, std::vector<std::string>{"x-remote-user"});
}

TEST(FrontProxyTest, BadConfigMapsAreNamed) {
  const auto message = [](const Json& config_map) {
    const auto proxy = read_front_proxy(config_map);
    return proxy ? std::string("read") : proxy.error().message;
  };
  EXPECT_NE(message({{"data", Json::object()}}).find("data.requestheader-client-ca-file: found nothing"), std::string::npos);
  for (const char* bad : {"{", "{}", "[1]", "name"})
    EXPECT_NE(message(authentication(bad, "[]")).find("data.requestheader-allowed-names: found"), std::string::npos) << bad;
}

TEST(FrontProxyTest, NobodyElseIsAnswered) {
  const FrontProxy proxy{"PEM", {"front-proxy-client"}, {"x-remote-user"}};
  const auto status = [&](std::string client, std::map<std::string, std::string> headers, const FrontProxy& of) {
    const auto answer = judge_origin({.headers = std::move(headers), .client = std::move(client)}, of);
    if (answer.status != 200) {
      EXPECT_EQ(json::parse(answer.body).at("reason"), "Unauthorized");
    }
    return answer.status;
  };
  EXPECT_EQ(status("front-proxy-client", {{"x-remote-user", "admin"}}, proxy), 200);
  EXPECT_EQ(status("", {{"x-remote-user", "admin"}}, proxy), 401);
  EXPECT_EQ(status("somebody", {{"x-remote-user", "admin"}}, proxy), 401);
  EXPECT_EQ(status("front-proxy-client", {}, proxy), 401);
  EXPECT_EQ(status("front-proxy-client", {{"x-remote-user", ""}}, proxy), 401);
  EXPECT_EQ(status("somebody", {{"x-remote-user", "admin"}}, {"PEM", {}, {"x-remote-user"}}), 200);
}

TEST(ApiServicePatch, TellsWhomToTrustOnce) {
  const Json service = {{"metadata", {{"resourceVersion", "7"}}}, {"spec", {{"group", "g"}, {"insecureSkipTLSVerify", true}}}};
  const auto patch = api_service_patch(service, "PEM");
  ASSERT_TRUE(patch);
  EXPECT_EQ(json::parse(*patch),
            (json{{"metadata", {{"resourceVersion", "7"}}}, {"spec", {{"caBundle", "UEVN"}, {"insecureSkipTLSVerify", nullptr}}}}));
  EXPECT_FALSE(api_service_patch({{"spec", {{"caBundle", "UEVN"}}}}, "PEM"));
  EXPECT_FALSE(api_service_patch(service, ""));
}

}  // namespace
}  // namespace hindsight::runtime
