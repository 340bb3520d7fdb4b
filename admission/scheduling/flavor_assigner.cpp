#include "admission/scheduling/flavor_assigner.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "admission/model/node_match.hpp"
#include "admission/scheduling/decision_trace.hpp"

namespace hindsight::admission {
namespace {

Amount used_of(std::span<const CellAmount> usage, CellIndex cell) {
  for (const CellAmount& u : usage)
    if (u.cell == cell) return u.amount;
  return 0;
}

void add_usage(std::vector<CellAmount>& usage, CellIndex cell, Amount amount) {
  if (amount <= 0) return;
  const auto at = std::lower_bound(usage.begin(), usage.end(), cell, [](const CellAmount& u, CellIndex c) { return u.cell < c; });
  if (at != usage.end() && at->cell == cell) {
    at->amount = add(at->amount, amount);
  } else {
    usage.insert(at, {cell, amount});
  }
}

std::int32_t count_of(const PodSetInfo& pod_set, std::span<const std::int32_t> counts, std::uint32_t position) {
  return counts.empty() ? pod_set.count : counts[position];
}

Symbol pods() {
  static const Symbol name("pods");
  return name;
}

}  // namespace

UpgradeFungibility upgrade_limit(const WorkloadInfo& workload, const QueueConfig& queue) {
  const bool upgrade = workload.option != nullptr && workload.option->running != no_workload;
  return upgrade ? queue.concurrent.upgrades : UpgradeFungibility::always;
}

bool is_preferred(FlavorMode a_mode, std::int32_t a_level, FlavorMode b_mode, std::int32_t b_level, FungibilityPreference preference) {
  if (a_mode == FlavorMode::no_fit) return false;
  if (b_mode == FlavorMode::no_fit) return true;
  // Nothing can be admitted on a flavor without candidates now, whatever its level (BA-87).
  if ((a_mode == FlavorMode::no_candidates) != (b_mode == FlavorMode::no_candidates)) return b_mode == FlavorMode::no_candidates;
  if (preference == FungibilityPreference::preemption_over_borrowing) return a_level != b_level ? a_level < b_level : a_mode > b_mode;
  return a_mode != b_mode ? a_mode > b_mode : a_level < b_level;
}

void FlavorAssigner::begin(const WorkloadInfo& workload, NodeIndex queue, const ScanState* scan, const Assignment* pin) {
  workload_ = &workload;
  queue_node_ = queue;
  queue_ = &tree_.queue(queue);
  scan_ = scan;
  pin_ = pin;
  simulations_.clear();
  upgrades_ = upgrade_limit(workload, *queue_->config);
  implied_ = placer_ != nullptr && placer_->implies(*queue_);
  replaced_ = nullptr;
  if (const auto entry = tree_.entry_of(workload.replaces); entry != FlatIndex::none && tree_.entry(entry).queue == queue) {
    replaced_ = tree_.entry(entry).reservation.get();
    scan_ = nullptr;  // EJ-151
  }
}

void FlavorAssigner::assign(std::span<const std::int32_t> counts, Assignment& out) {
  out.pod_sets.clear();
  out.usage.clear();
  out.mode = AssignmentMode::fit;
  out.level = 0;
  out.no_fit_reason = NoFitReason::none;

  if (replaced_ == nullptr) {
    each_unit([&](std::span<const std::uint32_t> members) { return assign_group(members, counts, out); });
    return;
  }
  difference_.clear();
  each_unit([&](std::span<const std::uint32_t> members) {
    credit(members, counts);
    return true;
  });
  each_unit([&](std::span<const std::uint32_t> members) { return assign_group(members, counts, out); });
  for (const CellAmount& d : difference_) add_usage(out.usage, d.cell, d.amount);
}

/// The pod sets one by one, those of a podset group together where the first of them stands (BA-94), until `visit` says false.
template <class Visit>
void FlavorAssigner::each_unit(Visit visit) {
  const auto& pod_sets = workload_->pod_sets;
  std::vector<std::uint32_t> members;
  for (std::uint32_t i = 0; i < pod_sets.size(); ++i) {
    const Symbol group = pod_sets[i].group;
    if (group.empty()) {
      if (!visit(std::span<const std::uint32_t>(&i, 1))) return;
      continue;
    }
    const auto same = [&](const PodSetInfo& p) { return p.group == group; };
    if (std::any_of(pod_sets.begin(), pod_sets.begin() + i, same)) continue;
    members.clear();
    for (std::uint32_t j = i; j < pod_sets.size(); ++j)
      if (same(pod_sets[j])) members.push_back(j);
    if (!visit(std::span<const std::uint32_t>(members))) return;
  }
}

void FlavorAssigner::collect_requests(std::span<const std::uint32_t> members, std::span<const std::int32_t> counts) {
  requests_.clear();
  const auto request = [&](const Symbol& resource, Amount amount) {
    for (auto& [name, sum] : requests_) {
      if (name != resource) continue;
      sum = add(sum, amount);
      return;
    }
    requests_.emplace_back(resource, amount);
  };
  for (const std::uint32_t i : members) {
    const PodSetInfo& p = workload_->pod_sets[i];
    const std::int32_t count = count_of(p, counts, i);
    for (const auto& r : p.requests) {
      if (queue_->covers_pods && r.resource == pods()) continue;
      request(r.resource, multiply(r.amount, count));
    }
    if (queue_->covers_pods) request(pods(), count);  // BA-42
  }
  if (replaced_ == nullptr) return;
  for (auto& [resource, amount] : requests_)
    for (const std::uint32_t i : members) amount = subtract(amount, held(workload_->pod_sets[i].name, resource));
}

Amount FlavorAssigner::held(const Symbol& pod_set, const Symbol& resource) const {
  for (const PodSetReservation& p : replaced_->effective) {
    if (p.pod_set != pod_set) continue;
    for (const auto& [name, amount] : p.usage)
      if (name == resource) return amount;
  }
  return 0;
}

/// The flavor that the replaced slice has for one of the wanted resources of the group; empty: none is recorded (EJ-36).
Symbol FlavorAssigner::original_flavor(const QuotaTree::Group& group, std::span<const std::uint32_t> members) const {
  for (const Wanted& w : wanted_)
    for (const std::uint32_t i : members)
      for (const PodSetReservation& p : replaced_->pod_sets) {
        if (p.pod_set != workload_->pod_sets[i].name) continue;
        for (const auto& [resource, flavor] : p.flavors)
          if (resource == group.resources[w.position]) return flavor;
      }
  return {};
}

void FlavorAssigner::count_difference(CellIndex cell, Amount amount) {
  for (CellAmount& d : difference_) {
    if (d.cell != cell) continue;
    d.amount = add(d.amount, amount);
    return;
  }
  difference_.push_back({cell, amount});
}

void FlavorAssigner::credit(std::span<const std::uint32_t> members, std::span<const std::int32_t> counts) {
  collect_requests(members, counts);
  for (const QuotaTree::Group& group : queue_->groups) {
    wanted_.clear();
    for (std::uint32_t r = 0; r < group.resources.size(); ++r)
      for (const auto& [resource, amount] : requests_)
        if (resource == group.resources[r]) wanted_.push_back({r, amount});
    const Symbol flavor = original_flavor(group, members);
    for (const Wanted& w : wanted_)
      if (w.amount < 0)
        if (const CellIndex cell = tree_.find_cell(flavor, group.resources[w.position]); cell != no_cell) count_difference(cell, w.amount);
  }
}

bool FlavorAssigner::assign_group(std::span<const std::uint32_t> members, std::span<const std::int32_t> counts, Assignment& out) {
  collect_requests(members, counts);

  bool failed = false;
  std::vector<ResourceChoice> choices;
  std::vector<Finding> findings;
  NoFitReason reason = NoFitReason::none;

  // A resource that no group has: free where undeclared ones are ignored or nothing is asked for (BA-45).
  Symbol unavailable;
  for (const auto& [resource, amount] : requests_) {
    if (amount <= 0 || settings_.ignore_undeclared_resources) continue;
    const auto covers = [name = resource](const QuotaTree::Group& g) {
      return std::find(g.resources.begin(), g.resources.end(), name) != g.resources.end();
    };
    if (std::any_of(queue_->groups.begin(), queue_->groups.end(), covers)) continue;
    if (unavailable.empty() || ByText{}(resource, unavailable)) unavailable = resource;
  }
  if (!unavailable.empty()) {
    failed = true;
    findings.push_back({Finding::Kind::resource_unavailable, unavailable, {}});
    if (trace_ != nullptr) trace_->unavailable(names_of(members), findings.back());
  }

  for (std::size_t g = 0; g < queue_->groups.size() && !failed; ++g) {
    const QuotaTree::Group& group = queue_->groups[g];
    wanted_.clear();
    for (std::uint32_t r = 0; r < group.resources.size(); ++r) {
      for (const auto& [resource, amount] : requests_)
        if (resource == group.resources[r]) wanted_.push_back({r, amount});
    }
    if (wanted_.empty()) continue;
    scan_flavors(group, members, replaced_ == nullptr ? out.usage : difference_, scan_result_);
    reason = std::max(reason, scan_result_.reason);
    if (scan_result_.best.empty()) {
      failed = true;
      findings.swap(scan_result_.findings);
      if (group.flavors.empty()) findings.push_back({Finding::Kind::resource_unavailable, group.resources[wanted_.front().position], {}});
      break;
    }
    choices.insert(choices.end(), scan_result_.best.begin(), scan_result_.best.end());
    findings.insert(findings.end(), scan_result_.findings.begin(), scan_result_.findings.end());
  }

  for (const std::uint32_t i : members) {
    const PodSetInfo& p = workload_->pod_sets[i];
    PodSetAssignment& result = out.pod_sets.emplace_back();
    result.pod_set = i;
    result.count = count_of(p, counts, i);
    result.findings = findings;
    result.failed = failed;
    if (failed) {
      result.mode = AssignmentMode::no_fit;
      continue;
    }
    for (const ResourceChoice& c : choices) {
      const bool is_pods = queue_->covers_pods && c.resource == pods();
      const auto asked = std::find_if(p.requests.begin(), p.requests.end(), [&](const auto& r) { return r.resource == c.resource; });
      if (!is_pods && asked == p.requests.end()) continue;
      ResourceChoice own = c;
      own.amount = is_pods ? result.count : multiply(asked->amount, result.count);
      result.mode = std::min(result.mode, api_mode(own.mode));
      out.level = std::max(out.level, own.level);
      if (replaced_ == nullptr) add_usage(out.usage, own.cell, own.amount);
      result.choices.push_back(own);
    }
    out.mode = std::min(out.mode, result.mode);
  }
  if (replaced_ != nullptr && !failed)
    for (const ResourceChoice& c : choices)
      if (c.amount > 0) count_difference(c.cell, c.amount);
  if (!failed) return true;
  out.mode = AssignmentMode::no_fit;
  out.no_fit_reason = !unavailable.empty() || reason == NoFitReason::none ? NoFitReason::no_matching_flavor : reason;
  return false;
}

void FlavorAssigner::scan_flavors(const QuotaTree::Group& group, std::span<const std::uint32_t> members, std::span<const CellAmount> used,
                                  Scan& out) {
  out.best.clear();
  out.findings.clear();
  out.reason = NoFitReason::none;
  Fitness best;
  const Symbol first_resource = group.resources[wanted_.front().position];
  const FungibilityPreference preference = queue_->config->preference;
  const auto blame = [&](NoFitReason r) { out.reason = out.reason == NoFitReason::none ? r : std::min(out.reason, r); };

  const auto is_allowed = [this](const Symbol& flavor) {
    const auto& allowed = workload_->allowed;
    return allowed == nullptr || std::find(allowed->begin(), allowed->end(), flavor) != allowed->end();
  };
  std::size_t last = group.flavors.size();  // the last flavor that was looked at; none yet
  const std::size_t first = first_flavor(workload_->pod_sets[members.front()].name, first_resource);
  if (trace_ != nullptr)
    trace_->scan_begins(names_of(members), first == 0 || first > group.flavors.size() ? Symbol() : group.flavors[first - 1]);
  for (std::size_t f = first; f < group.flavors.size(); ++f) {
    const std::size_t found = out.findings.size();
    if (!is_allowed(group.flavors[f])) {
      out.findings.push_back({Finding::Kind::not_allowed, first_resource, group.flavors[f]});
      blame(NoFitReason::no_matching_flavor);
      if (trace_ != nullptr) note_flavor(group.flavors[f], found, out, nullptr, used);
      continue;
    }
    last = f;
    if (pin_ != nullptr && !pinned(members, first_resource, group.flavors[f])) {
      out.findings.push_back({Finding::Kind::not_nominated, first_resource, group.flavors[f]});
      if (trace_ != nullptr) note_flavor(group.flavors[f], found, out, nullptr, used);
      continue;
    }
    if (replaced_ != nullptr) {
      const Symbol original = original_flavor(group, members);
      if (!original.empty() && original != group.flavors[f]) {
        Finding finding{Finding::Kind::other_flavor, first_resource, group.flavors[f]};
        finding.original = original;
        out.findings.push_back(finding);
        blame(NoFitReason::no_matching_flavor);
        if (trace_ != nullptr) note_flavor(group.flavors[f], found, out, nullptr, used);
        continue;
      }
    }
    if (!flavor_matches(group, f, members, out)) {
      blame(NoFitReason::no_matching_flavor);
      if (trace_ != nullptr) note_flavor(group.flavors[f], found, out, nullptr, used);
      continue;
    }

    // The flavor is as good as the least preferred (mode, level) of its resources; all are looked at, also after a bad one.
    Fitness flavor{FlavorMode::fit, 0};
    NoFitReason reason = NoFitReason::none;
    current_.clear();
    for (const Wanted& w : wanted_) {
      const Fitness one = fitness(group, f, w, used, out, reason);
      if (is_preferred(flavor.mode, flavor.level, one.mode, one.level, preference)) flavor = one;
      current_.push_back({group.resources[w.position], group.flavors[f], group.cell(f, w.position), w.amount, one.mode, one.level, -1});
    }
    if (flavor.mode == FlavorMode::no_fit) blame(reason);

    bool better = false, end = false;
    if (!settings_.flavor_fungibility) {
      better = flavor.mode > best.mode;
      end = better && flavor.mode == FlavorMode::fit;
    } else {
      end = !try_next(flavor);
      better = end || is_preferred(flavor.mode, flavor.level, best.mode, best.level, preference);
    }
    if (better) {
      out.best = current_;
      best = flavor;
    }
    if (trace_ != nullptr) note_flavor(group.flavors[f], found, out, &flavor, used, better, end);
    if (end) break;
  }
  if (trace_ != nullptr) trace_->scan_ends(out.best.empty() ? Symbol() : out.best.front().flavor);
  // CA-98: behind the last one that is allowed there is nothing to go on with.
  const bool at_end =
      replaced_ != nullptr || std::none_of(group.flavors.begin() + static_cast<std::ptrdiff_t>(std::min(last + 1, group.flavors.size())),
                                           group.flavors.end(), is_allowed);
  for (ResourceChoice& c : out.best) c.tried_index = at_end || !settings_.flavor_fungibility ? -1 : static_cast<std::int32_t>(last);
  if (best.mode == FlavorMode::fit) out.findings.clear();
}

/// Of a group that covers nothing that the pods themselves ask for, the topology does not matter (TAS-54).
bool FlavorAssigner::topology_matches(const QuotaTree::Group& group, const FlavorConfig& flavor, std::span<const std::uint32_t> members,
                                      Scan& out) const {
  for (const std::uint32_t i : members) {
    const PodSetInfo& p = workload_->pod_sets[i];
    const bool virtual_only = !p.pod_requests.empty() && std::none_of(group.resources.begin(), group.resources.end(), [&](Symbol name) {
      return std::any_of(p.pod_requests.begin(), p.pod_requests.end(), [&](const auto& r) { return r.resource == name; });
    });
    if (virtual_only) continue;
    std::optional<Finding::Kind> why;
    switch (placer_->match(p, flavor, implied_)) {
      case TopologyMatch::matches:
        continue;
      case TopologyMatch::not_supported:
        why = Finding::Kind::no_topology;
        break;
      case TopologyMatch::only_supported:
        why = Finding::Kind::only_topology;
        break;
      case TopologyMatch::level_missing:
        why = Finding::Kind::level_missing;
        break;
      case TopologyMatch::unknown_topology:
        why = Finding::Kind::topology_missing;
        break;
    }
    out.findings.push_back({*why, {}, flavor.name});
    return false;
  }
  return true;
}

bool FlavorAssigner::flavor_matches(const QuotaTree::Group& group, std::size_t flavor, std::span<const std::uint32_t> members, Scan& out) {
  const Symbol name = group.flavors[flavor];
  const FlavorConfig* config = flavors_.get(group.flavor_numbers[flavor]);
  if (config == nullptr) {
    out.findings.push_back({Finding::Kind::flavor_not_found, {}, name});
    return false;
  }
  if (placer_ != nullptr && !topology_matches(group, *config, members, out)) return false;
  if (config->taints.empty() && config->node_labels.empty()) return true;
  for (const std::uint32_t i : members) {
    const PodSetInfo& p = workload_->pod_sets[i];
    const PodShape& shape = *p.shape;
    if (const OwnedTaint* taint = first_untolerated_taint(*config, shape)) {
      Finding finding{Finding::Kind::untolerated_taint, {}, name};
      finding.taint = taint;
      out.findings.push_back(finding);
      return false;
    }
    if (!matches_node_labels(*config, shape)) {
      out.findings.push_back({Finding::Kind::affinity_mismatch, {}, name});
      return false;
    }
  }
  return true;
}

/// What is possible, less what the queue does not allow to an upgrade (CA-146).
FlavorAssigner::Fitness FlavorAssigner::fitness(const QuotaTree::Group& group, std::size_t flavor, const Wanted& wanted,
                                                std::span<const CellAmount> used, Scan& out, NoFitReason& reason) {
  const Fitness found = possible(group, flavor, wanted, used, out, reason);
  if (upgrades_ == UpgradeFungibility::always || found.mode == FlavorMode::no_fit) return found;
  const auto rule_out = [&](Finding::Kind why) {
    out.findings.push_back({why, group.resources[wanted.position], group.flavors[flavor]});
    reason = std::max(reason, NoFitReason::waiting_for_quota);
    return Fitness{FlavorMode::no_fit, found.level};
  };
  const bool preempts = found.mode == FlavorMode::preempt || found.mode == FlavorMode::reclaim;
  if (upgrades_ == UpgradeFungibility::no_preemption) return preempts ? rule_out(Finding::Kind::upgrade_preempts) : found;
  if (found.level == 0) return found;
  // Who waits for quota of its own queue to get free waits on, and keeps none of the cohort's from others.
  const CellIndex cell = group.cell(flavor, wanted.position);
  const bool may_fit = add(used_of(used, cell), wanted.amount) <= table_.cell(queue_node_, cell).subtree;
  if (found.mode == FlavorMode::no_candidates && may_fit) return {found.mode, 0};
  return rule_out(Finding::Kind::upgrade_borrows);
}

FlavorAssigner::Fitness FlavorAssigner::possible(const QuotaTree::Group& group, std::size_t flavor, const Wanted& wanted,
                                                 std::span<const CellAmount> used, Scan& out, NoFitReason& reason) {
  const CellIndex cell = group.cell(flavor, wanted.position);
  const QuotaCell& q = table_.cell(queue_node_, cell);
  const Amount earlier = used_of(used, cell);
  const Amount amount = add(earlier, wanted.amount);
  if (replaced_ != nullptr && (wanted.amount <= 0 || amount <= 0)) return {FlavorMode::fit, 0};  // it asks for nothing (EJ-20)
  if (amount > q.potential) {
    out.findings.push_back(
        {Finding::Kind::exceeds_potential, group.resources[wanted.position], group.flavors[flavor], earlier, wanted.amount, q.potential});
    reason = std::max(reason, NoFitReason::exceeds_max_quota);
    return {FlavorMode::no_fit, 0};
  }
  const QuotaTable::Level level = table_.lowest_subtree_that_fits(queue_node_, cell, amount);
  const Amount offered = table_.offered(queue_node_, cell);
  if (amount <= offered) return {FlavorMode::fit, level.level};

  out.findings.push_back(
      {Finding::Kind::insufficient_unused, group.resources[wanted.position], group.flavors[flavor], subtract(amount, offered)});
  if (replaced_ != nullptr) {
    Amount total = amount;
    for (const auto& c : replaced_->charges)
      if (c.flavor == group.flavors[flavor] && c.resource == group.resources[wanted.position]) total = add(total, c.amount);
    if (total > q.potential) {
      out.findings.back().b = total;
      out.findings.back().c = q.potential;
    }
  }
  const QueueConfig& config = *queue_->config;
  const bool may_preempt_while_borrowing = config.borrow_within_cohort != PreemptionPolicy::never ||
                                           (settings_.fair_sharing && config.reclaim_within_cohort != PreemptionPolicy::never);
  if (amount <= q.subtree || level.more_above || may_preempt_while_borrowing) return simulate(cell, amount);
  reason = std::max(reason, NoFitReason::waiting_for_quota);
  return {FlavorMode::no_fit, level.level};
}

FlavorAssigner::Fitness FlavorAssigner::simulate(CellIndex cell, Amount amount) {
  const std::array requests{CellAmount{cell, amount}};
  const std::array need{cell};
  const std::vector<Target>* targets = simulated(cell, amount);
  if (targets == nullptr) {
    const Preemptor preemptor{workload_, queue_node_, requests, need};
    simulations_.push_back({cell, amount, preemption_.find_targets(preemptor)});
    targets = &simulations_.back().targets;
    if (trace_ != nullptr) trace_->search(tree_, preemptor, *targets);
  }
  if (targets->empty()) return {FlavorMode::no_candidates, table_.lowest_subtree_that_fits(queue_node_, cell, amount).level};

  const QuotaTable::Mark mark = table_.mark();
  bool own = false;
  for (const Target& t : *targets) {
    table_.remove(t.queue, tree_.entry(t.entry).cells);
    own = own || t.queue == queue_node_;
  }
  const std::int32_t level = table_.lowest_subtree_that_fits(queue_node_, cell, amount).level;
  table_.rollback(mark);
  return {own ? FlavorMode::preempt : FlavorMode::reclaim, level};
}

const std::vector<Target>* FlavorAssigner::simulated(CellIndex cell, Amount amount) const {
  for (const Simulation& s : simulations_)
    if (s.cell == cell && s.amount == amount) return &s.targets;
  return nullptr;
}

bool FlavorAssigner::try_next(const Fitness& fitness) const {
  const QueueConfig& config = *queue_->config;
  if (fitness.mode <= FlavorMode::no_candidates) return true;
  if (fitness.mode != FlavorMode::fit && config.when_can_preempt == FungibilityPolicy::try_next_flavor) return true;
  return fitness.level > 0 && config.when_can_borrow == FungibilityPolicy::try_next_flavor;
}

std::vector<Symbol> FlavorAssigner::names_of(std::span<const std::uint32_t> members) const {
  std::vector<Symbol> out;
  for (const std::uint32_t i : members) out.push_back(workload_->pod_sets[i].name);
  return out;
}

void FlavorAssigner::note_flavor(const Symbol& name, std::size_t found_from, const Scan& scan, const Fitness* fitness,
                                 std::span<const CellAmount> used, bool better, bool last) {
  using Verdict = TracedFlavor::Verdict;
  const std::span<const Finding> findings = std::span(scan.findings).subspan(found_from);
  if (fitness == nullptr) return trace_->flavor(name, Verdict::ruled_out, FlavorMode::no_fit, 0, {}, findings);
  std::vector<TracedResource> resources;
  for (const ResourceChoice& c : current_)
    resources.push_back({c.resource,
                         add(used_of(used, c.cell), c.amount),
                         table_.offered(queue_node_, c.cell),
                         table_.cell(queue_node_, c.cell).potential,
                         c.mode,
                         c.level,
                         {}});
  const Verdict verdict = last ? Verdict::taken : better ? Verdict::better : Verdict::worse;
  trace_->flavor(name, verdict, fitness->mode, fitness->level, resources, findings);
}

std::size_t FlavorAssigner::first_flavor(const Symbol& pod_set, const Symbol& resource) const {
  if (scan_ == nullptr || !settings_.flavor_fungibility) return 0;
  for (const auto& e : scan_->entries)
    if (e.pod_set == pod_set && e.resource == resource) return static_cast<std::size_t>(e.flavor_index) + 1;
  return 0;
}

bool FlavorAssigner::pinned(std::span<const std::uint32_t> members, const Symbol& resource, const Symbol& flavor) const {
  for (const PodSetAssignment& p : pin_->pod_sets) {
    if (std::find(members.begin(), members.end(), p.pod_set) == members.end()) continue;
    for (const ResourceChoice& c : p.choices)
      if (c.resource == resource && c.flavor == flavor) return true;
  }
  return false;
}

}  // namespace hindsight::admission
