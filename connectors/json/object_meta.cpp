#include "connectors/json/object_meta.hpp"

#include <algorithm>
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

ObjectMeta read_identity(const Node& object) {
  ObjectMeta out;
  const auto meta = object.object("metadata");
  if (!meta.present()) {
    object.refuse_value("metadata", "an object with a name");
    return out;
  }
  out.namespace_ = meta.text("namespace", limits::namespace_name);
  out.name = meta.required_text("name");
  out.uid = meta.text("uid", limits::uid);
  out.resource_version = version_of(meta.text("resourceVersion"));
  out.generation = meta.int64("generation").value_or(0);
  out.created = meta.time("creationTimestamp");
  out.deleting = meta.has("deletionTimestamp");
  return out;
}

ObjectMeta read_meta(const Node& object) {
  auto out = read_identity(object);
  const auto meta = object.object("metadata");
  for (const auto finalizer : meta.texts("finalizers", limits::finalizers)) out.in_use_finalizer |= finalizer == in_use_finalizer;
  // Each of them that is read is looked for among all.
  (void)meta.count("labels", limits::labels);
  (void)meta.count("annotations", limits::labels);
  return out;
}

void check_gates(const Node& meta, std::string_view key, Text value) {
  const auto names = static_cast<std::size_t>(std::count(value.begin(), value.end(), ',')) + (value.empty() ? 0 : 1);
  if (names > limits::gates.size()) meta.object("annotations").refuse_beyond(key, names, limits::gates);
}

}  // namespace hindsight::connectors
