#include "connectors/jobs/observe_job.hpp"

#include <string>

#include "connectors/jobs/workload_name.hpp"
#include "connectors/json/keys.hpp"
#include "connectors/json/object_meta.hpp"
#include "connectors/json/text.hpp"

namespace hindsight::connectors {

Result<JobObserved> observe_job(const JobIntegration& integration, simdjson::dom::element job, Arena& arena, const JobContext& context) {
  Reading reading(arena, job, object_title(integration.kind(), job));
  const auto root = reading.root();
  if (!root.present()) return tl::unexpected(reading.take_error());
  JobObserved out;
  out.meta = read_meta(root);
  out.kind = integration.kind();
  out.group = integration.group();

  const auto meta = root.object("metadata");
  const auto label = [&](std::string_view key) { return meta.entry("labels", key).value_or(Text{}); };
  const auto annotation = [&](std::string_view key) { return meta.entry("annotations", key).value_or(Text{}); };
  out.queue_name = label(keys::queue_name);
  out.priority_class = label(keys::priority_class);
  out.prebuilt_workload = annotation(keys::prebuilt_workload_name);
  if (out.prebuilt_workload.empty()) out.prebuilt_workload = label(keys::prebuilt_workload_name);
  // The webhook refuses anything else here; a label that got past it says nothing.
  if (const auto seconds = parse_int32(label(keys::max_exec_time_seconds)); seconds && *seconds > 0) out.max_exec_seconds = seconds;
  out.admission_gated_by = annotation(keys::admission_gated_by);
  out.scheduling_gated_by = annotation(keys::scheduling_gated_by);
  out.elastic = annotation(keys::elastic_job) == "true";

  meta.each("ownerReferences", [&](const Node& owner) {
    if (!out.owner_uid.empty() || !owner.flag("controller")) return;
    out.owner_uid = owner.text("uid");
    out.owner_kind = owner.text("kind");
    out.owner_name = owner.text("name");
  });

  // Slices of an elastic job are told apart by the job's generation (77 §2.4).
  const auto extra = out.elastic ? std::to_string(out.meta.generation) : std::string();
  out.workload_name = arena.copy(workload_name(out.kind, out.group, out.meta.name, out.meta.uid, extra));

  integration.observe(root, context, out);
  if (reading.failed()) return tl::unexpected(reading.take_error());
  return out;
}

}  // namespace hindsight::connectors
