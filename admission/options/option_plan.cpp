#include "admission/options/option_plan.hpp"

#include <algorithm>

namespace hindsight::admission {
namespace {

/// Calls `f` with each flavor of the queue in order.
template <class F>
void each_flavor(const QueueConfig& queue, F&& f) {
  std::uint32_t position = 0;
  for (const auto& group : queue.groups)
    for (const auto& quotas : group.flavors) f(quotas.flavor, position++);
}

bool has(std::span<const Symbol> list, const Symbol& name) { return std::find(list.begin(), list.end(), name) != list.end(); }

/// Of `wanted` what the queue has and the Workload may be assigned, in the order of the queue.
OptionSpec spec_of(const QueueConfig& queue, Symbol name, std::span<const Symbol> wanted, const std::vector<Symbol>* allowed) {
  OptionSpec out;
  out.name = std::move(name);
  each_flavor(queue, [&](const Symbol& flavor, std::uint32_t position) {
    if (!has(wanted, flavor) || (allowed != nullptr && !has(*allowed, flavor))) return;
    out.flavors.push_back(flavor);
    out.positions.push_back(position);
  });
  return out;
}

}  // namespace

FlavorPositions positions_of(const QueueConfig& queue, std::span<const Symbol> flavors) {
  FlavorPositions out;
  each_flavor(queue, [&](const Symbol& flavor, std::uint32_t position) {
    if (has(flavors, flavor)) out.push_back(position);
  });
  return out;
}

std::vector<OptionSpec> option_specs(const QueueConfig& queue, const std::vector<Symbol>* allowed) {
  std::vector<OptionSpec> out;
  if (queue.concurrent.options.empty()) {
    each_flavor(queue, [&](const Symbol& flavor, std::uint32_t) {
      if (auto spec = spec_of(queue, flavor, {&flavor, 1}, allowed); !spec.flavors.empty()) out.push_back(std::move(spec));
    });
    return out;
  }
  for (const auto& option : queue.concurrent.options) {
    auto spec = spec_of(queue, option.name, option.flavors, allowed);
    if (spec.flavors.empty()) continue;
    spec.create_delay_seconds = option.create_delay_seconds;
    spec.delete_delay_seconds = option.delete_delay_seconds;
    out.push_back(std::move(spec));
  }
  std::stable_sort(out.begin(), out.end(), [](const OptionSpec& a, const OptionSpec& b) { return a.positions < b.positions; });
  return out;
}

std::shared_ptr<const std::vector<OptionSpec>> shared_option_specs(const QueueConfig& queue, const std::vector<Symbol>* allowed) {
  if (allowed == nullptr && queue.concurrent.specs != nullptr) return queue.concurrent.specs;
  return std::make_shared<const std::vector<OptionSpec>>(option_specs(queue, allowed));
}

bool is_surely_better(const QueueConfig& queue, const FlavorPositions& option, const FlavorPositions& assigned) {
  // The worst that it can be assigned is the last flavor of each group that is asked for: any other choice begins with a smaller place.
  FlavorPositions worst;
  std::uint32_t begin = 0;
  for (const auto& group : queue.groups) {
    const auto end = begin + static_cast<std::uint32_t>(group.flavors.size());
    const auto is_here = [&](std::uint32_t position) { return position >= begin && position < end; };
    const auto last = std::find_if(option.rbegin(), option.rend(), is_here);
    if (last != option.rend() && std::any_of(assigned.begin(), assigned.end(), is_here)) worst.push_back(*last);
    begin = end;
  }
  return worst < assigned;
}

OptionStanding standing_of(const QueueConfig& queue, std::span<const OptionSpec> specs, std::size_t rank, const FlavorPositions& admitted) {
  const auto& policy = queue.concurrent;
  if (policy.on_success == OnSuccess::remove_other) return OptionStanding::retained;
  if (specs[rank].positions >= admitted) return OptionStanding::lower;
  if (policy.on_success == OnSuccess::remove_lower) return OptionStanding::upgrade;
  // CA-32: the target is the worst Option that has this flavor.
  std::size_t target = specs.size();
  for (std::size_t i = 0; i < specs.size(); ++i)
    if (has(specs[i].flavors, policy.target)) target = i;
  if (target == specs.size())
    return specs[rank].positions <= positions_of(queue, {&policy.target, 1}) ? OptionStanding::upgrade : OptionStanding::below_target;
  return rank <= target ? OptionStanding::upgrade : OptionStanding::below_target;
}

}  // namespace hindsight::admission
