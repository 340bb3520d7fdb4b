#pragma once

// Messages of Kafka as the log reads them, and what a domain makes of the records in them. Used by tests and by libFuzzer; aborts where
// reading did not hold.

#include <cstddef>
#include <span>
#include <string_view>

namespace hindsight::test {

enum class MessageKind { record, snapshot, tails, key, checkpoint };

/// A message of this kind as somebody has put it into a topic. `sealed`: head and checksum are put right first, as a writer with a grudge
/// would do; of a record `value` is the body then. True: it was read.
bool exercise_message(MessageKind kind, std::string_view key, std::span<const std::byte> value, bool sealed);

}  // namespace hindsight::test
