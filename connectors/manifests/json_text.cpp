#include "connectors/manifests/json_text.hpp"

#include <optional>
#include <string>
#include <utility>

#include <simdjson.h>

namespace hindsight::connectors::manifests {
namespace {

/// Builds the tree; keeps what is wrong with the text.
class Builder {
 public:
  Json build(simdjson::dom::element value, int depth) {
    switch (value.type()) {
      case simdjson::dom::element_type::OBJECT:
        return object(simdjson::dom::object(value), depth);
      case simdjson::dom::element_type::ARRAY:
        return list(simdjson::dom::array(value), depth);
      case simdjson::dom::element_type::STRING: {
        const std::string_view text(value);
        return Json(std::string(text));
      }
      case simdjson::dom::element_type::INT64:
        return Json(std::int64_t(value));
      case simdjson::dom::element_type::UINT64:
        return Json(std::uint64_t(value));
      case simdjson::dom::element_type::DOUBLE:
        return Json(double(value));
      case simdjson::dom::element_type::BOOL:
        return Json(bool(value));
      case simdjson::dom::element_type::NULL_VALUE:
        return Json(nullptr);
    }
    return Json(nullptr);
  }

  [[nodiscard]] const std::optional<std::string>& mistake() const { return mistake_; }

 private:
  bool too_deep(int depth) {
    if (depth < max_depth) return false;
    mistake_ = "is nested deeper than " + std::to_string(max_depth) + " levels";
    return true;
  }

  Json object(simdjson::dom::object members, int depth) {
    Json out = Json::object();
    if (too_deep(depth)) return out;
    auto& map = out.get_ref<Json::object_t&>();
    for (const auto [key, value] : members) {
      const auto size = map.size();
      map.emplace_hint(map.end(), std::string(key), build(value, depth + 1));
      if (map.size() == size) mistake_ = "member \"" + std::string(key) + "\" stands twice in one object";
      if (mistake_) break;
    }
    return out;
  }

  Json list(simdjson::dom::array items, int depth) {
    Json out = Json::array();
    if (too_deep(depth)) return out;
    auto& list = out.get_ref<Json::array_t&>();
    list.reserve(items.size());
    for (const auto item : items) {
      list.push_back(build(item, depth + 1));
      if (mistake_) break;
    }
    return out;
  }

  std::optional<std::string> mistake_;
};

}  // namespace

Result<Json> parse_json(std::string_view text) {
  // Parsers keep their buffers, so that reading many small texts does not allocate for each.
  thread_local simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (const auto error = parser.parse(text.data(), text.size()).get(root); error != simdjson::SUCCESS)
    return fail(ErrorKind::invalid, std::string("not a JSON text: ") + simdjson::error_message(error));
  Builder builder;
  Json tree = builder.build(root, 0);
  if (builder.mistake()) return fail(ErrorKind::invalid, "JSON text " + *builder.mistake());
  return tree;
}

}  // namespace hindsight::connectors::manifests
