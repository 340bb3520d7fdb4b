#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "admission/model/catalog.hpp"
#include "admission/model/catalog_view.hpp"
#include "admission/model/workload_info.hpp"
#include "admission/quota/quota_tree.hpp"
#include "admission/scheduling/claims.hpp"
#include "admission/scheduling/repeated_preemptions.hpp"
#include "admission/topology/topology_room.hpp"

namespace hindsight::admission {

class DecisionTrace;

/// A workload that a ClusterQueue offers to this cycle.
struct Head {
  std::shared_ptr<const WorkloadInfo> workload;
  Symbol cluster_queue;
  ScanState scan;          ///< As kept by the queue.
  bool alone = false;      ///< No other workload of the tree is pending.
  bool preemptor = false;  ///< The queue's preemptor, and as it was when it became that (BA-196).
  bool strict = false;     ///< It holds up its queue, whatever becomes of it.
  /// Who is the head of its queue when this one has got quota, for who looks ahead (next_cycle.hpp); null: nobody, or it is not known.
  std::shared_ptr<const Head> next = {};
  /// The Options of its family that follow it, the best first, where a family is tried as one: each has its turn in this cycle if those
  /// before it got nothing (CA-142).
  std::vector<Head> siblings = {};
};

/// What a cycle made of one head.
struct Outcome {
  enum class Kind : std::uint8_t {
    admit,    ///< `assignment` is reserved.
    requeue,  ///< `requeue_reason`, `reason`, `message`.
    migrate,  ///< As requeue; `assignment` is kept for it, and the Option that it takes the place of is to go.
    drop,     ///< Silently (already accounted).
  };
  struct Victim {
    WorkloadId workload = 0;
    Symbol reason;        ///< InClusterQueue, InCohortReclamation, ...
    std::string message;  ///< §7.6.
  };

  Kind kind = Kind::requeue;
  std::shared_ptr<const WorkloadInfo> workload;
  Symbol cluster_queue;
  std::vector<PodSetReservation> assignment;  ///< kinds admit and migrate.
  SizingPlan plan;                            ///< kind admit.
  std::int32_t borrowing_level = 0;
  RequeueReason requeue_reason = RequeueReason::generic;
  Symbol reason;
  std::string message;
  ScanState scan;                ///< To keep from now on; empty entries: forget.
  bool scan_began_anew = false;  ///< It is not the continuation of what was kept.
  std::vector<Victim> victims;   ///< Preemptions issued now (not the already evicted targets).
  /// It had room, which is kept for this one, passed over before it, which would preempt it in the next cycle (D14).
  std::shared_ptr<const WorkloadInfo> claimant;
  bool preemption_skipped = false;  ///< Counts in admission_cycle_preemption_skips (BA-74).
  Recomputation recomputed = Recomputation::none;
  std::uint32_t turn = 0;       ///< When it was its turn: those with a lower one knew nothing of it.
  bool sibling_served = false;  ///< Another Option of its family, which was tried with it, gets something: it may fare otherwise then.
};

/// A namespace as the cycle asks for it: nullptr when the Namespace object is unknown.
using NamespaceLabels = std::vector<std::pair<Symbol, std::string>>;

/// An entry that has room and gets none of it, because the next cycle would preempt it for the claimant (D14).
struct Withheld {
  WorkloadId workload = 0;
  std::shared_ptr<const WorkloadInfo> claimant;
};

/// What the rules read beside the tree. Plain pointers into the immutable catalog of this cycle.
struct CycleContext {
  Time now;
  std::uint64_t cycle = 0;
  const Settings* settings = nullptr;
  /// With blockAdmission: some admitted Workload anywhere is not PodsReady (BA-76).
  bool admitted_not_ready = false;
  topology::TopologyRoom* room = nullptr;               ///< Of the flavors that have topologies; the same again on return. Null: none has.
  const Catalog::Table<CheckConfig>* checks = nullptr;  ///< Null: there are none.
  const RepeatedPreemptions* repeated = nullptr;        ///< Whom preemptors leave alone (D13); null: nobody.
  const Claims* claims = nullptr;                       ///< For whom room may be kept (look_ahead); null: for nobody.
  const std::vector<Withheld>* withheld = nullptr;      ///< Those whose next cycle was played; null: none was.
  DecisionTrace* trace = nullptr;                       ///< Where it is noted how the outcomes came about; null: nowhere.
  /// nullptr: there is no such ResourceFlavor. Asked at most once for each flavor and cycle.
  std::function<const FlavorConfig*(Symbol)> flavor;
  std::function<const NamespaceLabels*(Symbol)> namespace_labels;
};

/// One scheduling cycle over one tree (base-admission §4 steps 2–5): nominates the heads, orders the entries, processes them one
/// by one. Pure: `tree` is worked on as a scratch snapshot and is the same again on return (BA-127, BA-78). The result has one
/// outcome for each head and sibling that was tried, in the order of processing; it does not depend on the order of `heads`.
/// What later cycles would make of it is another question (next_cycle.hpp).
[[nodiscard]] std::vector<Outcome> run_cycle(QuotaTree& tree, std::vector<Head> heads, const CycleContext& context);

}  // namespace hindsight::admission
