#include "admission/scheduling/second_pass.hpp"

#include <algorithm>

namespace hindsight::admission {

Duration second_pass_wait(std::int32_t in_vain) {
  constexpr std::int32_t longest = 5;  // 2⁵ s are more than half a minute
  return Duration::seconds(std::min<std::int64_t>(std::int64_t{1} << std::clamp(in_vain, 0, longest), 30));
}

namespace {

/// The pod sets for which `wanted` holds, with places.
template <class Wanted>
tl::expected<std::vector<PodSetReservation>, std::string> place(const Reservation& reservation, const QuotaTree::Queue& queue,
                                                                const PodPlacer& placer, const Wanted& wanted) {
  const auto& asked = reservation.workload->pod_sets.value();
  Assignment assignment;
  for (const PodSetReservation& p : reservation.pod_sets) {
    const auto info = std::find_if(asked.begin(), asked.end(), [&](const PodSetInfo& s) { return s.name == p.pod_set; });
    if (info == asked.end()) continue;
    PodSetAssignment& one = assignment.pod_sets.emplace_back();
    one.pod_set = static_cast<std::uint32_t>(info - asked.begin());
    one.count = wanted(p) ? p.count : 0;  // of the others nothing is looked for
    for (const auto& [resource, flavor] : p.flavors) {
      ResourceChoice& choice = one.choices.emplace_back();
      choice.resource = resource;
      choice.flavor = flavor;
    }
  }
  const auto placed = placer.places_now(*reservation.workload, queue, assignment);
  if (!placed) return tl::unexpected(placed.error());
  std::vector<PodSetReservation> out;
  for (const PodSetReservation& p : reservation.pod_sets) {
    if (!wanted(p)) continue;
    out.push_back(p);
    bool found = p.count == 0;
    for (const auto& where : placed->pod_sets)
      if (asked[assignment.pod_sets[where.position].pod_set].name == p.pod_set) {
        out.back().topology = placer.room().assignment(where.flavor, where.pods);
        found = true;
      }
    if (!found)  // TAS-95: without places nobody is admitted
      return tl::unexpected("couldn't assign flavors to pod set " + std::string(p.pod_set.text()) + ": no TAS flavor assigned");
  }
  return out;
}

}  // namespace

tl::expected<std::vector<PodSetReservation>, std::string> place_delayed(const Reservation& reservation, const QuotaTree::Queue& queue,
                                                                        const PodPlacer& placer) {
  auto out = place(reservation, queue, placer, [](const PodSetReservation& p) { return p.delayed == DelayedTopology::pending; });
  if (out)
    for (PodSetReservation& p : *out) p.delayed = DelayedTopology::ready;
  return out;
}

tl::expected<std::vector<PodSetReservation>, std::string> place_again(const Reservation& reservation, const QuotaTree::Queue& queue,
                                                                      const PodPlacer& placer) {
  return place(reservation, queue, placer, [](const PodSetReservation& p) { return !p.topology.empty(); });
}

}  // namespace hindsight::admission
