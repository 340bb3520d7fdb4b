#pragma once

#include <cstdint>
#include <vector>

#include "admission/model/catalog.hpp"
#include "admission/model/state_field.hpp"
#include "vocabulary/amount.hpp"
#include "vocabulary/state_hash.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::admission {

// What LocalQueues have used, as admission fair sharing counts it (base-admission §10, BA-164 to BA-168). Whole numbers all the way, so
// that every machine comes to the same; only the figure that queues are compared by is a double.

/// A factor from 0 to 1 in units of 2⁻⁶⁴.
struct Fraction {
  WideAmount of_2_64 = 0;
  [[nodiscard]] Fraction complement() const { return {(WideAmount{1} << 64) - of_2_64}; }
};

/// A = 1 − 0.5^(elapsed / half-life): how much of what is used now goes into the memory of it. 0 for no time, and without a half-life.
[[nodiscard]] Fraction decay(Duration elapsed, Duration half_life);

/// amount · factor, cut off behind the ninth decimal (BA-165). `amount` is from 0 to 2⁶³ whole units.
[[nodiscard]] NanoAmount scale(NanoAmount amount, Fraction factor);

/// An amount in the unit of its resource (milli-cores for cpu, else whole units) as 10⁻⁹ of a core, byte or piece.
[[nodiscard]] NanoAmount to_nano(Amount amount, const Symbol& resource);

/// Amounts of several resources; sorted by resource text, without those that are 0.
class UsageVector {
 public:
  struct Part {
    Symbol resource;
    NanoAmount amount = 0;
    friend bool operator==(const Part&, const Part&) = default;
  };
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }
  [[nodiscard]] bool empty() const { return parts_.empty(); }
  void clear() { parts_.clear(); }
  [[nodiscard]] NanoAmount of(const Symbol& resource) const;
  void add(Symbol resource, NanoAmount amount);  ///< May be negative; the sum must not be.
  void add(const UsageVector& other, int sign = 1);
  void scale_by(Fraction factor);
  void add_to(StateHash& hash) const;
  void derive();  ///< Restores the order of what has been read from a snapshot.
  friend bool operator==(const UsageVector&, const UsageVector&) = default;
  friend struct StateFields<UsageVector>;

 private:
  std::vector<Part> parts_;
};

/// The account of one LocalQueue.
class UsageLedger {
 public:
  /// Before anything in it changes because of a record: what was in use until then is what the time until then is charged with, in
  /// whatever order the messages of the record come.
  void begin(std::uint64_t sequence, Time now);
  /// Lets the time until now count, and forgets in the measure of the half-life. After `begin`.
  void sample(Time now, const Settings::AdmissionFairSharing& settings);
  /// Takes over what the LocalQueue's status says, unless something was counted already (BA-168).
  void restore(const UsageVector& consumed, Time at);

  void count_admitted(Symbol resource, NanoAmount change) { admitted_.add(resource, change); }
  void push_penalty(const UsageVector& penalty) { penalty_.add(penalty); }
  void drop_penalty(const UsageVector& penalty) { penalty_.add(penalty, -1); }
  /// The penalty becomes usage. After `sample`.
  void settle_penalty(const UsageVector& penalty) {
    penalty_.add(penalty, -1);
    consumed_.add(penalty);
  }

  /// Σ weight of the resource · (consumed + penalty) / weight of the LocalQueue; +∞ for a weight that is not above 0 (BA-167).
  [[nodiscard]] double usage(const Settings::AdmissionFairSharing& settings, std::int64_t fair_weight_nano) const;
  /// Nothing to forget and nothing to count.
  [[nodiscard]] bool dormant() const { return consumed_.empty() && admitted_.empty(); }
  [[nodiscard]] const UsageVector& consumed() const { return consumed_; }
  [[nodiscard]] const UsageVector& penalty() const { return penalty_; }  ///< Of all reservations that are not admitted yet.
  [[nodiscard]] Time sampled_at() const { return sampled_at_; }          ///< never: nothing was counted yet.
  [[nodiscard]] std::uint64_t hash() const;

  /// For snapshots; what is admitted and the penalties follow from the reservations.
  void put_back(UsageVector consumed, Time sampled_at) {
    consumed_ = std::move(consumed);
    sampled_at_ = sampled_at;
  }

 private:
  UsageVector consumed_, penalty_;
  UsageVector admitted_;        ///< Of the admitted Workloads.
  UsageVector before_;          ///< The same before the record under way.
  std::uint64_t sequence_ = 0;  ///< Of the record that `before_` was noted for.
  Time sampled_at_;
};

}  // namespace hindsight::admission
