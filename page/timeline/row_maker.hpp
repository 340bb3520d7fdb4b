#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "page/timeline/longest_wait.hpp"
#include "page/timeline/rows.hpp"
#include "page/timeline/usage_sampler.hpp"
#include "replay/past.hpp"
#include "vocabulary/record.hpp"

namespace hindsight::page::timeline {

/// Makes rows of the records that are folded. A row ends where the log's position is a multiple of the width, so that rows of every width
/// lie in those of the next; its state is read when the next record of the domain comes. Not thread-safe.
class RowMaker {
 public:
  /// Begins behind a position. `width`: a power of two. `rows_max`: where there are more rows, two and two become one, and the width is
  /// twice as much.
  RowMaker(Position begin, std::uint64_t width, std::size_t rows_max);
  /// Goes on where a series ended that was made before.
  RowMaker(const Series& made, std::size_t rows_max);

  /// The state that the first record comes to.
  void begin(const StateView& state) { waits_.begin(state); }

  /// Begins with the state of a past, and sees what is folded from now on; it has to stay where it is as long as the past is folded.
  void look_on(replay::Past& past);

  void before(Position at, const RecordView& record, const StateView& state);
  void after(Position at, const RecordView& record, const StateView& state);

  /// All rows so far. `state` is that after `end`, the last position that was folded; it is read for the row in progress.
  [[nodiscard]] std::shared_ptr<const Series> series(Position end, const StateView& state);

 private:
  static constexpr std::size_t block_rows = 1024;
  static constexpr std::size_t silences_max = 2000;

  [[nodiscard]] std::uint64_t number(Position at) const { return (at - 1) / width_; }
  void sample(const StateView& state, Row& row);
  void close(const StateView& state, Position next);
  void widen(Position next);
  void count(const Decisions& decisions, Position at);
  void mark(MarkKind kind, Position at, std::string text);
  void note_owner(const RecordView& record, const StateView& state);

  const Position begin_;
  std::uint64_t width_;
  const std::size_t rows_max_;
  UsageSampler sampler_;
  LongestWait waits_;
  std::vector<std::shared_ptr<const Block>> blocks_;  ///< Full ones.
  Block open_;                                        ///< Rows behind these.
  Row row_;                                           ///< In progress; `last` 0: nothing is in it.
  std::vector<Silence> silences_;
  // of the record that is being folded
  bool counts_ = false;
  std::uint64_t epoch_before_ = 0;
  Time decider_seen_;  ///< Time of the last record of an owner of the domain; never: none was seen.
};

}  // namespace hindsight::page::timeline
