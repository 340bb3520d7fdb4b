#include "connectors/json/node.hpp"

#include <algorithm>
#include <array>
#include <charconv>

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

void Reading::refuse(std::int32_t frame, std::string_view key, std::string_view found, std::string_view allowed) {
  if (error_) return;
  std::string message = what_;
  if (const auto where = path(frame, key); !where.empty()) message.append(": ").append(where);
  message.append(": found ").append(found).append(", allowed: ").append(allowed);
  error_ = Error{ErrorKind::invalid, std::move(message)};
}

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
  std::size_t cut = longest;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U) --cut;
  return text.substr(0, cut) + "...\"";
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

std::size_t Node::count(std::string_view key) const {
  simdjson::dom::array list;
  if (!array(key, list)) return 0;
  // size() of simdjson saturates at 2^24 - 1.
  std::size_t n = 0;
  for ([[maybe_unused]] const auto item : list) ++n;
  return n;
}

std::string_view Node::plain_text(std::string_view key) const {
  element e;
  if (!find(key, e)) return {};
  std::string_view value;
  if (e.get(value) == simdjson::SUCCESS) return value;
  reading_->refuse(frame_, key, shown(e), "a text");
  return {};
}

void Node::refuse_value(std::string_view key, std::string_view allowed) const {
  element e;
  if (find(key, e)) {
    reading_->refuse(frame_, key, shown(e), allowed);
  } else if (reading_ != nullptr) {
    reading_->refuse(frame_, key, "nothing", allowed);
  }
}

Text Node::text(std::string_view key) const {
  const auto value = plain_text(key);
  return value.empty() ? Text{} : reading_->arena().copy(value);
}

Text Node::required_text(std::string_view key) const {
  const auto value = text(key);
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
  if (const auto value = parse_quantity(quantity_text(e, buffer), resource)) return *value;
  reading_->refuse(frame_, key, shown(e), "a quantity such as 500m, 2 or 1Gi");
  return std::nullopt;
}

std::optional<std::int64_t> Node::nano(std::string_view key) const {
  element e;
  if (!find(key, e)) return std::nullopt;
  std::string buffer;
  if (const auto value = parse_nano(quantity_text(e, buffer))) return *value;
  reading_->refuse(frame_, key, shown(e), "a quantity such as 500m or 2");
  return std::nullopt;
}

// ---- lists and maps ---------------------------------------------------------------------------------------------------------

List<Text> Node::texts(std::string_view key) const {
  simdjson::dom::array list;
  const auto n = count(key);
  if (n == 0 || !array(key, list)) return {};
  const auto out = reading_->arena().make<Text>(n);
  std::size_t i = 0;
  for (const auto item : list) {
    std::string_view value;
    if (item.get(value) != simdjson::SUCCESS) {
      reading_->refuse(reading_->push(reading_->push(frame_, key, -1), {}, static_cast<std::int64_t>(i)), "", shown(item), "a text");
      return {};
    }
    out[i++] = reading_->arena().copy(value);
  }
  return out;
}

List<Pair> Node::pairs(std::string_view key) const {
  const Node map = object(key);
  if (!map.present()) return {};
  const simdjson::dom::object members(map.element_);
  std::size_t n = 0;
  for ([[maybe_unused]] const auto member : members) ++n;
  const auto out = reading_->arena().make<Pair>(n);
  std::size_t i = 0;
  for (const auto member : members) {
    std::string_view value;
    if (!member.value.is_null() && member.value.get(value) != simdjson::SUCCESS) {
      reading_->refuse(map.frame_, member.key, shown(member.value), "a text");
      return {};
    }
    out[i++] = {reading_->arena().copy(member.key), reading_->arena().copy(value)};
  }
  std::stable_sort(out.begin(), out.end(), [](const Pair& a, const Pair& b) { return a.key < b.key; });
  return out;
}

List<ResourceAmount> Node::amounts(std::string_view key) const {
  const Node map = object(key);
  if (!map.present()) return {};
  const simdjson::dom::object members(map.element_);
  std::size_t n = 0;
  for ([[maybe_unused]] const auto member : members) ++n;
  const auto out = reading_->arena().make<ResourceAmount>(n);
  std::size_t i = 0;
  for (const auto member : members) {
    const auto amount = map.quantity(member.key, member.key);
    if (!amount) continue;
    out[i++] = {reading_->arena().copy(member.key), *amount};
  }
  const auto read = out.first(i);
  std::stable_sort(read.begin(), read.end(), [](const ResourceAmount& a, const ResourceAmount& b) { return a.resource < b.resource; });
  return read;
}

List<Pair> Node::quantities(std::string_view key) const {
  const Node map = object(key);
  if (!map.present()) return {};
  const simdjson::dom::object members(map.element_);
  std::size_t n = 0;
  for ([[maybe_unused]] const auto member : members) ++n;
  const auto out = reading_->arena().make<Pair>(n);
  std::size_t i = 0;
  for (const auto member : members) {
    if (!map.quantity(member.key, member.key)) continue;
    std::string buffer;
    out[i++] = {reading_->arena().copy(member.key), reading_->arena().copy(quantity_text(member.value, buffer))};
  }
  const auto read = out.first(i);
  std::stable_sort(read.begin(), read.end(), [](const Pair& a, const Pair& b) { return a.key < b.key; });
  return read;
}

std::optional<Text> Node::entry(std::string_view map, std::string_view key) const {
  const Node node = object(map);
  element e;
  if (!node.find(key, e)) return std::nullopt;
  return node.text(key);
}

}  // namespace hindsight::connectors
