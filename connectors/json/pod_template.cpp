#include "connectors/json/pod_template.hpp"

#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "connectors/json/json_value.hpp"
#include "connectors/json/keys.hpp"
#include "connectors/json/pod_requests.hpp"
#include "connectors/json/resource_bounds.hpp"
#include "connectors/json/template_hash.hpp"
#include "connectors/json/text.hpp"

namespace hindsight::connectors {
namespace {

TaintEffect read_effect(const Node& node) {
  return node.choice<TaintEffect>("effect",
                                  {{"NoSchedule", TaintEffect::no_schedule},
                                   {"PreferNoSchedule", TaintEffect::prefer_no_schedule},
                                   {"NoExecute", TaintEffect::no_execute}},
                                  TaintEffect::unspecified);
}

Requirement read_requirement(const Node& node) {
  Requirement out;
  out.key = node.required_text("key", limits::key);
  out.op = node.choice<SelectorOperator>("operator",
                                         {{"In", SelectorOperator::in},
                                          {"NotIn", SelectorOperator::not_in},
                                          {"Exists", SelectorOperator::exists},
                                          {"DoesNotExist", SelectorOperator::does_not_exist},
                                          {"Gt", SelectorOperator::gt},
                                          {"Lt", SelectorOperator::lt}},
                                         SelectorOperator::unspecified);
  if (out.op == SelectorOperator::unspecified) node.refuse_value("operator", "In, NotIn, Exists, DoesNotExist, Gt, Lt");
  out.values = node.texts("values", limits::requirement_values);
  return out;
}

SelectorTerm read_term(const Node& term) {
  return {term.list<Requirement>("matchExpressions", limits::requirements, read_requirement),
          term.list<Requirement>("matchFields", limits::requirements, read_requirement)};
}

void read_affinity(const Node& spec, PodSetFacts& out) {
  const auto affinity = spec.object("affinity").object("nodeAffinity");
  out.preferred_terms =
      affinity.list<PreferredTerm>("preferredDuringSchedulingIgnoredDuringExecution", limits::affinity_terms, [](const Node& preferred) {
        return PreferredTerm{preferred.int32("weight").value_or(0), read_term(preferred.object("preference"))};
      });
  const auto required = affinity.object("requiredDuringSchedulingIgnoredDuringExecution");
  if (!required.present()) return;
  out.has_affinity = true;
  out.affinity_terms = required.list<SelectorTerm>("nodeSelectorTerms", limits::affinity_terms, read_term);
}

}  // namespace

namespace {

/// About what the facts of a pod set take in the log and in memory.
std::size_t facts_size(const PodSetFacts& p) {
  constexpr std::size_t element = 16, text = 12;
  std::size_t size = 128 + p.name.size() + p.limits_error.size() + p.limit_range_error.size() + p.pod_set_group.size() +
                     p.required_topology.size() + p.preferred_topology.size();
  for (const auto& layer : p.topology_layers) size += element + layer.level.size();
  for (const auto& r : p.requests) size += element + r.resource.size();
  for (const auto& s : p.node_selector) size += element + s.key.size() + s.value.size();
  for (const auto& t : p.tolerations) size += 2 * element + t.key.size() + t.value.size();
  const auto term_size = [](const SelectorTerm& term) {
    std::size_t sum = 0;
    for (const auto* list : {&term.requirements, &term.fields})
      for (const auto& r : *list) {
        sum += element + r.key.size();
        for (const auto& value : r.values) sum += text + value.size();
      }
    return sum;
  };
  for (const auto& term : p.affinity_terms) size += term_size(term);
  for (const auto& preferred : p.preferred_terms) size += element + term_size(preferred.term);
  for (const auto& c : p.sized) {
    const auto size_of = [](const SizedAmount& a) { return 4 * element + a.resource.size(); };
    const auto container = element + c.name.size();
    size += container;
    for (const auto& a : c.amounts) size += size_of(a);
    // A plan says as much again of what it may change. So the annotation of a plan that is ours never goes beyond limits::resource_plan.
    if (std::any_of(c.amounts.begin(), c.amounts.end(), [](const SizedAmount& a) { return a.step > 0; })) size += container;
    for (const auto& a : c.amounts)
      if (a.step > 0) size += size_of(a);
  }
  return size;
}

}  // namespace

void check_pod_sets(const Node& object, List<PodSetFacts> pod_sets) {
  if (!object.present() || object.reading().failed()) return;
  std::size_t size = 0;
  std::map<Text, Amount> totals;
  for (const auto& p : pod_sets) {
    size += facts_size(p);
    for (const auto& r : p.requests) {
      Amount& total = totals[r.resource];
      total = add(total, multiply(r.amount, p.count));
    }
  }
  const auto refuse = [&](const std::string& found, const limits::Limit& limit, const std::string& what) {
    object.reading().refuse(-1, "spec", found, "at most " + std::to_string(limit.most) + what, true);
  };
  if (size > limits::facts.size())
    refuse("pod templates of which admission has to know " + std::to_string(size) + " bytes", limits::facts, " bytes");
  for (const auto& [resource, total] : totals)
    if (total > limits::total_amount.most)
      refuse("pods that ask for " + format_amount(total, resource) + " of " + std::string(resource), limits::total_amount,
             resource == "cpu" ? " thousandths" : "");
}

List<Toleration> read_tolerations(const Node& parent, std::string_view key, const limits::Limit& limit) {
  enum class Operator { equal, exists, comparison };
  const auto n = parent.count(key, limit);
  if (n == 0) return {};
  const auto out = parent.reading().arena().make<Toleration>(n);
  std::size_t i = 0;
  parent.each(key, limit, [&](const Node& node) {
    const auto op = node.choice<Operator>(
        "operator", {{"Equal", Operator::equal}, {"Exists", Operator::exists}, {"Lt", Operator::comparison}, {"Gt", Operator::comparison}},
        Operator::equal);
    const Toleration t{node.text("key", limits::key), node.text("value", limits::value), op == Operator::exists, read_effect(node),
                       node.int64("tolerationSeconds")};
    if (op != Operator::comparison) out[i++] = t;
  });
  return out.first(i);
}

List<Taint> read_taints(const Node& parent, std::string_view key, const limits::Limit& limit) {
  return parent.list<Taint>(key, limit, [](const Node& node) {
    const Taint taint{node.required_text("key", limits::key), node.text("value", limits::value), read_effect(node)};
    if (taint.effect == TaintEffect::unspecified) node.refuse_value("effect", "NoSchedule, PreferNoSchedule, NoExecute");
    return taint;
  });
}

List<Requirement> read_label_selector(const Node& selector) {
  if (!selector.present()) return {};
  const auto labels = selector.pairs("matchLabels");
  const auto expressions = selector.list<Requirement>("matchExpressions", limits::requirements, read_requirement);
  auto& arena = selector.reading().arena();
  const auto out = arena.make<Requirement>(labels.size() + expressions.size());
  std::size_t i = 0;
  for (const auto& label : labels) {
    const auto value = arena.make<Text>(1);
    value[0] = label.value;
    out[i++] = {label.key, SelectorOperator::in, value};
  }
  for (const auto& expression : expressions) out[i++] = expression;
  return out;
}

namespace {

/// What the webhook would refuse is read as far as it makes sense: placing the pods says what is wrong with the rest.
void read_topology_annotations(const Node& meta, PodSetFacts& out) {
  const auto annotation = [&](std::string_view key) { return meta.entry("annotations", key); };
  const auto required = annotation(keys::required_topology), preferred = annotation(keys::preferred_topology);
  const auto unconstrained = annotation(keys::unconstrained_topology);
  out.required_topology = required.value_or(Text{});
  out.preferred_topology = preferred.value_or(Text{});
  out.unconstrained_topology = is_true(unconstrained.value_or(Text{}));
  Arena& arena = meta.reading().arena();
  if (const auto constraints = meta.entry("annotations", keys::slice_constraints, limits::json_annotation)) {
    const auto layers = from_text(*constraints);
    if (layers.is_array() && layers.size() <= limits::topology_levels.size()) {
      const auto list = arena.make<TopologyLayerFacts>(layers.size());
      for (std::size_t i = 0; i < list.size(); ++i) {
        list[i].level = arena.copy(text_member(layers[i], "topology"));
        if (const auto size = int_member(layers[i], "size"); size && *size > 0 && *size <= std::numeric_limits<std::int32_t>::max())
          list[i].size = static_cast<std::int32_t>(*size);
      }
      out.topology_layers = list;
    }
  } else if (const auto level = annotation(keys::slice_required_topology)) {
    const auto list = arena.make<TopologyLayerFacts>(1);
    list[0].level = *level;
    if (const auto size = parse_int32(annotation(keys::slice_size).value_or(Text{})); size && *size > 0) list[0].size = *size;
    out.topology_layers = list;
  }
  out.topology_requested = required || preferred || unconstrained || !out.topology_layers.empty();
}

}  // namespace

void read_pod_template(const Node& pod_template, const TemplateContext& context, PodSetFacts& out) {
  const auto spec = pod_template.object("spec");
  read_pod_requests(spec, context, out);
  if (!pod_template.present()) return;
  out.node_selector = spec.pairs("nodeSelector", limits::node_selector);
  read_affinity(spec, out);
  out.tolerations = read_tolerations(spec, "tolerations", limits::tolerations);

  const auto hashes = hash_template(pod_template.value());
  out.shape_hash = hashes.shape;
  out.template_hash = hashes.whole;
  out.core_hash = hashes.core;
  if (context.bounds != nullptr) read_sized_containers(pod_template, context, out);

  const auto meta = pod_template.object("metadata");
  (void)meta.count("labels", limits::labels);
  if (meta.count("annotations", limits::labels) == 0) return;
  (void)meta.entry("annotations", keys::slice_constraints, limits::json_annotation);
  out.pod_set_group = meta.entry("annotations", keys::pod_set_group_name).value_or(Text{});
  read_topology_annotations(meta, out);
}

}  // namespace hindsight::connectors
