#include "admission/model/node_match.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace hindsight::admission {
namespace {

bool tolerates(const OwnedToleration& t, const OwnedTaint& taint) {
  if (t.effect != TaintEffect::unspecified && t.effect != taint.effect) return false;
  if (!t.key.empty() && t.key != taint.key) return false;
  return t.exists || t.value == taint.value;
}

const std::string* label(const FlavorConfig& flavor, const Symbol& key) {
  for (const auto& [k, v] : flavor.node_labels)
    if (k == key) return &v;
  return nullptr;
}

std::optional<std::int64_t> integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// `value` is what the flavor has for the key of the requirement.
bool holds(const OwnedRequirement& r, std::string_view value) {
  const auto listed = [&] { return std::find(r.values.begin(), r.values.end(), value) != r.values.end(); };
  switch (r.op) {
    case SelectorOperator::in:
      return listed();
    case SelectorOperator::not_in:
      return !listed();
    case SelectorOperator::exists:
      return true;
    case SelectorOperator::does_not_exist:
      return false;
    case SelectorOperator::gt:
    case SelectorOperator::lt: {
      const auto have = integer(value);
      const auto bound = r.values.size() == 1 ? integer(r.values.front()) : std::nullopt;
      if (!have || !bound) return false;
      return r.op == SelectorOperator::gt ? *have > *bound : *have < *bound;
    }
    case SelectorOperator::unspecified:
      return false;
  }
  return false;
}

/// All that it says of labels and of fields, of which a node has its name alone.
bool matches(const OwnedTerm& term, const NodeConfig& node) {
  const auto absent = [](const OwnedRequirement& r) {
    return r.op == SelectorOperator::does_not_exist || r.op == SelectorOperator::not_in;
  };
  static const Symbol name_field("metadata.name");
  return std::all_of(term.requirements.begin(), term.requirements.end(),
                     [&](const OwnedRequirement& r) { return node.has_label(r.key) ? holds(r, node.label(r.key)) : absent(r); }) &&
         std::all_of(term.fields.begin(), term.fields.end(),
                     [&](const OwnedRequirement& r) { return r.key == name_field ? holds(r, node.name.text()) : absent(r); });
}

}  // namespace

bool tolerated(const OwnedTaint& taint, const std::vector<OwnedToleration>& tolerations) {
  if (taint.effect != TaintEffect::no_schedule && taint.effect != TaintEffect::no_execute) return true;
  return std::any_of(tolerations.begin(), tolerations.end(), [&](const OwnedToleration& t) { return tolerates(t, taint); });
}

const OwnedTaint* first_untolerated_taint(const FlavorConfig& flavor, const PodShape& shape) {
  for (const OwnedTaint& taint : flavor.taints) {
    if (!tolerated(taint, shape.tolerations) && !tolerated(taint, flavor.tolerations)) return &taint;
  }
  return nullptr;
}

bool matches_node_labels(const FlavorConfig& flavor, const PodShape& shape) {
  if (flavor.node_labels.empty()) return true;  // no key restricts
  for (const auto& [key, wanted] : shape.node_selector) {
    const std::string* have = label(flavor, key);
    if (have != nullptr && *have != wanted) return false;
  }
  if (!shape.has_affinity || shape.affinity_terms.empty()) return true;
  return std::any_of(shape.affinity_terms.begin(), shape.affinity_terms.end(), [&](const OwnedTerm& term) {
    // A key that the flavor does not have restricts nothing, so a term of such keys alone is empty and holds.
    return std::all_of(term.requirements.begin(), term.requirements.end(), [&](const OwnedRequirement& r) {
      const std::string* have = label(flavor, r.key);
      return have == nullptr || holds(r, *have);
    });
  });
}

const NodeConfig* node_of(const Nodes& nodes, const Hosts& hosts, const Symbol& host) {
  const auto find = [&](const Symbol& name) {
    const auto it = nodes.find(name);
    return it == nodes.end() || it->second->labels.hostname != host ? nullptr : it->second.get();
  };
  const NodeConfig* own = find(host);
  const auto others = hosts.nodes.find(host);
  if (others == hosts.nodes.end() || (own != nullptr && ByText{}(host, *others->second.begin()))) return own;
  return find(*others->second.begin());
}

bool carries(const NodeConfig& node, const std::vector<std::pair<Symbol, std::string>>& labels) {
  return std::all_of(labels.begin(), labels.end(),
                     [&](const auto& wanted) { return node.has_label(wanted.first) && node.label(wanted.first) == wanted.second; });
}

bool selects(const PodShape& shape, const NodeConfig& node) { return carries(node, shape.node_selector); }

bool affine(const PodShape& shape, const NodeConfig& node) {
  if (!shape.has_affinity || shape.affinity_terms.empty()) return true;
  return std::any_of(shape.affinity_terms.begin(), shape.affinity_terms.end(),
                     [&](const OwnedTerm& term) { return !(term.requirements.empty() && term.fields.empty()) && matches(term, node); });
}

std::int64_t affinity_score(const PodShape& shape, const NodeConfig& node) {
  std::int64_t out = 0;
  for (const auto& preferred : shape.preferred)
    if (matches(preferred.term, node)) out += preferred.weight;
  return out;
}

}  // namespace hindsight::admission
