#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "connectors/kubernetes/kubernetes_cluster.hpp"
#include "tests/connectors/kubernetes/waiting.hpp"
#include "tests/support/cluster_fixture.hpp"

namespace hindsight::connectors::kubernetes::testing {

inline constexpr ResourceType config_map{"ConfigMap", "", "v1", "configmaps", true};
inline constexpr ResourceType namespace_type{"Namespace", "", "v1", "namespaces", false};

/// A client with a view of the ConfigMaps that it was told of, which finds fault with events that contradict it.
class Client {
 public:
  struct View {
    std::map<std::string, std::string> objects;  ///< "namespace/name" -> uid@resourceVersion
    std::size_t contradictions = 0;              ///< Additions of known objects, changes and deletions of unknown ones.
    bool synced = false;
  };

  explicit Client(const Connection& connection, KubernetesClusterOptions options = {}) {
    options.on_notice = [this](const Notice& notice) { notices.change([&](auto& list) { list.push_back(notice); }); };
    auto connected = KubernetesCluster::connect(connection, std::move(options));
    if (!connected) throw std::runtime_error(connected.error().message);
    cluster = *std::move(connected);
  }
  ~Client() { cluster->stop(); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void watch(ReflectorOptions options) {
    cluster->watch(
        config_map, [this](const WatchEvent& event) { return take(event); }, std::move(options));
  }

  /// Sends a write and waits for its answer.
  WriteAnswer write(Write write) {
    Watched<std::vector<WriteAnswer>> answers;
    cluster->submit(std::move(write),
                    [answers](WriteAnswer answer) { answers.change([&](auto& list) { list.push_back(std::move(answer)); }); });
    EXPECT_TRUE(answers.wait([](const auto& list) { return !list.empty(); }));
    auto list = answers.get();
    return list.empty() ? WriteAnswer{} : list[0];
  }
  /// Sends all writes at once and returns how many got each status.
  std::map<int, std::size_t> write_all(std::vector<Write> writes) {
    Watched<std::map<int, std::size_t>> statuses;
    const std::size_t count = writes.size();
    for (Write& write : writes) {
      cluster->submit(std::move(write),
                      [statuses](const WriteAnswer& answer) { statuses.change([&](auto& map) { ++map[answer.http_status]; }); });
    }
    EXPECT_TRUE(statuses.wait([&](const auto& map) {
      std::size_t sum = 0;
      for (const auto& [status, n] : map) sum += n;
      return sum == count;
    }));
    return statuses.get();
  }

  /// What the API server says there is, read page by page by a mirror of its own.
  static std::map<std::string, std::string> truth(const Connection& connection, const std::string& namespace_) {
    Client other(connection);
    ReflectorOptions options;
    options.namespace_ = namespace_;
    other.watch(options);
    EXPECT_TRUE(other.view.wait([](const View& v) { return v.synced; }));
    return other.view.get().objects;
  }
  bool wait_for_view(const std::map<std::string, std::string>& expected) {
    return view.wait([&](const View& v) { return v.synced && v.objects == expected; });
  }
  std::size_t count_notices(Notice::Kind kind) const {
    const auto list = notices.get();
    return static_cast<std::size_t>(std::count_if(list.begin(), list.end(), [&](const Notice& n) { return n.kind == kind; }));
  }
  bool wait_for_notice(Notice::Kind kind, std::size_t count = 1) {
    return notices.wait([&](const auto& list) {
      return static_cast<std::size_t>(std::count_if(list.begin(), list.end(), [&](const Notice& n) { return n.kind == kind; })) >= count;
    });
  }

  Watched<View> view;
  Watched<std::vector<Notice>> notices;
  std::unique_ptr<KubernetesCluster> cluster;

 private:
  Flow take(const WatchEvent& event) {
    view.change([&](View& v) {
      if (event.type == WatchEvent::Type::synced) {
        v.synced = true;
        return;
      }
      const auto metadata = nlohmann::json::parse(event.object)["metadata"];
      const std::string key = metadata["namespace"].get<std::string>() + "/" + metadata["name"].get<std::string>();
      const std::string uid = metadata["uid"];
      const auto known = v.objects.find(key);
      if (event.type == WatchEvent::Type::deleted) {
        if (known == v.objects.end() || !known->second.starts_with(uid + "@")) ++v.contradictions;
        v.objects.erase(key);
        return;
      }
      if ((event.type == WatchEvent::Type::added) != (known == v.objects.end())) ++v.contradictions;
      v.objects[key] = uid + "@" + metadata["resourceVersion"].get<std::string>();
    });
    return Flow::more;
  }
};

inline Write config_map_write(Write::Verb verb, const std::string& namespace_, const std::string& name, const nlohmann::json& body) {
  Write write;
  write.verb = verb;
  write.type = &config_map;
  write.namespace_ = namespace_;
  write.name = name;
  write.body = body.is_null() ? "" : body.dump();
  return write;
}

inline Write create_config_map(const std::string& namespace_, const std::string& name, const std::string& value = "0") {
  return config_map_write(Write::Verb::create, namespace_, name,
                          {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", name}}}, {"data", {{"value", value}}}});
}

}  // namespace hindsight::connectors::kubernetes::testing
