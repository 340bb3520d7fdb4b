#include "cli/migrate/world.hpp"

#include "connectors/json/owner_kinds.hpp"
#include "connectors/manifests/v1beta1.hpp"

namespace hindsight::cli::migrate {
namespace {

using connectors::manifests::member;
using connectors::manifests::text;

const Json& absent() {
  static const Json nothing;
  return nothing;
}

/// The file that a ConfigMap of Kueue's manifests holds: one whose text names the kind.
std::optional<std::string> configuration_in(const Json& config_map) {
  const Json& data = member(config_map, "data");
  if (!data.is_object()) return std::nullopt;
  for (const auto& [name, value] : data.items())
    if (value.is_string() && value.get_ref<const std::string&>().find("config.kueue.x-k8s.io/") != std::string::npos)
      return value.get<std::string>();
  return std::nullopt;
}

}  // namespace

void World::add(Json object) {
  if (!object.is_object()) return;
  if (auto meta = object.find("metadata"); meta != object.end() && meta->is_object()) meta->erase("managedFields");
  const std::string kind(text(object, "kind"));
  if (text(object, "apiVersion") == "kueue.x-k8s.io/v1beta1") {
    std::vector<connectors::manifests::Problem> problems;  // what it says twice is found again by the reader of the kind
    connectors::manifests::convert_v1beta1(kind, object, problems);
  }
  if (kind == "ConfigMap" && !configuration)
    if (auto found = configuration_in(object)) configuration = KueueConfiguration{std::move(*found), name_of(object)};
  const std::string group(group_of(object));
  objects_.push_back(std::make_unique<const Json>(std::move(object)));
  by_kind_[{kind, group}].push_back(objects_.back().get());
}

const std::vector<const Json*>& World::of(std::string_view kind, std::string_view group) const {
  static const std::vector<const Json*> none;
  const auto it = by_kind_.find({std::string(kind), std::string(group)});
  return it == by_kind_.end() ? none : it->second;
}

void World::each(const std::function<void(const Json&)>& visit) const {
  for (const auto& object : objects_) visit(*object);
}

std::string path_of(const Json& object) {
  const Json& meta = member(object, "metadata");
  const auto space = text(meta, "namespace");
  return (space.empty() ? std::string() : std::string(space) + "/") + std::string(text(meta, "name"));
}

std::string name_of(const Json& object) { return std::string(text(object, "kind")) + " " + path_of(object); }

std::string_view group_of(const Json& object) { return connectors::group_of_version(text(object, "apiVersion")); }

const Json& controller_of(const Json& object) {
  const Json& owners = member(object, "metadata", "ownerReferences");
  if (owners.is_array())
    for (const Json& owner : owners)
      if (owner.is_object() && connectors::manifests::flag(owner, "controller")) return owner;
  return absent();
}

std::string_view label_of(const Json& object, std::string_view key) { return text(member(object, "metadata", "labels"), key); }
std::string_view annotation_of(const Json& object, std::string_view key) { return text(member(object, "metadata", "annotations"), key); }
bool is_being_deleted(const Json& object) { return !text(member(object, "metadata"), "deletionTimestamp").empty(); }

bool Configured::gate(std::string_view name) const {
  if (read) return read->gate(name);
  const auto* known = operations::find_feature_gate(name);
  return known != nullptr && known->enabled;
}

}  // namespace hindsight::cli::migrate
