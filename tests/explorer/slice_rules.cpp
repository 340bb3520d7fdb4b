#include "tests/explorer/slice_rules.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "admission/domain/domain.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "admission/queue/cohort_tree.hpp"
#include "admission/workload/workload_parent.hpp"
#include "tests/explorer/holdings.hpp"

namespace hindsight::explorer {
namespace {

using admission::Catalog;
using admission::PodSetReservation;
using admission::StateView;
using admission::WorkloadParent;
using admission::WorkloadState;

bool is_unfinished(const WorkloadState& w) { return !w.finished() && !w.deleting && !w.removal_pending; }

bool holds(const WorkloadState& w) { return w.reserved() && w.active && !w.finished(); }

bool replaces(const WorkloadState& slice, const WorkloadState& other) {
  return slice.elastic && other.elastic && slice.replacement_for.view() == std::string(other.namespace_.text()) + "/" + other.name;
}

/// A slice that ended while its job goes on.
bool was_superseded(const WorkloadState& w) {
  const auto* end = w.find(ConditionType::finished);
  return end != nullptr && end->is_true() && (end->reason.text() == "WorkloadSliceReplaced" || end->reason.text() == "OutOfSync");
}

std::optional<Symbol> flavor_of(const PodSetReservation& p, const Symbol& resource) {
  for (const auto& [name, flavor] : p.flavors)
    if (name == resource) return flavor;
  return std::nullopt;
}

/// EJ-31: pods of an admitted pod set that count.
std::int32_t counted_pods(const WorkloadState& w, const PodSetReservation& p) {
  std::int32_t spec = p.count, given_back = 0;
  for (const auto& s : w.pod_sets)
    if (s.name == p.pod_set) spec = s.count;
  for (const auto& [name, n] : w.reclaimable)
    if (name == p.pod_set) given_back = n;
  return std::min(p.count, spec - std::min(given_back, spec));
}

/// EJ-31, summed over pod sets.
Amounts held_by(const WorkloadState& w) { return amounts_of(*w.admission, w); }

std::vector<const WorkloadState*> unfinished_slices(const WorkloadParent& parent) {
  std::vector<const WorkloadState*> out;
  for (const auto& w : parent.workloads())
    if (w.elastic && is_unfinished(w) && w.option_of().empty()) out.push_back(&w);  // CA-95: Options stand for a slice
  return out;
}

/// Who is charged for a slice: of a family the Option that the job runs on; null: nobody.
const WorkloadState* charged_for(const WorkloadParent& parent, const WorkloadState& slice) {
  if (!slice.family || slice.family->holds_itself) return holds(slice) ? &slice : nullptr;
  const WorkloadState* option = admitted_option(parent, slice);
  return option != nullptr && slice.active && !option->finished() ? option : nullptr;
}

/// Whose quota counts for this one, which is not admitted yet: of the slice that it, or its Parent, takes the place of. Null: nobody's.
const WorkloadState* predecessor(const WorkloadParent& parent, const WorkloadState& w) {
  if (w.admitted() || !is_unfinished(w)) return nullptr;
  const WorkloadState* slice = &w;
  for (const auto& other : parent.workloads())
    if (other.family && w.is_made_as_option() && other.uid == w.option_of() && other.namespace_ == w.namespace_) slice = &other;
  if (slice->admitted() || !is_unfinished(*slice)) return nullptr;
  for (const auto* other : unfinished_slices(parent))
    if (other != slice && replaces(*slice, *other) && holds(*other)) return charged_for(parent, *other);
  return nullptr;
}

std::string name_of(const WorkloadParent& parent) { return parent.job() ? "job " + parent.job()->name : std::string("no job"); }

/// What each queue should have in use.
std::map<Symbol, Amounts, ByText> expected_usage(const StateView& state) {
  std::map<Symbol, Amounts, ByText> out;
  for (std::uint32_t i = 0; i < state.domain().parent_count(); ++i) {
    const auto* parent = state.parent(i);
    if (parent == nullptr) continue;
    for (const auto& w : parent->workloads()) {
      if (w.family && w.family->hold)
        for (const auto& [cell, amount] : kept_for_migration(*parent, w)) out[w.family->hold->cluster_queue][cell] += amount;
      if (!holds_quota(*parent, w, *state.domain().catalog())) continue;
      auto& usage = out[w.admission->cluster_queue];
      Amounts mine = held_by(w);
      // Both together hold the larger of the two (EJ-45).
      const auto* old = predecessor(*parent, w);
      if (old != nullptr && old->admission->cluster_queue == w.admission->cluster_queue)
        for (const auto& [cell, amount] : held_by(*old))
          if (const auto it = mine.find(cell); it != mine.end()) it->second = std::max<Amount>(0, it->second - amount);
      for (const auto& [cell, amount] : mine) usage[cell] += amount;
    }
  }
  return out;
}

std::string check_usage(const StateView& state, SliceRules::Figures& figures) {
  const auto expected = expected_usage(state);
  const Catalog& catalog = *state.domain().catalog();
  for (const auto& [name, config] : catalog.queues) {
    const Symbol root = catalog.root_of(name);
    const auto* tree = root.empty() ? nullptr : state.tree(root);
    if (tree == nullptr || tree->quota() == nullptr) continue;
    Amounts cells;
    for (const auto& group : config->groups)
      for (const auto& flavor : group.flavors)
        for (const Symbol& resource : group.resources) cells[{flavor.flavor, resource}] = 0;
    if (const auto it = expected.find(name); it != expected.end())
      for (const auto& [cell, amount] : it->second) cells[cell] = amount;
    for (const auto& [cell, amount] : cells) {
      figures.usages += amount != 0 ? 1 : 0;
      const Amount charged = tree->quota()->usage(name, cell.first, cell.second);
      if (charged != amount)
        return "ClusterQueue " + std::string(name.text()) + ": its Workloads hold " + std::to_string(amount) + " " +
               std::string(cell.second.text()) + " of " + std::string(cell.first.text()) + ", it is charged " + std::to_string(charged);
    }
  }
  return {};
}

const WorkloadState* find_workload(const WorkloadParent& parent, Text uid) {
  for (const auto& w : parent.workloads())
    if (w.uid == uid) return &w;
  return nullptr;
}

/// The flavors of a slice are those of the one that it replaces (EJ-35), where that one has one (EJ-36).
std::string check_flavors(const WorkloadState& old, const WorkloadState& slice, SliceRules::Figures& figures) {
  if (!old.admission || !slice.admission || old.admission->cluster_queue != slice.admission->cluster_queue) return {};
  for (const auto& before : old.admission->pod_sets)
    for (const auto& now : slice.admission->pod_sets) {
      if (before.pod_set != now.pod_set) continue;
      for (const auto& [resource, flavor] : before.flavors) {
        const auto mine = flavor_of(now, resource);
        if (!mine) continue;
        ++figures.flavors;
        if (*mine != flavor)
          return "slice " + slice.name + " has " + std::string(resource.text()) + " of " + std::string(mine->text()) + ", and " + old.name +
                 ", which it replaces, of " + std::string(flavor.text());
      }
    }
  return {};
}

/// The slice that follows the size of the job: the one that names the other, else the latest.
const WorkloadState& newest(const std::vector<const WorkloadState*>& slices) {
  for (const auto* a : slices)
    for (const auto* b : slices)
      if (a != b && replaces(*a, *b)) return *a;
  return **std::max_element(slices.begin(), slices.end(), [](const auto* a, const auto* b) {
    return a->created != b->created ? a->created < b->created : a->uid < b->uid;
  });
}

/// EJ-23: of two that are admitted one has been ended.
std::string check_admitted(const WorkloadParent& parent) {
  const auto admitted = std::ranges::count_if(unfinished_slices(parent), [](const auto* w) { return w->reserved() && w->admitted(); });
  return admitted > 1 ? name_of(parent) + ": " + std::to_string(admitted) + " slices stay admitted" : "";
}

bool is_going(const WorkloadState& w) { return w.reserved() && (w.evicted() || !w.active); }

/// Counts of slice and job, pod set by pod set; nothing: they do not have the same pod sets.
std::optional<bool> same_size(const WorkloadState& w, const admission::JobState& j) {
  if (w.pod_sets.size() != j.pod_sets.size()) return std::nullopt;
  bool same = true;
  for (std::size_t i = 0; i < w.pod_sets.size(); ++i) {
    if (w.pod_sets[i].name != j.pod_sets[i].name || w.pod_sets[i].core_hash != j.pod_sets[i].core_hash) return std::nullopt;
    same = same && w.pod_sets[i].count == j.pod_sets[i].count;
  }
  return same;
}

/// Is the job looked after as an elastic one, with nothing about its Workloads on its way?
bool is_followed(const WorkloadParent& parent) {
  const auto& j = parent.job();
  if (!j || !j->elastic || j->finished || j->deleting || j->stopping || j->queue_name.empty() || j->requested_since != 0) return false;
  return std::ranges::none_of(parent.workloads(), [](const WorkloadState& w) {
    return w.revision_pending || w.removal_pending || (w.finished() && !was_superseded(w));
  });
}

std::string check_size(const WorkloadParent& parent, SliceRules::Figures& figures) {
  const auto slices = unfinished_slices(parent);
  if (slices.empty() || !is_followed(parent)) return {};
  if (std::ranges::any_of(slices, [](const auto* w) { return is_going(*w); })) return {};  // EJ-153
  const WorkloadState& w = newest(slices);
  const auto same = same_size(w, *parent.job());
  if (!same) return {};
  ++figures.sizes;
  return *same ? "" : name_of(parent) + ": its newest slice " + w.name + " has another size";
}

/// What a waiting replacement asks for more than its predecessor has, by the flavors of that one; nothing: one of them is not known, or
/// cannot be had from the queue.
std::optional<Amounts> difference(const WorkloadState& slice, const WorkloadState& old, const admission::QueueConfig& queue) {
  Amounts out;
  for (const auto& p : slice.pod_sets) {
    std::int32_t given_back = 0;
    for (const auto& [name, n] : slice.reclaimable)
      if (name == p.name) given_back = n;
    const auto before = std::ranges::find_if(old.admission->pod_sets, [&](const PodSetReservation& r) { return r.pod_set == p.name; });
    for (const auto& request : p.requests) {
      Amount wanted = request.amount * std::max(0, p.count - given_back);
      if (before == old.admission->pod_sets.end()) return std::nullopt;
      for (const auto& [resource, total] : before->usage)
        if (resource == request.resource && before->count > 0) wanted -= total / before->count * counted_pods(old, *before);
      const auto flavor = flavor_of(*before, request.resource);
      if (!flavor) return std::nullopt;
      const bool offered = std::ranges::any_of(queue.groups, [&](const admission::ResourceGroup& g) {
        return std::ranges::find(g.resources, request.resource) != g.resources.end() &&
               std::ranges::any_of(g.flavors, [&](const admission::FlavorQuotas& f) { return f.flavor == *flavor; });
      });
      if (!offered) return std::nullopt;
      out[{*flavor, request.resource}] += wanted;
    }
  }
  return out;
}

/// Was it tried since anything changed, and is it there only because it did not fit?
bool was_tried(const admission::ClusterQueue& queue, const WorkloadState& w, Time now) {
  for (const auto& entry : queue.waiting()) {
    const auto& info = *entry.workload;
    if (info.uid != w.uid) continue;
    return entry.parked && !info.failed_checks && !info.requeued_false && (!info.requeue_at.is_set() || info.requeue_at <= now);
  }
  return false;
}

/// EJ-37, and no pending replacement whose difference fits.
std::string check_waiting(const StateView& state, const WorkloadParent& parent, const std::function<bool(const Symbol&)>& settled,
                          SliceRules::Figures& figures) {
  const Catalog& catalog = *state.domain().catalog();
  for (const auto* w : unfinished_slices(parent)) {
    const auto* old = w->reserved() || !w->active ? nullptr : predecessor(parent, *w);
    if (old == nullptr || is_going(*old) || !is_unfinished(*old) || w->revision_pending) continue;
    if (parent.job() && !same_size(*w, *parent.job()).value_or(false)) continue;
    const Symbol name = old->admission->cluster_queue;
    const auto* local = catalog.local_queue(w->namespace_, w->queue_name);
    const auto* config = catalog.queue(name);
    if (local == nullptr || local->cluster_queue != name || config == nullptr || !catalog.queue_active(name)) continue;
    if (config->strategy != QueueingStrategy::best_effort_fifo) continue;
    const Symbol root = catalog.root_of(name);
    if (root.empty() || !settled(root) || state.domain().reactivation_due(root).is_set()) continue;
    const auto* queue = state.queue(name);
    const auto* tree = state.tree(root);
    if (queue == nullptr || tree == nullptr || tree->quota() == nullptr || !was_tried(*queue, *w, state.domain().now())) continue;
    const auto wanted = difference(*w, *old, *config);
    if (!wanted) continue;
    bool fits = true, exceeds = false;
    for (const auto& [cell, amount] : *wanted) {
      if (catalog.flavor(cell.first) == nullptr) fits = false;
      if (amount <= 0) continue;
      const auto figures_of = tree->quota()->queue_figures(name, cell.first, cell.second);
      fits = fits && amount <= figures_of.available;
      exceeds = exceeds || amount > figures_of.potential;
    }
    ++figures.waiting;
    if (fits) return name_of(parent) + ": slice " + w->name + " waits, although what it asks for more fits";
    const auto* pending = w->find(ConditionType::quota_reserved);
    const std::string_view reason = pending == nullptr ? std::string_view() : pending->reason.text();
    if (reason == "ExceedsMaxQuota") ++figures.exceeding;
    if ((reason == "ExceedsMaxQuota" && !exceeds) || (reason == "WaitingForQuota" && exceeds))
      return name_of(parent) + ": slice " + w->name + " waits as " + std::string(reason) + ", although what it asks for more is " +
             (exceeds ? "" : "not ") + "beyond the maximum capacity";
  }
  return {};
}

}  // namespace

std::string SliceRules::after(const StateView& state, const RecordView& record) {
  if (auto finding = check_usage(state, figures_); !finding.empty()) return finding;
  const auto* decisions = std::get_if<Decisions>(&record.body);
  if (decisions == nullptr || record.envelope.epoch < state.domain().epoch()) return {};
  const auto check = [&](Text old_uid, Text uid) -> std::string {
    const auto index = state.domain().find_parent(uid);
    const auto* parent = index ? state.parent(*index) : nullptr;
    const auto* old = parent == nullptr ? nullptr : find_workload(*parent, old_uid);
    const auto* slice = parent == nullptr ? nullptr : find_workload(*parent, uid);
    // One that was overtaken has changed nothing.
    if (old == nullptr || slice == nullptr || slice->last_decision != record.envelope.sequence || old->evicted()) return {};
    return check_flavors(*old, *slice, figures_);
  };
  for (const Event& e : decisions->events) {
    std::string finding;
    if (const auto* r = std::get_if<SliceReplaced>(&e)) finding = check(r->workload.uid, r->replacement.uid);
    if (const auto* q = std::get_if<QuotaReserved>(&e); q != nullptr && !q->replaces.uid.empty())
      finding = check(q->replaces.uid, q->workload.uid);
    if (!finding.empty()) return finding;
  }
  return {};
}

std::string SliceRules::check_rest(const StateView& state, const std::function<bool(const Symbol&)>& settled) {
  for (std::uint32_t i = 0; i < state.domain().parent_count(); ++i) {
    const auto* parent = state.parent(i);
    if (parent == nullptr) continue;
    if (auto finding = check_admitted(*parent); !finding.empty()) return finding;
    if (auto finding = check_size(*parent, figures_); !finding.empty()) return finding;
    if (auto finding = check_waiting(state, *parent, settled, figures_); !finding.empty()) return finding;
  }
  return {};
}

/// EJ-154: in whatever size, a job runs exactly if one of its unfinished slices is admitted.
std::string SliceRules::check_quiet(const StateView& state) {
  for (std::uint32_t i = 0; i < state.domain().parent_count(); ++i) {
    const auto* parent = state.parent(i);
    if (parent == nullptr || !is_followed(*parent)) continue;
    const auto slices = unfinished_slices(*parent);
    const bool admitted =
        std::ranges::any_of(slices, [](const auto* w) { return w->reserved() && w->admitted() && !w->evicted() && w->active; });
    const bool runs = !parent->job()->suspended;
    ++(runs ? figures_.running : figures_.stopped);
    if (runs != admitted)
      return name_of(*parent) + (runs ? " runs, and no slice of it is admitted" : " does not run, though a slice of it is admitted");
  }
  return {};
}

}  // namespace hindsight::explorer
