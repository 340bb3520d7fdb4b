#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace hindsight::actors {

/// How long scheduling cycles took on the clock of the machine, which no record knows: what a histogram shows, by whether anybody got
/// quota.
struct AttemptTimes {
  /// In seconds; a cycle of small quotas takes less than a millisecond.
  static constexpr std::array<double, 16> bounds{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                                 0.05,   0.1,     0.25,   0.5,   1,      2.5,   5,    10};
  struct Outcome {
    std::array<std::uint64_t, bounds.size() + 1> counts{};  ///< Up to each bound, and beyond the last.
    double seconds = 0;                                     ///< Of all together.

    void add(double taken) {
      std::size_t i = 0;
      while (i < bounds.size() && taken > bounds[i]) ++i;
      ++counts[i];
      seconds += taken;
    }
    void add(const Outcome& other) {
      for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
      seconds += other.seconds;
    }
  };
  Outcome success, inadmissible;

  void add(const AttemptTimes& other) {
    success.add(other.success);
    inadmissible.add(other.inadmissible);
  }
};

}  // namespace hindsight::actors
