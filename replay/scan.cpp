#include "replay/scan.hpp"

#include <algorithm>

#include "events/record.hpp"
#include "replay/past.hpp"

namespace hindsight::replay {

Result<void> scan(const events::Log& log, const std::string& domain, events::Position from, events::Position to,
                  const std::function<bool(const events::StoredRecord&, const RecordView&)>& see,
                  const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
  events::RecordBatch batch;
  events::RecordReader reader;
  if (from <= 1) {  // whatever that is
    const auto kept = log.first();
    if (!kept) return tl::unexpected(kept.error());
    from = *kept;
  }
  const events::Position first = from;
  for (events::Position at = first; at <= to;) {
    if (progress) progress(at - first, to - first + 1);
    if (auto ok = log.read(at, {}, batch); !ok) return ok;
    if (batch.empty()) break;
    for (const auto& stored : batch) {
      if (stored.offset > to) return {};
      at = stored.offset + 1;
      if (!domain.empty() && stored.domain != domain) continue;
      const auto record = reader.read(stored.bytes);
      if (!record) return at_record(log, stored.offset, record.error());
      if (!see(stored, **record)) return {};
    }
  }
  return {};
}

}  // namespace hindsight::replay
