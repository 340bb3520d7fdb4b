#include "replay/compare.hpp"

#include <algorithm>
#include <type_traits>

#include "events/decision_fields.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::replay {
namespace {

using events::Fields;
using events::Registered;

template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<List<T>> = true;
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

struct Difference {
  std::string field, recorded, computed;
};

/// "pod_set" → "podSet", as `log cat` prints it.
std::string api_field_name(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '_') {
      out += name[i];
    } else if (i + 1 < name.size()) {
      out += static_cast<char>(name[++i] - 'a' + 'A');
    }
  }
  return out;
}

template <class T>
std::string text_of(const T& value) {
  if constexpr (std::is_same_v<T, Text>) {
    return "\"" + std::string(value) + "\"";
  } else if constexpr (std::is_same_v<T, Time>) {
    return value.is_set() ? format_rfc3339_micro(value) : "never";
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(events::api_name(value));
  } else if constexpr (is_optional<T>) {
    return value ? text_of(*value) : "unset";
  } else if constexpr (is_list<T>) {
    return std::to_string(value.size()) + (value.size() == 1 ? " entry" : " entries");
  } else {
    return std::to_string(value);
  }
}

template <class T>
std::optional<Difference> compare(const T& recorded, const T& computed) {
  if constexpr (Registered<T>) {
    std::optional<Difference> out;
    events::for_each_field<T>([&](auto, const auto& f) {
      if (out) return;
      out = compare(recorded.*f.member, computed.*f.member);
      if (!out) return;
      const bool nested = !out->field.empty() && out->field.front() != '[';
      out->field = api_field_name(f.name) + (nested ? "." : "") + out->field;
    });
    return out;
  } else if constexpr (is_list<T>) {
    for (std::size_t i = 0; i < std::min(recorded.size(), computed.size()); ++i) {
      auto found = compare(recorded[i], computed[i]);
      if (!found) continue;
      const bool nested = !found->field.empty() && found->field.front() != '[';
      found->field = "[" + std::to_string(i) + "]" + (nested ? "." : "") + found->field;
      return found;
    }
    if (recorded.size() == computed.size()) return std::nullopt;
    return Difference{{}, text_of(recorded), text_of(computed)};
  } else if constexpr (std::is_same_v<T, Text>) {
    if (recorded == computed) return std::nullopt;
    // Builds up to 0.1 recorded the messages of conditions whole, and cut them where they were applied (BA-21).
    if (recorded.size() > limits::condition_message.size() && condition_message(recorded) == computed) return std::nullopt;
    return Difference{{}, text_of(recorded), text_of(computed)};
  } else {
    if (recorded == computed) return std::nullopt;
    return Difference{{}, text_of(recorded), text_of(computed)};
  }
}

std::string kind_of(const Event& e) {
  return std::visit([]<class T>(const T&) { return std::string(Fields<T>::table); }, e);
}

/// "QuotaReserved of default/w1"
std::string name_of(const Event& e) {
  std::string out = kind_of(e);
  std::visit(
      [&]<class T>(const T& event) {
        if constexpr (requires { event.workload; }) {
          out += " of " + std::string(event.workload.namespace_) + "/" + std::string(event.workload.name);
        } else if constexpr (requires { event.job; }) {
          out += " of " + std::string(event.job.kind) + " " + std::string(event.job.namespace_) + "/" + std::string(event.job.name);
        }
      },
      e);
  return out;
}

}  // namespace

std::optional<StepDifference> first_difference(const Decisions& recorded, const Decisions& computed) {
  if (recorded.step != computed.step && !computed.events.empty()) {
    return StepDifference{0, {}, "step", text_of(recorded.step), text_of(computed.step)};
  }
  const std::size_t both = std::min(recorded.events.size(), computed.events.size());
  for (std::size_t i = 0; i < both; ++i) {
    const Event& mine = recorded.events[i];
    const Event& other = computed.events[i];
    if (mine.index() != other.index()) return StepDifference{i, kind_of(mine), "event", name_of(mine), name_of(other)};
    auto found = std::visit([&]<class T>(const T& e) { return compare(e, std::get<T>(other)); }, mine);
    if (found) return StepDifference{i, kind_of(mine), std::move(found->field), std::move(found->recorded), std::move(found->computed)};
  }
  if (recorded.events.size() == computed.events.size()) return std::nullopt;
  const bool more = recorded.events.size() > both;
  const Event& extra = more ? recorded.events[both] : computed.events[both];
  return StepDifference{both, kind_of(extra), "event", more ? name_of(extra) : "no event", more ? "no event" : name_of(extra)};
}

}  // namespace hindsight::replay
