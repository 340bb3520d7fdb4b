#include "connectors/simulated/merge_patch.hpp"

#include <algorithm>

namespace hindsight::connectors::simulated {

bool merge_changes(const Json& target, const Json& patch) {
  if (!patch.is_object()) return target != patch;
  if (!target.is_object()) return true;
  const auto& members = target.get_ref<const Json::object_t&>();
  const auto& changes = patch.get_ref<const Json::object_t&>();
  return std::any_of(changes.begin(), changes.end(), [&](const auto& change) {
    const auto it = members.find(change.first);
    if (change.second.is_null()) return it != members.end();
    return it == members.end() || merge_changes(it->second, change.second);
  });
}

void merge(Json& target, const Json& patch) {
  if (!patch.is_object()) {
    target = patch;
    return;
  }
  if (!target.is_object()) target = Json::object();
  auto& members = target.get_ref<Json::object_t&>();
  for (const auto& [name, change] : patch.get_ref<const Json::object_t&>()) {
    if (change.is_null())
      members.erase(name);
    else
      merge(members[name], change);
  }
}

}  // namespace hindsight::connectors::simulated
