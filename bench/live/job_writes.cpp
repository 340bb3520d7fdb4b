#include "bench/live/job_writes.hpp"

#include <chrono>
#include <utility>
#include <vector>

#include "bench/live/job_objects.hpp"
#include "bench/live/objects.hpp"
#include "connectors/jobs/workload_name.hpp"
#include "connectors/kubernetes/object_writer.hpp"
#include "connectors/objects/plan.hpp"
#include "connectors/objects/resource_types.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::bench {

using connectors::Json;
using connectors::Write;
namespace types = connectors::types;

namespace {

constexpr const char* pod_set = "main";

std::string text_of(const Json& object, const char* key) {
  return std::string(connectors::text_member(connectors::object_or_empty(object, "metadata"), key));
}

Time now() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return Time{std::chrono::duration_cast<std::chrono::microseconds>(since_1970).count()};
}

Result<Write> only_one(const char* what, std::vector<Write> writes) {
  if (writes.size() == 1) return std::move(writes.front());
  return fail(ErrorKind::invalid, std::string(what) + ": found " + std::to_string(writes.size()) + " writes, allowed: 1");
}

}  // namespace

Write job_creation(std::size_t number) {
  Write out{.verb = Write::Verb::create, .type = &types::job, .namespace_ = load_namespace, .name = job_name(number)};
  out.body = job_object(number).dump();
  out.field_manager = "user";
  return out;
}

Result<Write> workload_creation(const Json& job) {
  admission::WorkloadCreateIntent intent;
  intent.job_uid = text_of(job, "uid");
  intent.job_kind = types::job.kind;
  intent.job_group = types::job.group;
  intent.namespace_ = load_namespace;
  intent.job_name = text_of(job, "name");
  intent.name = connectors::workload_name(intent.job_kind, intent.job_group, intent.job_name, intent.job_uid);
  intent.queue_name = job_queue;
  return connectors::plan_create(intent, job);
}

Result<Write> workload_admission(const Json& workload) {
  admission::WorkloadIntent intent;
  intent.namespace_ = load_namespace;
  intent.name = text_of(workload, "name");
  const auto is_true = [&](ConditionType type, const char* reason, std::string message) {
    intent.conditions.push_back({type, ConditionStatus::true_, reason, std::move(message), now()});
  };
  is_true(ConditionType::quota_reserved, "QuotaReserved", std::string("Quota reserved in ClusterQueue ") + job_queue);
  is_true(ConditionType::admitted, "Admitted", "The workload is admitted");
  intent.has_admission = true;
  intent.cluster_queue = job_queue;
  admission::WantedAssignment assignment;
  assignment.pod_set = pod_set;
  assignment.count = 1;
  assignment.flavors = {{"cpu", job_flavor}};
  assignment.usage = {{"cpu", 1000}};
  intent.assignments.push_back(std::move(assignment));
  return only_one("the admission of a Workload", connectors::plan_workload(intent, workload));
}

Result<Write> job_start(const Json& job, const Json& workload) {
  admission::JobIntent intent;
  intent.kind = types::job.kind;
  intent.group = types::job.group;
  intent.namespace_ = load_namespace;
  intent.name = text_of(job, "name");
  intent.run = true;
  intent.workload = text_of(workload, "name");
  intent.cluster_queue = job_queue;
  intent.local_queue = job_queue;
  intent.pod_sets.push_back({.name = pod_set, .count = 1});
  auto writes = connectors::plan_job(intent, job, workload);
  if (!writes) return tl::unexpected(writes.error());
  return only_one("the start of a Job", *std::move(writes));
}

connectors::kubernetes::bench::BareWrite bare(const Write& write) {
  const auto request = connectors::kubernetes::request_for(write);
  return {request.path, write.body, write.verb == Write::Verb::create};
}

}  // namespace hindsight::bench
