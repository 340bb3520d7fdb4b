#include "projections/usage_over_time.hpp"

#include <algorithm>
#include <functional>
#include <variant>

#include "admission/domain/domain.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "projections/quota_report.hpp"

namespace hindsight::projections {

std::size_t UsageOverTime::CellHash::operator()(const Cell& c) const noexcept {
  const std::hash<Symbol> hash;
  std::size_t out = hash(c.owner);
  for (const Symbol* s : {&c.local, &c.flavor, &c.resource}) out = out * 31 + hash(*s);
  return out;
}

UsageOverTime::UsageOverTime(Of what, const StateView& state) : what_(what), first_(state.now()), last_(state.now()) {}

/// The cells come in the same order as long as the configuration stays as it is, so as a rule nothing is looked up.
void UsageOverTime::put(std::size_t& next, const Symbol& owner, const Symbol& local, const Symbol& flavor, const Symbol& resource,
                        Amount used) {
  const auto is_it = [&](const Cell& c) { return c.owner == owner && c.local == local && c.flavor == flavor && c.resource == resource; };
  std::size_t at = next;
  if (at >= cells_.size() || !is_it(cells_[at])) {
    const Cell cell{owner, local, flavor, resource};
    const auto [it, fresh] = index_.try_emplace(cell, cells_.size());
    if (fresh) {
      cells_.push_back(cell);
      sums_.emplace_back();
    }
    at = it->second;
  }
  sums_[at].now = add(sums_[at].now, used);
  next = at + 1;
}

void UsageOverTime::read(const StateView& state) {
  for (auto& sum : sums_) sum.now = 0;
  std::size_t next = 0;
  const auto& catalog = *state.domain().catalog();
  if (what_ == Of::local_queues) {
    for (const auto& [key, config] : catalog.local_queues) {
      const auto* queue = state.queue(config.cluster_queue);
      if (queue == nullptr) continue;
      for (const auto& cell : queue->local_counters(key.first, key.second).cells)
        put(next, key.first, key.second, cell.flavor, cell.resource, cell.reserved);
    }
    return;
  }
  for (const auto& [name, config] : catalog.queues) {
    const auto* tree = tree_of(state, name);
    const auto node = tree == nullptr ? admission::no_node : tree->find_queue(name);
    if (node == admission::no_node) continue;
    for (const auto cell : tree->table().cells_of(node)) {
      const auto& column = tree->table().columns()[cell];
      put(next, name, Symbol(), column.flavor, column.resource, tree->table().cell(node, cell).usage);
    }
  }
}

void UsageOverTime::advance(Time to) {
  if (last_.micros <= 0) first_ = last_ = to;  // before the first record there was no time
  if (to <= last_) return;
  const WideAmount micros = (to - last_).micros;
  for (auto& sum : sums_) sum.integral += sum.now * micros;
  last_ = to;
}

void UsageOverTime::before(const RecordView& record, const StateView& state) {
  if (!changed_ || record.envelope.time <= last_) return;
  read(state);
  changed_ = false;
}

void UsageOverTime::after(const RecordView& record, const StateView& state) {
  // What was read before the record was applied was so until now.
  if (!changed_) advance(state.domain().now());
  const auto* o = std::get_if<Observation>(&record.body);
  if (o == nullptr || !std::holds_alternative<TimerFired>(*o)) changed_ = true;
}

void UsageOverTime::end(Time moment, const StateView& state) {
  if (changed_) read(state);
  changed_ = false;
  advance(moment);
}

WideAmount UsageOverTime::integral(const Symbol& owner, const Symbol& local, const Symbol& flavor, const Symbol& resource) const {
  const auto it = index_.find(Cell{owner, local, flavor, resource});
  return it == index_.end() ? 0 : sums_[it->second].integral;
}

Amount UsageOverTime::average(WideAmount integral) const {
  const WideAmount micros = span().micros;
  if (micros <= 0) return 0;
  const WideAmount out = (2 * integral + micros) / (2 * micros);
  return out >= unlimited ? unlimited : static_cast<Amount>(out);
}

}  // namespace hindsight::projections
