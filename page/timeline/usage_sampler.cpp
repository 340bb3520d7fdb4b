#include "page/timeline/usage_sampler.hpp"

#include <algorithm>

#include "admission/domain/domain.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "projections/quota_report.hpp"

namespace hindsight::page::timeline {

UsageSampler::Pair* UsageSampler::find(const Symbol& flavor, const Symbol& resource) {
  const std::uint64_t key = std::uint64_t{flavor.id()} << 32 | resource.id();
  if (const auto it = number_.find(key); it != number_.end()) return &pairs_[it->second];
  if (pairs_.size() == known_max) return nullptr;
  number_.emplace(key, pairs_.size());
  return &pairs_.emplace_back(Pair{flavor, resource});
}

void UsageSampler::know(const std::vector<PairName>& pairs) {
  for (const auto& pair : pairs) (void)find(Symbol(pair.flavor), Symbol(pair.resource));
}

void UsageSampler::read_nominal(const StateView& state) {
  for (auto& pair : pairs_) pair.nominal = 0;
  const auto add_groups = [&](const std::vector<admission::ResourceGroup>& groups) {
    for (const auto& group : groups)
      for (const auto& flavor : group.flavors)
        for (std::size_t i = 0; i < group.resources.size() && i < flavor.quotas.size(); ++i)
          if (auto* pair = find(flavor.flavor, group.resources[i])) pair->nominal = add(pair->nominal, flavor.quotas[i].nominal);
  };
  const auto& catalog = *state.domain().catalog();
  for (const auto& [name, config] : catalog.queues) add_groups(config->groups);
  for (const auto& [name, config] : catalog.cohorts) add_groups(config->groups);
}

void UsageSampler::read_used(const StateView& state) {
  for (auto& pair : pairs_) pair.used = 0;
  for (const auto& [name, config] : state.domain().catalog()->queues) {
    const auto* tree = projections::tree_of(state, name);
    const auto node = tree == nullptr ? admission::no_node : tree->find_queue(name);
    if (node == admission::no_node) continue;
    const auto& table = tree->table();
    for (const auto cell : table.cells_of(node)) {
      const Amount used = table.cell(node, cell).usage;
      if (used == 0) continue;
      const auto& column = table.columns()[cell];
      if (auto* pair = find(column.flavor, column.resource)) pair->used = add(pair->used, used);
    }
  }
}

void UsageSampler::sample(const StateView& state, Row& row) {
  if (const auto now = state.domain().context().configured; !configured_ || now != configuration_) {
    read_nominal(state);
    configured_ = true;
    configuration_ = now;
  }
  read_used(state);
  row.waiting = row.running = 0;
  for (const auto& [name, config] : state.domain().catalog()->queues)
    if (const auto* queue = state.queue(name)) {
      row.waiting += queue->counters().pending;
      row.running += queue->counters().admitted;
    }
  row.used = not_known;
  for (const auto& pair : pairs_) {
    if (pair.nominal <= 0 || pair.nominal == unlimited) continue;
    constexpr WideAmount most = 1'000'000;  // a thousand times the quota: more tells nobody anything
    const WideAmount used = WideAmount{std::max<Amount>(0, pair.used)} * 1000 / pair.nominal;
    row.used = std::max(row.used, static_cast<std::int64_t>(std::min(used, most)));
  }
  row.pairs.clear();
  row.pairs.reserve(std::min(pairs_.size(), told_max));
  for (std::size_t i = 0; i < pairs_.size() && i < told_max; ++i) row.pairs.push_back({pairs_[i].used, pairs_[i].nominal});
}

std::vector<PairName> UsageSampler::pairs() const {
  std::vector<PairName> out;
  for (std::size_t i = 0; i < pairs_.size() && i < told_max; ++i)
    out.push_back({std::string(pairs_[i].flavor.text()), std::string(pairs_[i].resource.text())});
  return out;
}

}  // namespace hindsight::page::timeline
