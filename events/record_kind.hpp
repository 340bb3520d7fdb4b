#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace hindsight::events {

/// The number that schemas/envelope.fbs gives the body of an encoded record, found by a look at a few bytes and nothing else. Nothing: the
/// bytes are none of a record. Whether the record can be read is not said.
[[nodiscard]] std::optional<std::uint8_t> body_kind(std::span<const std::byte> bytes);

[[nodiscard]] bool is_decision(std::span<const std::byte> bytes);
[[nodiscard]] bool starts_epoch(std::span<const std::byte> bytes);

}  // namespace hindsight::events
