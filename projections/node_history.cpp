#include "projections/node_history.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "admission/domain/domain.hpp"
#include "admission/workload/workload_parent.hpp"
#include "events/decision_fields.hpp"
#include "events/json.hpp"
#include "projections/event_subject.hpp"
#include "projections/format.hpp"
#include "projections/history_words.hpp"
#include "projections/left_out_nodes.hpp"
#include "vocabulary/ascii.hpp"

namespace hindsight::projections {
namespace {

using admission::NodeConfig;

constexpr std::string_view host_label = "kubernetes.io/hostname";
constexpr std::size_t pods_named = 5;

bool names_it(List<Text> names, std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); }

/// Does one of the assignments have a place on the host?
bool stands_on(List<PodSetAssignmentFacts> assignments, std::string_view host) {
  return std::any_of(assignments.begin(), assignments.end(), [&](const PodSetAssignmentFacts& a) {
    return !a.topology_levels.empty() && a.topology_levels[a.topology_levels.size() - 1] == host_label &&
           std::any_of(a.topology.begin(), a.topology.end(),
                       [&](const auto& d) { return !d.values.empty() && d.values[d.values.size() - 1] == host; });
  });
}

bool is_told(const PodsPlaced& e, const PlacedPod& pod, std::string_view host) {
  return !e.levels.empty() && e.levels[e.levels.size() - 1] == host_label && !pod.values.empty() &&
         pod.values[pod.values.size() - 1] == host;
}

bool mentions_host(const Event& event, std::string_view host) {
  if (const auto* e = std::get_if<PodsPlaced>(&event))
    return std::any_of(e->pods.begin(), e->pods.end(), [&](const PlacedPod& pod) { return is_told(*e, pod, host); });
  if (const auto* e = std::get_if<NodesUnhealthy>(&event)) return names_it(e->nodes, host);
  if (const auto* e = std::get_if<TopologyReassigned>(&event)) return names_it(e->nodes, host) || stands_on(e->assignments, host);
  if (const auto* e = std::get_if<TopologyAssigned>(&event)) return stands_on(e->assignments, host);
  const auto* e = std::get_if<QuotaReserved>(&event);
  return e != nullptr && stands_on(e->assignments, host);
}

std::string status_words(const NodeConfig& n) {
  return std::string(n.ready ? "Ready" : n.silent ? "without a condition Ready" : "NotReady") + (n.unschedulable ? ", cordoned" : "");
}

std::string taint_words(const admission::OwnedTaint& t) {
  return t.key + (t.value.empty() ? "" : "=" + t.value) + ":" + std::string(events::api_name(t.effect));
}

std::string offer_words(const AmountList& amounts) {
  std::vector<std::string> parts;
  for (const auto& [resource, amount] : amounts) parts.push_back(text(resource) + " " + format_amount(amount, resource.text()));
  return parts.empty() ? "nothing" : joined(parts);
}

std::string pods_words(const std::map<std::string, std::int64_t>& pods) {
  std::vector<std::string> parts;
  for (const auto& [pod_set, n] : pods) parts.push_back(pod_set + " x" + std::to_string(n));
  return joined(parts);
}

/// The first few of them.
std::string names_words(const std::vector<std::string>& names) {
  std::vector<std::string> few(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), pods_named)));
  return joined(few) + (names.size() > few.size() ? " and " + std::to_string(names.size() - few.size()) + " more" : "");
}

/// Can such an observation change who stands on a node?
bool moves_workloads(const Observation& o) {
  return std::holds_alternative<WorkloadObserved>(o) || std::holds_alternative<JobObserved>(o) || std::holds_alternative<ObjectDeleted>(o);
}

/// Can such an observation change which flavors use a node?
bool changes_flavors(const Observation& o) {
  const auto* d = std::get_if<ObjectDeleted>(&o);
  return std::holds_alternative<ResourceFlavorObserved>(o) || std::holds_alternative<TopologyObserved>(o) ||
         (d != nullptr && (d->kind == ObjectKind::resource_flavor || d->kind == ObjectKind::topology));
}

}  // namespace

std::optional<std::string> node_target(std::string_view word) {
  const auto slash = word.find('/');
  if (slash == std::string_view::npos) return {};
  std::string kind(word.substr(0, slash));
  std::transform(kind.begin(), kind.end(), kind.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  static constexpr std::array<std::string_view, 3> names{"node", "nodes", "no"};
  const std::string_view name = word.substr(slash + 1);
  if (std::find(names.begin(), names.end(), kind) == names.end() || name.empty() || name.find('/') != std::string_view::npos) return {};
  return std::string(name);
}

bool mentions_node(const RecordView& record, std::string_view node) {
  if (const auto* o = std::get_if<Observation>(&record.body)) {
    if (const auto* n = std::get_if<NodeObserved>(o)) return n->meta.name == node;
    if (const auto* u = std::get_if<NodeUsageObserved>(o)) return u->node == node;
    const auto* d = std::get_if<ObjectDeleted>(o);
    return d != nullptr && d->kind == ObjectKind::node && d->name == node;
  }
  const auto any = [&](List<Event> events) {
    return std::any_of(events.begin(), events.end(), [&](const Event& e) { return mentions_host(e, node); });
  };
  if (const auto* d = std::get_if<Decisions>(&record.body)) return any(d->events);
  const auto* n = std::get_if<DecisionsNoted>(&record.body);
  return n != nullptr && any(n->events);
}

NodeHistory::Node NodeHistory::node(const StateView& state) const {
  const auto& nodes = state.domain().nodes();
  const auto it = nodes.find(name_);
  return it == nodes.end() ? nullptr : it->second;
}

std::optional<NodeHistory::Standing> NodeHistory::standing_of(const StateView& state, std::string_view uid) const {
  const auto* w = find_by_uid(state, uid).workload;
  if (w == nullptr || !w->reserved() || w->finished() || !w->active) return {};
  static const Symbol host_level(host_label);
  Standing out;
  for (const auto& p : w->admission->pod_sets) {
    const admission::TopologyAssignment& where = p.topology;
    if (where.empty() || where.levels.back() != host_level) continue;
    for (std::size_t d = 0; d < where.size(); ++d)
      if (where.domain(d).back() == host_) out.pods[text(p.pod_set)] += where.counts[d];
  }
  if (out.pods.empty()) return {};
  out.object = "Workload " + full_name(w->namespace_.text(), w->name);
  return out;
}

std::map<std::string, std::string> NodeHistory::flavors(const StateView& state) const {
  std::map<std::string, std::string> out;
  const Node n = node(state);
  if (n == nullptr) return out;
  for (const auto& [name, flavor] : state.domain().catalog()->flavors)
    if (!flavor->topology.empty()) out.emplace(text(name), why_left_out(state, *n, *flavor));
  return out;
}

void NodeHistory::begin(const StateView& state) {
  begun_ = true;
  if (const Node n = node(state)) host_ = n->labels.hostname;
  if (host_.empty()) host_ = name_;
  for (const WorkloadAt& at : all_workloads(state))
    if (auto standing = standing_of(state, at.workload->uid)) here_.emplace(at.workload->uid, std::move(*standing));
}

void NodeHistory::before(const RecordView& record, const StateView& state) {
  if (!begun_) begin(state);
  if (const auto* o = std::get_if<Observation>(&record.body)) {
    if (mentions_node(record, node_)) was_ = node(state);
    if (mentions_node(record, node_) || changes_flavors(*o)) flavors_ = flavors(state);
  }
}

void NodeHistory::after(std::uint64_t offset, const RecordView& record, const StateView& state) {
  const Envelope& e = record.envelope;
  blank_ = {offset, e.sequence, e.epoch, e.time, false, e.cause, {}, {}, {}, false};
  if (const auto* o = std::get_if<Observation>(&record.body)) {
    if (const auto* q = std::get_if<RecordQuarantined>(o); q != nullptr && passed_over_.contains(q->sequence))
      say("record " + std::to_string(q->position), "recordQuarantined",
          "set aside by " + std::string(q->writer) + ": " + std::string(q->reason));
    const bool about_it = mentions_node(record, node_);
    if (about_it) {
      const Node now = node(state);
      compare_nodes(now);
      if (now != nullptr) host_ = now->labels.hostname.empty() ? name_ : now->labels.hostname;
    }
    if (about_it || changes_flavors(*o)) compare_flavors(state);
    if (!moves_workloads(*o)) return;
    const auto* w = std::get_if<WorkloadObserved>(o);
    std::vector<std::string> uids;
    for (const auto& [uid, standing] : here_) uids.push_back(uid);
    if (w != nullptr && !here_.contains(w->meta.uid)) uids.emplace_back(w->meta.uid);
    for (const auto& uid : uids) compare_standing(uid, state, nullptr);
  } else if (const auto* d = std::get_if<Decisions>(&record.body)) {
    blank_.decided = true;
    blank_.cause = d->base;
    for (const Event& event : d->events) {
      decided(event);
      const auto uid = subject_uid(event);
      if (!uid.empty() && (here_.contains(uid) || mentions_host(event, host_.text()))) compare_standing(uid, state, &event);
    }
  } else if (const auto* n = std::get_if<DecisionsNoted>(&record.body)) {
    blank_.noted = true;
    blank_.cause = n->base;
    for (const Event& event : n->events) {
      const auto* reserved = std::get_if<QuotaReserved>(&event);
      if (reserved != nullptr && stands_on(reserved->assignments, host_.text()))
        say("Workload " + full_name(reserved->workload), "noted", "would have places here");
    }
  }
}

void NodeHistory::passed_over(std::uint64_t offset, const RecordView& record) {
  if (!mentions_node(record, node_)) return;
  const Envelope& e = record.envelope;
  passed_over_.insert(e.sequence);
  blank_ = {offset, e.sequence, e.epoch, e.time, std::holds_alternative<Decisions>(record.body), e.cause, {}, {}, {}, false};
  say("record " + std::to_string(offset), "setAside", "was set aside and has no effect: " + events::to_text(record), true);
}

void NodeHistory::say(std::string object, std::string kind, std::string what, bool is_void) {
  HistoryEntry& e = entries_.emplace_back(blank_);
  e.object = std::move(object);
  e.kind = std::move(kind);
  e.text = std::move(what);
  e.void_ = is_void;
}

// ---- the node -----------------------------------------------------------------------------------------------------------------------

void NodeHistory::compare_nodes(const Node& now) {
  const std::string object = "Node " + node_;
  if (now == nullptr) {
    if (was_ != nullptr) say(object, "nodeDeleted", "deleted");
    return;
  }
  const NodeConfig& n = *now;
  if (was_ == nullptr || was_->uid != n.uid) {
    std::vector<std::string> labels;
    for (const auto& [key, value] : n.labels.all()) labels.push_back(text(key) + "=" + std::string(std::string_view(value)));
    say(object, "nodeCreated",
        std::string(was_ == nullptr ? "seen: " : "another Node of this name was seen: ") + status_words(n) + ", with " +
            offer_words(n.allocatable) + (labels.empty() ? ", no label" : ", labelled " + joined(labels)));
    for (const auto& t : n.taints) say(object, "taint", "has taint " + taint_words(t));
    if (!n.used.value().empty()) say(object, "othersUse", "others use " + offer_words(n.used));
    return;
  }
  const NodeConfig& b = *was_;
  if (b.ready != n.ready || b.silent != n.silent)
    say(object, n.ready ? "ready" : "notReady", n.ready ? "is Ready" : n.silent ? "has no condition Ready any more" : "is NotReady");
  if (b.unschedulable != n.unschedulable)
    say(object, n.unschedulable ? "cordoned" : "uncordoned", n.unschedulable ? "cordoned" : "not cordoned any more");
  for (const auto& t : n.taints)
    if (std::find(b.taints.begin(), b.taints.end(), t) == b.taints.end()) say(object, "taint", "got taint " + taint_words(t));
  for (const auto& t : b.taints)
    if (std::find(n.taints.begin(), n.taints.end(), t) == n.taints.end()) say(object, "taint", "lost taint " + taint_words(t));
  if (!(b.labels == n.labels)) {
    for (const auto& [key, value] : n.labels.all())
      if (!b.labels.has(key) || b.labels.at(key) != std::string_view(value))
        say(object, "label",
            "label " + text(key) + (b.labels.has(key) ? ": " + std::string(b.labels.at(key)) + " -> " : "=") +
                std::string(std::string_view(value)));
    for (const auto& [key, value] : b.labels.all())
      if (!n.labels.has(key)) say(object, "label", "label " + text(key) + "=" + std::string(std::string_view(value)) + " taken away");
  }
  if (b.allocatable.value() != n.allocatable.value())
    say(object, "allocatable", "allocatable " + offer_words(b.allocatable) + " -> " + offer_words(n.allocatable));
  if (b.used.value() != n.used.value()) say(object, "othersUse", "others use " + offer_words(b.used) + " -> " + offer_words(n.used));
}

void NodeHistory::compare_flavors(const StateView& state) {
  const auto now = flavors(state);
  for (const auto& [flavor, why] : now) {
    const auto before = flavors_.find(flavor);
    if (before != flavors_.end() && before->second == why) continue;
    if (why.empty())
      say("ResourceFlavor " + flavor, "takesPart", "gives places on the node");
    else if (before != flavors_.end() && before->second.empty())
      say("ResourceFlavor " + flavor, "leftOut", "gives no places on the node any more: " + why);
  }
  for (const auto& [flavor, why] : flavors_)
    if (why.empty() && !now.contains(flavor)) say("ResourceFlavor " + flavor, "leftOut", "gives no places on the node any more");
}

// ---- who stands there -----------------------------------------------------------------------------------------------------------------

void NodeHistory::compare_standing(std::string_view uid, const StateView& state, const Event* event) {
  const auto now = standing_of(state, uid);
  const auto known = here_.find(uid);
  // What the event says of it, where it says more than the places.
  std::string because;
  if (event != nullptr && std::get_if<QuotaReserved>(event) == nullptr && std::get_if<PodsPlaced>(event) == nullptr) {
    const auto words = words_for(*event, false);
    because = ": " + words.text;
  }
  if (!now) {
    if (known == here_.end()) return;
    say(known->second.object, "left", pods_words(known->second.pods) + " have no places here any more" + because);
    here_.erase(known);
    return;
  }
  if (known == here_.end()) {
    say(now->object, "placed", "places for " + pods_words(now->pods) + because);
    here_.emplace(uid, *now);
  } else if (known->second.pods != now->pods) {
    say(now->object, "placed", "places for " + pods_words(now->pods) + " instead of " + pods_words(known->second.pods) + because);
    known->second = *now;
  }
}

void NodeHistory::decided(const Event& event) {
  if (const auto* e = std::get_if<PodsPlaced>(&event)) {
    std::vector<std::string> names;
    for (const PlacedPod& pod : e->pods) {
      if (!is_told(*e, pod, host_.text())) continue;
      names.emplace_back(pod.name);
      placed_.emplace(pod.uid, pod.name);
    }
    if (!names.empty())
      say("Workload " + full_name(e->workload), "podsPlaced", counted(names.size(), "pod") + " told to start here: " + names_words(names));
  } else if (const auto* f = std::get_if<PodsFailed>(&event)) {
    std::vector<std::string> names;
    for (const PodRef& pod : f->pods)
      if (const auto it = placed_.find(pod.uid); it != placed_.end()) {
        names.push_back(std::move(it->second));
        placed_.erase(it);
      }
    if (!names.empty())
      say("Workload " + full_name(f->workload), "podsFailed",
          counted(names.size(), "pod") + " cannot start here, and fails: " + names_words(names));
  } else if (const auto* u = std::get_if<NodesUnhealthy>(&event)) {
    const bool lists = names_it(u->nodes, host_.text());
    const auto known = failed_for_.find(u->workload.uid);
    if (lists && known == failed_for_.end()) {
      failed_for_.emplace(u->workload.uid);
      say("Workload " + full_name(u->workload), "nodesUnhealthy", "the node failed for it");
    } else if (!lists && known != failed_for_.end()) {
      failed_for_.erase(known);
      say("Workload " + full_name(u->workload), "nodesHealthy", "the node is well again for it");
    }
  } else if (const auto* r = std::get_if<TopologyReassigned>(&event)) {
    const auto known = failed_for_.find(r->workload.uid);
    if (known != failed_for_.end()) failed_for_.erase(known);
  }
}

}  // namespace hindsight::projections
