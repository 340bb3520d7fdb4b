#include "events/json.hpp"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "events/decision_fields.hpp"

namespace hindsight::events {
namespace {

using Json = nlohmann::ordered_json;

/// "node_selector" → "nodeSelector", "namespace_" → "namespace".
std::string api_field_name(std::string_view name) {
  std::string out;
  bool capital = false;
  for (const char c : name) {
    if (c == '_') {
      capital = true;
    } else {
      out += capital ? static_cast<char>(c - 'a' + 'A') : c;
      capital = false;
    }
  }
  return out;
}

std::string hex(std::uint64_t value) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
  return text.data();
}

template <class T>
Json object(const T& value);

template <class T>
Json list(List<T> values) {
  Json out = Json::array();
  for (const auto& value : values) {
    if constexpr (std::is_same_v<T, Text>) {
      out.push_back(value);
    } else {
      out.push_back(object(value));
    }
  }
  return out;
}

/// A list that the API writes as a map; one whose keys repeat stays a list, so that nothing is lost.
template <class T, class Key, class Value>
Json map(List<T> values, Key key, Value value) {
  Json out = Json::object();
  for (const auto& entry : values) {
    if (!out.emplace(std::string(key(entry)), value(entry)).second) return list<T>(values);
  }
  return out;
}
Json list_or_map(List<Pair> pairs) {
  return map(
      pairs, [](const Pair& p) { return p.key; }, [](const Pair& p) { return p.value; });
}
Json list_or_map(List<FlavorChoice> choices) {
  return map(
      choices, [](const FlavorChoice& c) { return c.resource; }, [](const FlavorChoice& c) { return c.flavor; });
}
Json list_or_map(List<ResourceAmount> amounts) {
  return map(
      amounts, [](const ResourceAmount& a) { return a.resource; },
      [](const ResourceAmount& a) { return format_amount(a.amount, a.resource); });
}
template <class T>
Json list_or_map(List<T> values) {
  return list(values);
}

/// How one member is written; null: left out.
template <class M>
Json member(std::string_view name, const M& value, const M& fallback) {
  if constexpr (std::is_same_v<M, Text>) {
    return value.empty() ? Json() : Json(value);
  } else if constexpr (std::is_same_v<M, Time>) {
    return value.is_set() ? Json(format_rfc3339_micro(value)) : Json();
  } else if constexpr (std::is_same_v<M, bool>) {
    return value || fallback ? Json(value) : Json();
  } else if constexpr (std::is_same_v<M, std::uint64_t>) {
    if (name.ends_with("_hash")) return value == 0 ? Json() : Json(hex(value));
    if (name == "resource_version") return value == 0 ? Json() : Json(std::to_string(value));  // the API's own form
    return Json(value);
  } else if constexpr (std::is_arithmetic_v<M>) {
    return Json(value);
  } else if constexpr (std::is_enum_v<M>) {
    return api_name(value).empty() ? Json() : Json(api_name(value));
  } else if constexpr (std::is_same_v<M, ConcurrentAdmissionFacts>) {
    return value.enabled ? object(value) : Json();
  } else if constexpr (Registered<M>) {
    return object(value);
  } else if constexpr (requires { value.has_value(); }) {
    return value ? Json(*value) : Json();
  } else {
    return value.empty() ? Json() : list_or_map(value);
  }
}

template <class T>
void add_members(Json& out, const T& value) {
  [[maybe_unused]] static constexpr T defaults{};
  for_each_field<T>([&](auto, const auto& f) {
    Json json = member(f.name, value.*f.member, defaults.*f.member);
    if (!json.is_null()) out[api_field_name(f.name)] = std::move(json);
  });
}

template <class T>
Json object(const T& value) {
  Json out = Json::object();
  add_members(out, value);
  return out;
}

/// Quotas are quantities of the resource beside them.
template <>
Json object(const QuotaFacts& quota) {
  Json out{{"resource", quota.resource}, {"nominalQuota", format_amount(quota.nominal, quota.resource)}};
  if (quota.borrowing_limit) out["borrowingLimit"] = format_amount(*quota.borrowing_limit, quota.resource);
  if (quota.lending_limit) out["lendingLimit"] = format_amount(*quota.lending_limit, quota.resource);
  return out;
}

struct KindAndBody {
  std::string_view kind;
  Json body;
};

KindAndBody describe(const Observation& observation) {
  return std::visit([]<class T>(const T& o) { return KindAndBody{Fields<T>::table, object(o)}; }, observation);
}

KindAndBody describe(const EpochStarted& started) { return {Fields<EpochStarted>::table, object(started)}; }

Json events_json(List<Event> list) {
  Json events = Json::array();
  for (const auto& event : list) {
    Json& out = events.emplace_back(Json::object());
    std::visit(
        [&]<class T>(const T& e) {
          out["event"] = Fields<T>::table;
          add_members(out, e);
        },
        event);
  }
  return events;
}

KindAndBody describe(const Decisions& decisions) {
  return {"Decisions", Json{{"base", decisions.base}, {"step", api_name(decisions.step)}, {"events", events_json(decisions.events)}}};
}

KindAndBody describe(const DecisionsNoted& noted) {
  return {"DecisionsNoted", Json{{"base", noted.base},
                                 {"rules", noted.rules},
                                 {"events", events_json(noted.events)},
                                 {"withdrawn", list(noted.withdrawn)},
                                 {"wouldNot", list(noted.would_not)}}};
}

}  // namespace

std::string to_json(const RecordView& record) {
  const Envelope& envelope = record.envelope;
  Json out{{"domain", envelope.domain}, {"sequence", envelope.sequence}, {"epoch", envelope.epoch}};
  if (envelope.time.is_set()) out["time"] = format_rfc3339_micro(envelope.time);
  if (envelope.cause != 0) out["cause"] = envelope.cause;
  auto [kind, body] = std::visit([](const auto& b) { return describe(b); }, record.body);
  out["kind"] = kind;
  out["body"] = std::move(body);
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace hindsight::events
