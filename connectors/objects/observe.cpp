#include "connectors/objects/observe.hpp"

#include <string>
#include <utility>

#include "connectors/jobs/integrations.hpp"
#include "connectors/jobs/observe_job.hpp"
#include "connectors/json/document.hpp"
#include "connectors/json/object_meta.hpp"
#include "connectors/objects/readers.hpp"
#include "connectors/objects/resource_types.hpp"

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

Result<Observation> observe_deleted(const ResourceType& type, simdjson::dom::element object, Arena& arena) {
  const auto kind = object_kind(type);
  if (kind == ObjectKind::unspecified) return tl::unexpected(unsupported(type));
  Reading reading(arena, object, object_title(type.kind, object));
  const auto meta = read_meta(reading.root());
  if (reading.failed()) return tl::unexpected(reading.take_error());
  return ObjectDeleted{kind, meta.namespace_, meta.name, meta.uid};
}

Result<Observation> observe_deleted_text(const ResourceType& type, std::string_view text, Arena& arena) {
  const auto document = parse(type, text);
  if (!document) return tl::unexpected(document.error());
  return observe_deleted(type, document->root(), arena);
}

}  // namespace hindsight::connectors
