#include "projections/defragment.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "admission/domain/domain.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "projections/families.hpp"
#include "projections/format.hpp"
#include "projections/gang_room.hpp"
#include "projections/scratch_tree.hpp"
#include "projections/why.hpp"

namespace hindsight::projections {
namespace {

using namespace admission;
using topology::DomainIndex;
using topology::TopologyRoom;

constexpr std::size_t tried_domains_max = 64;  // more are not tried
constexpr Amount barrier = Amount{1} << 50;

std::string places_text(const TopologyAssignment& where) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < where.size(); ++i) {
    std::string path;
    for (const Symbol& value : where.domain(i)) path += (path.empty() ? "" : "/") + std::string(value.text());
    parts.push_back(path + ":" + std::to_string(where.counts[i]));
  }
  return joined(parts, ", ");
}

std::int64_t pods_of(const Reservation& r) {
  std::int64_t out = 0;
  for (const auto& p : r.pod_sets)
    for (const auto n : p.topology->counts) out += n;
  return out;
}

/// What can be moved at all: a gang that stands somewhere and is whole. Slices of elastic jobs, what is kept for a migration and what is on
/// its way out stay.
bool movable(const Reservation& r) {
  return !r.hold && pods_of(r) > 0 && r.unhealthy_nodes.empty() && !r.workload->evicted && r.workload->slice_name.empty();
}

/// A queue through which the flavors of the topology are seen; empty: none uses them.
Symbol queue_over(const Catalog& catalog, const Symbol& topology) {
  for (const auto& [name, config] : catalog.queues)
    for (const auto& g : config->groups)
      for (const auto& f : g.flavors)
        if (const auto* flavor = catalog.flavor(f.flavor); flavor != nullptr && flavor->topology == topology) return name;
  return {};
}

/// A domain of one flavor.
struct Spot {
  std::uint32_t flavor = 0;
  std::size_t level = 0;
  DomainIndex domain = 0;
  std::int64_t pods = 0;  ///< Of the workloads that stand there, all of each: so many would start anew.
  std::string words;
};

/// One attempt to make room on a copy.
class Attempt {
 public:
  Attempt(const StateView& state, Symbol queue) : scratch_(ScratchTree::of(state, queue)) {}

  [[nodiscard]] bool ready() const { return scratch_.has_value() && const_cast<std::optional<ScratchTree>&>(scratch_)->room() != nullptr; }
  ScratchTree& scratch() { return *scratch_; }
  TopologyRoom& room() { return *scratch_->room(); }

  /// Nobody gets places there until it is opened; of hosts that other flavors select, too.
  void close(const Spot& spot) { bar(spot, 1); }
  void open(const Spot& spot) { bar(spot, -1); }

  /// Those who stand there; fewest pods first.
  std::vector<std::shared_ptr<const Reservation>> holders(const Spot& spot) {
    std::set<WorkloadId> ids;
    const auto& tree = room().flavor(spot.flavor).tree;
    for (const auto& [id, leaves] : room().leaves_of_holders(spot.flavor))
      if (std::any_of(leaves.begin(), leaves.end(), [&](DomainIndex leaf) { return tree.above(leaf, spot.level) == spot.domain; }))
        ids.insert(id);
    std::vector<std::shared_ptr<const Reservation>> out;
    for (const auto& [queue, r] : scratch_->reservations())
      if (ids.contains(r->workload->id)) out.push_back(r);
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
      const auto rank = [](const Reservation& r) {
        return std::tuple(pods_of(r), r.workload->priority, std::string_view(r.workload->uid));
      };
      return rank(*a) < rank(*b);
    });
    return out;
  }

  /// False: there is no other place for it.
  bool move(const Reservation& before) {
    if (!movable(before)) return false;
    const auto after = scratch_->move(before.workload->uid.text());
    if (after == nullptr) return false;
    const std::string name = family_name(*before.workload);  // the pods are those of the Parent
    for (std::size_t i = 0; i < before.pod_sets.size(); ++i) {
      const TopologyAssignment &from = before.pod_sets[i].topology, &to = after->pod_sets[i].topology;
      if (from.empty()) continue;
      std::int64_t pods = 0;
      for (const auto n : from.counts) pods += n;
      plan.moves.push_back({name, std::string(before.pod_sets[i].pod_set.text()), pods, places_text(from), places_text(to)});
      plan.pods += pods;
    }
    return true;
  }

  DefragmentationPlan plan;

 private:
  void bar(const Spot& spot, int sign) {
    topology::Holding wall;
    const auto& flavor = room().flavor(spot.flavor);
    auto& request = wall.requests.emplace_back().pods;
    for (const Symbol& r : room().free()[spot.flavor].capacity().resources()) request.emplace_back(r, barrier);
    for (DomainIndex leaf = 0; leaf < flavor.tree.leaves(); ++leaf)
      if (flavor.tree.above(leaf, spot.level) == spot.domain) room().add_use(wall, {spot.flavor, leaf, 1, 0});
    TopologyRoom::take(room().free(), wall, sign);
  }

  std::optional<ScratchTree> scratch_;
};

/// Domains of a level of the topology's flavors in which somebody stands who could move, those with the fewest pods first.
std::vector<Spot> spots_of(Attempt& attempt, const Symbol& topology, std::size_t level) {
  std::map<WorkloadId, const Reservation*> reservations;
  for (const auto& [queue, r] : attempt.scratch().reservations()) reservations[r->workload->id] = r.get();
  std::vector<Spot> out;
  TopologyRoom& room = attempt.room();
  for (std::uint32_t f = 0; f < room.size(); ++f) {
    const auto& flavor = room.flavor(f);
    if (flavor.topology != topology || level >= flavor.tree.level_count()) continue;
    std::map<DomainIndex, std::set<WorkloadId>> standing;
    for (const auto& [id, leaves] : room.leaves_of_holders(f))
      for (const DomainIndex leaf : leaves) standing[flavor.tree.above(leaf, level)].insert(id);
    for (const auto& [domain, ids] : standing) {
      Spot spot{f, level, domain, 0, flavor.tree.levels()[level] + " " + path_text(flavor.tree.path(level, domain))};
      bool all = true;
      for (const WorkloadId id : ids) {
        const auto r = reservations.find(id);
        all = all && r != reservations.end() && movable(*r->second);
        if (r != reservations.end()) spot.pods += pods_of(*r->second);
      }
      if (all) out.push_back(std::move(spot));
    }
  }
  std::sort(out.begin(), out.end(),
            [](const Spot& a, const Spot& b) { return std::tie(a.pods, a.flavor, a.domain) < std::tie(b.pods, b.flavor, b.domain); });
  if (out.size() > tried_domains_max) out.resize(tried_domains_max);
  return out;
}

std::shared_ptr<const WorkloadInfo> waiting_info(const StateView& state, const WorkloadAt& at, Symbol& queue_name) {
  const auto& catalog = *state.domain().catalog();
  const auto* lq = catalog.local_queue(at.workload->namespace_, at.workload->queue_name);
  if (lq == nullptr) return nullptr;
  queue_name = lq->cluster_queue;
  const auto* queue = state.queue(queue_name);
  if (queue == nullptr) return nullptr;
  for (const auto& x : queue->waiting()) {
    const auto* option = x.workload->option.get();  // of a Parent the first one stands for it
    if (x.workload->uid == at.workload->uid || (option != nullptr && option->parent == at.workload->id)) return x.workload;
  }
  return nullptr;
}

void add_gains(const LevelRoom& before, const LevelRoom& after, const std::string& pod, std::vector<std::string>& out) {
  if (after.empty != before.empty)
    out.push_back("domains of " + before.level + " without anybody: " + std::to_string(before.empty) + " -> " +
                  std::to_string(after.empty));
  if (after.largest != before.largest)
    out.push_back("largest gang of pods with " + pod + " in one " + before.level + ": " + std::to_string(before.largest) + " -> " +
                  std::to_string(after.largest));
}

/// How much room there is at each level of a flavor, before and after.
struct Gains {
  std::vector<LevelRoom> before, after;
  std::vector<std::string> words;
};
Gains gains(Attempt& before, Attempt& after, std::uint32_t flavor) {
  const auto pod = measuring_pod(before.room(), flavor);
  Gains out{gang_room(before.room(), flavor, pod), gang_room(after.room(), flavor, pod), {}};
  for (std::size_t level = 0; level < out.before.size(); ++level) add_gains(out.before[level], out.after[level], words_of(pod), out.words);
  return out;
}

}  // namespace

Result<DefragmentationPlan> make_a_domain_free(const StateView& state, const Symbol& topology, const std::string& level) {
  const auto& catalog = *state.domain().catalog();
  const auto found = catalog.topologies.find(topology);
  const auto& levels = found->second;
  std::size_t wanted = levels.size() > 1 ? levels.size() - 2 : 0;
  if (!level.empty()) {
    const auto it = std::find(levels.begin(), levels.end(), level);
    if (it == levels.end())
      return fail(ErrorKind::invalid, "--level: topology " + std::string(topology.text()) + " has no level \"" + level +
                                          "\"; allowed: " + joined(levels, ", "));
    wanted = static_cast<std::size_t>(it - levels.begin());
  }
  const Symbol queue = queue_over(catalog, topology);
  Attempt before(state, queue);
  if (queue.empty() || !before.ready())
    return fail(ErrorKind::not_found,
                "no ClusterQueue has a flavor of topology " + std::string(topology.text()) + ", so nobody stands there");
  const auto spots = spots_of(before, topology, wanted);
  if (spots.empty()) return fail(ErrorKind::not_found, "in no domain of level " + levels[wanted] + " does anybody stand who could move");
  std::optional<DefragmentationPlan> best;
  for (const Spot& spot : spots) {
    if (best && spot.pods >= best->pods) break;
    Attempt attempt(state, queue);
    attempt.close(spot);
    const auto holders = attempt.holders(spot);
    if (!std::all_of(holders.begin(), holders.end(), [&](const auto& r) { return attempt.move(*r); })) continue;
    attempt.open(spot);
    auto won = gains(before, attempt, spot.flavor);
    if (won.after[wanted].empty <= won.before[wanted].empty) continue;  // others would stand where nobody did
    attempt.plan.goal = "nobody stands in " + spot.words + " any more";
    attempt.plan.gains = std::move(won.words);
    best = std::move(attempt.plan);
  }
  if (!best)
    return fail(ErrorKind::not_found, "no moves leave one more domain of level " + levels[wanted] + " without anybody: of " +
                                          counted(spots.size(), "domain") +
                                          " that were tried, each has somebody for whom there is no room " + "where others stand already");
  return std::move(*best);
}

Result<DefragmentationPlan> make_room_for(const StateView& state, Symbol topology, const WorkloadAt& waiting) {
  const std::string name = full_name(waiting.workload->namespace_.text(), waiting.workload->name);
  Symbol queue;
  const auto info = waiting_info(state, waiting, queue);
  if (info == nullptr) return fail(ErrorKind::invalid, "Workload " + name + " waits in no queue; 'hindsight why' tells where it is");
  Attempt now(state, queue);
  if (!now.ready()) return fail(ErrorKind::invalid, "topologies are switched off");
  const auto trials = try_places(state, *info, queue);
  const auto trial = std::find_if(trials.begin(), trials.end(), [&](const PlaceTrial& p) { return p.topology == topology && !p.fits; });
  if (now.scratch().fits(*info)) return fail(ErrorKind::invalid, "Workload " + name + " fits as things are: nobody has to move for it");
  if (trial == trials.end())
    return fail(ErrorKind::invalid, "Workload " + name + " does not wait for places in topology " + std::string(topology.text()) +
                                        "; 'hindsight why' tells what it waits for");
  if (!trial->fits_empty)
    return fail(ErrorKind::not_found,
                "Workload " + name + " would not fit if topology " + std::string(topology.text()) + " were empty either");

  const auto number = now.room().find(trial->flavor);
  const auto pod_set =
      std::find_if(info->pod_sets.begin(), info->pod_sets.end(), [&](const PodSetInfo& p) { return p.name.text() == trial->pod_set; });
  const auto& levels = now.room().flavor(*number).tree.levels();
  const std::size_t lowest = levels.size() - 1;
  std::size_t level = lowest;
  if (pod_set->topology && pod_set->topology->required)
    level = static_cast<std::size_t>(std::find(levels.begin(), levels.end(), *pod_set->topology->required) - levels.begin());

  std::optional<DefragmentationPlan> best;
  const auto consider = [&](Attempt& attempt, const std::vector<Spot>& closed) {
    for (const Spot& spot : closed) attempt.open(spot);
    const auto places = attempt.scratch().take_places(*info);
    if (!places) {
      for (const Spot& spot : closed) attempt.close(spot);
      return false;
    }
    if (!best || attempt.plan.pods < best->pods) {
      std::vector<std::string> parts;
      for (const auto& p : *places) parts.push_back(std::string(p.pod_set.text()) + " on " + places_text(p.topology));
      attempt.plan.places = joined(parts, "; ");
      attempt.plan.goal = "Workload " + name + " gets places";
      best = std::move(attempt.plan);
    }
    return true;
  };
  // Out of one domain in which it would have to stand, those with the fewest pods first, until it fits there.
  if (level < lowest)
    for (const Spot& spot : spots_of(now, topology, level)) {
      Attempt attempt(state, queue);
      attempt.close(spot);
      for (const auto& r : attempt.holders(spot)) {
        if (best && attempt.plan.pods + pods_of(*r) >= best->pods) break;
        if (attempt.move(*r) && consider(attempt, {spot})) break;
      }
    }
  // Or host by host, wherever few pods stand.
  Attempt attempt(state, queue);
  std::vector<Spot> closed;
  for (const Spot& spot : spots_of(now, topology, lowest)) {
    attempt.close(spot);
    closed.push_back(spot);
    bool all = true;
    for (const auto& r : attempt.holders(spot)) {
      if (best && attempt.plan.pods + pods_of(*r) >= best->pods) all = false;
      all = all && attempt.move(*r);
    }
    if (!all) {
      attempt.open(spot);
      closed.pop_back();
      continue;
    }
    if (consider(attempt, closed)) break;
  }
  if (!best)
    return fail(ErrorKind::not_found,
                "no moves were found that give Workload " + name + " places: those who stand where it could have no room elsewhere");
  return std::move(*best);
}

std::string to_text(const DefragmentationPlan& plan) {
  std::string out = "Then " + plan.goal + (plan.places.empty() ? "" : ": " + plan.places) + ".\n";
  out += counted(static_cast<std::size_t>(plan.pods), "pod") + " would start anew, of " + counted(plan.moves.size(), "pod set") +
         ", one after the other:\n";
  for (const auto& m : plan.moves) {
    out += "  " + m.workload + ", pod set " + m.pod_set + ", " + counted(static_cast<std::size_t>(m.pods), "pod") + "\n";
    out += "    - " + m.from + "\n    + " + m.to + "\n";
  }
  if (!plan.gains.empty()) out += "What changes:\n";
  for (const auto& g : plan.gains) out += "  " + g + "\n";
  out += "Nothing moves by itself: evict a workload, for instance by setting spec.active to false and true again, and it is placed anew.\n";
  return out;
}

Json to_json(const DefragmentationPlan& plan) {
  Json out{{"goal", plan.goal}, {"podsRestarted", plan.pods}, {"moves", Json::array()}, {"gains", plan.gains}};
  for (const auto& m : plan.moves)
    out["moves"].push_back({{"workload", m.workload}, {"podSet", m.pod_set}, {"pods", m.pods}, {"from", m.from}, {"to", m.to}});
  if (!plan.places.empty()) out["places"] = plan.places;
  return out;
}

}  // namespace hindsight::projections
