#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/output.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::cli {

struct JsonPathTree;

/// How much of a JSONPath is taken, and how much one may give: whoever types it cannot take all memory.
struct JsonPathLimits {
  static constexpr std::size_t text = 4096;        ///< Bytes.
  static constexpr std::size_t nesting = 16;       ///< Of ranges in ranges, and of filters in filters.
  static constexpr std::size_t visited = 1 << 24;  ///< Values that one evaluation looks at.
  static constexpr std::size_t output = 1 << 28;   ///< Bytes that one evaluation prints.
};

/// JSONPath as kubectl has it: `.field`, `['field']`, `[0]`, `[-1]`, `[1:3]`, `[*]`, `.*`, `..field`, `['a','b']`, `[?(@.x=="y")]` (==, !=,
/// <, <=, >, >=, or only that it is there), `$` for the whole document; in templates also {range ...}{end} and {"quoted text"}. What is not
/// there gives nothing and is no error.
class JsonPath {
 public:
  /// Text with expressions in braces, or an expression alone. Errors: invalid, with the place, what was found and what is allowed.
  [[nodiscard]] static Result<JsonPath> parse_template(std::string_view text);
  /// One expression: ".a.b", "a.b", "{.a.b}". Errors: as above.
  [[nodiscard]] static Result<JsonPath> parse_expression(std::string_view text);

  /// What a template prints of a document; several values stand with blanks between. Texts of the document are as `printable` shows them.
  /// Errors: invalid (a comparison of several values, or more than the limits allow).
  [[nodiscard]] Result<std::string> print(const Json& document) const;
  /// The values that an expression finds, in the order of the document; they live as long as it does. Errors: as above.
  [[nodiscard]] Result<std::vector<const Json*>> values(const Json& document) const;

 private:
  explicit JsonPath(std::shared_ptr<const JsonPathTree> tree) : tree_(std::move(tree)) {}
  std::shared_ptr<const JsonPathTree> tree_;
};

/// One value as a line of text shows it: a text as it is, everything else as JSON; printable.
[[nodiscard]] std::string value_text(const Json& value);

}  // namespace hindsight::cli
