#include "page/views/objects.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "admission/domain/domain.hpp"
#include "admission/workload/workload_parent.hpp"
#include "events/decision_fields.hpp"
#include "page/views/amounts.hpp"
#include "page/views/record_lines.hpp"
#include "page/views/refs.hpp"
#include "page/views/sight.hpp"
#include "projections/objects.hpp"
#include "projections/quota_report.hpp"
#include "vocabulary/ascii.hpp"
#include "vocabulary/printable.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::page {
namespace {

using admission::StateView;

enum class ConfigKind { local_queue, cluster_queue, cohort, flavor, topology, check, priority_class };
struct ConfigKindName {
  std::string_view plural, kind;
  ConfigKind value;
};
constexpr std::array<ConfigKindName, 7> config_kinds{{{"localqueues", "LocalQueue", ConfigKind::local_queue},
                                                      {"clusterqueues", "ClusterQueue", ConfigKind::cluster_queue},
                                                      {"cohorts", "Cohort", ConfigKind::cohort},
                                                      {"resourceflavors", "ResourceFlavor", ConfigKind::flavor},
                                                      {"topologies", "Topology", ConfigKind::topology},
                                                      {"admissionchecks", "AdmissionCheck", ConfigKind::check},
                                                      {"workloadpriorityclasses", "WorkloadPriorityClass", ConfigKind::priority_class}}};
constexpr std::uint64_t objects_default = 1'000, objects_max = 10'000;
constexpr std::size_t object_text_bytes_max = 1'024;

Result<ConfigKindName> config_kind_of(const Parameters& parameters) {
  const std::string& word = parameters.of_path("kind");
  const auto at = std::ranges::find(config_kinds, std::string_view(word), &ConfigKindName::plural);
  if (at != config_kinds.end()) return *at;
  std::string allowed;
  for (const auto& one : config_kinds) allowed += (allowed.empty() ? "" : ", ") + std::string(one.plural);
  return fail(ErrorKind::invalid, "kind: found \"" + printable(cut_text(word, 80)) + "\"; allowed: " + allowed);
}

/// The objects of one state, and who uses them.
class ConfigObjects {
 public:
  explicit ConfigObjects(const StateView& state) : state_(state), catalog_(*state.domain().catalog()) {}

  struct ConfigName {
    std::string namespace_, name;
    Symbol symbol;
  };

  /// By name.
  [[nodiscard]] std::vector<ConfigName> names(ConfigKind kind) const {
    std::vector<ConfigName> out;
    const auto add = [&](const auto& table) {
      for (const auto& [name, config] : table) out.push_back({{}, std::string(name.text()), name});
    };
    switch (kind) {
      case ConfigKind::local_queue:
        for (const auto& [key, queue] : catalog_.local_queues)
          out.push_back({std::string(key.first.text()), std::string(key.second.text()), key.second});
        std::ranges::sort(out, {}, [](const ConfigName& n) { return std::tie(n.namespace_, n.name); });
        break;
      case ConfigKind::cluster_queue:
        add(catalog_.queues);
        break;
      case ConfigKind::cohort:
        for (const Symbol& name : projections::all_cohorts(state_)) out.push_back({{}, std::string(name.text()), name});
        break;
      case ConfigKind::flavor:
        add(catalog_.flavors);
        break;
      case ConfigKind::topology:
        add(catalog_.topologies);
        break;
      case ConfigKind::check:
        add(catalog_.checks);
        break;
      case ConfigKind::priority_class:
        add(catalog_.workload_priority_classes);
        break;
    }
    return out;
  }

  [[nodiscard]] Json object(ConfigKind kind, const ConfigName& of, projections::Detail detail) const {
    switch (kind) {
      case ConfigKind::local_queue:
        return projections::local_queue_object(state_, catalog_.local_queues.find(std::pair(Symbol(of.namespace_), of.symbol))->second,
                                               detail);
      case ConfigKind::cluster_queue:
        return projections::cluster_queue_object(state_, *catalog_.queues.find(of.symbol)->second, detail);
      case ConfigKind::cohort:
        return projections::cohort_object(state_, of.symbol);
      case ConfigKind::flavor:
        return projections::resource_flavor_object(state_, *catalog_.flavors.find(of.symbol)->second);
      case ConfigKind::topology: {
        Json levels = Json::array();
        for (const auto& label : catalog_.topologies.find(of.symbol)->second) levels.push_back({{"nodeLabel", label}});
        return {{"apiVersion", "kueue.x-k8s.io/v1beta2"},
                {"kind", "Topology"},
                {"metadata", {{"name", of.name}}},
                {"spec", {{"levels", std::move(levels)}}}};
      }
      case ConfigKind::check:
        return projections::admission_check_object(*catalog_.checks.find(of.symbol)->second);
      case ConfigKind::priority_class:
        return projections::priority_class_object(of.symbol, catalog_.workload_priority_classes.find(of.symbol)->second);
    }
    return {};
  }

  /// Those that name it, by kind and name; of LocalQueues the ones that the audience may see.
  [[nodiscard]] Json used_by(ConfigKind kind, const ConfigName& of, const Sight& sight) const {
    std::vector<Json> users;
    const auto put = [&](std::string_view kind_of_user, std::string_view namespace_, std::string_view name) {
      users.push_back(object_ref(kind_of_user, namespace_, name));
    };
    switch (kind) {
      case ConfigKind::cluster_queue: {
        std::vector<std::pair<std::string_view, std::string_view>> queues;
        for (const auto& [namespace_, name] : catalog_.local_queues_of(of.symbol)) queues.emplace_back(namespace_.text(), name.text());
        std::ranges::sort(queues);
        for (const auto& [namespace_, name] : queues)
          if (sight.sees(namespace_)) put("LocalQueue", namespace_, name);
        break;
      }
      case ConfigKind::flavor:
        for (const auto& [name, config] : catalog_.queues)
          if (has_flavor(config->groups, of.symbol)) put("ClusterQueue", {}, name.text());
        for (const auto& [name, config] : catalog_.cohorts)
          if (has_flavor(config->groups, of.symbol)) put("Cohort", {}, name.text());
        break;
      case ConfigKind::topology:
        for (const auto& [name, config] : catalog_.flavors)
          if (config->topology == of.symbol) put("ResourceFlavor", {}, name.text());
        break;
      case ConfigKind::check:
        for (const auto& [name, config] : catalog_.queues)
          if (std::ranges::any_of(config->checks, [&](const auto& rule) { return rule.name == of.symbol; }))
            put("ClusterQueue", {}, name.text());
        break;
      case ConfigKind::local_queue:
      case ConfigKind::cohort:
      case ConfigKind::priority_class:
        break;
    }
    Json out{{"items", Json::array()}, {"leftOut", users.size() - std::min(users.size(), object_users_max)}};
    for (std::size_t i = 0; i < users.size() && i < object_users_max; ++i) out["items"].push_back(std::move(users[i]));
    return out;
  }

  /// How many Workloads have each of the classes.
  [[nodiscard]] std::map<Symbol, std::size_t, ByText> workloads_by_class() const {
    std::map<Symbol, std::size_t, ByText> out;
    for (std::uint32_t i = 0; i < state_.domain().parent_count(); ++i) {
      const auto* parent = state_.parent(i);
      if (parent == nullptr) continue;
      for (const auto& w : parent->workloads())
        if (w.priority_class_kind == PriorityClassKind::workload_priority_class && !w.is_made_as_option()) ++out[w.priority_class];
    }
    return out;
  }

  /// Nodes with all labels of a flavor, and how many more there are. Nodes are watched where there is a topology.
  void put_nodes(Json& out, const Symbol& flavor) const {
    const auto& labels = catalog_.flavors.find(flavor)->second->node_labels;
    Json items = Json::array();
    std::size_t all = 0;
    for (const auto& [name, node] : state_.domain().nodes()) {
      const auto has = [&n = *node](const auto& label) { return n.has_label(label.first) && n.label(label.first) == label.second; };
      if (!std::ranges::all_of(labels, has)) continue;
      if (++all > object_nodes_max) continue;
      items.push_back(node_json(*node));
    }
    out["nodes"] = std::move(items);
    out["nodesLeftOut"] = all - std::min(all, object_nodes_max);
    out["nodesWatched"] = !state_.domain().nodes().empty();
  }

 private:
  [[nodiscard]] static bool has_flavor(const std::vector<admission::ResourceGroup>& groups, const Symbol& flavor) {
    return std::ranges::any_of(groups, [&](const auto& group) {
      return std::ranges::any_of(group.flavors, [&](const auto& one) { return one.flavor == flavor; });
    });
  }

  [[nodiscard]] static Json node_json(const admission::NodeConfig& node) {
    Json out{{"name", node.name.text()}, {"ready", node.ready},     {"unschedulable", node.unschedulable},
             {"labels", Json::object()}, {"taints", Json::array()}, {"allocatable", Json::array()}};
    for (const auto& [key, value] : node.labels.all()) out["labels"][std::string(key.text())] = value.text();
    for (const auto& taint : node.taints)
      out["taints"].push_back({{"key", taint.key}, {"value", taint.value}, {"effect", events::api_name(taint.effect)}});
    for (const auto& [resource, amount] : *node.allocatable)
      out["allocatable"].push_back({{"resource", resource.text()}, {"amount", amount_json(amount, resource)}});
    return out;
  }

  const StateView& state_;
  const admission::Catalog& catalog_;
};

Json one_object(const Look& look, const ConfigObjects& all, const ConfigKindName& kind, const ConfigObjects::ConfigName& name,
                projections::Detail detail, const Sight& sight) {
  Json out = detail == projections::Detail::whole ? taken_at(look) : Json::object();
  out["ref"] = object_ref(kind.kind, name.namespace_, name.name);
  out["object"] = all.object(kind.value, name, detail);
  auto used = all.used_by(kind.value, name, sight);
  out["usedBy"] = std::move(used["items"]);
  out["usedByLeftOut"] = used["leftOut"];
  return out;
}

Result<Json> told_object(const Look& look, const ConfigKindName& kind, std::string_view namespace_, std::string_view name) {
  const ConfigObjects all(look.past.driver());
  const Sight sight(look.past.driver(), look.audience);
  const auto names = all.names(kind.value);
  const auto at = std::ranges::find_if(names, [&](const auto& one) { return one.namespace_ == namespace_ && one.name == name; });
  if (at == names.end())
    return not_there(look, kind.kind, namespace_.empty() ? std::string(name) : std::string(namespace_) + "/" + std::string(name));
  Json out = one_object(look, all, kind, *at, projections::Detail::whole, sight);
  if (kind.value == ConfigKind::flavor) all.put_nodes(out, at->symbol);
  if (kind.value == ConfigKind::priority_class) {
    const auto counts = all.workloads_by_class();
    const auto count = counts.find(at->symbol);
    out["workloads"] = count == counts.end() ? 0 : count->second;
  }
  (void)sight.veil(out);
  return out;
}

}  // namespace

Result<Json> objects_view(const Look& look, const Parameters& parameters) {
  const auto kind = config_kind_of(parameters);
  if (!kind) return tl::unexpected(kind.error());
  const auto limit = parameters.number("limit", objects_default, 1, objects_max);
  if (!limit) return tl::unexpected(limit.error());
  const auto offset = parameters.number("offset", 0, 0, std::numeric_limits<std::uint32_t>::max());
  if (!offset) return tl::unexpected(offset.error());
  const std::string_view text = parameters.text("text");
  if (text.size() > object_text_bytes_max)
    return fail(ErrorKind::invalid,
                "text: found " + std::to_string(text.size()) + " bytes; allowed: at most " + std::to_string(object_text_bytes_max));
  const std::string wanted = lower(text);
  const ConfigObjects all(look.past.driver());
  const Sight sight(look.past.driver(), look.audience);
  std::map<Symbol, std::size_t, ByText> by_class;
  if (kind->value == ConfigKind::priority_class) by_class = all.workloads_by_class();

  Json out = taken_at(look);
  out["items"] = Json::array();
  std::size_t total = 0, hidden = 0;
  for (const auto& name : all.names(kind->value)) {
    if (!name.namespace_.empty() && !sight.sees(name.namespace_)) {
      ++hidden;
      continue;
    }
    if (!wanted.empty() && lower(name.namespace_.empty() ? name.name : name.namespace_ + "/" + name.name).find(wanted) == std::string::npos)
      continue;
    if (++total <= *offset || out["items"].size() >= *limit) continue;
    Json item = one_object(look, all, *kind, name, projections::Detail::own, sight);
    if (kind->value == ConfigKind::priority_class) item["workloads"] = by_class[name.symbol];
    out["items"].push_back(std::move(item));
  }
  (void)sight.veil(out);
  out["total"] = total;
  out["hidden"] = hidden;
  return out;
}

Result<Json> object_view(const Look& look, const Parameters& parameters) {
  const auto kind = config_kind_of(parameters);
  if (!kind) return tl::unexpected(kind.error());
  if (kind->value == ConfigKind::local_queue)
    return fail(ErrorKind::invalid, "name: found a LocalQueue without its namespace; allowed: objects/localqueues/NAMESPACE/NAME");
  return told_object(look, *kind, {}, parameters.of_path("name"));
}

Result<Json> local_queue_view(const Look& look, const Parameters& parameters) {
  const std::string& namespace_ = parameters.of_path("namespace");
  if (!look.audience.may_see(namespace_)) return not_for_you(namespace_);
  return told_object(look, config_kinds.front(), namespace_, parameters.of_path("name"));
}

std::vector<ViewRoute> object_views() {
  return {
      {"objects/{kind}",
       objects_view,
       "All objects of a kind that configure admission, and who uses each",
       {"text", "limit", "offset"},
       false},
      {"objects/{kind}/{name}", object_view, "One of them: its fields, who uses it, and of a flavor its nodes", {}, false},
      {"objects/localqueues/{namespace}/{name}", local_queue_view, "A LocalQueue: its fields and what it uses", {}, false},
  };
}

}  // namespace hindsight::page
