#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "connectors/objects/observe.hpp"
#include "connectors/objects/resource_types.hpp"

namespace hindsight::connectors {

/// The observation of `json` as a T; fails the test when there is an error.
template <class T>
T observed(const ResourceType& type, std::string_view json, Arena& arena, const JobContext& context = {}) {
  auto result = observe_text(type, json, arena, context);
  if (!result) {
    ADD_FAILURE() << result.error().message << "\n" << json;
    return {};
  }
  const auto* value = std::get_if<T>(&*result);
  if (value == nullptr) {
    ADD_FAILURE() << "another kind of observation for " << json;
    return {};
  }
  return *value;
}

/// The error of observing `json`; empty: none.
inline std::string refusal(const ResourceType& type, std::string_view json) {
  Arena arena;
  const auto result = observe_text(type, json, arena);
  return result ? "" : result.error().message;
}

inline std::string joined(List<Text> texts) {
  std::string out;
  for (const auto text : texts) out.append(out.empty() ? "" : " ").append(text);
  return out;
}

inline std::string joined(List<Pair> pairs) {
  std::string out;
  for (const auto& [key, value] : pairs) out.append(out.empty() ? "" : " ").append(key).append("=").append(value);
  return out;
}

inline std::string joined(List<ResourceAmount> amounts) {
  std::string out;
  for (const auto& [resource, amount] : amounts)
    out.append(out.empty() ? "" : " ").append(resource).append("=").append(std::to_string(amount));
  return out;
}

inline std::string joined(List<PodSetCount> counts) {
  std::string out;
  for (const auto& [pod_set, count] : counts) out.append(out.empty() ? "" : " ").append(pod_set).append("=").append(std::to_string(count));
  return out;
}

}  // namespace hindsight::connectors
