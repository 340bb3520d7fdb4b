#include "operations/label_selector.hpp"

#include "admission/model/catalog_view.hpp"
#include "connectors/manifests/syntax.hpp"

namespace hindsight::operations {
namespace {

using connectors::manifests::Json;
using connectors::manifests::Problem;
using connectors::manifests::ProblemKind;
using connectors::manifests::shortened;

SelectorOperator operator_of(std::string_view name) {
  if (name == "In") return SelectorOperator::in;
  if (name == "NotIn") return SelectorOperator::not_in;
  if (name == "Exists") return SelectorOperator::exists;
  return SelectorOperator::does_not_exist;
}

void judge_value(const Json& value, const std::string& path, std::vector<Problem>& problems) {
  if (!connectors::manifests::is_label_value(value.get_ref<const std::string&>()))
    problems.push_back({ProblemKind::invalid, path, shortened(value),
                        "must be a label value: at most 63 letters, digits, '-', '_' or '.', alphanumeric at both ends"});
}

}  // namespace

LabelRequirements read_label_selector(const Json& selector) {
  LabelRequirements out;
  if (const auto labels = selector.find("matchLabels"); labels != selector.end())
    for (const auto& [key, value] : labels->items()) out.push_back({Symbol(key), SelectorOperator::in, {value.get<std::string>()}});
  if (const auto expressions = selector.find("matchExpressions"); expressions != selector.end())
    for (const auto& e : *expressions) {
      admission::OwnedRequirement requirement{
          Symbol(e.at("key").get_ref<const std::string&>()), operator_of(e.at("operator").get_ref<const std::string&>()), {}};
      if (const auto values = e.find("values"); values != e.end()) requirement.values = values->get<std::vector<std::string>>();
      out.push_back(std::move(requirement));
    }
  return out;
}

void judge_label_selector(const Json& selector, const std::string& path, std::vector<Problem>& problems) {
  if (const auto labels = selector.find("matchLabels"); labels != selector.end())
    for (const auto& [key, value] : labels->items()) {
      const std::string field = path + ".matchLabels." + key;
      if (!connectors::manifests::is_qualified_name(key))
        problems.push_back({ProblemKind::invalid, field, Json(key).dump(-1, ' ', false, Json::error_handler_t::replace),
                            "must be a label key: a name of at most 63 characters behind an optional DNS prefix and '/'"});
      judge_value(value, field, problems);
    }
  const auto expressions = selector.find("matchExpressions");
  if (expressions == selector.end()) return;
  for (std::size_t i = 0; i < expressions->size(); ++i) {
    const Json& e = (*expressions)[i];
    const std::string field = path + ".matchExpressions[" + std::to_string(i) + "].values";
    const auto op = operator_of(e.at("operator").get_ref<const std::string&>());
    const auto values = e.find("values");
    const std::size_t count = values == e.end() ? 0 : values->size();
    const bool needs_values = op == SelectorOperator::in || op == SelectorOperator::not_in;
    if (needs_values && count == 0)
      problems.push_back({ProblemKind::required, field, "", "must be specified when `operator` is 'In' or 'NotIn'"});
    if (!needs_values && count > 0)
      problems.push_back({ProblemKind::forbidden, field, "", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"});
    for (std::size_t k = 0; k < count; ++k) judge_value((*values)[k], field + "[" + std::to_string(k) + "]", problems);
  }
}

bool selects_namespace(const LabelRequirements& selector, const std::string& name) {
  return admission::matches(selector, {{Symbol("kubernetes.io/metadata.name"), name}});
}

}  // namespace hindsight::operations
