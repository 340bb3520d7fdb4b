#include "projections/quota_totals.hpp"

#include <map>
#include <string_view>
#include <utility>

#include "admission/domain/domain.hpp"
#include "projections/quota_report.hpp"

namespace hindsight::projections {

std::vector<TopQuota> quota_totals(const StateView& state) {
  const auto& catalog = *state.domain().catalog();
  std::map<std::pair<std::string_view, std::string_view>, TopQuota> sums;
  const auto sum_of = [&](const Symbol& flavor, const Symbol& resource) -> TopQuota& {
    return sums.try_emplace({flavor.text(), resource.text()}, TopQuota{flavor, resource}).first->second;
  };
  for (const auto& [name, config] : catalog.queues) {
    for (const auto& line : quota_of_queue(state, name)) {
      TopQuota& sum = sum_of(line.flavor, line.resource);
      sum.used = add(sum.used, line.figures.usage);
      sum.nominal = add(sum.nominal, line.nominal);
      sum.borrowed = add(sum.borrowed, line.figures.borrowed);
    }
  }
  for (const auto& [name, config] : catalog.cohorts)
    for (const auto& group : config->groups)
      for (const auto& flavor : group.flavors)
        for (std::size_t i = 0; i < group.resources.size() && i < flavor.quotas.size(); ++i) {
          TopQuota& sum = sum_of(flavor.flavor, group.resources[i]);
          sum.nominal = add(sum.nominal, flavor.quotas[i].nominal);
        }
  std::vector<TopQuota> out;
  out.reserve(sums.size());
  for (const auto& [key, sum] : sums) out.push_back(sum);
  return out;
}

const TopQuota* most_used(const std::vector<TopQuota>& totals) {
  const TopQuota* out = nullptr;
  for (const auto& total : totals) {
    const auto use = use_in_thousandths(total);
    if (use && (out == nullptr || *use > *use_in_thousandths(*out))) out = &total;
  }
  return out;
}

}  // namespace hindsight::projections
