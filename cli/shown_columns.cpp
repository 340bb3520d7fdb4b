#include "cli/shown_columns.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "vocabulary/amount.hpp"

namespace hindsight::cli {
namespace {

constexpr const char* columns_allowed = "; allowed: HEADING:PATH,..., as NAME:.metadata.name,QUEUE:.spec.queueName";

/// Parts between commas that stand in no brackets and no quotation marks.
std::vector<std::string> column_texts(const std::string& text) {
  std::vector<std::string> out{""};
  int depth = 0;
  char quote = '\0';
  for (const char c : text) {
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '[' || c == '(' || c == '{') {
      ++depth;
    } else if (c == ']' || c == ')' || c == '}') {
      --depth;
    } else if (c == ',' && depth <= 0) {
      out.emplace_back();
      continue;
    }
    out.back() += c;
  }
  return out;
}

/// What values are ordered by.
struct SortKey {
  enum class Kind { nothing, number, text };
  Kind kind = Kind::nothing;
  double number = 0;
  std::string text;

  friend bool operator<(const SortKey& a, const SortKey& b) {
    if (a.kind != b.kind) return a.kind < b.kind;
    if (a.kind == Kind::number && a.number != b.number) return a.number < b.number;
    return a.text < b.text;
  }
};

SortKey key_of(const Json& value) {
  SortKey out;
  if (value.is_null()) return out;
  if (value.is_number() || value.is_boolean()) {
    out.kind = SortKey::Kind::number;
    out.number = value.is_boolean() ? (value.get<bool>() ? 1 : 0) : value.get<double>();
    return out;
  }
  out.kind = SortKey::Kind::text;
  out.text = value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (const auto quantity = parse_nano_amount(out.text)) {  // "500m" is less than "1"
    out.kind = SortKey::Kind::number;
    out.number = static_cast<double>(*quantity) / 1e9;
    out.text.clear();
  }
  return out;
}

}  // namespace

Result<CustomColumns> CustomColumns::parse(const std::string& text) {
  CustomColumns out;
  for (const auto& one : column_texts(text)) {
    const auto colon = one.find(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == one.size())
      return fail(ErrorKind::invalid, "--output: custom-columns: found \"" + one + "\"" + columns_allowed);
    auto path = JsonPath::parse_expression(std::string_view(one).substr(colon + 1));
    if (!path) return fail(ErrorKind::invalid, "--output: custom-columns: " + path.error().message);
    out.columns_.push_back({one.substr(0, colon), std::move(*path)});
  }
  return out;
}

Result<projections::Table> CustomColumns::table(const std::vector<const Json*>& objects) const {
  projections::Table out;
  for (const auto& column : columns_) out.columns.push_back({column.heading});
  for (const Json* object : objects) {
    auto& row = out.rows.emplace_back();
    for (const auto& column : columns_) {
      const auto values = column.path.values(*object);
      if (!values) return tl::unexpected(values.error());
      std::string text;
      for (const Json* value : *values) text += (text.empty() ? "" : ",") + (value->is_null() ? std::string("<none>") : value_text(*value));
      row.emplace_back(values->empty() ? std::string("<none>") : std::move(text));
    }
  }
  return out;
}

Result<std::vector<std::size_t>> order_by(const JsonPath& path, const std::string& text, const std::vector<const Json*>& objects) {
  std::vector<SortKey> keys;
  bool any = objects.empty();
  for (const Json* object : objects) {
    const auto values = path.values(*object);
    if (!values) return tl::unexpected(values.error());
    any = any || !values->empty();
    keys.push_back(values->empty() ? SortKey() : key_of(*values->front()));
  }
  if (!any)
    return fail(ErrorKind::invalid,
                "--sort-by: found \"" + text + "\", which none of the objects has; allowed: a field that '-o json' shows");
  std::vector<std::size_t> out(objects.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  std::stable_sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  return out;
}

}  // namespace hindsight::cli
