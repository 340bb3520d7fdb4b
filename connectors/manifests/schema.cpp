#include "connectors/manifests/schema.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "connectors/manifests/syntax.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::connectors::manifests {
namespace {

/// Where the walk is, as a chain on the stack: text is made only when there is a problem to tell.
struct Place {
  const Place* parent = nullptr;
  std::string_view name;  ///< Field or key; empty: an index.
  std::size_t index = 0;

  [[nodiscard]] std::string text() const {
    std::string out = parent ? parent->text() : std::string();
    if (parent && name.empty()) return out + "[" + std::to_string(index) + "]";
    if (!out.empty()) out += '.';
    return out.append(name);
  }
};

class Checker {
 public:
  Checker(UnknownFields unknown, std::vector<Problem>& problems) : unknown_(unknown), problems_(problems) {}

  void check(const Schema& schema, const Json& value, const Place& place) {
    switch (schema.type) {
      case FieldType::object:
        return check_object(schema, value, place);
      case FieldType::map:
        return check_map(schema, value, place);
      case FieldType::list:
        return check_list(schema, value, place);
      case FieldType::string:
        return check_string(schema, value, place);
      case FieldType::int32:
        return check_integer(schema, value, place, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max());
      case FieldType::int64:
        return check_integer(schema, value, place, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
      case FieldType::number:
        if (!value.is_number()) wrong_type(value, place, "a number");
        return;
      case FieldType::boolean:
        if (!value.is_boolean()) wrong_type(value, place, "true or false");
        return;
      case FieldType::quantity:
        return check_quantity(value, place);
      case FieldType::int_or_string:
        if (!value.is_number_integer() && !value.is_string()) wrong_type(value, place, "a whole number or a string");
        return;
      case FieldType::time:
        if (!value.is_string()) return wrong_type(value, place, "a time as a string");
        if (!is_time(value.get_ref<const std::string&>()))
          add(ProblemKind::type, value, place, "must be a time such as 2026-01-01T00:00:00Z");
        return;
      case FieldType::any:
        return;
    }
  }

 private:
  void add(ProblemKind kind, const Json& value, const Place& place, std::string message) {
    if (problems_.size() >= problems_max) return;
    problems_.push_back({kind, place.text(), shortened(value), std::move(message)});
  }
  void wrong_type(const Json& value, const Place& place, std::string_view wanted) {
    add(ProblemKind::type, value, place, "must be " + std::string(wanted));
  }

  void check_object(const Schema& schema, const Json& value, const Place& place) {
    if (!value.is_object()) return wrong_type(value, place, "an object");
    // Both sides are sorted by name, so one walk over the two finds what is missing and what is unknown.
    const auto& members = value.get_ref<const Json::object_t&>();
    auto member = members.begin();
    for (const auto& field : schema.fields) {
      while (member != members.end() && member->first < field.name) unknown_field(schema, *member++, place);
      if (member != members.end() && member->first == field.name) {
        if (member->second.is_null()) {
          if (field.required) missing(field, place);
        } else {
          check(*field.schema, member->second, Place{&place, field.name});
        }
        ++member;
      } else if (field.required) {
        missing(field, place);
      }
    }
    while (member != members.end()) unknown_field(schema, *member++, place);
  }

  void missing(const Field& field, const Place& place) {
    if (problems_.size() >= problems_max) return;
    problems_.push_back({ProblemKind::required, Place{&place, field.name}.text(), "", "must be given"});
  }

  void unknown_field(const Schema& schema, const Json::object_t::value_type& member, const Place& place) {
    if (unknown_ == UnknownFields::ignored || problems_.size() >= problems_max) return;
    std::vector<std::string_view> names;
    for (const auto& field : schema.fields) names.push_back(field.name);
    std::string message;
    if (const auto near = nearest(member.first, names); !near.empty()) message = "did you mean \"" + std::string(near) + "\"? ";
    message += "allowed: ";
    for (std::size_t i = 0; i < names.size(); ++i) message.append(i ? ", " : "").append(names[i]);
    if (names.empty()) message += "none";
    problems_.push_back({ProblemKind::unknown_field, Place{&place, member.first}.text(), shortened(member.second), std::move(message)});
  }

  void check_map(const Schema& schema, const Json& value, const Place& place) {
    if (!value.is_object()) return wrong_type(value, place, "an object");
    check_count(schema, value.size(), value, place);
    for (const auto& [key, item] : value.get_ref<const Json::object_t&>()) check(*schema.element, item, Place{&place, key});
  }

  void check_list(const Schema& schema, const Json& value, const Place& place) {
    if (!value.is_array()) return wrong_type(value, place, "a list");
    check_count(schema, value.size(), value, place);
    const auto& items = value.get_ref<const Json::array_t&>();
    for (std::size_t i = 0; i < items.size() && problems_.size() < problems_max; ++i)
      check(*schema.element, items[i], Place{&place, {}, i});
    if (!schema.keys.empty() || schema.set) check_distinct(schema, items, place);
  }

  /// Elements of a set differ, and those of a keyed list differ in their keys.
  void check_distinct(const Schema& schema, const Json::array_t& items, const Place& place) {
    using Key = std::vector<const Json*>;
    const auto before = [](const Key& a, const Key& b) {
      return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](const Json* x, const Json* y) { return *x < *y; });
    };
    std::set<Key, decltype(before)> seen(before);
    for (std::size_t i = 0; i < items.size() && problems_.size() < problems_max; ++i) {
      const Key key = key_of(schema, items[i]);
      if (key.empty() || seen.insert(key).second) continue;
      Json shown = items[i];
      if (!schema.set) {
        shown = Json::object();
        for (std::size_t k = 0; k < key.size(); ++k) shown[schema.keys[k]] = *key[k];
      }
      add(ProblemKind::duplicate, shown, Place{&place, {}, i}, "must be there only once");
    }
  }

  /// What tells an element from others; empty: a key is missing.
  static std::vector<const Json*> key_of(const Schema& schema, const Json& item) {
    if (schema.set) return {&item};
    std::vector<const Json*> key;
    if (!item.is_object()) return key;
    for (const auto& name : schema.keys) {
      const auto it = item.find(name);
      if (it == item.end()) return {};
      key.push_back(&*it);
    }
    return key;
  }

  void check_count(const Schema& schema, std::size_t count, const Json& value, const Place& place) {
    const auto n = static_cast<std::int64_t>(count);
    if (schema.max && n > *schema.max)
      add(ProblemKind::too_many, Json(count), place, "must have at most " + std::to_string(*schema.max) + " items");
    if (schema.min && n < *schema.min)
      add(ProblemKind::invalid, value, place, "should have at least " + std::to_string(*schema.min) + " items");
  }

  void check_string(const Schema& schema, const Json& value, const Place& place) {
    if (!value.is_string()) return wrong_type(value, place, "a string");
    const auto& text = value.get_ref<const std::string&>();
    if (!schema.allowed.empty()) {
      if (std::find(schema.allowed.begin(), schema.allowed.end(), text) != schema.allowed.end()) return;
      std::string message = "supported values: ";
      for (std::size_t i = 0; i < schema.allowed.size(); ++i) message += (i ? ", \"" : "\"") + schema.allowed[i] + "\"";
      return add(ProblemKind::not_supported, value, place, std::move(message));
    }
    const auto length = static_cast<std::int64_t>(characters(text));
    if (schema.max && length > *schema.max)
      return add(ProblemKind::too_long, value, place, "may not be more than " + std::to_string(*schema.max) + " bytes");
    if (schema.min && length < *schema.min)
      return add(ProblemKind::invalid, value, place, "should be at least " + std::to_string(*schema.min) + " chars long");
    switch (schema.grammar) {
      case Grammar::none:
        return;
      case Grammar::dns_subdomain:
        if (!is_dns_subdomain(text))
          add(ProblemKind::invalid, value, place,
              "must be a lowercase RFC 1123 subdomain: at most 253 lower case letters, digits, '-' or '.', "
              "alphanumeric at both ends of each part");
        return;
      case Grammar::dns_label:
        if (!is_dns_label(text))
          add(ProblemKind::invalid, value, place,
              "must be a lowercase RFC 1123 label: at most 63 lower case letters, digits or '-', alphanumeric at both ends");
        return;
      case Grammar::qualified_name:
        if (!is_qualified_name(text))
          add(ProblemKind::invalid, value, place,
              "must be a name of at most 63 letters, digits, '-', '_' or '.' behind an optional DNS prefix and '/'");
        return;
      case Grammar::condition_reason:
        if (!is_condition_reason(text)) add(ProblemKind::invalid, value, place, "must be one word that starts with a letter");
        return;
    }
  }

  /// Unicode characters, as the API server counts them.
  static std::size_t characters(const std::string& text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
  }

  void check_integer(const Schema& schema, const Json& value, const Place& place, std::int64_t least, std::int64_t most) {
    if (!value.is_number_integer()) return wrong_type(value, place, "a whole number");
    const bool beyond = value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(most);
    const std::int64_t n = beyond ? most : value.get<std::int64_t>();
    if (beyond || n < least || n > most)
      return wrong_type(value, place, most > INT32_MAX ? "a 64-bit whole number" : "a 32-bit whole number");
    if (schema.min && n < *schema.min)
      add(ProblemKind::invalid, value, place, "must be greater than or equal to " + std::to_string(*schema.min));
    if (schema.max && n > *schema.max)
      add(ProblemKind::invalid, value, place, "must be less than or equal to " + std::to_string(*schema.max));
  }

  void check_quantity(const Json& value, const Place& place) {
    if (value.is_number_integer()) return;
    if (!value.is_string()) return wrong_type(value, place, "a quantity: a whole number, or a string such as \"500m\" or \"2Gi\"");
    if (!is_quantity(value.get_ref<const std::string&>()))
      add(ProblemKind::type, value, place, "must be a quantity such as \"2\", \"500m\" or \"2Gi\"");
  }

  UnknownFields unknown_;
  std::vector<Problem>& problems_;
};

/// What a built-in kind does not keep.
bool says_nothing(const Schema& schema, const Json& value) {
  switch (schema.type) {
    case FieldType::map:
    case FieldType::list:
      return value.empty();
    case FieldType::string:
      return value.is_string() && value.get_ref<const std::string&>().empty();
    default:
      return false;
  }
}

void normalise_object(const Schema& schema, Json& value, Form form) {
  auto& members = value.get_ref<Json::object_t&>();
  auto member = members.begin();
  for (const auto& field : schema.fields) {
    while (member != members.end() && member->first < field.name) member = members.erase(member);
    const bool there = member != members.end() && member->first == field.name;
    if (there && !member->second.is_null()) {
      normalise(*field.schema, member->second, form);
      if (form == Form::built_in && says_nothing(*field.schema, member->second))
        member = members.erase(member);
      else
        ++member;
      continue;
    }
    if (there) member = members.erase(member);
    if (form == Form::custom && field.schema->default_value) {
      const auto added = members.emplace_hint(member, field.name, *field.schema->default_value);
      normalise(*field.schema, added->second, form);
    }
  }
  members.erase(member, members.end());
}

}  // namespace

const Field* Schema::field(std::string_view name) const {
  const auto it = std::lower_bound(fields.begin(), fields.end(), name, [](const Field& f, std::string_view n) { return f.name < n; });
  return it != fields.end() && it->name == name ? &*it : nullptr;
}

namespace {

constexpr std::size_t shortened_bytes = 120;

/// As dump() writes it, but nothing more once that is long enough: it may be megabytes.
void write_start(const Json& value, std::string& out) {
  const auto dumped = [](const Json& one) { return one.dump(-1, ' ', false, Json::error_handler_t::replace); };
  if (out.size() > shortened_bytes) return;
  if (value.is_string() && value.get_ref<const std::string&>().size() > 4 * shortened_bytes) {
    out += dumped(std::string(cut_text(value.get_ref<const std::string&>(), 4 * shortened_bytes)));
  } else if (!value.is_structured()) {
    out += dumped(value);
  } else {
    out += value.is_array() ? '[' : '{';
    bool first = true;
    for (const auto& item : value.items()) {
      if (out.size() > shortened_bytes) return;
      if (!std::exchange(first, false)) out += ',';
      if (value.is_object()) out.append(dumped(std::string(cut_text(item.key(), 4 * shortened_bytes)))).append(":");
      write_start(item.value(), out);
    }
    out += value.is_array() ? ']' : '}';
  }
}

}  // namespace

std::string shortened(const Json& value) {
  std::string text;
  write_start(value, text);
  if (text.size() > shortened_bytes) text = std::string(cut_text(text, shortened_bytes - 3)) + "...";
  return text;
}

std::string describe(const Problem& problem) {
  std::string text = problem.field + ": ";
  switch (problem.kind) {
    case ProblemKind::unknown_field:
      return text + "unknown field; " + problem.message;
    case ProblemKind::required:
      return text + "Required value" + (problem.message.empty() ? "" : ": " + problem.message);
    case ProblemKind::not_supported:
      text += "Unsupported value: ";
      break;
    case ProblemKind::too_long:
      text += "Too long: ";
      return text + problem.message;
    case ProblemKind::too_many:
      text += "Too many: ";
      break;
    case ProblemKind::duplicate:
      text += "Duplicate value: ";
      break;
    case ProblemKind::not_found:
      text += "Not found: ";
      break;
    case ProblemKind::forbidden:
      return text + "Forbidden: " + problem.message;
    case ProblemKind::type:
    case ProblemKind::invalid:
      text += "Invalid value: ";
      break;
  }
  if (!problem.found.empty()) text += problem.found + (problem.message.empty() ? "" : ": ");
  return text + problem.message;
}

void check(const Schema& schema, const Json& value, std::string_view path, UnknownFields unknown, std::vector<Problem>& problems) {
  Checker(unknown, problems).check(schema, value, Place{nullptr, path});
}

void normalise(const Schema& schema, Json& value, Form form) {
  switch (schema.type) {
    case FieldType::object:
      if (value.is_object()) normalise_object(schema, value, form);
      return;
    case FieldType::map:
      if (value.is_object())
        for (auto& [key, item] : value.get_ref<Json::object_t&>()) normalise(*schema.element, item, form);
      return;
    case FieldType::list:
      if (value.is_array())
        for (auto& item : value.get_ref<Json::array_t&>()) normalise(*schema.element, item, form);
      return;
    case FieldType::quantity:
      if (form == Form::built_in && value.is_number()) value = value.dump();
      return;
    default:
      return;
  }
}

}  // namespace hindsight::connectors::manifests
