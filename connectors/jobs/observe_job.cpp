#include "connectors/jobs/observe_job.hpp"

#include <string>

#include "connectors/jobs/workload_name.hpp"
#include "connectors/json/document.hpp"
#include "connectors/json/json_value.hpp"
#include "connectors/json/keys.hpp"
#include "connectors/json/object_meta.hpp"
#include "connectors/json/owner_kinds.hpp"
#include "connectors/json/pod_template.hpp"
#include "connectors/json/text.hpp"

namespace hindsight::connectors {
namespace {

/// Is the object that the reference names on its way out?
bool is_leaving(const Node& owner, std::string_view namespace_, const JobContext& context) {
  const auto text = context.find ? context.find(owner.text("kind", limits::name), namespace_, owner.text("name", limits::name)) : nullptr;
  if (text == nullptr) return false;
  const auto document = Document::parse(*text);
  if (!document) return false;
  const Json object = to_json(document->root());
  const auto& metadata = object_or_empty(object, "metadata");
  return text_member(metadata, "uid") == owner.text("uid", limits::uid) && member(metadata, "deletionTimestamp") != nullptr;
}

/// The job that this one is part of, as far as its own words go: whether that job exists, and has room for it, the domain knows.
void read_owner(const Node& meta, const JobContext& context, JobObserved& out) {
  if (!meta.entry("annotations", keys::made_by, limits::value).value_or(Text{}).empty()) return;
  bool found = false;
  meta.each("ownerReferences", limits::owner_references, [&](const Node& owner) {
    if (found || !owner.flag("controller")) return;
    found = true;
    const auto kind = owner.text("kind", limits::name);
    const auto how = ownership({kind, group_of_version(owner.text("apiVersion", limits::name))}, {out.kind, out.group});
    if (how == Ownership::none || (how == Ownership::when_leaving && !is_leaving(owner, out.meta.namespace_, context))) return;
    out.owner_uid = owner.text("uid", limits::uid);
    out.owner_kind = kind;
    out.owner_name = owner.text("name", limits::name);
  });
}

/// Not even the outline can be read: its status may be of any shape. It has not ended, and it runs unless it is suspended, so that it is
/// stopped as long as it holds no quota.
void assume_the_worst(simdjson::dom::element job, JobObserved& out) {
  bool suspended = false;
  if (job["spec"]["suspend"].get(suspended) != simdjson::SUCCESS) suspended = false;
  out.suspended = suspended;
  out.active = !suspended;
  out.pods_ready = out.finished = out.succeeded = false;
  out.finish_message = {};
}

/// What is wrong is told to the reading.
JobObserved read_job(const JobIntegration& integration, Reading& reading, const JobContext& context) {
  JobObserved out;
  const auto root = reading.root();
  if (!root.present()) return out;
  out.meta = read_meta(root);
  out.kind = integration.kind();
  out.group = integration.group();

  const auto meta = root.object("metadata");
  const auto label = [&](std::string_view key) { return meta.entry("labels", key, limits::name).value_or(Text{}); };
  const auto annotation = [&](std::string_view key, const limits::Limit& limit = limits::value) {
    return meta.entry("annotations", key, limit).value_or(Text{});
  };
  out.queue_name = label(keys::queue_name);
  out.priority_class = label(keys::priority_class);
  out.prebuilt_workload = annotation(keys::prebuilt_workload_name);
  if (out.prebuilt_workload.empty()) out.prebuilt_workload = label(keys::prebuilt_workload_name);
  // The webhook refuses anything else here; a label that got past it says nothing.
  if (const auto seconds = parse_int32(label(keys::max_exec_time_seconds)); seconds && *seconds > 0) out.max_exec_seconds = seconds;
  out.admission_gated_by = annotation(keys::admission_gated_by, limits::gate_list);
  check_gates(meta, keys::admission_gated_by, out.admission_gated_by);
  out.scheduling_gated_by = annotation(keys::scheduling_gated_by);
  out.elastic = annotation(keys::elastic_job) == "true";

  read_owner(meta, context, out);

  // Slices of an elastic job are told apart by the job's generation (77 §2.4).
  const auto extra = out.elastic ? std::to_string(out.meta.generation) : std::string();
  out.workload_name = reading.arena().copy(workload_name(out.kind, out.group, out.meta.name, out.meta.uid, extra));

  integration.observe(root, context, out);
  check_pod_sets(root, out.pod_sets);
  return out;
}

}  // namespace

Result<JobObserved> observe_job(const JobIntegration& integration, simdjson::dom::element job, Arena& arena, const JobContext& context) {
  Reading reading(arena, job, object_title(integration.kind(), job));
  auto out = read_job(integration, reading, context);
  if (reading.failed()) return tl::unexpected(reading.take_error());
  return out;
}

std::optional<Refusal> refusal_of_job(const JobIntegration& integration, simdjson::dom::element job, Arena& arena) {
  Reading reading(arena, job, {});
  (void)read_job(integration, reading, {});
  if (!reading.failed()) return std::nullopt;
  return reading.take_refusal();
}

std::optional<JobObserved> observe_outline(const JobIntegration& integration, simdjson::dom::element job, Arena& arena) {
  Reading reading(arena, job, object_title(integration.kind(), job));
  const auto root = reading.root();
  JobObserved out;
  out.meta = read_identity(root);
  out.kind = integration.kind();
  out.group = integration.group();
  if (reading.failed() || out.meta.uid.empty()) return std::nullopt;
  integration.outline(root, out);
  if (reading.failed()) assume_the_worst(job, out);

  // Of what its user writes only so much as may tell whose it is; without that it is looked after like any other.
  Reading more(arena, job, {});
  const auto again = more.root().object("metadata");
  const auto queue = again.entry("labels", keys::queue_name, limits::name);
  read_owner(again, {}, out);
  if (queue) out.queue_name = *queue;
  return out;
}

}  // namespace hindsight::connectors
