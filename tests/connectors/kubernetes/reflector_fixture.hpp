#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "connectors/kubernetes/kubernetes_cluster.hpp"
#include "tests/connectors/kubernetes/fake_api_server.hpp"
#include "tests/connectors/kubernetes/waiting.hpp"

namespace hindsight::connectors::kubernetes::testing {

inline constexpr ResourceType config_map{"ConfigMap", "", "v1", "configmaps", true};

inline std::string object_text(const std::string& name, const std::string& uid, int version) {
  return R"({"metadata":{"name":")" + name + R"(","namespace":"ns","uid":")" + uid + R"(","resourceVersion":")" + std::to_string(version) +
         "\"}}";
}

inline std::string event_line(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}

inline std::string error_line(int code) {
  return R"({"type":"ERROR","object":{"kind":"Status","message":"told so","code":)" + std::to_string(code) + "}}\n";
}

inline std::string list_text(const std::vector<std::string>& items, int version, const std::string& continue_token = "") {
  std::string out = R"({"kind":"List","metadata":{"resourceVersion":")" + std::to_string(version) + R"(","continue":")" + continue_token +
                    R"("},"items":[)";
  for (std::size_t i = 0; i < items.size(); ++i) out += (i > 0 ? "," : "") + items[i];
  return out + "]}";
}

/// A sink that remembers: "added a/u1@5".
class Seen {
 public:
  Flow take(const WatchEvent& event) {
    std::string line;
    switch (event.type) {
      case WatchEvent::Type::added:
        line = "added";
        break;
      case WatchEvent::Type::modified:
        line = "modified";
        break;
      case WatchEvent::Type::deleted:
        line = "deleted";
        break;
      case WatchEvent::Type::synced:
        line = "synced";
        break;
    }
    if (!event.object.empty()) {
      const auto metadata = nlohmann::json::parse(event.object)["metadata"];
      line += " " + metadata["name"].get<std::string>() + "/" + metadata["uid"].get<std::string>() + "@" +
              metadata["resourceVersion"].get<std::string>();
    }
    Flow flow = Flow::more;
    lines_.change([&](auto& list) {
      list.push_back(line);
      if (pause_after != 0 && list.size() % pause_after == 0) flow = Flow::pause;
    });
    return flow;
  }
  bool wait_for(const std::string& line) {
    return lines_.wait([&](const auto& list) { return std::find(list.begin(), list.end(), line) != list.end(); });
  }
  bool wait_for_count(std::size_t count) {
    return lines_.wait([&](const auto& list) { return list.size() >= count; });
  }
  std::vector<std::string> lines() const { return lines_.get(); }

  std::size_t pause_after = 0;  ///< Says pause after each so many events.

 private:
  Watched<std::vector<std::string>> lines_;
};

/// A reflector of ConfigMaps and a server of our own that it watches.
class ReflectorFixture : public ::testing::Test {
 protected:
  void start(FakeApiServer::Handler handler, ReflectorOptions options = {}) {
    server = std::make_unique<FakeApiServer>(std::move(handler));
    Connection connection;
    connection.server = server->url();
    connection.description = "the test";
    KubernetesClusterOptions cluster_options;
    cluster_options.random = [] { return 0.5; };
    cluster_options.on_notice = [this](const Notice& notice) { notices.change([&](auto& list) { list.push_back(notice); }); };
    auto connected = KubernetesCluster::connect(connection, std::move(cluster_options));
    ASSERT_TRUE(connected) << connected.error().message;
    cluster = *std::move(connected);
    options.backoff = {std::chrono::milliseconds(1), std::chrono::milliseconds(10)};
    cluster->watch(
        config_map, [this](const WatchEvent& event) { return seen.take(event); }, std::move(options));
  }
  void TearDown() override {
    if (cluster) cluster->stop();
    server.reset();
  }
  bool wait_for_notice(Notice::Kind kind) {
    return notices.wait(
        [&](const auto& list) { return std::any_of(list.begin(), list.end(), [&](const Notice& n) { return n.kind == kind; }); });
  }
  std::size_t count_notices(Notice::Kind kind) {
    const auto list = notices.get();
    return static_cast<std::size_t>(std::count_if(list.begin(), list.end(), [&](const Notice& n) { return n.kind == kind; }));
  }
  /// Answers the n-th list and the n-th watch by the functions given; the last one serves all later ones.
  struct Script {
    std::vector<std::function<void(Exchange&)>> lists;
    std::vector<std::function<void(Exchange&)>> watches;
  };
  static FakeApiServer::Handler play(Script script) {
    struct State {
      std::mutex mutex;
      std::size_t lists = 0;
      std::size_t watches = 0;
    };
    return [script = std::move(script), state = std::make_shared<State>()](Exchange& exchange) {
      std::function<void(Exchange&)> step;
      {
        const std::lock_guard lock(state->mutex);
        const bool is_watch = exchange.query.contains("watch");
        const auto& steps = is_watch ? script.watches : script.lists;
        std::size_t& count = is_watch ? state->watches : state->lists;
        step = steps.at(std::min(count++, steps.size() - 1));
      }
      step(exchange);
    };
  }
  static std::function<void(Exchange&)> list_of(const std::vector<std::string>& items, int version,
                                                const std::string& continue_token = "") {
    return [=](Exchange& exchange) { exchange.answer(200, list_text(items, version, continue_token)); };
  }
  static std::function<void(Exchange&)> status(int code) {
    return
        [=](Exchange& exchange) { exchange.answer(code, R"({"kind":"Status","message":"told so","code":)" + std::to_string(code) + "}"); };
  }
  /// A watch that sends `text` and stays open.
  static std::function<void(Exchange&)> watch_of(const std::string& text) {
    return [=](Exchange& exchange) {
      exchange.begin_stream();
      exchange.send(text);
      exchange.wait_for_end();
    };
  }
  /// A watch that sends `text` and then ends as a server ends it at its time limit.
  static std::function<void(Exchange&)> ending_watch(const std::string& text) {
    return [=](Exchange& exchange) {
      exchange.begin_stream();
      exchange.send(text);
      exchange.end_stream();
    };
  }
  static std::function<void(Exchange&)> cut_watch(const std::string& text) {
    return [=](Exchange& exchange) {
      exchange.begin_stream();
      exchange.send(text);
      exchange.cut();
    };
  }
  std::vector<std::string> requests_with(const std::string& part) {
    std::vector<std::string> out;
    for (const std::string& line : server->requests()) {
      if (line.find(part) != std::string::npos) out.push_back(line);
    }
    return out;
  }

  std::unique_ptr<FakeApiServer> server;
  Watched<std::vector<Notice>> notices;
  Seen seen;
  std::unique_ptr<KubernetesCluster> cluster;
};

}  // namespace hindsight::connectors::kubernetes::testing
