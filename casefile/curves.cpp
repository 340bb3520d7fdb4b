#include "casefile/curves.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "admission/domain/domain.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "projections/format.hpp"
#include "projections/lookup.hpp"
#include "projections/queue_place.hpp"
#include "projections/quota_report.hpp"

namespace hindsight::casefile {
namespace {

/// Newer ones push out older ones: a name can have had thousands of Workloads.
constexpr std::size_t uids_max = 64;

bool is_configuration(const RecordView& record) {
  const auto* o = std::get_if<Observation>(&record.body);
  if (o == nullptr) return false;
  return std::holds_alternative<ClusterQueueObserved>(*o) || std::holds_alternative<CohortObserved>(*o) ||
         std::holds_alternative<LocalQueueObserved>(*o) || std::holds_alternative<ResourceFlavorObserved>(*o) ||
         std::holds_alternative<ConfigurationObserved>(*o) || std::holds_alternative<MirrorSynced>(*o) ||
         std::holds_alternative<ObjectDeleted>(*o);
}

std::string_view name_of(Curve::Kind kind) {
  switch (kind) {
    case Curve::Kind::queue:
      return "used";
    case Curve::Kind::queue_limit:
      return "nominal";
    case Curve::Kind::tree:
      return "cohortUsed";
    case Curve::Kind::tree_limit:
      return "cohortNominal";
    case Curve::Kind::count:
      return "count";
  }
  return "";
}

}  // namespace

// ---- steps ------------------------------------------------------------------------------------------------------------------------

void Steps::put(Time from, Amount value) {
  if (!steps_.empty() && steps_.back().from == from) {
    steps_.back().value = value;
    if (steps_.size() > 1 && steps_[steps_.size() - 2].value == value) steps_.pop_back();
    return;
  }
  if (!steps_.empty() && steps_.back().value == value) return;
  steps_.push_back({from, value});
  if (steps_.size() > most) thin();
}

/// In each of so many stretches of time the first, the least, the largest and the last value stay, in their order.
void Steps::thin() {
  constexpr std::size_t stretches = most / 8;
  const Time first = steps_.front().from;
  const WideAmount span = std::max<std::int64_t>(1, (steps_.back().from - first).micros);
  const auto stretch = [&](const Step& s) { return static_cast<std::int64_t>(WideAmount{(s.from - first).micros} * stretches / span); };
  std::vector<Step> out;
  for (auto at = steps_.begin(); at != steps_.end();) {
    const auto end = std::find_if(at, steps_.end(), [&, here = stretch(*at)](const Step& s) { return stretch(s) != here; });
    const auto less = [](const Step& a, const Step& b) { return a.value < b.value; };
    std::vector<std::vector<Step>::iterator> kept{at, std::min_element(at, end, less), std::max_element(at, end, less), end - 1};
    std::sort(kept.begin(), kept.end());
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    for (const auto it : kept) out.push_back(*it);
    at = end;
  }
  steps_ = std::move(out);
  thinned_ = true;
}

// ---- looking on -------------------------------------------------------------------------------------------------------------------

void Watch::before(const RecordView& record, const StateView& state) {
  // Between two moments nothing changes, and of the records of one moment the last says what was so afterwards.
  if (record.envelope.time > state.domain().now()) sample(state);
}

void Watch::after(const RecordView& record, const StateView& state, bool concerns, std::string_view uid) {
  place_changed_ = place_changed_ || concerns;
  if (is_configuration(record)) configuration_changed_ = true;
  if (!uid.empty()) meet(state, uid);
}

void Watch::meet(const StateView& state, std::string_view uid) {
  const auto at = projections::find_by_uid(state, uid);
  if (at.workload == nullptr) return;
  if (std::find(uids_.begin(), uids_.end(), uid) == uids_.end()) {
    if (uids_.size() == uids_max) uids_.erase(uids_.begin());
    uids_.emplace_back(uid);
  }
  for (const auto& pod_set : *at.workload->pod_sets)
    for (const auto& request : pod_set.requests) {
      if (std::find(resources_.begin(), resources_.end(), request.resource) != resources_.end()) continue;
      resources_.push_back(request.resource);
      configuration_changed_ = true;
    }
  const auto note = [&](const Symbol& name) {
    if (name.empty() || std::find(names_.begin(), names_.end(), name) != names_.end()) return;
    names_.push_back(name);
    if (queues_.size() == queues_max) return;
    queues_.emplace_back().name = name;
    configuration_changed_ = true;
  };
  note(projections::queue_of(state, *at.workload));
  if (at.workload->admission) note(at.workload->admission->cluster_queue);
}

/// Which pairs are kept, and what is nominal of each.
void Watch::read_configuration(const StateView& state, Queue& queue) {
  const auto above = projections::cohorts_above(state, queue.name);
  queue.root = above.empty() ? Symbol() : above.back();
  const auto lines = projections::subtree_of_queue(state, queue.name);
  const auto tree = queue.root.empty() ? std::vector<projections::SubtreeQuota>() : projections::subtree_of_cohort(state, queue.root);
  for (auto& pair : queue.pairs) pair.nominal = pair.tree_nominal = 0;
  pairs_left_out_ = 0;
  for (const auto& line : lines) {
    if (std::find(resources_.begin(), resources_.end(), line.resource) == resources_.end()) continue;
    const auto is_it = [&](const auto& p) { return p.flavor == line.flavor && p.resource == line.resource; };
    auto pair = std::find_if(queue.pairs.begin(), queue.pairs.end(), is_it);
    if (pair == queue.pairs.end()) {
      if (queue.pairs.size() == pairs_max) {
        ++pairs_left_out_;
        continue;
      }
      pair = queue.pairs.insert(queue.pairs.end(), Pair{.flavor = line.flavor, .resource = line.resource});
    }
    pair->nominal = line.own;
    const auto whole = std::find_if(tree.begin(), tree.end(), is_it);
    pair->tree_nominal = whole == tree.end() ? 0 : whole->nominal;
  }
}

void Watch::sample(const StateView& state) {
  const Time now = state.domain().now();
  if (queues_.empty() || now.micros <= 0) return;
  if (configuration_changed_)
    for (auto& queue : queues_) read_configuration(state, queue);
  configuration_changed_ = false;
  for (auto& queue : queues_) {
    const auto* entity = state.queue(queue.name);
    queue.pending.put(now, entity == nullptr ? 0 : entity->counters().pending);
    const auto* tree = projections::tree_of(state, queue.name);
    const auto node = tree == nullptr ? admission::no_node : tree->find_queue(queue.name);
    for (auto& pair : queue.pairs) {
      Amount used = 0, all = 0;
      const auto cell = tree == nullptr ? admission::no_cell : tree->find_cell(pair.flavor, pair.resource);
      if (cell != admission::no_cell && node != admission::no_node) {
        const auto& table = tree->table();
        used = table.cell(node, cell).usage;
        for (admission::NodeIndex n = 0; n < table.nodes().size(); ++n)
          if (table.node(n).is_queue) all = add(all, table.cell(n, cell).usage);
      }
      pair.used.put(now, used);
      pair.limit.put(now, pair.nominal);
      pair.tree_used.put(now, all);
      pair.tree_limit.put(now, pair.tree_nominal);
    }
  }
  sample_places(state, now);
}

void Watch::sample_places(const StateView& state, Time now) {
  const WideAmount span = std::max<std::int64_t>(1, (end_ - begin_).micros);
  const auto stretch = static_cast<std::int64_t>(WideAmount{(now - begin_).micros} * places_max / span);
  const bool extra = place_changed_ && places_asked_ < places_max;
  if (stretch < next_place_ && !extra) return;
  if (stretch < next_place_) ++places_asked_;
  place_changed_ = false;
  next_place_ = std::max(next_place_, stretch + 1);
  Amount first = -1;
  for (const auto& uid : uids_) {
    const auto at = projections::find_by_uid(state, uid);
    if (at.workload == nullptr) continue;
    const auto place = projections::place_of(state, at);
    if (place && (first < 0 || static_cast<Amount>(place->position) < first)) first = static_cast<Amount>(place->position);
  }
  place_.put(now, first);
}

std::vector<Plot> Watch::plots() const {
  std::vector<Plot> out;
  for (const auto& queue : queues_) {
    const std::string name = "ClusterQueue " + projections::text(queue.name);
    for (const auto& pair : queue.pairs) {
      const std::string of = projections::text(pair.flavor) + "/" + projections::text(pair.resource);
      Plot& plot = out.emplace_back(Plot{of + " of " + name, projections::text(pair.resource), {}});
      if (!queue.root.empty()) {
        const std::string root = "Cohort " + projections::text(queue.root);
        plot.curves.push_back({Curve::Kind::tree, "used in " + root, pair.tree_used});
        plot.curves.push_back({Curve::Kind::tree_limit, "nominal quota of " + root, pair.tree_limit});
      }
      plot.curves.push_back({Curve::Kind::queue, "used in " + name, pair.used});
      plot.curves.push_back({Curve::Kind::queue_limit, "nominal quota of " + name, pair.limit});
    }
    out.push_back({"Workloads that waited in " + name, {}, {{Curve::Kind::count, "waiting", queue.pending}}});
  }
  const auto& places = place_.all();
  if (std::any_of(places.begin(), places.end(), [](const auto& s) { return s.value >= 0; }))
    out.push_back({"How many stood before it in line", {}, {{Curve::Kind::count, "before it", place_}}});
  return out;
}

projections::Json to_json(const Plot& plot) {
  projections::Json out{{"title", plot.title}};
  if (!plot.resource.empty()) out["resource"] = plot.resource;
  out["curves"] = projections::Json::array();
  for (const auto& curve : plot.curves) {
    projections::Json steps = projections::Json::array();
    for (const auto& s : curve.steps.all()) {
      projections::Json value = s.value == unlimited ? projections::Json("unlimited") : projections::Json(s.value);
      steps.push_back(projections::Json::array({format_rfc3339_micro(s.from), std::move(value)}));
    }
    projections::Json one{{"name", curve.name}, {"kind", name_of(curve.kind)}};
    if (curve.steps.thinned()) one["thinned"] = true;
    one["steps"] = std::move(steps);
    out["curves"].push_back(std::move(one));
  }
  return out;
}

}  // namespace hindsight::casefile
