#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "connectors/bridge/namespace_turns.hpp"

namespace hindsight::connectors {

/// Bounds what large bodies of writes take that were sent and are not answered: each can have megabytes, where the mirror keeps the object
/// that it was made from compressed. Others wait without a body. Small bodies, nearly all, do not wait. Not thread-safe.
class LargeWrites {
 public:
  static constexpr std::size_t large = std::size_t{32} << 10;

  /// One body more than `bytes_max` may be under way.
  explicit LargeWrites(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  [[nodiscard]] static bool is_large(std::size_t body) { return body > large; }
  /// For another large one.
  [[nodiscard]] bool has_room() const { return bytes_ < bytes_max_; }
  void sent(std::size_t body) { bytes_ += counted(body); }
  void answered(std::size_t body) { bytes_ -= counted(body); }

  void wait(const std::string& namespace_, std::string key) { waiting_.push(namespace_, std::move(key)); }
  /// The next that waits, and does no longer. Nothing: none does, or there is no room.
  [[nodiscard]] std::optional<std::string> next() { return has_room() ? waiting_.pop() : std::nullopt; }
  [[nodiscard]] std::size_t size() const { return waiting_.size(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  [[nodiscard]] static std::size_t counted(std::size_t body) { return is_large(body) ? body : 0; }

  const std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  NamespaceTurns waiting_;
};

}  // namespace hindsight::connectors
