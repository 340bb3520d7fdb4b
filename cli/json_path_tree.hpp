#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/json_path.hpp"

namespace hindsight::cli {

// A JSONPath after it was read. Nothing outside of cli/json_path*.cpp includes this.

struct JsonPathExpression;

/// `left operator right` between the parentheses of a filter.
struct JsonPathFilter {
  enum class Operator { exists, equal, not_equal, less, at_most, more, at_least };
  struct Side {
    std::unique_ptr<JsonPathExpression> path;  ///< Null: it is `literal`.
    Json literal;
  };
  Operator op = Operator::exists;
  Side left, right;
};

struct JsonPathStep {
  enum class Kind {
    field,
    slice,     ///< Elements from `from` to before `to`; one element is a slice, too.
    wildcard,  ///< All elements, or all values of an object.
    any_of,    ///< What each of the steps `parts` gives.
    filter,
    descend,  ///< The value itself and all below it.
  };
  Kind kind = Kind::field;
  std::string name;
  std::optional<std::int64_t> from, to;
  std::int64_t stride = 1;
  bool single = false;  ///< "[2]", and no slice.
  std::vector<JsonPathStep> parts;
  std::shared_ptr<const JsonPathFilter> filter;
};

struct JsonPathExpression {
  bool from_root = false;  ///< It begins with `$`.
  std::vector<JsonPathStep> steps;
};

/// A part of a template.
struct JsonPathPart {
  enum class Kind { text, expression, range };
  Kind kind = Kind::text;
  std::string text;
  JsonPathExpression expression;
  std::vector<JsonPathPart> inner;  ///< Of a range.
};

struct JsonPathTree {
  std::vector<JsonPathPart> parts;
};

/// Errors: invalid. `expression_only`: there is one, with or without braces.
[[nodiscard]] Result<JsonPathTree> read_json_path(std::string_view text, bool expression_only);

}  // namespace hindsight::cli
