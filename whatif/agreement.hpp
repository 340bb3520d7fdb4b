#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/log.hpp"
#include "projections/json.hpp"
#include "vocabulary/record.hpp"
#include "vocabulary/time.hpp"
#include "whatif/comparison.hpp"

namespace hindsight::whatif {

/// A decision that was made on one side only, or at another time there.
struct DecisionDifference {
  events::Position position = 0;  ///< On record; 0: it is not there.
  Time was, here;                 ///< Never: it was not made on that side.
  std::string text;               ///< "Workload team-a/x: quota reserved in ClusterQueue a".
};

/// Holds decisions of a play against those on record. Only such count as the world answers (`essence_of`): a reservation, an eviction, an
/// end. What is said of somebody who waits is none of them.
///
/// It keeps 32 bytes for each decision on record, and the texts of `listed_max` differences.
class Agreement {
 public:
  static constexpr std::size_t listed_max = 1'000;

  /// A record of the log; all of them before the first `made`.
  void recorded(events::Position position, const RecordView& record);
  /// A record of the play, in its order. What is made behind `until`, the end of the record, is held against nothing.
  void made(const RecordView& record, Time until);

  struct Counts {
    std::uint64_t recorded = 0, made = 0;
    std::uint64_t same = 0;   ///< Made on both sides at the same time (Course::patience).
    std::uint64_t moved = 0;  ///< Made on both sides, at different times.
    [[nodiscard]] std::uint64_t only_recorded() const { return recorded - same - moved; }
    [[nodiscard]] std::uint64_t only_here() const { return made - same - moved; }
    /// Of all that were made on record, here or on both sides: those on both.
    [[nodiscard]] double share() const;
  };
  /// All that were shown so far.
  [[nodiscard]] Counts counts() const;
  /// The first of those that differ, in order of time; `log` is read again for what stands on record only. Errors: those of a log.
  [[nodiscard]] Result<std::vector<DecisionDifference>> differences(const events::Log& log) const;

 private:
  struct Recorded {
    std::uint64_t key = 0;
    events::Position position = 0;
    Time when;
    bool met = false;
  };
  struct Made {
    std::uint64_t key = 0;
    Time when;
    std::string text;  ///< Of the first `listed_max`.
  };
  struct Pairing;
  void sort();
  [[nodiscard]] Pairing pair_up() const;

  std::vector<Recorded> recorded_;  ///< By key and position, once the first is made.
  std::vector<Made> unmet_;         ///< Made here, and not at that time on record.
  std::uint64_t made_ = 0, same_ = 0;
  bool sorted_ = true;
};

/// How far start times of a play are from those on record.
struct StartError {
  std::size_t both = 0;                          ///< Workloads that start on both sides. One that had started at the moment counts nowhere.
  std::size_t only_recorded = 0, only_here = 0;  /// Of these, before the record ends.
  Duration mean, p95, max;                       ///< Of those that start on both sides.
};
[[nodiscard]] StartError start_error_of(const Comparison& comparison);

/// Two lines for people: what `hindsight what-if --model-all` says of the model.
[[nodiscard]] std::string to_text(const Agreement::Counts& counts, const StartError& error);
[[nodiscard]] projections::Json to_json(const Agreement::Counts& counts, const StartError& error);

/// One line for each decision that differs, and a last one with their number.
[[nodiscard]] std::string to_text(const std::vector<DecisionDifference>& differences, const Agreement::Counts& counts);

}  // namespace hindsight::whatif
