#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "admission/domain/domain.hpp"
#include "admission/scheduling/pod_placer.hpp"
#include "admission/topology/placement.hpp"
#include "projections/format.hpp"
#include "projections/scratch_tree.hpp"
#include "projections/why.hpp"

namespace hindsight::projections {
namespace {

using namespace admission;
using topology::TopologyRoom;

constexpr std::size_t examples_max = 3;
constexpr std::size_t place_holders_max = 200;  // more are not tried out one by one
constexpr std::int32_t nodes_max = 64;

/// Pods that are placed together, as PodPlacer sees them: the workers, and maybe one that leads them.
struct Group {
  const PodSetInfo* workers = nullptr;
  const PodSetInfo* leader = nullptr;
};

std::vector<Group> groups_of(const WorkloadInfo& workload) {
  std::vector<Group> out;
  for (const PodSetInfo& p : workload.pod_sets) {
    if (p.count == 0) continue;
    const auto partner =
        p.group.empty() ? out.end() : std::find_if(out.begin(), out.end(), [&](const Group& g) { return g.workers->group == p.group; });
    if (partner == out.end()) {
      out.push_back({&p, nullptr});
    } else if (partner->workers->count < p.count) {
      *partner = {&p, partner->workers};
    } else {
      partner->leader = &p;
    }
  }
  return out;
}

std::vector<PlaceTrial::Exclusion> exclusions(const TopologyRoom& room, std::uint32_t number, const topology::Capacity& free,
                                              const PodSetInfo& pods) {
  const auto& flavor = room.flavor(number);
  const auto request = topology::request_of(pods);
  std::map<std::string, PlaceTrial::Exclusion> by_reason;
  for (topology::DomainIndex leaf = 0; leaf < flavor.tree.leaves(); ++leaf) {
    if (!flavor.absent.empty() && flavor.absent[leaf] != 0) continue;
    std::string reason = room.why_excluded(number, *pods.shape, leaf);
    if (reason.empty()) {
      const auto [n, limit] = topology::pods_on(free, request, leaf);
      if (n > 0) continue;
      reason = "resource \"" + std::string(limit.text()) + "\"";
    }
    auto& e = by_reason[reason];
    e.reason = reason;
    ++e.nodes;
    if (e.examples.size() < examples_max) e.examples.push_back(path_text(flavor.tree.path(flavor.tree.lowest(), leaf)));
  }
  std::vector<PlaceTrial::Exclusion> out;
  for (auto& [reason, e] : by_reason) out.push_back(std::move(e));
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.nodes > b.nodes; });
  return out;
}

PlaceTrial try_group(TopologyRoom& room, std::uint32_t number, const Group& group, bool implied, const Settings& settings) {
  const auto& flavor = room.flavor(number);
  PlaceTrial out;
  out.pod_set = group.workers->name.text();
  out.flavor = flavor.name;
  out.topology = flavor.topology;
  out.count = group.workers->count;
  const auto rules =
      topology::rules_for(group.workers->topology.value_or(TopologyRequest{}), flavor.tree.levels(), implied, profile_of(settings));
  if (!rules) {
    out.message = rules.error().message;
    return out;
  }
  topology::Gang gang{group.workers->count, topology::request_of(*group.workers), {}};
  const auto filter = room.filter(number, group.workers->shape);
  auto leader_filter = filter;
  if (group.leader != nullptr) {
    gang.leader = topology::request_of(*group.leader);
    leader_filter = room.filter(number, group.leader->shape);
  }
  const auto placed = room.place(room.free(), number, *rules, gang, filter, leader_filter);
  out.fits = placed.has_value();
  if (placed) return out;
  const auto& misfit = placed.error();
  out.fits_empty = room.place(room.unused(), number, *rules, gang, filter, leader_filter).has_value();
  out.message = topology::text_of(misfit, flavor.topology.text(), flavor.tree, *rules, filter->reasons);
  const std::int32_t unit = rules->layers.front().size;
  out.fit = std::min(misfit.fit, misfit.wanted) * unit;
  // Of pods that may be spread over several domains no single one comes nearest.
  if (misfit.nearest && rules->strict)
    out.nearest =
        flavor.tree.levels()[misfit.nearest->first] + " " + path_text(flavor.tree.path(misfit.nearest->first, misfit.nearest->second));
  else if (misfit.nearest)
    out.nearest = "the whole topology";
  out.exclusions = exclusions(room, number, room.free()[number].capacity(), *group.workers);
  return out;
}

/// Tries changes of the workload, of who stands where and of the nodes on copies.
class PlaceRemedies {
 public:
  PlaceRemedies(const StateView& state, const WorkloadInfo& workload, Symbol queue, const std::vector<PlaceTrial>& places)
      : state_(state), workload_(workload), queue_(queue), places_(places) {}

  std::vector<Remedy> find() {
    auto scratch = ScratchTree::of(state_, queue_);
    if (!scratch || scratch->room() == nullptr || scratch->fits(workload_)) return {};
    if (!lacks_places_alone()) return {};
    if (auto remedy = free_places(*scratch)) out_.push_back(std::move(*remedy));
    for (const PlaceTrial& p : places_) {
      if (p.fits) continue;
      if (tried_.insert(p.pod_set).second) looser_level(*scratch, p);
      more_nodes(*scratch, p);
    }
    return std::move(out_);
  }

 private:
  /// Is it places that are missing, and not quota?
  [[nodiscard]] bool lacks_places_alone() const {
    if (std::all_of(places_.begin(), places_.end(), [](const PlaceTrial& p) { return p.fits; })) return false;
    std::map<std::pair<std::string, std::string>, bool> enough;  // by pod set and resource: in some flavor
    for (const auto& t : try_flavors(state_, workload_, queue_)) {
      auto& mine = enough[{t.pod_set, std::string(t.resource.text())}];
      mine = mine || t.verdict == FlavorTrial::Verdict::fits || t.verdict == FlavorTrial::Verdict::fits_borrowing;
    }
    return std::all_of(enough.begin(), enough.end(), [](const auto& e) { return e.second; });
  }

  static Holder holder_of(Symbol queue, const WorkloadInfo& w) {
    return {std::string(w.namespace_.text()), w.name.text(), w.uid.text(), queue, w.priority, 0, w.evicted};
  }

  /// Workloads whose end would make room: the smallest single one, else many, of which those that are not needed stay.
  [[nodiscard]] std::optional<Remedy> free_places(ScratchTree& scratch) const {
    std::vector<std::pair<std::int64_t, Holder>> holders;
    for (const auto& [queue, r] : scratch.reservations()) {
      const auto* other = r->workload->option.get();
      if (workload_.option != nullptr && other != nullptr && other->parent == workload_.option->parent) continue;
      std::int64_t pods = 0;
      for (const auto& p : r->pod_sets)
        for (const auto n : p.topology->counts) pods += n;
      if (pods > 0) holders.emplace_back(pods, holder_of(queue, *r->workload));
    }
    std::sort(holders.begin(), holders.end(), [](const auto& a, const auto& b) {
      return std::tie(a.first, a.second.priority, a.second.namespace_, a.second.name) <
             std::tie(b.first, b.second.priority, b.second.namespace_, b.second.name);
    });
    if (holders.size() > place_holders_max) holders.erase(holders.begin(), holders.end() - static_cast<std::ptrdiff_t>(place_holders_max));
    Remedy out{Remedy::Kind::free_places, {}, {}, {}};
    for (const auto& [pods, h] : holders) {
      scratch.release(h);
      const bool enough = scratch.fits(workload_);
      scratch.restore(h);
      if (!enough) continue;
      out.ending = {h};
      return out;
    }
    std::vector<Holder> gone;
    bool enough = false;
    for (auto h = holders.rbegin(); h != holders.rend() && !enough; ++h) {
      scratch.release(h->second);
      gone.push_back(h->second);
      enough = scratch.fits(workload_);
    }
    for (std::size_t i = gone.size(); enough && i-- > 0;) {
      scratch.restore(gone[i]);
      if (scratch.fits(workload_))
        gone.erase(gone.begin() + static_cast<std::ptrdiff_t>(i));
      else
        scratch.release(gone[i]);
    }
    for (const auto& h : gone) scratch.restore(h);
    if (!enough) return {};
    out.ending = std::move(gone);
    return out;
  }

  [[nodiscard]] const PodSetInfo& info_of(const std::string& pod_set) const {
    return *std::find_if(workload_.pod_sets.begin(), workload_.pod_sets.end(),
                         [&](const PodSetInfo& p) { return p.name.text() == pod_set; });
  }

  /// The lowest level above the one that is required that would do, else the same one as a wish.
  void looser_level(ScratchTree& scratch, const PlaceTrial& p) {
    const PodSetInfo& info = info_of(p.pod_set);
    if (!info.topology || !info.topology->required) return;
    const auto number = scratch.room()->find(p.flavor);
    if (!number) return;
    const auto& levels = scratch.room()->flavor(*number).tree.levels();
    const auto at = std::find(levels.begin(), levels.end(), *info.topology->required);
    const auto suggest = [&](TopologyRequest request, const std::string& to) {
      // The pod sets of a group ask for the same.
      WorkloadInfo other = workload_;
      other.pod_sets.change([&](std::vector<PodSetInfo>& pod_sets) {
        for (auto& s : pod_sets)
          if (s.name == info.name || (!info.group.empty() && s.group == info.group)) s.topology = request;
      });
      if (!scratch.fits(other)) return false;
      Remedy out{Remedy::Kind::looser_level, {}, {}, {}};
      out.pod_set = p.pod_set;
      out.from = "required " + *info.topology->required;
      out.to = to;
      out.ask = {.pod_set = p.pod_set, .topology = request};
      out_.push_back(std::move(out));
      return true;
    };
    for (auto level = at; level != levels.begin() && level != levels.end();) {
      --level;
      TopologyRequest request = *info.topology;
      request.required = *level;
      if (suggest(request, "required " + *level)) return;
    }
    TopologyRequest request = *info.topology;
    request.preferred = std::exchange(request.required, std::nullopt);
    (void)suggest(request, "preferred " + *request.preferred);
  }

  /// Empty nodes like the largest that there is in the nearest domain.
  void more_nodes(ScratchTree& scratch, const PlaceTrial& p) {
    TopologyRoom& room = *scratch.room();
    const auto number = room.find(p.flavor);
    if (!number || !room.flavor(*number).tree.by_host()) return;
    const auto& flavor = room.flavor(*number);
    const PodSetInfo& info = info_of(p.pod_set);
    const auto request = topology::request_of(info);
    const NodeConfig* like = nullptr;
    std::string home;
    std::int32_t most = 0;
    for (topology::DomainIndex leaf = 0; leaf < flavor.tree.leaves(); ++leaf) {
      if (flavor.nodes[leaf] == nullptr || !room.why_excluded(*number, *info.shape, leaf).empty()) continue;
      const auto path = flavor.tree.path(flavor.tree.lowest(), leaf);
      if (!p.nearest.empty() && info.topology && info.topology->required && !lies_in(flavor, leaf, p.nearest)) continue;
      const auto n = topology::pods_on(room.unused()[*number].capacity(), request, leaf).first;
      if (n <= most) continue;
      most = n;
      like = flavor.nodes[leaf].get();
      home = home_of(flavor, leaf);
    }
    if (like == nullptr) return;
    const auto enough = [&](std::int32_t count) {
      Nodes nodes = *state_.domain().context().nodes;
      for (std::int32_t n = 1; n <= count; ++n) {
        auto another = std::make_shared<NodeConfig>(*like);
        const std::string name = "one-more-" + std::to_string(n);
        another->name = Symbol(name);
        another->used = {};
        another->labels.hostname = another->name;
        nodes[another->name] = std::move(another);
      }
      auto with = ScratchTree::of(state_, queue_, {}, &nodes);
      return with && with->fits(workload_);
    };
    std::int32_t low = 0, high = 1;  // `low` is too few
    while (!enough(high)) {
      if (high == nodes_max) return;
      low = std::exchange(high, std::min(2 * high, nodes_max));
    }
    while (high - low > 1) {
      const std::int32_t middle = low + (high - low) / 2;
      (enough(middle) ? high : low) = middle;
    }
    Remedy out{Remedy::Kind::more_nodes, {}, {}, {}};
    out.nodes = high;
    out.from = like->name.text();
    out.to = home;
    out_.push_back(std::move(out));
  }
  /// The domain above a host.
  static std::string home_of(const TopologyRoom::Flavor& flavor, topology::DomainIndex leaf) {
    const auto lowest = flavor.tree.lowest();
    if (lowest == 0) return "topology " + std::string(flavor.topology.text());
    return flavor.tree.levels()[lowest - 1] + " " + path_text(flavor.tree.path(lowest - 1, flavor.tree.above(leaf, lowest - 1)));
  }
  static bool lies_in(const TopologyRoom::Flavor& flavor, topology::DomainIndex leaf, const std::string& nearest) {
    for (std::size_t level = 0; level < flavor.tree.level_count(); ++level)
      if (flavor.tree.levels()[level] + " " + path_text(flavor.tree.path(level, flavor.tree.above(leaf, level))) == nearest) return true;
    return false;
  }

  const StateView& state_;
  const WorkloadInfo& workload_;
  Symbol queue_;
  const std::vector<PlaceTrial>& places_;
  std::set<std::string> tried_;  ///< Pod sets of which levels were.
  std::vector<Remedy> out_;
};

}  // namespace

std::vector<PlaceTrial> try_places(const StateView& state, const WorkloadInfo& workload, const Symbol& cluster_queue) {
  std::vector<PlaceTrial> out;
  const Catalog& catalog = *state.domain().catalog();
  const auto* config = catalog.queue(cluster_queue);
  if (config == nullptr || !catalog.settings.topologies) return out;
  auto scratch = ScratchTree::of(state, cluster_queue);
  if (!scratch || scratch->room() == nullptr || scratch->room()->empty()) return out;
  const bool implied = scratch->implies_topology();
  const PodPlacer placer = scratch->placer();
  auto without = workload.option == nullptr ? std::nullopt : ScratchTree::of(state, cluster_queue);
  if (without) without->free_for(workload);
  const auto may_have = [&](const Symbol& flavor) {
    const auto& allowed = workload.allowed;
    return allowed == nullptr || std::find(allowed->begin(), allowed->end(), flavor) != allowed->end();
  };
  for (const Group& group : groups_of(workload)) {
    std::vector<Symbol> seen;
    for (const auto& g : config->groups)
      for (const auto& f : g.flavors) {
        const auto number = scratch->room()->find(f.flavor);
        const auto* flavor = catalog.flavor(f.flavor);
        if (!number || flavor == nullptr || !may_have(f.flavor) || std::find(seen.begin(), seen.end(), f.flavor) != seen.end()) continue;
        if (placer.match(*group.workers, *flavor, implied) != TopologyMatch::matches) continue;
        seen.push_back(f.flavor);
        auto& tried = without && !holds_beside(*config, workload, f.flavor) ? without : scratch;
        out.push_back(try_group(*tried->room(), *number, group, implied, catalog.settings));
      }
  }
  return out;
}

std::vector<Remedy> find_place_remedies(const StateView& state, const WorkloadInfo& workload, Symbol cluster_queue,
                                        const std::vector<PlaceTrial>& places) {
  return PlaceRemedies(state, workload, cluster_queue, places).find();
}

}  // namespace hindsight::projections
