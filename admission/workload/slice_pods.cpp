// Pods of an elastic job wait behind a scheduling gate; the active slice says how many of each pod set may run (77 §3.8). What is seen of
// pods, and what is wanted of them, is here for those that wait for their places as well (placed_pods.cpp).

#include <algorithm>
#include <cassert>
#include <set>
#include <string_view>
#include <utility>

#include "admission/model/slices.hpp"
#include "admission/rules.hpp"
#include "admission/topology/assigned_domains.hpp"
#include "admission/workload/workload_parent.hpp"

namespace hindsight::admission {

namespace {

/// Where the pod stands, or would.
std::vector<PodState>::iterator place_of(std::vector<PodState>& pods, std::string_view uid) {
  return std::lower_bound(pods.begin(), pods.end(), uid, [](const PodState& p, std::string_view u) { return p.uid < u; });
}

/// Did the pod leave its gate for the place that it was given, or was it bound, and nothing else?
bool does_what_it_was_told(const PodState& before, const PodState& now) {
  PodState expected = before;
  expected.resource_version = now.resource_version;
  expected.requests = now.requests;
  if (before.node.empty()) expected.node = now.node;
  if (before.topology_gated && !before.place->empty() && now.selector->contains(*before.place)) {
    expected.topology_gated = now.topology_gated;
    expected.selector = now.selector;
    expected.place = now.place;
  }
  return expected == now;
}

}  // namespace

PodState* WorkloadParent::find_pod(std::string_view uid) {
  const auto it = place_of(pods_, uid);
  return it == pods_.end() || it->uid != uid ? nullptr : &*it;
}

void WorkloadParent::apply_pod(const PodObserved& o, const Context& c, Outbox& out) {
  PodState* pod = find_pod(o.meta.uid);
  if (pod == nullptr) {
    PodState fresh;
    fresh.uid = o.meta.uid;
    fresh.name = o.meta.name;
    pod = &*pods_.insert(place_of(pods_, o.meta.uid), std::move(fresh));
    pods_settled_ = false;
  }
  if (o.meta.resource_version != 0 && o.meta.resource_version <= pod->resource_version) return;  // a repeat, or told late
  const auto before = pods_settled_ ? std::optional(*pod) : std::nullopt;
  pod->resource_version = o.meta.resource_version;
  pod->pod_set = Symbol(o.pod_set);
  pod->index = o.index;
  pod->gated = o.gated;
  pod->ended = o.ended;
  if (!o.gated) pod->released = false;
  pod->placed = o.placed;
  pod->topology_gated = o.topology_gated;
  pod->index_offset = o.index_offset;
  pod->index_offset_bad = o.index_offset_bad;
  pod->group = o.group;
  pod->workload = Symbol(o.workload_name);
  NodeSelector selector;
  for (const auto& [key, value] : o.node_selector) selector.entries.emplace_back(Symbol(key), Symbol(value));
  pod->selector = std::move(selector);
  if (!o.topology_gated) pod->place = NodeSelector{};
  pod->node = Symbol(o.node);
  pod->terminating = o.terminating;
  PodAmounts requests;
  for (const auto& [resource, amount] : o.requests) requests.amounts.emplace_back(Symbol(resource), amount);
  pod->requests = std::move(requests);
  if (!told_lingering_.empty() || lingers(*pod) || crowds(*pod, c))
    tell_lingering(c, out);  // of ten thousand that run nothing has to be said
  if (o.ended || o.terminating) pod->failing = false;
  if (before && !does_what_it_was_told(*before, *pod)) pods_settled_ = false;
  something_happened(c);
  out.send(self_, domain_address, msg::WorldChanged{});
}

/// A slice that was made smaller while it runs holds the places of the pods that remain, and no more (EJ-113, EJ-114). Which ones these are
/// is known once the others have ended; places that no pod has yet are kept from the first on. Then they become its assignment
/// (give_places_up), so that what it gave up stays given up.
std::shared_ptr<const Reservation> WorkloadParent::with_survivors(const WorkloadState& w, const Reservation& reservation,
                                                                  const Context& c) const {
  auto out = std::make_shared<Reservation>(reservation);
  for (PodSetReservation& p : out->effective) {
    const TopologyAssignment& all = p.topology;
    std::int64_t assigned = 0;
    for (const auto n : all.counts) assigned += n;
    if (all.empty() || assigned <= p.count) continue;
    std::vector<std::int32_t> kept(all.size());
    const topology::AssignedDomains domains(all);
    std::int64_t total = 0;
    for (const auto& pod : pods_) {
      if (pod.ended || pod.pod_set != p.pod_set || !is_pod_of(pod, w)) continue;
      const bool on_its_way = c.rules >= rules_with_elastic_repairs && pod.topology_gated;
      const auto d = domains.find(on_its_way ? pod.place : pod.selector);
      if (d < 0 || kept[static_cast<std::size_t>(d)] == all.counts[static_cast<std::size_t>(d)]) continue;
      ++kept[static_cast<std::size_t>(d)];
      ++total;
    }
    for (std::size_t d = 0; d < kept.size() && total < p.count; ++d) {
      const auto more = static_cast<std::int32_t>(std::min<std::int64_t>(all.counts[d] - kept[d], p.count - total));
      kept[d] += more;
      total += more;
    }
    TopologyAssignment now;
    now.levels = all.levels;
    for (std::size_t d = 0; d < kept.size(); ++d) {
      if (kept[d] == 0) continue;
      for (const Symbol& value : all.domain(d)) now.values.push_back(value);
      now.counts.push_back(kept[d]);
    }
    p.topology = std::move(now);
  }
  return out;
}

void WorkloadParent::follow_survivors(const Context& c, Outbox& out) {
  for (std::size_t i = 0; i < workloads_.size(); ++i) {
    const auto held = placements_[i].held;
    if (held == nullptr || held->effective.empty() || !workloads_[i].reserved()) continue;
    const bool smaller = std::any_of(held->effective.begin(), held->effective.end(), [&](const PodSetReservation& p) {
      const auto whole =
          std::find_if(held->pod_sets.begin(), held->pod_sets.end(), [&](const auto& all) { return all.pod_set == p.pod_set; });
      return whole != held->pod_sets.end() && !whole->topology.empty() && p.count < whole->count;
    });
    if (!smaller) continue;
    const auto now = with_survivors(workloads_[i], *make_reservation(workloads_[i], held->workload, replaced_by(i, c)), c);
    const bool same = std::equal(now->effective.begin(), now->effective.end(), held->effective.begin(), held->effective.end(),
                                 [](const auto& a, const auto& b) { return a.topology == b.topology; });
    if (same) continue;
    publish(i, {.touched = true}, c, out);
    request_reactivation(workloads_[i], c, out);  // places got free
  }
}

void WorkloadParent::apply_pod_gone(std::string_view uid, const Context& c, Outbox& out) {
  const auto it = place_of(pods_, uid);
  if (it == pods_.end() || it->uid != uid) return;
  pods_.erase(it);
  if (!told_lingering_.empty()) tell_lingering(c, out);
  something_happened(c);
  out.send(self_, domain_address, msg::WorldChanged{});
  retire_if_empty(out);
}

void WorkloadParent::hand_over_pods(const msg::HandOverPods& m, const Context& c, Outbox& out) {
  std::vector<PodState> leaving;
  const std::set<std::string_view> uids(m.uids.begin(), m.uids.end());
  std::erase_if(pods_, [&](PodState& pod) {
    if (!uids.contains(pod.uid)) return false;
    leaving.push_back(std::move(pod));
    return true;
  });
  if (leaving.empty()) return;
  tell_lingering(c, out);
  something_happened(c);
  out.send(self_, {EntityKind::workload_parent, m.to}, msg::PodsHandedOver{std::move(leaving)});
  retire_if_empty(out);
}

void WorkloadParent::take_over_pods(std::vector<PodState> pods, const Context& c, Outbox& out) {
  for (auto& pod : pods) {
    if (find_pod(pod.uid) != nullptr) continue;
    if (pod.released || pod.failing || !pod.place->empty()) told_next_.push_back(pod.uid);
    const auto place = place_of(pods_, pod.uid);
    pods_.insert(place, std::move(pod));
  }
  tell_lingering(c, out);
  something_happened(c);
  out.send(self_, domain_address, msg::WorldChanged{});
}

void WorkloadParent::apply_released(const PodsReleased& e, const Context& c) {
  for (const auto& released : e.pods) {
    PodState* pod = find_pod(released.uid);
    if (pod == nullptr || !pod->gated) continue;
    pod->released = true;
    pod->released_at = c.sequence;
    told_next_.push_back(pod->uid);
  }
}

const WorkloadState* WorkloadParent::active_slice() const {
  const WorkloadState* out = nullptr;
  for (const auto& w : workloads_) {
    if (!is_live(w) || !w.reserved() || !w.admitted() || is_leaving(w)) continue;
    if (w.elastic && !is_slice(w)) continue;  // its Parent shows what it has
    if (out == nullptr || earlier(*out, w)) out = &w;
  }
  return out;
}

void WorkloadParent::reconcile_pods(const Context& c, Proposal& p) const {
  if (pods_.empty()) return;
  const auto say = [&](Proposal& what) {
    release_pods(what);
    if (what.events.empty()) fail_stuck_pods(c, what);
    return what.events.empty() && place_pods(c, what);
  };
  if (pods_settled_) {
#ifndef NDEBUG
    Proposal again;
    again.most = p.most;
    assert(say(again));
#endif
    return;
  }
  if (!say(p)) return;
  const WorkloadState* w = active_slice();
  // Else some place that was given is none, or may become none.
  pods_settled_ = w == nullptr || (w->unhealthy_nodes.empty() && !depends_on_a_node(*w));
}

/// EJ-70 to EJ-75, EJ-79, EJ-80. Whatever the feature gate says: pods that were made gated must not stay so (EJ-6).
void WorkloadParent::release_pods(Proposal& p) const {
  if (!job_ || std::none_of(pods_.begin(), pods_.end(), [](const PodState& pod) { return pod.gated; })) return;
  if (std::any_of(pods_.begin(), pods_.end(), [](const PodState& pod) { return pod.gated && pod.released; })) return;  // under way
  const WorkloadState* slice = active_slice();
  if (slice == nullptr) return;

  std::vector<PodRef> released;
  std::vector<const PodState*> waiting;
  std::size_t bytes = 0;  // of the event; who is left is released when those have lost their gates
  for (const auto& s : slice->pod_sets) {
    std::int64_t room = s.count;
    for (const auto& a : slice->admission->pod_sets)
      if (a.pod_set == s.name) room = std::min(s.count, a.count);
    waiting.clear();
    for (const auto& pod : pods_) {
      if (pod.pod_set != s.name || pod.ended) continue;
      if (pod.gated)
        waiting.push_back(&pod);
      else
        --room;
    }
    if (room <= 0 || waiting.empty()) continue;
    std::sort(waiting.begin(), waiting.end(),
              [](const PodState* a, const PodState* b) { return a->index != b->index ? a->index < b->index : a->name < b->name; });
    if (static_cast<std::size_t>(room) < waiting.size()) waiting.resize(static_cast<std::size_t>(room));
    for (const auto* pod : waiting) {
      if (bytes >= p.most) break;
      released.push_back({p.arena->copy(pod->uid), job_->namespace_.text(), p.arena->copy(pod->name), s.name.text()});
      bytes += pod->uid.size() + pod->name.size() + job_->namespace_.text().size() + s.name.text().size() + 100;
    }
  }
  if (released.empty()) return;
  PodsReleased e;
  e.workload = {p.arena->copy(slice->uid), slice->namespace_.text(), p.arena->copy(slice->name)};
  e.job = job_ref(*p.arena);
  e.slice_name = p.arena->copy(chain_name(*slice));
  e.pods = p.arena->copy(released);
  p.events.emplace_back(e);
}

/// A pod that was made while its job ran on an older slice, or before any was admitted, lacks what a start injects (EJ-68).
void WorkloadParent::collect_pod_intents(const Context& c, bool all, std::vector<Intent>& out) {
  const std::vector<CompactText> news = std::exchange(told_next_, {});
  if (pods_.empty()) return;
  const WorkloadState* slice = active_slice();
  const std::string_view slice_uid = slice == nullptr ? std::string_view() : slice->uid;
  if (told_of_slice_ != slice_uid) {
    told_of_slice_ = slice_uid;
    all = true;
  }
  std::vector<std::pair<Symbol, PodSetStart>> starts;
  std::vector<std::pair<Symbol, topology::AssignedDomains>> domains;
  const auto has_place = [&](const PodState& pod) {
    if (!pod.topology_gated || pod.place->empty() || slice == nullptr) return false;
    if (domains.empty())
      for (const auto& assigned : slice->admission->pod_sets) domains.emplace_back(assigned.pod_set, assigned.topology.value());
    const auto its = std::find_if(domains.begin(), domains.end(), [&](const auto& d) { return d.first == pod.pod_set; });
    return its != domains.end() && its->second.find(pod.place) >= 0;  // of an assignment that is no more it is no place
  };
  const auto want = [&](const PodState& pod) {
    if (pod.failing && !pod.ended) {
      out.emplace_back(PodFailIntent{pod.uid.text(), std::string(job_->namespace_.text()), pod.name.text(), pod.released_at});
      return;
    }
    const bool placed = has_place(pod);
    const bool released = pod.gated && pod.released;
    if (!released && !placed) return;
    if (slice != nullptr && starts.empty())
      for (const auto& assigned : slice->admission->pod_sets) starts.emplace_back(assigned.pod_set, start_of(assigned, *c.catalog));
    PodReleaseIntent i{pod.uid.text(), std::string(job_->namespace_.text()), pod.name.text(), pod.released_at, released, placed, {}, {}};
    for (const auto& [pod_set, start] : starts) {
      if (pod_set != pod.pod_set) continue;
      i.node_labels = start.node_labels;
      i.tolerations = start.tolerations;
    }
    if (placed)
      for (const auto& [key, value] : pod.place->entries) i.node_labels.emplace_back(key.text(), value.text());
    out.emplace_back(std::move(i));
  };
  if (all) {
    for (const auto& pod : pods_) want(pod);
  } else {
    for (const auto& uid : news)
      if (const auto* pod = find_pod(uid)) want(*pod);
  }
}

}  // namespace hindsight::admission
