#include "cli/json_path.hpp"

#include <algorithm>
#include <utility>

#include "cli/json_path_tree.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::cli {
namespace {

using Values = std::vector<const Json*>;
using Step = JsonPathStep;

/// Walks over a document and counts what it looks at.
class JsonPathWalk {
 public:
  explicit JsonPathWalk(const Json& root) : root_(root) {}

  Result<Values> values(const JsonPathExpression& expression, const Json& current) {
    Values at{expression.from_root ? &root_ : &current};
    for (const auto& step : expression.steps) {
      Values next;
      for (const Json* value : at)
        if (auto ok = take(step, *value, next); !ok) return tl::unexpected(ok.error());
      at = std::move(next);
    }
    return at;
  }

  Result<void> print(const std::vector<JsonPathPart>& parts, const Json& current, std::string& out) {
    for (const auto& part : parts) {
      if (part.kind == JsonPathPart::Kind::text) {
        if (auto ok = count(1); !ok) return ok;
        out += printable_text(part.text);
      } else {
        const auto found = values(part.expression, current);
        if (!found) return tl::unexpected(found.error());
        bool first = true;
        for (const Json* value : *found) {
          if (part.kind == JsonPathPart::Kind::range) {
            if (auto ok = print(part.inner, *value, out); !ok) return ok;
          } else {
            out += (first ? "" : " ") + value_text(*value);
          }
          first = false;
          if (out.size() > JsonPathLimits::output) return too_much();
        }
      }
      if (out.size() > JsonPathLimits::output) return too_much();
    }
    return {};
  }

 private:
  static tl::unexpected<Error> too_much() {
    return fail(ErrorKind::invalid, "JSONPath: found more than " + std::to_string(JsonPathLimits::visited) + " values or " +
                                        std::to_string(JsonPathLimits::output) + " bytes in one answer; allowed: a narrower path");
  }
  Result<void> count(std::size_t n) {
    visited_ += n;
    if (visited_ > JsonPathLimits::visited) return too_much();
    return {};
  }

  /// What somebody typed as text between expressions: its lines and tabs are meant.
  static std::string printable_text(const std::string& text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      const auto next = std::min(text.find('\t', at), text.size());
      out += printable_lines(std::string_view(text).substr(at, next - at));
      if (next < text.size()) out += '\t';
      at = next + 1;
    }
    return out;
  }

  /// Adds what a step gives of a value.
  Result<void> take(const Step& step, const Json& value, Values& out) {
    const std::size_t before = out.size();
    switch (step.kind) {
      case Step::Kind::field:
        if (value.is_object())
          if (const auto it = value.find(step.name); it != value.end()) out.push_back(&*it);
        break;
      case Step::Kind::wildcard:
        if (value.is_structured())
          for (const auto& inner : value) out.push_back(&inner);
        break;
      case Step::Kind::slice:
        take_slice(step, value, out);
        break;
      case Step::Kind::any_of:
        for (const auto& part : step.parts)
          if (auto ok = take(part, value, out); !ok) return ok;
        break;
      case Step::Kind::descend:
        return take_all(value, out);
      case Step::Kind::filter:
        if (!value.is_structured()) break;
        for (const auto& inner : value) {
          if (auto ok = count(1); !ok) return ok;
          const auto met = holds(*step.filter, inner);
          if (!met) return tl::unexpected(met.error());
          if (*met) out.push_back(&inner);
        }
        break;
    }
    return count(1 + out.size() - before);
  }

  static void take_slice(const Step& step, const Json& value, Values& out) {
    if (!value.is_array()) return;
    const auto size = static_cast<std::int64_t>(value.size());
    const auto place = [&](std::int64_t index) { return index < 0 ? index + size : index; };
    if (step.single) {
      const auto index = place(*step.from);
      if (index >= 0 && index < size) out.push_back(&value[static_cast<std::size_t>(index)]);
      return;
    }
    const auto from = std::max<std::int64_t>(0, place(step.from.value_or(0)));
    const auto to = std::min(size, step.to ? place(*step.to) : size);
    for (auto i = from; i < to; i += step.stride) out.push_back(&value[static_cast<std::size_t>(i)]);
  }

  /// The value and all below it, from the top; without recursion, because documents may be deep.
  Result<void> take_all(const Json& value, Values& out) {
    Values ahead{&value};
    while (!ahead.empty()) {
      const Json* at = ahead.back();
      ahead.pop_back();
      if (auto ok = count(1); !ok) return ok;
      out.push_back(at);
      if (!at->is_structured()) continue;
      const std::size_t behind = ahead.size();
      for (const auto& inner : *at) ahead.push_back(&inner);
      std::reverse(ahead.begin() + static_cast<std::ptrdiff_t>(behind), ahead.end());
    }
    return {};
  }

  // ---- filters

  Result<bool> holds(const JsonPathFilter& filter, const Json& value) {
    if (filter.op == JsonPathFilter::Operator::exists) {
      if (!filter.left.path) return !filter.left.literal.is_null();
      const auto found = values(*filter.left.path, value);
      if (!found) return tl::unexpected(found.error());
      return !found->empty();
    }
    const auto left = side(filter.left, value);
    if (!left) return tl::unexpected(left.error());
    const auto right = side(filter.right, value);
    if (!right) return tl::unexpected(right.error());
    if (*left == nullptr || *right == nullptr) return false;  // what is not there is not compared
    return compare(filter.op, **left, **right);
  }

  /// Null: it is not there.
  Result<const Json*> side(const JsonPathFilter::Side& side, const Json& value) {
    if (!side.path) return &side.literal;
    const auto found = values(*side.path, value);
    if (!found) return tl::unexpected(found.error());
    if (found->size() > 1)
      return fail(ErrorKind::invalid,
                  "JSONPath: found " + std::to_string(found->size()) + " values on one side of a comparison; allowed: one");
    return found->empty() ? nullptr : found->front();
  }

  static bool compare(JsonPathFilter::Operator op, const Json& a, const Json& b) {
    using Operator = JsonPathFilter::Operator;
    const bool comparable = (a.is_number() && b.is_number()) || (a.is_string() && b.is_string());
    switch (op) {
      case Operator::equal:
        return a == b;
      case Operator::not_equal:
        return a != b;
      case Operator::less:
        return comparable && a < b;
      case Operator::at_most:
        return comparable && a <= b;
      case Operator::more:
        return comparable && a > b;
      case Operator::at_least:
        return comparable && a >= b;
      case Operator::exists:
        break;
    }
    return true;
  }

  const Json& root_;
  std::size_t visited_ = 0;
};

}  // namespace

std::string value_text(const Json& value) {
  if (value.is_string()) return printable(value.get_ref<const std::string&>());
  return to_json_text(value);
}

Result<JsonPath> JsonPath::parse_template(std::string_view text) {
  auto tree = read_json_path(text, false);
  if (!tree) return tl::unexpected(tree.error());
  return JsonPath(std::make_shared<const JsonPathTree>(std::move(*tree)));
}

Result<JsonPath> JsonPath::parse_expression(std::string_view text) {
  auto tree = read_json_path(text, true);
  if (!tree) return tl::unexpected(tree.error());
  return JsonPath(std::make_shared<const JsonPathTree>(std::move(*tree)));
}

Result<std::string> JsonPath::print(const Json& document) const {
  std::string out;
  if (auto ok = JsonPathWalk(document).print(tree_->parts, document, out); !ok) return tl::unexpected(ok.error());
  return out;
}

Result<std::vector<const Json*>> JsonPath::values(const Json& document) const {
  JsonPathWalk walk(document);
  Values out;
  for (const auto& part : tree_->parts) {
    if (part.kind != JsonPathPart::Kind::expression) continue;
    auto found = walk.values(part.expression, document);
    if (!found) return found;
    out.insert(out.end(), found->begin(), found->end());
  }
  return out;
}

}  // namespace hindsight::cli
