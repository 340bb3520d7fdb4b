#pragma once

#include <optional>
#include <string>
#include <vector>

#include "projections/json.hpp"
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

/// How the pods of one pod set could stand in one flavor with a topology, by themselves (2724).
struct PlaceTrial {
  std::string pod_set;
  Symbol flavor, topology;
  bool fits = false;
  bool fits_empty = false;          ///< It would if no other Workload stood there.
  std::string message;              ///< Why not, in the words of the scheduler.
  std::string nearest;              ///< Path of the domain that comes nearest; empty: there is none.
  std::int32_t fit = 0, count = 0;  ///< So many pods find room there, of so many.
  /// Nodes on which none of its pods can stand, by the first reason that is found.
  struct Exclusion {
    std::string reason;
    std::int64_t nodes = 0;
    std::vector<std::string> examples;  ///< A few, by name.
  };
  std::vector<Exclusion> exclusions;
};

/// Who holds a pair that is short.
struct PairUsers {
  Symbol flavor, resource;
  Amount own_total = 0, tree_total = 0;
  std::vector<Holder> own, others;  ///< Largest first, the first few.
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
    resume,        ///< Its ClusterQueue is not stopped any more.
    leave,         ///< Those of `ending`, who wait, are there no more.
    change_policy  ///< Its ClusterQueue may preempt others.
  };
  struct Step {
    Symbol flavor, resource;
    Amount amount = 0;        ///< To be freed, or to be added.
    Amount from = 0, to = 0;  ///< Of the limit.
  };
  Kind kind = Kind::free;
  std::string object;  ///< "ClusterQueue a", "Cohort c"; empty for `free`.
  std::vector<Step> steps;
  std::vector<Holder> ending;  ///< free, free_places, leave: it would fit if these ended.
  std::string pod_set;         ///< fewer_pods, looser_level.
  std::string from, to;        ///< fewer_pods: how many; looser_level: what is asked for; more_nodes: a node like `from`, in domain `to`.
  std::int32_t nodes = 0;      ///< more_nodes: so many.
  /// It was played, and the workload was given quota. Nothing: it was tried for the workload alone, as if nobody else waited.
  std::optional<Consequences> played = std::nullopt;
  PolicyChange policy = {};  ///< change_policy.
};

/// The smallest set of facts that says why a workload is where it is.
struct Why {
  std::string object;           ///< "Workload default/w1".
  std::string job;              ///< "Job/train"; empty: none.
  std::vector<Symbol> flavors;  ///< Of an Option (8691): that it may be assigned.
  Phase phase = Phase::pending;
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
  std::optional<Life> life;  ///< Of one that was admitted, or has finished; not of the Options of a Parent.
};

/// Why it is pending, admitted, evicted, finished... `trail` has seen the records up to this state. `snapshot`: what SnapshotCodec::write
/// makes of this state; with it every remedy is played, and only those are told that let the workload in.
[[nodiscard]] Why explain(const StateView& state, const WorkloadAt& at, const Trail& trail, const Stage* stage = nullptr);

[[nodiscard]] std::string to_text(const Why& why);
[[nodiscard]] Json to_json(const Why& why);

// ---- parts ------------------------------------------------------------------------------------------------------------------------

/// Every flavor of its ClusterQueue for every pod set and resource, in the order in which they are tried; of an Option those that it may be
/// assigned, with what its family holds and it takes over as free (8691).
[[nodiscard]] std::vector<FlavorTrial> try_flavors(const StateView& state, const admission::WorkloadInfo& workload, Symbol cluster_queue);
/// Resources that no group of the queue covers, though they are asked for.
[[nodiscard]] std::vector<Symbol> uncovered_resources(const StateView& state, const admission::WorkloadInfo& workload,
                                                      Symbol cluster_queue);
/// Who holds the pairs on which it is short.
[[nodiscard]] std::vector<PairUsers> users_of(const StateView& state, const admission::WorkloadInfo& workload,
                                              const std::vector<FlavorTrial>& trials, Symbol cluster_queue);
[[nodiscard]] std::vector<std::string> preemption_facts(const StateView& state, const admission::WorkloadInfo& workload,
                                                        Symbol cluster_queue, const std::vector<FlavorTrial>& trials);
/// Each flavor with a topology that a pod set may use, in the order in which they are tried.
[[nodiscard]] std::vector<PlaceTrial> try_places(const StateView& state, const admission::WorkloadInfo& workload, Symbol cluster_queue);
/// What would give it places, where it is these that are missing and not quota.
[[nodiscard]] std::vector<Remedy> find_place_remedies(const StateView& state, const admission::WorkloadInfo& workload, Symbol cluster_queue,
                                                      const std::vector<PlaceTrial>& places);
/// What would let it in, smallest first.
[[nodiscard]] std::vector<Remedy> find_remedies(const StateView& state, const admission::WorkloadInfo& workload, Symbol cluster_queue,
                                                const std::vector<FlavorTrial>& trials);
/// Those of the remedies that let the workload in when they are played, with others that do where the first ones do not, because somebody
/// else takes what they free. `facts` is told what stands in the way of one that fits.
[[nodiscard]] std::vector<Remedy> play_remedies(const StateView& state, const Stage& stage, const admission::WorkloadInfo& workload,
                                                Symbol cluster_queue, const std::vector<FlavorTrial>& trials, std::vector<Remedy> remedies,
                                                std::vector<std::string>& facts);
[[nodiscard]] std::string remedy_text(const Remedy& remedy);

}  // namespace hindsight::projections
