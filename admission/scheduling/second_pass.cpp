#include "admission/scheduling/second_pass.hpp"

#include <algorithm>

namespace hindsight::admission {

Duration second_pass_wait(std::int32_t in_vain) {
  constexpr std::int32_t longest = 5;  // 2⁵ s are more than half a minute
  return Duration::seconds(std::min<std::int64_t>(std::int64_t{1} << std::clamp(in_vain, 0, longest), 30));
}

tl::expected<std::vector<PodSetReservation>, std::string> place_delayed(const Reservation& reservation, const QuotaTree::Queue& queue,
                                                                        const PodPlacer& placer) {
  const auto& asked = reservation.workload->pod_sets.value();
  Assignment wanted;
  for (const PodSetReservation& p : reservation.pod_sets) {
    const auto info = std::find_if(asked.begin(), asked.end(), [&](const PodSetInfo& s) { return s.name == p.pod_set; });
    if (info == asked.end()) continue;
    PodSetAssignment& one = wanted.pod_sets.emplace_back();
    one.pod_set = static_cast<std::uint32_t>(info - asked.begin());
    one.count = p.delayed == DelayedTopology::pending ? p.count : 0;  // of the others nothing is looked for
    for (const auto& [resource, flavor] : p.flavors) {
      ResourceChoice& choice = one.choices.emplace_back();
      choice.resource = resource;
      choice.flavor = flavor;
    }
  }
  const auto placed = placer.places_now(*reservation.workload, queue, wanted);
  if (!placed) return tl::unexpected(placed.error());
  std::vector<PodSetReservation> out;
  for (const PodSetReservation& p : reservation.pod_sets) {
    if (p.delayed != DelayedTopology::pending) continue;
    out.push_back(p);
    out.back().delayed = DelayedTopology::ready;
    for (const auto& where : placed->pod_sets)
      if (asked[wanted.pod_sets[where.position].pod_set].name == p.pod_set)
        out.back().topology = placer.room().assignment(where.flavor, where.pods);
    if (p.count > 0 && out.back().topology.empty())  // TAS-95: without places nobody is admitted
      return tl::unexpected("couldn't assign flavors to pod set " + std::string(p.pod_set.text()) + ": no TAS flavor assigned");
  }
  return out;
}

}  // namespace hindsight::admission
