#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/model/state_field.hpp"
#include "vocabulary/state_hash.hpp"

namespace hindsight::admission {

/// Finds workloads that keep preempting the same others, and ends it (base-admission D13).
///
/// A victim that is served before the one that it had to make room for, or takes its place from it, is preempted again: by Kueue's rules
/// without end. So who preempted whom is counted. After `limit` times without news from outside the preemptor goes before that victim
/// where both could be admitted now, and leaves it alone if it got in first, until there is news; after `in_all_factor` times as often,
/// whatever was heard meanwhile, until the configuration changes, or the preemptor loses its place for another reason than preemption.
/// Each ordered pair thus preempts a bounded number of times between two pieces of news; a domain that hears none comes to rest.
///
/// Part of the state: derived from the records, in the hash and in snapshots. Holds entries of living preemptors only, at most
/// `victims_max` each.
class RepeatedPreemptions {
 public:
  static constexpr std::uint32_t in_all_factor = 4;
  static constexpr std::size_t victims_max = 64;

  /// How often somebody preempted this victim.
  struct Count {
    std::string victim;          ///< Uid.
    std::uint32_t in_a_row = 0;  ///< Since the news before `last`.
    std::uint32_t in_all = 0;
    std::uint64_t last = 0;  ///< Sequence of the record with the last one.
    bool left_alone = false;
  };

  /// `preemptor` preempted `victim` (uids) by the record `sequence`. `limit`: Settings::repeated_preemptions, 0: there is none.
  void note(std::string_view preemptor, std::string_view victim, std::uint64_t sequence, std::uint32_t limit);

  // Each returns whether somebody may be preempted again who was left alone.

  /// Somebody changed the world: this record told so.
  bool news(std::uint64_t sequence, std::uint32_t limit);
  /// The preemptor has gone, finished, or was evicted for a reason of its own.
  bool forget(std::string_view preemptor);
  /// The configuration changed.
  bool clear();

  /// Is anybody left alone?
  [[nodiscard]] bool any() const { return left_alone_ != 0; }
  [[nodiscard]] std::size_t left_alone_count() const { return left_alone_; }
  /// Those that the preemptor does not preempt now.
  [[nodiscard]] std::vector<const Count*> left_alone_by(std::string_view preemptor) const;
  [[nodiscard]] bool leaves_alone(std::string_view preemptor, std::string_view victim) const;
  /// Everything that is counted, by preemptor.
  using Counts = std::map<std::string, std::vector<Count>, std::less<>>;
  [[nodiscard]] const Counts& counts() const { return counts_; }

  void add_to(StateHash& h) const;
  void derive();  ///< What follows from the rest, which has been read from a snapshot.
  friend struct StateFields<RepeatedPreemptions>;

 private:
  Counts counts_;
  std::uint64_t news_ = 0;  ///< Sequence of the last record with news.
  std::size_t left_alone_ = 0;
};

}  // namespace hindsight::admission
