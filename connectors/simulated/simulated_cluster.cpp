#include "connectors/simulated/simulated_cluster.hpp"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <utility>

#include "connectors/manifests/json_text.hpp"
#include "connectors/simulated/merge_patch.hpp"
#include "connectors/simulated/object_form.hpp"
#include "connectors/simulated/rules/core_rules.hpp"
#include "connectors/simulated/rules/crd_rules.hpp"
#include "connectors/simulated/rules/job_rules.hpp"
#include "connectors/simulated/rules/metadata_rules.hpp"
#include "connectors/simulated/store_surroundings.hpp"
#include "connectors/webhooks/rules/webhook_rules.hpp"

namespace hindsight::connectors::simulated {
namespace {

constexpr std::string_view modified = "the object has been modified; please apply your changes to the latest version and try again";

bool is_false_or_null(const Json& value) { return value.is_null() || value == Json(""); }

}  // namespace

SimulatedCluster::SimulatedCluster(const ClusterOptions& options)
    : options_(options), now_(options.start), uid_state_(options.seed * 0x9E3779B97F4A7C15ULL + 1) {}

void SimulatedCluster::set_time(Time now) { now_ = std::max(now_, now); }

// ---- requests over "HTTP" ---------------------------------------------------------------------------------------------------

void SimulatedCluster::submit(Write write, std::function<void(WriteAnswer)> done) {
  const auto answer = [&](const Reply& reply) {
    WriteAnswer out;
    out.http_status = reply.http_status;
    out.body = reply.body();
    if (done) done(std::move(out));
  };
  const Kind* kind = write.type == nullptr ? nullptr : manifests::find_kind(write.type->kind);
  if (kind == nullptr || kind->type->group != write.type->group)
    return answer(refusal(404, "NotFound", "the server could not find the requested resource"));
  Json body;
  if (!write.body.empty()) {
    auto parsed = manifests::parse_json(write.body);
    if (!parsed) return answer(bad_request(*kind, write.name, "error decoding the body: " + parsed.error().message));
    body = std::move(*parsed);
  }
  switch (write.verb) {
    case Write::Verb::create: {
      if (!body.is_object()) return answer(bad_request(*kind, write.name, "the body must be an object"));
      if (!body.contains("kind")) body["kind"] = kind->type->kind;
      if (!body.contains("apiVersion")) body["apiVersion"] = kind->api_version();
      if (body["kind"] != kind->type->kind || body["apiVersion"] != kind->api_version())
        return answer(bad_request(*kind, write.name, "the object is of another kind or version than the request"));
      Json& metadata = body["metadata"];
      if (!metadata.is_object()) metadata = Json::object();
      if (kind->type->namespaced && !metadata.contains("namespace")) metadata["namespace"] = write.namespace_;
      if (kind->type->namespaced && metadata["namespace"] != write.namespace_)
        return answer(
            bad_request(*kind, write.name, "the namespace of the provided object does not match the namespace sent on the request"));
      return answer(create(std::move(body)));
    }
    case Write::Verb::merge_patch:
      if (!write.subresource.empty() && (write.subresource != "status" || !kind->status_subresource))
        return answer(not_found(*kind, write.name));
      return answer(
          merge_patch(kind->type->kind, write.namespace_, write.name, write.subresource.empty() ? Part::main : Part::status, body));
    case Write::Verb::delete_: {
      DeleteOptions options;
      const auto policy = text(body, "propagationPolicy");
      if (policy == "Background" || policy == "Foreground") options.propagation = Propagation::background;
      if (policy == "Orphan") options.propagation = Propagation::orphan;
      options.uid = text(member(body, "preconditions"), "uid");
      options.resource_version = text(member(body, "preconditions"), "resourceVersion");
      return answer(remove(kind->type->kind, write.namespace_, write.name, options));
    }
    case Write::Verb::apply_patch:
      break;
  }
  answer(refusal(415, "UnsupportedMediaType", "a simulated cluster takes merge patches (application/merge-patch+json) only"));
}

// ---- creation -----------------------------------------------------------------------------------------------------------------

Reply SimulatedCluster::create(Json object, std::string_view user) {
  const Kind& kind = manifests::kind_of(text(object, "kind"));
  Json& metadata = object["metadata"];
  if (!metadata.is_object()) metadata = Json::object();
  if (text(metadata, "name").empty() && !text(metadata, "generateName").empty())
    metadata["name"] = fresh_name(text(metadata, "generateName"));
  const std::string name(text(metadata, "name"));
  const std::string namespace_(kind.type->namespaced ? text(metadata, "namespace") : std::string_view());
  if (!is_false_or_null(member(metadata, "resourceVersion")))
    return refusal(500, "", "resourceVersion should not be set on objects to be created");
  if (kind.type->namespaced) {
    const auto space = store_.find("Namespace", "", namespace_);
    if (!space) return not_found(manifests::kind_of("Namespace"), namespace_);
    if (space->deleting())
      return refusal(403, "Forbidden", "unable to create new content in namespace " + namespace_ + " because it is being terminated");
  }
  for (const char* field : {"uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "managedFields",
                            "selfLink", "resourceVersion"})
    metadata.erase(field);
  if (const StoreSurroundings around(store_, options_);
      options_.webhooks || (options_.job_defaults.on && around.manages_kind(kind.type->kind, kind.type->group)))
    webhooks::apply_webhook_defaults(kind, object, around, user);

  std::vector<Problem> problems;
  manifests::check(*kind.schema, object, "", manifests::UnknownFields::ignored, problems);
  if (!problems.empty()) return invalid(kind, name, std::move(problems));

  metadata["uid"] = next_uid();
  prepare_for_create(kind, object);
  normalise_object(kind, object);
  check_main(kind, object, Json(), problems);
  if (!problems.empty()) return invalid(kind, name, std::move(problems));
  if (store_.find(kind.type->kind, namespace_, name)) return already_exists(kind, name);

  auto stored = std::make_shared<StoredObject>();
  stored->kind = &kind;
  stored->namespace_ = namespace_;
  stored->name = name;
  stored->uid = text(member(object, "metadata"), "uid");
  stored->created_order = ++created_;
  stored->version = ++version_;
  Json& header = object["metadata"];
  header["creationTimestamp"] = format_rfc3339(now_);
  header["resourceVersion"] = std::to_string(stored->version);
  if (kind.generation != Kind::Generation::none) header["generation"] = 1;
  stored->object = std::move(object);
  store_.add(stored);
  ++writes_;
  Reply reply = accept(stored);
  reply.http_status = 201;
  changed(WatchEvent::Type::added, stored);
  return reply;
}

void SimulatedCluster::check_main(const Kind& kind, const Json& object, const Json& old_object, std::vector<Problem>& problems) const {
  Findings findings(problems);
  const ObjectView now(object);
  const ObjectView before(old_object);
  check_metadata(kind, now.metadata, findings);
  if (before.exists()) check_metadata_change(now.metadata, before.metadata, findings);
  if (kind.custom) {
    check_crd_rules(kind, now, before, findings);
  } else if (kind.type->kind == "Job") {
    check_job(now, findings);
    if (before.exists()) check_job_change(now, before, options_.jobs, findings);
  } else {
    check_core_rules(kind, now, before, findings);
  }
  if (options_.webhooks) {
    const StoreSurroundings around(store_, options_);
    webhooks::check_webhook_rules(kind, now, before, around, findings);
    webhooks::check_job_webhook_rules(kind, now, before, around, {}, findings);  // references are judged when they come
  }
}

// ---- patches ------------------------------------------------------------------------------------------------------------------

Reply SimulatedCluster::merge_patch(std::string_view kind_name, std::string_view namespace_, std::string_view name, Part part,
                                    const Json& patch) {
  const Kind& kind = manifests::kind_of(kind_name);
  const auto stored = find(kind_name, namespace_, name);
  if (!stored) return not_found(kind, name);
  if (!patch.is_object()) return bad_request(kind, name, "error decoding patch: a merge patch must be an object");
  const Json& metadata = member(patch, "metadata");
  if (!member(metadata, "name").is_null() && member(metadata, "name") != stored->name)
    return bad_request(kind, name, "the name of the object does not match the name on the URL (" + stored->name + ")");
  if (!member(metadata, "namespace").is_null() && member(metadata, "namespace") != stored->namespace_)
    return bad_request(kind, name, "the namespace of the object does not match the namespace on the URL (" + stored->namespace_ + ")");
  for (const char* field : {"kind", "apiVersion"}) {
    const Json& value = member(patch, field);
    if (!value.is_null() && value != stored->object[field])
      return invalid(kind, name,
                     {{ProblemKind::invalid, field, manifests::shortened(value), "must be " + stored->object[field].get<std::string>()}});
  }
  const Json& version = member(metadata, "resourceVersion");
  if (!is_false_or_null(version) && version != stored->object["metadata"]["resourceVersion"]) return conflict(kind, name, modified);
  const Json& uid = member(metadata, "uid");
  if (!is_false_or_null(uid) && uid != stored->uid)
    return conflict(kind, name,
                    "Precondition failed: UID in precondition: " + manifests::shortened(uid) + ", UID in object meta: " + stored->uid);
  return part == Part::status ? patch_status(stored, patch) : patch_main(stored, patch);
}

Reply SimulatedCluster::patch_status(const StoredPointer& stored, const Json& patch) {
  const Kind& kind = *stored->kind;
  const auto change = patch.find("status");
  if (change == patch.end()) return accept(stored);
  const bool changes = change->is_null() ? stored->object.contains("status") : merge_changes(stored->status(), *change);
  if (!changes) return accept(stored);
  Json status = stored->status();
  merge(status, *change);
  std::vector<Problem> problems;
  if (const manifests::Field* field = kind.schema->field("status"); field != nullptr && !status.is_null())
    manifests::check(*field->schema, status, "status", manifests::UnknownFields::ignored, problems);
  if (!problems.empty()) return invalid(kind, stored->name, std::move(problems));
  normalise_status(kind, status);
  if (status == stored->status() || (status.is_null() && !stored->object.contains("status"))) return accept(stored);

  Findings findings(problems);
  const ObjectView before(stored->object);
  const ObjectView now(stored->object, status);
  if (kind.custom)
    check_crd_rules(kind, now, before, findings);
  else if (kind.type->kind == "Job")
    check_job_status_change(now, before, findings);
  if (options_.webhooks) webhooks::check_webhook_rules(kind, now, before, StoreSurroundings(store_, options_), findings);
  if (!problems.empty()) return invalid(kind, stored->name, std::move(problems));

  if (status.is_null())
    stored->object.erase("status");
  else
    stored->object["status"] = std::move(status);
  stored->version = ++version_;
  stored->object["metadata"]["resourceVersion"] = std::to_string(stored->version);
  stored->forget_text();
  ++writes_;
  Reply reply = accept(stored);
  changed(WatchEvent::Type::modified, stored);
  return reply;
}

Reply SimulatedCluster::patch_main(const StoredPointer& stored, const Json& patch) {
  const Kind& kind = *stored->kind;
  Json own_part;
  const bool whole = !patch.contains("metadata") && !patch.contains("status") && !patch.contains("kind") && !patch.contains("apiVersion");
  if (!whole) own_part = main_part_of(kind, patch);
  const Json& change = whole ? patch : own_part;
  if (!merge_changes(stored->object, change)) return accept(stored);
  Json next = stored->object;
  merge(next, change);
  std::vector<Problem> problems;
  manifests::check(*kind.schema, next, "", manifests::UnknownFields::ignored, problems);
  if (!problems.empty()) return invalid(kind, stored->name, std::move(problems));
  normalise_object(kind, next);

  const bool body_changed = !same_body(next, stored->object);
  const bool metadata_changed = next["metadata"] != stored->metadata();
  if (!body_changed && !metadata_changed) return accept(stored);
  check_main(kind, next, stored->object, problems);
  if (!problems.empty()) return invalid(kind, stored->name, std::move(problems));
  commit(stored, std::move(next), body_changed && kind.generation == Kind::Generation::counted);
  Reply reply = accept(stored);
  if (stored->deleting() && member(stored->metadata(), "finalizers").empty())
    erase(stored);
  else
    changed(WatchEvent::Type::modified, stored);
  return reply;
}

void SimulatedCluster::commit(const StoredPointer& stored, Json object, bool bump_generation) {
  const bool owners_changed = member(member(object, "metadata"), "ownerReferences") != member(stored->metadata(), "ownerReferences");
  if (owners_changed) store_.forget_owners(*stored);
  stored->object = std::move(object);
  if (owners_changed) store_.note_owners(stored);
  stored->version = ++version_;
  Json& metadata = stored->object["metadata"];
  metadata["resourceVersion"] = std::to_string(stored->version);
  if (bump_generation) metadata["generation"] = number(metadata, "generation").value_or(0) + 1;
  stored->forget_text();
  ++writes_;
}

// ---- deletion -----------------------------------------------------------------------------------------------------------------

Reply SimulatedCluster::remove(std::string_view kind_name, std::string_view namespace_, std::string_view name,
                               const DeleteOptions& options) {
  const Kind& kind = manifests::kind_of(kind_name);
  const auto stored = find(kind_name, namespace_, name);
  if (!stored) return not_found(kind, name);
  if (!options.uid.empty() && options.uid != stored->uid)
    return conflict(kind, name,
                    "the UID in the precondition (" + options.uid + ") does not match the UID in record (" + stored->uid +
                        "). The object might have been deleted and then recreated");
  if (!options.resource_version.empty() && options.resource_version != text(stored->metadata(), "resourceVersion"))
    return conflict(kind, name,
                    "the ResourceVersion in the precondition (" + options.resource_version +
                        ") does not match the ResourceVersion in record (" + std::string(text(stored->metadata(), "resourceVersion")) +
                        "). The object might have been modified");
  if (kind.type->kind == "Namespace") {
    if (!stored->deleting()) mark_deleting(stored);
    remove_contents(stored->name);
    finish_namespace(stored->name);
    return accept(stored);
  }
  // The API server orphans the dependents of a batch/v1 Job unless told otherwise.
  const bool orphan = options.propagation == Propagation::orphan || (options.propagation == Propagation::unset && kind.type->kind == "Job");
  if (orphan) {
    for (const auto& dependent : store_.owned_by(kind.type->kind, stored->namespace_, stored->name)) drop_owner(dependent, stored->uid);
  }
  if (!member(stored->metadata(), "finalizers").empty()) {
    if (!stored->deleting()) mark_deleting(stored);
    return accept(stored);
  }
  erase(stored);
  Reply reply;
  reply.name = stored->name;
  reply.kind = kind.type->plural;
  reply.group = kind.type->group;
  return reply;
}

void SimulatedCluster::mark_deleting(const StoredPointer& stored) {
  Json& metadata = stored->object["metadata"];
  metadata["deletionTimestamp"] = format_rfc3339(now_);
  metadata["deletionGracePeriodSeconds"] = 0;
  if (const auto generation = number(metadata, "generation")) metadata["generation"] = *generation + 1;
  stored->version = ++version_;
  metadata["resourceVersion"] = std::to_string(stored->version);
  stored->forget_text();
  ++writes_;
  changed(WatchEvent::Type::modified, stored);
}

void SimulatedCluster::erase(const StoredPointer& stored) {
  store_.remove(*stored);
  // Watchers see the last state with the version of the deletion.
  stored->version = ++version_;
  stored->object["metadata"]["resourceVersion"] = std::to_string(stored->version);
  stored->forget_text();
  ++writes_;
  changed(WatchEvent::Type::deleted, stored);
  if (options_.collect_garbage) collect_dependents(*stored);
  if (!stored->namespace_.empty()) finish_namespace(stored->namespace_);
}

void SimulatedCluster::collect_dependents(const StoredObject& owner) {
  for (const auto& dependent : store_.owned_by(owner.kind->type->kind, owner.namespace_, owner.name)) {
    const Json& references = member(dependent->metadata(), "ownerReferences");
    const auto names_owner = [&](const Json& reference) { return text(reference, "uid") == owner.uid; };
    const auto named = std::count_if(references.begin(), references.end(), names_owner);
    if (named == 0) continue;
    if (static_cast<std::size_t>(named) < references.size()) {
      drop_owner(dependent, owner.uid);
      continue;
    }
    DeleteOptions options;
    options.propagation = Propagation::background;
    options.uid = dependent->uid;
    remove(dependent->kind->type->kind, dependent->namespace_, dependent->name, options);
  }
}

void SimulatedCluster::drop_owner(const StoredPointer& dependent, const std::string& uid) {
  Json kept = Json::array();
  for (const auto& reference : member(dependent->metadata(), "ownerReferences"))
    if (text(reference, "uid") != uid) kept.push_back(reference);
  merge_patch(dependent->kind->type->kind, dependent->namespace_, dependent->name, Part::main,
              {{"metadata", {{"ownerReferences", std::move(kept)}}}});
}

void SimulatedCluster::remove_contents(const std::string& namespace_) {
  for (const auto& kind : manifests::kinds()) {
    if (!kind.type->namespaced) continue;
    std::vector<StoredPointer> inside;
    for (const auto& [key, object] : store_.of_kind(kind.type->kind))
      if (object->namespace_ == namespace_) inside.push_back(object);
    DeleteOptions options;
    options.propagation = Propagation::background;
    for (const auto& object : inside) remove(kind.type->kind, object->namespace_, object->name, options);
  }
}

void SimulatedCluster::finish_namespace(const std::string& namespace_) {
  if (store_.in_namespace(namespace_) != 0) return;
  const auto space = store_.find("Namespace", "", namespace_);
  if (space && space->deleting()) erase(space);
}

// ---- watches ------------------------------------------------------------------------------------------------------------------

void SimulatedCluster::watch(const std::vector<const ResourceType*>& types, WatchSink sink) {
  for (const ResourceType* type : types) {
    const Kind* kind = manifests::find_kind(type->kind);
    if (kind != nullptr) {
      std::vector<SharedText> texts;  // The sink may change what the cluster holds.
      for (const auto& [key, object] : store_.of_kind(kind->type->kind)) texts.push_back(object->text());
      for (const auto& text : texts) sink({WatchEvent::Type::added, type, *text});
    }
    sink({WatchEvent::Type::synced, type, {}});
  }
  watchers_.push_back({types, std::move(sink)});
}

void SimulatedCluster::changed(WatchEvent::Type type, const StoredPointer& object) {
  if (watchers_.empty() && observers_.empty()) return;
  pending_.push_back({type, object, watchers_.empty() ? nullptr : object->text()});
  deliver();
}

void SimulatedCluster::deliver() {
  if (delivering_) return;
  delivering_ = true;
  while (!pending_.empty()) {
    const Pending event = std::move(pending_.front());
    pending_.pop_front();
    for (std::size_t i = 0; i < observers_.size(); ++i) observers_[i]({event.type, event.object});
    if (event.text == nullptr) continue;
    for (std::size_t i = 0; i < watchers_.size(); ++i) {
      const auto& types = watchers_[i].types;
      const auto it = std::find_if(types.begin(), types.end(), [&](const ResourceType* t) {
        return t->kind == event.object->kind->type->kind && t->group == event.object->kind->type->group;
      });
      if (it != types.end()) watchers_[i].sink({event.type, *it, *event.text});
    }
  }
  delivering_ = false;
}

// ---- names --------------------------------------------------------------------------------------------------------------------

Reply SimulatedCluster::accept(const StoredPointer& object) const {
  Reply reply;
  reply.object = object->text();
  return reply;
}

StoredPointer SimulatedCluster::find(std::string_view kind, std::string_view namespace_, std::string_view name) const {
  const Kind& known = manifests::kind_of(kind);
  return store_.find(kind, known.type->namespaced ? namespace_ : std::string_view(), name);
}

std::string SimulatedCluster::next_uid() {
  // SplitMix64: the same uids in every run with the same seed.
  const auto next = [this] {
    uid_state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = uid_state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31U);
  };
  const std::uint64_t high = (next() & 0xFFFFFFFFFFFF0FFFULL) | 0x4000ULL;
  const std::uint64_t low = (next() & 0x3FFFFFFFFFFFFFFFULL) | 0x8000000000000000ULL;
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  out.reserve(36);
  for (int i = 0; i < 32; ++i) {
    if (i == 8 || i == 12 || i == 16 || i == 20) out += '-';
    const std::uint64_t half = i < 16 ? high : low;
    out += digits[(half >> (60U - 4U * static_cast<unsigned>(i % 16))) & 0xFU];
  }
  return out;
}

std::string SimulatedCluster::fresh_name(std::string_view prefix) { return std::string(prefix) + next_uid().substr(0, 5); }

}  // namespace hindsight::connectors::simulated
