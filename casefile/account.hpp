#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "casefile/bearing.hpp"
#include "casefile/curves.hpp"
#include "events/log.hpp"
#include "projections/history_short.hpp"
#include "projections/life.hpp"
#include "projections/lookup.hpp"
#include "projections/why.hpp"
#include "replay/moment.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::casefile {

using events::Position;

/// Whom a file is about, and up to which moment.
struct Question {
  projections::Target target;
  std::string domain;
  /// Nothing: to the end of its life; of one that lives, to the end of the log.
  std::optional<replay::Located> at = std::nullopt;
};

/// What is said of it at one moment.
struct Answer {
  Position position = 0;                ///< The state after this record.
  Time time;                            ///< To which ages count.
  std::string occasion;                 ///< "was given quota"; empty: it was asked about this moment.
  std::optional<projections::Why> why;  ///< Nothing: it was not there.
};

/// All that a log says about one Workload or job.
struct Account {
  /// Decisions about it are explained for so many moments: the first and the last of them.
  static constexpr std::size_t decisions_max = 40;
  /// So many entries of its history stay: the first and the last.
  static constexpr std::size_t history_max = 2'000;

  projections::Target target;
  std::string log, domain;
  Position position = 0;         ///< Up to this record.
  Time time;                     ///< Of that record, or the later one that was asked for.
  bool asked_by_time = false;    ///< `time` is later than that record.
  Position first = 0, last = 0;  ///< Of the records that name it.
  Position gone = 0;             ///< Its Workload was deleted by this record, and none came after it; 0: it was there at `position`.
  Answer answer;                 ///< At `position`; of one that was gone by then, just before it went.
  std::vector<Answer> decisions;
  std::size_t decisions_left_out = 0;  ///< In the middle.
  std::vector<projections::ShortEntry> history;
  std::size_t history_left_out = 0;  ///< In the middle.
  std::optional<projections::Life> life;
  std::vector<Plot> plots;
  std::size_t queues_left_out = 0, pairs_left_out = 0;  ///< Of the plots.
  Bearing bearing;
  std::vector<std::string> notices;  ///< Snapshots that could not be used, and why.
};

/// Called now and then with how far one of several passes over the log has come.
using GatherProgress = std::function<void(Position done, Position total)>;

/// Reads the log several times. Errors: not_found (nothing in the log up to the moment is about it), and those of the log and of folds.
[[nodiscard]] Result<Account> gather(const events::Log& log, const Question& question, const GatherProgress& progress = {});

}  // namespace hindsight::casefile
