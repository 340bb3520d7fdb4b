#include "admission/model/job_size.hpp"

#include <algorithm>
#include <limits>

namespace hindsight::admission {
namespace {

void merge(std::vector<std::pair<Symbol, Amount>>& into, const Symbol& resource, Amount amount) {
  if (amount <= 0) return;  // nobody makes room by asking for less than nothing
  const auto it = std::find_if(into.begin(), into.end(), [&](const auto& x) { return x.first == resource; });
  if (it == into.end())
    into.emplace_back(resource, amount);
  else
    it->second = add(it->second, amount);
}

}  // namespace

PodSetSizes sizes_of(const std::vector<PodSetSpec>& pod_sets) {
  PodSetSizes out;
  out.reserve(pod_sets.size());
  for (const auto& p : pod_sets) {
    auto& size = out.emplace_back(PodSetSize{p.name, p.count, {}});
    size.requests.reserve(p.requests.size());
    for (const auto& r : p.requests) size.requests.emplace_back(r.resource, r.amount);
  }
  return out;
}

PodSetSizes largest_pod(const PodSetSizes& pod_sets) {
  if (pod_sets.empty()) return {};
  PodSetSizes out{PodSetSize{{}, 1, {}}};
  auto& most = out.front().requests;
  for (const auto& p : pod_sets)
    for (const auto& [resource, amount] : p.requests) {
      const auto it = std::find_if(most.begin(), most.end(), [&wanted = resource](const auto& x) { return x.first == wanted; });
      if (it == most.end())
        most.emplace_back(resource, amount);
      else
        it->second = std::max(it->second, amount);
    }
  return out;
}

JobSize JobSize::of(const PodSetSizes& pod_sets) {
  JobSize out;
  for (const auto& p : pod_sets) out.add_pods(p, p.count);
  return out;
}

JobSize JobSize::within(const PodSetSizes& pod_sets, const PodSetSizes& granted) {
  JobSize out;
  for (const auto& p : pod_sets) {
    const auto same = std::find_if(granted.begin(), granted.end(), [&](const PodSetSize& g) { return g.name == p.name; });
    out.add_pods(p, same == granted.end() ? p.count : std::min(p.count, same->count));
  }
  return out;
}

void JobSize::add_pods(const PodSetSize& pod_set, std::int32_t count) {
  count = std::max(count, 0);
  pods += count;
  for (const auto& [resource, amount] : pod_set.requests) merge(requests, resource, multiply(std::max<Amount>(amount, 0), count));
}

JobSize JobSize::boundless() {
  JobSize out;
  out.pods = std::numeric_limits<std::int64_t>::max();
  return out;
}

Amount JobSize::amount_of(const Symbol& resource) const {
  for (const auto& [name, amount] : requests)
    if (name == resource) return amount;
  return 0;
}

void JobSize::add(const JobSize& other) {
  pods += other.pods;
  for (const auto& [resource, amount] : other.requests) merge(requests, resource, amount);
}

void JobSize::subtract(const JobSize& other) {
  pods -= other.pods;
  for (const auto& [resource, amount] : other.requests)
    for (auto& [name, sum] : requests)
      if (name == resource) sum -= amount;
}

// ---- children -----------------------------------------------------------------------------------------------------------------

/// Sums stay below the room, which is an amount, so nothing overflows.
bool JobChildren::fits(const JobSize& size) const {
  if (size.pods > room_.pods - used_.pods) return false;
  return std::all_of(size.requests.begin(), size.requests.end(),
                     [&](const auto& x) { return x.second <= room_.amount_of(x.first) - used_.amount_of(x.first); });
}

void JobChildren::tell(Children::iterator from, Children::iterator to, bool beyond, Changes& changes) {
  for (auto it = from; it != to; ++it) {
    if (it->second.beyond == beyond) continue;
    it->second.beyond = beyond;
    changes.emplace_back(it->second.number, beyond);
  }
}

/// Counts it, if there is room for it.
bool JobChildren::take(Child& child) {
  JobSize size = child.size.gated.empty() ? child.size.whole : JobSize::within(child.size.gated, granted_);
  if (!fits(size)) return false;
  used_.add(size);
  child.counted = std::move(size);
  return true;
}

void JobChildren::step_back(Children::iterator to) {
  while (beyond_ != to) {
    --beyond_;
    used_.subtract(beyond_->second.counted);
    beyond_->second.counted = {};
  }
}

void JobChildren::settle(Changes& changes) {
  if (!room_known_) return;
  const auto before = beyond_;
  while (beyond_ != children_.end() && take(beyond_->second)) ++beyond_;
  tell(before, beyond_, false, changes);
  // Behind the first that is beyond it all are; they were told, but for those that came or that stood before it.
  for (auto it = beyond_; it != children_.end() && !it->second.beyond; ++it) tell(it, std::next(it), true, changes);
}

void JobChildren::set_room(PodSetSizes granted, Changes& changes) {
  if (room_known_ && granted_ == granted) return;
  step_back(children_.begin());
  room_known_ = true;
  granted_ = std::move(granted);
  room_ = JobSize::of(granted_);
  settle(changes);
}

void JobChildren::put(const Age& age, std::uint32_t child, ChildSize size, Changes& changes) {
  auto it = children_.find(age);
  if (it != children_.end() && it->second.size == size && it->second.number == child) return;
  const bool inside = room_known_ && (beyond_ == children_.end() || age <= beyond_->first);
  if (inside) step_back(children_.lower_bound(age));
  if (it == children_.end()) it = children_.emplace(age, Child{child, {}, {}, false}).first;
  it->second.number = child;
  it->second.size = std::move(size);
  if (!room_known_) {
    beyond_ = children_.begin();
    return;
  }
  if (inside)
    beyond_ = it;
  else
    tell(it, std::next(it), true, changes);
  settle(changes);
}

void JobChildren::remove(const Age& age, Changes& changes) {
  const auto it = children_.find(age);
  if (it == children_.end()) return;
  if (it == beyond_)
    ++beyond_;
  else if (room_known_ && (beyond_ == children_.end() || age < beyond_->first))
    used_.subtract(it->second.counted);
  children_.erase(it);
  settle(changes);
}

}  // namespace hindsight::admission
