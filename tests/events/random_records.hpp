#pragma once

// Random records of every kind, and deep equality of records: both follow the field lists, so that a new field takes part in the
// tests without being named here.

#include <cstdint>
#include <random>

#include "vocabulary/arena.hpp"
#include "vocabulary/record.hpp"

namespace hindsight::test {

/// How many kinds of body there are: the observations, then EpochStarted, Decisions, DecisionsNoted.
inline constexpr std::size_t body_kinds = std::variant_size_v<Observation> + 3;

/// A default-constructed body of a kind, below body_kinds.
[[nodiscard]] Body default_body(std::size_t kind);
/// A default-constructed event, by its place among the alternatives.
[[nodiscard]] Event default_event(std::size_t kind);

/// Makes records from a seed. They live as long as the maker.
class RandomRecords {
 public:
  explicit RandomRecords(std::uint64_t seed) : random_(seed) {}

  /// A record whose body is of the given kind, below body_kinds, or of any.
  [[nodiscard]] RecordView record(std::size_t kind) &;
  [[nodiscard]] RecordView record() &;
  [[nodiscard]] Event event(std::size_t kind) &;

 private:
  std::mt19937_64 random_;
  Arena arena_;
};

/// Field by field, element by element.
[[nodiscard]] bool equal_bodies(const Body& a, const Body& b);
[[nodiscard]] bool equal_records(const RecordView& a, const RecordView& b);

}  // namespace hindsight::test
