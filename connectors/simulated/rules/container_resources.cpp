#include "connectors/simulated/rules/container_resources.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "connectors/manifests/quantity_text.hpp"
#include "connectors/manifests/syntax.hpp"

namespace hindsight::connectors::simulated {
namespace {

using manifests::canonical_text;
using manifests::MilliQuantity;

constexpr std::string_view huge_pages = "hugepages-";
constexpr const char* qualified_name_wanted =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. "
    "'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

/// Names without a domain that mean something somewhere, be it in a ResourceQuota only.
constexpr std::array<std::string_view, 20> standard{"cpu",
                                                    "memory",
                                                    "ephemeral-storage",
                                                    "requests.cpu",
                                                    "requests.memory",
                                                    "requests.ephemeral-storage",
                                                    "limits.cpu",
                                                    "limits.memory",
                                                    "limits.ephemeral-storage",
                                                    "pods",
                                                    "resourcequotas",
                                                    "services",
                                                    "replicationcontrollers",
                                                    "secrets",
                                                    "configmaps",
                                                    "persistentvolumeclaims",
                                                    "storage",
                                                    "requests.storage",
                                                    "services.nodeports",
                                                    "services.loadbalancers"};

bool has_domain(std::string_view name) { return name.find('/') != std::string_view::npos; }
bool is_native(std::string_view name) { return !has_domain(name) || name.find("kubernetes.io/") != std::string_view::npos; }
bool is_huge_pages(std::string_view name) { return name.starts_with(huge_pages); }
bool may_be_overcommitted(std::string_view name) { return is_native(name) && !is_huge_pages(name); }

bool is_extended(std::string_view name) {
  if (is_native(name) || name.starts_with("requests.")) return false;
  return manifests::is_qualified_name("requests." + std::string(name));
}

bool is_counted_in_whole(std::string_view name) {
  constexpr std::array<std::string_view, 9> objects{
      "pods",       "resourcequotas",         "services",           "replicationcontrollers", "secrets",
      "configmaps", "persistentvolumeclaims", "services.nodeports", "services.loadbalancers"};
  return is_extended(name) || std::find(objects.begin(), objects.end(), name) != objects.end();
}

void check_name(const std::string& resource, const std::string& field, Findings& findings) {
  if (!manifests::is_qualified_name(resource)) {
    findings.invalid(field, Json(resource), qualified_name_wanted);
  } else if (!has_domain(resource) && !is_huge_pages(resource) && !resource.starts_with("requests.hugepages-") &&
             std::find(standard.begin(), standard.end(), resource) == standard.end()) {
    findings.invalid(field, Json(resource), "must be a standard resource type or fully qualified");
  }
  if (!has_domain(resource)) {
    if (resource != "cpu" && resource != "memory" && resource != "ephemeral-storage" && !is_huge_pages(resource))
      findings.invalid(field, Json(resource), "must be a standard resource for containers");
  } else if (!is_native(resource) && !is_extended(resource)) {
    findings.invalid(field, Json(resource), "doesn't follow extended resource name standard");
  }
}

/// A value that is no quantity was found by the table of fields.
std::optional<MilliQuantity> quantity_of(const Json& value) {
  if (value.is_string()) return manifests::read_milli_quantity(value.get_ref<const std::string&>());
  if (value.is_number()) return manifests::read_milli_quantity(value.dump());
  return std::nullopt;
}

bool is_multiple_of_its_page(const std::string& resource, const MilliQuantity& quantity) {
  const auto page = manifests::read_milli_quantity(std::string_view(resource).substr(huge_pages.size()));
  return page && page->millis > 0 && page->is_whole() && quantity.millis % page->millis == 0;
}

void check_value(const std::string& resource, const MilliQuantity& quantity, const std::string& field, Findings& findings) {
  const Json shown(canonical_text(quantity));
  if (quantity.millis < 0) findings.invalid(field, shown, "must be greater than or equal to 0");
  if (is_counted_in_whole(resource) && !quantity.is_whole()) findings.invalid(field, shown, "must be an integer");
  if (is_huge_pages(resource) && !is_multiple_of_its_page(resource, quantity))
    findings.invalid(field, shown, canonical_text(quantity) + " is not positive integer multiple of " + resource);
}

void check_against_limit(const std::string& resource, const MilliQuantity& request, const Json& limits, const std::string& path,
                         Findings& findings) {
  const auto limit = quantity_of(member(limits, resource));
  const bool overcommitted = may_be_overcommitted(resource);
  if (!limit) {
    if (!overcommitted) findings.required(path + ".limits", "Limit must be set for non overcommitable resources");
  } else if (!overcommitted && !(request == *limit)) {
    findings.invalid(path + ".requests", Json(canonical_text(request)),
                     "must be equal to " + resource + " limit of " + canonical_text(*limit));
  } else if (request.millis > limit->millis) {
    findings.invalid(path + ".requests", Json(canonical_text(request)),
                     "must be less than or equal to " + resource + " limit of " + canonical_text(*limit));
  }
}

void check_claims(const Json& resources, const std::set<std::string>& claims, const std::string& path, Findings& findings) {
  std::set<std::string> named;
  each_item(resources, "claims", path, [&](const Json& claim, const std::string& field) {
    const std::string name(text(claim, "name"));
    if (name.empty()) {
      findings.required(field, "");
    } else {
      const auto request = text(claim, "request");
      const std::string key = request.empty() ? name : name + "/" + std::string(request);
      const auto part = named.lower_bound(name + "/");
      const bool overlaps = request.empty() && part != named.end() && part->starts_with(name + "/");
      if (named.contains(name) || overlaps)
        findings.add(ProblemKind::duplicate, field, Json(name), "");
      else if (named.contains(key))
        findings.add(ProblemKind::duplicate, field, Json(key), "");
      named.insert(key);
    }
    if (claims.contains(name)) return;
    std::string known;
    for (const auto& claimed : claims) known.append(known.empty() ? ": " : ", ").append(claimed);
    findings.add(ProblemKind::not_found, field, Json(name),
                 "must be one of the names in pod.spec.resourceClaims" + (known.empty() ? std::string(" which is empty") : known));
  });
}

}  // namespace

void normalise_resources(Json& container) {
  const auto resources = container.find("resources");
  if (resources == container.end() || !resources->is_object()) return;
  for (const char* name : {"requests", "limits"}) {
    const auto list = resources->find(name);
    if (list == resources->end() || !list->is_object()) continue;
    for (auto& [resource, value] : list->get_ref<Json::object_t&>())
      if (const auto quantity = quantity_of(value)) value = canonical_text(*quantity);
  }
}

void check_container_resources(const Json& container, const std::set<std::string>& claims, const std::string& path, Findings& findings) {
  const Json& resources = member(container, "resources");
  const std::string field = path + ".resources";
  bool huge = false, computes = false;
  for (const char* name : {"limits", "requests"}) {
    const Json& list = member(resources, name);
    if (!list.is_object()) continue;
    for (const auto& [resource, value] : list.get_ref<const Json::object_t&>()) {
      const std::string inner = field + "." + name + "[" + resource + "]";
      check_name(resource, inner, findings);
      const auto quantity = quantity_of(value);
      if (!quantity) continue;
      check_value(resource, *quantity, inner, findings);
      if (name == std::string_view("requests")) check_against_limit(resource, *quantity, member(resources, "limits"), field, findings);
      huge = huge || is_huge_pages(resource);
      computes = computes || resource == "cpu" || resource == "memory";
    }
  }
  if (huge && !computes) findings.forbidden(field, "HugePages require cpu or memory");
  check_claims(resources, claims, field, findings);
}

}  // namespace hindsight::connectors::simulated
