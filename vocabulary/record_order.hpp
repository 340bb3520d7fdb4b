#pragma once

#include <cstdint>

namespace hindsight {

/// How a record stands to the last one of its domain that counted.
enum class RecordOrder : std::uint8_t {
  next,         ///< It counts: its sequence follows, its epoch has not fallen.
  passed_over,  ///< It has no effect: a writer that has lost the domain, or that lost a race for the sequence, has left it behind.
  gap,          ///< Records between are missing: the log is wrong.
};

/// The sequence of a record that gets its number when it is read: the next of its domain. Several writers can add such records to one
/// partition at the same time, and every reader counts the same, because all read one order.
inline constexpr std::uint64_t numbered_by_reader = 0;

/// The one rule by which every reader, whatever log it reads, picks the records of a domain that count.
///
/// A log without compare-and-append (Kafka) can hold what two writers wrote at the same moment. Both know only what counted up to some
/// sequence and number their own records on from there without a hole. So a record of an older epoch than the last one that counted comes
/// from a writer that has been replaced; one with a sequence that is taken comes from one that was a moment too late; and a sequence beyond
/// the next cannot come about unless records are lost. By induction over each writer's records nothing else is possible.
///
/// Of records that the reader numbers only the epoch says whether they count. Observations carry epoch 0, because whoever observes has no
/// domain to lose. Decisions carry the epoch in which they were made, and a node decides in an epoch only after it has read back that it
/// was the first to begin it; so of two that begin the same one, only the first decides.
[[nodiscard]] constexpr RecordOrder record_order(std::uint64_t last_sequence, std::uint64_t last_epoch, std::uint64_t sequence,
                                                 std::uint64_t epoch) {
  if (sequence == numbered_by_reader) return epoch == 0 || epoch >= last_epoch ? RecordOrder::next : RecordOrder::passed_over;
  if (epoch < last_epoch || sequence <= last_sequence) return RecordOrder::passed_over;
  return sequence == last_sequence + 1 ? RecordOrder::next : RecordOrder::gap;
}

}  // namespace hindsight
