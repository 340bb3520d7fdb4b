#include "admission/scheduling/decision_trace.hpp"

#include <algorithm>

#include "admission/scheduling/outcome_text.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::admission {
namespace {

std::string traced_name(const WorkloadInfo& w) { return std::string(w.namespace_.text()) + "/" + std::string(std::string_view(w.name)); }

std::string traced_node(const QuotaTree& tree, NodeIndex n) {
  return (tree.table().node(n).is_queue ? "ClusterQueue " : "Cohort ") + std::string(tree.name(n).text());
}

TracedAmount traced_amount(const QuotaTable& table, const CellAmount& a) {
  const auto& column = table.columns()[a.cell];
  return {column.flavor, column.resource, a.amount};
}

}  // namespace

// ---- bounds -----------------------------------------------------------------------------------------------------------------------

bool DecisionTrace::room_for(std::size_t parts) {
  if (parts_left_ < parts + kept_back_) {
    cut_ = true;
    return false;
  }
  parts_left_ -= parts;
  return true;
}

template <class T>
bool DecisionTrace::add(Cut<T>& cut, T value, std::size_t most) {
  if (cut.left_out != 0 || cut.list.size() >= most || !room_for(1)) {
    ++cut.left_out;
    return false;
  }
  cut.list.push_back(std::move(value));
  return true;
}

TracedRoundOfHeads* DecisionTrace::round() { return tree_ ? &trees_[*tree_].rounds.back() : nullptr; }

TracedTree* DecisionTrace::open(const Symbol& root) {
  const auto it = open_.find(root);
  return it == open_.end() ? nullptr : &trees_[it->second];
}

TracedEntry* DecisionTrace::entry(std::uint32_t number) {
  auto* heads = round();
  auto* out = heads != nullptr && number < heads->entries.size() ? &heads->entries[number] : nullptr;
  kept_back_ = wanted_ && (out == nullptr || !out->looked_for) ? limits_.parts / 2 : 0;
  return out;
}

TracedNomination* DecisionTrace::nomination() {
  auto* e = entry(nominated_);
  return e == nullptr ? nullptr : &e->nominations.back();
}

TracedAttempt* DecisionTrace::attempt() {
  auto* n = attempt_open_ ? nomination() : nullptr;
  return n == nullptr ? nullptr : &n->attempts.list.back();
}

// ---- the driver ---------------------------------------------------------------------------------------------------------------------

void DecisionTrace::step_begins() {
  open_.clear();
  tree_.reset();
}

void DecisionTrace::step_ends(std::span<const std::shared_ptr<Arena>> arenas) {
  std::unordered_map<const void*, bool> in_step;
  for (const auto& a : arenas) in_step.emplace(a.get(), true);
  for (TracedTree& t : trees_)  // with blockAdmission what a tree said first may go into a later step
    t.recorded = t.recorded || (t.events != 0 && in_step.contains(t.key.get()));
}

// ---- a tree -------------------------------------------------------------------------------------------------------------------------

void DecisionTrace::tree_begins(const Symbol& root, bool blocked) {
  if (trees_.size() >= limits_.trees) {
    ++trees_left_out_;
    return;
  }
  open_[root] = trees_.size();
  TracedTree& t = trees_.emplace_back();
  t.root = root;
  t.blocked = blocked;
}

void DecisionTrace::second_pass(const Symbol& root, const WorkloadInfo& workload, bool failed_nodes, const std::string& why_not) {
  if (TracedTree* t = open(root))
    add(t->second_passes, {traced_name(workload), failed_nodes, why_not.empty(), condition_message(why_not)}, limits_.listed);
}

void DecisionTrace::round_begins(const Symbol& root) {
  entry_of_.clear();
  nominated_ = none;
  tree_.reset();
  const auto it = open_.find(root);
  if (it == open_.end()) return;
  tree_ = it->second;
  auto& rounds = trees_[*tree_].rounds;
  const std::size_t before = rounds.empty() ? 0 : rounds.back().before + rounds.back().heads;
  rounds.emplace_back().before = before;
}

void DecisionTrace::proposed(const Outcome& outcome, std::span<const Event> events) {
  const auto known = entry_of_.find(outcome.workload->id);
  TracedEntry* e = known == entry_of_.end() ? nullptr : entry(known->second);
  if (e == nullptr) return;
  e->recorded = !events.empty();
  for (const Event& event : events)
    if (const auto* requeued = std::get_if<EntryRequeued>(&event)) {
      e->to_heap = requeued->to_heap;
      e->parked_with = requeued->bulk_parked;
    }
}

void DecisionTrace::round_ends() {
  nominated_ = none;
  if (auto* heads = round())
    std::stable_sort(heads->entries.begin(), heads->entries.end(),
                     [](const TracedEntry& a, const TracedEntry& b) { return a.turn < b.turn; });
  entry_of_.clear();
  tree_.reset();
}

void DecisionTrace::tree_ends(const Symbol& root, std::shared_ptr<const void> key, std::size_t events,
                              std::optional<std::uint32_t> last_turn) {
  TracedTree* t = open(root);
  if (t == nullptr) return;
  t->key = std::move(key);
  t->events = events;
  open_.erase(root);
  if (!last_turn) return;
  for (auto& heads : t->rounds)
    for (TracedEntry& e : heads.entries) {
      if (heads.before + e.turn <= *last_turn || !e.recorded) continue;
      e.recorded = false;
      e.postponed = true;
    }
}

// ---- a cycle ------------------------------------------------------------------------------------------------------------------------

std::uint32_t DecisionTrace::enter(const Head& head, bool follows) {
  auto* heads = round();
  if (heads == nullptr) return none;
  ++heads->heads;
  const WorkloadInfo& w = *head.workload;
  const bool looked_for = wanted_ && wanted_(w, head.cluster_queue);
  if (entries_ >= limits_.entries && !looked_for) {
    ++heads->left_out;
    return none;
  }
  ++entries_;
  TracedEntry& e = heads->entries.emplace_back();
  e.workload = traced_name(w);
  e.uid = std::string(std::string_view(w.uid));
  e.queue = head.cluster_queue;
  e.priority = w.priority;
  e.queue_time = w.queue_time;
  e.preemptor = head.preemptor;
  if (w.option != nullptr) e.family = std::string(w.namespace_.text()) + "/" + std::string(std::string_view(w.option->parent_name));
  e.follows = follows;
  e.looked_for = looked_for;
  e.detailed = looked_for || (details_ < limits_.details && parts_left_ > kept_back_);
  if (e.detailed)
    ++details_;
  else
    cut_ = true;
  const auto number = static_cast<std::uint32_t>(heads->entries.size() - 1);
  entry_of_[w.id] = number;
  return number;
}

void DecisionTrace::stands_for_family(std::uint32_t number) {
  if (TracedEntry* e = entry(number)) e->for_family = true;
}

void DecisionTrace::turn(std::uint32_t number, const EntryStanding& standing, const QuotaTree& tree) {
  TracedEntry* e = entry(number);
  if (e == nullptr) return;
  const auto name_of = [this](std::uint32_t other) {
    const TracedEntry* found = entry(other);
    return found == nullptr ? std::string() : found->workload;
  };
  e->had_turn = true;
  e->next = name_of(standing.next_entry);
  e->by = standing.by;
  if (!room_for(standing.rounds.size())) return;
  for (const auto& r : standing.rounds) {
    const bool contested = r.next_node != no_node;
    e->rounds.push_back({traced_node(tree, r.node), r.share, r.borrows, r.others,
                         contested ? traced_node(tree, r.next_node) : std::string(), contested ? name_of(r.next_entry) : std::string(),
                         r.next_share, r.by});
  }
}

void DecisionTrace::lacks(std::uint32_t number, const QuotaTable::Column& column, Amount asked, Amount offered) {
  TracedEntry* e = entry(number);
  if (e == nullptr) return;
  for (std::size_t i = 0; i < e->lacks.size(); ++i)  // it may be asked more than once
    if (e->lacks[i].flavor == column.flavor && e->lacks[i].resource == column.resource && e->lacks_offered[i] == offered) return;
  if (!room_for(1)) return;
  e->lacks.push_back({column.flavor, column.resource, asked});
  e->lacks_offered.push_back(offered);
}

void DecisionTrace::charges(std::uint32_t number, const QuotaTable& table, std::span<const CellAmount> amounts) {
  TracedEntry* e = entry(number);
  if (e == nullptr || !room_for(amounts.size())) return;
  for (const CellAmount& a : amounts) e->charged.push_back(traced_amount(table, a));
}

void DecisionTrace::shares_victim(std::uint32_t number, const WorkloadInfo& victim) {
  TracedEntry* e = entry(number);
  if (e == nullptr) return;
  auto name = traced_name(victim);
  if (std::find(e->shared_victims.list.begin(), e->shared_victims.list.end(), name) != e->shared_victims.list.end()) return;
  add(e->shared_victims, std::move(name), limits_.listed);
}

void DecisionTrace::gives_way(std::uint32_t number, const WorkloadInfo& to) {
  if (TracedEntry* e = entry(number)) e->gives_way_to = traced_name(to);
}

void DecisionTrace::withheld(std::uint32_t number, const WorkloadInfo& claimant) {
  if (TracedEntry* e = entry(number)) e->withheld_for = traced_name(claimant);
}

void DecisionTrace::came_to(std::uint32_t number, const Outcome& o, const QuotaTree& tree) {
  TracedEntry* e = entry(number);
  if (e == nullptr) return;
  e->turn = o.turn;
  e->kind = o.kind;
  e->requeue_reason = o.requeue_reason;
  e->reason = o.reason;
  e->message = o.message;
  e->level = o.borrowing_level;
  e->recomputed = o.recomputed;
  for (const auto& v : o.victims)
    add(e->victims, {traced_name(*tree.find_reservation(v.workload)->reservation->workload), v.reason}, limits_.candidates);
}

// ---- a nomination -------------------------------------------------------------------------------------------------------------------

void DecisionTrace::nomination_begins(std::uint32_t number, TracedNomination::On on) {
  TracedEntry* e = entry(number);
  const bool kept = e != nullptr && e->detailed && room_for(1);
  nominated_ = kept ? number : none;
  attempt_open_ = scan_open_ = false;
  if (kept) e->nominations.emplace_back().on = on;
}

void DecisionTrace::nomination_ends(const Assignment& assignment, std::size_t victims) {
  if (TracedNomination* n = nomination()) {
    n->mode = assignment.mode;
    n->level = assignment.level;
    n->victims = victims;
  }
  nominated_ = none;
}

void DecisionTrace::attempt_begins(const WorkloadInfo& workload, std::span<const std::int32_t> counts, TracedAttempt::With with) {
  attempt_open_ = scan_open_ = false;
  TracedNomination* n = nomination();
  if (n == nullptr || !add(n->attempts, TracedAttempt{}, limits_.listed)) return;
  attempt_open_ = true;
  TracedAttempt& a = n->attempts.list.back();
  a.with = with;
  if (!room_for(workload.pod_sets.size())) return;
  for (std::size_t p = 0; p < workload.pod_sets.size(); ++p)
    a.counts.emplace_back(workload.pod_sets[p].name, counts.empty() ? workload.pod_sets[p].count : counts[p]);
}

void DecisionTrace::attempt_ends(const WorkloadInfo& workload, const Assignment& assignment, const topology::TopologyRoom* room) {
  TracedAttempt* a = attempt();
  if (a == nullptr) return;
  a->mode = assignment.mode;
  a->level = assignment.level;
  a->message = assignment_message(workload, assignment);
  if (!assignment.placement || room == nullptr) return;
  for (const auto& placed : assignment.placement->pod_sets) {
    if (!room_for(1)) return;
    TracedPlaces& p = a->places.emplace_back();
    p.pod_set = workload.pod_sets[assignment.pod_sets[placed.position].pod_set].name;
    const TopologyAssignment where = room->assignment(placed.flavor, placed.pods);
    p.flavor = room->flavor(placed.flavor).name;
    for (std::size_t i = 0; i < where.size(); ++i) {
      std::string path;
      for (std::size_t level = 0; level < where.levels.size(); ++level)
        path += (path.empty() ? "" : "/") + std::string(where.domain(i)[level].text());
      add(p.domains, {std::move(path), where.counts[i]}, limits_.listed);
    }
  }
}

void DecisionTrace::scan_begins(std::vector<Symbol> pod_sets, Symbol resumes_behind) {
  scan_open_ = false;
  TracedAttempt* a = attempt();
  if (a == nullptr || !room_for(1)) return;
  a->scans.push_back({std::move(pod_sets), std::move(resumes_behind), {}, {}});
  scan_open_ = true;
}

void DecisionTrace::flavor(const Symbol& name, TracedFlavor::Verdict verdict, FlavorMode mode, std::int32_t level,
                           std::span<const TracedResource> resources, std::span<const Finding> findings) {
  TracedAttempt* a = scan_open_ ? attempt() : nullptr;
  if (a == nullptr || !room_for(resources.size())) return;
  TracedFlavor f{name, verdict, {}, mode, level, {resources.begin(), resources.end()}};
  for (const Finding& finding : findings) {
    const auto of_this = [&](const TracedResource& r) { return r.resource == finding.resource; };
    const auto r = std::find_if(f.resources.begin(), f.resources.end(), of_this);
    std::string& text = r == f.resources.end() ? f.why : r->finding;
    text += (text.empty() ? "" : "; ") + text_of(finding);
  }
  add(a->scans.back().flavors, std::move(f), limits_.listed);
}

void DecisionTrace::scan_ends(const Symbol& chosen) {
  if (TracedAttempt* a = scan_open_ ? attempt() : nullptr) a->scans.back().chosen = chosen;
  scan_open_ = false;
}

void DecisionTrace::unavailable(std::vector<Symbol> pod_sets, const Finding& finding) {
  scan_begins(std::move(pod_sets), {});
  flavor({}, TracedFlavor::Verdict::ruled_out, FlavorMode::no_fit, 0, {}, {&finding, 1});
  scan_ends({});
}

// ---- a search for victims -----------------------------------------------------------------------------------------------------------

void DecisionTrace::search(const QuotaTree& tree, const Preemptor& preemptor, std::span<const Target> targets) {
  TracedAttempt* a = attempt();
  if (a == nullptr || !add(a->searches, TracedSearch{}, limits_.listed)) {
    steps_.clear();
    return;
  }
  TracedSearch& s = a->searches.list.back();
  const auto& table = tree.table();
  s.with_places = preemptor.placed != nullptr;
  s.victims = targets.size();
  for (const CellAmount& r : preemptor.requests) {
    s.asked.push_back(traced_amount(table, r));
    if (std::find(preemptor.need.begin(), preemptor.need.end(), r.cell) != preemptor.need.end())
      s.need.push_back({s.asked.back().flavor, s.asked.back().resource, subtract(r.amount, table.offered(preemptor.queue, r.cell))});
  }

  std::unordered_map<std::uint32_t, VictimReason> victims;
  for (const Target& t : targets) victims.emplace(t.entry, t.reason);
  // Of a victim that several runs took, the last time counts.
  std::vector<bool> is_last(steps_.size(), false);
  {
    auto open = victims;
    for (std::size_t i = steps_.size(); i-- > 0;)
      if (steps_[i].kind == PreemptionStep::Kind::taken) is_last[i] = open.erase(steps_[i].entry) != 0;
  }
  std::unordered_map<std::uint64_t, std::size_t> groups;  // reason and queue → position in `passed`
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const PreemptionStep& step = steps_[i];
    using Kind = PreemptionStep::Kind;
    if (step.kind == Kind::queue_passed) {
      add(s.passed, {step.passed, traced_node(tree, step.queue), 0, {}}, limits_.listed);
      continue;
    }
    const WorkloadInfo* w = step.kind == Kind::begins ? nullptr : tree.entry(step.entry).reservation->workload.get();
    if (step.kind == Kind::passed_over) {
      const std::uint64_t key = std::uint64_t{step.queue} << 8 | static_cast<std::uint64_t>(step.passed);
      const auto known = groups.find(key);
      if (known != groups.end()) {
        s.passed.list[known->second].workloads += 1 + step.more;
      } else if (add(s.passed, {step.passed, traced_node(tree, step.queue), std::size_t{1} + step.more, traced_name(*w)}, limits_.listed)) {
        groups.emplace(key, s.passed.list.size() - 1);
      }
      continue;
    }
    TracedCandidate c;
    c.kind = step.kind;
    c.borrowing = step.borrowing;
    c.unusable = step.unusable;
    if (w != nullptr) {
      c.workload = traced_name(*w);
      c.queue = tree.name(step.queue);
      c.priority = w->priority;
      c.evicted = w->evicted;
      if (is_last[i]) c.victim = victims.at(step.entry);
    }
    if (step.shares)
      c.shares = TracedShares{traced_node(tree, step.shares->preemptor),
                              traced_node(tree, step.shares->target),
                              step.shares->preemptor_new,
                              step.shares->target_old,
                              step.shares->target_new,
                              step.shares->strategy};
    add(s.candidates, std::move(c), limits_.candidates);
  }
  steps_.clear();
}

}  // namespace hindsight::admission
