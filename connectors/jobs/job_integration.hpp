#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "connectors/jobs/template_resources.hpp"
#include "connectors/json/json_value.hpp"
#include "connectors/json/node.hpp"
#include "connectors/json/pod_defaults.hpp"
#include "vocabulary/observations.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::connectors {

/// What reading a job needs beside the job.
struct JobContext {
  const ClusterDefaults* defaults = nullptr;
  /// Counts of the pod sets of the job's Workload, where it has one: reclaimable pods are counted against these (EJ-60), for partial
  /// admission lowers the counts of the job itself. The job is to be observed again when they change.
  List<PodSetCount> workload_counts;
  /// The text of another object as it was seen last, for jobs whose size is told by one that they made; null: not seen. The job is to be
  /// observed again when that changes. Empty: nothing is known of other objects.
  std::function<std::shared_ptr<const std::string>(std::string_view kind, std::string_view namespace_, std::string_view name)> find;
};

[[nodiscard]] inline const Json& spec_of(const Json& job) { return object_or_empty(job, "spec"); }
/// `spec.suspend` of the kinds that have it there.
[[nodiscard]] inline bool is_suspended(const Json& job) { return flag_member(spec_of(job), "suspend"); }

/// What a start puts into the template of one pod set (base-api §7.1).
struct PodSetInjection {
  std::string name;
  std::int32_t count = 0;
  Json node_selector = Json::object();
  Json labels = Json::object();
  Json annotations = Json::object();
  Json tolerations = Json::array();
  Json owned_labels = Json::object();       ///< Labels that only we write: a value left over from an earlier start is replaced.
  Json owned_annotations = Json::object();  ///< Annotations likewise.
  std::vector<ResourceChange> resources;    ///< Sizes of containers.
  bool placed = false;                      ///< The pods wait at the gate of topologies, each for its place (2724 §2.6).
};

/// When the API server lets a suspended Job's template be changed after it has run (5440 §2.1).
enum class TemplateMutability : std::uint8_t {
  never_started,        ///< Up to 1.34 and 1.35 by default: only while status.startTime is unset.
  suspended_condition,  ///< 1.35 with the gates, 1.36.0 and 1.36.1: condition Suspended, no active pods.
  suspended,            ///< From 1.36.2: no active pods, and startTime unset or condition Suspended.
};

/// A merge patch of a job. `body` holds no identity: the caller adds uid and resourceVersion.
struct JobPatch {
  std::string subresource;  ///< "status" or empty.
  Json body;
};

/// One kind of job. Implementations are stateless.
class JobIntegration {
 public:
  virtual ~JobIntegration() = default;

  [[nodiscard]] virtual std::string_view framework() const = 0;  ///< Name in integrations.frameworks: "batch/job".
  [[nodiscard]] virtual std::string_view kind() const = 0;       ///< "Job".
  [[nodiscard]] virtual std::string_view group() const = 0;      ///< "batch".

  /// Reads whether the job is managed, suspended, stopping, active, finished: what admission has to know also of a job that cannot be read
  /// otherwise. Nothing of its templates, which its user writes.
  virtual void outline(const Node& job, JobObserved& out) const = 0;

  /// Reads what is particular to the kind: its outline, pods_ready, pod_sets, reclaimable, on_hold, pod_priority_class.
  virtual void observe(const Node& job, const JobContext& context, JobObserved& out) const = 0;

  /// Containers may be given other resources at admission: observe() tells of bounds, start() and stop() keep to them (5440 MR-79).
  [[nodiscard]] virtual bool sizes_containers() const { return false; }

  /// The pod sets of a Workload for this job, in the form of spec.podSets; templates are as the job has them.
  [[nodiscard]] virtual Json pod_sets(const Json& job) const = 0;

  /// The next patches that unsuspend a suspended job with what was assigned; none when it runs already, or when the API server does not let
  /// its template be changed before its status changes (MR-48). Errors: invalid, when a key stands in a template with another value or the
  /// pod sets are not those of the job; no retry helps (FailedToStart).
  [[nodiscard]] virtual Result<std::vector<JobPatch>> start(const Json& job, const std::vector<PodSetInjection>& pod_sets,
                                                            TemplateMutability mutability) const = 0;

  /// The next patches of a stop that restores what `originals` (spec.podSets of the Workload; empty: unknown) holds; resources as far as
  /// the originals have containers. None when the job is stopped, or when the stop has to wait for the job's status to change.
  [[nodiscard]] virtual std::vector<JobPatch> stop(const Json& job, const Json& originals, TemplateMutability mutability) const = 0;

  /// A stop has begun and is not complete: it must go on before anything else is done to the job.
  [[nodiscard]] virtual bool stop_in_progress(const Json& /*job*/) const { return false; }
};

}  // namespace hindsight::connectors
