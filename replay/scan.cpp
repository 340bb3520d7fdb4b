#include "replay/scan.hpp"

#include <algorithm>

#include "events/record.hpp"
#include "replay/past.hpp"

namespace hindsight::replay {

Result<void> scan(const events::Log& log, const std::string& domain, events::Position from, events::Position to,
                  const std::function<bool(const events::StoredRecord&, const RecordView&)>& see,
                  const std::function<void(std::uint64_t, std::uint64_t)>& progress,
                  const std::function<void(const events::StoredRecord&, const Error&)>& unreadable) {
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
      if (!record) {
        const auto set_aside = log.quarantined();
        if (!set_aside) return tl::unexpected(set_aside.error());
        if (find_quarantined(*set_aside, stored) == nullptr) return at_record(log, stored.offset, record.error());
        if (unreadable) unreadable(stored, record.error());
        continue;
      }
      if (!see(stored, **record)) return {};
    }
  }
  return {};
}

const events::QuarantinedRecord* find_quarantined(const std::vector<events::QuarantinedRecord>& list, const events::StoredRecord& record) {
  const bool counted = record.sequence != numbered_by_reader;
  const auto it = std::ranges::find_if(list, [&](const events::QuarantinedRecord& q) {
    return q.domain == record.domain && (counted ? q.sequence == record.sequence : q.position == record.offset);
  });
  return it == list.end() ? nullptr : &*it;
}

}  // namespace hindsight::replay
