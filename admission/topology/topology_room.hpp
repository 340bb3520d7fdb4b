#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "admission/model/catalog.hpp"
#include "admission/model/workload_info.hpp"
#include "admission/topology/free_leaves.hpp"
#include "admission/topology/placement.hpp"
#include "admission/topology/topology_tree.hpp"

namespace hindsight::admission::topology {

/// What one pod of a pod set takes of a leaf, one of resource "pods" included.
[[nodiscard]] PodRequest request_of(const PodSetInfo& pod_set);

/// Pods on leaves, and what each takes there.
struct Holding {
  struct Request {
    PodRequest pods;
    std::shared_ptr<const LeafFilter> filter;  ///< Of the flavor, where the hosts of its leaves count one by one; else it may be null.
  };
  struct Use {
    std::uint32_t flavor = 0;
    DomainIndex leaf = 0;
    std::int32_t pods = 0;
    std::uint32_t request = 0;  ///< Position in `requests`.
  };
  std::vector<Request> requests;
  std::vector<Use> uses;
};

/// The trees of all flavors with a topology, and how much of their leaves is free (2724 §3.1). A host that several flavors can select is
/// one host: what is taken of it through one is taken through all (TAS-34).
class TopologyRoom {
 public:
  struct Flavor {
    Symbol name, topology;
    TopologyTree tree;
    std::vector<OwnedToleration> tolerations;
    std::vector<std::shared_ptr<const NodeConfig>> nodes;  ///< Of each leaf, where leaves are hosts; else empty. Null: it is absent.
    bool tainted = false;                                  ///< Some of them has, or had, a taint that keeps pods away; also of `hosts`.
    std::vector<std::shared_ptr<const NodeConfig>> hosts;  ///< By leaf and name, where those of a leaf count one by one; else empty.
    std::vector<DomainIndex> first_host;                   ///< Likewise: of each leaf, and how many there are.
    std::vector<std::uint8_t> absent;  ///< By leaf, as LeafRules has it; empty: none is. Nodes come back, so their leaves are kept.

    std::vector<std::pair<Symbol, std::string>> node_labels;
    std::vector<Symbol> levels;
    std::vector<std::uint32_t> nodes_on;  ///< By leaf: how many take part.
    std::size_t absences = 0;             ///< Leaves that are absent.
    struct Member {
      DomainIndex leaf = 0;
      std::shared_ptr<const NodeConfig> node;
    };
    std::unordered_map<Symbol, Member> members;  ///< Nodes that take part, but those that are called as their host and stand in `nodes`.

    [[nodiscard]] std::optional<Member> member(const Symbol& name) const;
    void set_member(const Symbol& name, DomainIndex leaf, const std::shared_ptr<const NodeConfig>& node);
  };
  /// What is free of each flavor's leaves, by number of the flavor.
  using State = std::vector<FreeLeaves>;

  struct Rules {
    bool scored = false;       ///< What pods prefer counts (gate TASRespectNodeAffinityPreferred).
    bool count_hosts = false;  ///< Where leaves are no hosts, the hosts below them count one by one (TAS-65).
  };

  /// Of those `flavors` whose topology is among `topologies`. Nodes take part that are ready, schedulable, and have all labels (TAS-17).
  TopologyRoom(std::span<const FlavorConfig* const> flavors, const std::map<Symbol, std::vector<std::string>, ByText>& topologies,
               const Nodes& nodes, Rules rules);

  /// Takes another version of one node, or none when it has gone, and comes to what would be built anew. False: the trees have other leaves
  /// now, and it is to be built anew; it may not be used any more.
  [[nodiscard]] bool follow(const Symbol& name, const std::shared_ptr<const NodeConfig>& node);

  [[nodiscard]] bool empty() const { return flavors_.empty(); }
  [[nodiscard]] std::optional<std::uint32_t> find(const Symbol& flavor) const;
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(flavors_.size()); }
  [[nodiscard]] const Flavor& flavor(std::uint32_t number) const { return flavors_[number]; }

  // ---- who holds what -------------------------------------------------------------------------------------------------------------

  /// Charges what the reservation's assignments say, in place of what the same workload held before. Domains that no tree has count for
  /// nothing, and come back with their nodes (TAS-21); those of pods that have all ended neither (TAS-35).
  void reserve(const Reservation& reservation);
  void release(WorkloadId workload);

  // ---- on trial ---------------------------------------------------------------------------------------------------------------------

  /// As it is, or as tried; whoever changes it changes it back.
  [[nodiscard]] State& free() { return free_; }
  [[nodiscard]] const State& free() const { return free_; }
  /// Without any workload; likewise.
  [[nodiscard]] State& unused() { return unused_; }
  [[nodiscard]] const State& unused() const { return unused_; }
  /// Takes what the holding says off `state`, or gives it back (`sign` −1).
  static void take(State& state, const Holding& holding, int sign = 1);
  /// As `take`, for what a workload holds: it would be gone (`sign` −1), or back. False: it holds nothing.
  bool take(State& state, WorkloadId workload, int sign) const;
  /// Is there room for all of it in `state`?
  [[nodiscard]] static bool fits(State& state, const Holding& holding);
  /// Adds pods on a leaf, also of the other flavors that can select it.
  void add_use(Holding& holding, Holding::Use use) const;

  using Filter = LeafFilter;
  [[nodiscard]] std::shared_ptr<const Filter> filter(std::uint32_t flavor, const Interned<PodShape>& shape);

  /// Places a gang in `state`, which is of this room, as `topology::place` does. `leader`: the filter of who leads; any where nobody does.
  [[nodiscard]] tl::expected<Placement, Misfit> place(State& state, std::uint32_t flavor, const PlacementRules& rules, const Gang& gang,
                                                      const std::shared_ptr<const Filter>& workers,
                                                      const std::shared_ptr<const Filter>& leader, Explain explain = Explain::yes) const;

  /// As FreeLeaves::first_count and FreeLeaves::keep, of what is free.
  [[nodiscard]] std::shared_ptr<FirstCount> first_count(std::uint32_t flavor, const PlacementRules& rules, const Gang& gang,
                                                        const std::shared_ptr<const Filter>& workers,
                                                        const std::shared_ptr<const Filter>& leader) const;
  void keep(std::uint32_t flavor, FirstCount&& counted);
  /// Leaves of the largest tree.
  [[nodiscard]] std::size_t largest() const;

  /// Why no pod of this shape may stand on the leaf, in the words of Filter::reasons; empty: it may.
  [[nodiscard]] std::string why_excluded(std::uint32_t flavor, const PodShape& shape, DomainIndex leaf) const;
  /// Who holds places in the flavor, and on which leaves; ascending by number.
  [[nodiscard]] std::map<WorkloadId, std::vector<DomainIndex>> leaves_of_holders(std::uint32_t flavor) const;

  /// The form in which an assignment is stored: leaves in the order of their paths.
  [[nodiscard]] TopologyAssignment assignment(std::uint32_t flavor, std::span<const std::pair<DomainIndex, std::int32_t>> pods) const;

 private:
  [[nodiscard]] Holding holding_of(const Reservation& reservation);
  [[nodiscard]] bool follow(std::uint32_t number, const Symbol& name, const std::shared_ptr<const NodeConfig>& node);
  [[nodiscard]] bool follow_host(Flavor& flavor, std::uint32_t number, DomainIndex leaf, const std::shared_ptr<const NodeConfig>& before,
                                 const std::shared_ptr<const NodeConfig>& after);
  void filter_again(std::uint32_t number, DomainIndex leaf, const NodeConfig* before, const NodeConfig* after);

  std::vector<Flavor> flavors_;  ///< By name.
  Rules rules_;
  State free_, unused_;
  std::unordered_map<WorkloadId, Holding> holdings_;
  /// Filters that were asked for; a few, for what pods ask of nodes is chosen by tenants.
  static constexpr std::size_t filters_kept = 64;
  std::vector<std::vector<std::pair<Interned<PodShape>, std::shared_ptr<Filter>>>> filters_;  ///< By flavor.
};

}  // namespace hindsight::admission::topology
