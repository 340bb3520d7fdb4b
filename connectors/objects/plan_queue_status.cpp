#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "connectors/json/merge_patch.hpp"
#include "connectors/objects/conditions.hpp"
#include "connectors/objects/plan.hpp"
#include "connectors/objects/resource_types.hpp"
#include "connectors/objects/write_parts.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::connectors {
namespace {

using Usage = admission::QueueStatusIntent::Usage;

/// Does an entry say these amounts? A missing quantity is 0.
bool says(const Json& resource, std::string_view name, const std::pair<Amount, Amount>& amounts, bool local) {
  const auto amount_is = [&](std::string_view key, Amount wanted) {
    const auto* quantity = member(resource, key);
    return quantity == nullptr ? wanted == 0 : is_amount(quantity, name, wanted);
  };
  return text_member(resource, "name") == name && amount_is("total", amounts.first) && (local || amount_is("borrowed", amounts.second));
}

bool says(const Json& list, const std::vector<Usage>& wanted, bool local) {
  if (list.size() != wanted.size()) return false;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto& resources = list_or_empty(list[i], "resources");
    if (text_member(list[i], "name") != wanted[i].flavor || resources.size() != wanted[i].resources.size()) return false;
    for (std::size_t k = 0; k < resources.size(); ++k)
      if (!says(resources[k], wanted[i].resources[k].first, wanted[i].resources[k].second, local)) return false;
  }
  return true;
}

Json usage_json(const std::vector<Usage>& usage, bool local) {
  Json out = Json::array();
  for (const auto& flavor : usage) {
    Json resources = Json::array();
    for (const auto& [resource, amounts] : flavor.resources) {
      Json entry{{"name", resource}, {"total", format_amount(amounts.first, resource)}};
      if (!local) entry["borrowed"] = format_amount(amounts.second, resource);
      resources.push_back(std::move(entry));
    }
    out.push_back({{"name", flavor.flavor}, {"resources", std::move(resources)}});
  }
  return out;
}

void put_usage(Json& status, std::string_view key, const std::vector<Usage>& usage, bool local) {
  if (says(list_or_empty(status, key), usage, local)) return;
  if (usage.empty()) {
    status.erase(std::string(key));
  } else {
    status[std::string(key)] = usage_json(usage, local);
  }
}

bool is_active(std::string_view type) { return type == "Active"; }

/// When the queue became what it is: a condition whose status stays keeps its time, as conditions of the API do. A log that began later
/// than the queue, after another controller or in place of an older log, knows only since when it has seen it so.
Time active_since(const Json& status, std::string_view value, Time seen_since) {
  for (const auto& condition : list_or_empty(status, "conditions"))
    if (is_active(text_member(condition, "type")) && text_member(condition, "status") == value)
      return parse_rfc3339(text_member(condition, "lastTransitionTime")).value_or(seen_since);
  return seen_since;
}

}  // namespace

std::optional<Write> plan_queue_status(const admission::QueueStatusIntent& intent, const Json& queue) {
  if (!is_meant(queue, {})) return std::nullopt;
  const auto& status = object_or_empty(queue, "status");
  Json wanted = status;
  wanted["pendingWorkloads"] = intent.pending;
  wanted["reservingWorkloads"] = intent.reserving;
  wanted["admittedWorkloads"] = intent.admitted;
  put_usage(wanted, "flavorsReservation", intent.reservation, intent.local);
  put_usage(wanted, "flavorsUsage", intent.usage, intent.local);
  const std::string_view active = intent.active ? "True" : "False";
  const Time since = active_since(status, active, intent.active_since);
  wanted["conditions"] =
      merged_conditions(list_or_empty(status, "conditions"), {{"Active", active, intent.active_reason, intent.active_message, since}},
                        is_active, generation_of(queue));
  if (intent.weighted_share) {
    wanted["fairSharing"]["weightedShare"] = *intent.weighted_share;
  } else if (!intent.local) {
    wanted.erase("fairSharing");  // That of a LocalQueue also holds consumed usage, which is not of this intent.
  }
  if (intent.consumed) {
    Json consumed = Json::object();
    for (const auto& [resource, quantity] : *intent.consumed) consumed[resource] = quantity;
    if (!wanted["fairSharing"].contains("weightedShare")) wanted["fairSharing"]["weightedShare"] = 0;  // the API requires it
    wanted["fairSharing"]["admissionFairSharingStatus"] = {{"consumedResources", std::move(consumed)},
                                                           {"lastUpdate", format_rfc3339(intent.consumed_at)}};
  }
  auto patch = merge_difference(status, wanted);
  if (patch.empty()) return std::nullopt;
  return merge_patch_of(intent.local ? types::local_queue : types::cluster_queue, queue, "status", {{"status", std::move(patch)}});
}

}  // namespace hindsight::connectors
