#include "page/views/amounts.hpp"

#include <nlohmann/json.hpp>

#include "projections/format.hpp"

namespace hindsight::page {

std::int64_t milli_units(Amount amount, const Symbol& resource) { return resource.text() == "cpu" ? amount : multiply(amount, 1'000); }

Json amount_json(Amount amount, const Symbol& resource) {
  return {{"text", projections::amount_text(amount, resource)}, {"value", milli_units(amount, resource)}};
}

void ResourceSums::add(const Symbol& resource, Amount amount) {
  Amount& sum = sums_.try_emplace(resource, Amount{0}).first->second;
  sum = hindsight::add(sum, amount);
}

Json ResourceSums::json() const {
  Json out = Json::array();
  for (const auto& [resource, amount] : sums_) out.push_back({{"resource", resource.text()}, {"amount", amount_json(amount, resource)}});
  return out;
}

}  // namespace hindsight::page
