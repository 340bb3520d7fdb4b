#include "connectors/json/pod_requests.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "vocabulary/text.hpp"

namespace hindsight::connectors {
namespace {

/// Amounts by resource, sorted by name.
class Amounts {
 public:
  Amounts() = default;
  explicit Amounts(List<ResourceAmount> list) : items_(list.begin(), list.end()) {}

  [[nodiscard]] const Amount* find(Text resource) const {
    const auto it = lower(resource);
    return it != items_.end() && it->resource == resource ? &it->amount : nullptr;
  }
  Amount& at(Text resource, Amount initial) {
    auto it = lower(resource);
    if (it == items_.end() || it->resource != resource) it = items_.insert(it, ResourceAmount{resource, initial});
    return it->amount;
  }
  void set(Text resource, Amount amount) { at(resource, amount) = amount; }
  void add(const Amounts& other) {
    for (const auto& [resource, amount] : other.items_) {
      Amount& mine = at(resource, 0);
      mine = hindsight::add(mine, amount);
    }
  }
  void raise(const Amounts& other) {
    for (const auto& [resource, amount] : other.items_) {
      Amount& mine = at(resource, amount);
      mine = std::max(mine, amount);
    }
  }
  void lower_to(const Amounts& other) {
    for (const auto& [resource, amount] : other.items_) {
      Amount& mine = at(resource, amount);
      mine = std::min(mine, amount);
    }
  }
  void fill(const Amounts& other) {
    for (const auto& [resource, amount] : other.items_) at(resource, amount);
  }
  void fill(const OwnedAmounts& other, Arena& arena) {
    for (const auto& [resource, amount] : other)
      if (find(resource) == nullptr) set(arena.copy(resource), amount);
  }
  [[nodiscard]] const std::vector<ResourceAmount>& items() const { return items_; }
  [[nodiscard]] bool empty() const { return items_.empty(); }

 private:
  [[nodiscard]] std::vector<ResourceAmount>::const_iterator lower(Text resource) const {
    return std::lower_bound(items_.begin(), items_.end(), resource, [](const ResourceAmount& a, Text r) { return a.resource < r; });
  }
  std::vector<ResourceAmount>::iterator lower(Text resource) {
    return std::lower_bound(items_.begin(), items_.end(), resource, [](const ResourceAmount& a, Text r) { return a.resource < r; });
  }

  std::vector<ResourceAmount> items_;
};

/// The findings of one pod set, in the form of Kubernetes field errors.
class Findings {
 public:
  explicit Findings(std::size_t pod_set_index) : base_("spec.podSets[" + std::to_string(pod_set_index) + "].template.spec") {}

  void add(std::string_view where, const std::vector<Text>& resources, std::string_view rule) {
    if (resources.empty()) return;
    if (!text_.empty()) text_ += ", ";
    text_.append(base_).append(where).append(": Invalid value: [");
    for (std::size_t i = 0; i < resources.size(); ++i) text_.append(i == 0 ? "\"" : ",\"").append(resources[i]).append("\"");
    text_.append("]: ").append(rule);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string base_;
  std::string text_;
};

constexpr std::string_view above_limits = "requests must not exceed its limits";
constexpr std::string_view above_max = "requests must not be above the limitRange max";
constexpr std::string_view below_min = "requests must not be below the limitRange min";

/// Names in `a` that `bound` has too and with less.
std::vector<Text> greater(const Amounts& a, const Amounts& bound) {
  std::vector<Text> out;
  for (const auto& [resource, amount] : a.items())
    if (const auto* b = bound.find(resource); b != nullptr && amount > *b) out.push_back(resource);
  return out;
}

std::vector<Text> greater(const Amounts& a, const OwnedAmounts& bound) {
  std::vector<Text> out;
  for (const auto& [resource, amount] : a.items())
    if (const auto b = bound.find(resource); b != bound.end() && amount > b->second) out.push_back(resource);
  return out;
}

std::vector<Text> less(const Amounts& a, const OwnedAmounts& bound) {
  std::vector<Text> out;
  for (const auto& [resource, amount] : bound)
    if (const auto* mine = a.find(resource); mine != nullptr && *mine < amount) out.push_back(resource);
  return out;
}

struct Container {
  Amounts requests;
  Amounts limits;
  bool sidecar = false;
};

struct Pod {
  std::vector<Container> init;
  std::vector<Container> main;
};

/// `named`: what containers of this template ask for, which has a limit, for every resource is looked for among all.
std::vector<Container> read_containers(const Node& spec, std::string_view key, const LimitSummary* ranges, Amounts& named) {
  std::vector<Container> out;
  spec.each(key, limits::containers, [&](const Node& node) {
    const auto resources = node.object("resources");
    Container c{Amounts(resources.amounts("requests")), Amounts(resources.amounts("limits")), node.text("restartPolicy") == "Always"};
    if (ranges != nullptr && ranges->container) {
      c.limits.fill(ranges->container->default_limit, node.reading().arena());
      c.requests.fill(ranges->container->default_request, node.reading().arena());
    }
    c.requests.fill(c.limits);
    named.fill(c.requests);
    if (named.items().size() > limits::resources.size()) node.refuse_beyond("resources", named.items().size(), limits::resources);
    out.push_back(std::move(c));
  });
  return out;
}

/// As k8s.io/component-helpers/resource PodRequests does for containers.
Amounts aggregate(const Pod& pod) {
  Amounts total;
  for (const auto& c : pod.main) total.add(c.requests);
  Amounts sidecars;
  Amounts steps;
  for (const auto& c : pod.init) {
    if (c.sidecar) {
      total.add(c.requests);
      sidecars.add(c.requests);
      steps.raise(sidecars);
    } else {
      Amounts step = c.requests;
      step.add(sidecars);
      steps.raise(step);
    }
  }
  total.raise(steps);
  return total;
}

bool is_pod_level_resource(Text resource) { return resource == "cpu" || resource == "memory" || resource.starts_with("hugepages-"); }

void check_containers(const std::vector<Container>& containers, std::string_view list, Findings& findings) {
  for (std::size_t i = 0; i < containers.size(); ++i) {
    if (const auto names = greater(containers[i].requests, containers[i].limits); !names.empty())
      findings.add("." + std::string(list) + "[" + std::to_string(i) + "]", names, above_limits);
  }
}

void check_ranges(const std::vector<Container>& containers, std::string_view list, const LimitSummary::Limits& range, Findings& findings) {
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const auto where = "." + std::string(list) + "[" + std::to_string(i) + "]";
    Amounts low = containers[i].requests;
    low.lower_to(containers[i].limits);
    Amounts high = containers[i].requests;
    high.raise(containers[i].limits);
    findings.add(where, greater(high, range.max), above_max);
    findings.add(where, less(low, range.min), below_min);
  }
}

}  // namespace

void read_pod_requests(const Node& spec, const TemplateContext& context, PodSetFacts& out) {
  if (!spec.present()) return;
  auto& arena = spec.reading().arena();
  const auto* limits = context.defaults == nullptr ? nullptr : context.defaults->limits(context.namespace_);

  Amounts named;
  Pod pod;
  pod.init = read_containers(spec, "initContainers", limits, named);
  pod.main = read_containers(spec, "containers", limits, named);
  Amounts total = aggregate(pod);

  Amounts pod_requests;
  Amounts pod_limits;
  if (const auto resources = spec.object("resources"); resources.present()) {
    pod_requests = Amounts(resources.amounts("requests"));
    pod_limits = Amounts(resources.amounts("limits"));
    // The server copies what the containers ask for into missing pod-level requests and takes limits only for the rest.
    for (const auto& [resource, amount] : pod_limits.items())
      if (is_pod_level_resource(resource) && total.find(resource) == nullptr) pod_requests.at(resource, amount);
    for (const auto& [resource, amount] : pod_requests.items())
      if (is_pod_level_resource(resource)) total.set(resource, amount);
  }

  Amounts overhead(spec.amounts("overhead"));
  if (overhead.empty() && context.defaults != nullptr) {
    if (const auto* fixed = context.defaults->overhead(spec.text("runtimeClassName"))) overhead.fill(*fixed, arena);
  }
  total.add(overhead);
  out.requests = arena.copy(total.items());

  Findings findings(context.pod_set_index);
  check_containers(pod.init, "initContainers", findings);
  check_containers(pod.main, "containers", findings);
  findings.add(".resources", greater(pod_requests, pod_limits), above_limits);
  out.limits_error = arena.copy(cut_message(findings.text(), limits::finding.size()));

  if (limits == nullptr) return;
  Findings ranges(context.pod_set_index);
  if (limits->container) {
    check_ranges(pod.init, "initContainers", *limits->container, ranges);
    check_ranges(pod.main, "containers", *limits->container, ranges);
  }
  if (limits->pod) {
    ranges.add("", greater(total, limits->pod->max), above_max);
    ranges.add("", less(total, limits->pod->min), below_min);
  }
  out.limit_range_error = arena.copy(cut_message(ranges.text(), limits::finding.size()));
}

}  // namespace hindsight::connectors
