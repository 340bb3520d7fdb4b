#include "connectors/jobs/template_change.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "connectors/json/keys.hpp"
#include "connectors/json/template_hash.hpp"
#include "connectors/json/text.hpp"

namespace hindsight::connectors {
namespace {

/// parent[key] as an object that can be written to.
Json& object_at(Json& parent, std::string_view key) {
  Json& value = parent[std::string(key)];
  if (!value.is_object()) value = Json::object();
  return value;
}

/// Adds entries to a map of texts. Errors: an entry is there with another value.
Result<void> add_entries(Json& map, const Json& entries, const PodSetInjection& injection, std::string_view field) {
  for (const auto& [key, value] : entries.items()) {
    const auto found = map.find(key);
    if (found == map.end() || found->is_null()) {
      map[key] = value;
    } else if (*found != value) {
      return fail(ErrorKind::invalid, "conflict for " + std::string(field) + " of pod set " + injection.name + ": key " + key +
                                          " found with " + to_text(*found) + ", the start sets " + to_text(value));
    }
  }
  return {};
}

void replace(Json& parent, std::string_view key, const Json* value) {
  if (value == nullptr || value->empty()) {
    parent.erase(std::string(key));
  } else {
    parent[std::string(key)] = *value;
  }
}

/// A toleration without empty fields and without the operator that is meant anyway.
Json normal(const Json& toleration) {
  Json out = Json::object();
  if (!toleration.is_object()) return toleration;
  for (const auto& [key, value] : toleration.items())
    if (!value.is_null() && value != Json("") && !(key == "operator" && value == "Equal")) out[key] = value;
  return out;
}

/// Lists of tolerations that mean the same keep the form that they have.
bool same_tolerations(const Json* a, const Json* b) {
  const std::size_t na = a == nullptr ? 0 : a->size();
  const std::size_t nb = b == nullptr ? 0 : b->size();
  if (na != nb) return false;
  for (std::size_t i = 0; i < na; ++i)
    if (!same_toleration((*a)[i], (*b)[i])) return false;
  return true;
}

void add_toleration(Json& list, const Json& toleration) {
  const bool there = std::any_of(list.begin(), list.end(), [&](const Json& t) { return same_toleration(t, toleration); });
  if (!there) list.push_back(toleration);
}

void add_gate(Json& spec, std::string_view name) {
  Json& gates = spec["schedulingGates"];
  if (!gates.is_array()) gates = Json::array();
  if (std::none_of(gates.begin(), gates.end(), [&](const Json& g) { return text_member(g, "name") == name; }))
    gates.push_back({{"name", name}});
}

void keep_last_variables(Json& containers) {
  if (!containers.is_array()) return;
  for (auto& container : containers) {
    if (!container.is_object() || !container.contains("env") || !container["env"].is_array()) continue;
    Json kept = Json::array();
    std::map<std::string, std::size_t, std::less<>> places;
    for (const auto& variable : container["env"]) {
      const auto [it, first] = places.emplace(std::string(text_member(variable, "name")), kept.size());
      if (first) {
        kept.push_back(variable);
      } else {
        kept[it->second] = variable;
      }
    }
    container["env"] = std::move(kept);
  }
}

}  // namespace

bool same_toleration(const Json& a, const Json& b) { return normal(a) == normal(b); }

Result<Json> inject(const Json& pod_template, const PodSetInjection& injection) {
  Json out = with_resources(pod_template, injection.resources);
  auto& metadata = object_at(out, "metadata");
  auto& spec = object_at(out, "spec");

  const auto add = [&](Json& parent, std::string_view key, const Json& entries, const Json& owned) -> Result<void> {
    if (entries.empty() && owned.empty()) return {};
    auto& map = object_at(parent, key);
    for (const auto& [name, value] : owned.items()) map[name] = value;
    return add_entries(map, entries, injection, key);
  };
  if (auto done = add(metadata, "annotations", injection.annotations, injection.owned_annotations); !done)
    return tl::unexpected(done.error());
  if (auto done = add(metadata, "labels", injection.labels, injection.owned_labels); !done) return tl::unexpected(done.error());
  if (auto done = add(spec, "nodeSelector", injection.node_selector, Json::object()); !done) return tl::unexpected(done.error());

  if (injection.placed) {
    add_gate(spec, keys::topology_gate);
    // Whoever looks at the pods sees that they are placed, also where nobody asked for it (2724 §2.6).
    auto& annotations = object_at(metadata, "annotations");
    const auto asks = [&](std::string_view key) { return annotations.contains(std::string(key)); };
    if (!asks(keys::required_topology) && !asks(keys::preferred_topology) && !asks(keys::unconstrained_topology))
      annotations[std::string(keys::unconstrained_topology)] = "true";
  }
  for (const auto& toleration : injection.tolerations) {
    Json& list = spec["tolerations"];
    if (!list.is_array()) list = Json::array();
    add_toleration(list, toleration);
  }
  return out;
}

Json without_marks(const Json& pod_template, const PodSetInjection& injection) {
  Json out = pod_template;
  auto& metadata = object_at(out, "metadata");
  auto& spec = object_at(out, "spec");
  const auto take = [](Json& parent, std::string_view key, const Json& entries, const Json& owned) {
    Json map = object_or_empty(parent, key);
    for (const auto& [name, value] : entries.items())
      if (const auto found = map.find(name); found != map.end() && *found == value) map.erase(found);
    for (const auto& [name, value] : owned.items()) map.erase(name);
    replace(parent, key, &map);
  };
  take(metadata, "annotations", injection.annotations, injection.owned_annotations);
  take(metadata, "labels", injection.labels, injection.owned_labels);
  if (injection.placed) {
    Json kept = Json::array();
    for (const auto& gate : list_or_empty(spec, "schedulingGates"))
      if (text_member(gate, "name") != keys::topology_gate) kept.push_back(gate);
    replace(spec, "schedulingGates", &kept);
  }
  if (metadata.empty()) out.erase("metadata");
  return out;
}

Result<void> add_update(PodSetInjection& injection, const Json& update) {
  for (const auto& [field, map] : {std::pair<std::string_view, Json*>{"annotations", &injection.annotations},
                                   {"labels", &injection.labels},
                                   {"nodeSelector", &injection.node_selector}}) {
    if (auto done = add_entries(*map, object_or_empty(update, field), injection, field); !done) return done;
  }
  for (const auto& toleration : list_or_empty(update, "tolerations")) add_toleration(injection.tolerations, toleration);
  return {};
}

Json restore(const Json& pod_template, const Json& original) {
  Json out = pod_template;
  auto& metadata = object_at(out, "metadata");
  auto& spec = object_at(out, "spec");
  const auto& original_metadata = object_or_empty(original, "metadata");
  const auto& original_spec = object_or_empty(original, "spec");

  Json labels = object_or_empty(original_metadata, "labels");
  for (const auto& [key, value] : object_or_empty(metadata, "labels").items())
    if (is_job_controller_label(key)) labels[key] = value;
  replace(metadata, "labels", &labels);
  replace(metadata, "annotations", member(original_metadata, "annotations"));
  // Metadata that we brought goes with what we brought; an empty one that was there is how some servers print none.
  const auto* before = member(pod_template, "metadata");
  if (metadata.empty() && (before == nullptr || !before->empty()) && member(original, "metadata") == nullptr) out.erase("metadata");

  replace(spec, "nodeSelector", member(original_spec, "nodeSelector"));
  replace(spec, "schedulingGates", member(original_spec, "schedulingGates"));
  if (!same_tolerations(member(spec, "tolerations"), member(original_spec, "tolerations")))
    replace(spec, "tolerations", member(original_spec, "tolerations"));
  restore_resources(spec, original_spec);
  return out;
}

Json workload_template(const Json& pod_template) {
  Json out = Json::object();
  Json metadata = Json::object();
  Json labels = object_or_empty(object_or_empty(pod_template, "metadata"), "labels");
  for (auto it = labels.begin(); it != labels.end();) it = is_job_controller_label(it.key()) ? labels.erase(it) : std::next(it);
  replace(metadata, "labels", &labels);
  replace(metadata, "annotations", member(object_or_empty(pod_template, "metadata"), "annotations"));
  if (!metadata.empty()) out["metadata"] = std::move(metadata);
  Json spec = object_or_empty(pod_template, "spec");
  for (const auto* key : {"containers", "initContainers"})
    if (spec.contains(key)) keep_last_variables(spec[key]);
  out["spec"] = std::move(spec);
  return out;
}

Json topology_request(const Json& pod_template, std::string_view pod_index_label, std::string_view sub_group_index_label,
                      std::int32_t sub_group_count) {
  const auto& annotations = object_or_empty(object_or_empty(pod_template, "metadata"), "annotations");
  const auto has = [&](std::string_view key) { return annotations.contains(std::string(key)); };
  Json out = Json::object();
  if (has(keys::required_topology)) {
    out["required"] = text_member(annotations, keys::required_topology);
  } else if (has(keys::preferred_topology)) {
    out["preferred"] = text_member(annotations, keys::preferred_topology);
  } else if (has(keys::unconstrained_topology)) {
    out["unconstrained"] = is_true(text_member(annotations, keys::unconstrained_topology));
  } else if (!has(keys::slice_required_topology) && !has(keys::slice_constraints) && pod_index_label.empty()) {
    return nullptr;
  }
  if (!pod_index_label.empty()) out["podIndexLabel"] = pod_index_label;
  if (!sub_group_index_label.empty()) {
    out["subGroupIndexLabel"] = sub_group_index_label;
    out["subGroupCount"] = sub_group_count;
  }
  if (has(keys::pod_set_group_name)) out["podSetGroupName"] = text_member(annotations, keys::pod_set_group_name);
  if (has(keys::slice_required_topology)) out["podSetSliceRequiredTopology"] = text_member(annotations, keys::slice_required_topology);
  if (const auto size = parse_int32(text_member(annotations, keys::slice_size))) out["podSetSliceSize"] = *size;
  if (has(keys::slice_constraints)) {
    auto constraints = from_text(text_member(annotations, keys::slice_constraints));
    // The wire format spells this field with a small s.
    if (constraints.is_array()) out["podsetSliceRequiredTopologyConstraints"] = std::move(constraints);
  }
  return out;
}

const Json* find_pod_set(const Json& pod_sets, std::string_view name) {
  if (!pod_sets.is_array()) return nullptr;
  for (const auto& pod_set : pod_sets) {
    const auto found = text_member(pod_set, "name");
    if (found == name || (found.empty() && name == "main")) return &pod_set;
  }
  return nullptr;
}

}  // namespace hindsight::connectors
