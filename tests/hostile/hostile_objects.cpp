#include "tests/hostile/hostile_objects.hpp"

#include <set>
#include <stdexcept>

namespace hindsight::hostile {

// ---- objects that are as they should be -------------------------------------------------------------------------------------------

Json pod_template() {
  return {{"metadata", {{"annotations", {{"hindsight.dev/run-seconds", "1"}}}}},
          {"spec",
           {{"restartPolicy", "Never"},
            {"containers", Json::array({{{"name", "c"}, {"image", "i"}, {"resources", {{"requests", {{"cpu", "1"}}}}}}})}}}};
}

Json job(const Making& m, const std::string& name) {
  return {{"apiVersion", "batch/v1"},
          {"kind", "Job"},
          {"metadata", {{"name", name}, {"labels", {{"kueue.x-k8s.io/queue-name", m.queue}}}, {"annotations", Json::object()}}},
          {"spec", {{"suspend", true}, {"parallelism", 1}, {"completions", 1}, {"backoffLimit", 0}, {"template", pod_template()}}}};
}

Json job_set(const Making& m, const std::string& name) {
  Json out = job(m, name);
  out["apiVersion"] = "jobset.x-k8s.io/v1alpha2";
  out["kind"] = "JobSet";
  out["spec"] = {{"suspend", true},
                 {"replicatedJobs",
                  Json::array({{{"name", "w"},
                                {"replicas", 2},
                                {"template", {{"spec", {{"parallelism", 1}, {"completions", 1}, {"template", pod_template()}}}}}}})}};
  return out;
}

Json ray_cluster(const Making& m, const std::string& name) {
  Json out = job(m, name);
  out["apiVersion"] = "ray.io/v1";
  out["kind"] = "RayCluster";
  out["spec"] = {{"suspend", true},
                 {"headGroupSpec", {{"template", pod_template()}}},
                 {"workerGroupSpecs", Json::array({{{"groupName", "w"}, {"replicas", 2}, {"template", pod_template()}}})}};
  return out;
}

Json ray_job(const Making& m, const std::string& name) {
  Json out = ray_cluster(m, name);
  Json cluster = out["spec"];
  cluster.erase("suspend");
  out["kind"] = "RayJob";
  out["spec"] = {{"suspend", true}, {"rayClusterSpec", std::move(cluster)}};
  return out;
}

Json workload(const Making& m, const std::string& name) {
  return {{"apiVersion", "kueue.x-k8s.io/v1beta2"},
          {"kind", "Workload"},
          {"metadata", {{"name", name}, {"labels", Json::object()}, {"annotations", Json::object()}}},
          {"spec", {{"queueName", m.queue}, {"podSets", Json::array({{{"name", "main"}, {"count", 1}, {"template", pod_template()}}})}}}};
}

Json owner(std::string_view version, std::string_view kind, std::string_view name, std::string_view uid, bool controller) {
  return {{"apiVersion", version}, {"kind", kind}, {"name", name}, {"uid", uid}, {"controller", controller}};
}

// ---- all of them ------------------------------------------------------------------------------------------------------------------

const std::vector<HostileKind>& kinds() {
  static const std::vector<HostileKind> all = [] {
    std::vector<HostileKind> out;
    for (const auto add : {add_texts, add_numbers, add_shapes, add_owners, add_workloads, add_changes, add_families, add_disguises})
      add(out);
    std::set<std::string> names;
    for (const auto& kind : out)
      if (!names.insert(kind.name).second) throw std::logic_error("two hostile kinds are called " + kind.name);
    return out;
  }();
  return all;
}

const HostileKind& kind_of(std::string_view name) {
  for (const auto& kind : kinds())
    if (kind.name == name) return kind;
  throw std::invalid_argument("no hostile kind is called " + std::string(name));
}

namespace {

/// A status with another letter in all of its texts each time. `message`: of each condition but QuotaReserved; the others likewise.
Json large_status(std::uint64_t n, std::size_t message, std::size_t quota_reserved, std::size_t check, std::size_t updates,
                  std::size_t evictions, std::size_t eviction) {
  const auto text = [n](std::size_t size) { return std::string(size, static_cast<char>('a' + n % 26)); };
  Json conditions = Json::array(), checks = Json::array(), stats = Json::array();
  const auto condition = [&](const char* type, std::size_t size) {
    conditions.push_back({{"type", type},
                          {"status", "False"},
                          {"reason", "Because"},
                          {"message", text(size)},
                          {"lastTransitionTime", "2026-01-01T00:00:00Z"}});
  };
  condition("QuotaReserved", quota_reserved);
  for (const char* type : {"Admitted", "PodsReady", "Evicted", "Preempted", "Requeued"}) condition(type, message);
  for (int i = 0; i < (check == 0 ? 0 : 8); ++i)
    checks.push_back({{"name", "c" + std::to_string(i)},
                      {"state", "Pending"},
                      {"lastTransitionTime", "2026-01-01T00:00:00Z"},
                      {"message", text(check)},
                      {"podSetUpdates", Json::array({{{"name", "main"}, {"annotations", {{"a", text(updates)}}}}})}});
  for (std::size_t i = 0; i < evictions; ++i)
    stats.push_back({{"reason", text(eviction) + std::to_string(i)}, {"underlyingCause", text(eviction)}, {"count", 2147483647}});
  return {{"conditions", std::move(conditions)},
          {"admissionChecks", std::move(checks)},
          {"schedulingStats", {{"evictions", std::move(stats)}}}};
}

/// The first writes make jobs that wait in the tenant's queue, the others change the queue.
Write with_waiting_jobs(Making& m, std::uint64_t n, Json change) {
  constexpr std::uint64_t waiting = 5;
  if (n >= waiting) return patch("LocalQueue", m.queue, std::move(change));
  Json j = job(m, m.name("lq" + std::to_string(n)));
  j["metadata"]["annotations"]["kueue.x-k8s.io/admission-gated-by"] = "a.io/" + std::string(1'000, static_cast<char>('a' + n));
  return create(std::move(j));
}

}  // namespace

namespace {

std::vector<Flood> own_floods() {
  return {{"jobs", Right::jobs, [](Making& m, std::uint64_t n) { return create(job(m, m.name("f" + std::to_string(n)))); }},
          {"jobs-of-new-queues", Right::jobs,
           [](Making& m, std::uint64_t n) {
             Json j = job(m, m.name("q" + std::to_string(n)));
             j["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "nowhere-" + std::to_string(n);
             return create(std::move(j));
           }},
          {"jobs-of-new-shapes", Right::jobs,
           [](Making& m, std::uint64_t n) {
             Json j = job(m, m.name("s" + std::to_string(n)));
             auto& pod = j["spec"]["template"]["spec"];
             // The server refuses an extended resource without a limit that equals the request.
             const std::string extended = "example.com/r" + std::to_string(n);
             pod["containers"][0]["resources"] = {{"requests", {{"cpu", std::to_string(100 + n) + "m"}, {extended, "1"}}},
                                                  {"limits", {{extended, "1"}}}};
             pod["nodeSelector"] = {{"key-" + std::to_string(n), "value"}};
             pod["priorityClassName"] = "class-" + std::to_string(n);
             return create(std::move(j));
           }},
          {"huge-jobs", Right::jobs,
           [](Making& m, std::uint64_t n) {
             Json j = job(m, m.name("h" + std::to_string(n)));
             j["metadata"]["annotations"]["note"] = std::string(100'000, 'x');
             return create(std::move(j));
           }},
          {"changes-of-one-job", Right::jobs,
           [](Making& m, std::uint64_t n) {
             const std::string name = m.name("toggled");
             if (n == 0) return create(job(m, name));
             if (n % 3 == 0) return patch("Job", name, {{"spec", {{"suspend", n % 2 == 0}}}});
             return patch("Job", name, {{"metadata", {{"labels", {{"kueue.x-k8s.io/queue-name", n % 2 == 0 ? m.queue : "other"}}}}}});
           }},
          {"comings-and-goings", Right::jobs,
           [](Making& m, std::uint64_t n) {
             const std::string name = m.name("g" + std::to_string(n / 2));
             return n % 2 == 0 ? create(job(m, name)) : remove("Job", name);
           }},
          {"workloads", Right::workloads, [](Making& m, std::uint64_t n) { return create(workload(m, m.name("w" + std::to_string(n)))); }},
          {"children-of-one-job-set", Right::jobs,
           [](Making& m, std::uint64_t n) {
             const std::string name = m.name("set");
             if (n == 0) return create(job_set(m, name));
             Json j = job(m, m.name("c" + std::to_string(n)));
             j["metadata"]["ownerReferences"] = Json::array({owner("jobset.x-k8s.io/v1alpha2", "JobSet", name, "@uid:JobSet/" + name)});
             j["spec"]["suspend"] = false;
             return create(std::move(j));
           }},
          {"local-queues", Right::queues,
           [](Making& m, std::uint64_t n) {
             const std::string name = m.name("lq" + std::to_string(n / 2));
             if (n % 2 == 1) return remove("LocalQueue", name);
             return create({{"apiVersion", "kueue.x-k8s.io/v1beta2"},
                            {"kind", "LocalQueue"},
                            {"metadata", {{"name", name}}},
                            {"spec", {{"clusterQueue", "nowhere-" + std::to_string(n)}}}});
           }},
          {"stops-of-a-queue", Right::queues,
           [](Making& m, std::uint64_t n) {
             constexpr const char* policies[] = {"Hold", "None", "HoldAndDrain", "None"};
             return with_waiting_jobs(m, n, {{"spec", {{"stopPolicy", policies[n % 4]}}}});
           }},
          {"labels-of-a-queue", Right::queues,
           [](Making& m, std::uint64_t n) {
             return with_waiting_jobs(m, n, {{"metadata", {{"labels", {{"team", "t" + std::to_string(n)}}}}}});
           }},
          {"statuses-beyond-all-limits", Right::statuses,
           [](Making& m, std::uint64_t n) {
             const std::string name = m.name("huge");
             if (n == 0) return create(workload(m, name));
             return patch("Workload", name, {{"status", large_status(n, 32'768, 32'768, 32'768, 30'000, 256, 1'000)}}, true);
           },
           64 * 1024, 6},
          // As large as is read at all (docs/limits.md): each version is recorded, and one more for each write of ours.
          {"statuses-up-to-the-limit", Right::statuses,
           [](Making& m, std::uint64_t n) {
             const std::string name = m.name("full");
             if (n == 0) return create(workload(m, name));
             return patch("Workload", name, {{"status", large_status(n, 4'000, 32'768, 5'000, 5'000, 8, 300)}}, true);
           },
           2 * (128 + 32) * 1024, 2}};
}

}  // namespace

const std::vector<Flood>& floods() {
  static const std::vector<Flood> all = [] {
    std::vector<Flood> out = own_floods();
    add_family_floods(out);
    return out;
  }();
  return all;
}

Json resolved(Json body, const std::function<std::string(const std::string&)>& uid_of) {
  if (body.is_structured()) {
    for (auto& value : body) value = resolved(std::move(value), uid_of);
  } else if (body.is_string()) {
    const auto& text = body.get_ref<const std::string&>();
    if (text.starts_with("@uid:")) return uid_of(text.substr(5));
  }
  return body;
}

}  // namespace hindsight::hostile
