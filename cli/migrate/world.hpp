#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "connectors/manifests/json_views.hpp"
#include "connectors/manifests/schema.hpp"
#include "operations/configuration.hpp"

namespace hindsight::cli::migrate {

using connectors::manifests::Json;

/// A configuration file of Kueue, and where it was found.
struct KueueConfiguration {
  std::string text;
  std::string source;  ///< "ConfigMap kueue-system/kueue-manager-config", or the name of the file.
};

/// What a cluster that Kueue runs has, as far as it was read.
class World {
 public:
  /// Takes one object; `managedFields` are dropped, and what is of kueue.x-k8s.io/v1beta1 is kept in the words of v1beta2. A ConfigMap
  /// that holds a Configuration becomes the configuration, if there is none yet.
  void add(Json object);

  /// All of a kind of this group ("batch", "" for core), in the order in which they came.
  [[nodiscard]] const std::vector<const Json*>& of(std::string_view kind, std::string_view group) const;
  void each(const std::function<void(const Json&)>& visit) const;
  [[nodiscard]] std::size_t size() const { return objects_.size(); }

  std::optional<KueueConfiguration> configuration;
  /// Definitions of kinds are known to be there or not: they were asked for one by one.
  bool definitions_known = false;
  /// What could not be looked at: what it was, and why.
  std::vector<std::pair<std::string, std::string>> not_seen;

 private:
  std::vector<std::unique_ptr<const Json>> objects_;
  std::map<std::pair<std::string, std::string>, std::vector<const Json*>> by_kind_;
};

/// "Workload default/train", "ClusterQueue team-a".
[[nodiscard]] std::string name_of(const Json& object);
/// "default/train"; of objects without a namespace their name.
[[nodiscard]] std::string path_of(const Json& object);
[[nodiscard]] std::string_view group_of(const Json& object);
/// The owner reference with `controller: true`; null: none.
[[nodiscard]] const Json& controller_of(const Json& object);
/// A label or annotation; empty: none.
[[nodiscard]] std::string_view label_of(const Json& object, std::string_view key);
[[nodiscard]] std::string_view annotation_of(const Json& object, std::string_view key);
[[nodiscard]] bool is_being_deleted(const Json& object);

/// What rules of several areas look at, worked out once.
struct Configured {
  /// Nothing: there is none, or it cannot be read.
  std::optional<operations::Configuration> read;
  bool manages_all = false;  ///< manageJobsWithoutQueueName.
  [[nodiscard]] bool gate(std::string_view name) const;
};

}  // namespace hindsight::cli::migrate
