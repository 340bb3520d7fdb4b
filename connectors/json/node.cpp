#include "connectors/json/node.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "vocabulary/text.hpp"

namespace hindsight::connectors {

using simdjson::dom::element;
using simdjson::dom::element_type;

// ---- reading ----------------------------------------------------------------------------------------------------------------

Reading::Reading(Arena& arena, element root, std::string what) : arena_(&arena), root_(root), what_(std::move(what)) {
  frames_.reserve(128);
}

Node Reading::root() {
  if (!root_.is_object()) {
    refuse(-1, "", shown(root_), "an object");
    return {};
  }
  return {this, root_, -1};
}

void Reading::refuse(std::int32_t frame, std::string_view key, std::string_view found, std::string_view allowed, bool beyond_limit) {
  if (refusal_) return;
  refusal_ = Refusal{cut_message(path(frame, key), limits::value.size()), std::string(found), std::string(allowed), beyond_limit};
}

Error Reading::take_error() { return {ErrorKind::invalid, what_ + ": " + refusal_->text()}; }

std::int32_t Reading::push(std::int32_t parent, std::string_view key, std::int64_t index) {
  frames_.push_back({parent, index, key});
  return static_cast<std::int32_t>(frames_.size()) - 1;
}

std::string Reading::path(std::int32_t frame, std::string_view key) const {
  std::vector<const Frame*> steps;
  for (auto i = frame; i >= 0; i = frames_[static_cast<std::size_t>(i)].parent) steps.push_back(&frames_[static_cast<std::size_t>(i)]);
  std::string out;
  const auto member = [&](std::string_view name) {
    // Keys that would read as a path of their own stand in brackets: metadata.labels[kueue.x-k8s.io/queue-name].
    if (name.find_first_of("./") != std::string_view::npos) {
      out.append("[").append(name).append("]");
    } else {
      out.append(out.empty() ? "" : ".").append(name);
    }
  };
  for (auto it = steps.rbegin(); it != steps.rend(); ++it) {
    if ((*it)->index >= 0) {
      out.append("[").append(std::to_string((*it)->index)).append("]");
    } else {
      member((*it)->key);
    }
  }
  if (!key.empty()) member(key);
  return out;
}

std::string shown(element value) {
  constexpr std::size_t longest = 80;
  switch (value.type()) {
    case element_type::OBJECT:
      return "an object";
    case element_type::ARRAY:
      return "a list";
    case element_type::NULL_VALUE:
      return "null";
    default:
      break;
  }
  auto text = simdjson::minify(value);
  if (text.size() <= longest) return text;
  return cut_message(text, longest + 4) + "\"";
}

// ---- members ----------------------------------------------------------------------------------------------------------------

bool Node::find(std::string_view key, element& out) const {
  if (reading_ == nullptr || reading_->failed()) return false;
  for (const auto field : simdjson::dom::object(element_)) {
    if (field.key != key) continue;
    out = field.value;
    return !out.is_null();
  }
  return false;
}

bool Node::has(std::string_view key) const {
  element e;
  return find(key, e);
}

std::optional<element> Node::raw(std::string_view key) const {
  element e;
  if (!find(key, e)) return std::nullopt;
  return e;
}

Node Node::object(std::string_view key) const {
  element e;
  if (!find(key, e)) return {};
  if (!e.is_object()) {
    reading_->refuse(frame_, key, shown(e), "an object");
    return {};
  }
  return {reading_, e, reading_->push(frame_, key, -1)};
}

bool Node::array(std::string_view key, simdjson::dom::array& out) const {
  element e;
  if (!find(key, e)) return false;
  if (e.get(out) == simdjson::SUCCESS) return true;
  reading_->refuse(frame_, key, shown(e), "a list");
  return false;
}

Node Node::item_object(std::int32_t list_frame, std::int64_t index, element item) const {
  if (reading_->failed()) return {};
  const auto frame = reading_->push(list_frame, {}, index);
  if (item.is_object()) return {reading_, item, frame};
  reading_->refuse(frame, "", shown(item), "an object");
  return {};
}

std::size_t Node::count(std::string_view key, const limits::Limit& limit) const {
  element e;
  if (!find(key, e)) return 0;
  // size() of simdjson saturates at 2^24 - 1, far above every limit.
  std::size_t n = 0;
  if (simdjson::dom::object map; e.get(map) == simdjson::SUCCESS)
    n = map.size();
  else if (simdjson::dom::array list; array(key, list))
    n = list.size();
  if (n <= limit.size()) return n;
  refuse_beyond(key, n, limit);
  return 0;
}

std::string_view Node::plain_text(std::string_view key, const limits::Limit& limit) const {
  element e;
  if (!find(key, e)) return {};
  std::string_view value;
  if (e.get(value) != simdjson::SUCCESS) {
    reading_->refuse(frame_, key, shown(e), "a text");
    return {};
  }
  if (value.size() <= limit.size()) return value;
  refuse_beyond(key, value.size(), limit);
  return {};
}

void Node::refuse_beyond(std::string_view key, std::size_t found, const limits::Limit& limit) const {
  if (reading_ == nullptr) return;
  const std::string unit = " " + std::string(limits::name_of(limit.unit));
  reading_->refuse(frame_, key, std::to_string(found) + unit, "at most " + std::to_string(limit.most) + unit, true);
}

void Node::refuse_value(std::string_view key, std::string_view allowed) const {
  element e;
  if (find(key, e)) {
    reading_->refuse(frame_, key, shown(e), allowed);
  } else if (reading_ != nullptr) {
    reading_->refuse(frame_, key, "nothing", allowed);
  }
}

Text Node::text(std::string_view key, const limits::Limit& limit) const {
  const auto value = plain_text(key, limit);
  return value.empty() ? Text{} : reading_->arena().copy(value);
}

Text Node::message(std::string_view key, const limits::Limit& limit) const {
  const auto value = plain_text(key, limits::object_text);
  if (value.empty()) return {};
  return value.size() <= limit.size() ? reading_->arena().copy(value) : reading_->arena().copy(cut_message(value, limit.size()));
}

Text Node::required_text(std::string_view key, const limits::Limit& limit) const {
  const auto value = text(key, limit);
  if (value.empty()) refuse_value(key, "a text that is not empty");
  return value;
}

std::optional<bool> Node::flag_if_set(std::string_view key) const {
  element e;
  if (!find(key, e)) return std::nullopt;
  bool value = false;
  if (e.get(value) == simdjson::SUCCESS) return value;
  reading_->refuse(frame_, key, shown(e), "true, false");
  return std::nullopt;
}

bool Node::flag(std::string_view key, bool fallback) const { return flag_if_set(key).value_or(fallback); }

std::optional<std::int64_t> Node::int64(std::string_view key) const {
  element e;
  if (!find(key, e)) return std::nullopt;
  std::int64_t value = 0;
  if (e.get(value) == simdjson::SUCCESS) return value;
  reading_->refuse(frame_, key, shown(e), "an integer");
  return std::nullopt;
}

std::optional<std::int32_t> Node::int32(std::string_view key, std::int32_t min) const {
  element e;
  if (!find(key, e)) return std::nullopt;
  constexpr auto max = std::numeric_limits<std::int32_t>::max();
  std::int64_t value = 0;
  if (e.get(value) == simdjson::SUCCESS && value >= min && value <= max) return static_cast<std::int32_t>(value);
  reading_->refuse(frame_, key, shown(e), "an integer from " + std::to_string(min) + " to " + std::to_string(max));
  return std::nullopt;
}

std::int32_t Node::int32_or(std::string_view key, std::int32_t fallback, std::int32_t min) const {
  return int32(key, min).value_or(fallback);
}

Time Node::time(std::string_view key) const {
  const auto value = plain_text(key);
  if (value.empty()) return Time::never();
  const auto parsed = parse_rfc3339(value);
  if (parsed) return *parsed;
  refuse_value(key, "a time such as 2026-01-01T00:00:00Z");
  return Time::never();
}

std::string_view quantity_text(element value, std::string& buffer) {
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) return text;
  std::array<char, 48> digits{};
  std::to_chars_result end{};
  if (std::int64_t i = 0; value.get(i) == simdjson::SUCCESS) {
    end = std::to_chars(digits.begin(), digits.end(), i);
  } else if (double d = 0; value.is_double() && value.get(d) == simdjson::SUCCESS) {
    end = std::to_chars(digits.begin(), digits.end(), d);
  } else if (std::uint64_t u = 0; value.get(u) == simdjson::SUCCESS) {
    end = std::to_chars(digits.begin(), digits.end(), u);
  } else {
    return {};
  }
  buffer.assign(digits.data(), end.ptr);
  return buffer;
}

std::optional<Amount> Node::quantity(std::string_view key, std::string_view resource) const {
  element e;
  if (!find(key, e)) return std::nullopt;
  std::string buffer;
  const auto text = quantity_text(e, buffer);
  if (text.size() > limits::quantity.size()) {
    refuse_beyond(key, text.size(), limits::quantity);
    return std::nullopt;
  }
  if (const auto value = parse_quantity(text, resource)) return *value;
  reading_->refuse(frame_, key, shown(e), "a quantity such as 500m, 2 or 1Gi");
  return std::nullopt;
}

std::optional<std::int64_t> Node::nano(std::string_view key) const {
  element e;
  if (!find(key, e)) return std::nullopt;
  std::string buffer;
  const auto text = quantity_text(e, buffer);
  if (text.size() > limits::quantity.size()) {
    refuse_beyond(key, text.size(), limits::quantity);
    return std::nullopt;
  }
  if (const auto value = parse_nano(text)) return *value;
  reading_->refuse(frame_, key, shown(e), "a quantity such as 500m or 2");
  return std::nullopt;
}

// ---- lists and maps ---------------------------------------------------------------------------------------------------------

List<Text> Node::texts(std::string_view key, const limits::Limit& limit, const limits::Limit& each) const {
  simdjson::dom::array list;
  const auto n = count(key, limit);
  if (n == 0 || !array(key, list)) return {};
  const auto out = reading_->arena().make<Text>(n);
  std::size_t i = 0;
  for (const auto item : list) {
    const Node here(reading_, item, reading_->push(reading_->push(frame_, key, -1), {}, static_cast<std::int64_t>(i)));
    std::string_view value;
    if (item.get(value) != simdjson::SUCCESS) {
      reading_->refuse(here.frame_, "", shown(item), "a text");
      return {};
    }
    if (value.size() > each.size()) {
      here.refuse_beyond("", value.size(), each);
      return {};
    }
    out[i++] = reading_->arena().copy(value);
  }
  return out;
}

Node Node::map(std::string_view key, const limits::Limit& limit, std::size_t& size) const {
  size = count(key, limit);
  const Node map = size == 0 ? Node() : object(key);
  if (!map.present()) return {};
  for (const auto member : simdjson::dom::object(map.element_)) {
    if (member.key.size() <= limits::key.size()) continue;
    map.refuse_beyond(cut_text(member.key, limits::key.size()), member.key.size(), limits::key);
    return {};
  }
  return map;
}

List<Pair> Node::pairs(std::string_view key, const limits::Limit& limit) const {
  std::size_t n = 0;
  const Node members = map(key, limit, n);
  if (!members.present()) return {};
  const auto out = reading_->arena().make<Pair>(n);
  std::size_t i = 0;
  for (const auto member : simdjson::dom::object(members.element_)) {
    const auto value = members.text(member.key, limits::value);
    if (reading_->failed()) return {};
    out[i++] = {reading_->arena().copy(member.key), value};
  }
  std::stable_sort(out.begin(), out.end(), [](const Pair& a, const Pair& b) { return a.key < b.key; });
  return out;
}

List<ResourceAmount> Node::amounts(std::string_view key) const {
  std::size_t n = 0;
  const Node members = map(key, limits::resources, n);
  if (!members.present()) return {};
  const auto out = reading_->arena().make<ResourceAmount>(n);
  std::size_t i = 0;
  for (const auto member : simdjson::dom::object(members.element_)) {
    const auto amount = members.quantity(member.key, member.key);
    if (!amount) continue;
    if (*amount < 0) members.refuse_value(member.key, "a quantity that is not negative");
    out[i++] = {reading_->arena().copy(member.key), *amount};
  }
  const auto read = out.first(i);
  std::stable_sort(read.begin(), read.end(), [](const ResourceAmount& a, const ResourceAmount& b) { return a.resource < b.resource; });
  return read;
}

List<Pair> Node::quantities(std::string_view key) const {
  std::size_t n = 0;
  const Node members = map(key, limits::resources, n);
  if (!members.present()) return {};
  const auto out = reading_->arena().make<Pair>(n);
  std::size_t i = 0;
  for (const auto member : simdjson::dom::object(members.element_)) {
    if (!members.quantity(member.key, member.key)) continue;
    std::string buffer;
    out[i++] = {reading_->arena().copy(member.key), reading_->arena().copy(quantity_text(member.value, buffer))};
  }
  const auto read = out.first(i);
  std::stable_sort(read.begin(), read.end(), [](const Pair& a, const Pair& b) { return a.key < b.key; });
  return read;
}

std::optional<Text> Node::entry(std::string_view map, std::string_view key, const limits::Limit& limit) const {
  const Node node = object(map);
  element e;
  if (!node.find(key, e)) return std::nullopt;
  return node.text(key, limit);
}

}  // namespace hindsight::connectors
