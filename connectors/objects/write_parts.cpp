#include "connectors/objects/write_parts.hpp"

#include <charconv>
#include <string>

#include "connectors/json/object_meta.hpp"

namespace hindsight::connectors {
namespace {

Write write_of(Write::Verb verb, const ResourceType& type, const Json& object) {
  const auto& metadata = object_or_empty(object, "metadata");
  Write out;
  out.verb = verb;
  out.type = &type;
  out.namespace_ = text_member(metadata, "namespace");
  out.name = text_member(metadata, "name");
  return out;
}

}  // namespace

bool is_meant(const Json& object, std::string_view uid) {
  const auto& metadata = object_or_empty(object, "metadata");
  if (metadata.empty()) return false;
  return uid.empty() || text_member(metadata, "uid") == uid;
}

bool is_deleting(const Json& object) { return member(object_or_empty(object, "metadata"), "deletionTimestamp") != nullptr; }

Write merge_patch_of(const ResourceType& type, const Json& object, std::string_view subresource, Json body, bool exact) {
  const auto& metadata = object_or_empty(object, "metadata");
  Json& out = body["metadata"];
  if (!out.is_object()) out = Json::object();
  for (const auto* key : {"uid", "resourceVersion"}) {
    const auto value = text_member(metadata, key);
    if (!value.empty() && (exact || std::string_view(key) == "uid")) out[key] = value;
  }
  if (out.empty()) body.erase("metadata");
  auto write = write_of(Write::Verb::merge_patch, type, object);
  write.subresource = subresource;
  write.body = to_text(body);
  return write;
}

Write deletion_of(const ResourceType& type, const Json& object) {
  auto write = write_of(Write::Verb::delete_, type, object);
  write.body = to_text(Json{{"apiVersion", "v1"},
                            {"kind", "DeleteOptions"},
                            {"propagationPolicy", "Background"},
                            {"preconditions", {{"uid", text_member(object_or_empty(object, "metadata"), "uid")}}}});
  return write;
}

std::optional<Json> finalizers_without_ours(const Json& object) {
  Json rest = Json::array();
  bool found = false;
  for (const auto& finalizer : list_or_empty(object_or_empty(object, "metadata"), "finalizers")) {
    if (finalizer == in_use_finalizer) {
      found = true;
    } else {
      rest.push_back(finalizer);
    }
  }
  if (!found) return std::nullopt;
  return rest;
}

std::uint64_t version_of(const Json& object) {
  const auto text = text_member(object_or_empty(object, "metadata"), "resourceVersion");
  std::uint64_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  return error == std::errc() && end == text.data() + text.size() ? version : 0;
}

Json quantities(const NamedAmounts& amounts) {
  Json out = Json::object();
  for (const auto& [resource, amount] : amounts) out[resource] = format_amount(amount, resource);
  return out;
}

void put(Json& object, std::string_view key, Json value) {
  if (value.is_null()) {
    object.erase(std::string(key));
  } else {
    object[std::string(key)] = std::move(value);
  }
}

bool is_amount(const Json* quantity, std::string_view resource, Amount amount) {
  if (quantity == nullptr || !(quantity->is_string() || quantity->is_number())) return false;
  const auto parsed = parse_quantity(quantity->is_string() ? quantity->get_ref<const std::string&>() : to_text(*quantity), resource);
  return parsed && *parsed == amount;
}

bool same_amounts(const Json& resource_list, const NamedAmounts& amounts) {
  if (!resource_list.is_object() || resource_list.size() != amounts.size()) return false;
  for (const auto& [resource, amount] : amounts)
    if (!is_amount(member(resource_list, resource), resource, amount)) return false;
  return true;
}

bool is_time(std::string_view text, Time time) {
  const auto parsed = parse_rfc3339(text);
  return parsed && parsed->floor_seconds() == time.floor_seconds();
}

Json toleration_json(const admission::OwnedToleration& toleration) {
  Json out = Json::object();
  if (!toleration.key.empty()) out["key"] = toleration.key;
  out["operator"] = toleration.exists ? "Exists" : "Equal";
  if (!toleration.value.empty()) out["value"] = toleration.value;
  switch (toleration.effect) {
    case TaintEffect::unspecified:
      break;
    case TaintEffect::no_schedule:
      out["effect"] = "NoSchedule";
      break;
    case TaintEffect::prefer_no_schedule:
      out["effect"] = "PreferNoSchedule";
      break;
    case TaintEffect::no_execute:
      out["effect"] = "NoExecute";
      break;
  }
  if (toleration.seconds) out["tolerationSeconds"] = *toleration.seconds;
  return out;
}

}  // namespace hindsight::connectors
