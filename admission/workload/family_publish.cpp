// What the queues and status.options are told of a family of concurrent admission (8691).

#include <algorithm>
#include <utility>

#include "admission/rules.hpp"
#include "admission/workload/workload_parent.hpp"

namespace hindsight::admission {

/// Uid of the Parent of the family that a Workload belongs to, or would if there was one; empty: none.
CompactText WorkloadParent::family_key_of(WorkloadId id) const {
  for (const auto& w : workloads_) {
    if (w.id != id) continue;
    if (w.family) return w.uid;
    return w.is_made_as_option() ? w.family_facts->option_of : CompactText();
  }
  return {};
}

/// What is told of the members follows from each other: says it again where it is no longer true.
void WorkloadParent::publish_families(const Concerned& concerned, const Context& c, Outbox& out) {
  if (!concerned.all) {
    for (const auto* key : {&concerned.before, &concerned.now}) {
      if (key->empty() || (key == &concerned.now && concerned.now == concerned.before)) continue;
      const auto parent =
          std::find_if(workloads_.begin(), workloads_.end(), [&](const WorkloadState& w) { return w.family.has_value() && w.uid == *key; });
      if (parent == workloads_.end())
        publish_strays(*key, c, out);
      else
        publish_family(position_of(*parent), c, out);
    }
    return;
  }
  if (!has_families()) return;
  publish_strays({}, c, out);
  for (std::size_t i = 0; i < workloads_.size(); ++i)
    if (workloads_[i].family) publish_family(i, c, out);
}

/// `parent_uid`: of those that name this Workload; empty: of all.
void WorkloadParent::publish_strays(std::string_view parent_uid, const Context& c, Outbox& out) {
  for (std::size_t i = 0; i < workloads_.size(); ++i) {
    // Anybody can make thousands of Options that are none: what has told its queue nothing has nothing to take back.
    if (placements_[i].kind == Placement::Kind::none || !workloads_[i].is_made_as_option()) continue;
    if (!parent_uid.empty() && workloads_[i].option_of() != parent_uid) continue;
    if (role_of(i, *c.catalog) == FamilyRole::stray) publish(i, {}, c, out);
  }
}

/// Does its queue know which slice it is to replace, and what it is charged beside that one (CA-95)?
bool WorkloadParent::is_told_as_slice(std::size_t option, const OptionPlace& place, const std::optional<SliceChain>& chain,
                                      const Context& c) const {
  const WorkloadState& w = workloads_[option];
  const Placement& at = placements_[option];
  const WorkloadState* replaced = replaced_by(option, c, &chain);
  if (at.kind == Placement::Kind::reserving)
    return w.admitted() || (at.held != nullptr && make_reservation(w, at.info, replaced)->charges == at.held->charges);
  const auto now = make_info(w, *c.catalog, job_ ? job_->uid : w.owner_uid, replaced, &place);
  return now->replaces == at.info->replaces && now->asks_nothing == at.info->asks_nothing;
}

void WorkloadParent::publish_family(std::size_t parent, const Context& c, Outbox& out) {
  if (!workloads_[parent].reserved()) workloads_[parent].family->holds_itself = false;  // what it had of its own is over
  if (workloads_[parent].finished()) {  // CA-54: nobody moves any more, whether an event says so or somebody else wrote it
    workloads_[parent].family->hold.reset();
    workloads_[parent].family->migrating_to = CompactText();
  }
  publish(parent, {}, c, out);
  const Family& f = family_of(parent, c);
  for (const std::size_t stranger : f.strangers) {
    const Placement& at = placements_[stranger];
    if (at.kind == Placement::Kind::none && !workloads_[stranger].reserved()) continue;  // as above
    const bool told = at.info == nullptr || (at.beside == (f.running != stranger) && is_told(*at.info, workloads_[stranger], *c.catalog,
                                                                                             place_of_stranger(f, workloads_[stranger])));
    publish(stranger, {.touched = !told}, c, out, {&f});
  }
  const auto chain = workloads_[parent].elastic ? chain_of(c) : std::nullopt;
  const Known known{&f, &chain};
  for (std::size_t rank = 0; rank < f.members.size(); ++rank) {
    const std::size_t member = f.members[rank];
    if (member == Family::none) continue;
    const Placement& at = placements_[member];
    Publish how;
    if (at.kind != Placement::Kind::none) {
      const OptionPlace place = option_place(f, rank, c);
      const bool beside = at.kind == Placement::Kind::reserving && counts_beside(f, rank);
      how.touched = beside != at.beside || !is_told(*at.info, workloads_[member], *c.catalog, place) ||
                    (workloads_[member].elastic && !is_told_as_slice(member, place, chain, c));
      how.repush = how.touched && at.kind == Placement::Kind::pending;
    }
    publish(member, how, c, out, known);
  }
  show_options(f, c);
}

/// A Parent holds what is kept for the Option that a migration leads to.
void WorkloadParent::publish_hold(std::size_t index, const Context& c, Outbox& out) {
  Placement& at = placements_[index];
  auto hold = hold_of(family_of(index, c), *c.catalog);
  const Symbol queue = workloads_[index].family->hold->cluster_queue;
  const bool same = at.kind == Placement::Kind::reserving && at.queue == queue && at.held != nullptr && at.held->hold &&
                    at.held->charges == hold->charges && at.held->workload->priority == hold->workload->priority &&
                    std::equal(at.held->pod_sets.begin(), at.held->pod_sets.end(), hold->pod_sets.begin(), hold->pod_sets.end(),
                               [](const auto& a, const auto& b) { return a.topology == b.topology; });
  if (same) return;
  if (at.kind == Placement::Kind::reserving && at.queue != queue)
    out.send(self_, queue_address(at.queue), msg::Release{workloads_[index].id});
  at.kind = Placement::Kind::reserving;
  at.queue = queue;
  at.info = hold->workload;
  at.held = hold;
  out.send(self_, queue_address(queue), msg::Reserve{std::move(hold), false});
}

namespace {

/// `room`: for a text that does not stand anywhere.
std::string_view option_message(const WorkloadState& w, OptionPhase phase, std::string& room) {
  const auto text = [&](ConditionType type) {
    const auto* condition = w.find(type);
    return condition == nullptr ? std::string_view() : std::string_view(condition->message);
  };
  switch (phase) {
    case OptionPhase::finished:
      return text(ConditionType::finished);
    case OptionPhase::admitted:
      return text(w.evicted() ? ConditionType::evicted : ConditionType::admitted);
    case OptionPhase::deactivated: {
      const std::string_view why = option_state(w).message;
      return why.empty() ? "The workload is deactivated" : why;
    }
    case OptionPhase::pending:
      break;
  }
  const std::string_view reserved = text(ConditionType::quota_reserved);
  if (!w.reserved() || w.checks_ready()) return reserved;
  room = reserved;
  bool first = true;
  for (const auto& check : w.checks) {
    if (check.state == CheckState::ready) continue;
    room += std::exchange(first, false) ? ", waiting for admission checks: " : ", ";
    room += check.name.text();
  }
  return room;
}

/// One entry of status.options as it should be.
struct ShownOption {
  const WorkloadState* w = nullptr;
  const std::vector<Symbol>* flavors = nullptr;
  OptionPhase phase = OptionPhase::pending;

  [[nodiscard]] std::string_view message(std::string& room) const {
    const std::string_view whole = option_message(*w, phase, room);
    if (whole.size() <= limits::finding.size()) return whole;
    return room = cut_message(whole, limits::finding.size());
  }
};

OptionPhase phase_of(const WorkloadState& w) {
  if (w.finished()) return OptionPhase::finished;
  if (w.reserved() && w.admitted()) return OptionPhase::admitted;
  return w.active ? OptionPhase::pending : OptionPhase::deactivated;
}

}  // namespace

/// CA-100, CA-101: status.options of the Parent.
void WorkloadParent::show_options(const Family& f, const Context& c) {
  static const std::vector<Symbol> none;
  WorkloadState& parent = workloads_[f.parent];
  auto& told = parent.family->options;
  // While the first ones are being made, and none is admitted, the list would be written again for each of them.
  const auto is_coming = [&](const RequestedOption& o) {
    const auto is_it = [&](std::size_t member) { return member != Family::none && workloads_[member].name == o.name; };
    return !o.refused && std::ranges::none_of(f.members, is_it);
  };
  if (told.empty() && f.running == Family::none && c.rules >= rules_with_options_shown_together &&
      std::ranges::any_of(parent.family->requested, is_coming))
    return;
  std::vector<ShownOption> now;
  now.reserve(f.members.size() + 1);
  for (std::size_t rank = 0; rank < f.members.size(); ++rank) {
    if (f.members[rank] == Family::none) continue;
    const WorkloadState& w = workloads_[f.members[rank]];
    now.push_back({&w, &f.specs[rank].flavors, phase_of(w)});
  }
  if (f.running != Family::none && f.rank_of(f.running) == Family::none) {  // a stranger, as long as the job runs on it
    const WorkloadState& w = workloads_[f.running];
    now.push_back({&w, w.family_facts ? &w.family_facts->allowed : &none, OptionPhase::admitted});
  }
  std::string room;
  const auto is_same = [&](const ShownOption& one, const OptionStatus& before) {
    return one.w->name == before.name && one.phase == before.phase && *one.flavors == before.flavors &&
           std::string_view(before.message) == one.message(room);
  };
  if (std::equal(now.begin(), now.end(), told.begin(), told.end(), is_same)) return;
  std::vector<OptionStatus> list;
  for (const auto& one : now) {
    OptionStatus entry{one.w->name, *one.flavors, one.phase, std::string(one.message(room)), c.now};
    for (const auto& before : told)
      if (before.name == entry.name && before.phase == entry.phase) entry.last_transition = before.last_transition;
    list.push_back(std::move(entry));
  }
  told = std::move(list);
  parent.await(Section::options);
}

}  // namespace hindsight::admission
