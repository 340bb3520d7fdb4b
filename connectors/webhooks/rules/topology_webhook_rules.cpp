#include "connectors/webhooks/rules/topology_webhook_rules.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <map>
#include <optional>

#include "connectors/manifests/json_text.hpp"
#include "connectors/manifests/syntax.hpp"

namespace hindsight::connectors::webhooks {
namespace {

using manifests::at;
using manifests::each_item;
using manifests::member;
using manifests::number;
using manifests::text;

constexpr const char* required = "kueue.x-k8s.io/podset-required-topology";
constexpr const char* preferred = "kueue.x-k8s.io/podset-preferred-topology";
constexpr const char* unconstrained = "kueue.x-k8s.io/podset-unconstrained-topology";
constexpr const char* slice_required = "kueue.x-k8s.io/podset-slice-required-topology";
constexpr const char* slice_size = "kueue.x-k8s.io/podset-slice-size";
constexpr const char* slice_layers = "kueue.x-k8s.io/podset-slice-required-topology-constraints";
constexpr const char* group_name = "kueue.x-k8s.io/podset-group-name";
constexpr const char* index_offset = "kueue.x-k8s.io/pod-index-offset";

constexpr const char* label_key_wanted =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
constexpr std::size_t most_layers = 3;

/// One template while it is looked at.
struct Request {
  const TemplateRequest& from;
  Findings& findings;

  [[nodiscard]] const Json& value(const char* key) const { return member(from.annotations, key); }
  [[nodiscard]] bool has(const char* key) const { return value(key).is_string(); }
  [[nodiscard]] std::string field(const char* key) const { return from.field + "[" + key + "]"; }
  void not_together_with(const char* key, const char* other) const {
    if (has(other)) findings.forbidden(field(key), std::string("may not be set when '") + other + "' is specified");
  }
};

/// As Go's strconv.ParseInt(text, 10, 32).
std::optional<std::int64_t> int32_of(std::string_view digits) {
  if (digits.starts_with('+') && digits.size() > 1 && digits[1] != '-') digits.remove_prefix(1);
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

/// As Go's strconv.ParseBool.
bool is_go_bool(std::string_view text) {
  static constexpr std::array<std::string_view, 12> all{"1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"};
  return std::find(all.begin(), all.end(), text) != all.end();
}

void check_label_key(const std::string& field, const Json& value, Findings& findings) {
  if (!value.is_string() || !manifests::is_qualified_name(value.get_ref<const std::string&>()))
    findings.invalid(field, value, label_key_wanted);
}

void check_divides(const std::string& field, const Json& found, std::int64_t size, std::int64_t count, Findings& findings) {
  if (size > count)
    findings.invalid(field, found, "must not be greater than pod set count " + std::to_string(count));
  else if (size > 0 && count % size != 0)  // the rest would stay gated for ever
    findings.invalid(field, found, "must evenly divide the pod set count " + std::to_string(count));
}

// ---- one template ---------------------------------------------------------------------------------------------------------------

void check_level(const Request& r) {
  if (r.has(required) + r.has(preferred) + r.has(unconstrained) > 1)
    r.findings.invalid(r.from.field, Json(),
                       std::string("must not contain more than one topology annotation: [\"") + required + "\", \"" + preferred + "\", \"" +
                           unconstrained + "\"]");
  for (const char* key : {required, preferred, slice_required})
    if (r.has(key)) check_label_key(r.field(key), r.value(key), r.findings);
  if (r.has(unconstrained) && !is_go_bool(r.value(unconstrained).get_ref<const std::string&>()))
    r.findings.invalid(r.field(unconstrained), r.value(unconstrained), "must be a boolean value");
}

void check_group_name(const Request& r) {
  if (!r.has(group_name)) return;
  const auto& name = r.value(group_name).get_ref<const std::string&>();
  std::uint64_t ignored = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), ignored);
  if (error == std::errc() && end == name.data() + name.size())
    r.findings.invalid(r.field(group_name), r.value(group_name), "must not be a number");
  for (const char* other : {slice_size, slice_required, slice_layers}) r.not_together_with(group_name, other);
  if (!r.has(preferred) && !r.has(required))
    r.findings.forbidden(r.field(group_name),
                         std::string("may not be set when neither '") + preferred + "' nor '" + required + "' is specified");
}

void check_index_offset(const Request& r) {
  if (!r.has(index_offset)) return;
  if (r.has(group_name)) return r.not_together_with(index_offset, group_name);
  const auto value = int32_of(r.value(index_offset).get_ref<const std::string&>());
  if (!value || *value < 0) r.findings.invalid(r.field(index_offset), r.value(index_offset), "must be a non-negative integer");
}

void check_slice(const Request& r) {
  if (r.has(slice_required) && !r.has(slice_size))
    r.findings.required(r.field(slice_size), std::string("must be set when '") + slice_required + "' is specified");
  if (!r.has(slice_size)) return;
  if (!r.has(slice_required))
    r.findings.forbidden(r.field(slice_size), std::string("may not be set when '") + slice_required + "' is not specified");
  const auto size = int32_of(r.value(slice_size).get_ref<const std::string&>());
  if (!size) return r.findings.invalid(r.field(slice_size), r.value(slice_size), "must be a numeric value");
  if (*size < 1) return r.findings.invalid(r.field(slice_size), r.value(slice_size), "must be greater than or equal to 1");
  check_divides(r.field(slice_size), r.value(slice_size), *size, r.from.count, r.findings);
}

/// A list of {"topology": text, "size": whole number}; nothing: it is not of that form, and why.
Result<Json> read_layers(const std::string& written) {
  auto list = manifests::parse_json(written);
  if (!list) return list;
  if (!list->is_array()) return fail(ErrorKind::invalid, "found no list");
  for (const auto& layer : *list) {
    const bool good = layer.is_object() && (member(layer, "topology").is_null() || member(layer, "topology").is_string()) &&
                      (member(layer, "size").is_null() || number(layer, "size"));
    if (!good) return fail(ErrorKind::invalid, "found " + manifests::shortened(layer) + ", not {\"topology\": text, \"size\": number}");
  }
  return list;
}

/// Each layer on its own, against those before it, and against the next.
void check_layers(const std::string& field, const Json& layers, std::int64_t count, Findings& findings) {
  std::map<std::string_view, std::size_t> seen;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string here = at(field, i);
    const Json& topology = member(layers[i], "topology");
    const std::int64_t size = number(layers[i], "size").value_or(0);
    check_label_key(here + ".topology", topology.is_null() ? Json("") : topology, findings);
    if (size < 1) findings.invalid(here + ".size", Json(size), "must be greater than or equal to 1");
    const auto [first, fresh] = seen.emplace(text(layers[i], "topology"), i);
    if (!fresh)
      findings.duplicate(here + ".topology", Json(std::string(first->first) + " (also at index " + std::to_string(first->second) + ")"));
    const std::int64_t parent = i == 0 ? 0 : number(layers[i - 1], "size").value_or(0);
    if (i > 0 && size > 0 && parent % size != 0)
      findings.invalid(here + ".size", Json(size), "must evenly divide the parent layer size " + std::to_string(parent));
  }
  const std::int64_t outer = number(layers[0], "size").value_or(0);
  if (outer > 0) check_divides(field, Json(outer), outer, count, findings);
}

void check_layers_annotation(const Request& r, const Surroundings& around) {
  if (!r.has(slice_layers)) return;
  const std::string field = r.field(slice_layers);
  if (!around.gate("TASMultiLayerTopology"))
    return r.findings.forbidden(field, "the TASMultiLayerTopology feature gate must be enabled to use this annotation");
  r.not_together_with(slice_layers, slice_required);
  r.not_together_with(slice_layers, slice_size);
  const auto layers = read_layers(r.value(slice_layers).get_ref<const std::string&>());
  if (!layers) return r.findings.invalid(field, r.value(slice_layers), "must be a valid JSON array: " + layers.error().message);
  if (layers->empty() || layers->size() > most_layers)
    return r.findings.invalid(field, r.value(slice_layers), "topology constraints must contain between 1 and 3 entries");
  check_layers(field, *layers, r.from.count, r.findings);
}

// ---- groups ---------------------------------------------------------------------------------------------------------------------

void check_pair(const std::string& name, const TemplateRequest& a, const TemplateRequest& b, Findings& findings) {
  const auto each = [&](const std::function<void(const TemplateRequest&, const TemplateRequest&)>& visit) {
    visit(a, b);
    visit(b, a);
  };
  if (a.count != 1 && b.count != 1)
    each([&](const TemplateRequest& one, const TemplateRequest&) {
      findings.invalid(one.field + "[" + group_name + "]", Json(name),
                       "can only define groups where at least one pod set has only 1 replica, got: " + std::to_string(a.count) +
                           " replica(s) and " + std::to_string(b.count) + " replica(s) in the group");
    });
  const auto asks = [](const TemplateRequest& t) {
    return !member(t.annotations, required).is_null() || !member(t.annotations, preferred).is_null();
  };
  const auto same = [&](const char* key) { return member(a.annotations, key) == member(b.annotations, key); };
  if (asks(a) && asks(b) && same(required) && same(preferred)) return;
  each([&](const TemplateRequest& one, const TemplateRequest& other) {
    findings.invalid(one.field, Json(),
                     std::string("must specify '") + required + "' or '" + preferred + "' topology consistent with '" + other.field +
                         "' in group '" + name + "'");
  });
}

void check_groups(const std::vector<TemplateRequest>& templates, Findings& findings) {
  std::vector<std::pair<std::string, std::vector<const TemplateRequest*>>> groups;  // in the order of their first members
  for (const auto& t : templates) {
    const Json& name = member(t.annotations, group_name);
    if (!name.is_string()) continue;
    const auto& group = name.get_ref<const std::string&>();
    auto it = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == group; });
    if (it == groups.end()) {
      groups.emplace_back(group, std::vector<const TemplateRequest*>());
      it = groups.end() - 1;
    }
    it->second.push_back(&t);
  }
  for (const auto& [name, members] : groups) {
    if (members.size() == 2) {
      check_pair(name, *members[0], *members[1], findings);
      continue;
    }
    for (const auto* t : members)
      findings.invalid(t->field + "[" + group_name + "]", Json(name),
                       "can only define groups of exactly 2 pod sets, got: " + std::to_string(members.size()) + " pod set(s)");
  }
}

/// min(parallelism, completions), as the PodSet of a batch Job counts.
std::int64_t pods_of_job(const Json& spec) {
  const std::int64_t parallelism = number(spec, "parallelism").value_or(1);
  return std::min(parallelism, number(spec, "completions").value_or(parallelism));
}

}  // namespace

std::vector<TemplateRequest> templates_of(const Kind& kind, const ObjectView& job) {
  std::vector<TemplateRequest> out;
  const auto add = [&](const std::string& field, const Json& spec, std::int64_t count) {
    out.push_back({field + ".template.metadata.annotations", member(member(spec, "template", "metadata"), "annotations"), count});
  };
  if (kind.type->kind == "Job") add("spec", job.spec, pods_of_job(job.spec));
  if (kind.type->kind == "JobSet")
    each_item(job.spec, "replicatedJobs", "spec", [&](const Json& replicated, const std::string& field) {
      const Json& spec = member(replicated, "template", "spec");
      add(field + ".template.spec", spec, number(replicated, "replicas").value_or(1) * pods_of_job(spec));
    });
  return out;
}

void check_topology_requests(const std::vector<TemplateRequest>& templates, const Surroundings& around, Findings& findings) {
  for (const auto& one : templates) {
    const Request request{one, findings};
    check_level(request);
    check_group_name(request);
    check_index_offset(request);
    check_slice(request);
    check_layers_annotation(request, around);
  }
  check_groups(templates, findings);
}

void check_workload_topology(const ObjectView& now, const ObjectView& before, const Surroundings& around, Findings& findings) {
  if (!around.gate("TASValidateWorkloadSliceSize")) return;
  const Json& old_sets = member(before.spec, "podSets");
  const Json& sets = member(now.spec, "podSets");
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const Json& request = member(sets[i], "topologyRequest");
    if (request.is_null()) continue;
    // What is stored and wrong does not block other changes.
    if (old_sets.is_array() && i < old_sets.size() && member(old_sets[i], "topologyRequest") == request &&
        member(old_sets[i], "count") == member(sets[i], "count"))
      continue;
    const std::string field = at("spec.podSets", i) + ".topologyRequest";
    const bool sliced = member(request, "podSetSliceRequiredTopology").is_string();
    const auto size = number(request, "podSetSliceSize");
    const std::int64_t count = number(sets[i], "count").value_or(1);
    if (sliced && !size) findings.required(field + ".podSetSliceSize", "must be set when podSetSliceRequiredTopology is specified");
    if (!sliced && size) findings.forbidden(field + ".podSetSliceSize", "may not be set when podSetSliceRequiredTopology is not specified");
    if (size && *size < 1) findings.invalid(field + ".podSetSliceSize", Json(*size), "must be greater than 0");
    if (sliced && size && *size >= 1) check_divides(field + ".podSetSliceSize", Json(*size), *size, count, findings);
    const Json& layers = member(request, "podsetSliceRequiredTopologyConstraints");
    if (layers.is_array() && !layers.empty()) check_layers(field + ".podsetSliceRequiredTopologyConstraints", layers, count, findings);
  }
}

}  // namespace hindsight::connectors::webhooks
