#include "admission/topology/host_room.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "admission/topology/domain_list.hpp"

namespace hindsight::admission::topology {
namespace {

bool is_set(std::span<const std::uint8_t> flags, DomainIndex host) { return !flags.empty() && flags[host] != 0; }

/// What a pod asks for, looked up once for many hosts.
class Asked {
 public:
  Asked(const Capacity& free, const PodRequest& request) {
    for (const auto& [resource, amount] : request)
      if (amount != 0) needs_.emplace_back(free.column(resource), amount);
  }

  /// How many find room on the host.
  [[nodiscard]] std::int32_t fits(DomainIndex host) const {
    Amount out = unlimited_pods;
    for (const auto& [column, amount] : needs_) {
      const Amount has = column == nullptr ? 0 : column[host];
      if (has < amount) return 0;
      if (amount != 1)
        out = std::min(out, has / amount);
      else
        out = std::min(out, has);
    }
    return static_cast<std::int32_t>(out);
  }

 private:
  std::vector<std::pair<const Amount*, Amount>> needs_;  ///< Null: no host has any of it.
};

}  // namespace

HostRoom::HostRoom(std::vector<DomainIndex> first_host, Capacity offer)
    : first_host_(std::move(first_host)),
      offer_(std::move(offer)),
      free_(offer_),
      is_stale_(first_host_.size() - 1),
      groups_(first_host_.size() - 1) {}

// ---- how many find room -------------------------------------------------------------------------------------------------------------

std::int32_t HostRoom::pods_on(DomainIndex leaf, const PodRequest& request, std::span<const std::uint8_t> excluded) const {
  settle();
  const auto [first, last] = hosts(leaf);
  const Asked asked(free_, request);
  std::int32_t out = 0;
  for (DomainIndex h = first; h < last; ++h)
    if (!is_set(excluded, h)) out = sum_of_pods(out, asked.fits(h));
  return out;
}

std::int32_t HostRoom::pods_beside(DomainIndex leaf, const PodRequest& request, std::span<const std::uint8_t> excluded,
                                   const PodRequest& leader, std::span<const std::uint8_t> excluded_for_leader) const {
  settle();
  const auto [first, last] = hosts(leaf);
  constexpr std::int64_t nowhere = std::numeric_limits<std::int64_t>::max();
  std::int64_t all = 0, least = nowhere;
  const Asked asked(free_, request), asked_by_leader(free_, leader);
  for (DomainIndex h = first; h < last; ++h) {
    const std::int32_t workers = is_set(excluded, h) ? 0 : asked.fits(h);
    all += workers;
    if (is_set(excluded_for_leader, h) || asked_by_leader.fits(h) == 0) continue;
    Amount beside = workers;
    for (const auto& [resource, amount] : request) {
      const auto taken = std::find_if(leader.begin(), leader.end(), [&r = resource](const auto& l) { return l.first == r; });
      if (amount != 0 && taken != leader.end()) beside = std::min(beside, subtract(free_.at(resource, h), taken->second) / amount);
    }
    least = std::min<std::int64_t>(least, workers - std::max<Amount>(beside, 0));
  }
  return least == nowhere ? -1 : static_cast<std::int32_t>(std::min<std::int64_t>(all - least, unlimited_pods));
}

std::size_t HostRoom::lack(DomainIndex leaf, const PodRequest& request, std::span<const std::uint8_t> excluded) const {
  settle();
  const auto [first, last] = hosts(leaf);
  std::size_t position = 0, of_first = 0;
  bool known = false;
  for (const auto& [resource, amount] : request) {
    if (amount == 0) continue;
    bool some = false, first_host = true;
    for (DomainIndex h = first; h < last && !some; ++h) {
      if (is_set(excluded, h)) continue;
      some = free_.at(resource, h) >= amount;
      if (first_host && !some && !known) {
        of_first = position;
        known = true;
      }
      first_host = false;
    }
    if (!some) return position;
    ++position;
  }
  return of_first;
}

// ---- who stands there ---------------------------------------------------------------------------------------------------------------

/// Who may stand on the fewest hosts chooses first, then who needs most of the first resource in which they differ. A total order of groups
/// that differ, so that the hosts of a rack follow from who stands in it.
bool HostRoom::before(const Group& a, const Group& b) {
  const auto barred = [](const Group& g) { return std::count_if(g.excluded.begin(), g.excluded.end(), [](auto x) { return x != 0; }); };
  if (const auto x = barred(a), y = barred(b); x != y) return x > y;
  const auto request_before = [](const auto& x, const auto& y) {
    return x.first != y.first ? ByText{}(x.first, y.first) : x.second > y.second;
  };
  if (a.request != b.request)
    return std::lexicographical_compare(a.request.begin(), a.request.end(), b.request.begin(), b.request.end(), request_before);
  return a.excluded < b.excluded;
}

void HostRoom::take(DomainIndex leaf, const PodRequest& request, std::span<const std::uint8_t> excluded, std::int32_t pods) {
  const auto [first, last] = hosts(leaf);
  Group group{request, {}, pods};
  if (!excluded.empty()) group.excluded.assign(excluded.begin() + first, excluded.begin() + last);
  if (std::all_of(group.excluded.begin(), group.excluded.end(), [](auto x) { return x == 0; })) group.excluded.clear();
  auto& groups = groups_[leaf];
  const auto at = std::lower_bound(groups.begin(), groups.end(), group, before);
  if (at == groups.end() || before(group, *at)) {
    groups.insert(at, std::move(group));
  } else if (at->pods += pods; at->pods == 0) {
    groups.erase(at);
  }
  touch(leaf);
}

void HostRoom::change(const Symbol& resource, DomainIndex leaf, DomainIndex host, Amount amount) {
  offer_.change(resource, host, amount);
  touch(leaf);
}

void HostRoom::touch(DomainIndex leaf) {
  if (std::exchange(is_stale_[leaf], std::uint8_t{1}) == 0) stale_.push_back(leaf);
}

void HostRoom::settle() const {
  if (stale_.empty()) return;
  for (const DomainIndex leaf : stale_) {
    spread(leaf);
    is_stale_[leaf] = 0;
  }
  stale_.clear();
}

void HostRoom::spread(DomainIndex leaf) const {
  const auto [first, last] = hosts(leaf);
  for (const Symbol& resource : offer_.resources())
    for (DomainIndex h = first; h < last; ++h) free_.set(resource, h, offer_.at(resource, h));
  if (groups_[leaf].size() * (last - first) > work_max) return;
  for (const Group& group : groups_[leaf])
    if (group.pods > 0) put(leaf, group);
}

/// One after another on the host with the most room for them, of several the first; those who find none stand on the first host.
void HostRoom::put(DomainIndex leaf, const Group& group) const {
  const auto [first, last] = hosts(leaf);
  std::vector<std::int32_t> room(last - first);
  std::int64_t all = 0;
  const Asked asked(free_, group.request);
  for (DomainIndex h = first; h < last; ++h) {
    if (is_set(group.excluded, h - first)) continue;
    room[h - first] = asked.fits(h);
    all += room[h - first];
  }
  // What is left on each host in the end: the lowest level such that what is above it suffices for no more than all of them.
  std::int32_t level = 0;
  const auto above = [&](std::int32_t l) {
    std::int64_t out = 0;
    for (const std::int32_t n : room) out += std::max(n - l, 0);
    return out;
  };
  if (all > group.pods)
    for (std::int32_t low = 0, high = *std::max_element(room.begin(), room.end()); low <= high;) {
      const std::int32_t middle = low + (high - low) / 2;
      if (above(middle) <= group.pods) {
        level = middle;
        high = middle - 1;
      } else {
        low = middle + 1;
      }
    }
  std::int64_t rest = group.pods - above(level);
  const auto charge = [&](DomainIndex h, std::int64_t pods) {
    for (const auto& [resource, amount] : group.request) free_.change(resource, h, subtract(0, multiply(amount, pods)));
  };
  for (DomainIndex h = first; h < last; ++h) {
    std::int64_t pods = std::max(room[h - first] - level, 0);
    if (level > 0 && rest > 0 && room[h - first] >= level) {
      ++pods;
      --rest;
    }
    if (pods != 0) charge(h, pods);
  }
  if (rest > 0 && first < last) charge(first, rest);
}

}  // namespace hindsight::admission::topology
