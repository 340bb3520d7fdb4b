#include "cli/remote/object_reference.hpp"

#include <array>

#include <nlohmann/json.hpp>

#include "vocabulary/ascii.hpp"

namespace hindsight::cli {
namespace {

struct JobPods {
  const char* type;
  const char* label;  ///< Its value is the name of the job.
};
constexpr std::array<JobPods, 10> job_pods{{{"job", "batch.kubernetes.io/job-name"},
                                            {"jobset", "jobset.sigs.k8s.io/jobset-name"},
                                            {"trainjob", "jobset.sigs.k8s.io/jobset-name"},
                                            {"pytorchjob", "training.kubeflow.org/job-name"},
                                            {"tfjob", "training.kubeflow.org/job-name"},
                                            {"xgboostjob", "training.kubeflow.org/job-name"},
                                            {"paddlejob", "training.kubeflow.org/job-name"},
                                            {"jaxjob", "training.kubeflow.org/job-name"},
                                            {"mpijob", "training.kubeflow.org/job-name"},
                                            {"raycluster", "ray.io/cluster"}}};

}  // namespace

Result<ObjectReference> read_reference(const std::string& text) {
  const auto slash = text.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == text.size() || text.find('/', slash + 1) != std::string::npos)
    return fail(ErrorKind::invalid,
                "--for: found \"" + text + "\"; allowed: TYPE[.GROUP]/NAME, as job/train or jobset.jobset.x-k8s.io/train");
  ObjectReference out;
  const std::string type = lower(text.substr(0, slash));
  const auto dot = type.find('.');
  out.type = type.substr(0, dot);
  if (dot != std::string::npos) out.group = type.substr(dot + 1);
  if (out.type.size() > 1 && out.type.ends_with('s')) out.type.pop_back();
  out.name = text.substr(slash + 1);
  return out;
}

bool means(const Json& owner, const ObjectReference& wanted) {
  const std::string api_version = owner.value("apiVersion", "");
  const auto slash = api_version.find('/');
  const std::string group = slash == std::string::npos ? std::string() : api_version.substr(0, slash);
  return owner.value("name", "") == wanted.name && lower(owner.value("kind", "")) == wanted.type &&
         (wanted.group.empty() || wanted.group == group);
}

Result<std::string> pod_selector(const ObjectReference& job) {
  std::string known;
  for (const auto& one : job_pods) {
    if (job.type == one.type) return std::string(one.label) + "=" + job.name;
    known += (known.empty() ? "" : ", ") + std::string(one.type);
  }
  return fail(ErrorKind::invalid, "--for: found type \"" + job.type + "\"; allowed: " + known);
}

}  // namespace hindsight::cli
