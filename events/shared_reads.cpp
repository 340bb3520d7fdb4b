#include "events/shared_reads.hpp"

#include <algorithm>
#include <utility>

namespace hindsight::events {
namespace {

Position last_of(const RecordBatch& batch) { return batch[batch.size() - 1].offset; }

}  // namespace

Result<void> SharedReads::read(Position from, const ReadLimits& limits, RecordBatch& out) {
  // The first batch that does not end before `from`: it has that record, or the next one that there is, or a later one.
  const auto it = std::ranges::lower_bound(kept_, from, {}, last_of);
  if (it != kept_.end() && (*it)[0].offset <= from) {
    out.clear();
    for (std::size_t i = 0; i < it->size(); ++i)
      if (const StoredRecord record = (*it)[i]; record.offset >= from) out.add(record, record.offset);
    return {};
  }
  if (auto ok = log_.read(from, limits, out); !ok) return ok;
  if (out.empty()) return {};
  read_from_log_ += out.size();
  RecordBatch copy;
  const bool overlaps = it != kept_.end() && (*it)[0].offset <= last_of(out);
  if (overlaps) return {};  // what lies behind is kept already
  for (const auto& record : out) copy.add(record, record.offset);
  kept_.insert(it, std::move(copy));
  return {};
}

void SharedReads::forget_before(Position position) {
  while (!kept_.empty() && last_of(kept_.front()) < position) kept_.pop_front();
}

}  // namespace hindsight::events
