#include "cli/remote/quota_expression.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "vocabulary/amount.hpp"

namespace hindsight::cli {
namespace {

constexpr const char* form = "flavor:resource=quantity;resource=quantity,flavor:…";

struct NamedQuantity {
  std::string resource, quantity;
};
struct FlavorQuantities {
  std::string flavor;
  std::vector<NamedQuantity> quantities;
};
using Expression = std::vector<FlavorQuantities>;

std::string trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return std::string(text);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(separator, at), text.size());
    out.push_back(trimmed(std::string_view(text).substr(at, end - at)));
    at = end + 1;
  }
  return out;
}

/// "cpu=5" for one resource of a flavor.
Result<NamedQuantity> read_quantity(const std::string& option, const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return fail(ErrorKind::invalid, option + ": found \"" + text + "\" for a resource; allowed: resource=quantity, as in " + form);
  NamedQuantity out{trimmed(text.substr(0, equals)), trimmed(text.substr(equals + 1))};
  const auto quantity = parse_quantity(out.quantity, out.resource);
  if (!quantity || *quantity < 0)
    return fail(ErrorKind::invalid, option + ": " + out.resource + ": found \"" + out.quantity +
                                        "\"; allowed: a Kubernetes quantity of at least 0, as 500m, 4 or 16Gi");
  return out;
}

Result<FlavorQuantities> read_flavor(const std::string& option, const std::string& text) {
  const auto colon = text.find(':');
  if (colon == std::string::npos || colon == 0)
    return fail(ErrorKind::invalid, option + ": found \"" + text + "\" for a flavor; allowed: " + form);
  FlavorQuantities out{trimmed(text.substr(0, colon)), {}};
  std::set<std::string> seen;
  for (const auto& part : split(text.substr(colon + 1), ';')) {
    auto one = read_quantity(option, part);
    if (!one) return tl::unexpected(one.error());
    if (!seen.insert(one->resource).second)
      return fail(ErrorKind::invalid, option + ": flavor " + out.flavor + ": found resource " + one->resource + " twice; allowed: once");
    out.quantities.push_back(std::move(*one));
  }
  return out;
}

Result<Expression> read_expression(const std::string& option, const std::string& text) {
  Expression out;
  if (text.empty()) return out;
  std::set<std::string> seen;
  for (const auto& part : split(text, ',')) {
    auto one = read_flavor(option, part);
    if (!one) return tl::unexpected(one.error());
    if (!seen.insert(one->flavor).second)
      return fail(ErrorKind::invalid, option + ": found flavor " + one->flavor + " twice; allowed: once");
    out.push_back(std::move(*one));
  }
  return out;
}

std::set<std::string> resources_of(const FlavorQuantities& f) {
  std::set<std::string> out;
  for (const auto& q : f.quantities) out.insert(q.resource);
  return out;
}

/// A flavor as the ClusterQueue has it, as far as it is known.
struct Flavor {
  std::string name;
  std::vector<std::string> resources;
  std::map<std::string, Json> quotas;  ///< By resource.
};

/// Adds what one option says; all options name the same resources for a flavor.
Result<void> add(std::vector<Flavor>& flavors, const std::string& option, const char* field, const Expression& expression) {
  for (const auto& said : expression) {
    auto it = std::find_if(flavors.begin(), flavors.end(), [&](const Flavor& f) { return f.name == said.flavor; });
    if (it == flavors.end()) {
      flavors.push_back({said.flavor, {}, {}});
      it = flavors.end() - 1;
      for (const auto& q : said.quantities) it->resources.push_back(q.resource);
    }
    if (resources_of(said) != std::set<std::string>(it->resources.begin(), it->resources.end()))
      return fail(ErrorKind::invalid,
                  option + ": flavor " + said.flavor + ": found other resources than in the options before it; allowed: the same");
    for (const auto& q : said.quantities) it->quotas[q.resource][field] = q.quantity;
  }
  return {};
}

}  // namespace

Result<Json> read_resource_groups(const QuotaExpressions& expressions) {
  struct Option {
    const char* name;
    const char* field;
    const std::string& text;
  };
  const std::array<Option, 3> options{{{"--nominal-quota", "nominalQuota", expressions.nominal_quota},
                                       {"--borrowing-limit", "borrowingLimit", expressions.borrowing_limit},
                                       {"--lending-limit", "lendingLimit", expressions.lending_limit}}};
  std::vector<Flavor> flavors;
  for (const auto& option : options) {
    const auto expression = read_expression(option.name, option.text);
    if (!expression) return tl::unexpected(expression.error());
    if (auto added = add(flavors, option.name, option.field, *expression); !added) return tl::unexpected(added.error());
  }
  Json groups = Json::array();
  std::vector<std::set<std::string>> covered;
  for (const auto& flavor : flavors) {
    const std::set<std::string> resources(flavor.resources.begin(), flavor.resources.end());
    auto it = std::find(covered.begin(), covered.end(), resources);
    if (it == covered.end()) {
      for (const auto& other : covered)
        for (const auto& resource : resources)
          if (other.contains(resource))
            return fail(ErrorKind::invalid, "flavor " + flavor.name + ": found resource " + resource +
                                                ", which another flavor has together with other resources; allowed: the same resources for "
                                                "all flavors that share one");
      covered.push_back(resources);
      it = covered.end() - 1;
      groups.push_back({{"coveredResources", flavor.resources}, {"flavors", Json::array()}});
    }
    Json& group = groups[static_cast<std::size_t>(it - covered.begin())];
    Json quotas = Json::array();
    for (const auto& resource : group["coveredResources"]) {  // the order must be that of the group
      const Json& said = flavor.quotas.at(resource.get<std::string>());
      Json quota{{"name", resource}, {"nominalQuota", said.value("nominalQuota", "0")}};
      for (const char* limit : {"borrowingLimit", "lendingLimit"})
        if (said.contains(limit)) quota[limit] = said[limit];
      quotas.push_back(std::move(quota));
    }
    group["flavors"].push_back({{"name", flavor.name}, {"resources", std::move(quotas)}});
  }
  return groups;
}

}  // namespace hindsight::cli
