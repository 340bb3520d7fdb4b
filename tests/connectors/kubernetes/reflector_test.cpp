// Shows the reflector against a server of our own that keeps objects and can be made to misbehave.
#include "connectors/kubernetes/mirror/reflector.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "tests/connectors/kubernetes/reflector_fixture.hpp"

namespace hindsight::connectors::kubernetes {
namespace {

using nlohmann::json;
using testing::config_map;
using testing::error_line;
using testing::event_line;
using testing::Exchange;
using testing::FakeApiServer;
using testing::list_text;
using testing::object_text;
using testing::Watched;

using ReflectorTest = testing::ReflectorFixture;

TEST_F(ReflectorTest, ListsInPagesThenWatchesFromThere) {
  ReflectorOptions options;
  options.page_size = 2;
  options.label_selector = "a=b,c";
  start(play({{list_of({object_text("a", "u1", 1), object_text("b", "u2", 2)}, 10, "next/1"), list_of({object_text("c", "u3", 3)}, 10)},
              {watch_of(event_line("MODIFIED", object_text("a", "u1", 11)) + event_line("DELETED", object_text("b", "u2", 12)) +
                        event_line("ADDED", object_text("d", "u4", 13)))}}),
        options);
  ASSERT_TRUE(seen.wait_for("added d/u4@13"));
  EXPECT_EQ(seen.lines(), (std::vector<std::string>{"added a/u1@1", "added b/u2@2", "added c/u3@3", "synced", "modified a/u1@11",
                                                    "deleted b/u2@12", "added d/u4@13"}));
  const auto requests = server->requests();
  EXPECT_EQ(requests[0], "GET /api/v1/configmaps?labelSelector=a=b,c&limit=2");
  EXPECT_EQ(requests[1], "GET /api/v1/configmaps?continue=next/1&labelSelector=a=b,c&limit=2");
  EXPECT_EQ(requests[2],
            "GET /api/v1/configmaps?allowWatchBookmarks=true&labelSelector=a=b,c&resourceVersion=10&timeoutSeconds=450&watch=1");
  EXPECT_EQ(cluster->mirror().count(config_map), 3U);
  EXPECT_EQ(*cluster->mirror().find(config_map, "ns", "a"), object_text("a", "u1", 11));
}

TEST_F(ReflectorTest, ResumesWhereTheWatchEndedOrBroke) {
  const std::string bookmark = event_line("BOOKMARK", R"({"kind":"ConfigMap","metadata":{"resourceVersion":"20"}})");
  start(play({{list_of({}, 10)},
              {ending_watch(event_line("ADDED", object_text("a", "u1", 11))), cut_watch(bookmark), cut_watch(""),
               // A line that is cut in the middle counts for nothing.
               cut_watch(event_line("ADDED", object_text("b", "u2", 21)).substr(0, 40)),
               watch_of(event_line("ADDED", object_text("b", "u2", 21)))}}));
  ASSERT_TRUE(seen.wait_for("added b/u2@21"));
  EXPECT_EQ(seen.lines(), (std::vector<std::string>{"synced", "added a/u1@11", "added b/u2@21"}));
  std::vector<std::string> versions;
  for (const std::string& line : requests_with("watch=1")) versions.push_back(line.substr(line.find("resourceVersion="), 18));
  EXPECT_EQ(versions, (std::vector<std::string>{"resourceVersion=10", "resourceVersion=11", "resourceVersion=20", "resourceVersion=20",
                                                "resourceVersion=20"}));
  EXPECT_EQ(requests_with("limit=").size(), 1U);
}

TEST_F(ReflectorTest, ListsAgainWhenToldInTheStreamThatItsVersionIsGone) {
  start(play({{list_of({object_text("kept", "u1", 1), object_text("gone", "u2", 2), object_text("changed", "u3", 3),
                        object_text("replaced", "u4", 4)},
                       10),
               list_of({object_text("kept", "u1", 1), object_text("changed", "u3", 30), object_text("replaced", "u5", 31),
                        object_text("new", "u6", 32)},
                       40)},
              {ending_watch(error_line(410)), watch_of(event_line("DELETED", object_text("new", "u6", 41)))}}));
  ASSERT_TRUE(seen.wait_for("deleted new/u6@41"));
  EXPECT_EQ(seen.lines(), (std::vector<std::string>{"added kept/u1@1", "added gone/u2@2", "added changed/u3@3", "added replaced/u4@4",
                                                    "synced", "modified changed/u3@30", "deleted replaced/u4@4", "added replaced/u5@31",
                                                    "added new/u6@32", "deleted gone/u2@2", "deleted new/u6@41"}));
  EXPECT_TRUE(wait_for_notice(Notice::Kind::relisted));
  EXPECT_EQ(cluster->mirror().count(config_map), 3U);
  // Not resumed with the old version.
  EXPECT_EQ(requests_with("resourceVersion=10").size(), 1U);
  EXPECT_EQ(requests_with("resourceVersion=40").size(), 1U);
}

TEST_F(ReflectorTest, ListsAgainWhenTheWatchIsAnsweredWithGone) {
  start(play({{list_of({object_text("a", "u1", 1)}, 10), list_of({}, 40)}, {status(410), watch_of("")}}));
  ASSERT_TRUE(seen.wait_for("deleted a/u1@1"));
  EXPECT_TRUE(wait_for_notice(Notice::Kind::relisted));
}

TEST_F(ReflectorTest, BeginsTheListAnewWhenItsTokenExpired) {
  start(play({{list_of({object_text("a", "u1", 1)}, 10, "t1"), status(410), list_of({object_text("a", "u1", 1)}, 20, "t2"), status(410),
               list_of({object_text("b", "u2", 25)}, 30)},
              {watch_of("")}}));
  ASSERT_TRUE(seen.wait_for("synced"));
  EXPECT_EQ(seen.lines(), (std::vector<std::string>{"added a/u1@1", "added b/u2@25", "deleted a/u1@1", "synced"}));
  // Each time in larger steps: fewer of them take less time.
  EXPECT_EQ(requests_with("limit="),
            (std::vector<std::string>{"GET /api/v1/configmaps?limit=500", "GET /api/v1/configmaps?continue=t1&limit=500",
                                      "GET /api/v1/configmaps?limit=1000", "GET /api/v1/configmaps?continue=t2&limit=1000",
                                      "GET /api/v1/configmaps?limit=2000"}));
}

TEST_F(ReflectorTest, KeepsTryingWhenTheWatchBreaksByWhatItSays) {
  start(play({{list_of({object_text("a", "u1", 1)}, 10), list_of({object_text("a", "u1", 1)}, 50)},
              {ending_watch(error_line(500)), ending_watch("not json\n"), ending_watch(event_line("STRANGE", "{}")),
               watch_of(event_line("MODIFIED", object_text("a", "u1", 60)))}}));
  ASSERT_TRUE(seen.wait_for("modified a/u1@60"));
  EXPECT_EQ(seen.lines(), (std::vector<std::string>{"added a/u1@1", "synced", "modified a/u1@60"}));
  // Three bad watches in a row: then it lists again, in case the version is at fault.
  EXPECT_EQ(requests_with("resourceVersion=10").size(), 3U);
  EXPECT_EQ(requests_with("resourceVersion=50").size(), 1U);
  EXPECT_EQ(count_notices(Notice::Kind::list_refused), 1U);
  EXPECT_TRUE(wait_for_notice(Notice::Kind::list_complete));
}

TEST_F(ReflectorTest, BoundsTheLengthOfALine) {
  ReflectorOptions options;
  options.line_bytes_max = 1000;
  start(play({{list_of({}, 10), list_of({}, 11)},
              {ending_watch(std::string(5000, 'x')), watch_of(event_line("ADDED", object_text("a", "u1", 12)))}}),
        options);
  ASSERT_TRUE(seen.wait_for("added a/u1@12"));
  ASSERT_GE(count_notices(Notice::Kind::list_refused), 1U);
  EXPECT_NE(notices.get()[0].message.find("1000 bytes"), std::string::npos);
}

TEST_F(ReflectorTest, SaysOnceThatItMayNotListAndGoesOnTrying) {
  start(play({{status(403), status(403), status(403), list_of({object_text("a", "u1", 1)}, 10)}, {watch_of("")}}));
  ASSERT_TRUE(seen.wait_for("synced"));
  const auto list = notices.get();
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].kind, Notice::Kind::list_refused);
  EXPECT_EQ(list[0].resource, &config_map);
  EXPECT_NE(list[0].message.find("configmaps/v1"), std::string::npos) << list[0].message;
  EXPECT_NE(list[0].message.find("403: told so"), std::string::npos) << list[0].message;
  EXPECT_EQ(list[1].kind, Notice::Kind::list_complete);
}

TEST_F(ReflectorTest, SurvivesABadListAndAnAbsentServer) {
  start(play({{[](Exchange& e) { e.answer(200, "{\"items\":"); }, [](Exchange& e) { e.cut(); }, status(500), status(429),
               list_of({object_text("a", "u1", 1)}, 10)},
              {watch_of("")}}));
  EXPECT_TRUE(seen.wait_for("synced"));
  EXPECT_EQ(seen.lines(), (std::vector<std::string>{"added a/u1@1", "synced"}));
}

TEST_F(ReflectorTest, AnOptionalKindThatIsAbsentCountsAsEmptyUntilItAppears) {
  ReflectorOptions options;
  options.is_optional = true;
  options.absent_retry = std::chrono::milliseconds(5);
  start(play({{status(404), status(404), status(404), list_of({object_text("a", "u1", 1)}, 10)}, {watch_of("")}}), options);
  ASSERT_TRUE(seen.wait_for("added a/u1@1"));
  EXPECT_EQ(seen.lines(), (std::vector<std::string>{"synced", "added a/u1@1"}));
  EXPECT_EQ(count_notices(Notice::Kind::kind_absent), 1U);
  EXPECT_TRUE(wait_for_notice(Notice::Kind::list_complete));
}

TEST_F(ReflectorTest, AKindThatIsAbsentButNotOptionalIsNotSynced) {
  ReflectorOptions options;
  options.absent_retry = std::chrono::milliseconds(5);
  start(play({{status(404), status(404), list_of({}, 10)}, {watch_of("")}}), options);
  ASSERT_TRUE(seen.wait_for("synced"));
  EXPECT_EQ(requests_with("limit=").size(), 3U);
}

TEST_F(ReflectorTest, ObjectsOfAKindWhoseDefinitionWasRemovedAreDeletedButNotAtTheFirstNo) {
  ReflectorOptions options;
  options.absent_retry = std::chrono::milliseconds(5);
  start(play({{list_of({object_text("a", "u1", 1)}, 10), status(404)}, {status(404)}}), options);
  ASSERT_TRUE(seen.wait_for("deleted a/u1@1"));
  EXPECT_EQ(seen.lines(), (std::vector<std::string>{"added a/u1@1", "synced", "deleted a/u1@1"}));
  EXPECT_GE(requests_with("limit=").size(), 5U);
  EXPECT_EQ(cluster->mirror().count(config_map), 0U);
}

TEST_F(ReflectorTest, AServerThatIsJustStartingCostsNoObject) {
  start(play({{list_of({object_text("a", "u1", 1)}, 10), status(404), status(404), list_of({object_text("a", "u1", 1)}, 10)},
              {status(404), watch_of(event_line("ADDED", object_text("b", "u2", 11)))}}));
  ASSERT_TRUE(seen.wait_for("added b/u2@11"));
  EXPECT_EQ(seen.lines(), (std::vector<std::string>{"added a/u1@1", "synced", "added b/u2@11"}));
}

// ---------------------------------------------------------------- back-pressure

TEST_F(ReflectorTest, ASinkThatPausesLosesNothingAndRepeatsNothing) {
  std::vector<std::string> items;
  std::vector<std::string> expected;
  for (int i = 0; i < 50; ++i) {
    items.push_back(object_text("l" + std::to_string(i), "u", i + 1));
    expected.push_back("added l" + std::to_string(i) + "/u@" + std::to_string(i + 1));
  }
  expected.emplace_back("synced");
  std::string lines;
  for (int i = 0; i < 500; ++i) {
    lines += event_line("ADDED", object_text("w" + std::to_string(i), "u", 100 + i));
    expected.push_back("added w" + std::to_string(i) + "/u@" + std::to_string(100 + i));
  }
  seen.pause_after = 7;
  start(play({{list_of(std::vector<std::string>(items.begin(), items.begin() + 25), 60, "t"),
               list_of(std::vector<std::string>(items.begin() + 25, items.end()), 60)},
              {watch_of(lines)}}));
  std::size_t count = 7;
  while (count < expected.size()) {
    ASSERT_TRUE(seen.wait_for_count(count));
    cluster->loop().run([] {});
    EXPECT_EQ(seen.lines().size(), count);  // It really waits.
    cluster->resume();
    count += 7;
  }
  ASSERT_TRUE(seen.wait_for_count(expected.size()));
  EXPECT_EQ(seen.lines(), expected);
}

TEST_F(ReflectorTest, APausedSinkHoldsTheServerBackNotOurMemory) {
  constexpr int events = 1000;
  const std::string filler(24000, 'x');
  const Watched<int> sent;
  seen.pause_after = 100;
  start([sent, filler](Exchange& exchange) {
    if (!exchange.query.contains("watch")) {
      exchange.answer(200, list_text({}, 1));
      return;
    }
    exchange.begin_stream();
    for (int i = 0; i < events; ++i) {
      std::string object = object_text("w" + std::to_string(i), "u", 100 + i);
      object.insert(object.size() - 1, R"(,"data":")" + filler + "\"");
      if (!exchange.send(event_line("ADDED", object))) return;
      sent.change([](int& n) { ++n; });
    }
    exchange.wait_for_end();
  });
  ASSERT_TRUE(seen.wait_for_count(100));
  // 24 MB are on offer. What the sockets hold can be sent, and one chunk; the rest waits at the server.
  cluster->loop().run([] {});
  EXPECT_EQ(seen.lines().size(), 100U);
  EXPECT_LT(sent.get(), events / 2);
  seen.pause_after = 0;
  cluster->resume();
  EXPECT_TRUE(seen.wait_for("added w" + std::to_string(events - 1) + "/u@" + std::to_string(100 + events - 1)));
  EXPECT_EQ(seen.lines().size(), static_cast<std::size_t>(events) + 1);
}

TEST_F(ReflectorTest, AWatchThatEndsWhilePausedIsResumedFromWhatWasTaken) {
  seen.pause_after = 2;
  start(play({{list_of({}, 10)},
              {ending_watch(event_line("ADDED", object_text("a", "u", 11)) + event_line("ADDED", object_text("b", "u", 12))),
               watch_of(event_line("ADDED", object_text("b", "u", 12)) + event_line("ADDED", object_text("c", "u", 13)))}}));
  // synced, a: pause; b stands in the decoder when the watch ends.
  ASSERT_TRUE(seen.wait_for_count(2));
  ASSERT_TRUE(testing::eventually([&] { return !requests_with("resourceVersion=11").empty(); }));
  seen.pause_after = 0;
  cluster->resume();
  ASSERT_TRUE(seen.wait_for("added c/u@13"));
  EXPECT_EQ(seen.lines(), (std::vector<std::string>{"synced", "added a/u@11", "added b/u@12", "added c/u@13"}));
}

TEST_F(ReflectorTest, RandomServersGiveTheSinkTheSameEnd) {
  // A server with a model of its own: it changes objects, cuts watches anywhere, forgets history (410) and pages lists. However it
  // behaves, the sink's view must come to equal the server's, without a deletion of something unknown or a double addition.
  for (unsigned seed = 1; seed <= 12; ++seed) {
    struct Model {
      std::mutex mutex;
      std::map<std::string, std::pair<std::string, int>> objects;  // name -> uid, version
      std::vector<std::pair<int, std::string>> history;            // version, line
      int version = 1;
      int oldest = 0;
      unsigned state = 0;
      int changes_left = 300;
      unsigned random() { return (state = state * 1664525U + 1013904223U) >> 8U; }
      void change() {
        if (changes_left-- <= 0) return;
        const std::string name = "n" + std::to_string(random() % 30);
        ++version;
        const auto found = objects.find(name);
        if (found == objects.end()) {
          objects[name] = {"u" + std::to_string(version), version};
          history.emplace_back(version, event_line("ADDED", object_text(name, objects[name].first, version)));
        } else if (random() % 3 == 0) {
          history.emplace_back(version, event_line("DELETED", object_text(name, found->second.first, version)));
          objects.erase(found);
        } else {
          found->second.second = version;
          history.emplace_back(version, event_line("MODIFIED", object_text(name, found->second.first, version)));
        }
        if (random() % 20 == 0) oldest = version;
      }
    };
    const auto model = std::make_shared<Model>();
    model->state = seed;
    struct View {
      std::map<std::string, std::string> objects;  // name -> uid@version
      int errors = 0;
      bool synced = false;
    };
    Watched<View> view;
    FakeApiServer fake([model](Exchange& exchange) {
      std::unique_lock lock(model->mutex);
      for (unsigned i = 0; i < model->random() % 10; ++i) model->change();
      if (!exchange.query.contains("watch")) {
        // Pages of a snapshot: the token is the name to go on after; a change in between is not shown (the version would be old).
        std::vector<std::string> items;
        for (const auto& [name, state] : model->objects) items.push_back(object_text(name, state.first, state.second));
        exchange.answer(200, list_text(items, model->version));
        return;
      }
      int from = std::stoi(exchange.query["resourceVersion"]);
      if (from < model->oldest) {
        if (model->random() % 2 == 0) {
          exchange.answer(410, "{}");
        } else {
          exchange.begin_stream();
          exchange.send(error_line(410));
          exchange.end_stream();
        }
        return;
      }
      exchange.begin_stream();
      bool open = true;
      while (open) {
        std::string out;
        for (const auto& [version, line] : model->history) {
          if (version > from) out += line;
        }
        from = model->version;
        const bool cut = model->changes_left > 0 && model->random() % 3 == 0;
        if (cut && !out.empty()) out.resize(model->random() % out.size());
        lock.unlock();
        open = exchange.send(out);
        if (cut) {
          exchange.cut();
          return;
        }
        if (open && out.empty()) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
          open = exchange.send("\n");
        }
        lock.lock();
        for (unsigned i = 0; i < model->random() % 4; ++i) model->change();
      }
    });
    Connection connection;
    connection.server = fake.url();
    KubernetesClusterOptions options;
    auto random_state = std::make_shared<unsigned>(seed);
    options.random = [random_state] {
      return static_cast<double>((*random_state = *random_state * 1664525U + 1013904223U) >> 8U) / (1U << 24U);
    };
    auto connected = KubernetesCluster::connect(connection, std::move(options));
    ASSERT_TRUE(connected);
    KubernetesCluster& client = **connected;
    ReflectorOptions reflector;
    reflector.backoff = {std::chrono::milliseconds(1), std::chrono::milliseconds(5)};
    client.watch(
        config_map,
        [&](const WatchEvent& event) {
          Flow flow = Flow::more;
          view.change([&](View& v) {
            if (event.type == WatchEvent::Type::synced) {
              if (v.synced) ++v.errors;
              v.synced = true;
              return;
            }
            const json metadata = json::parse(event.object)["metadata"];
            const std::string name = metadata["name"];
            const std::string uid = metadata["uid"];
            const auto known = v.objects.find(name);
            if (event.type == WatchEvent::Type::deleted) {
              if (known == v.objects.end() || !known->second.starts_with(uid + "@")) ++v.errors;
              v.objects.erase(name);
              return;
            }
            if ((event.type == WatchEvent::Type::added) != (known == v.objects.end())) ++v.errors;
            v.objects[name] = uid + "@" + metadata["resourceVersion"].get<std::string>();
            if (v.objects.size() % 5 == 0) flow = Flow::pause;
          });
          if (flow == Flow::pause) client.resume();
          return flow;
        },
        reflector);
    const bool same = view.wait([&](const View& v) {
      const std::lock_guard lock(model->mutex);
      if (model->changes_left > 0 || v.objects.size() != model->objects.size()) return false;
      return std::all_of(model->objects.begin(), model->objects.end(), [&](const auto& entry) {
        const auto found = v.objects.find(entry.first);
        return found != v.objects.end() && found->second == entry.second.first + "@" + std::to_string(entry.second.second);
      });
    });
    EXPECT_TRUE(same) << "seed " << seed;
    EXPECT_EQ(view.get().errors, 0) << "seed " << seed;
    client.stop();
  }
}

}  // namespace
}  // namespace hindsight::connectors::kubernetes
