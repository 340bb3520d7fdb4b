#include "connectors/jobs/template_resources.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace hindsight::connectors {
namespace {

constexpr std::array<const char*, 2> container_lists{"containers", "initContainers"};
constexpr std::array<const char*, 2> resource_lists{"requests", "limits"};

std::optional<Amount> amount_in(const Json& resources, const char* list, const std::string& resource) {
  const auto* value = member(object_or_empty(resources, list), resource);
  if (value == nullptr) return std::nullopt;
  const auto amount = parse_quantity(value->is_string() ? value->get<std::string>() : value->dump(), resource);
  return amount ? std::optional(*amount) : std::nullopt;
}

void change(Json& resources, const ResourceChange& wanted) {
  const auto request = amount_in(resources, "requests", wanted.resource);
  const auto limit = amount_in(resources, "limits", wanted.resource);
  const std::string text = format_amount(wanted.to, wanted.resource);
  if (limit && (!request || limit == request)) resources["limits"][wanted.resource] = text;
  if (request) resources["requests"][wanted.resource] = text;
}

bool same_amounts(const Json& a, const Json& b, const char* list) {
  const auto& x = object_or_empty(a, list);
  const auto& y = object_or_empty(b, list);
  if (x.size() != y.size()) return false;
  return std::all_of(x.items().begin(), x.items().end(), [&](const auto& item) {
    return y.contains(item.key()) && amount_in(a, list, item.key()) == amount_in(b, list, item.key());
  });
}

const Json* find_container(const Json& containers, std::string_view name) {
  if (!containers.is_array()) return nullptr;
  for (const auto& c : containers)
    if (text_member(c, "name") == name) return &c;
  return nullptr;
}

bool same_resources(const Json& a, const Json& b) {
  for (const char* list : container_lists) {
    const auto& mine = list_or_empty(object_or_empty(a, "spec"), list);
    const auto& others = list_or_empty(object_or_empty(b, "spec"), list);
    if (mine.size() != others.size()) return false;
    for (const auto& container : mine) {
      const auto* other = find_container(others, text_member(container, "name"));
      if (other == nullptr) return false;
      for (const char* part : resource_lists)
        if (!same_amounts(object_or_empty(container, "resources"), object_or_empty(*other, "resources"), part)) return false;
    }
  }
  return true;
}

}  // namespace

Json with_resources(Json pod_template, const std::vector<ResourceChange>& changes) {
  if (changes.empty() || !pod_template.is_object() || !pod_template.contains("spec")) return pod_template;
  for (const char* list : container_lists) {
    auto& spec = pod_template["spec"];
    if (!spec.contains(list) || !spec[list].is_array()) continue;
    for (auto& container : spec[list])
      for (const auto& c : changes)
        if (text_member(container, "name") == c.container && container.contains("resources")) change(container["resources"], c);
  }
  return pod_template;
}

ResourceOrigin resource_origin(const Json& pod_template, const Json& original, const std::vector<ResourceChange>& changes) {
  if (same_resources(pod_template, original)) return ResourceOrigin::original;
  return same_resources(pod_template, with_resources(original, changes)) ? ResourceOrigin::changed : ResourceOrigin::other;
}

void restore_resources(Json& pod_spec, const Json& original_spec) {
  for (const char* list : container_lists) {
    if (!pod_spec.contains(list) || !pod_spec[list].is_array()) continue;
    for (auto& container : pod_spec[list]) {
      const auto* original = find_container(list_or_empty(original_spec, list), text_member(container, "name"));
      if (original == nullptr) continue;
      const auto* resources = member(*original, "resources");
      if (resources == nullptr)
        container.erase("resources");
      else
        container["resources"] = *resources;
    }
  }
}

}  // namespace hindsight::connectors
