#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "admission/topology/domain_list.hpp"
#include "admission/topology/host_room.hpp"
#include "admission/topology/topology_tree.hpp"

namespace hindsight::admission::topology {

/// What nodes say of the pods, by leaf; a list that is empty says nothing.
struct LeafRules {
  std::span<const std::uint8_t> excluded;             ///< Not 0: no pod of the gang may stand there; the leader may.
  std::span<const std::uint8_t> excluded_for_leader;  ///< Not 0: the leader may not (TAS-58).
  std::span<const std::int64_t> scores;               ///< Higher ones go before capacity (gate TASRespectNodeAffinityPreferred).
  std::span<const std::uint8_t> absent;               ///< Not 0: its node takes no part now, as if there were no such leaf.
  /// Leaves are racks or the like, and their hosts count one by one; null: they do not.
  const HostRoom* hosts = nullptr;
  std::span<const std::uint8_t> excluded_hosts, excluded_hosts_for_leader;  ///< As above, by host.
};

/// What is asked of every domain alike. Gangs with equal questions differ in how many pods they have, and where they may stand.
struct Question {
  PodRequest request;
  std::optional<PodRequest> leader;
  std::size_t slice_level = 0;  ///< The domains that hold whole slices.
  std::int32_t slice_size = 1;
  std::vector<std::int32_t> rounded;  ///< By level: pods of a domain count in multiples of this; 0: all count (slices within slices).
  friend bool operator==(const Question&, const Question&) = default;
};

/// What every domain of a tree offers to those who ask one question (2724 §3.3, §3.4): a few bytes a leaf, and the sums above. A change of
/// a few leaves is followed along their paths. The tree is always the one that it was made for.
class Offers {
 public:
  Offers(const TopologyTree& tree, Question question);

  [[nodiscard]] const Question& question() const { return question_; }
  [[nodiscard]] std::size_t size(std::size_t level) const { return level == lowest_ ? pods_.size() : above_[level].size(); }
  [[nodiscard]] DomainOffer at(std::size_t level, DomainIndex d) const { return level == lowest_ ? leaf(d) : above_[level][d]; }
  /// Calls `see` for every domain of the level, in order.
  template <class See>
  void each(std::size_t level, const See& see) const {
    if (level != lowest_) {
      for (const DomainOffer& d : above_[level]) see(d);
    } else if (counts_single_pods()) {
      DomainOffer e;
      for (DomainIndex d = 0; d < pods_.size(); ++d) {
        e.domain = d;
        e.pods = e.slices = e.pods_l = e.slices_l = std::max(pods_[d], 0);
        see(e);
      }
    } else {
      for (DomainIndex d = 0; d < pods_.size(); ++d) see(leaf(d));
    }
  }
  /// By level and domain.
  [[nodiscard]] std::vector<DomainOffers> all() const;
  /// Do leaves hold single pods that are all alike, without a leader and without preferences?
  [[nodiscard]] bool counts_single_pods() const { return is_plain() && question_.slice_level == lowest_ && question_.slice_size == 1; }
  /// Where they do: the first of the leaves with the least room that suffices for `need` pods, of 1 or more.
  [[nodiscard]] std::optional<DomainIndex> tightest_leaf(std::int32_t need) const;

  /// Is there no leader, and no preference?
  [[nodiscard]] bool is_plain() const { return !question_.leader && scores_.empty(); }
  /// Do the pods prefer some leaves?
  [[nodiscard]] bool is_scored() const { return !scores_.empty(); }
  /// Leaves that take part.
  [[nodiscard]] std::int32_t present() const { return tally_.present; }
  /// How many leaves have no room for a single pod, by the resource that they lack most: position among those of the request that are not
  /// 0.
  [[nodiscard]] const std::vector<std::int32_t>& lacking() const { return tally_.lacking; }

  // ---- counting: all leaves, in any cut and order, then the sums ---------------------------------------------------------------------

  /// How the leaves of a part are; tallies add up to that of the whole tree.
  struct Tally {
    std::int32_t present = 0;
    std::vector<std::int32_t> lacking;
  };
  /// Before anything is counted. `scored`: the pods prefer some leaves.
  void begin(bool scored);
  /// Counts the leaves [first, last). Different parts may be counted at the same time.
  [[nodiscard]] Tally count(const Capacity& free, const LeafRules& leaves, DomainIndex first, DomainIndex last);
  /// The tally of one part.
  void add(const Tally& part);
  /// Sums up, once every leaf has been counted and every tally added.
  void sum_up(const TopologyTree& tree);
  /// All of this for the whole tree.
  void count_all(const TopologyTree& tree, const Capacity& free, const LeafRules& leaves);

  /// Counts again the leaves that changed since; they may repeat. Whoever changed a leaf tells it: what it offers, what it prefers, and
  /// whether it takes part.
  void follow(const TopologyTree& tree, const Capacity& free, const LeafRules& leaves, std::span<const DomainIndex> changed);

 private:
  /// What is asked of a leaf, of one resource; null: no leaf has any of it.
  struct Need {
    const Amount* column;
    Amount amount, taken;  ///< By a pod; by the leader, where it stands here.
    std::size_t position;  ///< Among what is asked for, but zeros.
    [[nodiscard]] Amount has(DomainIndex leaf) const {
      return column == nullptr ? 0 : taken == 0 ? column[leaf] : subtract(column[leaf], taken);
    }
  };
  struct Needs {
    std::vector<Need> pods, beside_leader, leader;
  };
  /// In `pods_`: there is no room for one, and why. Below `no_room`: it lacks the resource of position `no_room − x`.
  static constexpr std::int32_t absent = -1, excluded = -2, no_room = -3;

  [[nodiscard]] Needs needs_in(const Capacity& free) const;
  [[nodiscard]] static std::vector<Need> needs_of(const Capacity& free, const PodRequest& request, const PodRequest* leader);
  /// Pods that the leaf has room for.
  [[nodiscard]] static std::int32_t fits(const std::vector<Need>& needs, DomainIndex leaf);
  /// Of leaves from `first` on: no more pods than one resource allows; 0 and more.
  static void limit(std::span<Amount> pods, const Need& need, DomainIndex first);
  /// Of a leaf without room for one: the first resource that it lacks.
  [[nodiscard]] static std::size_t lack(const std::vector<Need>& needs, DomainIndex leaf);
  void count_leaf(const Needs& needs, const LeafRules& leaves, DomainIndex leaf, Tally& tally);
  void forget_leaf(DomainIndex leaf);

  [[nodiscard]] DomainOffer leaf(DomainIndex d) const {
    DomainOffer out;
    out.domain = d;
    out.pods = out.pods_l = std::max(pods_[d], 0);
    if (!scores_.empty()) out.score = scores_[d];
    if (question_.leader) {
      out.pods_l = pods_l_[d];
      out.lead = lead_[d];
    }
    if (question_.slice_level == lowest_) {
      out.slices = question_.slice_size == 1 ? out.pods : out.pods / question_.slice_size;
      out.slices_l = question_.slice_size == 1 ? out.pods_l : out.pods_l / question_.slice_size;
    }
    return out;
  }
  [[nodiscard]] DomainOffer sum_of(const TopologyTree& tree, std::size_t level, DomainIndex d) const;
  [[nodiscard]] DomainOffer sum_of_plain_leaves(TopologyTree::Range leaves, std::size_t level, DomainIndex d) const;

  Question question_;
  std::size_t lowest_;
  std::vector<std::int32_t> pods_;    ///< By leaf; or why there is no room.
  std::vector<std::int32_t> pods_l_;  ///< By leaf; with a leader only.
  std::vector<std::uint8_t> lead_;    ///< Likewise.
  std::vector<std::int64_t> scores_;  ///< By leaf; empty: nobody prefers any.
  std::vector<DomainOffers> above_;   ///< By level, but the lowest.
  Tally tally_;
};

/// Sets what domain `d` of `level`, which is not the lowest, offers: the sum of those below it, where the leader is charged to the one
/// where it costs least (§3.4). `offers`: by level and domain.
void roll_up(const TopologyTree& tree, std::vector<DomainOffers>& offers, std::size_t level, DomainIndex d, const Question& question);

}  // namespace hindsight::admission::topology
