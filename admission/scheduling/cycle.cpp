#include "admission/scheduling/cycle.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <optional>
#include <utility>

#include "admission/model/catalog_view.hpp"
#include "admission/scheduling/assigned.hpp"
#include "admission/scheduling/assignment.hpp"
#include "admission/scheduling/counted_free.hpp"
#include "admission/scheduling/decision_trace.hpp"
#include "admission/scheduling/entry_order.hpp"
#include "admission/scheduling/flavor_assigner.hpp"
#include "admission/scheduling/nomination.hpp"
#include "admission/scheduling/outcome_text.hpp"
#include "admission/scheduling/pod_placer.hpp"
#include "admission/scheduling/preemption.hpp"
#include "admission/scheduling/requeue.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::admission {
namespace {

constexpr const char* overlapping = "Workload has overlapping preemption targets with another workload";
constexpr const char* no_longer_fits = "Workload no longer fits after processing another workload";
constexpr const char* gated = "Workload requires preemption, but it's gated";
constexpr const char* no_better = "No flavor that is better than the present one has room";
constexpr const char* both_borrow =
    "There is room beside the admitted Option only by borrowing, which upgradeFungibility NoBorrowing rules out";
constexpr const char* job_stops = "Waiting for the evicted job to stop";
constexpr const char* made_room = "Another workload, which preempted this one again and again to make room for itself, goes first";

class Cycle {
 public:
  Cycle(QuotaTree& tree, const CycleContext& context)
      : tree_(tree),
        table_(tree.table()),
        context_(context),
        settings_(*context.settings),
        flavors_(tree, context.flavor),
        placer_(context.room == nullptr ? std::nullopt
                                        : std::optional<PodPlacer>(std::in_place, *context.room, settings_, tree, context.checks)),
        preemption_(tree, settings_, context.now, context.repeated, placer()),
        assigner_(tree, settings_, flavors_, preemption_, placer()),
        nominator_(tree, settings_, assigner_, preemption_, placer()),
        trace_(context.trace),
        not_ready_(context.admitted_not_ready) {
    if (trace_ == nullptr) return;
    preemption_.follow(trace_->steps(), true);
    assigner_.follow(trace_);
    nominator_.follow(trace_);
  }

  std::vector<Outcome> run(std::vector<Head> heads) {
    outcomes_.reserve(heads.size());
    entries_.reserve(heads.size());
    for (Head& head : heads) enter(head);

    const QuotaTable::Mark start = table_.mark();
    EntryOrder order(tree_, settings_, entries_);
    const std::size_t rejected = outcomes_.size();
    while (const auto next = order.next()) {
      if (trace_ != nullptr) trace_->turn(entries_[*next].traced, order.standing(), tree_);
      take_turn(entries_[*next]);
    }
    table_.rollback(start);
    for (const auto* holding : taken_) Room::take(context_.room->free(), *holding, -1);
    for (const Target& t : issued_) holder(t).removed = false;

    for (std::size_t i = 0; i < outcomes_.size(); ++i) outcomes_[i].turn = static_cast<std::uint32_t>(i);
    if (!served_.empty()) tell_siblings();
    if (trace_ != nullptr)
      for (std::size_t i = 0; i < outcomes_.size(); ++i) trace_->came_to(traced_[i], outcomes_[i], tree_);

    // Those that were not nominated come last, in an order that does not depend on that of the heads.
    const auto processed = outcomes_.begin() + static_cast<std::ptrdiff_t>(rejected);
    std::sort(outcomes_.begin(), processed, [](const Outcome& a, const Outcome& b) {
      if (a.cluster_queue != b.cluster_queue) return ByText{}(a.cluster_queue, b.cluster_queue);
      return a.workload->uid < b.workload->uid;
    });
    std::rotate(outcomes_.begin(), processed, outcomes_.end());
    return std::move(outcomes_);
  }

 private:
  using Room = topology::TopologyRoom;

  [[nodiscard]] const PodPlacer* placer() const { return placer_ ? &*placer_ : nullptr; }

  // ---- nomination (§4 step 3) -------------------------------------------------------------------------------------------

  void enter(Head& head) {
    if (!head.siblings.empty()) return enter_family(head);
    CycleEntry& e = entries_.emplace_back();
    if (!nominate(head, e)) entries_.pop_back();
  }

  /// CA-142: the best Option that may get something stands for its family; those before it are told why they do not. Where none may, the
  /// one that quota is kept for stands for all.
  void enter_family(Head& head) {
    std::vector<Head> siblings = std::move(head.siblings);
    std::vector<CycleEntry> in_vain;
    std::optional<CycleEntry> chosen;
    std::size_t looked_at = 0;
    for (Head* member = &head; member != nullptr; member = looked_at < siblings.size() ? &siblings[looked_at++] : nullptr) {
      CycleEntry e;
      if (!nominate(*member, e)) continue;
      if (may_get_something(e)) {
        chosen = std::move(e);
        break;
      }
      in_vain.push_back(std::move(e));
    }
    if (!chosen) {
      if (in_vain.empty()) return;
      auto waits = std::find_if(in_vain.begin(), in_vain.end(),
                                [](const CycleEntry& e) { return e.assignment.mode == AssignmentMode::preempt && e.targets.empty(); });
      if (waits == in_vain.end()) waits = in_vain.begin();
      chosen = std::move(*waits);
      in_vain.erase(waits);
    }
    for (CycleEntry& e : in_vain) turn_down(e);
    if (trace_ != nullptr) trace_->stands_for_family(chosen->traced);
    chosen->for_family = true;
    chosen->siblings.assign(std::make_move_iterator(siblings.begin() + static_cast<std::ptrdiff_t>(looked_at)),
                            std::make_move_iterator(siblings.end()));
    entries_.push_back(std::move(*chosen));
  }

  /// False: it is no entry of this cycle, and what becomes of it is said.
  bool nominate(Head& head, CycleEntry& e) {
    if (trace_ != nullptr) e.traced = entered_ = trace_->enter(head, e.follows);
    if (tree_.find_reservation(head.workload->id) != nullptr) {
      Outcome& o = outcomes_.emplace_back();
      o.kind = Outcome::Kind::drop;
      o.workload = std::move(head.workload);
      o.cluster_queue = head.cluster_queue;
      note_outcome(entered_);
      return false;
    }
    const NodeIndex queue = tree_.find_queue(head.cluster_queue);
    if (!admissible(head, queue)) return false;

    const bool began = !head.scan.entries.empty();
    e.scan_began_anew = began && outdated(head.scan, *head.workload, context_.cycle, tree_.queue(queue).generation, settings_);
    const ScanState* scan = began && !e.scan_began_anew ? &head.scan : nullptr;
    e.workload = std::move(head.workload);
    e.queue = queue;
    e.preemptor = settings_.prioritize_preemptors && head.preemptor;
    list_own(e);
    const CountedFree own(tree_, context_.room, e.own);
    if (trace_ != nullptr) trace_->nomination_begins(e.traced, TracedNomination::On::present);
    nominator_.nominate(*e.workload, queue, scan, nullptr, e.assignment, e.targets);
    if (e.workload->sizing != nullptr) e.plan = nominator_.size(*e.workload, queue, head.alone, e.assignment, e.targets);
    if (trace_ != nullptr) trace_->nomination_ends(e.assignment, e.targets.size());
    return true;
  }

  /// What the family of an Option holds that it takes over when it is admitted: that of the one which is admitted now, and what was kept
  /// for it (CA-51, CA-59).
  void list_own(CycleEntry& e) const {
    if (e.workload->option == nullptr) return;
    for (const WorkloadId id : {e.workload->option->running, e.workload->option->held ? e.workload->option->parent : no_workload})
      if (const auto entry = tree_.entry_of(id); entry != FlatIndex::none) e.own.push_back(entry);
  }

  bool admissible(Head& head, NodeIndex queue) {
    const std::string name(head.cluster_queue.text());
    if (head.workload->failed_checks) return reject(head, reason::pending_evaluation, "The workload has failed admission checks");
    if (queue == no_node) return reject(head, reason::misconfigured, "ClusterQueue " + name + " not found");
    if (!table_.node(queue).active) return reject(head, reason::suspended, "ClusterQueue " + name + " is inactive");

    const QueueConfig& config = *tree_.queue(queue).config;
    const NamespaceLabels* labels = namespace_labels(head.workload->namespace_);
    if (labels == nullptr) {
      const std::string missing(head.workload->namespace_.text());
      return reject(head, reason::misconfigured, "could not obtain workload namespace: namespaces \"" + missing + "\" not found");
    }
    if (!config.has_namespace_selector || (!config.namespace_selector.empty() && !matches(config.namespace_selector, *labels))) {
      return reject(head, reason::misconfigured, "workload namespace doesn't match ClusterQueue selector",
                    RequeueReason::namespace_mismatch);
    }
    if (!head.workload->limits_error.empty()) {
      return reject(head, reason::misconfigured, head.workload->limits_error.text());
    }
    return true;
  }

  bool reject(Head& head, Symbol why, std::string message, RequeueReason requeue = RequeueReason::generic) {
    Outcome& o = outcomes_.emplace_back();
    o.workload = std::move(head.workload);
    o.cluster_queue = head.cluster_queue;
    o.requeue_reason = requeue;
    o.reason = why;
    o.message = condition_message(std::move(message));
    o.scan = std::move(head.scan);
    note_outcome(entered_);
    return false;
  }

  const NamespaceLabels* namespace_labels(const Symbol& name) {
    for (const auto& [known, labels] : namespaces_)
      if (known == name) return labels;
    return namespaces_.emplace_back(name, context_.namespace_labels(name)).second;
  }

  // ---- processing (§6.2) --------------------------------------------------------------------------------------------------

  /// Of a family that is tried as one the next Option is tried when the one before it got nothing after all, because of those that had
  /// their turn before.
  void take_turn(CycleEntry& e) {
    if (!e.for_family) return process(e);
    const WorkloadId family = e.workload->option->parent;
    std::vector<Head> siblings = std::move(e.siblings);
    process(e);
    for (Head& sibling : siblings) {
      if (is_served(outcomes_.back())) break;
      CycleEntry& next = later_.emplace_back();
      next.follows = true;
      if (!nominate(sibling, next)) continue;
      if (projected_ && !may_get_something(next)) nominate_on_projected(next);
      process(next);
    }
    if (is_served(outcomes_.back())) served_.push_back(family);
  }

  /// It gets quota, now or by what was begun for it, or waits for nothing but its turn.
  [[nodiscard]] static bool is_served(const Outcome& o) {
    return o.kind == Outcome::Kind::admit || o.kind == Outcome::Kind::migrate || keeps_its_turn(o.requeue_reason) ||
           o.reason == reason::waiting_for_pods_ready;
  }

  void tell_siblings() {
    for (Outcome& o : outcomes_) {
      const OptionInfo* const option = o.workload->option.get();
      o.sibling_served = option != nullptr && std::find(served_.begin(), served_.end(), option->parent) != served_.end();
    }
  }

  /// On the state that the preemptions of the cycle so far will leave.
  void nominate_on_projected(CycleEntry& e) {
    swap_projected();
    {
      const CountedFree own(tree_, context_.room, e.own);
      if (trace_ != nullptr) trace_->nomination_begins(e.traced, TracedNomination::On::projected);
      nominator_.nominate(*e.workload, e.queue, nullptr, nullptr, e.assignment, e.targets);
      if (trace_ != nullptr) trace_->nomination_ends(e.assignment, e.targets.size());
    }
    swap_projected();
    if (e.assignment.mode == AssignmentMode::fit) e.assignment.mode = AssignmentMode::deferred_fit;
  }

  /// CA-73
  [[nodiscard]] static bool is_gated(const CycleEntry& e) {
    return !e.targets.empty() && e.workload->option != nullptr && e.workload->option->gated;
  }

  [[nodiscard]] static bool may_get_something(const CycleEntry& e) {
    return e.assignment.mode == AssignmentMode::fit || (e.assignment.mode == AssignmentMode::preempt && !e.targets.empty() && !is_gated(e));
  }

  /// It fits nowhere, or would have to preempt and may not, or there is nobody whom it could preempt.
  void turn_down(CycleEntry& e) {
    if (e.assignment.mode == AssignmentMode::no_fit) {
      requeue(e, RequeueReason::no_fit, reason_symbol(e.assignment.no_fit_reason), assignment_message(*e.workload, e.assignment));
    } else if (is_gated(e)) {
      requeue(e, RequeueReason::preemption_gated, reason::admission_gated, gated).scan = {};
    } else {
      requeue(e, RequeueReason::preemption_no_candidates, reason::waiting_for_quota,
              assignment_message(*e.workload, e.assignment) + left_alone_message(left_alone_by(e)));
    }
  }

  void process(CycleEntry& e) {
    if (gives_way(e)) {
      skip(e, made_room);
      return;
    }
    const std::uint32_t replaced = replaced_entry(e);
    if (replaced != FlatIndex::none && holder(replaced).removed) {  // the whole job is being preempted
      skip(e, overlapping).preemption_skipped = true;
      return;
    }
    e.recomputed = settings_.recompute_overlapping && overlaps(e);
    if (e.recomputed) recompute(e);
    if (!e.recomputed && is_placed(e) && quota_fits(e) && !places_fit(e) && !place_again(e)) {
      skip(e, no_longer_fits);
      return;
    }
    switch (e.assignment.mode) {
      case AssignmentMode::no_fit:
        return turn_down(e);
      case AssignmentMode::preempt:
        if (is_gated(e)) return turn_down(e);
        if (!e.targets.empty()) break;
        if (!e.follows) reserve_unreclaimable(e);  // a family keeps quota for one of its Options
        return turn_down(e);
      case AssignmentMode::deferred_fit:
        charge(e, e.assignment.usage);
        requeue(e, RequeueReason::pending_preemption, reason::waiting_for_preempted_workloads,
                std::string(overlapping) + ", but will fit after these preemptions complete")
            .scan = {};
        return;
      case AssignmentMode::fit:
        break;
    }

    const bool preempts = e.assignment.mode == AssignmentMode::preempt;
    if (overlaps(e)) {
      skip(e, overlapping).preemption_skipped = true;
      return;
    }
    if (!fits(e)) {
      skip(e, no_longer_fits).preemption_skipped = preempts;
      return;
    }
    const OptionInfo* const option = e.workload->option.get();
    if (option != nullptr && option->running != no_workload &&
        !improves(e.assignment, tree_.queue(e.queue), tree_.find_reservation(option->running))) {
      requeue(e, RequeueReason::generic, reason::waiting_for_quota, no_better).scan = {};
      return;
    }
    const bool migrates = !preempts && option != nullptr && option->running != no_workload && admitted_at_once(e);
    if (!preempts && option != nullptr && !migrates && !may_reserve(e, *option)) return;
    const bool blocked = settings_.block_admission && not_ready_;
    if (!preempts && !blocked && !migrates && is_withheld(e)) return;
    if (preempts)
      issue(e);
    else if (replaced != FlatIndex::none && !blocked)
      retire(replaced);
    charge(e, e.assignment.usage);
    if (preempts) {
      preempt(e);
    } else if (blocked) {
      // It waits for its turn, not for another flavor: the next scan starts where this one did.
      requeue(e, RequeueReason::failed_after_nomination, reason::waiting_for_pods_ready,
              "waiting for all admitted workloads to be in PodsReady condition")
          .scan = {};
    } else if (migrates) {
      migrate(e);
    } else {
      admit(e);
    }
  }

  /// An Option that gets quota while its family has another one running, or stopping.
  bool may_reserve(CycleEntry& e, const OptionInfo& option) {
    if (option.waits && admitted_at_once(e)) {  // CA-67
      requeue(e, RequeueReason::generic, reason::waiting_for_preempted_workloads, job_stops).scan = {};
      return false;
    }
    if (option.running == no_workload) return true;
    // CA-46: both hold quota until its checks are done, so there has to be room for both.
    const std::vector<std::uint32_t> own = std::exchange(e.own, {});
    const bool both = fits(e);
    const bool borrows = both && borrows_beside(e);
    e.own = own;
    if (!both || borrows) requeue(e, RequeueReason::generic, reason::waiting_for_quota, borrows ? both_borrow : no_longer_fits).scan = {};
    return both && !borrows;
  }

  /// CA-146: would its queue borrow for it while the running one still holds what it has?
  [[nodiscard]] bool borrows_beside(const CycleEntry& e) {
    if (upgrade_limit(*e.workload, *tree_.queue(e.queue).config) != UpgradeFungibility::no_borrowing) return false;
    const auto& usage = e.assignment.usage;
    return std::any_of(usage.begin(), usage.end(),
                       [&](const CellAmount& u) { return table_.lowest_subtree_that_fits(e.queue, u.cell, u.amount).level > 0; });
  }

  [[nodiscard]] bool overlaps(const CycleEntry& e) const {
    if (trace_ != nullptr && projected_)
      for (const Target& t : e.targets)
        if (holder(t).removed) trace_->shares_victim(e.traced, *tree_.entry(t.entry).reservation->workload);
    return projected_ && std::any_of(e.targets.begin(), e.targets.end(), [&](const Target& t) { return holder(t).removed; });
  }

  /// How many of those that hold quota here it preempts no more (D13).
  [[nodiscard]] std::size_t left_alone_by(const CycleEntry& e) const {
    if (context_.repeated == nullptr) return 0;
    const auto list = context_.repeated->left_alone_by(e.workload->uid);
    return list.size();
  }

  /// Does somebody stand behind it for whom it had to make room as often as is allowed, and who could be admitted now (D13)? Nobody waits
  /// for long: one that is admitted stands in no later cycle, and one that fits no more lets the others pass.
  [[nodiscard]] bool gives_way(const CycleEntry& e) const {
    if (context_.repeated == nullptr || !context_.repeated->any()) return false;
    const auto first = std::find_if(entries_.begin(), entries_.end(), [&](const CycleEntry& other) {
      const bool waits = other.workload != nullptr && other.workload != e.workload;  // what was processed has given its workload away
      return waits && other.assignment.mode == AssignmentMode::fit && context_.repeated->leaves_alone(other.workload->uid, e.workload->uid);
    });
    if (trace_ != nullptr && first != entries_.end()) trace_->gives_way(e.traced, *first->workload);
    return first != entries_.end();
  }

  [[nodiscard]] QuotaTree::Holder& holder(std::uint32_t entry) const {
    return tree_.queue(tree_.entry(entry).queue).holders[tree_.entry(entry).position];
  }
  [[nodiscard]] QuotaTree::Holder& holder(const Target& t) const { return holder(t.entry); }

  /// The slice that the entry replaces here; FlatIndex::none: it replaces nothing.
  [[nodiscard]] std::uint32_t replaced_entry(const CycleEntry& e) const {
    const std::uint32_t entry = tree_.entry_of(e.workload->replaces);
    return entry != FlatIndex::none && tree_.entry(entry).queue == e.queue ? entry : FlatIndex::none;
  }

  /// What a replaced slice holds belongs to its replacement from now on: nobody may count on it as a victim (EJ-40). It stays charged, for
  /// its replacement is charged the difference only.
  void retire(std::uint32_t entry) {
    project();
    holder(entry).removed = true;
    issued_.push_back({entry, tree_.entry(entry).queue, VictimReason::in_cluster_queue});
  }

  /// Charges what the entry asks for to the rest of the cycle, less what its family holds and it takes over.
  void charge(const CycleEntry& e, std::span<const CellAmount> asked) {
    std::vector<CellAmount> more;
    if (!e.own.empty()) {
      for (const CellAmount& a : asked) {
        Amount amount = a.amount;
        for (const std::uint32_t entry : e.own)
          for (const CellAmount& held : tree_.entry(entry).cells)
            if (held.cell == a.cell) amount = subtract(amount, held.amount);
        if (amount > 0) more.push_back({a.cell, amount});
      }
    }
    const std::span<const CellAmount> usage = e.own.empty() ? asked : std::span<const CellAmount>(more);
    table_.add(e.queue, usage);
    if (trace_ != nullptr) trace_->charges(e.traced, table_, usage);
    if (projected_) projected_->add(e.queue, usage);
    if (!is_placed(e)) return;
    Room::take(context_.room->free(), e.assignment.placement->holding);
    if (projected_) Room::take(projected_room_, e.assignment.placement->holding);
    taken_.push_back(&e.assignment.placement->holding);
  }

  /// From here on somebody counts as gone.
  void project() {
    if (projected_) return;
    projected_ = table_;
    if (context_.room != nullptr) projected_room_ = context_.room->free();
  }

  /// The victims of the entry count as gone in the projected state.
  void issue(const CycleEntry& e) {
    project();
    for (const Target& t : e.targets) {
      holder(t).removed = true;
      projected_->remove(t.queue, tree_.entry(t.entry).cells);
      move_pods(projected_room_, t, -1);
      issued_.push_back(t);
    }
  }

  /// On the state that earlier preemptions of the cycle will leave, on the flavors first nominated (BA-73).
  void recompute(CycleEntry& e) {
    swap_projected();
    nominate_again(e, TracedNomination::On::projected);
    swap_projected();
    if (e.assignment.mode == AssignmentMode::fit) e.assignment.mode = AssignmentMode::deferred_fit;
  }

  void nominate_again(CycleEntry& e, TracedNomination::On on) {
    Assignment again;
    std::vector<Target> targets;
    const CountedFree own(tree_, context_.room, e.own);
    if (trace_ != nullptr) trace_->nomination_begins(e.traced, on);
    nominator_.nominate(*e.workload, e.queue, nullptr, &e.assignment, again, targets);
    if (trace_ != nullptr) trace_->nomination_ends(again, targets.size());
    e.assignment = std::move(again);
    e.targets = std::move(targets);
  }

  void swap_projected() {
    std::swap(table_, *projected_);
    if (context_.room != nullptr) std::swap(context_.room->free(), projected_room_);
  }

  /// An earlier entry has taken the places: others, on the same flavors, once (TAS-114). False: there are none.
  [[nodiscard]] bool place_again(CycleEntry& e) {
    if (!settings_.place_again) return false;
    const bool waits = e.assignment.mode != AssignmentMode::fit && projected_.has_value();
    if (waits) swap_projected();
    nominate_again(e, TracedNomination::On::other_places);
    if (waits) swap_projected();
    if (waits && e.assignment.mode == AssignmentMode::fit) e.assignment.mode = AssignmentMode::deferred_fit;
    return e.assignment.mode != AssignmentMode::no_fit && (e.assignment.mode != AssignmentMode::preempt || !e.targets.empty());
  }

  [[nodiscard]] static bool is_placed(const CycleEntry& e) { return e.assignment.placement.has_value(); }

  /// The pods of a target stand where they stand, or are gone (`sign` −1).
  void move_pods(Room::State& state, const Target& t, int sign) const {
    if (context_.room != nullptr) context_.room->take(state, tree_.entry(t.entry).reservation->workload->id, sign);
  }

  /// Have its pods still the places that were found for them, once its own targets and the victims of the cycle so far are gone?
  [[nodiscard]] bool places_fit(const CycleEntry& e) {
    if (!is_placed(e)) return true;
    Room::State& state = projected_ ? projected_room_ : context_.room->free();
    // Without targets the places of one that waits are those that it would have if all were gone.
    if (e.assignment.mode == AssignmentMode::preempt && e.targets.empty()) return true;
    const auto move = [&](int sign) {
      for (const Target& t : e.targets) move_pods(state, t, sign);
      for (const std::uint32_t entry : e.own) (void)context_.room->take(state, tree_.entry(entry).reservation->workload->id, sign);
    };
    move(-1);
    const bool result = Room::fits(state, e.assignment.placement->holding);
    move(1);
    return result;
  }

  /// Does it fit once its own targets and the victims of the cycle so far are gone?
  [[nodiscard]] bool fits(const CycleEntry& e) { return quota_fits(e) && places_fit(e); }

  [[nodiscard]] bool quota_fits(const CycleEntry& e) {
    QuotaTable& state = projected_ ? *projected_ : table_;
    const QuotaTable::Mark mark = state.mark();
    for (const Target& t : e.targets) state.remove(t.queue, tree_.entry(t.entry).cells);
    for (const std::uint32_t entry : e.own) state.remove(tree_.entry(entry).queue, tree_.entry(entry).cells);
    const auto& usage = e.assignment.usage;
    const auto lacking =
        std::find_if(usage.begin(), usage.end(), [&](const CellAmount& u) { return u.amount > state.offered(e.queue, u.cell); });
    if (trace_ != nullptr && lacking != usage.end())
      trace_->lacks(e.traced, state.columns()[lacking->cell], lacking->amount, state.offered(e.queue, lacking->cell));
    state.rollback(mark);
    return lacking == usage.end();
  }

  /// Keeps others from taking what this entry waits for, unless its queue can always get it back (BA-72, BA-196).
  void reserve_unreclaimable(const CycleEntry& e) {
    if (tree_.queue(e.queue).config->reclaim_within_cohort == PreemptionPolicy::any && !e.preemptor) return;
    std::vector<CellAmount> reserved;
    for (const CellAmount& u : e.assignment.usage) {
      const QuotaCell& q = table_.cell(e.queue, u.cell);
      Amount amount = u.amount;
      if (e.assignment.level == 0) {
        amount = std::min(amount, subtract(q.subtree, q.usage));
      } else if (q.borrowing_limit != unlimited) {
        amount = std::min(amount, subtract(add(q.subtree, q.borrowing_limit), q.usage));
      }
      if (amount > 0) reserved.push_back({u.cell, amount});
    }
    charge(e, reserved);
  }

  void preempt(CycleEntry& e) {
    const std::string path = tree_.path(e.queue);
    Outcome& o = requeue(
        e, RequeueReason::pending_preemption, reason::waiting_for_preempted_workloads,
        assignment_message(*e.workload, e.assignment) + ". Pending the preemption of " + std::to_string(e.targets.size()) + " workload(s)");
    o.scan = {};
    for (const Target& t : e.targets) {
      const WorkloadInfo& victim = *tree_.entry(t.entry).reservation->workload;
      if (victim.evicted) continue;  // on its way already (BA-115)
      o.victims.push_back(
          {victim.id, reason_symbol(t.reason), condition_message(preempted_message(*o.workload, t.reason, path, tree_.path(t.queue)))});
    }
  }

  /// CA-44: the Option that runs goes first; what this one asks for is kept for it.
  void migrate(CycleEntry& e) {
    Outcome& o =
        requeue(e, RequeueReason::pending_migration, reason::waiting_for_preempted_workloads, "Pending the migration of 1 workload(s)");
    o.kind = Outcome::Kind::migrate;
    o.scan = {};
    assign(e, o);
  }

  void admit(CycleEntry& e) {
    if (settings_.block_admission && admitted_at_once(e)) not_ready_ = true;
    Outcome& o = outcome(e);
    o.kind = Outcome::Kind::admit;
    o.plan = std::move(e.plan);
    assign(e, o);
    o.scan = {};
  }

  void assign(const CycleEntry& e, Outcome& o) const { o.assignment = reservation_of(*o.workload, e.assignment, context_.room); }

  [[nodiscard]] bool admitted_at_once(const CycleEntry& e) const {
    return needs_no_checks(*e.workload, e.assignment, *tree_.queue(e.queue).config);
  }

  // ---- outcomes -------------------------------------------------------------------------------------------------------------

  /// Whose outcome the last one is.
  void note_outcome(std::uint32_t traced) {
    if (trace_ != nullptr) traced_.push_back(traced);
  }

  Outcome& outcome(CycleEntry& e) {
    Outcome& o = outcomes_.emplace_back();
    note_outcome(e.traced);
    o.workload = std::move(e.workload);
    o.cluster_queue = tree_.name(e.queue);
    o.borrowing_level = e.assignment.level;
    if (e.recomputed)
      o.recomputed = e.assignment.mode == AssignmentMode::deferred_fit                    ? Recomputation::deferred_fit
                     : e.assignment.mode == AssignmentMode::preempt && !e.targets.empty() ? Recomputation::new_targets
                                                                                          : Recomputation::skipped;
    return o;
  }

  Outcome& requeue(CycleEntry& e, RequeueReason requeue_reason, Symbol why, std::string message) {
    Outcome& o = outcome(e);
    o.requeue_reason = requeue_reason;
    o.reason = why;
    o.message = condition_message(std::move(message));
    o.scan = scan_of(*o.workload, e);
    o.scan_began_anew = e.scan_began_anew;
    return o;
  }

  Outcome& skip(CycleEntry& e, const char* message) {
    return requeue(e, RequeueReason::failed_after_nomination, reason::waiting_for_quota, message);
  }

  /// D14: the next cycle would evict it. It waits as if its room were taken.
  [[nodiscard]] bool is_withheld(CycleEntry& e) {
    if (context_.withheld == nullptr) return false;
    const auto it = std::ranges::find(*context_.withheld, e.workload->id, &Withheld::workload);
    if (it == context_.withheld->end()) return false;
    if (trace_ != nullptr) trace_->withheld(e.traced, *it->claimant);
    skip(e, no_longer_fits).claimant = it->claimant;
    return true;
  }

  /// Only unfinished scans are worth keeping: all else starts anew anyway.
  [[nodiscard]] ScanState scan_of(const WorkloadInfo& workload, const CycleEntry& e) const {
    ScanState scan = unfinished_scan(workload, e.assignment);
    if (scan.entries.empty()) return scan;
    scan.cycle = context_.cycle;
    scan.generation = tree_.queue(e.queue).generation;
    scan.equivalence_hash = workload.equivalence_hash;
    return scan;
  }

  QuotaTree& tree_;
  QuotaTable& table_;
  const CycleContext& context_;
  const Settings& settings_;
  FlavorLookup flavors_;
  std::optional<PodPlacer> placer_;  ///< Nothing: there are no topologies.
  Preemption preemption_;
  FlavorAssigner assigner_;
  Nominator nominator_;
  std::vector<CycleEntry> entries_;
  std::deque<CycleEntry> later_;    ///< Siblings that had their turn after one that stood for them; `taken_` points into it.
  std::vector<WorkloadId> served_;  ///< Parents of families that were tried as one, and of which an Option gets something.
  std::vector<Outcome> outcomes_;
  std::vector<Target> issued_;                   ///< Victims of the preemptions issued in this cycle, and slices that were replaced.
  std::optional<QuotaTable> projected_;          ///< The state without them, from the first one on.
  Room::State projected_room_;                   ///< Likewise; empty as long as there is no `projected_`.
  std::vector<const topology::Holding*> taken_;  ///< Of the room, so far.
  std::vector<std::pair<Symbol, const NamespaceLabels*>> namespaces_;
  DecisionTrace* trace_;               ///< Null: nobody follows.
  std::uint32_t entered_ = 0;          ///< The number there of whom was entered last,
  std::vector<std::uint32_t> traced_;  ///< and of those whose outcomes are known, as `outcomes_`.
  bool not_ready_ = false;             ///< Some admitted workload is not PodsReady.
};

}  // namespace

std::vector<Outcome> run_cycle(QuotaTree& tree, std::vector<Head> heads, const CycleContext& context) {
  return Cycle(tree, context).run(std::move(heads));
}

}  // namespace hindsight::admission
