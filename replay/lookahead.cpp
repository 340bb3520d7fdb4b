#include "replay/lookahead.hpp"

#include <algorithm>

#include "vocabulary/record_order.hpp"

namespace hindsight::replay {
namespace {

constexpr std::size_t bytes_ahead_max = std::size_t{64} << 20;

}  // namespace

std::optional<events::StoredRecord> Lookahead::next() {
  for (;;) {
    if (!ahead_.empty() && ahead_.front()->given == ahead_.front()->batch.size()) {
      bytes_ahead_ -= ahead_.front()->bytes;
      ahead_.pop_front();
      continue;
    }
    if (ahead_.empty()) {
      if (!read_more()) return std::nullopt;
      continue;
    }
    Ahead& first = *ahead_.front();
    const auto record = first.batch[first.given++];
    if (!decisions_.empty() && decisions_.front().offset <= record.offset) decisions_.pop_front();
    if (record.domain == domain_) return record;
  }
}

std::optional<ComingDecision> Lookahead::next_decision() {
  for (;;) {
    if (!decisions_.empty()) return decisions_.front();
    for (auto& ahead : ahead_) {
      if (scan(*ahead)) return decisions_.front();
    }
    if (bytes_ahead_ > bytes_ahead_max || !read_more()) return std::nullopt;
  }
}

bool Lookahead::has_note_on(std::uint64_t sequence) {
  note_bases_.erase(note_bases_.begin(), note_bases_.lower_bound(sequence));
  return !note_bases_.empty() && *note_bases_.begin() == sequence;
}

bool Lookahead::read_more() {
  if (at_end_) return false;
  auto ahead = std::make_unique<Ahead>();
  if (auto ok = read_(read_to_ + 1, {}, batch_); !ok) {
    error_ = ok.error();
    at_end_ = true;
    return false;
  }
  if (batch_.empty()) {
    at_end_ = true;
    return false;
  }
  read_to_ = batch_[batch_.size() - 1].offset;
  ahead->bytes = batch_.bytes();
  bytes_ahead_ += ahead->bytes;
  // Somebody may look ahead for each of many domains: only its own records stay in memory.
  bool all_own = true;
  for (const auto& record : batch_) all_own = all_own && record.domain == domain_;
  if (all_own) {
    std::swap(ahead->batch, batch_);
  } else {
    for (const auto& record : batch_)
      if (record.domain == domain_) ahead->batch.add(record, record.offset);
  }
  ahead_.push_back(std::move(ahead));
  return true;
}

/// Looks for decisions in the records that were not looked at; true once it has found one.
bool Lookahead::scan(Ahead& ahead) {
  ahead.scanned = std::max(ahead.scanned, ahead.given);
  while (ahead.scanned < ahead.batch.size()) {
    const auto stored = ahead.batch[ahead.scanned++];
    if (stored.domain != domain_) continue;
    // the rules of Domain::begin
    if (record_order(sequence_, epoch_, stored.sequence, stored.epoch) == RecordOrder::passed_over) continue;
    ++sequence_;
    epoch_ = std::max(epoch_, stored.epoch);
    if (set_aside_.contains(sequence_)) continue;
    const auto record = reader_.read(stored.bytes);
    if (!record) continue;  // who applies it will say so
    if (const auto* note = std::get_if<DecisionsNoted>(&(*record)->body)) note_bases_.insert(note->base);
    const auto* decisions = std::get_if<Decisions>(&(*record)->body);
    if (decisions == nullptr || (decisions->base != 0 && decisions->base <= decided_base_)) continue;
    decided_base_ = std::max(decided_base_, decisions->base);
    decisions_.push_back({stored.offset, decisions->base});
    return true;
  }
  return false;
}

}  // namespace hindsight::replay
