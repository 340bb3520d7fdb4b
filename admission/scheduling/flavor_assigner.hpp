#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "admission/model/catalog.hpp"
#include "admission/model/workload_info.hpp"
#include "admission/quota/quota_tree.hpp"
#include "admission/scheduling/assignment.hpp"
#include "admission/scheduling/preemption.hpp"

namespace hindsight::admission {

class DecisionTrace;

/// The ResourceFlavors of a cycle, looked up once each.
class FlavorLookup {
 public:
  FlavorLookup(const QuotaTree& tree, const std::function<const FlavorConfig*(Symbol)>& find)
      : names_(tree.flavor_names()), find_(find), found_(names_.size()) {}
  /// nullptr: there is no such ResourceFlavor.
  [[nodiscard]] const FlavorConfig* get(std::uint32_t flavor_number) {
    auto& slot = found_[flavor_number];
    if (!slot) slot = find_(names_[flavor_number]);
    return *slot;
  }

 private:
  std::span<const Symbol> names_;
  const std::function<const FlavorConfig*(Symbol)>& find_;
  std::vector<std::optional<const FlavorConfig*>> found_;
};

/// What the queue allows to the workload, which may be an upgrade: an Option that is tried while another one is admitted (CA-146).
[[nodiscard]] UpgradeFungibility upgrade_limit(const WorkloadInfo& workload, const QueueConfig& queue);

/// Is (mode, level) `a` preferred to `b` (§5.5)?
[[nodiscard]] bool is_preferred(FlavorMode a_mode, std::int32_t a_level, FlavorMode b_mode, std::int32_t b_level,
                                FungibilityPreference preference);

/// Chooses flavors for the pod sets of a workload on the tree as it stands (base-admission §5).
class FlavorAssigner {
 public:
  /// `placer`: null where there are no topologies.
  FlavorAssigner(QuotaTree& tree, const Settings& settings, FlavorLookup& flavors, Preemption& preemption,
                 const PodPlacer* placer = nullptr)
      : tree_(tree), table_(tree.table()), settings_(settings), flavors_(flavors), preemption_(preemption), placer_(placer) {}

  /// Who is assigned next. Call it anew whenever the tree changed: it forgets what was simulated.
  /// `scan`: where to resume; `pin`: only the flavors of this assignment are considered (§6.2 step 1); both may be nullptr.
  void begin(const WorkloadInfo& workload, NodeIndex queue, const ScanState* scan, const Assignment* pin);

  /// `counts`: pods of each pod set; empty: all of them.
  void assign(std::span<const std::int32_t> counts, Assignment& out);

  /// Where it is noted which flavors were tried; null: nowhere.
  void follow(DecisionTrace* trace) { trace_ = trace; }

  /// Victims that a simulation of exactly this demand found already; nullptr: there was none.
  [[nodiscard]] const std::vector<Target>* simulated(CellIndex cell, Amount amount) const;

 private:
  struct Wanted {
    std::uint32_t position = 0;  ///< In the resources of the group.
    Amount amount = 0;
  };
  struct Fitness {
    FlavorMode mode = FlavorMode::no_fit;
    std::int32_t level = 0;
  };
  struct Simulation {
    CellIndex cell = 0;
    Amount amount = 0;
    std::vector<Target> targets;
  };
  struct Scan {
    std::vector<ResourceChoice> best;  ///< `amount` is that of all pod sets of the group.
    std::vector<Finding> findings;
    NoFitReason reason = NoFitReason::none;  ///< Least severe of the flavors that are no fit.
  };

  template <class Visit>
  void each_unit(Visit visit);
  void collect_requests(std::span<const std::uint32_t> members, std::span<const std::int32_t> counts);
  bool assign_group(std::span<const std::uint32_t> members, std::span<const std::int32_t> counts, Assignment& out);
  void scan_flavors(const QuotaTree::Group& group, std::span<const std::uint32_t> members, std::span<const CellAmount> used, Scan& out);
  [[nodiscard]] bool topology_matches(const QuotaTree::Group& group, const FlavorConfig& flavor, std::span<const std::uint32_t> members,
                                      Scan& out) const;
  [[nodiscard]] bool flavor_matches(const QuotaTree::Group& group, std::size_t flavor, std::span<const std::uint32_t> members, Scan& out);
  [[nodiscard]] Fitness fitness(const QuotaTree::Group& group, std::size_t flavor, const Wanted& wanted, std::span<const CellAmount> used,
                                Scan& out, NoFitReason& reason);
  [[nodiscard]] Fitness possible(const QuotaTree::Group& group, std::size_t flavor, const Wanted& wanted, std::span<const CellAmount> used,
                                 Scan& out, NoFitReason& reason);
  [[nodiscard]] Fitness simulate(CellIndex cell, Amount amount);
  [[nodiscard]] bool try_next(const Fitness& fitness) const;
  [[nodiscard]] std::size_t first_flavor(const Symbol& pod_set, const Symbol& resource) const;
  // a slice that replaces another
  [[nodiscard]] Amount held(const Symbol& pod_set, const Symbol& resource) const;
  [[nodiscard]] Symbol original_flavor(const QuotaTree::Group& group, std::span<const std::uint32_t> members) const;
  void credit(std::span<const std::uint32_t> members, std::span<const std::int32_t> counts);
  void count_difference(CellIndex cell, Amount amount);

  // for who explains it
  [[nodiscard]] std::vector<Symbol> names_of(std::span<const std::uint32_t> members) const;
  /// `found_from`: where the findings about it begin; `fitness`: null: it was ruled out before its quota was looked at.
  void note_flavor(const Symbol& name, std::size_t found_from, const Scan& scan, const Fitness* fitness, std::span<const CellAmount> used,
                   bool better = false, bool last = false);

  [[nodiscard]] bool pinned(std::span<const std::uint32_t> members, const Symbol& resource, const Symbol& flavor) const;

  QuotaTree& tree_;
  QuotaTable& table_;
  const Settings& settings_;
  FlavorLookup& flavors_;
  Preemption& preemption_;
  const PodPlacer* placer_;
  DecisionTrace* trace_ = nullptr;

  const WorkloadInfo* workload_ = nullptr;
  NodeIndex queue_node_ = no_node;
  const QuotaTree::Queue* queue_ = nullptr;
  const ScanState* scan_ = nullptr;
  const Assignment* pin_ = nullptr;
  bool implied_ = false;  ///< See PodPlacer::implies.
  /// What the workload replaces, when it is a slice whose predecessor holds quota here: it is charged the difference (EJ-32), and gets the
  /// same flavors (EJ-35).
  const Reservation* replaced_ = nullptr;
  UpgradeFungibility upgrades_ = UpgradeFungibility::always;  ///< What rules of the queue for upgrades ask of the workload (CA-146).
  std::vector<Simulation> simulations_;

  // Scratch, kept for its memory.
  std::vector<std::pair<Symbol, Amount>> requests_;
  std::vector<Wanted> wanted_;
  std::vector<CellAmount> difference_;  ///< Of a slice: by cell, with sign; what shrinks is credited before anything is asked for (EJ-33).
  std::vector<ResourceChoice> current_;
  Scan scan_result_;
};

}  // namespace hindsight::admission
