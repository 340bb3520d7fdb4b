#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/model/intents.hpp"
#include "connectors/cluster.hpp"
#include "connectors/json/json_value.hpp"
#include "vocabulary/amount.hpp"
#include "vocabulary/time.hpp"

/// What the plans of the kinds have in common.
namespace hindsight::connectors {

/// Is `object` the one that an intent means? An intent without uid means whatever has the name.
[[nodiscard]] bool is_meant(const Json& object, std::string_view uid);
[[nodiscard]] bool is_deleting(const Json& object);

/// A merge patch of `object`. Precondition: its uid, and with `exact` its resourceVersion too.
[[nodiscard]] Write merge_patch_of(const ResourceType& type, const Json& object, std::string_view subresource, Json body,
                                   bool exact = true);
/// A deletion in the background, of exactly this object.
[[nodiscard]] Write deletion_of(const ResourceType& type, const Json& object);

/// resourceVersion as a number; 0: unknown.
[[nodiscard]] std::uint64_t version_of(const Json& object);

/// The list of finalizers without ours; nothing when ours is not in it.
[[nodiscard]] std::optional<Json> finalizers_without_ours(const Json& object);

using NamedAmounts = std::vector<std::pair<std::string, Amount>>;
/// {"cpu":"500m"}: quantities as Kubernetes prints them.
[[nodiscard]] Json quantities(const NamedAmounts& amounts);
/// Does a resource list say the same amounts, in whatever form?
[[nodiscard]] bool same_amounts(const Json& resource_list, const NamedAmounts& amounts);
/// Sets a member; null takes it away.
void put(Json& object, std::string_view key, Json value);
/// Is a quantity, as text or number, this amount?
[[nodiscard]] bool is_amount(const Json* quantity, std::string_view resource, Amount amount);
[[nodiscard]] Json toleration_json(const admission::OwnedToleration& toleration);
/// Is a text this time, to the second?
[[nodiscard]] bool is_time(std::string_view text, Time time);

}  // namespace hindsight::connectors
