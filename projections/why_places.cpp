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

std::vector<PlaceTrial::Exclusion> exclusions(const TopologyRoom& room, std::uint32_t number, const topology::LeafFilter& filter,
                                              const PodSetInfo& pods) {
  const auto& flavor = room.flavor(number);
  const auto request = topology::request_of(pods);
  std::map<std::string, PlaceTrial::Exclusion> by_reason;
  for (topology::DomainIndex leaf = 0; leaf < flavor.tree.leaves(); ++leaf) {
    if (!flavor.absent.empty() && flavor.absent[leaf] != 0) continue;
    std::string reason = room.why_excluded(number, *pods.shape, leaf);
    if (reason.empty()) {
      const auto [n, limit] = room.free()[number].pods_on(leaf, request, filter);
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

/// What one group asks of a flavor, ready to be placed.
struct Asked {
  topology::PlacementRules rules;
  topology::Gang gang;
  std::shared_ptr<const TopologyRoom::Filter> workers, leader;
};

Result<Asked> asked_of(TopologyRoom& room, std::uint32_t number, const Group& group, bool implied, const Settings& settings) {
  const auto rules = topology::rules_for(group.workers->topology.value_or(TopologyRequest{}), room.flavor(number).tree.levels(), implied,
                                         profile_of(settings));
  if (!rules) return tl::unexpected(rules.error());
  Asked out{*rules, {group.workers->count, topology::request_of(*group.workers), {}}, room.filter(number, group.workers->shape), {}};
  out.leader = out.workers;
  if (group.leader != nullptr) {
    out.gang.leader = topology::request_of(*group.leader);
    out.leader = room.filter(number, group.leader->shape);
  }
  return out;
}

PlaceTrial try_group(TopologyRoom& room, std::uint32_t number, const Group& group, bool implied, const Settings& settings) {
  const auto& flavor = room.flavor(number);
  PlaceTrial out;
  out.pod_set = group.workers->name.text();
  if (group.leader != nullptr) out.leader = group.leader->name.text();
  out.flavor = flavor.name;
  out.topology = flavor.topology;
  out.count = group.workers->count;
  const auto asked = asked_of(room, number, group, implied, settings);
  if (!asked) {
    out.message = asked.error().message;
    return out;
  }
  const auto& rules = asked->rules;
  const auto placed = room.place(room.free(), number, rules, asked->gang, asked->workers, asked->leader);
  out.fits = placed.has_value();
  if (placed) return out;
  const auto& misfit = placed.error();
  out.fits_empty = room.place(room.unused(), number, rules, asked->gang, asked->workers, asked->leader).has_value();
  auto reasons = asked->workers->reasons;
  if (asked->leader != asked->workers)
    for (const auto& [why, n] : asked->leader->reasons) reasons.emplace("leader's " + why, n);
  out.message = topology::text_of(misfit, flavor.topology.text(), flavor.tree, rules, reasons);
  const std::int32_t unit = rules.layers.front().size;
  out.fit = std::min(misfit.fit, misfit.wanted) * unit;
  // Of pods that may be spread over several domains no single one comes nearest.
  if (misfit.nearest && rules.strict)
    out.nearest =
        flavor.tree.levels()[misfit.nearest->first] + " " + path_text(flavor.tree.path(misfit.nearest->first, misfit.nearest->second));
  else if (misfit.nearest)
    out.nearest = "the whole topology";
  out.exclusions = exclusions(room, number, *asked->workers, *group.workers);
  if (group.leader != nullptr) out.leader_exclusions = exclusions(room, number, *asked->leader, *group.leader);
  return out;
}

/// One after another, as a cycle places them: what is told of pod sets each of which finds places by itself, and not all of them together.
class Together {
 public:
  Together(bool implied, const Settings& settings) : implied_(implied), settings_(settings) {}
  Together(const Together&) = delete;
  Together& operator=(const Together&) = delete;
  ~Together() {
    for (const auto& [room, holding] : taken_) take(*room, holding, -1);
  }

  /// Nothing: it finds places beside those before it, and has them now.
  std::optional<PlaceTrial> add(TopologyRoom& room, std::uint32_t number, const Group& group) {
    const auto asked = asked_of(room, number, group, implied_, settings_);
    const auto placed = asked ? std::optional(room.place(room.free(), number, asked->rules, asked->gang, asked->workers, asked->leader,
                                                         topology::Explain::no))
                              : std::nullopt;
    if (!placed || !*placed) {
      PlaceTrial out = try_group(room, number, group, implied_, settings_);
      out.beside = before_;
      return out;
    }
    topology::Holding holding;
    holding.requests.push_back({asked->gang.request, asked->workers});
    for (const auto& [leaf, n] : (*placed)->pods) room.add_use(holding, {number, leaf, n, 0});
    if ((*placed)->leader) {
      holding.requests.push_back({*asked->gang.leader, asked->leader});
      room.add_use(holding, {number, *(*placed)->leader, 1, 1});
    }
    take(room, holding, 1);
    taken_.emplace_back(&room, std::move(holding));
    before_.emplace_back(group.workers->name.text());
    if (group.leader != nullptr) before_.emplace_back(group.leader->name.text());
    return {};
  }

 private:
  static void take(TopologyRoom& room, const topology::Holding& holding, int sign) {
    TopologyRoom::take(room.free(), holding, sign);
    TopologyRoom::take(room.unused(), holding, sign);
  }

  bool implied_;
  const Settings& settings_;
  std::vector<std::pair<TopologyRoom*, topology::Holding>> taken_;
  std::vector<std::string> before_;
};

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
  struct Choice {
    TopologyRoom* room;
    std::uint32_t flavor;
    std::size_t trial;
  };
  const auto groups = groups_of(workload);
  std::vector<std::pair<const Group*, std::optional<Choice>>> chosen;  // the first flavor in which each finds places by itself
  for (const Group& group : groups) {
    std::vector<Symbol> seen;
    std::optional<Choice>& choice = chosen.emplace_back(&group, std::nullopt).second;
    for (const auto& g : config->groups)
      for (const auto& f : g.flavors) {
        const auto number = scratch->room()->find(f.flavor);
        const auto* flavor = catalog.flavor(f.flavor);
        if (!number || flavor == nullptr || !may_have(f.flavor) || std::find(seen.begin(), seen.end(), f.flavor) != seen.end()) continue;
        if (placer.match(*group.workers, *flavor, implied) != TopologyMatch::matches) continue;
        seen.push_back(f.flavor);
        auto& tried = without && !holds_beside(*config, workload, f.flavor) ? without : scratch;
        out.push_back(try_group(*tried->room(), *number, group, implied, catalog.settings));
        if (out.back().fits && !choice) choice = {tried->room(), *number, out.size() - 1};
        if (!out.back().fits) out.back().left_out = left_out_nodes(state, *flavor);
      }
  }
  if (std::any_of(chosen.begin(), chosen.end(), [](const auto& c) { return !c.second; })) return out;
  Together together(implied, catalog.settings);
  for (const auto& [group, choice] : chosen) {
    auto misfit = together.add(*choice->room, choice->flavor, *group);
    if (!misfit) continue;
    out[choice->trial] = std::move(*misfit);
    out[choice->trial].left_out = left_out_nodes(state, *catalog.flavor(out[choice->trial].flavor));
    break;  // those behind it depend on where it would stand
  }
  return out;
}

std::vector<Remedy> find_place_remedies(const StateView& state, const WorkloadInfo& workload, Symbol cluster_queue,
                                        const std::vector<PlaceTrial>& places) {
  return PlaceRemedies(state, workload, cluster_queue, places).find();
}

}  // namespace hindsight::projections
