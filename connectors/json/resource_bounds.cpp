#include "connectors/json/resource_bounds.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "connectors/json/document.hpp"
#include "connectors/json/json_value.hpp"
#include "connectors/json/template_hash.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::connectors {
namespace {

constexpr std::size_t shown_max = 512;
constexpr const char* bounds_form = "{container: {resource: {min, max, step}}}";

tl::unexpected<Error> wrong(const std::string& where, const Json& found, const std::string& allowed) {
  return fail(ErrorKind::invalid,
              (where.empty() ? "" : where + ": ") + "found " + cut_message(to_text(found), shown_max) + ", allowed: " + allowed);
}

Result<Amount> read_amount(const std::string& where, const Json& value, std::string_view resource) {
  const std::string text = value.is_string() ? value.get<std::string>() : value.is_number() ? to_text(value) : std::string();
  auto amount = parse_quantity(text, resource);
  if (text.empty() || !amount || *amount < 0) return wrong(where, value, "a quantity that is not negative");
  return *amount;
}

Result<ResourceBounds::Range> read_range(const std::string& where, const std::string& resource, const Json& value) {
  if (!value.is_object()) return wrong(where, value, "{min, max, step}");
  ResourceBounds::Range out;
  for (const auto& [key, part] : value.items()) {
    if (key != "min" && key != "max" && key != "step") return wrong(where + "." + key, part, "min, max, step");
    const auto amount = read_amount(where + "." + key, part, resource);
    if (!amount) return tl::unexpected(amount.error());
    if (key == "min") out.min = *amount;
    if (key == "max") out.max = *amount;
    if (key == "step") out.step = *amount;
  }
  if (out.step <= 0) return wrong(where + ".step", value.value("step", Json()), "a quantity above 0");
  if (out.min && out.max && *out.min > *out.max) return wrong(where, value, "min is not above max");
  return out;
}

/// A container with bounds, or beside one that has some.
SizedContainer read_container(const Node& node, bool init, const ResourceBounds& bounds,
                              const std::set<std::string, std::less<>>& resources, const LimitSummary* namespace_limits) {
  auto& arena = node.reading().arena();
  SizedContainer out;
  out.name = node.text("name");
  if (init) out.role = node.text("restartPolicy") == "Always" ? ContainerRole::sidecar : ContainerRole::init;
  const auto node_resources = node.object("resources");
  const auto requests = node_resources.amounts("requests");
  const auto limits = node_resources.amounts("limits");
  const auto value = [](List<ResourceAmount> list, std::string_view resource) -> std::optional<Amount> {
    for (const auto& r : list)
      if (r.resource == resource) return r.amount;
    return std::nullopt;
  };
  const auto own = bounds.containers.find(out.name);
  std::vector<SizedAmount> amounts;
  for (const auto& resource : resources) {
    SizedAmount a;
    a.resource = arena.copy(resource);
    a.request = value(requests, resource);
    a.limit = value(limits, resource);
    if (!a.request && !a.limit) continue;
    const Amount now = a.request ? *a.request : *a.limit;
    a.low = a.high = now;
    const auto range = own == bounds.containers.end() ? decltype(own->second.end()){} : own->second.find(resource);
    if (own != bounds.containers.end() && range != own->second.end()) {
      a.step = range->second.step;
      a.low = std::min(now, range->second.min.value_or(now));
      a.high = bounds.policy == ResourcePolicy::fit ? std::max(now, range->second.max.value_or(now)) : now;
      if (a.limit && a.limit != now) a.high = std::max(now, std::min(a.high, *a.limit));
      if (namespace_limits != nullptr && namespace_limits->container) {
        const auto& c = *namespace_limits->container;
        if (const auto it = c.min.find(resource); it != c.min.end()) a.low = std::min(now, std::max(a.low, it->second));
        if (const auto it = c.max.find(resource); it != c.max.end()) a.high = std::max(now, std::min(a.high, it->second));
      }
    }
    amounts.push_back(a);
  }
  out.amounts = arena.copy(amounts);
  return out;
}

/// As core_hash of the template without the resources that are sized.
std::uint64_t bare_hash(const Node& pod_template, const std::set<std::string, std::less<>>& resources) {
  Json copy = to_json(pod_template.value());
  for (const char* list : {"containers", "initContainers"}) {
    if (!copy["spec"].contains(list) || !copy["spec"][list].is_array()) continue;
    for (auto& container : copy["spec"][list]) {
      if (!container.is_object() || !container.contains("resources") || !container["resources"].is_object()) continue;
      for (const char* part : {"requests", "limits"})
        if (container["resources"].contains(part) && container["resources"][part].is_object())
          for (const auto& resource : resources) container["resources"][part].erase(resource);
    }
  }
  const auto document = Document::parse(to_text(copy));
  return document ? hash_template(document->root()).core : 0;
}

}  // namespace

Result<ResourcePolicy> parse_resource_policy(std::string_view policy) {
  if (policy.empty() || policy == "None") return ResourcePolicy::none;
  if (policy == "Shrink") return ResourcePolicy::shrink;
  if (policy == "Fit") return ResourcePolicy::fit;
  return wrong("", Json(policy), "None, Shrink, Fit");
}

Result<ResourceBounds> parse_resource_bounds(std::string_view policy, std::string_view bounds) {
  ResourceBounds out;
  const auto which = parse_resource_policy(policy);
  if (!which) return tl::unexpected(which.error());
  out.policy = *which;
  if (bounds.empty()) return out;
  const Json document = from_text(bounds);
  if (!document.is_object()) return wrong("", document.is_discarded() ? Json(bounds) : document, std::string("JSON ") + bounds_form);
  for (const auto& [container, resources] : document.items()) {
    if (!resources.is_object()) return wrong(container, resources, bounds_form);
    for (const auto& [resource, range] : resources.items()) {
      auto read = read_range(container + "." + resource, resource, range);
      if (!read) return tl::unexpected(read.error());
      out.containers[container][resource] = *read;
    }
  }
  return out;
}

std::optional<ResourceBounds> bounds_of(std::string_view policy, std::string_view bounds) {
  if (policy.empty()) return std::nullopt;
  auto out = parse_resource_bounds(policy, bounds);
  if (!out || out->policy == ResourcePolicy::none || out->containers.empty()) return std::nullopt;
  return std::move(*out);
}

void read_sized_containers(const Node& pod_template, const TemplateContext& context, PodSetFacts& out) {
  const auto spec = pod_template.object("spec");
  const auto& bounds = *context.bounds;
  const auto whole = spec.object("resources").amounts("requests");
  const auto asked_as_whole = [&](std::string_view resource) {
    return std::any_of(whole.begin(), whole.end(), [&](const ResourceAmount& r) { return r.resource == resource; });
  };
  std::set<std::string, std::less<>> resources;
  const auto note = [&](const Node& container) {
    const auto own = bounds.containers.find(container.text("name"));
    if (own == bounds.containers.end()) return;
    for (const auto& [resource, range] : own->second)
      if (!asked_as_whole(resource)) resources.insert(resource);
  };
  spec.each("containers", limits::containers, note);
  spec.each("initContainers", limits::containers, note);
  if (resources.empty()) return;

  const auto* limits = context.defaults == nullptr ? nullptr : context.defaults->limits(context.namespace_);
  std::vector<SizedContainer> sized;
  spec.each("containers", limits::containers,
            [&](const Node& node) { sized.push_back(read_container(node, false, bounds, resources, limits)); });
  spec.each("initContainers", limits::containers,
            [&](const Node& node) { sized.push_back(read_container(node, true, bounds, resources, limits)); });
  out.sized = pod_template.reading().arena().copy(sized);
  out.bare_hash = bare_hash(pod_template, resources);
}

List<PlannedAmount> read_resource_plan(std::string_view text, List<PodSetFacts> pod_sets, Arena& arena) {
  if (text.empty()) return {};
  const Json plan = from_text(text);
  std::vector<PlannedAmount> out;
  for (const auto& pod_set : pod_sets)
    for (const auto& container : pod_set.sized)
      for (const auto& a : container.amounts) {
        const auto& sizes = object_or_empty(object_or_empty(plan, pod_set.name), container.name);
        const auto amount = parse_quantity(text_member(sizes, a.resource), a.resource);
        if (a.step <= 0 || !amount) continue;
        out.push_back({pod_set.name, container.name, a.resource, a.request ? *a.request : a.limit.value_or(0), *amount});
      }
  return arena.copy(out);
}

}  // namespace hindsight::connectors
