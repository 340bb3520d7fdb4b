#include "bench/live/job_bare.hpp"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "bench/live/job_creations.hpp"
#include "bench/live/job_writes.hpp"
#include "bench/live/live_cluster.hpp"
#include "bench/live/plain_write.hpp"
#include "connectors/objects/plan.hpp"

namespace hindsight::bench {

namespace kubernetes = connectors::kubernetes;
using connectors::Json;
using Clock = std::chrono::steady_clock;

namespace {

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// One list for each step of a life.
struct Steps {
  std::vector<kubernetes::bench::BareWrite> creations, admissions, starts;
};

/// Adds those of one Job. They have no preconditions, for nobody reads the versions that the steps before them make.
Result<void> add_steps(const std::string& answer, Steps& steps) {
  auto job = connectors::parse_object(answer);
  if (!job) return tl::unexpected(job.error());
  const auto creation = workload_creation(*job);
  if (!creation) return tl::unexpected(creation.error());
  for (const char* key : {"uid", "resourceVersion"}) (*job)["metadata"].erase(key);
  const Json workload = Json::parse(creation->body);
  const auto admission = workload_admission(workload);
  if (!admission) return tl::unexpected(admission.error());
  const auto start = job_start(*job, workload);
  if (!start) return tl::unexpected(start.error());
  steps.creations.push_back(bare(*creation));
  steps.admissions.push_back(bare(*admission));
  steps.starts.push_back(bare(*start));
  return {};
}

/// The answer, as plans take objects. Errors: what the API server refused.
Result<Json> written(kubernetes::KubernetesCluster& client, connectors::Write write) {
  const std::string name = write.name;
  const auto answer = write_and_wait(client, std::move(write));
  if (succeeded(answer)) return connectors::parse_object(answer.body);
  return tl::unexpected(failure("a write of " + name + ": found HTTP " + std::to_string(answer.http_status) + "; " + answer.body));
}

/// The seconds of one life. The Workload has no finalizer, which nobody would take away.
Result<double> bare_life(kubernetes::KubernetesCluster& user, kubernetes::KubernetesCluster& controller, std::size_t number) {
  const auto job = written(user, job_creation(number));
  if (!job) return tl::unexpected(job.error());
  const auto begin = Clock::now();
  auto creation = workload_creation(*job);
  if (!creation) return tl::unexpected(creation.error());
  Json body = Json::parse(creation->body);
  body["metadata"].erase("finalizers");
  creation->body = body.dump();
  const auto workload = written(controller, *std::move(creation));
  if (!workload) return tl::unexpected(workload.error());
  auto admission = workload_admission(*workload);
  if (!admission) return tl::unexpected(admission.error());
  if (const auto admitted = written(controller, *std::move(admission)); !admitted) return tl::unexpected(admitted.error());
  auto start = job_start(*job, *workload);
  if (!start) return tl::unexpected(start.error());
  if (const auto started = written(controller, *std::move(start)); !started) return tl::unexpected(started.error());
  return seconds_since(begin);
}

}  // namespace

Result<double> bare_loop_of_jobs(hindsight::testing::LocalCluster& cluster, const Settings& settings) {
  const auto user = kubernetes::find_connection({cluster.admin_kubeconfig(), ""});
  if (!user) return tl::unexpected(user.error());
  const auto controller = kubernetes::find_connection({cluster.kubeconfig(), ""});
  if (!controller) return tl::unexpected(controller.error());
  const auto begin = Clock::now();
  const auto created = create_jobs(*user, settings.jobs.count);
  double seconds = seconds_since(begin);
  if (!created) return tl::unexpected(created.error());
  Steps steps;
  for (const auto& creation : *created)
    if (auto added = add_steps(creation.answer, steps); !added) return tl::unexpected(added.error());
  kubernetes::bench::BareLoop loop(*controller, settings.in_flight);
  for (const auto* writes : {&steps.creations, &steps.admissions, &steps.starts}) {
    const auto began = Clock::now();
    const auto good = loop.send(*writes);
    seconds += seconds_since(began);
    if (good != writes->size())
      return tl::unexpected(failure("the bare loop: found " + std::to_string(good) + " writes that succeeded; wanted " +
                                    std::to_string(writes->size()) + ", as " + writes->front().path));
  }
  say("a bare loop of " + std::to_string(4 * settings.jobs.count) + " writes took " + std::to_string(seconds) + " s");
  return seconds;
}

Result<Quantiles> bare_lives(hindsight::testing::LocalCluster& cluster, std::size_t first, std::size_t count) {
  const auto as_user = kubernetes::find_connection({cluster.admin_kubeconfig(), ""});
  if (!as_user) return tl::unexpected(as_user.error());
  const auto as_controller = kubernetes::find_connection({cluster.kubeconfig(), ""});
  if (!as_controller) return tl::unexpected(as_controller.error());
  auto user = kubernetes::KubernetesCluster::connect(*as_user);
  if (!user) return tl::unexpected(user.error());
  auto controller = kubernetes::KubernetesCluster::connect(*as_controller);
  if (!controller) return tl::unexpected(controller.error());
  std::vector<double> all;
  for (std::size_t i = 0; i <= count; ++i) {
    const auto took = bare_life(**user, **controller, first + i);
    if (!took) return tl::unexpected(took.error());
    if (i > 0) all.push_back(*took);
  }
  // Hindsight would count what they hold.
  std::string said;
  if (!cluster.kubectl({"delete", "workloads,jobs", "--all"}, &said))
    return tl::unexpected(failure("the objects of the bare lives were not deleted: " + said));
  return quantiles(std::move(all));
}

}  // namespace hindsight::bench
