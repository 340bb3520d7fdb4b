#include "admission/topology/domain_counts.hpp"

#include <algorithm>

namespace hindsight::admission::topology {

void roll_up(const TopologyTree& tree, std::vector<DomainOffers>& offers, std::size_t level, DomainIndex d, const RollUp& how,
             std::int32_t rounded_to) {
  DomainOffer out;
  out.domain = d;
  std::int32_t least_pods = unlimited_pods, least_slices = unlimited_pods;
  bool any = false;
  const auto [first, last] = tree.children(level, d);
  for (DomainIndex i = first; i < last; ++i) {
    const DomainOffer& c = offers[level + 1][i];
    std::int32_t pods = c.pods, pods_l = c.pods_l;
    if (rounded_to != 0) {
      pods -= pods % rounded_to;
      pods_l -= pods_l % rounded_to;
    }
    out.pods = sum_of_pods(out.pods, pods);
    out.slices = sum_of_pods(out.slices, c.slices);
    out.score += c.score;
    out.lead = std::max(out.lead, c.lead);
    if (!how.leader || c.lead != 0) {
      least_pods = std::min(least_pods, pods - pods_l);
      least_slices = std::min(least_slices, c.slices - c.slices_l);
      any = true;
    }
  }
  out.pods_l = any ? out.pods - least_pods : 0;
  out.slices_l = any ? out.slices - least_slices : 0;
  if (level == how.slice_level) {
    out.slices = out.pods / how.slice_size;
    out.slices_l = out.pods_l / how.slice_size;
  }
  offers[level][d] = out;
}

}  // namespace hindsight::admission::topology
