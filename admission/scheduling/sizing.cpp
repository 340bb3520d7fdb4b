#include "admission/scheduling/sizing.hpp"

#include <algorithm>
#include <utility>

namespace hindsight::admission {
SizeSearch::SizeSearch(const WorkloadInfo& workload, const Settings& settings) : workload_(workload), settings_(settings) {
  const auto& pod_sets = workload.sizing->pod_sets;
  for (std::size_t s = 0; s < pod_sets.size(); ++s)
    for (std::size_t c = 0; c < pod_sets[s].containers.size(); ++c) {
      const auto& amounts = pod_sets[s].containers[c].amounts;
      for (std::size_t a = 0; a < amounts.size(); ++a) {
        if (amounts[a].step <= 0) continue;
        const Amount value = amounts[a].value();
        const Amount down = std::max<Amount>(0, subtract(value, amounts[a].low)) / amounts[a].step;
        const Amount up = std::max<Amount>(0, subtract(amounts[a].high, value)) / amounts[a].step;
        pairs_.push_back({s, c, a, down, up, 0});
      }
    }
}

SizingPlan SizeSearch::plan() const {
  SizingPlan out;
  for (const Pair& p : pairs_) {
    if (p.step == 0) continue;
    const auto& part = workload_.sizing->pod_sets[p.pod_set].containers[p.container];
    const auto& amount = part.amounts[p.amount];
    out.push_back(
        {workload_.pod_sets[p.pod_set].name, part.container, amount.resource, amount.value(), amount.value() + p.step * amount.step});
  }
  return out;
}

WorkloadInfo SizeSearch::sized(const SizingPlan& plan) const {
  WorkloadInfo out = workload_;
  std::vector<PodSetInfo> pod_sets = workload_.pod_sets;
  for (std::size_t i = 0; i < pod_sets.size(); ++i) {
    const auto& from = workload_.sizing->pod_sets[i];
    auto sizes = sized_requests(from.requests, from.containers, plan, pod_sets[i].name);
    pod_sets[i].requests = countable_requests(sizes, settings_, from.covers_pods);
    if (pod_sets[i].requests != sizes) pod_sets[i].pod_requests = std::move(sizes);  // MR-58
  }
  out.pod_sets = std::move(pod_sets);
  return out;
}

SizeSearch::Found SizeSearch::found() const {
  auto chosen = plan();
  return {sized(chosen), std::move(chosen)};
}

std::optional<SizeSearch::Found> SizeSearch::shrink(const Fits& ask) {
  Amount most = 0;
  for (const Pair& p : pairs_) most = std::max(most, p.down);
  const auto lower_all = [&](Amount k) {
    for (Pair& p : pairs_) p.step = -std::min(k, p.down);
  };
  Amount low = 1, high = most + 1;  // the smallest step that fits; high: none
  while (low < high) {
    const Amount k = low + (high - low) / 2;
    lower_all(k);
    if (fits(ask))
      high = k;
    else
      low = k + 1;
  }
  if (low > most) return std::nullopt;
  lower_all(low);
  for (Pair& p : pairs_) {
    Amount fitting = -p.step, least = 0;  // the fewest steps down that this pair needs
    while (least < fitting) {
      const Amount k = least + (fitting - least) / 2;
      p.step = -k;
      if (fits(ask))
        fitting = k;
      else
        least = k + 1;
    }
    p.step = -fitting;
  }
  return found();
}

std::optional<SizeSearch::Found> SizeSearch::grow(const Fits& ask) {
  Amount low = 0, high = 0;  // the largest step that fits; 0: none
  for (const Pair& p : pairs_) high = std::max(high, p.up);
  const auto raise_all = [&](Amount k) {
    for (Pair& p : pairs_) p.step = std::min(k, p.up);
  };
  while (low < high) {
    const Amount k = low + (high - low + 1) / 2;
    raise_all(k);
    if (fits(ask))
      low = k;
    else
      high = k - 1;
  }
  if (low == 0) return std::nullopt;
  raise_all(low);
  return found();
}

}  // namespace hindsight::admission
