#include "events/quarantine.hpp"

#include <cstring>

#include "events/log.hpp"
#include "events/record.hpp"
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

/// The kind of body, without a look at anything else: the root, its table of fields, the field.
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

}  // namespace

std::optional<QuarantinedRecord> quarantine_in(const EncodedRecord& record) {
  if (body_kind(record.bytes) != static_cast<std::uint8_t>(wire::Body::RecordQuarantined)) return std::nullopt;
  const auto decoded = decode(record.bytes);
  if (!decoded) return std::nullopt;
  const auto* observation = std::get_if<Observation>(&(*decoded)->view().body);
  const auto* said = observation == nullptr ? nullptr : std::get_if<RecordQuarantined>(observation);
  if (said == nullptr) return std::nullopt;
  return QuarantinedRecord{std::string(record.domain), said->sequence, said->position};
}

Result<std::set<std::uint64_t>> passed_over(const Log& log, std::string_view domain) {
  const auto all = log.quarantined();
  if (!all) return tl::unexpected(all.error());
  std::set<std::uint64_t> out;
  for (const auto& record : *all)
    if (record.domain == domain) out.insert(record.sequence);
  return out;
}

}  // namespace hindsight::events
