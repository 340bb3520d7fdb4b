#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hindsight::connectors::kubernetes {

/// A resourceVersion in a number. They are decimal numbers that grow (Kubernetes API concepts, since 1.35); anything else, which no API
/// server of Kubernetes makes, is told apart by a hash, and counts as later than whatever was there before it.
class ObjectVersion {
 public:
  ObjectVersion() = default;  ///< None, which is older than all.
  explicit ObjectVersion(std::string_view text);

  [[nodiscard]] bool empty() const { return bits_ == 0; }
  /// All that it is; for who keeps it in fewer bytes.
  [[nodiscard]] std::uint64_t bits() const { return bits_; }
  /// Empty also of one that is no number.
  [[nodiscard]] std::string text() const { return empty() || is_other() ? std::string() : std::to_string(bits_); }
  [[nodiscard]] bool is_later_than(ObjectVersion than) const {
    if (empty() || than.empty()) return !empty();
    return is_other() || than.is_other() ? bits_ != than.bits_ : bits_ > than.bits_;
  }
  friend bool operator==(ObjectVersion, ObjectVersion) = default;

 private:
  static constexpr std::uint64_t other = std::uint64_t{1} << 63U;
  [[nodiscard]] bool is_other() const { return (bits_ & other) != 0; }

  std::uint64_t bits_ = 0;
};

}  // namespace hindsight::connectors::kubernetes
