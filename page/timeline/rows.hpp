#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "events/log.hpp"
#include "vocabulary/amount.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::page::timeline {

using events::Position;

/// What happened now and then, and is drawn as a mark.
enum class MarkKind : std::uint8_t { eviction, configuration, epoch, refusal, quarantine };
inline constexpr std::size_t mark_kinds = 5;

/// All that happened of one kind in some records.
struct Mark {
  MarkKind kind = MarkKind::eviction;
  std::uint32_t count = 0;
  Position position = 0;  ///< Of the first.
  Time time;              ///< Likewise.
  std::string text;       ///< What the first was. Nothing in it belongs to a namespace: everybody may read it.
};

/// One flavor and resource, and how much of it was used.
struct PairName {
  std::string flavor, resource;
  friend bool operator==(const PairName&, const PairName&) = default;
};
struct PairUse {
  Amount used = 0;
  Amount nominal = 0;  ///< Of all ClusterQueues and Cohorts together.
};

inline constexpr std::int64_t not_known = -1;
/// Of `Row::waits_since`: nobody waits.
inline constexpr std::int64_t no_waiter = -2;

/// A few records that follow each other: what happened in them, and the state behind the last.
struct Row {
  Position first = 0, last = 0;  ///< Of the domain's records in it.
  Time time;                     ///< Of the domain after the last.
  std::uint32_t admitted = 0;    ///< Workloads that were admitted.
  std::uint32_t evicted = 0;
  std::uint32_t decisions = 0;  ///< Records with decisions that count.
  std::vector<Mark> marks;      ///< At most one of a kind, in the order of kinds.

  std::int64_t waiting = not_known;  ///< In ClusterQueues, as their statuses count.
  std::int64_t running = not_known;  ///< Admitted, likewise.
  std::int64_t used = not_known;     ///< Per mille of nominal, of the pair that is used most; not known: nothing has a quota.
  /// Since when whoever waits longest for quota does, in microseconds of time, or no_waiter.
  std::int64_t waits_since = not_known;
  std::vector<PairUse> pairs;  ///< In the order of the series; those that appeared later are missing.

  [[nodiscard]] bool has_state() const { return waiting != not_known; }
};

using Block = std::vector<Row>;

/// Nobody decided: from the last record of an epoch's owner to the beginning of the next epoch.
struct Silence {
  Time from, to;
};

/// Rows in order. Immutable blocks are shared between one series and the next, longer one.
struct Series {
  std::vector<std::shared_ptr<const Block>> blocks;
  std::vector<PairName> pairs;
  std::vector<Silence> silences;
  Time decider_seen;        ///< Time of the last record of an owner of the domain; never: none was seen.
  Position begin = 0;       ///< Behind which the first row begins.
  Position end = 0;         ///< All records up to here are in it.
  std::uint64_t width = 1;  ///< Records of the log that a row stands for, at most.

  [[nodiscard]] const Row* back() const { return blocks.empty() ? nullptr : &blocks.back()->back(); }
};

/// Counts what `more` counts, too; its first is a later one.
void add_mark(std::vector<Mark>& marks, Mark more);

/// One row for both; `next` follows on `row`.
void append(Row& row, Row next);

}  // namespace hindsight::page::timeline
