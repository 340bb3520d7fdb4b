#include "events/record_kind.hpp"

#include <cstring>

#include "schemas/envelope_generated.h"

namespace hindsight::events {
namespace {

template <class N>
std::optional<N> number_at(std::span<const std::byte> bytes, std::int64_t at) {
  if (at < 0 || static_cast<std::uint64_t>(at) + sizeof(N) > bytes.size()) return std::nullopt;
  N out = 0;
  std::memcpy(&out, bytes.data() + at, sizeof out);
  return out;
}

}  // namespace

/// The root, its table of fields, the field.
std::optional<std::uint8_t> body_kind(std::span<const std::byte> bytes) {
  const auto root = number_at<std::uint32_t>(bytes, 0);
  if (!root) return std::nullopt;
  const std::int64_t table = *root;
  const auto to_fields = number_at<std::int32_t>(bytes, table);
  if (!to_fields) return std::nullopt;
  const std::int64_t fields = table - *to_fields;
  const auto size = number_at<std::uint16_t>(bytes, fields);
  constexpr std::uint16_t slot = wire::Envelope::VT_BODY_TYPE;
  if (!size || *size < slot + sizeof(std::uint16_t)) return std::nullopt;
  const auto offset = number_at<std::uint16_t>(bytes, fields + slot);
  if (!offset || *offset == 0) return std::nullopt;
  return number_at<std::uint8_t>(bytes, table + *offset);
}

bool is_decision(std::span<const std::byte> bytes) { return body_kind(bytes) == static_cast<std::uint8_t>(wire::Body::Decisions); }

bool starts_epoch(std::span<const std::byte> bytes) { return body_kind(bytes) == static_cast<std::uint8_t>(wire::Body::EpochStarted); }

}  // namespace hindsight::events
