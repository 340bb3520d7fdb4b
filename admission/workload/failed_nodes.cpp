// Nodes on which a Workload has places and that fail (2724 §4.9): which they are, and which pods can start nowhere because of it. Other
// places are found in a cycle, by the cohort tree.

#include <algorithm>
#include <map>
#include <numeric>

#include "admission/model/node_match.hpp"
#include "admission/rules.hpp"
#include "admission/topology/assigned_domains.hpp"
#include "admission/topology/node_health.hpp"
#include "admission/workload/workload_parent.hpp"

namespace hindsight::admission {
namespace {

/// So many are told at a time, as the API has it; the others are when these have been replaced.
constexpr std::size_t unhealthy_nodes_max = 8;

const Symbol& hostname() {
  static const Symbol label(topology::hostname_label);
  return label;
}

bool is_by_host(const TopologyAssignment& assignment) { return !assignment.empty() && assignment.levels.back() == hostname(); }

/// Of the pods that stand there: as their template, their checks and their flavors say (TAS-103).
std::vector<OwnedToleration> tolerations_of(const WorkloadState& w, const PodSetReservation& assigned, const Catalog& catalog) {
  std::vector<OwnedToleration> out;
  for (const auto& s : w.pod_sets.value())
    if (s.name == assigned.pod_set) out = shape_with_updates(w, s)->tolerations;
  for (const auto& [resource, name] : assigned.flavors)
    if (const auto* flavor = catalog.flavor(name)) out.insert(out.end(), flavor->tolerations.begin(), flavor->tolerations.end());
  return out;
}

/// The pod set, in these places.
PodSetAssignmentFacts view(const PodSetReservation& assigned, const TopologyAssignment& where, Arena& a) {
  PodSetAssignmentFacts out;
  out.pod_set = a.copy(assigned.pod_set.text());
  out.count = assigned.count;
  const auto levels = a.make<Text>(where.levels.size());
  for (std::size_t i = 0; i < levels.size(); ++i) levels[i] = a.copy(where.levels[i].text());
  const auto domains = a.make<TopologyDomainFacts>(where.size());
  for (std::size_t d = 0; d < where.size(); ++d) {
    const auto values = a.make<Text>(levels.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = a.copy(where.domain(d)[i].text());
    domains[d] = {values, where.counts[d]};
  }
  out.topology_levels = levels;
  out.topology = domains;
  return out;
}

const Symbol* host_of(const PodState& pod) {
  for (const auto& [key, value] : pod.selector->entries)
    if (key == hostname()) return &value;
  return nullptr;
}

}  // namespace

/// The domain asks us again when something happens to one of the hosts.
void WorkloadParent::tell_places(Outbox& out) {
  std::vector<Interned<TopologyAssignment>> now;
  for (const auto& w : workloads_) {
    if (!w.admission || w.finished()) continue;
    for (const auto& p : w.admission->pod_sets)
      if (is_by_host(p.topology)) now.push_back(p.topology);
  }
  if (now == told_places_) return;
  told_places_ = std::move(now);
  msg::StandsOn message;
  for (const TopologyAssignment& assignment : told_places_)
    for (std::size_t i = 0; i < assignment.size(); ++i) message.hosts.push_back(assignment.domain(i).back());
  std::sort(message.hosts.begin(), message.hosts.end(), ByText{});
  message.hosts.erase(std::unique(message.hosts.begin(), message.hosts.end()), message.hosts.end());
  out.send(self_, domain_address, std::move(message));
}

/// Something happened to the Workload. Anybody can make thousands of them of one job, most of which have no places.
void WorkloadParent::tell_places_of(const WorkloadState& w, const Context& c, Outbox& out) {
  const bool stands = w.admission && std::any_of(w.admission->pod_sets.begin(), w.admission->pod_sets.end(),
                                                 [](const PodSetReservation& p) { return is_by_host(p.topology); });
  if (stands || !told_places_.empty()) tell_places(out);
  if (!pods_.empty() || !told_lingering_.empty()) tell_lingering(c, out);
}

/// The pod uses a node, and no place of its Workload stands for it (TAS-37).
bool WorkloadParent::lingers(const PodState& pod) const {
  if (!pod.placed || pod.node.empty() || pod.ended) return false;
  return std::none_of(workloads_.begin(), workloads_.end(), [&](const WorkloadState& w) {
    if (!w.reserved() || w.finished() || !w.active || !is_pod_of(pod, w)) return false;
    return std::any_of(w.admission->pod_sets.begin(), w.admission->pod_sets.end(), [&](const PodSetReservation& p) {
      if (p.pod_set != pod.pod_set) return false;
      const TopologyAssignment& where = p.topology;
      for (std::size_t i = 0; i < where.size(); ++i)
        if (topology::selects(pod.selector, where, i)) return true;
      return false;
    });
  });
}

namespace {

/// Places of elastic slices, of which each pod that is bound there takes one.
class PlacesLeft {
 public:
  void add(const WorkloadState& w) {
    for (const auto& assigned : w.admission->pod_sets)
      if (!assigned.topology->empty())
        left_.push_back({assigned.pod_set, topology::AssignedDomains(assigned.topology), assigned.topology->counts});
  }
  /// False: there is none left for it.
  bool take(const PodState& pod) {
    if (left_.empty()) return true;  // those of other jobs are not counted
    for (Left& one : left_) {
      if (one.pod_set != pod.pod_set) continue;
      const auto d = one.domains.find(pod.selector);
      if (d < 0 || one.counts[static_cast<std::size_t>(d)] == 0) continue;
      --one.counts[static_cast<std::size_t>(d)];
      return true;
    }
    return false;
  }

 private:
  struct Left {
    Symbol pod_set;
    topology::AssignedDomains domains;
    std::vector<std::int32_t> counts;
  };
  std::vector<Left> left_;
};

bool is_bound(const PodState& pod) { return pod.placed && !pod.node.empty() && !pod.ended; }
bool has_places(const WorkloadState& w) { return w.elastic && w.reserved() && !w.finished() && w.active; }

}  // namespace

/// A slice that has become smaller may have fewer places on a host than pods that still run there.
bool WorkloadParent::crowds(const PodState& pod, const Context& c) const {
  if (c.rules < rules_with_elastic_repairs || !is_bound(pod)) return false;
  return std::any_of(workloads_.begin(), workloads_.end(), [&](const WorkloadState& w) {
    if (!has_places(w)) return false;
    const auto assigned = std::find_if(w.admission->pod_sets.begin(), w.admission->pod_sets.end(),
                                       [&](const PodSetReservation& p) { return p.pod_set == pod.pod_set; });
    if (assigned == w.admission->pod_sets.end()) return false;
    const TopologyAssignment& where = assigned->topology;
    for (std::size_t i = 0; i < where.size(); ++i)
      if (topology::selects(pod.selector, where, i))
        return where.counts[i] < std::count_if(
                                     pods_.begin(), pods_.end(),
                                     [&](const PodState& another) {
                                       return another.pod_set == pod.pod_set && is_bound(another) && another.selector == pod.selector;
                                     });
    return false;
  });
}

/// Pods of an admission that is over go on using their nodes until they have ended, and so do pods of a node that was given up: others
/// must not get what is not free yet (TAS-37).
void WorkloadParent::tell_lingering(const Context& c, Outbox& out) {
  std::vector<std::pair<Symbol, PodAmounts>> now;
  PlacesLeft left;
  if (c.rules >= rules_with_elastic_repairs && !pods_.empty())
    for (const auto& w : workloads_)
      if (has_places(w)) left.add(w);
  for (const auto& pod : pods_) {
    if (!lingers(pod) && (!is_bound(pod) || left.take(pod))) continue;
    auto at = std::lower_bound(now.begin(), now.end(), pod.node, [](const auto& n, const Symbol& node) { return ByText{}(n.first, node); });
    if (at == now.end() || at->first != pod.node) at = now.insert(at, {pod.node, {}});
    add_amounts(at->second.amounts, pod.requests->amounts);
  }
  if (now == told_lingering_) return;
  told_lingering_ = now;
  out.send(self_, domain_address, msg::Lingers{std::move(now)});
}

bool WorkloadParent::progresses_on(const WorkloadState& w, const Symbol& host, const NodeConfig* node) const {
  return std::any_of(pods_.begin(), pods_.end(), [&](const PodState& pod) {
    if (pod.ended || pod.terminating || pod.node.empty() || !is_pod_of(pod, w)) return false;
    return node != nullptr ? pod.node == node->name : pod.node == host;
  });
}

bool WorkloadParent::may_move(const WorkloadState& w, const Context& c) {
  const Settings& settings = c.catalog->settings;
  if (!settings.topologies || !settings.replace_nodes) return false;
  return !w.elastic || (c.rules >= rules_with_elastic_repairs && settings.elastic_topologies);  // EJ-112
}

/// Where its pods stand, or will: of a slice that was made smaller only what those that are left hold (EJ-113).
const std::vector<PodSetReservation>& WorkloadParent::held_places(const WorkloadState& w) const {
  const auto& held = placements_[static_cast<std::size_t>(&w - workloads_.data())].held;
  return w.elastic && held != nullptr && !held->effective.empty() ? held->effective : w.admission->pod_sets;
}

template <class F>
void WorkloadParent::each_doubtful_host(const WorkloadState& w, const std::vector<PodSetReservation>& places, const Context& c,
                                        F&& f) const {
  if (c.hosts == nullptr || c.hosts->doubtful.empty()) return;
  for (const auto& assigned : places) {
    const TopologyAssignment& assignment = assigned.topology;
    if (!is_by_host(assignment)) continue;
    std::optional<std::vector<OwnedToleration>> tolerations;
    for (std::size_t i = 0; i < assignment.size(); ++i) {
      const Symbol& host = assignment.domain(i).back();
      if (!c.hosts->doubtful.contains(host)) continue;
      if (!tolerations) tolerations = tolerations_of(w, assigned, *c.catalog);
      const NodeConfig* node = node_of(*c.nodes, *c.hosts, host);
      f(host, topology::judge(node, *tolerations, progresses_on(w, host, node), c.catalog->settings, c.now));
    }
  }
}

/// TAS-96, TAS-109.
bool WorkloadParent::follow_nodes(const WorkloadState& w, const Context& c, Proposal& p) const {
  std::vector<Symbol> failed;
  if (may_move(w, c) && w.admission)
    each_doubtful_host(w, held_places(w), c, [&](const Symbol& host, const topology::NodeVerdict& verdict) {
      if (verdict.failed) failed.push_back(host);
    });
  std::sort(failed.begin(), failed.end(), ByText{});
  failed.erase(std::unique(failed.begin(), failed.end()), failed.end());
  if (failed.size() > unhealthy_nodes_max) failed.resize(unhealthy_nodes_max);
  if (failed == w.unhealthy_nodes) return false;
  const auto nodes = p.arena->make<Text>(failed.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i] = p.arena->copy(failed[i].text());
  p.events.emplace_back(NodesUnhealthy{ref(w, *p.arena), nodes});
  return true;
}

namespace {

/// Does the node lie where the other hosts of the pod set do, as far as its pods have to be together, and can its flavors select it?
bool is_among_the_others(const NodeConfig& node, const PodSetSpec& spec, const PodSetReservation& assigned, const Context& c) {
  if (spec.topology && !spec.topology->slices.empty()) return false;  // which pods were one slice is not known
  for (const auto& [resource, name] : assigned.flavors) {
    const FlavorConfig* const flavor = c.catalog->flavor(name);
    if (flavor == nullptr || !carries(node, flavor->node_labels)) return false;
    if (!spec.topology || !spec.topology->required) continue;
    const auto levels = c.catalog->topologies.find(flavor->topology);
    if (levels == c.catalog->topologies.end()) continue;
    const NodeConfig* const neighbour = node_of(*c.nodes, *c.hosts, assigned.topology->domain(0).back());
    for (const auto& level : levels->second) {
      if (level == topology::hostname_label || neighbour == nullptr || neighbour->labels.at(Symbol(level)) != node.labels.at(Symbol(level)))
        return false;
      if (level == *spec.topology->required) break;
    }
  }
  return true;
}

}  // namespace

/// The places of the pod set when those of its pods that run on other hosts, which are well, keep them, in place of as many that no pod has
/// taken; nothing: all is well as it is.
std::optional<TopologyAssignment> WorkloadParent::with_hosts_taken_back(const WorkloadState& w, const PodSetReservation& assigned,
                                                                        const Context& c) const {
  const auto spec = std::find_if(w.pod_sets->begin(), w.pod_sets->end(), [&](const auto& s) { return s.name == assigned.pod_set; });
  if (spec == w.pod_sets->end()) return {};
  const TopologyAssignment& all = assigned.topology;
  const topology::AssignedDomains domains(all);
  std::vector<std::int32_t> untaken = all.counts;
  std::map<Symbol, std::int32_t, ByText> elsewhere;
  for (const auto& pod : pods_) {
    if (pod.pod_set != assigned.pod_set || pod.ended || !is_pod_of(pod, w)) continue;
    if (const auto d = domains.find(pod.topology_gated ? pod.place : pod.selector); d >= 0)
      --untaken[static_cast<std::size_t>(d)];
    else if (const Symbol* host = host_of(pod); host != nullptr && !pod.topology_gated && !pod.terminating) {
      // Whoever makes a pod by hand may bind it to one node and let it select another: it uses the one to which it is bound.
      const NodeConfig* const node = node_of(*c.nodes, *c.hosts, *host);
      if (node != nullptr && node->name == pod.node) ++elsewhere[*host];
    }
  }
  const auto tolerations = tolerations_of(w, assigned, *c.catalog);
  TopologyAssignment out = all;
  bool any = false;
  for (const auto& [host, pods] : elsewhere) {
    const NodeConfig* const node = node_of(*c.nodes, *c.hosts, host);
    const auto verdict = topology::judge(node, tolerations, false, c.catalog->settings, c.now);  // also for pods that would start there
    if (verdict.failed || verdict.fails_at || !is_among_the_others(*node, *spec, assigned, c)) continue;
    if (std::accumulate(untaken.begin(), untaken.end(), std::int64_t{0}, [](auto sum, auto n) { return sum + std::max(n, 0); }) < pods)
      continue;
    std::int32_t left = pods;
    for (std::size_t d = 0; d < untaken.size() && left > 0; ++d) {
      const std::int32_t some = std::clamp(untaken[d], 0, left);
      untaken[d] -= some;
      out.counts[d] -= some;
      left -= some;
    }
    out.values.push_back(host);
    out.counts.push_back(pods);
    any = true;
  }
  if (!any) return {};
  TopologyAssignment now;
  now.levels = all.levels;
  for (std::size_t d = 0; d < out.size(); ++d) {
    if (out.counts[d] == 0) continue;
    now.values.push_back(out.domain(d).back());
    now.counts.push_back(out.counts[d]);
  }
  return now;
}

/// A node that was gone, or failed, and is well again before its pods were ended: they run on, where they have no places any more, while
/// others are kept for them in vain. So those are given up and theirs are their places again, as if they had not been replaced (TAS-96).
bool WorkloadParent::take_hosts_back(const WorkloadState& w, const Context& c, Proposal& p) const {
  if (c.rules < rules_with_hosts_taken_back || told_lingering_.empty() || !may_move(w, c)) return false;
  if (!w.unhealthy_nodes.empty()) return false;  // those have to be replaced first
  std::vector<PodSetAssignmentFacts> changed;
  for (const auto& assigned : w.admission->pod_sets) {
    if (!is_by_host(assigned.topology)) continue;
    const auto now = with_hosts_taken_back(w, assigned, c);
    if (!now) continue;
    changed.push_back(view(assigned, *now, *p.arena));
  }
  if (changed.empty()) return false;
  p.events.emplace_back(TopologyReassigned{ref(w, *p.arena), {}, p.arena->copy(changed), false});
  return true;
}

/// A slice that was made smaller has, once no more pods are left than it may have, the places of these and no others: somebody else may
/// get what it gave up at any time, and then a pod that is made anew must not be sent there (EJ-113, EJ-114).
bool WorkloadParent::give_places_up(const WorkloadState& w, const Context& c, Proposal& p) const {
  if (!w.elastic || c.rules < rules_with_elastic_repairs || !w.unhealthy_nodes.empty()) return false;
  const auto pods_in = [](const TopologyAssignment& where) {
    return std::accumulate(where.counts.begin(), where.counts.end(), std::int64_t{0});
  };
  std::vector<PodSetAssignmentFacts> changed;
  for (const auto& left : held_places(w)) {
    const auto whole = std::find_if(w.admission->pod_sets.begin(), w.admission->pod_sets.end(),
                                    [&](const PodSetReservation& one) { return one.pod_set == left.pod_set; });
    if (whole == w.admission->pod_sets.end() || left.topology->empty()) continue;
    if (pods_in(left.topology) <= left.count && pods_in(left.topology) < pods_in(whole->topology))
      changed.push_back(view(*whole, left.topology, *p.arena));
  }
  if (changed.empty()) return false;
  p.events.emplace_back(TopologyReassigned{ref(w, *p.arena), {}, p.arena->copy(changed), true});
  return true;
}

/// When the first of its nodes counts as failed, if nothing changes; never: none will.
Time WorkloadParent::node_fails_at(const WorkloadState& w, const Context& c) const {
  Time out;
  if (!c.catalog->settings.topologies || !c.catalog->settings.replace_nodes || !w.admission) return out;
  each_doubtful_host(w, w.admission->pod_sets, c, [&](const Symbol&, const topology::NodeVerdict& verdict) {
    if (verdict.fails_at && (!out.is_set() || *verdict.fails_at < out)) out = *verdict.fails_at;
  });
  return out;
}

namespace {

bool may_be_stuck(const PodState& pod) {
  return pod.placed && !pod.topology_gated && pod.node.empty() && !pod.ended && !pod.terminating && !pod.failing;
}

}  // namespace

/// A pod of an elastic job that selects a host which is no place of the slice: whether it is stuck may be a matter of the node.
bool WorkloadParent::depends_on_a_node(const WorkloadState& w) const {
  if (!w.elastic || std::none_of(pods_.begin(), pods_.end(), may_be_stuck)) return false;
  const auto& places = held_places(w);
  std::vector<topology::AssignedDomains> domains;
  for (const auto& held : places) domains.emplace_back(held.topology);
  return std::any_of(pods_.begin(), pods_.end(), [&](const PodState& pod) {
    if (!may_be_stuck(pod) || host_of(pod) == nullptr) return false;
    for (std::size_t i = 0; i < places.size(); ++i)
      if (places[i].pod_set == pod.pod_set && domains[i].find(pod.selector) >= 0) return false;
    return true;
  });
}

/// TAS-89, TAS-103: a pod that left its gate for a host that is not its Workload's any more, or has failed, and that no kubelet has taken.
/// While an elastic job has more pods than it may have, its controller is about to delete some, which is no failure of theirs; so then the
/// node must have failed.
void WorkloadParent::fail_stuck_pods(const Context& c, Proposal& p) const {
  if (!job_ || std::none_of(pods_.begin(), pods_.end(), may_be_stuck)) return;
  const WorkloadState* w = active_slice();
  if (w == nullptr || w->evicted() || (w->elastic && c.rules < rules_with_elastic_repairs)) return;
  const auto has_failed = [&](const PodSetReservation& assigned, const Symbol& host) {
    if (c.hosts == nullptr || !c.hosts->doubtful.contains(host)) return false;
    const NodeConfig* const node = node_of(*c.nodes, *c.hosts, host);
    return topology::judge(node, tolerations_of(*w, assigned, *c.catalog), progresses_on(*w, host, node), c.catalog->settings, c.now)
        .failed;
  };
  std::vector<PodRef> stuck;
  std::size_t bytes = 0;
  for (const auto& assigned : held_places(*w)) {
    if (!is_by_host(assigned.topology)) continue;
    const topology::AssignedDomains domains(assigned.topology);
    const auto has_place = [&](const PodState& pod) {
      const bool has = !pod.topology_gated || !pod.place->empty();
      return has && pod.pod_set == assigned.pod_set && is_pod_of(pod, *w) && !pod.ended && !pod.terminating && !pod.failing;
    };
    const bool some_are_deleted = w->elastic && std::count_if(pods_.begin(), pods_.end(), has_place) > assigned.count;
    for (const auto& pod : pods_) {
      if (!may_be_stuck(pod) || pod.pod_set != assigned.pod_set || !is_pod_of(pod, *w) || bytes >= p.most) continue;
      const Symbol* host = host_of(pod);
      if (host == nullptr) continue;  // it is nobody's place
      const bool failed = std::find(w->unhealthy_nodes.begin(), w->unhealthy_nodes.end(), *host) != w->unhealthy_nodes.end();
      if (!failed && domains.find(pod.selector) >= 0) continue;
      if (some_are_deleted && !failed && !has_failed(assigned, *host)) continue;
      stuck.push_back({p.arena->copy(pod.uid), job_->namespace_.text(), p.arena->copy(pod.name), p.arena->copy(pod.pod_set.text())});
      bytes += pod.uid.size() + pod.name.size() + 100;
    }
  }
  if (stuck.empty()) return;
  PodsFailed e;
  e.workload = ref(*w, *p.arena);
  e.job = job_ref(*p.arena);
  e.pods = p.arena->copy(stuck);
  p.events.emplace_back(e);
}

void WorkloadParent::apply_failed(const PodsFailed& e, const Context& c) {
  for (const auto& failed : e.pods) {
    PodState* pod = find_pod(failed.uid);
    if (pod == nullptr || pod->ended) continue;
    pod->failing = true;
    pod->released_at = c.sequence;
    told_next_.push_back(pod->uid);
  }
}

}  // namespace hindsight::admission
