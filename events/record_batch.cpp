#include "events/record_batch.hpp"

namespace hindsight::events {

RecordBatch::Piece RecordBatch::keep(std::span<const std::byte> bytes) {
  const Piece piece{(memory_.size() + 15) / 16 * 16, bytes.size()};
  memory_.resize(piece.at);
  memory_.insert(memory_.end(), bytes.begin(), bytes.end());
  return piece;
}

std::string_view RecordBatch::text(Piece piece) const { return {reinterpret_cast<const char*>(memory_.data()) + piece.at, piece.size}; }

void RecordBatch::add(const EncodedRecord& record, Position offset) {
  Entry entry{.sequence = record.sequence, .epoch = record.epoch, .time = record.time, .offset = offset};
  const bool same_domain = !entries_.empty() && text(entries_.back().domain) == record.domain;
  entry.domain = same_domain ? entries_.back().domain : keep(std::as_bytes(std::span(record.domain)));
  entry.bytes = keep(record.bytes);
  entries_.push_back(entry);
}

void RecordBatch::clear() {
  memory_.clear();
  entries_.clear();
}

StoredRecord RecordBatch::operator[](std::size_t index) const {
  const Entry& entry = entries_[index];
  StoredRecord out;
  out.domain = text(entry.domain);
  out.sequence = entry.sequence;
  out.epoch = entry.epoch;
  out.time = entry.time;
  out.bytes = std::span(memory_).subspan(entry.bytes.at, entry.bytes.size);
  out.offset = entry.offset;
  return out;
}

std::vector<EncodedRecord> RecordBatch::views() const {
  std::vector<EncodedRecord> out;
  out.reserve(size());
  for (const auto& record : *this) out.push_back(record);
  return out;
}

}  // namespace hindsight::events
