#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "vocabulary/arena.hpp"
#include "vocabulary/record.hpp"
#include "vocabulary/record_order.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::events {

/// Version of schemas/ that this build writes, and the newest that it reads. Rises by one with every release whose schemas
/// differ from those of the release before.
inline constexpr std::uint32_t schema_version = 2;

/// The longest record that a log takes. Far above what one step decides; a limit against runaway input.
inline constexpr std::size_t record_bytes_max = std::size_t{64} << 20;

/// A decoded record that owns its bytes. Immutable, to be shared between threads; strings of the view point into the bytes.
class Record {
 public:
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

  [[nodiscard]] const RecordView& view() const { return view_; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return {memory_.get(), size_}; }

 private:
  friend Result<std::shared_ptr<const Record>> decode(std::span<const std::byte> bytes);
  explicit Record(std::span<const std::byte> bytes);

  std::size_t size_;
  std::unique_ptr<std::byte[]> memory_;  // the bytes, then room for the arena
  Arena arena_;
  RecordView view_;
};

/// Reads one record; the bytes are verified and copied. Errors: corrupt (does not verify, or says what no writer says);
/// unsupported (written with a newer schema version, or with a body, event or enum value that this build does not know).
[[nodiscard]] Result<std::shared_ptr<const Record>> decode(std::span<const std::byte> bytes);

/// Reads records one after another into memory that it uses again: the way for folds. Not thread-safe.
class RecordReader {
 public:
  RecordReader();
  RecordReader(const RecordReader&) = delete;
  RecordReader& operator=(const RecordReader&) = delete;

  /// The view stays valid until the next call, and only while `bytes` does. Errors: as `decode`.
  [[nodiscard]] Result<const RecordView*> read(std::span<const std::byte> bytes);
  /// Gives the view its sequence, if the reader has to number it (vocabulary/record_order.hpp). For those who look at a record after it was
  /// applied: whether it counts is to be judged before.
  void number(std::uint64_t sequence) {
    if (view_.envelope.sequence == numbered_by_reader) view_.envelope.sequence = sequence;
  }

 private:
  std::vector<std::byte> first_block_;
  std::vector<std::byte> aligned_;  // copies of bytes that do not start at a multiple of eight
  Arena arena_;
  RecordView view_;
};

/// Writes records one after another with one builder. Not thread-safe.
class Encoder {
 public:
  Encoder();
  ~Encoder();
  Encoder(Encoder&&) noexcept;
  Encoder& operator=(Encoder&&) noexcept;

  /// The bytes of the record, valid until the next call. Equal records give equal bytes within one build.
  [[nodiscard]] std::span<const std::byte> encode(const RecordView& record) &;

 private:
  class Writer;
  std::unique_ptr<Writer> writer_;
};

/// One record with an encoder of its own; for a single record.
[[nodiscard]] std::vector<std::byte> encode(const RecordView& record);

}  // namespace hindsight::events
