#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <variant>

namespace hindsight::connectors::kubernetes {

/// The text of an object as the mirror keeps it: a short one as it came, a long one compressed, because the API server writes six bytes for
/// a "<" and an object may be full of them. Copies share what they keep. Thread-safe.
class KeptText {
 public:
  using Text = std::shared_ptr<const std::string>;
  /// Texts of more bytes are compressed. Those of usual Jobs and Workloads have some thousand.
  static constexpr std::size_t plain_bytes_max = std::size_t{32} << 10U;

  KeptText() = default;  ///< Of nothing.
  explicit KeptText(Text text);

  [[nodiscard]] bool is_null() const { return !is_packed() && *plain() == nullptr; }
  [[nodiscard]] bool is_packed() const { return std::holds_alternative<PackedPointer>(content_); }
  /// Null, or a text without a character.
  [[nodiscard]] bool is_empty() const { return is_null() || (!is_packed() && (*plain())->empty()); }
  /// What it keeps in memory.
  [[nodiscard]] std::size_t bytes() const;
  /// The text, to the byte; a long one is made anew unless somebody holds it from the last time. So two callers who hold the same version
  /// of an object hold the same pointer.
  [[nodiscard]] Text get() const;

 private:
  struct Packed;
  using PackedPointer = std::shared_ptr<const Packed>;
  [[nodiscard]] const Text* plain() const { return std::get_if<Text>(&content_); }
  [[nodiscard]] const Packed* packed() const { return is_packed() ? std::get<PackedPointer>(content_).get() : nullptr; }

  std::variant<Text, PackedPointer> content_;
};

}  // namespace hindsight::connectors::kubernetes
