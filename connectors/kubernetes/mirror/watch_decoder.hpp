#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>

#include "connectors/kubernetes/mirror/object_reader.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::connectors::kubernetes {

/// Cuts the newline-delimited stream of a watch into events. Chunks may end anywhere. Not thread-safe.
class WatchDecoder {
 public:
  /// A line longer than `line_bytes_max` is refused, because memory must have a bound. One object must not end the watch of all: the API
  /// server takes at most 3 MiB of it, and writes a byte of a text ("<", a control character) as six at most.
  explicit WatchDecoder(std::size_t line_bytes_max = default_line_bytes_max) : line_bytes_max_(line_bytes_max) {}
  static constexpr std::size_t default_line_bytes_max = std::size_t{24} << 20U;

  void feed(std::string_view bytes);
  /// The next complete event; nothing when more bytes are needed. Its views are valid until the next call. After an error the
  /// stream is of no use any more.
  [[nodiscard]] Result<std::optional<WatchLine>> next();
  /// Bytes that were fed and not yet given out.
  [[nodiscard]] std::size_t pending() const { return size_ - begin_; }
  /// What it has taken of memory for lines.
  [[nodiscard]] std::size_t room() const { return room_; }
  /// Forgets what is left of the stream before.
  void reset() { begin_ = size_ = scanned_ = 0; }

 private:
  struct Free {
    void operator()(char* buffer) const noexcept { std::free(buffer); }
  };
  void make_room(std::size_t bytes);

  std::size_t line_bytes_max_;
  /// [begin_, size_) is unread; at least ObjectReader::padding more bytes follow. From malloc, since realloc makes large ones larger
  /// without a copy: a line of 9 MB costs a third of what it does in a vector, which also writes zeros first.
  std::unique_ptr<char, Free> buffer_;
  std::size_t room_ = 0;
  std::size_t begin_ = 0;
  std::size_t size_ = 0;
  std::size_t scanned_ = 0;  ///< No newline in [begin_, scanned_).
  ObjectReader reader_;
};

}  // namespace hindsight::connectors::kubernetes
