#include <algorithm>
#include <string>
#include <unordered_map>

#include "admission/model/option_name.hpp"
#include "admission/model/slices.hpp"
#include "admission/workload/family.hpp"

namespace hindsight::admission {
namespace {

bool is_assigned(const Admission& admission, const Symbol& flavor) {
  for (const auto& p : admission.pod_sets)
    for (const auto& choice : p.flavors)
      if (choice.second == flavor) return true;
  return false;
}

}  // namespace

std::vector<Symbol> assigned_flavors(const Admission& admission) {
  std::vector<Symbol> out;
  for (const auto& p : admission.pod_sets)
    for (const auto& [resource, flavor] : p.flavors)
      if (std::find(out.begin(), out.end(), flavor) == out.end()) out.push_back(flavor);
  return out;
}

void find_positions(const QueueConfig& queue, const Admission& admission, FlavorPositions& out) {
  out.clear();
  std::uint32_t position = 0;
  for (const auto& group : queue.groups)
    for (const auto& flavor : group.flavors) {
      if (is_assigned(admission, flavor.flavor)) out.push_back(position);
      ++position;
    }
}

bool asks_for_the_same(const WorkloadState& option, const WorkloadState& parent) {
  // A slice that runs is made smaller in place, and its Option follows (CA-95).
  const bool shrinks = parent.elastic && option.elastic && option.reserved() && option.admitted();
  return std::equal(option.pod_sets.begin(), option.pod_sets.end(), parent.pod_sets.begin(), parent.pod_sets.end(),
                    [shrinks](const PodSetSpec& a, const PodSetSpec& b) {
                      return a.name == b.name && (a.count == b.count || (shrinks && a.count > b.count)) &&
                             a.template_hash == b.template_hash && a.topology == b.topology;
                    });
}

const OptionState& option_state(const WorkloadState& w) {
  static const OptionState nothing;
  return w.option ? *w.option : nothing;
}

const Symbol& cluster_queue_of(const WorkloadState& w, const Catalog& catalog) {
  static const Symbol none;
  const auto* lq = catalog.local_queue(w.namespace_, w.queue_name);
  return lq == nullptr ? none : lq->cluster_queue;
}

std::string option_object_name(const WorkloadState& parent, const OptionSpec& spec, const Settings& settings) {
  const auto& foreign = parent.family->foreign;
  const bool hashed = std::find(foreign.begin(), foreign.end(), spec.name) != foreign.end();
  return option_name(parent.name, parent.uid, spec.name.text(), settings.short_workload_names ? short_option_name_limit : option_name_limit,
                     hashed);
}

namespace {

/// The flavors of the slice that it is to replace, as long as that one holds quota: a job grows where it runs (CA-95). Empty: there is
/// none.
std::vector<Symbol> pinned_to(std::span<const WorkloadState> all, const WorkloadState& slice) {
  if (!slice.elastic || slice.replacement_for.empty() || slice.admitted()) return {};
  for (const auto& other : all)
    if (is_slice(other) && is_live(other) && other.reserved() && names(slice, other)) return assigned_flavors(*other.admission);
  return {};
}

}  // namespace

void FamilyTable::find_all(std::span<const WorkloadState> all) {
  known_ = true;
  entries_.clear();
  entry_of_.assign(all.size(), no_family);
  entries_.reserve(static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](const auto& w) { return w.family.has_value(); })));
  std::unordered_map<std::string_view, std::uint32_t> by_uid;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].family) continue;
    entry_of_[i] = static_cast<std::uint32_t>(entries_.size());
    by_uid.emplace(all[i].uid, entry_of_[i]);
    entries_.emplace_back().family.parent = i;
  }
  for (std::size_t i = 0; i < all.size() && !by_uid.empty(); ++i) {
    if (all[i].family || !all[i].is_made_as_option()) continue;
    const auto it = by_uid.find(all[i].option_of());
    if (it == by_uid.end() || all[entries_[it->second].family.parent].namespace_ != all[i].namespace_) continue;
    entry_of_[i] = it->second;
    entries_[it->second].family.options.push_back(i);
  }
}

std::size_t FamilyTable::parent_of(std::span<const WorkloadState> all, std::size_t index) {
  if (!known_ || entry_of_.size() != all.size()) find_all(all);
  return entry_of_[index] == no_family ? Family::none : entries_[entry_of_[index]].family.parent;
}

std::size_t FamilyTable::size(std::span<const WorkloadState> all) {
  if (!known_ || entry_of_.size() != all.size()) find_all(all);
  return entries_.size();
}

void FamilyTable::tell_members_apart(Entry& entry, std::span<const WorkloadState> all, const Context& c) {
  Family& f = entry.family;
  const WorkloadState& parent = all[f.parent];
  f.plan.reset();
  if (f.queue != nullptr && f.queue->concurrent.enabled) {
    const auto* own = parent.family_facts && parent.family_facts->constrained ? &parent.family_facts->allowed : nullptr;
    std::vector<Symbol> both = entry.pinned;
    if (own != nullptr)
      std::erase_if(both, [&](const Symbol& flavor) { return std::find(own->begin(), own->end(), flavor) == own->end(); });
    f.plan = shared_option_specs(*f.queue, entry.pinned.empty() ? own : &both);
  }
  f.specs = f.plan == nullptr ? std::span<const OptionSpec>() : std::span<const OptionSpec>(*f.plan);
  f.members.assign(f.specs.size(), Family::none);
  f.strangers.clear();
  std::vector<std::string> names;
  for (const auto& spec : f.specs) names.push_back(option_object_name(parent, spec, c.catalog->settings));
  for (const std::size_t i : f.options) {
    const auto name = std::find(names.begin(), names.end(), all[i].name.view());
    if (name == names.end() || !asks_for_the_same(all[i], parent)) {
      f.strangers.push_back(i);
      continue;
    }
    // of two with one name the first was deleted, and that is not told yet
    std::size_t& member = f.members[static_cast<std::size_t>(name - names.begin())];
    if (member != Family::none) f.strangers.push_back(member);
    member = i;
  }
}

const Family& FamilyTable::family(std::span<const WorkloadState> all, std::size_t parent, const Context& c) {
  if (!known_ || entry_of_.size() != all.size()) find_all(all);
  Entry& entry = entries_[entry_of_[parent]];
  Family& f = entry.family;
  const Symbol& queue = cluster_queue_of(all[f.parent], *c.catalog);
  auto pinned = pinned_to(all, all[f.parent]);
  if (!entry.resolved || entry.queue != queue || entry.configured != c.configured || entry.pinned != pinned) {
    f.queue = c.catalog->queue(queue);
    entry.pinned = std::move(pinned);
    tell_members_apart(entry, all, c);
    entry.queue = queue;
    entry.configured = c.configured;
    entry.resolved = true;
  }
  // of several that are admitted the best of those that stay
  f.running = Family::none;
  for (const std::size_t i : f.options) {
    const WorkloadState& w = all[i];
    if (!w.reserved() || !w.admitted() || w.finished()) continue;
    if (f.running != Family::none && (w.evicted() || f.rank_of(i) > f.rank_of(f.running))) continue;
    f.running = i;
  }
  f.running_on.clear();
  if (f.running != Family::none && f.queue != nullptr) find_positions(*f.queue, *all[f.running].admission, f.running_on);
  f.target = Family::none;
  f.target_on.clear();
  const FamilyState& family = *all[f.parent].family;
  for (std::size_t rank = 0; rank < f.members.size() && !family.migrating_to.empty(); ++rank) {
    if (f.members[rank] == Family::none || all[f.members[rank]].uid != family.migrating_to) continue;
    f.target = f.members[rank];
    if (const auto& admission = family.hold ? family.hold : all[f.target].admission; admission)
      find_positions(*f.queue, *admission, f.target_on);
    else
      f.target_on = f.specs[rank].positions;
  }
  return f;
}

}  // namespace hindsight::admission
