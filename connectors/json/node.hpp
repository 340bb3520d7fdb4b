#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <simdjson.h>

#include "vocabulary/amount.hpp"
#include "vocabulary/arena.hpp"
#include "vocabulary/limits.hpp"
#include "vocabulary/observations.hpp"
#include "vocabulary/result.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::connectors {

class Node;

/// What a reader did not take.
struct Refusal {
  std::string field;  ///< "spec.podSets[0].count"; empty: the whole object.
  std::string found, allowed;
  bool beyond_limit = false;  ///< Else it is not as the API has it.

  /// "spec.podSets[0].count: found "a", allowed: an integer"
  [[nodiscard]] std::string text() const {
    return (field.empty() ? std::string() : field + ": ") + "found " + found + ", allowed: " + allowed;
  }
};

/// The reading of one object. The first thing that is not as the API has it, or beyond a limit (vocabulary/limits.hpp), is kept as the
/// error; from then on everything reads as absent, so that a reader asks once, at the end. Fields that nobody asks for are not looked at.
class Reading {
 public:
  /// `what` names the object in errors: "Workload default/wl-a".
  Reading(Arena& arena, simdjson::dom::element root, std::string what);

  [[nodiscard]] Node root();
  [[nodiscard]] Arena& arena() { return *arena_; }
  [[nodiscard]] bool failed() const { return refusal_.has_value(); }
  /// "<what>: <path>: found <found>, allowed: <allowed>"
  [[nodiscard]] Error take_error();
  [[nodiscard]] Refusal take_refusal() { return std::move(*refusal_); }
  /// Keeps the refusal of another reading that was made for this one, unless something was found before.
  void adopt(Refusal refusal) {
    if (!refusal_) refusal_ = std::move(refusal);
  }

  /// Keeps it, unless something was found before.
  void refuse(std::int32_t frame, std::string_view key, std::string_view found, std::string_view allowed, bool beyond_limit = false);

  /// A step of the path to a node: a member, or (with an empty key) an element of a list. Returns its number.
  std::int32_t push(std::int32_t parent, std::string_view key, std::int64_t index);

  /// "spec.podSets[0].count".
  [[nodiscard]] std::string path(std::int32_t frame, std::string_view key) const;

 private:
  struct Frame {
    std::int32_t parent;
    std::int64_t index;  ///< −1: a member.
    std::string_view key;
  };

  Arena* arena_;
  simdjson::dom::element root_;
  std::string what_;
  std::vector<Frame> frames_;
  std::optional<Refusal> refusal_;
};

/// What was found, for an error: texts in quotes and cut, numbers as they are, "an object", "a list".
[[nodiscard]] std::string shown(simdjson::dom::element value);

/// An object inside the object being read, or nothing. All functions take the name of a member; an absent member and one that is
/// null are the same.
class Node {
 public:
  Node() = default;  ///< Nothing: everything in it is absent.

  [[nodiscard]] bool present() const { return reading_ != nullptr; }
  [[nodiscard]] simdjson::dom::element value() const { return element_; }
  [[nodiscard]] Reading& reading() const { return *reading_; }
  [[nodiscard]] bool has(std::string_view key) const;
  /// The member itself, whatever it is.
  [[nodiscard]] std::optional<simdjson::dom::element> raw(std::string_view key) const;

  [[nodiscard]] Node object(std::string_view key) const;
  /// Every text and every list has a limit; what is beyond it is refused.
  [[nodiscard]] Text text(std::string_view key, const limits::Limit& limit = limits::text) const;
  [[nodiscard]] Text required_text(std::string_view key, const limits::Limit& limit = limits::name) const;
  /// What somebody wrote for people; a longer one than `limit` is cut.
  [[nodiscard]] Text message(std::string_view key, const limits::Limit& limit = limits::message) const;
  [[nodiscard]] bool flag(std::string_view key, bool fallback = false) const;
  [[nodiscard]] std::optional<bool> flag_if_set(std::string_view key) const;
  [[nodiscard]] std::optional<std::int32_t> int32(std::string_view key, std::int32_t min = std::numeric_limits<std::int32_t>::min()) const;
  [[nodiscard]] std::int32_t int32_or(std::string_view key, std::int32_t fallback, std::int32_t min = 0) const;
  [[nodiscard]] std::optional<std::int64_t> int64(std::string_view key) const;
  [[nodiscard]] Time time(std::string_view key) const;  ///< RFC 3339; never when absent.
  /// A quantity of `resource`: a text, or a number as YAML writers leave it.
  [[nodiscard]] std::optional<Amount> quantity(std::string_view key, std::string_view resource) const;
  /// A quantity in units of 10⁻⁹.
  [[nodiscard]] std::optional<std::int64_t> nano(std::string_view key) const;

  [[nodiscard]] List<Text> texts(std::string_view key, const limits::Limit& limit = limits::list,
                                 const limits::Limit& each = limits::value) const;
  /// A map of texts, sorted by key.
  [[nodiscard]] List<Pair> pairs(std::string_view key, const limits::Limit& limit = limits::labels) const;
  [[nodiscard]] List<ResourceAmount> amounts(std::string_view key) const;  ///< A resource list, sorted by name.
  [[nodiscard]] List<Pair> quantities(std::string_view key) const;         ///< A resource list as texts, exact, sorted by name.
  /// The value of one member of a map of texts (labels, annotations); nothing when it is absent.
  [[nodiscard]] std::optional<Text> entry(std::string_view map, std::string_view key, const limits::Limit& limit = limits::value) const;

  /// One of a set of texts; `fallback` when absent or empty, an error that lists the set otherwise.
  template <class E>
  [[nodiscard]] E choice(std::string_view key, std::initializer_list<std::pair<std::string_view, E>> allowed, E fallback) const {
    const auto value = plain_text(key);
    if (value.empty()) return fallback;
    for (const auto& [name, e] : allowed)
      if (name == value) return e;
    std::string names;
    for (const auto& [name, e] : allowed) names.append(names.empty() ? "" : ", ").append(name);
    refuse_value(key, names);
    return fallback;
  }

  /// Number of elements of the list or members of the object `key`; 0 when absent.
  [[nodiscard]] std::size_t count(std::string_view key, const limits::Limit& limit = limits::list) const;
  /// Calls f(Node) for every object in the list `key`.
  template <class F>
  void each(std::string_view key, const limits::Limit& limit, F f) const {
    simdjson::dom::array list;
    if (count(key, limit) == 0 || !array(key, list)) return;
    const auto frame = reading_->push(frame_, key, -1);
    std::int64_t i = 0;
    for (const auto item : list) {
      if (const Node node = item_object(frame, i++, item); node.present()) f(node);
    }
  }
  /// Calls f(key, value) for every member of the object `key`.
  template <class F>
  void each_member(std::string_view key, F f) const {
    const Node node = object(key);
    if (!node.present()) return;
    for (const auto field : simdjson::dom::object(node.element_)) f(field.key, field.value);
  }

  /// Reads every object of the list `key` with f(Node) → T.
  template <class T, class F>
  [[nodiscard]] List<T> list(std::string_view key, const limits::Limit& limit, F f) const {
    const auto n = count(key, limit);
    if (n == 0) return {};
    const auto out = reading_->arena().template make<T>(n);
    std::size_t i = 0;
    each(key, limit, [&](const Node& item) { out[i++] = f(item); });
    return out.first(i);
  }

  void refuse_value(std::string_view key, std::string_view allowed) const;
  /// "found 70 elements, allowed: at most 64"
  void refuse_beyond(std::string_view key, std::size_t found, const limits::Limit& limit) const;

 private:
  friend class Reading;
  Node(Reading* reading, simdjson::dom::element element, std::int32_t frame) : reading_(reading), element_(element), frame_(frame) {}

  /// The member when it is there and not null.
  [[nodiscard]] bool find(std::string_view key, simdjson::dom::element& out) const;
  [[nodiscard]] bool array(std::string_view key, simdjson::dom::array& out) const;
  /// Not copied to the arena.
  [[nodiscard]] std::string_view plain_text(std::string_view key, const limits::Limit& limit = limits::text) const;
  /// The object `key` with keys of a length that is allowed, and how many; nothing when it is absent or empty.
  [[nodiscard]] Node map(std::string_view key, const limits::Limit& limit, std::size_t& size) const;
  [[nodiscard]] Node item_object(std::int32_t list_frame, std::int64_t index, simdjson::dom::element item) const;

  Reading* reading_ = nullptr;
  simdjson::dom::element element_;
  std::int32_t frame_ = -1;
};

/// The text of a quantity that may stand as text or number; empty: neither. `buffer` holds the digits of a number.
[[nodiscard]] std::string_view quantity_text(simdjson::dom::element value, std::string& buffer);

}  // namespace hindsight::connectors
