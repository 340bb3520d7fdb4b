#pragma once

// Short records for tests of logs, and logs as texts to compare.

#include <cstdint>
#include <string>
#include <vector>

#include "events/log.hpp"

namespace hindsight::test {

/// Records with short made-up bytes; the texts that the views point to live here.
class Records {
 public:
  Records& add(const std::string& domain, std::uint64_t sequence, std::uint64_t epoch = 1, std::int64_t micros = 0,
               std::string bytes = "") {
    if (bytes.empty()) bytes = domain + "#" + std::to_string(sequence);
    batch_.add({domain, sequence, epoch, Time{micros}, std::as_bytes(std::span(bytes))});
    return *this;
  }
  /// `n` records of one domain with sequences from `first`; times count on by one microsecond.
  static Records run(const std::string& domain, std::uint64_t first, std::size_t n) {
    Records out;
    for (std::size_t i = 0; i < n; ++i) out.add(domain, first + i, 1, static_cast<std::int64_t>(first + i));
    return out;
  }

  [[nodiscard]] std::vector<events::EncodedRecord> list() const { return batch_.views(); }
  [[nodiscard]] const events::RecordBatch& batch() const { return batch_; }

 private:
  events::RecordBatch batch_;
};

inline std::string text(const events::StoredRecord& record) {
  return std::to_string(record.offset) + " " + std::string(record.domain) + " " + std::to_string(record.sequence) + " e" +
         std::to_string(record.epoch) + " t" + std::to_string(record.time.micros) + " " +
         std::string(reinterpret_cast<const char*>(record.bytes.data()), record.bytes.size());
}

/// Everything that can be read from `from` on, in the pieces that the limits give.
inline std::vector<std::string> read_all(const events::Log& log, events::Position from = 1, events::ReadLimits limits = {}) {
  std::vector<std::string> out;
  events::RecordBatch batch;
  for (;;) {
    const auto read = log.read(from, limits, batch);
    if (!read) {
      out.push_back("error: " + read.error().message);
      return out;
    }
    if (batch.empty()) return out;
    for (const auto& record : batch) out.push_back(text(record));
    from = batch[batch.size() - 1].offset + 1;
  }
}

}  // namespace hindsight::test
