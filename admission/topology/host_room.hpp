#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "admission/topology/topology_tree.hpp"

namespace hindsight::admission::topology {

/// What one pod needs of a leaf, with one of resource "pods"; sorted by text of the name.
using PodRequest = std::vector<std::pair<Symbol, Amount>>;

/// The hosts below the leaves of a tree whose lowest level is racks or the like (TAS-65, setting hindsight.topologyCapacity). A pod stands
/// on one host, so a rack has room for as many as its hosts have room for, one by one.
///
/// An assignment names racks, and kube-scheduler chooses the hosts; so where the pods of a rack stand is worked out: as its default profile
/// would have it, each on the host with the most room for pods like it. That depends on who stands in the rack and not on who came first,
/// so that what is taken and given back leaves no trace, and a replay comes to the same. Tenants choose what pods ask for: of a rack with
/// more kinds of pods than `work_max` allows it is not worked out, and the hosts count as if nobody stood there, beside the sum of the
/// rack.
class HostRoom {
 public:
  /// Kinds of pods on a leaf, times its hosts. So much is worked out in 0.6 to 2 ms (bench/RESULTS.md).
  static constexpr std::size_t work_max = 65'536;

  /// `first_host`: of each leaf, and one more: how many there are. `offer`: what each host has, for pods that are placed here.
  HostRoom(std::vector<DomainIndex> first_host, Capacity offer);

  [[nodiscard]] TopologyTree::Range hosts(DomainIndex leaf) const { return {first_host_[leaf], first_host_[leaf + 1]}; }

  /// Pods that find room on the leaf beside those who stand there. `excluded`: not 0 for hosts, of the whole tree, where none of them may
  /// stand; empty: for none.
  [[nodiscard]] std::int32_t pods_on(DomainIndex leaf, const PodRequest& request, std::span<const std::uint8_t> excluded) const;
  /// The same, if one that leads them takes its room first, on the host where it costs them least; −1: it finds none.
  [[nodiscard]] std::int32_t pods_beside(DomainIndex leaf, const PodRequest& request, std::span<const std::uint8_t> excluded,
                                         const PodRequest& leader, std::span<const std::uint8_t> excluded_for_leader) const;
  /// Of a leaf without room for one: the position among what is asked for, but zeros, of the resource that no host has enough of; if each
  /// has some host, of what the first host lacks. 0: none may be asked.
  [[nodiscard]] std::size_t lack(DomainIndex leaf, const PodRequest& request, std::span<const std::uint8_t> excluded) const;

  /// So many pods come to the leaf; below 0 they go.
  void take(DomainIndex leaf, const PodRequest& request, std::span<const std::uint8_t> excluded, std::int32_t pods);
  /// A host has so much more, or less.
  void change(const Symbol& resource, DomainIndex leaf, DomainIndex host, Amount amount);

  /// Of hosts, as worked out; less than 0 where more stand on the leaf than its hosts have room for.
  [[nodiscard]] const Capacity& free() const {
    settle();
    return free_;
  }
  /// Works out what has changed since, so that several threads may ask at the same time.
  void settle() const;

 private:
  /// Pods that are alike as far as hosts go.
  struct Group {
    PodRequest request;
    std::vector<std::uint8_t> excluded;  ///< By host of the leaf; empty: none.
    std::int32_t pods = 0;
  };
  [[nodiscard]] static bool before(const Group& a, const Group& b);
  void touch(DomainIndex leaf);
  void spread(DomainIndex leaf) const;
  void put(DomainIndex leaf, const Group& group) const;

  std::vector<DomainIndex> first_host_;
  Capacity offer_;
  mutable Capacity free_;  ///< But for `stale_`.
  mutable std::vector<DomainIndex> stale_;
  mutable std::vector<std::uint8_t> is_stale_;  ///< By leaf.
  std::vector<std::vector<Group>> groups_;      ///< By leaf, in the order in which they choose.
};

}  // namespace hindsight::admission::topology
