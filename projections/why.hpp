#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "projections/json.hpp"
#include "projections/left_out_nodes.hpp"
#include "projections/life.hpp"
#include "projections/lookup.hpp"
#include "projections/phase.hpp"
#include "projections/play.hpp"
#include "projections/queue_place.hpp"
#include "projections/quota_report.hpp"
#include "projections/trail.hpp"
#include "projections/why_preemption.hpp"

namespace hindsight::projections {

/// One flavor for one resource of one pod set, as the scheduler looks at it.
struct FlavorTrial {
  enum class Verdict { fits, fits_borrowing, short_now, exceeds_maximum, no_match };
  std::string pod_set;
  Symbol flavor, resource;
  Amount requested = 0;  ///< By this pod set, all its pods.
  Amount earlier = 0;    ///< By earlier pod sets of the same workload on the same flavor.
  QuotaLine quota;
  Verdict verdict = Verdict::fits;
  std::string mismatch;  ///< no_match: the taint or the affinity.
  Amount missing = 0;    ///< What is not available now.
  std::string
      blocked_by;  ///< The limit that it runs into: "nominalQuota of ClusterQueue a", "borrowingLimit of …", "capacity of Cohort c".
};

/// How the pods of one pod set could stand in one flavor with a topology, by themselves or beside pod sets before them (2724).
struct PlaceTrial {
  std::string pod_set;
  std::string leader;               ///< The pod set of its group whose pod leads; empty: there is none.
  std::vector<std::string> beside;  ///< Pod sets that took their places first; empty: it was tried by itself.
  Symbol flavor, topology;
  bool fits = false;
  bool fits_empty = false;          ///< It would if no other Workload stood there.
  std::string message;              ///< Why not, in the words of the scheduler.
  std::string nearest;              ///< Path of the domain that comes nearest; empty: there is none.
  std::int32_t fit = 0, count = 0;  ///< So many pods find room there, of so many.
  using Exclusion = NodeGroup;
  std::vector<Exclusion> exclusions;         ///< Nodes on which none of its pods can stand, by the first reason that is found.
  std::vector<Exclusion> leader_exclusions;  ///< The same for its leader, where there is one and the misfit may be its.
  std::vector<NodeGroup> left_out;           ///< Nodes of the flavor that give no places to anybody.
};

/// Who holds a pair that is short.
struct PairUsers {
  Symbol flavor, resource;
  Amount own_total = 0, tree_total = 0;
  std::vector<Holder> own, others;                    ///< Largest first, the first few.
  std::size_t own_left_out = 0, others_left_out = 0;  ///< So many more hold some of it.
};

/// What comes of a change when all that follows from it is decided, with everybody who waits (play.hpp). Names: "namespace/name".
struct Consequences {
  std::vector<std::string> before;   ///< Who is given quota before the workload.
  std::vector<std::string> after;    ///< And who with it or after it.
  std::vector<std::string> evicted;  ///< Who loses quota.
};

/// A change that lets the workload in; tried on a copy of quota and places.
struct Remedy {
  enum class Kind {
    fits_now,
    free,
    raise_nominal,
    raise_borrowing_limit,
    raise_cohort,
    free_places,
    fewer_pods,
    looser_level,
    more_nodes,
    resume,           ///< Its ClusterQueue or LocalQueue is not stopped any more.
    leave,            ///< Those of `ending`, who wait, are there no more.
    change_policy,    ///< Its ClusterQueue may preempt others.
    change_strategy,  ///< Its ClusterQueue is no more StrictFIFO.
    min_count,        ///< It may start with fewer pods than it asks for (BA-49).
    priority          ///< It has a higher one.
  };
  struct Step {
    Symbol flavor, resource;
    Amount amount = 0;        ///< To be freed, or to be added.
    Amount from = 0, to = 0;  ///< Of the limit.
  };
  Kind kind = Kind::free;
  /// "ClusterQueue a", "Cohort c", "LocalQueue default/q"; priority: "WorkloadPriorityClass high", one that is high enough; else empty.
  std::string object;
  std::vector<Step> steps;
  std::vector<Holder> ending;  ///< free, free_places, leave: it would fit if these ended.
  std::string pod_set;         ///< fewer_pods, min_count, looser_level.
  /// fewer_pods, min_count: how many; looser_level: what is asked for; priority: which; more_nodes: a node like `from`, in domain `to`.
  std::string from, to;
  std::int32_t nodes = 0;  ///< more_nodes: so many.
  /// It was played, and the workload was given quota. Nothing: it was tried for the workload alone, as if nobody else waited.
  std::optional<Consequences> played = std::nullopt;
  PolicyChange policy = {};  ///< change_policy, change_strategy.
  AskEdit ask = {};          ///< fewer_pods, min_count, looser_level, priority: what it asks for then.
  std::int32_t unit = 1;     ///< fewer_pods: that many are placed together, so that only multiples of it make sense.
};

/// The smallest set of facts that says why a workload is where it is.
struct Why {
  std::string object;           ///< "Workload default/w1".
  std::string job;              ///< "Job/train"; empty: none.
  std::vector<Symbol> flavors;  ///< Of an Option (8691): that it may be assigned.
  Phase phase = Phase::pending;
  bool deleted = false;            ///< Its object is gone: there is no phase.
  std::string headline;            ///< One sentence.
  std::string reason, message;     ///< Of the condition that says so.
  Time since;                      ///< Of that condition.
  std::vector<std::string> facts;  ///< What else one must know, in order of weight.
  struct Event {
    std::uint64_t offset = 0;
    Time time;
    std::string text;
  };
  std::vector<Event> events;  ///< The decisions that led here.
  std::optional<QueuePlace> place;
  std::vector<FlavorTrial> trials;
  std::vector<PlaceTrial> places;
  std::vector<PairUsers> users;
  std::vector<std::string> preemption;  ///< Why it does not simply preempt, or whom it would.
  PreemptionReport preempting;          ///< The same for each flavor, with amounts, shares and victims; `preemption` ends with its lines.
  std::vector<Remedy> remedies;
  std::vector<Why> options;  ///< Of a Parent (8691), in the order of `lanes_of`.
  std::optional<Life> life;  ///< Of one that was admitted, has finished or is gone; not of the Options of a Parent.
};

/// Who is told of an explanation while it is being made. All that is told stands in the end in the explanation as well.
struct WhyListener {
  std::function<void(const Why& facts)> facts;                                  ///< Once, before a remedy is looked for.
  std::function<void(const Why& whose, const Remedy& remedy)> remedy;           ///< Of an Option its own explanation.
  std::function<void(const Why& whose, const std::string& fact)> further_fact;  ///< What looking for remedies has shown.
};

/// Why it is pending, admitted, evicted, finished... `trail` has seen the records up to this state. `stage`: of this state, whole or the
/// trees that concern the Workload; with it every remedy is played, and only those are told that let the workload in.
[[nodiscard]] Why explain(const StateView& state, const WorkloadAt& at, const Trail& trail, const Stage* stage = nullptr,
                          const WhyListener& listener = {});
/// The same without looking for remedies.
[[nodiscard]] Why explain_facts(const StateView& state, const WorkloadAt& at, const Trail& trail);
/// What became of a Workload of the target that is gone; nothing: the records know of none.
[[nodiscard]] std::optional<Why> explain_gone(const StateView& state, const Trail& trail);

[[nodiscard]] std::string to_text(const Why& why);
[[nodiscard]] Json to_json(const Why& why);
/// What stands above the remedies in a text, and one of them without a line break; `played`: with stage, or without.
[[nodiscard]] std::string_view remedies_title(bool played);
[[nodiscard]] std::string remedy_line(const Remedy& remedy);

// ---- parts ------------------------------------------------------------------------------------------------------------------------

/// Every flavor of its ClusterQueue for every pod set and resource, in the order in which they are tried; of an Option those that it may be
/// assigned, with what its family holds and it takes over as free (8691).
[[nodiscard]] std::vector<FlavorTrial> try_flavors(const StateView& state, const admission::WorkloadInfo& workload,
                                                   const Symbol& cluster_queue);
/// Resources that no group of the queue covers, though they are asked for.
[[nodiscard]] std::vector<Symbol> uncovered_resources(const StateView& state, const admission::WorkloadInfo& workload,
                                                      const Symbol& cluster_queue);
/// Who holds the pairs on which it is short.
[[nodiscard]] std::vector<PairUsers> users_of(const StateView& state, const admission::WorkloadInfo& workload,
                                              const std::vector<FlavorTrial>& trials, const Symbol& cluster_queue);
[[nodiscard]] std::vector<std::string> preemption_facts(const StateView& state, const admission::WorkloadInfo& workload,
                                                        const Symbol& cluster_queue, const std::vector<FlavorTrial>& trials);
/// Each flavor with a topology that a pod set may use, in the order in which they are tried.
[[nodiscard]] std::vector<PlaceTrial> try_places(const StateView& state, const admission::WorkloadInfo& workload,
                                                 const Symbol& cluster_queue);
/// What would give it places, where it is these that are missing and not quota.
[[nodiscard]] std::vector<Remedy> find_place_remedies(const StateView& state, const admission::WorkloadInfo& workload, Symbol cluster_queue,
                                                      const std::vector<PlaceTrial>& places);
/// What would let it in, smallest first.
[[nodiscard]] std::vector<Remedy> find_remedies(const StateView& state, const admission::WorkloadInfo& workload,
                                                const Symbol& cluster_queue, const std::vector<FlavorTrial>& trials);
/// What else it could ask for so that it would fit by quota and places: fewer pods, or fewer to start with. Nothing where it fits.
[[nodiscard]] std::vector<Remedy> find_asks(const StateView& state, const admission::WorkloadInfo& workload, const Symbol& cluster_queue);
/// Those of the remedies that let the workload in when they are played, with others that do where the first ones do not, because somebody
/// else takes what they free; then what it could ask for instead, and which priority would do. `facts` is told what stands in the way of
/// one that fits. `tell`: each one as soon as it is known.
[[nodiscard]] std::vector<Remedy> play_remedies(const StateView& state, const Stage& stage, const admission::WorkloadInfo& workload,
                                                const Symbol& cluster_queue, const std::vector<FlavorTrial>& trials,
                                                std::vector<Remedy> remedies, std::vector<std::string>& facts,
                                                const std::function<void(const Remedy&)>& tell = {});
/// Of one whose LocalQueue is stopped, so that it stands in no line: that it is not, and its ClusterQueue neither; nothing: it would wait.
[[nodiscard]] std::optional<Remedy> play_resumed(const StateView& state, const Stage& stage, const WorkloadState& workload);
[[nodiscard]] std::string remedy_text(const Remedy& remedy);

}  // namespace hindsight::projections
