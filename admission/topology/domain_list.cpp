#include "admission/topology/domain_list.hpp"

#include <algorithm>

namespace hindsight::admission::topology {
namespace {

/// A heap of so many finds the first of a list in one look at each; of more they are selected.
constexpr std::size_t few = 64;

}  // namespace

bool DomainOrder::before(const DomainOffer& a, const DomainOffer& b) const {
  if (a.score != b.score) return a.score > b.score;
  if (a.slices != b.slices) return best_fit_ ? a.slices > b.slices : a.slices < b.slices;
  return a.pods != b.pods ? a.pods < b.pods : a.domain < b.domain;
}

bool DomainOrder::before_for_leader(const DomainOffer& a, const DomainOffer& b) const {
  if (a.lead != b.lead) return a.lead > b.lead;
  if (a.score != b.score) return a.score > b.score;
  if (a.slices_l != b.slices_l) return best_fit_ ? a.slices_l > b.slices_l : a.slices_l < b.slices_l;
  return a.pods_l != b.pods_l ? a.pods_l < b.pods_l : a.domain < b.domain;
}

void DomainOrder::sort(DomainOffers& list) const {
  std::sort(list.begin(), list.end(), [this](const DomainOffer& a, const DomainOffer& b) { return before(a, b); });
}

DomainOffers::iterator DomainOrder::sort_first(DomainOffers& list, std::size_t count) const {
  const auto less = [this](const DomainOffer& a, const DomainOffer& b) { return before(a, b); };
  const auto end = list.begin() + static_cast<std::ptrdiff_t>(std::min(count, list.size()));
  if (count <= few) {
    std::partial_sort(list.begin(), end, list.end(), less);
  } else {
    if (end != list.end()) std::nth_element(list.begin(), end, list.end(), less);
    std::sort(list.begin(), end, less);
  }
  return end;
}

DomainOffers DomainOrder::first_of(std::span<const DomainOffer> list, std::size_t count) const {
  if (count <= few) {
    DomainOffers out(std::min(count, list.size()));
    std::partial_sort_copy(list.begin(), list.end(), out.begin(), out.end(),
                           [this](const DomainOffer& a, const DomainOffer& b) { return before(a, b); });
    return out;
  }
  DomainOffers out(list.begin(), list.end());
  out.erase(sort_first(out, count), out.end());
  return out;
}

void DomainOrder::sort_for_leader(DomainOffers& list) const {
  std::sort(list.begin(), list.end(), [this](const DomainOffer& a, const DomainOffer& b) { return before_for_leader(a, b); });
}

std::size_t DomainOrder::best(const DomainOffers& list, std::size_t from, std::int32_t n, std::int32_t leaders, Unit unit) {
  std::size_t found = list.size();
  for (std::size_t i = from; i < list.size() && list[i].score == list[from].score; ++i) {
    if (list[i].lead < leaders) continue;
    const std::int32_t c = capacity(list[i], unit, leaders > 0);
    if (c >= n && (found == list.size() || c < capacity(list[found], unit, leaders > 0))) found = i;
  }
  return found == list.size() ? from : found;
}

void DomainOrder::promote(DomainOffers& list, std::int32_t units, std::int32_t leaders, Unit unit) {
  if (leaders == 0 || list.size() < 2) return;
  std::int64_t all = 0;
  for (const DomainOffer& d : list) all += capacity(d, unit, false);
  const auto it = std::find_if(list.begin(), list.end(), [&](const DomainOffer& d) {
    return d.lead >= leaders && all - (capacity(d, unit, false) - capacity(d, unit, true)) >= units;
  });
  if (it != list.end()) std::rotate(list.begin(), it, it + 1);
}

bool DomainOrder::give(DomainOffers list, std::int32_t count, std::int32_t leaders, std::int32_t size, Unit unit, DomainOffers& out) const {
  std::int32_t n = unit == Unit::slices ? count / size : count;
  std::int32_t q = leaders;
  promote(list, n, q, unit);
  const std::int32_t per_unit = unit == Unit::slices ? size : 1;
  const auto take = [&](DomainOffer d, std::int32_t units, std::int32_t lead) {
    d.pods = units * per_unit;
    d.slices = unit == Unit::slices ? units : d.slices;
    d.lead = lead;
    out.push_back(d);
  };
  for (std::size_t j = 0; j < list.size(); ++j) {
    const DomainOffer* d = &list[j];
    if (q > 0) {
      if (best_fit_ && capacity(*d, unit, true) >= n && d->lead >= q) d = &list[best(list, j, n, q, unit)];
      const std::int32_t c = capacity(*d, unit, true);
      if (c >= n && d->lead >= q) {
        take(*d, n, q);
        return true;
      }
      const std::int32_t units = std::min(c, n), lead = std::min(d->lead, q);
      take(*d, units, lead);
      q -= lead;
      n -= units;
      continue;
    }
    if (best_fit_ && capacity(*d, unit, false) >= n) d = &list[best(list, j, n, 0, unit)];
    const std::int32_t c = capacity(*d, unit, false);
    if (c >= n) {
      take(*d, n, 0);
      return true;
    }
    take(*d, c, 0);
    n -= c;
  }
  return n == 0 && q == 0;
}

}  // namespace hindsight::admission::topology
