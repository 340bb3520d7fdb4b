#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "vocabulary/time.hpp"

namespace hindsight::events {

/// Where a record stands in its log: 1, 2, 3, ... without gaps. 0: before the first.
using Position = std::uint64_t;

/// A record on its way into a log. The fields beside the bytes repeat the envelope, so that a log need not decode.
struct EncodedRecord {
  std::string_view domain;
  std::uint64_t sequence = 0;
  std::uint64_t epoch = 0;
  Time time;
  std::span<const std::byte> bytes;
};

/// A record as it stands in a log.
struct StoredRecord : EncodedRecord {
  Position offset = 0;
};

/// Records that own their bytes, in few allocations; reused by clear(). What operator[] gives points into the batch and
/// lives until the next add(), clear() or move. The bytes start at multiples of 16, as RecordReader likes them.
class RecordBatch {
 public:
  void add(const EncodedRecord& record, Position offset = 0);
  void clear();

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] std::size_t bytes() const { return memory_.size(); }  ///< Memory that is in use.
  [[nodiscard]] StoredRecord operator[](std::size_t index) const;
  /// All of them, as `append` takes them.
  [[nodiscard]] std::vector<EncodedRecord> views() const;

  class Iterator {
   public:
    Iterator(const RecordBatch* batch, std::size_t index) : batch_(batch), index_(index) {}
    StoredRecord operator*() const { return (*batch_)[index_]; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const RecordBatch* batch_;
    std::size_t index_;
  };
  [[nodiscard]] Iterator begin() const { return {this, 0}; }
  [[nodiscard]] Iterator end() const { return {this, size()}; }

 private:
  struct Piece {
    std::size_t at = 0;
    std::size_t size = 0;
  };
  struct Entry {
    Piece domain;
    Piece bytes;
    std::uint64_t sequence = 0;
    std::uint64_t epoch = 0;
    Time time;
    Position offset = 0;
  };
  Piece keep(std::span<const std::byte> bytes);
  [[nodiscard]] std::string_view text(Piece piece) const;

  std::vector<std::byte> memory_;
  std::vector<Entry> entries_;
};

}  // namespace hindsight::events
