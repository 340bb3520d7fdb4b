#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "vocabulary/result.hpp"

namespace hindsight::evidence {

/// One JSON object whose fields are texts and numbers, as the lines of evidence files are. What a hostile line costs is about what it is
/// long: nothing in it may hold anything else, so there is nothing to build.
class FlatObject {
 public:
  /// Errors: invalid (no JSON, no object, a field that stands twice or holds something else than a text or a number, too many fields).
  [[nodiscard]] static Result<FlatObject> parse(std::string_view text);

  [[nodiscard]] bool has(std::string_view field) const { return fields_.find(field) != fields_.end(); }
  /// Errors, here and below: invalid (it is missing, or of another kind; with its name, what was found and what is allowed).
  [[nodiscard]] Result<std::uint64_t> number(std::string_view field) const;
  /// May be negative.
  [[nodiscard]] Result<std::int64_t> integer(std::string_view field) const;
  /// Lives as long as this.
  [[nodiscard]] Result<std::string_view> text(std::string_view field) const;

 private:
  using Value = std::variant<std::uint64_t, std::int64_t, double, std::string>;
  [[nodiscard]] const Value* find(std::string_view field) const;
  std::map<std::string, Value, std::less<>> fields_;
  friend class FlatReader;
};

}  // namespace hindsight::evidence
