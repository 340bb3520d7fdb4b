#include "connectors/webhooks/rules/owner_rules.hpp"

#include <algorithm>
#include <set>

#include "connectors/json/keys.hpp"
#include "connectors/json/owner_kinds.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::connectors::webhooks {
namespace {

using manifests::flag;
using manifests::member;
using manifests::text;

constexpr int most_owners = 10;  // As far as Kueue looks (base-api §7.1, 3).
constexpr std::size_t user_max = 256;

/// The controller among the owners; null: none.
const Json& controller_of(const Json& metadata) {
  static const Json nothing;
  const Json& owners = member(metadata, "ownerReferences");
  if (!owners.is_array()) return nothing;
  const auto it = std::find_if(owners.begin(), owners.end(), [](const Json& owner) { return flag(owner, "controller"); });
  return it == owners.end() ? nothing : *it;
}

std::string_view maker_of(const Json& metadata) { return text(member(metadata, "annotations"), keys::made_by); }

KindName kind_of_reference(const Json& owner) { return {text(owner, "kind"), group_of_version(text(owner, "apiVersion"))}; }

/// Whether the reference says that the object is part of another one. Whether that one is there, queued, or on its way out does not matter:
/// it may be so a moment later, and nobody asks again.
bool claims_owner(const Kind& kind, const Json& owner) {
  return !owner.is_null() && ownership(kind_of_reference(owner), {kind.type->kind, kind.type->group}) != Ownership::none;
}

/// The same object under the same name and of the same kind.
bool same_owner(const Json& a, const Json& b) {
  return kind_of_reference(a) == kind_of_reference(b) && text(a, "name") == text(b, "name") && text(a, "uid") == text(b, "uid");
}

/// As `has_managed_ancestor`, without a look at who made the job.
bool claims_managed_ancestor(const Kind& kind, const Json& job_metadata, const Surroundings& around) {
  const auto space = text(job_metadata, "namespace");
  std::set<std::string> seen;
  std::shared_ptr<const Json> holder;
  const Json* metadata = &job_metadata;
  KindName at{kind.type->kind, kind.type->group};
  for (int step = 0; step < most_owners; ++step) {
    const Json& owner = controller_of(*metadata);
    if (owner.is_null() || !seen.emplace(text(owner, "uid")).second) return false;
    const KindName above = kind_of_reference(owner);
    const auto how = ownership(above, at);
    if (how == Ownership::none) return false;
    const bool integrated = around.manages_kind(above.kind, above.group);
    auto next = around.find(above.kind, space, text(owner, "name"));
    if (next == nullptr) return false;
    const Json& next_metadata = member(*next, "metadata");
    if (text(next_metadata, "uid") != text(owner, "uid")) return false;
    if (how == Ownership::when_leaving && member(next_metadata, "deletionTimestamp").is_null()) return false;
    if (integrated && (!text(member(next_metadata, "labels"), keys::queue_name).empty() || around.manages_jobs_without_queue_name()))
      return true;
    if (!maker_of(next_metadata).empty()) return false;  // it is no part itself
    const auto* known = manifests::find_kind(above.kind);
    if (known == nullptr) return false;
    at = {known->type->kind, known->type->group};  // texts that outlive the object
    holder = std::move(next);
    metadata = &member(*holder, "metadata");
  }
  return false;
}

}  // namespace

bool has_managed_ancestor(const Kind& kind, const Json& object, const Surroundings& around) {
  const Json& metadata = member(object, "metadata");
  return maker_of(metadata).empty() && claims_managed_ancestor(kind, metadata, around);
}

bool note_foreign_maker(const Kind& kind, Json& object, const Surroundings& around, std::string_view user) {
  const Json& metadata = member(object, "metadata");
  if (around.is_controller(user) || !maker_of(metadata).empty() || !claims_owner(kind, controller_of(metadata))) return false;
  Json& annotations = object["metadata"]["annotations"];
  if (!annotations.is_object()) annotations = Json::object();
  annotations[std::string(keys::made_by)] = user.empty() ? "unknown" : std::string(cut_text(user, user_max));
  return true;
}

void check_owner_change(const Kind& kind, const ObjectView& now, const ObjectView& before, const Surroundings& around,
                        std::string_view user, Findings& findings) {
  if (!before.exists() || around.is_controller(user)) return;
  const auto maker = maker_of(now.metadata), maker_before = maker_of(before.metadata);
  if (!maker_before.empty() && maker != maker_before)
    findings.forbidden("metadata.annotations[" + std::string(keys::made_by) + "]", "only controllers may change who made the job");
  if (!maker.empty()) return;
  const Json& owner = controller_of(now.metadata);
  if (!claims_owner(kind, owner) || same_owner(owner, controller_of(before.metadata))) return;
  findings.forbidden("metadata.ownerReferences", "found " + std::string(text(owner, "kind")) + " " + std::string(text(owner, "name")) +
                                                     " as controller, set by \"" + std::string(user) +
                                                     "\"; allowed: accounts in hindsight.controllers of the configuration");
}

}  // namespace hindsight::connectors::webhooks
