#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "admission/scheduling/assignment.hpp"
#include "admission/scheduling/cycle.hpp"
#include "admission/scheduling/entry_order.hpp"
#include "admission/scheduling/preemption.hpp"
#include "vocabulary/arena.hpp"
#include "vocabulary/decisions.hpp"

namespace hindsight::admission {

/// The first of a list, and how many more there were.
template <class T>
struct Cut {
  std::vector<T> list;
  std::size_t left_out = 0;
};

/// An amount of one (flavor, resource) pair.
struct TracedAmount {
  Symbol flavor, resource;
  Amount amount = 0;
};

/// Shares that fair sharing compared for one candidate (PreemptionStep::Shares), with names.
struct TracedShares {
  std::string preemptor, other;  ///< "ClusterQueue a", "Cohort c".
  Share preemptor_new, other_old;
  std::optional<Share> other_new;
  Settings::FairStrategy strategy = Settings::FairStrategy::less_than_or_equal_to_final_share;
};

/// A step of a search for victims (PreemptionStep), with names.
struct TracedCandidate {
  PreemptionStep::Kind kind = PreemptionStep::Kind::taken;
  bool borrowing = true;  ///< begins
  bool unusable = false;  ///< exhausted
  std::string workload;   ///< "namespace/name"; empty of `begins`.
  Symbol queue;
  std::int64_t priority = 0;
  bool evicted = false;                ///< It was on its way out already.
  std::optional<VictimReason> victim;  ///< It is among those that the search found.
  std::optional<TracedShares> shares;
};

/// Who was no candidate in a search, for one reason, of one queue; or a queue or cohort that was passed over whole.
struct TracedPassed {
  PreemptionStep::Passed why = PreemptionStep::Passed::none;
  std::string where;          ///< "ClusterQueue a", "Cohort c".
  std::size_t workloads = 0;  ///< 0: all of it.
  std::string first;          ///< "namespace/name" of the first of them.
};

/// One search for victims.
struct TracedSearch {
  std::vector<TracedAmount> asked;  ///< All that must fit.
  std::vector<TracedAmount> need;   ///< Of these, what there is too little of.
  bool with_places = false;         ///< Its pods must find places, too.
  Cut<TracedCandidate> candidates;
  Cut<TracedPassed> passed;
  std::size_t victims = 0;  ///< That it found; 0: there is no way.
};

/// What a flavor can give of one resource.
struct TracedResource {
  Symbol resource;
  Amount asked = 0;  ///< Pod sets before this one included.
  Amount offered = 0;
  Amount potential = 0;  ///< "Maximum capacity".
  FlavorMode mode = FlavorMode::no_fit;
  std::int32_t level = 0;  ///< Of borrowing.
  std::string finding;     ///< What was found against it; empty: nothing.
};

/// A flavor that was looked at for some pod sets.
struct TracedFlavor {
  enum class Verdict : std::uint8_t {
    ruled_out,  ///< By `why`, before any quota was looked at.
    worse,      ///< Not better than one before it.
    better,     ///< The best so far; the next one is tried, too.
    taken       ///< No other is tried behind it.
  };
  Symbol flavor;
  Verdict verdict = Verdict::ruled_out;
  std::string why;
  FlavorMode mode = FlavorMode::no_fit;
  std::int32_t level = 0;
  std::vector<TracedResource> resources;
};

/// The flavors of one resource group, for one pod set or a group of pod sets.
struct TracedScan {
  std::vector<Symbol> pod_sets;
  Symbol resumes_behind;  ///< Where the last scan had stopped; empty: from the first one on.
  Cut<TracedFlavor> flavors;
  Symbol chosen;  ///< Empty: none.
};

struct TracedPlaces {
  Symbol pod_set, flavor;
  Cut<std::pair<std::string, std::int32_t>> domains;  ///< "block-1/rack-2/host-3" and pods.
};

/// Flavors, and victims if need be, for given numbers of pods and given sizes.
struct TracedAttempt {
  enum class With : std::uint8_t {
    all,         ///< All pods, as they ask.
    fewer_pods,  ///< Partial admission.
    other_sizes  ///< Other sizes of containers (5440 MR-41).
  };
  With with = With::all;
  std::vector<std::pair<Symbol, std::int32_t>> counts;  ///< By pod set.
  std::vector<TracedScan> scans;
  Cut<TracedSearch> searches;  ///< Those of single resources, then that of all that is asked for.
  AssignmentMode mode = AssignmentMode::no_fit;
  std::int32_t level = 0;
  std::string message;  ///< What speaks against it.
  std::vector<TracedPlaces> places;
};

/// One nomination of an entry.
struct TracedNomination {
  enum class On : std::uint8_t {
    present,    ///< The state as the cycle finds it; of a sibling as it is at its turn.
    projected,  ///< What the preemptions of the cycle so far will leave.
    other_places
  };
  On on = On::present;
  Cut<TracedAttempt> attempts;
  AssignmentMode mode = AssignmentMode::no_fit;
  std::int32_t level = 0;
  std::size_t victims = 0;
};

/// One round of the tournament of fair sharing (EntryStanding::Round), with names.
struct TracedRound {
  std::string node;  ///< "ClusterQueue a".
  Share share;
  bool borrows = false;
  std::size_t others = 0;
  std::string next_node, next_workload;  ///< The best of the others; empty: there was none.
  Share next_share;
  OrderedBy by = OrderedBy::nothing;
};

/// A workload that a cycle looked at.
struct TracedEntry {
  std::string workload, uid;  ///< "namespace/name".
  Symbol queue;
  std::int64_t priority = 0;
  Time queue_time;
  bool preemptor = false;   ///< Of its queue; it goes first.
  std::string family;       ///< Of an Option: "namespace/name" of its Parent.
  bool for_family = false;  ///< It stood for its family.
  bool follows = false;     ///< It had its turn after a sibling that stood for the family.
  bool looked_for = false;  ///< See DecisionTrace::Wanted.
  bool detailed = false;    ///< What follows is noted; else it was left out.
  std::vector<TracedNomination> nominations;

  // ---- its turn
  bool had_turn = false;  ///< Else it was turned away before, or stood behind a sibling.
  std::vector<TracedRound> rounds;
  std::string next;  ///< Without fair sharing: whose turn is next.
  OrderedBy by = OrderedBy::nothing;

  // ---- what became of it
  std::uint32_t turn = 0;  ///< In its round.
  Outcome::Kind kind = Outcome::Kind::requeue;
  RequeueReason requeue_reason = RequeueReason::generic;
  Symbol reason;
  std::string message;
  std::int32_t level = 0;
  Recomputation recomputed = Recomputation::none;
  std::vector<TracedAmount> lacks;              ///< What no longer fitted at its turn: asked for, and `lacks_offered` what there was.
  std::vector<Amount> lacks_offered;            ///< In the order of `lacks`.
  std::vector<TracedAmount> charged;            ///< What it took from those behind it.
  Cut<std::string> shared_victims;              ///< Of its victims those that go already for another one.
  std::string gives_way_to;                     ///< See RepeatedPreemptions.
  std::string withheld_for;                     ///< See Claimants.
  Cut<std::pair<std::string, Symbol>> victims;  ///< Told now, with the reason.
  // ---- and of what the cycle says of it
  bool recorded = false;          ///< Some event tells it; else it is as it was before,
  bool postponed = false;         ///< or it is left to the next step, because this one is full.
  bool to_heap = false;           ///< kind requeue: it is tried again; else it is parked,
  std::uint64_t parked_with = 0;  ///< and so many that are equal to it.
};

struct TracedRoundOfHeads {
  std::size_t heads = 0;
  std::size_t before = 0;            ///< Heads of the rounds before.
  std::vector<TracedEntry> entries;  ///< In turn.
  std::size_t left_out = 0;
};

/// Who got places behind its quota, or did not (2724 §3.13 step 7).
struct TracedSecondPass {
  std::string workload;
  bool failed_nodes = false;  ///< It lost hosts; else it had no places yet.
  bool placed = false;
  std::string message;  ///< Why not.
};

/// A cycle of one tree.
struct TracedTree {
  Symbol root;
  bool blocked = false;  ///< With blockAdmission: another tree admits first.
  Cut<TracedSecondPass> second_passes;
  std::vector<TracedRoundOfHeads> rounds;
  std::size_t events = 0;           ///< That it proposed.
  bool recorded = false;            ///< They are in the step.
  std::shared_ptr<const void> key;  ///< Of its proposal.
};

/// Notes what the rules look at on their way to one step, for who explains the step (Context::trace). Nothing is decided by it: the rules
/// tell it what they do and never ask it anything. Where nobody follows there is none, and the rules pay for it with the test of a pointer.
///
/// It is bounded: of many it keeps the first and says how many more there were. Who is looked for is kept in any case.
class DecisionTrace {
 public:
  struct Limits {
    std::size_t trees = 10'000;
    std::size_t entries = 50'000;     ///< Of all rounds and trees, in one line each.
    std::size_t details = 2'000;      ///< Of these with all that follows.
    std::size_t parts = 200'000;      ///< Flavors, resources, candidates and the like, all together.
    std::size_t candidates = 10'000;  ///< Of one search.
    std::size_t listed = 1'000;       ///< Of any other list.
  };
  /// For whom room for details is kept; empty: nobody in particular.
  using Wanted = std::function<bool(const WorkloadInfo& workload, const Symbol& cluster_queue)>;

  DecisionTrace() : DecisionTrace(Wanted(), Limits{}) {}
  explicit DecisionTrace(Wanted wanted) : DecisionTrace(std::move(wanted), Limits{}) {}
  DecisionTrace(Wanted wanted, const Limits& limits) : wanted_(std::move(wanted)), limits_(limits), parts_left_(limits.parts) {}

  // ---- what was noted -------------------------------------------------------------------------------------------------------------

  [[nodiscard]] const std::vector<TracedTree>& trees() const { return trees_; }
  [[nodiscard]] std::size_t trees_left_out() const { return trees_left_out_; }
  /// Something was left out of the details for want of room.
  [[nodiscard]] bool is_cut() const { return cut_; }

  // ---- the driver -----------------------------------------------------------------------------------------------------------------

  /// The next kind of proposals is asked for.
  void step_begins();
  /// `arenas`: of the proposals that went into the step.
  void step_ends(std::span<const std::shared_ptr<Arena>> arenas);

  // ---- a tree ---------------------------------------------------------------------------------------------------------------------

  void tree_begins(const Symbol& root, bool blocked);
  /// `why_not`: empty: it has places now.
  void second_pass(const Symbol& root, const WorkloadInfo& workload, bool failed_nodes, const std::string& why_not);
  /// Until it ends, all that follows is of this tree.
  void round_begins(const Symbol& root);
  /// What the proposal says of an outcome.
  void proposed(const Outcome& outcome, std::span<const Event> events);
  void round_ends();
  /// `key`: of its proposal, with so many events. `last_turn`: of the last outcome that is in it, where others were left to the next step.
  void tree_ends(const Symbol& root, std::shared_ptr<const void> key, std::size_t events, std::optional<std::uint32_t> last_turn);

  // ---- a cycle --------------------------------------------------------------------------------------------------------------------

  /// The number by which the entry is known from now on in this round.
  [[nodiscard]] std::uint32_t enter(const Head& head, bool follows);
  void stands_for_family(std::uint32_t entry);
  void turn(std::uint32_t entry, const EntryStanding& standing, const QuotaTree& tree);
  void lacks(std::uint32_t entry, const QuotaTable::Column& column, Amount asked, Amount offered);
  void charges(std::uint32_t entry, const QuotaTable& table, std::span<const CellAmount> amounts);
  void shares_victim(std::uint32_t entry, const WorkloadInfo& victim);
  void gives_way(std::uint32_t entry, const WorkloadInfo& to);
  void withheld(std::uint32_t entry, const WorkloadInfo& claimant);
  void came_to(std::uint32_t entry, const Outcome& outcome, const QuotaTree& tree);

  // ---- a nomination ---------------------------------------------------------------------------------------------------------------

  void nomination_begins(std::uint32_t entry, TracedNomination::On on);
  void nomination_ends(const Assignment& assignment, std::size_t victims);
  void attempt_begins(const WorkloadInfo& workload, std::span<const std::int32_t> counts, TracedAttempt::With with);
  void attempt_ends(const WorkloadInfo& workload, const Assignment& assignment, const topology::TopologyRoom* room);
  void scan_begins(std::vector<Symbol> pod_sets, Symbol resumes_behind);
  /// `findings`: what was found about it.
  void flavor(const Symbol& name, TracedFlavor::Verdict verdict, FlavorMode mode, std::int32_t level,
              std::span<const TracedResource> resources, std::span<const Finding> findings);
  void scan_ends(const Symbol& chosen);
  /// No group has it.
  void unavailable(std::vector<Symbol> pod_sets, const Finding& finding);

  /// Where Preemption writes its steps; `search` takes them out.
  [[nodiscard]] std::vector<PreemptionStep>* steps() { return &steps_; }
  void search(const QuotaTree& tree, const Preemptor& preemptor, std::span<const Target> targets);

 private:
  [[nodiscard]] TracedTree* open(const Symbol& root);
  [[nodiscard]] TracedRoundOfHeads* round();
  [[nodiscard]] TracedEntry* entry(std::uint32_t number);
  [[nodiscard]] TracedNomination* nomination();
  [[nodiscard]] TracedAttempt* attempt();
  [[nodiscard]] bool room_for(std::size_t parts);
  template <class T>
  bool add(Cut<T>& cut, T value, std::size_t most);

  Wanted wanted_;
  Limits limits_;
  std::size_t parts_left_ = 0, entries_ = 0, details_ = 0;
  std::size_t kept_back_ = 0;  ///< Parts that are not for whoever is being looked at.
  bool cut_ = false;
  std::vector<TracedTree> trees_;
  std::size_t trees_left_out_ = 0;

  // What is under way.
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::unordered_map<Symbol, std::size_t> open_;  ///< Trees whose cycle goes on; they have their turns in any order.
  std::optional<std::size_t> tree_;               ///< Whose round goes on.
  std::uint32_t nominated_ = none;                ///< Entry whose nomination is open; none: its details are not kept.
  bool attempt_open_ = false, scan_open_ = false;
  std::unordered_map<WorkloadId, std::uint32_t> entry_of_;  ///< In this round.
  std::vector<PreemptionStep> steps_;
};

}  // namespace hindsight::admission
