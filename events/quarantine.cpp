#include "events/quarantine.hpp"

#include "events/log.hpp"
#include "events/record.hpp"
#include "events/record_kind.hpp"
#include "schemas/envelope_generated.h"

namespace hindsight::events {

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
