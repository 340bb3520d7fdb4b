#include "events/log.hpp"

#include <algorithm>

#include "vocabulary/bytes.hpp"

namespace hindsight::events {

std::string LogSpace::text() const {
  std::string out = human_bytes(used);
  if (limit != 0) out += " of at most " + human_bytes(limit);
  out += " used";
  if (disk != 0) {
    out += ", " + human_bytes(disk_free) + " of the disk free";
    if (disk_free < disk_reserve) out += ", where " + human_bytes(disk_reserve) + " are kept for a trim and a clean end";
  }
  if (write_ahead > write_ahead_expected)
    out +=
        "; " + human_bytes(write_ahead) + " stand in the write-ahead log, which grows while another process keeps a read transaction open";
  return out;
}

Result<Position> Log::first() const {
  const auto cut = trimmed();
  if (!cut) return tl::unexpected(cut.error());
  return *cut ? (*cut)->position + 1 : Position{1};
}

Result<Position> Log::beginning(std::string_view domain) const {
  const auto begin = first();
  if (!begin) return begin;
  if (*begin == 1) return Position{0};
  const auto unknown = [&](const std::string& what) {
    return fail(ErrorKind::not_found,
                "log " + std::string(name()) + ": " + what + "; the first record that is kept is " + std::to_string(*begin));
  };
  const auto cut = trimmed();
  if (!cut) return tl::unexpected(cut.error());
  if (!*cut || (*cut)->position + 1 < *begin)
    return unknown("it has lost its beginning, and not by 'hindsight log trim': whether domain \"" + std::string(domain) +
                   "\" had begun there is not known");
  if (std::ranges::any_of((*cut)->tails, [&](const DomainTail& tail) { return tail.domain == domain; }))
    return unknown("the beginning of domain \"" + std::string(domain) + "\" was trimmed, only its snapshots lead on");
  return *begin - 1;
}

Result<void> Log::put_checkpoint(const evidence::Checkpoint& /*checkpoint*/, std::span<const DomainTail> /*standing*/) {
  return fail(ErrorKind::unsupported, "log " + std::string(name()) + " keeps no checkpoints");
}

Result<void> Log::drop_checkpoint(Position /*position*/) { return {}; }

Result<void> Log::forget(const DomainsAt& /*cut*/) {
  return fail(ErrorKind::unsupported, "log " + std::string(name()) + " keeps every record");
}

Result<void> Log::begin_behind(const DomainsAt& /*cut*/, std::span<const QuarantinedRecord> /*quarantined*/) {
  return fail(ErrorKind::unsupported,
              "log " + std::string(name()) + " always begins with record 1, and cannot take up what begins later; allowed: a file");
}

}  // namespace hindsight::events
