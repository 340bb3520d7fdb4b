#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "connectors/manifests/schema.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::connectors::manifests {

/// Objects and lists may be nested this deep at most; the API server refuses less.
inline constexpr int max_depth = 100;

/// JSON text as a tree. Errors: invalid, for bad syntax, bad UTF-8, a member that stands twice, nesting beyond max_depth.
[[nodiscard]] Result<Json> parse_json(std::string_view text);

/// A JSON object of which one list, a member of a member, may be very long: its elements are made into trees one after the other, so that
/// the memory is that of the text and of one element, whose size has a bound. `text` must outlive it.
class JsonList {
 public:
  /// Of one element, and of all that is not in the list: an object of 3 MiB, which is what the API server takes, has fewer.
  static constexpr std::size_t values_max = 300'000;

  /// Errors as those of parse_json(), but for what is wrong with an element, which next() tells.
  [[nodiscard]] static Result<JsonList> open(std::string_view text, std::string_view outer, std::string_view inner);
  ~JsonList();
  JsonList(JsonList&&) noexcept;
  JsonList& operator=(JsonList&&) noexcept;

  /// Everything else; in place of the list there is an empty one, and something that is no list is there as it is.
  [[nodiscard]] const Json& rest() const;
  /// The next element; nothing: that was all.
  [[nodiscard]] Result<std::optional<Json>> next();

 private:
  struct State;
  explicit JsonList(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace hindsight::connectors::manifests
