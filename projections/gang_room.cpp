#include "projections/gang_room.hpp"

#include <algorithm>

#include "admission/domain/domain.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "projections/format.hpp"

namespace hindsight::projections {
namespace {

using namespace admission::topology;

const Symbol pods_resource("pods");

PodRequest with_slot(PodRequest pod) {
  pod.emplace_back(pods_resource, 1);
  std::sort(pod.begin(), pod.end(), [](const auto& a, const auto& b) { return ByText{}(a.first, b.first); });
  return pod;
}

}  // namespace

std::vector<LevelRoom> gang_room(TopologyRoom& room, std::uint32_t number, const PodRequest& pod) {
  const auto& flavor = room.flavor(number);
  const TopologyTree& tree = flavor.tree;
  const Capacity& free = room.free()[number].capacity();
  const Capacity& unused = room.unused()[number].capacity();
  struct Sum {
    std::int64_t pods = 0;
    bool empty = true, absent = true;
  };
  std::vector<std::vector<Sum>> sums(tree.level_count());
  for (std::size_t level = 0; level < sums.size(); ++level) sums[level].resize(tree.size(level));
  for (DomainIndex leaf = 0; leaf < tree.leaves(); ++leaf) {
    if (!flavor.absent.empty() && flavor.absent[leaf] != 0) continue;
    const auto n = room.free()[number].pods_on(leaf, pod, {}).first;
    const bool empty = std::all_of(free.resources().begin(), free.resources().end(),
                                   [&](const Symbol& r) { return free.at(r, leaf) == unused.at(r, leaf); });
    for (std::size_t level = 0; level < sums.size(); ++level) {
      Sum& sum = sums[level][tree.above(leaf, level)];
      sum.pods += n;
      sum.empty = sum.empty && empty;
      sum.absent = false;
    }
  }
  std::vector<LevelRoom> out;
  for (std::size_t level = 0; level < sums.size(); ++level) {
    LevelRoom& one = out.emplace_back();
    one.level = tree.levels()[level];
    for (DomainIndex d = 0; d < sums[level].size(); ++d) {
      const Sum& sum = sums[level][d];
      if (sum.absent) continue;
      ++one.domains;
      one.empty += sum.empty ? 1 : 0;
      one.pods += sum.pods;
      if (!sum.empty) one.in_used += sum.pods;
      if (sum.pods > one.largest) {
        one.largest = sum.pods;
        one.where = path_text(tree.path(level, d));
      }
    }
  }
  return out;
}

std::vector<DomainAmounts> domain_amounts(const TopologyRoom& room, std::uint32_t number, std::size_t levels) {
  const auto& flavor = room.flavor(number);
  const TopologyTree& tree = flavor.tree;
  const Capacity& free = room.free()[number].capacity();
  const Capacity& unused = room.unused()[number].capacity();
  std::vector<DomainAmounts> out;
  for (std::size_t level = 0; level < std::min(levels, tree.level_count()); ++level) {
    const std::size_t first = out.size();
    for (DomainIndex d = 0; d < tree.size(level); ++d) out.push_back({tree.levels()[level], path_text(tree.path(level, d)), {}});
    for (const Symbol& r : free.resources()) {
      std::vector<std::pair<Amount, Amount>> sums(tree.size(level));
      for (DomainIndex leaf = 0; leaf < tree.leaves(); ++leaf) {
        auto& [all, left] = sums[tree.above(leaf, level)];
        all = add(all, unused.at(r, leaf));
        left = add(left, free.at(r, leaf));
      }
      for (DomainIndex d = 0; d < sums.size(); ++d) out[first + d].amounts.emplace_back(r, sums[d]);
    }
  }
  return out;
}

PodRequest measuring_pod(const TopologyRoom& room, std::uint32_t flavor) {
  for (const Symbol& r : room.unused()[flavor].capacity().resources())
    if (r.text().find('/') != std::string_view::npos && !r.text().starts_with("hugepages-")) return with_slot({{r, 1}});
  return with_slot({{Symbol("cpu"), 1'000}});
}

Result<PodRequest> parse_pod(std::string_view text) {
  PodRequest out;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find(',', from), text.size());
    const std::string_view part = text.substr(from, end - from);
    const auto sign = part.find('=');
    const auto refuse = [&] {
      return fail(ErrorKind::invalid,
                  "--pod: found \"" + std::string(part) +
                      "\"; allowed: RESOURCE=QUANTITY, several with commas between them, as in nvidia.com/gpu=8,cpu=32");
    };
    if (sign == std::string_view::npos || sign == 0) return refuse();
    const std::string_view resource = part.substr(0, sign);
    const auto amount = parse_quantity(part.substr(sign + 1), resource);
    if (!amount || *amount <= 0 || resource == pods_resource.text()) return refuse();
    const Symbol name(resource);
    if (std::any_of(out.begin(), out.end(), [&](const auto& r) { return r.first == name; })) return refuse();
    out.emplace_back(name, *amount);
    from = end + 1;
  }
  return with_slot(std::move(out));
}

std::string words_of(const PodRequest& pod) {
  std::vector<std::string> parts;
  for (const auto& [resource, amount] : pod)
    if (resource != pods_resource) parts.push_back(amount_text(amount, resource) + " " + std::string(resource.text()));
  return joined(parts, ", ");
}

std::optional<TopologyRoom> whole_room(const admission::StateView& state) {
  const auto& catalog = *state.domain().catalog();
  if (!catalog.settings.topologies) return {};
  std::vector<const admission::FlavorConfig*> flavors;
  for (const auto& [name, flavor] : catalog.flavors)
    if (!flavor->topology.empty()) flavors.push_back(flavor.get());
  std::optional<TopologyRoom> out(std::in_place, flavors, catalog.topologies, state.domain().nodes(),
                                  TopologyRoom::Rules{.count_hosts = catalog.settings.count_hosts});
  for (const auto& [name, config] : catalog.queues)
    if (const auto* queue = state.queue(name); queue != nullptr)
      for (const auto& r : queue->reservations()) out->reserve(*r);
  return out;
}

}  // namespace hindsight::projections
