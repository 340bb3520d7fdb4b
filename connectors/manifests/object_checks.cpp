#include "connectors/manifests/object_checks.hpp"

#include <algorithm>
#include <string>

#include "connectors/manifests/syntax.hpp"
#include "connectors/manifests/v1beta1.hpp"

namespace hindsight::connectors::manifests {
namespace {

constexpr std::string_view kueue_v1beta1 = "kueue.x-k8s.io/v1beta1";

/// The largest amount of a resource: cpu is counted in thousandths.
long double most_countable(std::string_view path) {
  const bool cpu = path.ends_with("cpu");
  return cpu ? 9.223372036854775807e15L : 9.223372036854775807e18L;
}

void check_amount(const Json& value, std::string_view path, std::vector<Problem>& problems) {
  std::optional<long double> amount;
  if (value.is_number())
    amount = value.get<double>();
  else if (value.is_string())
    amount = quantity_value(value.get_ref<const std::string&>());
  if (!amount) return;
  if (*amount < 0) problems.push_back({ProblemKind::invalid, std::string(path), shortened(value), "must be greater than or equal to 0"});
  if (*amount > most_countable(path)) {
    // A number of this size was read as one with a fraction, and found fault with as such; this says it better.
    std::erase_if(problems, [&](const Problem& p) { return p.field == path; });
    problems.push_back({ProblemKind::invalid, std::string(path), shortened(value),
                        "is more than can be counted; allowed: at most 9223372036854775807 units, cpu in thousandths"});
  }
}

}  // namespace

const Kind* check_identity(Json& object, std::vector<Problem>& problems) {
  const auto name = object.find("kind");
  if (name == object.end() || !name->is_string()) {
    problems.push_back({ProblemKind::required, "kind", name == object.end() ? "" : shortened(*name), "must be the name of a kind"});
    return nullptr;
  }
  const Kind* kind = find_kind(name->get_ref<const std::string&>());
  if (kind == nullptr) {
    const auto names = kind_names();
    std::string message;
    if (const auto near = nearest(name->get_ref<const std::string&>(), names); !near.empty())
      message = "did you mean \"" + std::string(near) + "\"? ";
    message += "known kinds: ";
    for (const auto known : names) message.append(known).append(", ");
    problems.push_back({ProblemKind::not_supported, "kind", shortened(*name), message + "List, Scenario"});
    return nullptr;
  }
  const auto version = object.find("apiVersion");
  if (version != object.end() && *version == kueue_v1beta1 && kind->type->group == "kueue.x-k8s.io") {
    convert_v1beta1(kind->type->kind, object, problems);
    return kind;
  }
  if (version == object.end() || *version != kind->api_version()) {
    std::string allowed = "must be \"" + kind->api_version() + "\"";
    if (kind->type->group == "kueue.x-k8s.io") allowed.append(" or \"").append(kueue_v1beta1).append("\"");
    const bool there = version != object.end();
    problems.push_back(
        {there ? ProblemKind::not_supported : ProblemKind::required, "apiVersion", there ? shortened(*version) : "", std::move(allowed)});
    return nullptr;
  }
  return kind;
}

void check_metadata(const Kind& kind, Json& object, std::vector<Problem>& problems) {
  const auto metadata = object.find("metadata");
  if (metadata == object.end() || !metadata->is_object()) {
    problems.push_back({ProblemKind::required, "metadata.name", "", "must be given"});
    return;
  }
  const auto name = metadata->find("name");
  if (name == metadata->end() || name->is_null() || *name == Json("")) {
    problems.push_back({ProblemKind::required, "metadata.name", "", "must be given"});
  } else if (name->is_string()) {
    const auto& text = name->get_ref<const std::string&>();
    const bool good = kind.type->kind == "Namespace" ? is_dns_label(text) : is_dns_subdomain(text);
    if (!good)
      problems.push_back({ProblemKind::invalid, "metadata.name", shortened(*name),
                          "must be a DNS name: lower case letters, digits, '-' and '.', alphanumeric at both ends"});
  }
  const auto space = metadata->find("namespace");
  const bool given = space != metadata->end() && !space->is_null() && *space != Json("");
  if (!kind.type->namespaced) {
    if (given)
      problems.push_back({ProblemKind::forbidden, "metadata.namespace", shortened(*space), "objects of this kind have no namespace"});
    metadata->erase("namespace");
  } else if (!given) {
    (*metadata)["namespace"] = "default";
  } else if (space->is_string() && !is_dns_label(space->get_ref<const std::string&>())) {
    problems.push_back(
        {ProblemKind::invalid, "metadata.namespace", shortened(*space), "must be a DNS label: lower case letters, digits and '-'"});
  }
}

void check_amounts(const Schema& schema, const Json& value, std::string_view path, std::vector<Problem>& problems) {
  const auto child = [&](std::string_view name) { return path.empty() ? std::string(name) : std::string(path).append(".").append(name); };
  switch (schema.type) {
    case FieldType::quantity:
      return check_amount(value, path, problems);
    case FieldType::object:
      if (!value.is_object()) return;
      for (const auto& field : schema.fields)
        if (const auto it = value.find(field.name); it != value.end()) check_amounts(*field.schema, *it, child(field.name), problems);
      return;
    case FieldType::map:
      if (!value.is_object()) return;
      for (const auto& [key, item] : value.get_ref<const Json::object_t&>()) check_amounts(*schema.element, item, child(key), problems);
      return;
    case FieldType::list:
      if (!value.is_array()) return;
      for (std::size_t i = 0; i < value.size(); ++i)
        check_amounts(*schema.element, value[i], std::string(path) + "[" + std::to_string(i) + "]", problems);
      return;
    default:
      return;
  }
}

}  // namespace hindsight::connectors::manifests
