#include "events/domain_tails.hpp"

#include <algorithm>

#include "events/record.hpp"

namespace hindsight::events {

Result<void> DomainTails::advance(const EncodedRecord& record, Position offset) {
  const auto refuse = [&](ErrorKind kind, const std::string& field, std::uint64_t found, const std::string& expected) {
    return fail(kind, "record of domain \"" + std::string(record.domain) + "\": " + field + " is " + std::to_string(found) + ", expected " +
                          expected);
  };
  auto it = tails_.find(record.domain);
  if (it == tails_.end()) it = tails_.emplace(record.domain, DomainTail{.domain = std::string(record.domain)}).first;
  DomainTail& tail = it->second;
  if (record.sequence != numbered_by_reader && record.sequence != tail.sequence + 1) {
    return refuse(ErrorKind::conflict, "sequence", record.sequence, std::to_string(tail.sequence + 1));
  }
  const bool of_nobody = record.sequence == numbered_by_reader && record.epoch == 0;
  if (record.epoch < tail.epoch && !of_nobody) {
    return refuse(ErrorKind::conflict, "epoch", record.epoch, std::to_string(tail.epoch) + " or later");
  }
  if (record.bytes.empty() || record.bytes.size() > record_bytes_max) {
    return refuse(ErrorKind::invalid, "length in bytes", record.bytes.size(), "1 to " + std::to_string(record_bytes_max));
  }
  undo_.push_back({&tail, {{}, tail.sequence, tail.epoch, tail.offset}});
  ++tail.sequence;
  tail.epoch = std::max(tail.epoch, record.epoch);
  tail.offset = offset;
  return {};
}

RecordOrder DomainTails::take(const StoredRecord& record) {
  const RecordOrder order = this->order(record);
  if (order == RecordOrder::passed_over) return order;
  auto it = tails_.find(record.domain);
  if (it == tails_.end()) it = tails_.emplace(record.domain, DomainTail{.domain = std::string(record.domain)}).first;
  DomainTail& tail = it->second;
  tail.sequence = order == RecordOrder::gap ? record.sequence : tail.sequence + 1;
  tail.epoch = std::max(tail.epoch, record.epoch);
  tail.offset = record.offset;
  return order;
}

RecordOrder DomainTails::order(const EncodedRecord& record) const {
  const auto it = tails_.find(record.domain);
  if (it == tails_.end()) return record_order(0, 0, record.sequence, record.epoch);
  return record_order(it->second.sequence, it->second.epoch, record.sequence, record.epoch);
}

void DomainTails::back_to(std::size_t mark) {
  for (; undo_.size() > mark; undo_.pop_back()) {
    const Step& step = undo_.back();
    step.tail->sequence = step.before.sequence;
    step.tail->epoch = step.before.epoch;
    step.tail->offset = step.before.offset;
  }
}

std::vector<const DomainTail*> DomainTails::changed() const {
  std::vector<const DomainTail*> out;
  out.reserve(undo_.size());
  for (const Step& step : undo_) out.push_back(step.tail);
  const auto by_name = [](const DomainTail* a, const DomainTail* b) { return a->domain < b->domain; };
  std::sort(out.begin(), out.end(), by_name);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void DomainTails::set(DomainTail tail) {
  auto name = tail.domain;
  tails_.insert_or_assign(std::move(name), std::move(tail));
}

std::vector<DomainTail> DomainTails::list() const {
  std::vector<DomainTail> out;
  for (const auto& [name, tail] : tails_) {
    if (tail.sequence > 0) out.push_back(tail);
  }
  return out;
}

}  // namespace hindsight::events
