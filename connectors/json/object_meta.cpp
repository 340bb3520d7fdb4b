#include "connectors/json/object_meta.hpp"

#include <charconv>

namespace hindsight::connectors {
namespace {

/// Resource versions are opaque by contract and decimal by practice; one that is not decimal counts as unknown.
std::uint64_t version_of(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : 0;
}

}  // namespace

std::string object_title(std::string_view kind, simdjson::dom::element object) {
  std::string out(kind);
  simdjson::dom::object root;
  simdjson::dom::element metadata;
  simdjson::dom::object meta;
  if (object.get(root) != simdjson::SUCCESS || root.at_key("metadata").get(metadata) != simdjson::SUCCESS ||
      metadata.get(meta) != simdjson::SUCCESS) {
    return out;
  }
  std::string_view name;
  std::string_view ns;
  if (meta.at_key("name").get(name) != simdjson::SUCCESS) return out;
  out += ' ';
  if (meta.at_key("namespace").get(ns) == simdjson::SUCCESS && !ns.empty()) out.append(ns).append("/");
  return out.append(name);
}

ObjectMeta read_meta(const Node& object) {
  ObjectMeta out;
  const auto meta = object.object("metadata");
  if (!meta.present()) {
    object.refuse_value("metadata", "an object with a name");
    return out;
  }
  out.namespace_ = meta.text("namespace");
  out.name = meta.required_text("name");
  out.uid = meta.text("uid");
  out.resource_version = version_of(meta.text("resourceVersion"));
  out.generation = meta.int64("generation").value_or(0);
  out.created = meta.time("creationTimestamp");
  out.deleting = meta.has("deletionTimestamp");
  for (const auto finalizer : meta.texts("finalizers")) out.in_use_finalizer |= finalizer == in_use_finalizer;
  return out;
}

}  // namespace hindsight::connectors
