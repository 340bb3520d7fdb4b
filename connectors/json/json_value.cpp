#include "connectors/json/json_value.hpp"

#include <limits>
#include <string>

#include "connectors/json/document.hpp"

namespace hindsight::connectors {

using simdjson::dom::element;
using simdjson::dom::element_type;

namespace {

/// By recursion, as nlohmann writes it, too. What is deeper stands in nothing that this software looks at.
constexpr int levels_max = 1024;

Json copy(element value, int levels) {
  if (levels == 0) return nullptr;
  switch (value.type()) {
    case element_type::STRING:
      return std::string(std::string_view(value));
    case element_type::INT64:
      return std::int64_t(value);
    case element_type::UINT64:
      return std::uint64_t(value);
    case element_type::DOUBLE:
      return double(value);
    case element_type::BOOL:
      return bool(value);
    case element_type::NULL_VALUE:
      return nullptr;
    case element_type::ARRAY: {
      Json out = Json::array();
      for (const auto item : simdjson::dom::array(value)) out.push_back(copy(item, levels - 1));
      return out;
    }
    case element_type::OBJECT: {
      Json out = Json::object();
      for (const auto field : simdjson::dom::object(value)) out[std::string(field.key)] = copy(field.value, levels - 1);
      return out;
    }
  }
  return nullptr;
}

}  // namespace

Json to_json(element value) { return copy(value, levels_max); }

Json from_text(std::string_view text) {
  const auto document = Document::parse(text);
  return document ? to_json(document->root()) : Json(Json::value_t::discarded);
}

std::string to_text(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

const Json* member(const Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto it = object.find(key);
  return it == object.end() || it->is_null() ? nullptr : &*it;
}

const Json& object_or_empty(const Json& object, std::string_view key) {
  static const Json empty = Json::object();
  const auto* value = member(object, key);
  return value == nullptr || !value->is_object() ? empty : *value;
}

const Json& list_or_empty(const Json& object, std::string_view key) {
  static const Json empty = Json::array();
  const auto* value = member(object, key);
  return value == nullptr || !value->is_array() ? empty : *value;
}

std::string_view text_member(const Json& object, std::string_view key) {
  const auto* value = member(object, key);
  return value != nullptr && value->is_string() ? std::string_view(value->get_ref<const std::string&>()) : std::string_view{};
}

std::optional<std::int32_t> int_member(const Json& object, std::string_view key) {
  const auto* value = member(object, key);
  if (value == nullptr || !value->is_number_integer()) return std::nullopt;
  const auto number = value->get<std::int64_t>();
  if (number < std::numeric_limits<std::int32_t>::min() || number > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  return static_cast<std::int32_t>(number);
}

bool flag_member(const Json& object, std::string_view key) {
  const auto* value = member(object, key);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

}  // namespace hindsight::connectors
