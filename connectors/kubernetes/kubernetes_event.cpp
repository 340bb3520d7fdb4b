#include "connectors/kubernetes/kubernetes_event.hpp"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "connectors/kubernetes/api_path.hpp"
#include "connectors/objects/resource_types.hpp"
#include "vocabulary/state_hash.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::connectors::kubernetes {
namespace {

/// Of an API object's name.
constexpr std::size_t name_bytes_max = 253;
constexpr std::size_t hash_digits = 16;

/// The same for equal events, so that a later count finds the Event of the first.
std::string event_name(const KubernetesEvent& event, const std::string& message) {
  StateHash hash;
  hash.add(event.uid);
  hash.add(event.reason);
  hash.add(message);
  hash.add(event.component);
  hash.add(event.first);
  std::array<char, hash_digits + 1> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(hash.value()));
  std::string start(cut_text(event.name, name_bytes_max - hash_digits - 1));
  // A part of a name must end in a letter or digit.
  while (!start.empty() && (start.back() == '.' || start.back() == '-')) start.pop_back();
  return start + "." + digits.data();
}

}  // namespace

Write event_write(const KubernetesEvent& event) {
  const std::string message = cut_message(event.message, limits::event_message.size());
  Write write;
  write.type = &types::event;
  write.namespace_ = event.namespace_.empty() ? "default" : event.namespace_;
  write.name = event_name(event, message);
  if (event.count > 1) {
    write.verb = Write::Verb::merge_patch;
    write.body = nlohmann::json{{"count", event.count}, {"lastTimestamp", format_rfc3339(event.last)}}.dump();
    return write;
  }
  nlohmann::json object = {
      {"kind", std::string(event.type->kind)}, {"apiVersion", group_version(*event.type)}, {"name", event.name}, {"uid", event.uid}};
  if (!event.namespace_.empty()) object["namespace"] = event.namespace_;
  if (!event.resource_version.empty()) object["resourceVersion"] = event.resource_version;
  nlohmann::json body = {
      {"apiVersion", "v1"},
      {"kind", "Event"},
      {"metadata", {{"name", write.name}, {"namespace", write.namespace_}}},
      {"involvedObject", std::move(object)},
      {"reason", event.reason},
      {"message", message},
      {"type", event.is_warning ? "Warning" : "Normal"},
      {"source", {{"component", event.component}}},
      {"firstTimestamp", format_rfc3339(event.first)},
      {"lastTimestamp", format_rfc3339(event.last)},
      {"count", event.count},
  };
  if (!event.action.empty()) body["action"] = event.action;
  write.verb = Write::Verb::create;
  // Texts of users may hold bytes that are no UTF-8; the API takes none of those.
  write.body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return write;
}

}  // namespace hindsight::connectors::kubernetes
