#include "connectors/manifests/json_text.hpp"

#include <limits>
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
    if (++values_ > values_max_ && !mistake_) mistake_ = "has more than " + std::to_string(values_max_) + " values in one object";
    if (mistake_) return nullptr;
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

  /// In place of the list `inner` of the object `outer` there is to be an empty one.
  void leave_out(std::string_view outer, std::string_view inner) {
    outer_ = outer;
    inner_ = inner;
  }
  /// More values than these are a mistake.
  void limit(std::size_t values) { values_max_ = values; }
  [[nodiscard]] const std::optional<simdjson::dom::array>& left_out() const { return left_out_; }

  [[nodiscard]] const std::optional<std::string>& mistake() const { return mistake_; }

 private:
  bool too_deep(int depth) {
    if (depth < max_depth) return false;
    mistake_ = "is nested deeper than " + std::to_string(max_depth) + " levels";
    return true;
  }

  Json member(std::string_view key, simdjson::dom::element value, int depth) {
    if (depth == 1) inside_ = !outer_.empty() && key == outer_;
    if (depth != 2 || !inside_ || key != inner_ || !value.is_array()) return build(value, depth);
    left_out_ = simdjson::dom::array(value);
    return Json::array();
  }

  Json object(simdjson::dom::object members, int depth) {
    Json out = Json::object();
    if (too_deep(depth)) return out;
    auto& map = out.get_ref<Json::object_t&>();
    for (const auto [key, value] : members) {
      const auto size = map.size();
      map.emplace_hint(map.end(), std::string(key), member(key, value, depth + 1));
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
  std::string_view outer_, inner_;  ///< Where the list is that is left out.
  bool inside_ = false;             ///< Of the member `outer_`.
  std::size_t values_ = 0, values_max_ = std::numeric_limits<std::size_t>::max();
  std::optional<simdjson::dom::array> left_out_;
};

/// Parsers keep their buffers, so that reading many small texts does not allocate for each. They are fourteen times as long as the longest
/// text that was read, so a long one gets a parser of its own.
constexpr std::size_t long_text = 256U * 1024U;

tl::unexpected<Error> not_json(simdjson::error_code error) {
  return fail(ErrorKind::invalid, std::string("not a JSON text: ") + simdjson::error_message(error));
}

Result<Json> parse_with(simdjson::dom::parser& parser, std::string_view text) {
  simdjson::dom::element root;
  if (const auto error = parser.parse(text.data(), text.size()).get(root); error != simdjson::SUCCESS) return not_json(error);
  Builder builder;
  Json tree = builder.build(root, 0);
  if (builder.mistake()) return fail(ErrorKind::invalid, "JSON text " + *builder.mistake());
  return tree;
}

}  // namespace

Result<Json> parse_json(std::string_view text) {
  if (text.size() > long_text) {
    simdjson::dom::parser parser;
    return parse_with(parser, text);
  }
  thread_local simdjson::dom::parser parser;
  return parse_with(parser, text);
}

// ---- long lists -------------------------------------------------------------------------------------------------------------------

struct JsonList::State {
  simdjson::dom::parser parser;
  Json rest;
  simdjson::dom::array::iterator at, end;
  bool has_list = false;
};

JsonList::JsonList(std::unique_ptr<State> state) : state_(std::move(state)) {}
JsonList::~JsonList() = default;
JsonList::JsonList(JsonList&&) noexcept = default;
JsonList& JsonList::operator=(JsonList&&) noexcept = default;

const Json& JsonList::rest() const { return state_->rest; }

Result<JsonList> JsonList::open(std::string_view text, std::string_view outer, std::string_view inner) {
  auto state = std::make_unique<State>();
  simdjson::dom::element root;
  if (const auto error = state->parser.parse(text.data(), text.size()).get(root); error != simdjson::SUCCESS) return not_json(error);
  Builder builder;
  builder.leave_out(outer, inner);
  builder.limit(values_max);
  state->rest = builder.build(root, 0);
  if (builder.mistake()) return fail(ErrorKind::invalid, "JSON text " + *builder.mistake());
  if (builder.left_out()) {
    state->has_list = true;
    state->at = builder.left_out()->begin();
    state->end = builder.left_out()->end();
  }
  return JsonList(std::move(state));
}

Result<std::optional<Json>> JsonList::next() {
  if (!state_->has_list || !(state_->at != state_->end)) return std::nullopt;
  Builder builder;
  builder.limit(values_max);
  Json element = builder.build(*state_->at, 3);
  ++state_->at;
  if (builder.mistake()) return fail(ErrorKind::invalid, "JSON text " + *builder.mistake());
  return std::optional<Json>(std::move(element));
}

}  // namespace hindsight::connectors::manifests
