#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hindsight::page::timeline {

static_assert(std::endian::native == std::endian::little, "numbers of these files are written as they stand in memory");

/// Puts numbers and texts one behind the other.
class ByteWriter {
 public:
  template <class Number>
  requires std::is_integral_v<Number>
  void put(Number value) {
    const auto at = bytes_.size();
    bytes_.resize(at + sizeof value);
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }
  void put(std::string_view text) {
    put(static_cast<std::uint32_t>(text.size()));
    put_raw(std::as_bytes(std::span(text)));
  }
  void put_raw(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// Takes them off again. What is not there is 0 or empty, and `good()` is false from then on.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : left_(bytes) {}

  template <class Number>
  [[nodiscard]] Number take() {
    Number out = 0;
    const auto from = take_raw(sizeof out);
    if (good_) std::memcpy(&out, from.data(), sizeof out);
    return out;
  }
  [[nodiscard]] std::string take_text() {
    const auto from = take_raw(take<std::uint32_t>());
    return {reinterpret_cast<const char*>(from.data()), from.size()};
  }
  [[nodiscard]] std::span<const std::byte> take_raw(std::size_t count) {
    if (count > left_.size()) {
      good_ = false;
      left_ = {};
    }
    const auto out = left_.first(good_ ? count : 0);
    left_ = left_.subspan(out.size());
    return out;
  }
  /// How many of so many bytes follow; more than there can be is none.
  [[nodiscard]] std::size_t take_count(std::size_t bytes_each) {
    const auto out = take<std::uint64_t>();
    if (out > left_.size() / bytes_each) good_ = false;
    return good_ ? static_cast<std::size_t>(out) : 0;
  }
  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] bool at_end() const { return good_ && left_.empty(); }

 private:
  std::span<const std::byte> left_;
  bool good_ = true;
};

}  // namespace hindsight::page::timeline
