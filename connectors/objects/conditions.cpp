#include "connectors/objects/conditions.hpp"

#include <algorithm>
#include <string>

#include "connectors/objects/write_parts.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::connectors {
namespace {

Json condition_json(const ConditionText& wanted, std::string_view message, std::int64_t generation) {
  Json out{{"type", wanted.type},
           {"status", wanted.status},
           {"reason", wanted.reason},
           {"message", message},
           {"lastTransitionTime", format_rfc3339(wanted.last_transition.is_set() ? wanted.last_transition : Time::from_seconds(0))}};
  if (generation > 0) out["observedGeneration"] = generation;
  return out;
}

bool says(const Json& condition, const ConditionText& wanted, std::string_view message) {
  return text_member(condition, "status") == wanted.status && text_member(condition, "reason") == wanted.reason &&
         text_member(condition, "message") == message &&
         (!wanted.last_transition.is_set() || is_time(text_member(condition, "lastTransitionTime"), wanted.last_transition));
}

}  // namespace

std::int64_t generation_of(const Json& object) {
  const auto* value = member(object_or_empty(object, "metadata"), "generation");
  return value != nullptr && value->is_number_integer() ? value->get<std::int64_t>() : 0;
}

Json merged_conditions(const Json& conditions, const std::vector<ConditionText>& wanted, bool (*is_ours)(std::string_view type),
                       std::int64_t generation) {
  Json out = Json::array();
  std::vector<std::string_view> written;
  const auto put = [&](const ConditionText& condition, const Json* old) {
    const auto message = condition_message(condition.message);
    out.push_back(old != nullptr && says(*old, condition, message) ? *old : condition_json(condition, message, generation));
    written.push_back(condition.type);
  };
  const auto is_written = [&](std::string_view type) { return std::find(written.begin(), written.end(), type) != written.end(); };
  for (const auto& old : conditions) {
    const auto type = text_member(old, "type");
    const auto it = std::find_if(wanted.begin(), wanted.end(), [&](const ConditionText& c) { return c.type == type; });
    if (it != wanted.end()) {
      if (!is_written(type)) put(*it, &old);
    } else if (!is_ours(type)) {
      out.push_back(old);
    }
  }
  for (const auto& condition : wanted)
    if (!is_written(condition.type)) put(condition, nullptr);
  return out;
}

}  // namespace hindsight::connectors
