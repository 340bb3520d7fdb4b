#include "events/log_check.hpp"

namespace hindsight::events {

void RecordChecker::check(const StoredRecord& record, std::vector<Finding>& findings) {
  check_order(record, findings);
  const auto decoded = reader_.read(record.bytes);
  if (!decoded) {
    findings.push_back({record.offset, decoded.error().message});
    return;
  }
  const Envelope& envelope = (*decoded)->envelope;
  const auto differs = [&](const char* field, const std::string& inside, const std::string& beside) {
    findings.push_back({record.offset, "record: " + std::string(field) + " is " + inside + " in its envelope, " + beside + " in the log"});
  };
  if (envelope.domain != record.domain)
    differs("domain", "\"" + std::string(envelope.domain) + "\"", "\"" + std::string(record.domain) + "\"");
  if (envelope.sequence != record.sequence) differs("sequence", std::to_string(envelope.sequence), std::to_string(record.sequence));
  if (envelope.epoch != record.epoch) differs("epoch", std::to_string(envelope.epoch), std::to_string(record.epoch));
  if (envelope.time != record.time) differs("time", std::to_string(envelope.time.micros), std::to_string(record.time.micros));
}

void RecordChecker::check_order(const StoredRecord& record, std::vector<Finding>& findings) {
  auto it = tails_.find(record.domain);
  if (it == tails_.end()) it = tails_.emplace(record.domain, DomainTail{.domain = std::string(record.domain)}).first;
  DomainTail& tail = it->second;
  const std::string domain = "domain \"" + std::string(record.domain) + "\": ";
  const bool counts_on = gap_ ? record.sequence > tail.sequence : record.sequence == tail.sequence + 1;
  if (!counts_on) {
    findings.push_back(
        {record.offset, domain + "sequence " + std::to_string(record.sequence) + " follows " + std::to_string(tail.sequence)});
  }
  if (record.epoch < tail.epoch) {
    findings.push_back({record.offset, domain + "epoch " + std::to_string(record.epoch) + " follows " + std::to_string(tail.epoch)});
  }
  tail.sequence = record.sequence;
  tail.epoch = record.epoch;
  tail.offset = record.offset;
}

}  // namespace hindsight::events
