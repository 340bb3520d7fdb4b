#include "connectors/objects/observe.hpp"

#include <charconv>
#include <string>
#include <utility>

#include "connectors/jobs/integrations.hpp"
#include "connectors/jobs/observe_job.hpp"
#include "connectors/json/document.hpp"
#include "connectors/json/object_meta.hpp"
#include "connectors/objects/readers.hpp"
#include "connectors/objects/resource_types.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::connectors {
namespace {

Observation read(ObjectKind kind, const Node& object, const JobContext& context) {
  switch (kind) {
    case ObjectKind::resource_flavor:
      return readers::resource_flavor(object);
    case ObjectKind::cluster_queue:
      return readers::cluster_queue(object);
    case ObjectKind::cohort:
      return readers::cohort(object);
    case ObjectKind::local_queue:
      return readers::local_queue(object);
    case ObjectKind::workload_priority_class:
      return readers::workload_priority_class(object);
    case ObjectKind::priority_class:
      return readers::priority_class(object);
    case ObjectKind::namespace_:
      return readers::namespace_(object);
    case ObjectKind::admission_check:
      return readers::admission_check(object);
    case ObjectKind::topology:
      return readers::topology(object);
    case ObjectKind::node:
      return readers::node(object);
    case ObjectKind::pod:
      return readers::pod(object);
    case ObjectKind::workload:
      return readers::workload(object, context);
    default:
      return MirrorSynced{};  // not reached: observe() has refused the others
  }
}

/// An object of another kind or version would read as one without fields.
void check_identity(const ResourceType& type, const Node& object) {
  if (const auto kind = object.text("kind"); !kind.empty() && kind != type.kind) object.refuse_value("kind", type.kind);
  if (const auto version = object.text("apiVersion"); !version.empty() && version != api_version(type))
    object.refuse_value("apiVersion", api_version(type));
}

Error unsupported(const ResourceType& type) {
  return {ErrorKind::unsupported, "kind " + std::string(type.kind) + " of group \"" + std::string(type.group) + "\" has no observation"};
}

Result<Document> parse(const ResourceType& type, std::string_view text) {
  auto document = Document::parse(text);
  if (!document) return fail(document.error().kind, std::string(type.kind) + ": " + document.error().message);
  return document;
}

}  // namespace

Result<Observation> observe(const ResourceType& type, simdjson::dom::element object, Arena& arena, const JobContext& context) {
  const auto kind = object_kind(type);
  if (kind == ObjectKind::job) {
    auto job = observe_job(*find_integration(type.kind, type.group), object, arena, context);
    if (!job) return tl::unexpected(std::move(job.error()));
    return Observation(*job);
  }
  if (kind == ObjectKind::unspecified) return tl::unexpected(unsupported(type));
  Reading reading(arena, object, object_title(type.kind, object));
  const auto root = reading.root();
  if (!root.present()) return tl::unexpected(reading.take_error());
  check_identity(type, root);
  auto out = read(kind, root, context);
  if (reading.failed()) return tl::unexpected(reading.take_error());
  return out;
}

Result<Observation> observe_text(const ResourceType& type, std::string_view text, Arena& arena, const JobContext& context) {
  const auto document = parse(type, text);
  if (!document) return tl::unexpected(document.error());
  return observe(type, document->root(), arena, context);
}

namespace {

/// Who an object is, whatever else it holds.
struct Identity {
  std::string_view namespace_, name, uid, version;
};

std::optional<Identity> identify(simdjson::dom::element object) {
  simdjson::dom::object meta;
  if (object["metadata"].get(meta) != simdjson::SUCCESS) return std::nullopt;
  Identity out;
  const auto read = [&](const char* key, std::string_view& value) {
    if (meta.at_key(key).get(value) != simdjson::SUCCESS) value = {};
  };
  read("namespace", out.namespace_);
  read("name", out.name);
  read("uid", out.uid);
  read("resourceVersion", out.version);
  if (out.uid.empty() || out.uid.size() > limits::uid.size()) return std::nullopt;
  return out;
}

}  // namespace

std::optional<ObjectQuarantined> observe_quarantined(const ResourceType& type, std::string_view text, QuarantineStage stage,
                                                     std::string_view reason, Arena& arena) {
  const auto document = Document::parse_outline(text);
  if (!document) return std::nullopt;
  const auto root = document->root();
  const auto identity = identify(root);
  if (!identity) return std::nullopt;
  ObjectQuarantined out;
  out.kind = object_kind(type);
  out.api_kind = type.kind;
  out.namespace_ = arena.copy(cut_message(identity->namespace_, limits::name.size()));
  out.name = arena.copy(cut_message(identity->name, limits::name.size()));
  out.uid = arena.copy(identity->uid);
  (void)std::from_chars(identity->version.data(), identity->version.data() + identity->version.size(), out.resource_version);
  out.stage = stage;
  out.reason = arena.copy(cut_message(valid_utf8(reason), limits::finding.size()));
  if (out.kind != ObjectKind::job || stage != QuarantineStage::read) return out;
  if (const auto outline = observe_outline(*find_integration(type.kind, type.group), root, arena)) {
    const auto list = arena.make<JobObserved>(1);
    list[0] = *outline;
    out.outline = list;
  }
  return out;
}

std::optional<Refusal> find_unreadable(const ResourceType& type, std::string_view text) {
  const auto document = Document::parse(text);
  if (!document) return Refusal{"", document.error().message, "an object within the limits", true};
  Arena arena;
  if (object_kind(type) == ObjectKind::job) return refusal_of_job(*find_integration(type.kind, type.group), document->root(), arena);
  if (object_kind(type) == ObjectKind::unspecified) return std::nullopt;
  Reading reading(arena, document->root(), {});
  if (const auto root = reading.root(); root.present()) (void)read(object_kind(type), root, {});
  if (!reading.failed()) return std::nullopt;
  return reading.take_refusal();
}

Result<Observation> observe_deleted(const ResourceType& type, simdjson::dom::element object, Arena& arena) {
  const auto kind = object_kind(type);
  if (kind == ObjectKind::unspecified) return tl::unexpected(unsupported(type));
  Reading reading(arena, object, object_title(type.kind, object));
  const auto meta = read_identity(reading.root());
  if (reading.failed()) {  // also what cannot be read can go
    const auto identity = identify(object);
    if (!identity) return tl::unexpected(reading.take_error());
    return ObjectDeleted{kind, arena.copy(identity->namespace_), arena.copy(identity->name), arena.copy(identity->uid)};
  }
  return ObjectDeleted{kind, meta.namespace_, meta.name, meta.uid};
}

Result<Observation> observe_deleted_text(const ResourceType& type, std::string_view text, Arena& arena) {
  auto document = Document::parse(text);
  if (!document) document = Document::parse_outline(text);
  if (!document) return fail(document.error().kind, std::string(type.kind) + ": " + document.error().message);
  return observe_deleted(type, document->root(), arena);
}

}  // namespace hindsight::connectors
