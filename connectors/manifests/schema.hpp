#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace hindsight::connectors::manifests {

using Json = nlohmann::json;

enum class FieldType : std::uint8_t {
  object,
  map,  ///< Any keys, values of one type.
  list,
  string,
  int32,
  int64,
  number,
  boolean,
  quantity,  ///< A string or a whole number.
  int_or_string,
  time,  ///< RFC 3339.
  any,   ///< Not looked into.
};

/// The grammar of a string, beyond its length.
enum class Grammar : std::uint8_t { none, dns_subdomain, dns_label, qualified_name, condition_reason };

struct Schema;

/// A field of an object.
struct Field {
  std::string name;
  const Schema* schema = nullptr;
  bool required = false;
};

/// What an object, a list or a value of the API may look like: the part of an OpenAPI schema that the kinds here need.
struct Schema {
  FieldType type = FieldType::object;
  std::vector<Field> fields;             ///< Of an object, sorted by name.
  const Schema* element = nullptr;       ///< Of a list or the values of a map.
  std::vector<std::string> keys;         ///< A list whose elements are told apart by these fields.
  bool set = false;                      ///< A list whose elements are all different.
  std::vector<std::string> allowed;      ///< The only values of a string; empty: any.
  std::optional<std::int64_t> min, max;  ///< Of a number; of the length of a string, list or map.
  Grammar grammar = Grammar::none;
  std::optional<Json> default_value;
  bool holds_defaults = false;  ///< Something at or below has a default.

  [[nodiscard]] const Field* field(std::string_view name) const;
};

/// What is wrong with a field, in the terms of the API server's causes.
enum class ProblemKind : std::uint8_t {
  unknown_field,
  type,
  required,
  not_supported,
  invalid,
  too_long,
  too_many,
  duplicate,
  forbidden,
  not_found
};

struct Problem {
  ProblemKind kind = ProblemKind::invalid;
  std::string field;    ///< "spec.resourceGroups[0].flavors[1].name".
  std::string found;    ///< As JSON, shortened; empty: nothing.
  std::string message;  ///< What is allowed, one clause.
};

/// The API server's words for a problem: "spec.x: Unsupported value: "y": supported values: …".
[[nodiscard]] std::string describe(const Problem& problem);
/// A value as JSON of at most 120 characters.
[[nodiscard]] std::string shortened(const Json& value);

enum class UnknownFields : std::uint8_t { ignored, reported };

/// More than this of one object is not told: whoever wrote it could make it take any time and memory.
inline constexpr std::size_t problems_max = 1000;

/// Appends everything in which `value` differs from `schema`, up to problems_max; `path` is the field that it stands in.
void check(const Schema& schema, const Json& value, std::string_view path, UnknownFields unknown, std::vector<Problem>& problems);

/// How the API server keeps objects of a kind.
enum class Form : std::uint8_t {
  custom,    ///< As the schema says, with its defaults.
  built_in,  ///< Empty lists, maps and texts are absent, amounts are text; defaults are not the schema's business.
};

/// Drops fields that the schema does not know and nulls, and puts in defaults, in the order of the API server.
void normalise(const Schema& schema, Json& value, Form form);

/// The named types that are written in the table language below.
///
///     @Name                          a named type, an object; its fields follow, indented by two spaces a level
///       a!, b  string max=63         fields of one type; `!`: required
///       c      list(name)            children are the fields of its elements, told apart by `name`
///       d      list<@Other> min=1    a list of a named type; also set<T>, map<T>, @Other
///       e      enum=A|B default="A"  a string; a default is JSON without spaces
///
/// Types: string dns label qualified reason int32 int64 number bool quantity intOrString time any object.
class SchemaTable {
 public:
  /// Reads the texts. A mistake in them is a bug and throws std::logic_error.
  explicit SchemaTable(const std::vector<std::string_view>& texts);

  /// The named type; a bug where there is none.
  [[nodiscard]] const Schema& at(std::string_view name) const;
  [[nodiscard]] bool contains(std::string_view name) const;

 private:
  friend class SchemaReader;
  std::deque<Schema> nodes_;
  std::map<std::string, Schema*, std::less<>> named_;
};

}  // namespace hindsight::connectors::manifests
