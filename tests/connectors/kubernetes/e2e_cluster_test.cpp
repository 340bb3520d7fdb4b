// Shows the whole client against a real API server: list and watch of thousands, restarts, forgotten history, writes under load,
// leases, refusals.
#include <gtest/gtest.h>

#include <atomic>
#include <set>

#include "connectors/kubernetes/kubernetes_event.hpp"
#include "tests/connectors/kubernetes/e2e_client.hpp"
#include "tests/connectors/kubernetes/temporary_folder.hpp"
#include "tests/support/cuttable_proxy.hpp"

namespace hindsight::connectors::kubernetes {
namespace {

using nlohmann::json;
using testing::Client;
using testing::config_map;
using testing::config_map_write;
using testing::create_config_map;
using testing::Watched;
using Verb = Write::Verb;

class ApiServerE2e : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    cluster = new hindsight::testing::LocalCluster();
    if (!cluster->failure().empty()) return;
    auto found = find_connection({cluster->kubeconfig(), ""});
    if (found) connection = *std::move(found);
  }
  static void TearDownTestSuite() {
    delete cluster;
    cluster = nullptr;
  }
  void SetUp() override {
    ASSERT_TRUE(cluster->failure().empty()) << cluster->failure();
    ASSERT_FALSE(connection.server.empty());
    Client client(connection);
    const json body = {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", namespace_}}}};
    Write write;
    write.verb = Verb::create;
    write.type = &testing::namespace_type;
    write.name = namespace_;
    write.body = body.dump();
    ASSERT_EQ(client.write(std::move(write)).http_status, 201);
  }

  static ReflectorOptions in(const std::string& ns) {
    ReflectorOptions options;
    options.namespace_ = ns;
    return options;
  }
  /// The same server by way of another port.
  static Connection through(const hindsight::testing::CuttableProxy& proxy) {
    Connection out = connection;
    out.server = "https://127.0.0.1:" + std::to_string(proxy.port());
    return out;
  }
  static std::uint16_t server_port() {
    return static_cast<std::uint16_t>(std::stoi(connection.server.substr(connection.server.rfind(':') + 1)));
  }

  static hindsight::testing::LocalCluster* cluster;
  static Connection connection;
  static int number;
  const std::string namespace_ = "test-" + std::to_string(++number);
};
hindsight::testing::LocalCluster* ApiServerE2e::cluster = nullptr;
Connection ApiServerE2e::connection;
int ApiServerE2e::number = 0;

TEST_F(ApiServerE2e, MirrorsTwoThousandObjectsAndFollowsTheirChanges) {
  constexpr std::size_t count = 2000;
  Client writer(connection);
  std::vector<Write> writes;
  for (std::size_t i = 0; i < count; ++i) writes.push_back(create_config_map(namespace_, "c" + std::to_string(i)));
  EXPECT_EQ(writer.write_all(std::move(writes)), (std::map<int, std::size_t>{{201, count}}));
  // All of them over one HTTP/2 connection.
  EXPECT_EQ(writer.cluster->statistics().http.connections_opened, 1U);

  Client reader(connection);
  reader.watch(in(namespace_));
  ASSERT_TRUE(reader.view.wait([](const Client::View& v) { return v.synced; }));
  EXPECT_EQ(reader.view.get().objects.size(), count);
  EXPECT_EQ(reader.cluster->mirror().count(config_map), count);

  writes.clear();
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = "c" + std::to_string(i);
    if (i % 4 == 0) writes.push_back(config_map_write(Verb::merge_patch, namespace_, name, {{"data", {{"value", "1"}}}}));
    if (i % 10 == 0) writes.push_back(config_map_write(Verb::delete_, namespace_, name, nullptr));
  }
  EXPECT_EQ(writer.write_all(std::move(writes)), (std::map<int, std::size_t>{{200, count / 4 + count / 10}}));
  const auto truth = Client::truth(connection, namespace_);
  EXPECT_EQ(truth.size(), count - count / 10);
  EXPECT_TRUE(reader.wait_for_view(truth));
  EXPECT_EQ(reader.view.get().contradictions, 0U);

  const auto text = reader.cluster->mirror().find(config_map, namespace_, "c4");
  ASSERT_TRUE(text);
  const json object = json::parse(*text);
  EXPECT_EQ(object["data"]["value"], "1");
  EXPECT_FALSE(object["metadata"].contains("managedFields"));
  EXPECT_EQ(reader.cluster->mirror().find_by_uid(object["metadata"]["uid"].get<std::string>()), text);
  EXPECT_EQ(reader.cluster->mirror().find(config_map, namespace_, "c10"), nullptr);
  const auto statistics = reader.cluster->statistics();
  ASSERT_EQ(statistics.kinds.size(), 1U);
  EXPECT_EQ(statistics.kinds[0].reflector.lists, 1U);
  EXPECT_EQ(statistics.kinds[0].objects, truth.size());
}

TEST_F(ApiServerE2e, GoesOnAfterTheServerWasRestarted) {
  Client client(connection, [] {
    KubernetesClusterOptions options;
    options.backoff.longest = std::chrono::seconds(1);
    return options;
  }());
  ReflectorOptions options = in(namespace_);
  options.backoff.longest = std::chrono::seconds(1);
  client.watch(options);
  EXPECT_EQ(client.write(create_config_map(namespace_, "before")).http_status, 201);
  ASSERT_TRUE(client.view.wait([](const Client::View& v) { return v.synced && v.objects.size() == 1; }));

  ASSERT_TRUE(cluster->stop("apiserver"));
  ASSERT_TRUE(client.wait_for_notice(Notice::Kind::unreachable));
  // Written while nobody is there: it waits.
  Watched<std::map<int, std::size_t>> statuses;
  for (int i = 0; i < 50; ++i) {
    client.cluster->submit(create_config_map(namespace_, "while-down-" + std::to_string(i)),
                           [statuses](const WriteAnswer& answer) { statuses.change([&](auto& map) { ++map[answer.http_status]; }); });
  }
  client.cluster->submit(config_map_write(Verb::delete_, namespace_, "before", nullptr),
                         [statuses](const WriteAnswer& answer) { statuses.change([&](auto& map) { ++map[answer.http_status]; }); });
  EXPECT_TRUE(statuses.get().empty());
  ASSERT_TRUE(cluster->start("apiserver"));
  ASSERT_TRUE(client.wait_for_notice(Notice::Kind::reachable));
  ASSERT_TRUE(statuses.wait([](const auto& map) {
    std::size_t sum = 0;
    for (const auto& [status, n] : map) sum += n;
    return sum == 51;
  }));
  // A server that begins may carry a create out without an answer: then the next try finds the object there.
  auto answered = statuses.get();
  answered[201] += answered[409];
  answered.erase(409);
  EXPECT_EQ(answered, (std::map<int, std::size_t>{{200, 1}, {201, 50}}));
  EXPECT_TRUE(client.wait_for_view(Client::truth(connection, namespace_)));
  EXPECT_EQ(client.view.get().objects.size(), 50U);
  EXPECT_EQ(client.view.get().contradictions, 0U);
  EXPECT_EQ(client.count_notices(Notice::Kind::credentials_refused), 0U);
  // It goes on after that.
  EXPECT_EQ(client.write(create_config_map(namespace_, "after")).http_status, 201);
  EXPECT_TRUE(client.wait_for_view(Client::truth(connection, namespace_)));
}

TEST_F(ApiServerE2e, AForgottenHistoryIsListedAgainWithoutLossOrPhantoms) {
  hindsight::testing::CuttableProxy proxy(server_port());
  Client direct(connection);
  std::vector<Write> writes;
  for (int i = 0; i < 600; ++i) writes.push_back(create_config_map(namespace_, "c" + std::to_string(i)));
  EXPECT_EQ(direct.write_all(std::move(writes)), (std::map<int, std::size_t>{{201, 600}}));

  Client client(through(proxy));
  ReflectorOptions options = in(namespace_);
  options.backoff.longest = std::chrono::seconds(1);
  client.watch(options);
  ASSERT_TRUE(client.wait_for_view(Client::truth(connection, namespace_)));

  proxy.cut();
  ASSERT_TRUE(client.wait_for_notice(Notice::Kind::unreachable));
  // Unseen: 150 go, 150 change, 100 go and come back under their names, 50 are new.
  writes.clear();
  for (int i = 0; i < 600; ++i) {
    const std::string name = "c" + std::to_string(i);
    if (i < 250) writes.push_back(config_map_write(Verb::delete_, namespace_, name, nullptr));
    if (i >= 150 && i < 250) writes.push_back(create_config_map(namespace_, name, "again"));
    if (i >= 300 && i < 450) writes.push_back(config_map_write(Verb::merge_patch, namespace_, name, {{"data", {{"value", "1"}}}}));
  }
  for (int i = 0; i < 50; ++i) writes.push_back(create_config_map(namespace_, "new" + std::to_string(i)));
  EXPECT_EQ(direct.write_all(std::move(writes)), (std::map<int, std::size_t>{{200, 400}, {201, 150}}));
  // Neither etcd nor the server's own cache knows what happened since.
  ASSERT_TRUE(cluster->compact());
  ASSERT_TRUE(cluster->stop("apiserver"));
  ASSERT_TRUE(cluster->start("apiserver"));
  proxy.mend();

  ASSERT_TRUE(client.wait_for_notice(Notice::Kind::relisted));
  const auto truth = Client::truth(connection, namespace_);
  EXPECT_EQ(truth.size(), 500U);
  EXPECT_TRUE(client.wait_for_view(truth));
  EXPECT_EQ(client.view.get().contradictions, 0U);
  EXPECT_EQ(client.cluster->mirror().count(config_map), 500U);
  EXPECT_EQ(direct.write(create_config_map(namespace_, "after")).http_status, 201);
  EXPECT_TRUE(client.wait_for_view(Client::truth(connection, namespace_)));
}

TEST_F(ApiServerE2e, ACutLineIsResumedNotListedAgain) {
  hindsight::testing::CuttableProxy proxy(server_port());
  Client direct(connection);
  Client client(through(proxy));
  ReflectorOptions options = in(namespace_);
  options.backoff.longest = std::chrono::milliseconds(200);
  client.watch(options);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(client.wait_for_view(Client::truth(connection, namespace_)));
    proxy.cut();
    EXPECT_EQ(direct.write(create_config_map(namespace_, "a" + std::to_string(i))).http_status, 201);
    if (i > 0) {
      EXPECT_EQ(direct.write(config_map_write(Verb::delete_, namespace_, "a" + std::to_string(i - 1), nullptr)).http_status, 200);
    }
    proxy.mend();
  }
  EXPECT_TRUE(client.wait_for_view(Client::truth(connection, namespace_)));
  EXPECT_EQ(client.view.get().contradictions, 0U);
  EXPECT_EQ(client.cluster->statistics().kinds[0].reflector.lists, 1U);
}

TEST_F(ApiServerE2e, WritesUnderLoadKeepPreconditionsAndLoseNothing) {
  // Four clients count up the same 20 objects, each step with the resourceVersion that it read. Only as many steps may succeed as
  // the objects show in the end.
  constexpr int objects = 20;
  constexpr int clients = 4;
  constexpr int steps = 15;
  Client direct(connection);
  for (int i = 0; i < objects; ++i) ASSERT_EQ(direct.write(create_config_map(namespace_, "c" + std::to_string(i))).http_status, 201);

  std::atomic<int> succeeded{0};
  std::atomic<int> conflicts{0};
  std::atomic<int> other{0};
  Watched<int> finished;
  struct Step {
    Client* client;
    std::string name;
    int left;
  };
  std::function<void(Step)> read_then_write = [&](const Step& step) {
    if (step.left == 0) {
      finished.change([](int& n) { ++n; });
      return;
    }
    step.client->cluster->get(config_map, namespace_, step.name, [&, step](const HttpAnswer& found) {
      json object = json::parse(found.body);
      const int value = std::stoi(object["data"]["value"].get<std::string>());
      const json patch = {{"metadata", {{"resourceVersion", object["metadata"]["resourceVersion"]}, {"uid", object["metadata"]["uid"]}}},
                          {"data", {{"value", std::to_string(value + 1)}}}};
      step.client->cluster->submit(config_map_write(Verb::merge_patch, namespace_, step.name, patch), [&, step](const WriteAnswer& answer) {
        (answer.http_status == 200 ? succeeded : answer.http_status == 409 ? conflicts : other)++;
        read_then_write({step.client, step.name, step.left - 1});
      });
    });
  };
  std::vector<std::unique_ptr<Client>> all;  // Last, so that none of them calls back when the rest has gone.
  for (int c = 0; c < clients; ++c) all.push_back(std::make_unique<Client>(connection));
  for (const auto& client : all) {
    for (int i = 0; i < objects; ++i) read_then_write({client.get(), "c" + std::to_string(i), steps});
  }
  ASSERT_TRUE(finished.wait([&](int n) { return n == clients * objects; }));
  EXPECT_EQ(other, 0);
  EXPECT_GT(conflicts, 0);
  EXPECT_EQ(succeeded + conflicts, clients * objects * steps);
  int sum = 0;
  Client reader(connection);
  reader.watch(in(namespace_));
  ASSERT_TRUE(reader.view.wait([](const Client::View& v) { return v.synced; }));
  reader.cluster->mirror().for_each(
      config_map, [&](const MirrorStore::Text& text) { sum += std::stoi(json::parse(*text)["data"]["value"].get<std::string>()); });
  EXPECT_EQ(sum, succeeded);
}

TEST_F(ApiServerE2e, AppliesCreatesAndDeletesAsTheServerUnderstandsIt) {
  Client client(connection);
  const json applied = {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "a"}}}, {"data", {{"k", "v"}}}};
  EXPECT_EQ(client.write(config_map_write(Verb::apply_patch, namespace_, "a", applied)).http_status, 201);
  EXPECT_EQ(client.write(config_map_write(Verb::apply_patch, namespace_, "a", applied)).http_status, 200);
  EXPECT_EQ(client.write(create_config_map(namespace_, "a")).http_status, 409);
  EXPECT_EQ(client.write(create_config_map(namespace_, "Not A Name")).http_status, 422);
  EXPECT_EQ(client.write(config_map_write(Verb::merge_patch, namespace_, "none", json::object())).http_status, 404);
  // A stale precondition.
  EXPECT_EQ(client.write(config_map_write(Verb::merge_patch, namespace_, "a", {{"metadata", {{"resourceVersion", "1"}}}})).http_status,
            409);
  EXPECT_EQ(
      client.write(config_map_write(Verb::delete_, namespace_, "a", {{"metadata", {{"uid", "00000000-0000-0000-0000-000000000000"}}}}))
          .http_status,
      409);
  const WriteAnswer read = client.write(config_map_write(Verb::merge_patch, namespace_, "a", {{"data", {{"k", "w"}}}}));
  ASSERT_EQ(read.http_status, 200);
  const json metadata = json::parse(read.body)["metadata"];
  EXPECT_EQ(client
                .write(config_map_write(Verb::delete_, namespace_, "a",
                                        {{"metadata", {{"uid", metadata["uid"]}, {"resourceVersion", metadata["resourceVersion"]}}}}))
                .http_status,
            200);
  // Large texts come compressed and whole.
  EXPECT_EQ(client.write(create_config_map(namespace_, "large", std::string(900'000, 'x'))).http_status, 201);
  Watched<std::string> body;
  client.cluster->get(config_map, namespace_, "large",
                      [body](const HttpAnswer& answer) { body.change([&](std::string& b) { b = answer.body; }); });
  ASSERT_TRUE(body.wait([](const std::string& b) { return !b.empty(); }));
  EXPECT_EQ(json::parse(body.get())["data"]["value"].get<std::string>().size(), 900'000U);
}

TEST_F(ApiServerE2e, ShowsEventsToKubectl) {
  Client client(connection);
  const WriteAnswer created = client.write(create_config_map(namespace_, "c"));
  KubernetesEvent event;
  event.type = &config_map;
  event.namespace_ = namespace_;
  event.name = "c";
  event.uid = json::parse(created.body)["metadata"]["uid"];
  event.reason = "Admitted";
  event.message = "Admitted by ClusterQueue q, wait time since reservation was 0s";
  event.first = event.last = *parse_rfc3339("2026-01-01T00:00:00Z");
  client.cluster->submit_best_effort(event_write(event));
  ASSERT_TRUE(testing::eventually([&] { return client.cluster->statistics().http.answers >= 2; }));
  event.count = 5;
  client.cluster->submit_best_effort(event_write(event));
  ASSERT_TRUE(testing::eventually([&] { return client.cluster->statistics().http.answers >= 3; }));
  EXPECT_EQ(client.cluster->statistics().best_effort_failed, 0U);
  std::string output;
  ASSERT_TRUE(cluster->kubectl({"get", "events", "-n", namespace_, "-o", "json"}, &output));
  const json list = json::parse(output);
  ASSERT_EQ(list["items"].size(), 1U);
  EXPECT_EQ(list["items"][0]["reason"], "Admitted");
  EXPECT_EQ(list["items"][0]["count"], 5);
  EXPECT_EQ(list["items"][0]["involvedObject"]["name"], "c");
}

TEST_F(ApiServerE2e, SaysOnceThatItsCredentialsAreWrong) {
  Connection wrong = connection;
  wrong.user.token = "not-the-token";
  Client client(wrong);
  ReflectorOptions options;
  options.backoff = {std::chrono::milliseconds(5), std::chrono::milliseconds(20)};
  client.watch(options);
  EXPECT_EQ(client.write(create_config_map(namespace_, "a")).http_status, 401);
  ASSERT_TRUE(testing::eventually([&] { return client.cluster->statistics().kinds[0].reflector.failures >= 5; }));
  auto notices = client.notices.get();
  std::string all;
  for (const auto& n : notices) all += n.message + "\n";
  // A server that is busy may have something else said about it in between.
  std::erase_if(notices, [](const Notice& n) { return n.kind != Notice::Kind::credentials_refused; });
  ASSERT_EQ(notices.size(), 1U) << all;
  EXPECT_NE(notices[0].message.find(connection.server), std::string::npos);
  EXPECT_NE(notices[0].message.find("user \"hindsight\""), std::string::npos) << notices[0].message;
  EXPECT_EQ(notices[0].message.find("not-the-token"), std::string::npos);
}

TEST_F(ApiServerE2e, SaysOnceThatTheServerIsNotThereOrNotTrusted) {
  Connection nobody = connection;
  nobody.server = "https://127.0.0.1:1";
  Client absent(nobody);
  ReflectorOptions options;
  options.backoff = {std::chrono::milliseconds(5), std::chrono::milliseconds(20)};
  absent.watch(options);
  ASSERT_TRUE(testing::eventually([&] { return absent.cluster->statistics().kinds[0].reflector.failures >= 5; }));
  ASSERT_EQ(absent.notices.get().size(), 1U);
  EXPECT_NE(absent.notices.get()[0].message.find("https://127.0.0.1:1"), std::string::npos) << absent.notices.get()[0].message;

  Connection distrust = connection;
  distrust.authority_pem.clear();
  Client other(distrust);
  other.watch(options);
  ASSERT_TRUE(testing::eventually([&] { return other.cluster->statistics().kinds[0].reflector.failures >= 5; }));
  ASSERT_EQ(other.notices.get().size(), 1U);
  EXPECT_NE(other.notices.get()[0].message.find("certificate is not trusted"), std::string::npos) << other.notices.get()[0].message;

  Connection renamed = connection;
  renamed.tls_server_name = "kubernetes.default.svc";
  Client named(renamed);
  EXPECT_EQ(named.write(create_config_map(namespace_, "by-another-name")).http_status, 201);
}

TEST_F(ApiServerE2e, LogsInWithATokenFileAndWithACommand) {
  const testing::TemporaryFolder folder;
  Connection by_file = connection;
  by_file.user.token.clear();
  by_file.user.token_file = folder.write("token", connection.user.token + "\n");
  Client first(by_file);
  EXPECT_EQ(first.write(create_config_map(namespace_, "by-file")).http_status, 201);

  Connection by_command = connection;
  by_command.user.token.clear();
  by_command.user.exec = ExecSettings{};
  by_command.user.exec->api_version = "client.authentication.k8s.io/v1";
  by_command.user.exec->command = folder.write_script(
      "login",
      "#!/bin/sh\necho '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"'$(cat " +
          (folder / "token").string() + ")'\"}}'\n");
  Client second(by_command);
  EXPECT_EQ(second.write(create_config_map(namespace_, "by-command")).http_status, 201);
}

TEST_F(ApiServerE2e, AKindThatIsMissingAppearsWithItsDefinition) {
  static constexpr ResourceType widget{"Widget", "test.hindsight.dev", "v1", "widgets", true};
  Client client(connection);
  ReflectorOptions options;
  options.is_optional = true;
  options.absent_retry = std::chrono::milliseconds(200);
  Watched<std::vector<std::string>> events;
  client.cluster->watch(
      widget,
      [events](const WatchEvent& event) {
        events.change([&](auto& list) {
          list.push_back(event.type == WatchEvent::Type::synced ? "synced"
                                                                : json::parse(event.object)["metadata"]["name"].get<std::string>());
        });
        return Flow::more;
      },
      options);
  ASSERT_TRUE(events.wait([](const auto& list) { return list == std::vector<std::string>{"synced"}; }));
  ASSERT_TRUE(client.wait_for_notice(Notice::Kind::kind_absent));
  const testing::TemporaryFolder folder;
  const auto definition = folder.write("crd.json", R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
      "metadata":{"name":"widgets.test.hindsight.dev"},"spec":{"group":"test.hindsight.dev","scope":"Namespaced",
      "names":{"kind":"Widget","plural":"widgets"},"versions":[{"name":"v1","served":true,"storage":true,
      "schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})");
  ASSERT_TRUE(cluster->kubectl({"apply", "-f", definition.string()}));
  ASSERT_TRUE(client.wait_for_notice(Notice::Kind::list_complete));
  Write write;
  write.verb = Verb::create;
  write.type = &widget;
  write.namespace_ = namespace_;
  write.name = "w";
  write.body = R"({"apiVersion":"test.hindsight.dev/v1","kind":"Widget","metadata":{"name":"w"}})";
  EXPECT_EQ(client.write(std::move(write)).http_status, 201);
  EXPECT_TRUE(events.wait([](const auto& list) { return list == std::vector<std::string>{"synced", "w"}; }));
  EXPECT_EQ(client.count_notices(Notice::Kind::kind_absent), 1U);
}

TEST_F(ApiServerE2e, OfTwoCopiesOneLeadsAndTheOtherFollowsOnlyAfterItStoodDown) {
  hindsight::testing::CuttableProxy proxy(server_port());
  Client first(through(proxy));
  Client second(connection);
  LeaseSettings settings;
  settings.namespace_ = namespace_;
  settings.lease_duration = Duration::seconds(4);
  settings.renew_deadline = Duration::seconds(2);
  settings.retry_period = Duration::millis(200);
  Watched<std::vector<std::string>> history;
  const auto tell = [&](const std::string& who) {
    return [history, who](bool leads) { history.change([&](auto& list) { list.push_back(who + (leads ? " leads" : " stands down")); }); };
  };
  settings.identity = "first";
  first.cluster->elect(settings, tell("first"));
  ASSERT_TRUE(history.wait([](const auto& list) { return list.size() == 1; }));
  settings.identity = "second";
  second.cluster->elect(settings, tell("second"));
  // Cut off, the first must give up by itself before the second takes over.
  proxy.cut();
  ASSERT_TRUE(history.wait([](const auto& list) { return list.size() == 3; }));
  EXPECT_EQ(history.get(), (std::vector<std::string>{"first leads", "first stands down", "second leads"}));
  proxy.mend();
  std::string output;
  ASSERT_TRUE(cluster->kubectl(
      {"get", "lease", "-n", namespace_, settings.name, "-o", "jsonpath={.spec.holderIdentity} {.spec.leaseTransitions}"}, &output));
  EXPECT_EQ(output, "second 1");
  // A release hands over at once.
  second.cluster->resign();
  ASSERT_TRUE(history.wait([](const auto& list) { return list.size() == 5; }));
  EXPECT_EQ(history.get()[3], "second stands down");
  EXPECT_EQ(history.get()[4], "first leads");
  first.cluster->stop();
  EXPECT_EQ(history.get().back(), "first stands down");
}

TEST_F(ApiServerE2e, AConnectionThatLeadsNowhereCostsNeitherTheLeaseNorTheOtherRequests) {
  hindsight::testing::CuttableProxy proxy(server_port());
  Client client(through(proxy));
  LeaseSettings settings;
  settings.namespace_ = namespace_;
  settings.identity = "only";
  settings.lease_duration = Duration::seconds(12);
  settings.renew_deadline = Duration::seconds(8);
  settings.retry_period = Duration::millis(500);
  const Watched<std::vector<bool>> history;
  client.cluster->elect(settings, [history](bool leads) { history.change([&](auto& list) { list.push_back(leads); }); });
  ASSERT_TRUE(history.wait([](const auto& list) { return list.size() == 1; }));
  ReflectorOptions options = in(namespace_);
  options.watch_silence_max = std::chrono::seconds(2);
  client.watch(options);
  ASSERT_TRUE(client.view.wait([](const Client::View& v) { return v.synced; }));
  // What comes after the list comes by the watch, which so stands.
  ASSERT_EQ(client.write(create_config_map(namespace_, "before")).http_status, 201);
  ASSERT_TRUE(client.view.wait([](const Client::View& v) { return v.objects.size() == 1; }));
  // Several requests are under way on the connection when it dies, and more join them.
  const auto short_request = [&] {
    const Watched<HttpAnswer> answer;
    const Watched<bool> done;
    client.cluster->loop().post([&http = client.cluster->http(), answer, done, ns = namespace_] {
      HttpRequest request;
      request.path = "/api/v1/namespaces/" + ns + "/configmaps/before";
      request.time_limit = std::chrono::seconds(1);
      http.send(std::move(request), [answer, done](HttpAnswer a) {
        answer.set(std::move(a));
        done.set(true);
      });
    });
    return std::make_pair(answer, done);
  };
  proxy.freeze();
  std::vector<std::pair<Watched<HttpAnswer>, Watched<bool>>> requests;
  for (int i = 0; i < 20; ++i) requests.push_back(short_request());
  for (const auto& [answer, done] : requests) {
    ASSERT_TRUE(done.wait([](bool d) { return d; }));
    EXPECT_EQ(answer.get().status, 0);
  }
  // A new one is made in the place of the dead one.
  EXPECT_TRUE(testing::eventually([&] {
    const auto [answer, done] = short_request();
    return done.wait([](bool d) { return d; }) && answer.get().status == 200;
  }));
  Client direct(connection);
  EXPECT_EQ(direct.write(create_config_map(namespace_, "while-deaf")).http_status, 201);
  EXPECT_TRUE(client.wait_for_view(Client::truth(connection, namespace_)));
  EXPECT_GE(client.cluster->statistics().kinds[0].reflector.silent_watches, 1U);
  EXPECT_EQ(history.get(), std::vector<bool>{true});
  EXPECT_EQ(client.write(create_config_map(namespace_, "after")).http_status, 201);
}

TEST_F(ApiServerE2e, WritesOfACopyThatLostTheLeaseDoNotComeLate) {
  // Cut off with writes on its hands, the first copy loses the lease; when it is back, the other one leads.
  hindsight::testing::CuttableProxy proxy(server_port());
  Client first(through(proxy));
  Client second(connection);
  LeaseSettings settings;
  settings.namespace_ = namespace_;
  settings.lease_duration = Duration::seconds(4);
  settings.renew_deadline = Duration::seconds(2);
  settings.retry_period = Duration::millis(200);
  const Watched<std::vector<std::string>> history;
  const auto tell = [&](const std::string& who) {
    return [history, who](bool leads) { history.change([&](auto& list) { list.push_back(who + (leads ? " leads" : " stands down")); }); };
  };
  settings.identity = "first";
  first.cluster->elect(settings, tell("first"));
  ASSERT_TRUE(history.wait([](const auto& list) { return list.size() == 1; }));
  settings.identity = "second";
  second.cluster->elect(settings, tell("second"));
  ASSERT_EQ(first.write(create_config_map(namespace_, "c", "first")).http_status, 201);
  // Nobody writes who does not lead.
  EXPECT_EQ(second.write(create_config_map(namespace_, "early")).http_status, 0);
  proxy.cut();
  const Watched<std::map<int, std::size_t>> statuses;
  for (int i = 0; i < 20; ++i) {
    first.cluster->submit(create_config_map(namespace_, "late-" + std::to_string(i)),
                          [statuses](const WriteAnswer& answer) { statuses.change([&](auto& map) { ++map[answer.http_status]; }); });
  }
  ASSERT_TRUE(history.wait([](const auto& list) { return list.size() == 3; }));
  EXPECT_EQ(history.get(), (std::vector<std::string>{"first leads", "first stands down", "second leads"}));
  EXPECT_EQ(statuses.get(), (std::map<int, std::size_t>{{0, 20}}));
  proxy.mend();
  ASSERT_TRUE(first.wait_for_notice(Notice::Kind::reachable));
  EXPECT_EQ(second.write(create_config_map(namespace_, "of-the-second")).http_status, 201);
  const auto truth = Client::truth(connection, namespace_);
  EXPECT_TRUE(truth.contains(namespace_ + "/of-the-second"));
  EXPECT_EQ(std::count_if(truth.begin(), truth.end(), [](const auto& entry) { return entry.first.find("late-") != std::string::npos; }), 0);
}

TEST_F(ApiServerE2e, ACredentialCommandThatHangsCostsNothingWhileTheTokenLives) {
  const testing::TemporaryFolder folder;
  Connection by_command = connection;
  by_command.user.token.clear();
  by_command.user.exec = ExecSettings{};
  by_command.user.exec->api_version = "client.authentication.k8s.io/v1";
  // Its first run is good for nine seconds, so that the next one is due at once; that one hangs.
  by_command.user.exec->command = folder.write_script(
      "login",
      "#!/bin/sh\ncd \"$(dirname \"$0\")\"\n[ -e used ] && { touch hangs; exec sleep 1000; }\ntouch used\n"
      "echo '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"" +
          connection.user.token + "\",\"expirationTimestamp\":\"'$(date -u -d '9 seconds' +%Y-%m-%dT%H:%M:%SZ)'\"}}'\n");
  Client client(by_command);
  LeaseSettings settings;
  settings.namespace_ = namespace_;
  settings.identity = "only";
  settings.lease_duration = Duration::seconds(4);
  settings.renew_deadline = Duration::seconds(2);
  settings.retry_period = Duration::millis(200);
  const Watched<std::vector<bool>> history;
  client.cluster->elect(settings, [history](bool leads) { history.change([&](auto& list) { list.push_back(leads); }); });
  ASSERT_TRUE(history.wait([](const auto& list) { return !list.empty(); }));
  ASSERT_TRUE(testing::eventually([&] { return std::filesystem::exists(folder / "hangs"); }));
  // It is held for longer than it would be without renewals, and writes go through.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  for (int i = 0; std::chrono::steady_clock::now() < end; ++i) {
    EXPECT_EQ(client.write(create_config_map(namespace_, "c" + std::to_string(i))).http_status, 201);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_EQ(history.get(), std::vector<bool>{true});
}

/// Keeps a server's only seat for reading ConfigMaps taken, so that most others who want it are sent away (429).
class Crowd {
 public:
  Crowd(const Connection& connection, std::string namespace_)
      : client_(connection),
        going_(std::make_shared<std::atomic<bool>>(true)),
        path_("/api/v1/namespaces/" + std::move(namespace_) + "/configmaps") {
    for (int i = 0; i < 16; ++i) ask(*client_.cluster, going_, path_);
  }
  ~Crowd() { *going_ = false; }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

 private:
  static void ask(KubernetesCluster& cluster, const std::shared_ptr<std::atomic<bool>>& going, const std::string& path) {
    cluster.get_path(path, [&cluster, going, path](const HttpAnswer&) {
      if (*going) ask(cluster, going, path);
    });
  }
  Client client_;
  std::shared_ptr<std::atomic<bool>> going_;
  std::string path_;
};

TEST_F(ApiServerE2e, TooManyRequestsOfAServerThatMeansItMultiplyNothing) {
  // Priority and fairness of the real server: of all that this user wants of ConfigMaps one request is carried out at a time.
  const testing::TemporaryFolder folder;
  const auto file = folder.write("flow.json", R"({"apiVersion":"v1","kind":"List","items":[
      {"apiVersion":"flowcontrol.apiserver.k8s.io/v1","kind":"PriorityLevelConfiguration","metadata":{"name":"throttled"},"spec":{"type":"Limited",
       "limited":{"nominalConcurrencyShares":0,"lendablePercent":0,"borrowingLimitPercent":0,"limitResponse":{"type":"Reject"}}}},
      {"apiVersion":"flowcontrol.apiserver.k8s.io/v1","kind":"FlowSchema","metadata":{"name":"throttled"},"spec":{
       "priorityLevelConfiguration":{"name":"throttled"},"matchingPrecedence":10,"rules":[{"subjects":[{"kind":"User","user":{"name":"hindsight"}}],
       "resourceRules":[{"verbs":["*"],"apiGroups":[""],"resources":["configmaps"],"namespaces":["*"]}]}]}}]})");
  Client direct(connection);
  std::vector<Write> writes;
  constexpr std::size_t count = 400;
  for (std::size_t i = 0; i < count; ++i)
    writes.push_back(create_config_map(namespace_, "c" + std::to_string(i), std::string(10'000, 'x')));
  EXPECT_EQ(direct.write_all(std::move(writes)), (std::map<int, std::size_t>{{201, count}}));

  ASSERT_TRUE(cluster->kubectl({"apply", "-f", file.string()}));
  struct Reader {
    explicit Reader(const Connection& there) : client(there) {}
    Client client;
    Watched<bool> synced;
    Watched<std::size_t> listed;  ///< Objects that came before that: what is written meanwhile may be among them.
    [[nodiscard]] ReflectorStatistics statistics() const { return client.cluster->statistics().kinds[0].reflector; }
  };
  std::vector<std::unique_ptr<Reader>> readers;
  const Watched<std::map<int, int>> written;
  int submitted = 0;
  Client writer(connection);
  {
    const Crowd crowd(connection, namespace_);
    // The API server hears of its configuration by a watch.
    const Watched<bool> refused;
    ASSERT_TRUE(testing::eventually([&] {
      direct.cluster->get(config_map, namespace_, "c0", [refused](const HttpAnswer& answer) {
        if (answer.status == 429) refused.set(true);
      });
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return refused.get();
    }));
    // 200 pages. A page that finds the server idle for a moment is there at once, and so may all of them be: another reader begins then,
    // until one was refused twice.
    ASSERT_TRUE(testing::eventually([&] {
      if (!readers.empty() && readers.back()->statistics().failures >= 2) return true;
      if (!readers.empty() && !readers.back()->synced.get()) return false;
      auto& reader = *readers.emplace_back(std::make_unique<Reader>(connection));
      ReflectorOptions options = in(namespace_);
      options.page_size = 2;
      reader.client.cluster->watch(
          config_map,
          [synced = reader.synced, listed = reader.listed](const WatchEvent& event) {
            if (event.type == WatchEvent::Type::synced) synced.set(true);
            if (!synced.get()) listed.change([](std::size_t& n) { ++n; });
            return Flow::more;
          },
          options);
      return false;
    }));
    // The same of what is written.
    ASSERT_TRUE(testing::eventually([&] {
      if (written.get() == std::map<int, int>{{201, submitted}} || submitted == 0)
        for (int i = 0; i < 5; ++i, ++submitted)
          writer.cluster->submit(create_config_map(namespace_, "while-busy-" + std::to_string(submitted)),
                                 [written](const WriteAnswer& answer) { written.change([&](auto& map) { ++map[answer.http_status]; }); });
      return writer.cluster->statistics().writer.retries >= 2;
    }));
  }
  ASSERT_TRUE(cluster->kubectl({"delete", "-f", file.string()}));
  EXPECT_TRUE(written.wait([&](const auto& map) { return map == std::map<int, int>{{201, submitted}}; }));
  for (const auto& reader : readers) {
    ASSERT_TRUE(reader->synced.wait([](bool synced) { return synced; }));
    // Each refusal was answered by asking for the same page again, and by nothing else.
    const auto statistics = reader->statistics();
    EXPECT_EQ(statistics.lists, 1U);
    EXPECT_GE(reader->listed.get(), count);
    EXPECT_EQ(statistics.pages, (reader->listed.get() + 1) / 2 + statistics.failures);
  }
}

}  // namespace
}  // namespace hindsight::connectors::kubernetes
