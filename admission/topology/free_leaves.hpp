#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "admission/topology/offers.hpp"
#include "admission/topology/topology_tree.hpp"

namespace hindsight::admission::topology {

/// Leaves where no pod of one shape may stand (TAS-65), and those that it prefers.
struct LeafFilter {
  std::vector<std::uint8_t> excluded;           ///< By leaf; empty: none is.
  std::map<std::string, std::int32_t> reasons;  ///< "nodeSelector" → how many.
  std::vector<std::int64_t> scores;             ///< By leaf; empty: it prefers none, or that does not count.
  std::vector<std::uint8_t> excluded_hosts;     ///< By host, where leaves have several (host_room.hpp); empty: none is.
};

class FreeLeaves;

/// A question whose leaves are counted for the first time, in parts by several.
class FirstCount {
 public:
  [[nodiscard]] std::size_t leaves() const { return tree_.leaves(); }
  [[nodiscard]] bool asks_the_same_as(const FirstCount& other) const {
    return &free_ == &other.free_ && workers_ == other.workers_ && leader_ == other.leader_ && question_ == other.question_;
  }
  /// Before anything is counted: into so many parts of neighbours. Takes the memory.
  void divide(std::size_t parts);
  /// Counts one part. Different threads may count different parts at the same time.
  void count(std::size_t number);

 private:
  friend class FreeLeaves;
  FirstCount(const TopologyTree& tree, const Capacity& free, Question question)
      : tree_(tree), free_(free), question_(std::move(question)) {}

  const TopologyTree& tree_;
  const Capacity& free_;
  Question question_;
  std::shared_ptr<const LeafFilter> workers_, leader_;
  LeafRules rules_;
  std::optional<Offers> offers_;
  std::vector<Offers::Tally> tallies_;  ///< By part.
};

/// What is free of the leaves of a flavor, and what they offer to those who asked lately. What was counted once is kept, and follows what
/// changes leaf by leaf; so a question that is asked again costs what has changed since, not what there is.
class FreeLeaves {
 public:
  FreeLeaves() = default;
  /// `hosts`: where pods stand on hosts below the leaves, and these count one by one.
  explicit FreeLeaves(Capacity capacity, std::optional<HostRoom> hosts = {}) : capacity_(std::move(capacity)), hosts_(std::move(hosts)) {}
  /// What was counted stays with the one that counted it.
  FreeLeaves(const FreeLeaves& other) : capacity_(other.capacity_), hosts_(other.hosts_) {}
  FreeLeaves& operator=(const FreeLeaves& other) { return *this = FreeLeaves(other); }
  FreeLeaves(FreeLeaves&&) noexcept = default;
  FreeLeaves& operator=(FreeLeaves&&) noexcept = default;
  ~FreeLeaves() = default;

  [[nodiscard]] const Capacity& capacity() const { return capacity_; }
  /// Null: hosts do not count one by one.
  [[nodiscard]] const HostRoom* hosts() const { return hosts_ ? &*hosts_ : nullptr; }

  /// How many such pods the leaf has room for, and what limits them most; the name is empty where nothing does.
  [[nodiscard]] std::pair<std::int32_t, Symbol> pods_on(DomainIndex leaf, const PodRequest& request, const LeafFilter& filter) const;

  /// Do the hosts below the leaf have room for so many pods? True where hosts do not count one by one.
  [[nodiscard]] bool has_hosts_for(std::int32_t pods, DomainIndex leaf, const PodRequest& request, const LeafFilter& filter) const {
    return !hosts_ || hosts_->pods_on(leaf, request, filter.excluded_hosts) >= pods;
  }

  /// As Capacity::change.
  void change(const Symbol& resource, DomainIndex leaf, Amount amount) {
    capacity_.change(resource, leaf, amount);
    touch(leaf);
  }
  /// The same of one of the hosts below the leaf.
  void change_host(const Symbol& resource, DomainIndex leaf, DomainIndex host, Amount amount) {
    change(resource, leaf, amount);
    if (hosts_) hosts_->change(resource, leaf, host, amount);
  }
  /// Takes what so many pods ask for off the leaf; below 0 gives it back. `filter`: where they may stand.
  void take(const PodRequest& request, DomainIndex leaf, std::int32_t pods, const LeafFilter& filter) {
    if (hosts_) hosts_->take(leaf, request, filter.excluded_hosts, pods);
    for (const auto& [resource, amount] : request) {
      const Amount all = multiply(amount, pods < 0 ? -pods : pods);
      capacity_.change(resource, leaf, pods < 0 ? all : subtract(0, all));
    }
    touch(leaf);
  }
  /// Something else about a leaf has changed: whether it takes part, or what a filter says of it.
  void touch(DomainIndex leaf);

  /// `workers` and `leader`: for whom the question is, the second without meaning where nobody leads. Filters that are equal are one
  /// object; they change only as `touch` says. `absent` as in LeafRules. Valid until the next change, or the next question.
  [[nodiscard]] const Offers& offers(const TopologyTree& tree, const Question& question, const std::shared_ptr<const LeafFilter>& workers,
                                     const std::shared_ptr<const LeafFilter>& leader, std::span<const std::uint8_t> absent);

  /// A question that would be asked next, to be counted in parts beforehand; null: it is kept already. What is free stays as it
  /// is until `keep`.
  [[nodiscard]] std::shared_ptr<FirstCount> first_count(const TopologyTree& tree, const Question& question,
                                                        const std::shared_ptr<const LeafFilter>& workers,
                                                        const std::shared_ptr<const LeafFilter>& leader,
                                                        std::span<const std::uint8_t> absent) const;
  /// It has been counted.
  void keep(FirstCount&& counted);

  /// How many questions are kept about a tree with so many leaves.
  [[nodiscard]] static std::size_t questions_kept(std::size_t leaves);

  /// Leaves of all questions that are kept, together.
  static constexpr std::size_t leaves_kept = 1'000'000;
  static constexpr std::size_t questions_min = 2, questions_max = 64;

 private:
  struct Kept {
    Offers offers;
    std::shared_ptr<const LeafFilter> workers, leader;
    std::uint64_t seen;  ///< Changes that it has followed.
    std::uint64_t asked;
  };
  /// Of the changes that `kept` has not followed; all leaves where these are too many.
  void follow(Kept& kept, const TopologyTree& tree, const LeafRules& rules) const;
  [[nodiscard]] Kept* find(const Question& question, const std::shared_ptr<const LeafFilter>& workers,
                           const std::shared_ptr<const LeafFilter>& leader) const;
  Kept& insert(Kept kept, std::size_t leaves);
  /// `kept` has followed all changes.
  void note_read(Kept& kept);

  [[nodiscard]] LeafRules rules(const LeafFilter& workers, const LeafFilter& leader, std::span<const std::uint8_t> absent) const {
    if (hosts_) hosts_->settle();
    return {workers.excluded,       leader.excluded,      workers.scores, absent, hosts_ ? &*hosts_ : nullptr,
            workers.excluded_hosts, leader.excluded_hosts};
  }

  Capacity capacity_;
  std::optional<HostRoom> hosts_;
  std::vector<std::unique_ptr<Kept>> kept_;
  std::vector<DomainIndex> changed_;        ///< Leaves, the last ones.
  std::vector<std::uint32_t> last_change_;  ///< By leaf: the value of `asks_` then. Empty: nobody has asked anything.
  std::uint32_t asks_ = 1;                  ///< How often somebody has followed; begins anew at 1.
  std::uint64_t forgotten_ = 0;             ///< How many changes were before these.
  std::uint64_t read_ = 0;                  ///< Up to here somebody has followed.
  std::uint64_t questions_ = 0;             ///< That were asked.
};

}  // namespace hindsight::admission::topology
