#include "connectors/json/merge_patch.hpp"

#include <utility>

namespace hindsight::connectors {

Json merge_difference(const Json& from, const Json& to) {
  Json patch = Json::object();
  for (const auto& [key, value] : from.items())
    if (!to.contains(key)) patch[key] = nullptr;
  for (const auto& [key, value] : to.items()) {
    const auto old = from.find(key);
    if (old == from.end()) {
      patch[key] = value;
    } else if (old->is_object() && value.is_object()) {
      if (auto inner = merge_difference(*old, value); !inner.empty()) patch[key] = std::move(inner);
    } else if (*old != value) {
      patch[key] = value;
    }
  }
  return patch;
}

}  // namespace hindsight::connectors
