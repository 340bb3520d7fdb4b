#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "vocabulary/decisions.hpp"
#include "vocabulary/observations.hpp"

namespace hindsight {

/// What every record carries (design rule and `cause` chain).
struct Envelope {
  std::string_view domain;     ///< Admission domain.
  std::uint64_t sequence = 0;  ///< Position in the domain, from 1 without gaps; 0: the reader counts (vocabulary/record_order.hpp).
  std::uint64_t epoch = 0;     ///< Of the writer; observations carry the epoch that the connector knew (0: none).
  Time time;                   ///< When it was observed or decided.
  std::uint64_t cause = 0;     ///< Sequence of the record that triggered this one; 0: the outside world.
};

/// Everything that may stand in the log.
using Body = std::variant<Observation, Decisions, EpochStarted, DecisionsNoted>;

/// A record in plain form: views into whatever buffer and arena its owner keeps.
struct RecordView {
  Envelope envelope;
  Body body;
};

}  // namespace hindsight
