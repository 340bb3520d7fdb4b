#include "connectors/manifests/json_views.hpp"

namespace hindsight::connectors::manifests {
namespace {

const Json nothing;

}  // namespace

const Json& member(const Json& parent, std::string_view name) {
  if (!parent.is_object()) return nothing;
  const auto& members = parent.get_ref<const Json::object_t&>();
  const auto it = members.find(name);
  return it == members.end() ? nothing : it->second;
}

const Json& member(const Json& parent, std::string_view name, std::string_view inner) { return member(member(parent, name), inner); }

std::string_view text(const Json& parent, std::string_view name) {
  const Json& value = member(parent, name);
  return value.is_string() ? std::string_view(value.get_ref<const std::string&>()) : std::string_view();
}

std::optional<std::int64_t> number(const Json& parent, std::string_view name) {
  const Json& value = member(parent, name);
  if (!value.is_number_integer()) return std::nullopt;
  return value.get<std::int64_t>();
}

bool flag(const Json& parent, std::string_view name) {
  const Json& value = member(parent, name);
  return value.is_boolean() && value.get<bool>();
}

const Json& condition(const Json& status, std::string_view type) {
  const Json& list = member(status, "conditions");
  if (list.is_array()) {
    for (const auto& item : list)
      if (text(item, "type") == type) return item;
  }
  return nothing;
}

bool condition_is(const Json& status, std::string_view type, std::string_view value) {
  return text(condition(status, type), "status") == value;
}

}  // namespace hindsight::connectors::manifests
