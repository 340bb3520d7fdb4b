#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "admission/model/state_field.hpp"
#include "vocabulary/state_hash.hpp"
#include "vocabulary/symbol.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::admission {

/// For whom room is kept for a moment (D14).
///
/// An entry that was passed over in a cycle may preempt in the next one what was admitted behind it, in room that was too small for the
/// entry itself. Such an admission costs a start and an eviction and wins nothing, so it is withheld (look_ahead): the entry has a claim.
///
/// Nobody starves by that: a claim ends after its span, and the same workload claims nothing again before as much time has gone by once
/// more and something has changed outside.
///
/// Part of the state: derived from the records (EntryRequeued::claimant), in the hash and in snapshots. Holds living claimants only.
class Claims {
 public:
  /// Where so many are on record nobody else may claim, so that looking through them costs nothing to speak of.
  static constexpr std::size_t claims_max = 1'024;
  struct Claim {
    Symbol cluster_queue;  ///< Of the tree that is asked again when it ends.
    Time since;
  };

  /// An admission was withheld for the workload `claimant` (uid) at `now`.
  void note(std::string_view claimant, Symbol cluster_queue, Time now);
  /// Is its claim on record, whether it lasts or has ended?
  [[nodiscard]] bool is_known(std::string_view claimant) const { return !claims_.empty() && claims_.contains(claimant); }
  /// May room be kept for it at `now`? `span`: how long a claim lasts.
  [[nodiscard]] bool may_claim(std::string_view claimant, Time now, Duration span) const;

  /// Somebody changed the world: whose claim ended long enough ago may claim again.
  void news(Time now, Duration span);
  /// The claimant has quota, has finished, or has gone.
  void forget(std::string_view claimant);
  void clear() { claims_.clear(); }

  /// When the first claim ends that lasts beyond `t`; never: there is none.
  [[nodiscard]] Time next_end(Time t, Duration span) const;
  using ByClaimant = std::map<std::string, Claim, std::less<>>;
  [[nodiscard]] const ByClaimant& all() const { return claims_; }

  void add_to(StateHash& h) const;
  friend struct StateFields<Claims>;

 private:
  ByClaimant claims_;
};

}  // namespace hindsight::admission
