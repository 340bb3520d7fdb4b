#include "connectors/webhooks/topology_domains.hpp"

#include <string>

#include "connectors/manifests/json_views.hpp"

namespace hindsight::connectors::webhooks {
namespace {

using manifests::Json;
using manifests::member;
using manifests::text;

/// The label value of domain `i` on one level.
Result<Json> value_of(const Json& level, std::size_t i) {
  if (const Json& universal = member(level, "universal"); universal.is_string()) return universal;
  const Json& individual = member(level, "individual");
  const Json& roots = member(individual, "roots");
  if (!roots.is_array() || i >= roots.size() || !roots[i].is_string())
    return fail(ErrorKind::invalid, "valuesPerLevel: found no root for domain " + std::to_string(i) + "; allowed: domainCount texts");
  return Json(std::string(text(individual, "prefix")) + roots[i].get_ref<const std::string&>() + std::string(text(individual, "suffix")));
}

Result<Json> count_of(const Json& counts, std::size_t i) {
  if (const Json& universal = member(counts, "universal"); universal.is_number_integer()) return universal;
  const Json& individual = member(counts, "individual");
  if (!individual.is_array() || i >= individual.size())
    return fail(ErrorKind::invalid, "podCounts: found no count for domain " + std::to_string(i) + "; allowed: domainCount numbers");
  return individual[i];
}

}  // namespace

Result<Json> domains_of_slices(const Json& slices) {
  Json domains = Json::array();
  if (!slices.is_array()) return fail(ErrorKind::invalid, "slices: found " + manifests::shortened(slices) + "; allowed: a list");
  for (const auto& slice : slices) {
    const auto count = manifests::number(slice, "domainCount").value_or(0);
    const Json& levels = member(slice, "valuesPerLevel");
    if (count < 0 || count > most_domains - static_cast<std::int64_t>(domains.size()))
      return fail(ErrorKind::invalid, "domainCount: found " + std::to_string(count) + " after " + std::to_string(domains.size()) +
                                          " domains; allowed: " + std::to_string(most_domains) + " in all");
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      Json values = Json::array();
      for (const auto& level : levels) {
        auto value = value_of(level, i);
        if (!value) return tl::unexpected(value.error());
        values.push_back(std::move(*value));
      }
      auto pods = count_of(member(slice, "podCounts"), i);
      if (!pods) return tl::unexpected(pods.error());
      domains.push_back({{"values", std::move(values)}, {"count", std::move(*pods)}});
    }
  }
  return domains;
}

}  // namespace hindsight::connectors::webhooks
