// Workloads, LocalQueues, pods and statuses, for tenants whose role lets them write these.

#include "tests/hostile/hostile_objects.hpp"

namespace hindsight::hostile {
namespace {

Json condition(const char* type, const char* status, std::string reason, std::string message) {
  return {{"type", type},
          {"status", status},
          {"reason", std::move(reason)},
          {"message", std::move(message)},
          {"lastTransitionTime", "2026-01-01T00:00:00Z"}};
}

void specs(std::vector<HostileKind>& out) {
  const auto add = [&out](const std::string& name, std::function<void(Making&, Json&)> change) {
    out.push_back({"workload/" + name, Right::workloads, [change = std::move(change)](Making& m) {
                     Json w = workload(m, m.name("w"));
                     change(m, w);
                     return std::vector<Write>{create(std::move(w))};
                   }});
  };
  for (const int n : {0, 8, 18, 19, 100})
    add("pod-sets-" + std::to_string(n), [n](Making&, Json& w) {
      Json one = w["spec"]["podSets"][0], all = Json::array();
      for (int i = 0; i < n; ++i) {
        one["name"] = "p" + std::to_string(i);
        all.push_back(one);
      }
      w["spec"]["podSets"] = std::move(all);
    });
  add("pod-sets-of-one-name", [](Making&, Json& w) { w["spec"]["podSets"].push_back(w["spec"]["podSets"][0]); });
  add("pod-set-without-a-name", [](Making&, Json& w) { w["spec"]["podSets"][0].erase("name"); });
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{2147483647}, std::int64_t{2147483648}, std::int64_t{-1}}) {
    add("count-" + std::to_string(n), [n](Making&, Json& w) { w["spec"]["podSets"][0]["count"] = n; });
    add("min-count-" + std::to_string(n), [n](Making&, Json& w) {
      w["spec"]["podSets"][0]["count"] = 10;
      w["spec"]["podSets"][0]["minCount"] = n;
    });
    add("priority-" + std::to_string(n), [n](Making&, Json& w) { w["spec"]["priority"] = n; });
    add("max-time-" + std::to_string(n), [n](Making&, Json& w) { w["spec"]["maximumExecutionTimeSeconds"] = n; });
  }
  add("class-of-nobody", [](Making& m, Json& w) {
    w["spec"]["priorityClassRef"] = {{"group", "kueue.x-k8s.io"}, {"kind", "WorkloadPriorityClass"}, {"name", m.name("class")}};
    w["spec"]["priority"] = 2147483647;
  });
  add("queue-of-nobody", [](Making& m, Json& w) { w["spec"]["queueName"] = m.name("nowhere"); });
  add("queue-empty", [](Making&, Json& w) { w["spec"]["queueName"] = ""; });
  add("inactive", [](Making&, Json& w) { w["spec"]["active"] = false; });
  add("with-our-finalizer", [](Making&, Json& w) { w["metadata"]["finalizers"] = Json::array({"kueue.x-k8s.io/resource-in-use"}); });
  add("boosted", [](Making&, Json& w) { w["metadata"]["annotations"]["kueue.x-k8s.io/priority-boost"] = "2147483647"; });
  add("slice-of-nothing", [](Making&, Json& w) {
    w["metadata"]["annotations"]["kueue.x-k8s.io/elastic-job"] = "true";
    w["metadata"]["annotations"]["kueue.x-k8s.io/workload-slice-replacement-for"] = "mallory/none";
    w["metadata"]["annotations"]["kueue.x-k8s.io/workload-slice-name"] = "none";
  });
  add("gated-for-ever",
      [](Making&, Json& w) { w["metadata"]["annotations"]["kueue.x-k8s.io/admission-gated-by"] = std::string(33'000, 'g'); });
  out.push_back({"workload/slices-in-a-circle", Right::workloads, [](Making& m) {
                   std::vector<Write> writes;
                   for (int i = 0; i < 3; ++i) {
                     Json w = workload(m, m.name("s" + std::to_string(i)));
                     w["metadata"]["annotations"] = {
                         {"kueue.x-k8s.io/elastic-job", "true"},
                         {"kueue.x-k8s.io/workload-slice-replacement-for", "mallory/" + m.name("s" + std::to_string((i + 1) % 3))}};
                     w["metadata"]["ownerReferences"] = Json::array({owner("batch/v1", "Job", "none", m.name("uid"))});
                     writes.push_back(create(std::move(w)));
                   }
                   return writes;
                 }});
  out.push_back({"workload/named-as-a-jobs", Right::workloads, [](Making& m) {
                   const std::string name = m.name("prebuilt");
                   Json j = job(m, m.name("user"));
                   j["metadata"]["annotations"]["kueue.x-k8s.io/prebuilt-workload-name"] = name;
                   Json second = job(m, m.name("user2"));
                   second["metadata"]["annotations"]["kueue.x-k8s.io/prebuilt-workload-name"] = name;
                   return std::vector<Write>{create(std::move(j)), create(std::move(second)), create(workload(m, name))};
                 }});
}

void statuses(std::vector<HostileKind>& out) {
  const auto add = [&out](const std::string& name, std::function<Json(Making&)> status) {
    out.push_back(
        {"status/" + name, Right::statuses, [status = std::move(status)](Making& m) {
           const std::string name_of_it = m.name("st");
           return std::vector<Write>{create(workload(m, name_of_it)), patch("Workload", name_of_it, {{"status", status(m)}}, true)};
         }});
  };
  const auto admission = [](const std::string& queue, std::int64_t count, const std::string& cpu) {
    return Json{{"clusterQueue", queue},
                {"podSetAssignments",
                 Json::array({{{"name", "main"}, {"count", count}, {"flavors", {{"cpu", "any"}}}, {"resourceUsage", {{"cpu", cpu}}}}})}};
  };
  add("finished", [](Making&) { return Json{{"conditions", Json::array({condition("Finished", "True", "Succeeded", "")})}}; });
  add("huge-message", [](Making&) {
    return Json{{"conditions", Json::array({condition("QuotaReserved", "False", "Pending", std::string(32'768, 'm'))})}};
  });
  add("hostile-message", [](Making&) {
    return Json{{"conditions", Json::array({condition("Evicted", "True", "Preempted", "\x1b[2J\xe2\x80\xae evil"),
                                            condition("Requeued", "False", "X", "")})}};
  });
  add("all-conditions", [](Making&) {
    Json all = Json::array();
    for (const char* type : {"QuotaReserved", "Admitted", "PodsReady", "Evicted", "Preempted", "Requeued", "DeactivationTarget",
                             "WaitingForReplacementPods", "BlockedOnPreemptionGates"})
      all.push_back(condition(type, "True", "Because", "so"));
    return Json{{"conditions", std::move(all)}};
  });
  add("admitted-by-itself", [admission](Making&) {
    return Json{{"admission", admission("mallory", 1, "1")},
                {"conditions",
                 Json::array({condition("QuotaReserved", "True", "QuotaReserved", ""), condition("Admitted", "True", "Admitted", "")})}};
  });
  add("admitted-elsewhere", [admission](Making&) {
    return Json{{"admission", admission("nowhere", 1, "1")},
                {"conditions", Json::array({condition("QuotaReserved", "True", "QuotaReserved", "")})}};
  });
  add("admitted-with-everything", [admission](Making&) {
    return Json{{"admission", admission("mallory", 2147483647, "9223372036854775807")},
                {"conditions", Json::array({condition("QuotaReserved", "True", "QuotaReserved", "")})}};
  });
  add("checks-of-nobody", [](Making&) {
    Json checks = Json::array();
    for (int i = 0; i < 8; ++i)
      checks.push_back({{"name", "c" + std::to_string(i)},
                        {"state", "Retry"},
                        {"lastTransitionTime", "2026-01-01T00:00:00Z"},
                        {"message", "x"},
                        {"requeueAfterSeconds", 2147483647},
                        {"retryCount", 2147483647}});
    return Json{{"admissionChecks", std::move(checks)}};
  });
  add("requeued-in-the-year-9999", [](Making&) {
    return Json{{"requeueState", {{"count", 2147483647}, {"requeueAt", "9999-12-31T23:59:59Z"}}}};
  });
  add("requeued-before-time", [](Making&) { return Json{{"requeueState", {{"count", 0}, {"requeueAt", "0001-01-01T00:00:00Z"}}}}; });
  add("reclaims-more-than-there-is", [](Making&) {
    return Json{{"reclaimablePods", Json::array({{{"name", "main"}, {"count", 2147483647}}, {{"name", "none"}, {"count", 1}}})}};
  });
  add("ran-for-ever", [](Making&) { return Json{{"accumulatedPastExecutionTimeSeconds", 2147483647}}; });
  add("evicted-thousands-of-times", [](Making&) {
    Json all = Json::array();
    for (int i = 0; i < 1'000; ++i) all.push_back({{"reason", "R" + std::to_string(i)}, {"underlyingCause", ""}, {"count", 1}});
    return Json{{"schedulingStats", {{"evictions", std::move(all)}}}};
  });
  add("asked-for-much", [](Making&) {
    return Json{{"resourceRequests", Json::array({{{"name", "main"}, {"resources", {{"cpu", "1e30"}}}}})}};
  });
  // Of jobs and pods.
  const auto of_job = [&out](const std::string& name, Json status) {
    out.push_back({"job-status/" + name, Right::statuses, [status = std::move(status)](Making& m) {
                     const std::string job_name = m.name("js");
                     return std::vector<Write>{create(job(m, job_name)), patch("Job", job_name, {{"status", status}}, true)};
                   }});
  };
  of_job("active", {{"active", 2147483647}, {"ready", 2147483647}});
  of_job("complete", {{"conditions", Json::array({condition("Complete", "True", "x", std::string(40'000, 'c')),
                                                  condition("SuccessCriteriaMet", "True", "x", "")})},
                      {"succeeded", 1},
                      {"startTime", "2026-01-01T00:00:00Z"},
                      {"completionTime", "2026-01-01T00:00:01Z"}});
  of_job("negative", {{"active", -5}, {"succeeded", -7}, {"failed", -9}});
  of_job("uncounted", {{"uncountedTerminatedPods", {{"succeeded", Json::array({"a", "b", "c"})}}}});
}

using Maker = Json (*)(const Making&, const std::string&);

/// Statuses that the controllers of others write, before and after the job is to run.
void foreign_statuses(std::vector<HostileKind>& out) {
  const auto add = [&out](const std::string& kind, Maker make, const std::string& name, std::vector<Json> all) {
    out.push_back({kind + "-status/" + name, Right::statuses, [kind, make, all = std::move(all)](Making& m) {
                     const std::string of = m.name("fs");
                     std::vector<Write> writes{create(make(m, of))};
                     for (const Json& suspend : {Json(true), Json(false)}) {
                       writes.push_back(patch(kind, of, {{"spec", {{"suspend", suspend}}}}));
                       for (const auto& status : all) writes.push_back(patch(kind, of, {{"status", status}}, true));
                     }
                     return writes;
                   }});
  };
  const std::string huge(40'000, 'h'), evil = "\x1b[2J\xe2\x80\xae evil";
  const auto both = [](const char* key, std::initializer_list<const char*> values) {
    std::vector<Json> all;
    for (const char* value : values) all.push_back({{key, value}});
    return all;
  };

  add("RayJob", ray_job, "deployment-goes-back-and-forth",
      both("jobDeploymentStatus", {"Running", "Suspended", "Complete", "New", "Failed", "Running", "ValidationFailed", "Retrying", ""}));
  add("RayJob", ray_job, "deployment-of-no-kind", {{{"jobDeploymentStatus", huge}}, {{"jobDeploymentStatus", evil}}});
  add("RayJob", ray_job, "deployment-is-a-number", {{{"jobDeploymentStatus", 7}, {"jobStatus", Json::array()}}});
  add("RayJob", ray_job, "ended-with-a-long-message",
      {{{"jobDeploymentStatus", "Complete"}, {"jobStatus", "SUCCEEDED"}, {"message", huge}}});
  add("RayJob", ray_job, "cluster-of-nobody", {{{"rayClusterName", "nobody"}, {"jobDeploymentStatus", "Running"}}});
  add("RayJob", ray_job, "cluster-with-a-long-name",
      {{{"rayClusterName", huge}}, {{"rayClusterName", evil}}, {{"rayClusterName", "../../../x"}}});
  add("RayJob", ray_job, "cluster-is-a-list", {{{"rayClusterName", Json::array({"a"})}, {"rayClusterStatus", "ready"}}});
  add("RayCluster", ray_cluster, "state-goes-back-and-forth", both("state", {"ready", "suspended", "failed", "READY", "", "ready"}));
  add("RayCluster", ray_cluster, "state-of-no-kind", {{{"state", huge}}, {{"state", evil}}, {{"state", {{"a", "b"}}}}});
  add("RayCluster", ray_cluster, "strange-numbers",
      {{{"desiredWorkerReplicas", -1}, {"availableWorkerReplicas", 2147483647}, {"desiredCPU", "1e30"}}});
  add("JobSet", job_set, "ended-and-not",
      {{{"conditions", Json::array({condition("Completed", "True", "x", huge)})}},
       {{"conditions", Json::array({condition("Completed", "False", "x", "")})}},
       {{"conditions", Json::array({condition("Failed", "True", evil, evil)})}},
       {{"conditions", Json::array()}}});
  add("JobSet", job_set, "strange-numbers",
      {{{"replicatedJobsStatus",
         Json::array(
             {{{"name", "w"}, {"ready", -1}, {"succeeded", 2147483647}, {"failed", 2147483647}, {"active", -5}, {"suspended", 9}}})}},
       {{"replicatedJobsStatus", Json::array({{{"name", "w"}, {"succeeded", 1}}, {{"name", "w"}, {"succeeded", 2}}})}},
       {{"replicatedJobsStatus", "none"}},
       {{"restarts", -3}, {"terminalState", huge}}});
  Json many = Json::array();
  for (int i = 0; i < 2'000; ++i) many.push_back({{"name", "r" + std::to_string(i)}, {"ready", 1}, {"succeeded", 1}});
  add("JobSet", job_set, "thousands-of-jobs", {{{"replicatedJobsStatus", std::move(many)}}});

  // Elastic, and as large as a cluster that it names: that one grows when it runs, and others claim to be part of it.
  out.push_back({"RayJob-status/grows-by-its-cluster", Right::statuses, [](Making& m) {
                   const std::string name = m.name("grown");
                   Json j = ray_job(m, name);
                   j["metadata"]["annotations"]["kueue.x-k8s.io/elastic-job"] = "true";
                   j["spec"]["submissionMode"] = "HTTPMode";
                   j["spec"]["rayClusterSpec"]["enableInTreeAutoscaling"] = true;
                   j["spec"]["rayClusterSpec"]["workerGroupSpecs"][0]["replicas"] = 1;
                   const auto part = [&](const std::string& as, int replicas) {
                     Json c = ray_cluster(m, as);
                     c["metadata"]["ownerReferences"] = Json::array({owner("ray.io/v1", "RayJob", name, "@uid:RayJob/" + name)});
                     c["spec"]["suspend"] = false;
                     c["spec"]["workerGroupSpecs"][0]["replicas"] = replicas;
                     return c;
                   };
                   const std::string cluster = m.name("gc");
                   std::vector<Write> writes{create(std::move(j)), create(part(cluster, 1)),
                                             patch("RayJob", name, {{"status", {{"rayClusterName", cluster}}}}, true)};
                   for (const int replicas : {1'000, 0, 2'147'483'647, 1}) {
                     Json group = part(cluster, replicas)["spec"]["workerGroupSpecs"];
                     writes.push_back(patch("RayCluster", cluster, {{"spec", {{"workerGroupSpecs", std::move(group)}}}}));
                     writes.push_back(create(part(m.name("thief" + std::to_string(replicas)), 50)));
                   }
                   return writes;
                 }});
}

void pod_statuses(std::vector<HostileKind>& out) {
  const auto add = [&out](const std::string& name, bool gated, std::vector<Json> all) {
    out.push_back({"pod-status/" + name, Right::statuses, [gated, all = std::move(all)](Making& m) {
                     const std::string job_name = m.name("pj");
                     Json j = job(m, job_name);
                     j["metadata"]["annotations"]["kueue.x-k8s.io/elastic-job"] = "true";
                     Json pod = pod_template();
                     pod["apiVersion"] = "v1";
                     pod["kind"] = "Pod";
                     pod["metadata"]["name"] = m.name("ps");
                     pod["metadata"]["labels"] = {{"kueue.x-k8s.io/podset", "main"}};
                     pod["metadata"]["ownerReferences"] = Json::array({owner("batch/v1", "Job", job_name, "@uid:Job/" + job_name)});
                     if (gated) pod["spec"]["schedulingGates"] = Json::array({{{"name", "kueue.x-k8s.io/elastic-job"}}});
                     std::vector<Write> writes{create(std::move(j)), create(std::move(pod))};
                     for (const auto& status : all) writes.push_back(patch("Pod", m.name("ps"), {{"status", status}}, true));
                     return writes;
                   }});
  };
  const std::vector<Json> phases{
      {{"phase", "Running"}}, {{"phase", "Succeeded"}}, {{"phase", "Pending"}}, {{"phase", "Failed"}},
      {{"phase", "Running"}}, {{"phase", ""}},          {{"phase", 7}},         {{"phase", std::string(70'000, 'p')}}};
  add("phases-of-a-gated-one", true, phases);
  add("phases", false, phases);
  add("ready-and-not", false,
      {{{"conditions", Json::array({condition("Ready", "True", "x", std::string(40'000, 'r'))})}},
       {{"conditions", Json::array({condition("Ready", "False", "x", "")})}},
       {{"conditions", "none"}}});
}

void queues(std::vector<HostileKind>& out) {
  const auto add = [&out](const std::string& name, Json spec) {
    out.push_back(
        {"local-queue/" + name, Right::queues, [spec = std::move(spec)](Making& m) {
           const std::string queue = m.name("lq");
           Json j = job(m, m.name("jlq"));
           j["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = queue;
           return std::vector<Write>{
               create({{"apiVersion", "kueue.x-k8s.io/v1beta2"}, {"kind", "LocalQueue"}, {"metadata", {{"name", queue}}}, {"spec", spec}}),
               create(std::move(j)), patch("LocalQueue", queue, {{"spec", {{"stopPolicy", "HoldAndDrain"}}}}),
               patch("LocalQueue", queue, {{"spec", {{"stopPolicy", "None"}}}})};
         }});
  };
  add("of-nobody", {{"clusterQueue", "nowhere"}});
  add("of-another-tenant", {{"clusterQueue", "good-0"}});
  add("of-itself", {{"clusterQueue", "mallory"}});
  add("held", {{"clusterQueue", "mallory"}, {"stopPolicy", "Hold"}});
  add("weightless", {{"clusterQueue", "mallory"}, {"fairSharing", {{"weight", "0"}}}});
  add("heavy", {{"clusterQueue", "mallory"}, {"fairSharing", {{"weight", "9223372036854775807"}}}});
  out.push_back({"local-queue/comes-and-goes", Right::queues, [](Making& m) {
                   std::vector<Write> writes;
                   const std::string queue = m.name("cg");
                   Json j = job(m, m.name("jcg"));
                   j["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = queue;
                   writes.push_back(create(std::move(j)));
                   for (int i = 0; i < 6; ++i) {
                     writes.push_back(create({{"apiVersion", "kueue.x-k8s.io/v1beta2"},
                                              {"kind", "LocalQueue"},
                                              {"metadata", {{"name", queue}}},
                                              {"spec", {{"clusterQueue", "mallory"}}}}));
                     writes.push_back(remove("LocalQueue", queue));
                   }
                   return writes;
                 }});
  out.push_back({"limit-range/contradicts-itself", Right::queues, [](Making& m) {
                   return std::vector<Write>{
                       create({{"apiVersion", "v1"},
                               {"kind", "LimitRange"},
                               {"metadata", {{"name", m.name("lr")}}},
                               {"spec",
                                {{"limits", Json::array({{{"type", "Container"},
                                                          {"min", {{"cpu", "5"}}},
                                                          {"max", {{"cpu", "1"}}},
                                                          {"default", {{"memory", "1Ei"}}},
                                                          {"defaultRequest", {{"memory", "9223372036854775807"}}}}})}}}}),
                       create(job(m, m.name("ranged")))};
                 }});
}

void pods(std::vector<HostileKind>& out) {
  const auto add = [&out](const std::string& name, std::function<void(Making&, Json&)> change) {
    out.push_back({"pod/" + name, Right::jobs, [change = std::move(change)](Making& m) {
                     Json pod = pod_template();
                     pod["apiVersion"] = "v1";
                     pod["kind"] = "Pod";
                     pod["metadata"]["name"] = m.name("pod");
                     pod["metadata"]["labels"] = {{"kueue.x-k8s.io/podset", "main"}};
                     change(m, pod);
                     return std::vector<Write>{create(std::move(pod))};
                   }});
  };
  add("plain", [](Making&, Json&) {});
  add("gated", [](Making&, Json& p) { p["spec"]["schedulingGates"] = Json::array({{{"name", "kueue.x-k8s.io/elastic-job"}}}); });
  add("index-beyond", [](Making&, Json& p) {
    p["metadata"]["annotations"] = {{"batch.kubernetes.io/job-completion-index", "99999999999999999999"},
                                    {"kueue.x-k8s.io/workload-slice-name", std::string(70'000, 's')}};
    p["metadata"]["ownerReferences"] = Json::array({owner("batch/v1", "Job", "x", "uid-of-nobody")});
  });
  add("queued", [](Making&, Json& p) { p["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "lq"; });
  add("managed", [](Making&, Json& p) {
    p["metadata"]["labels"]["kueue.x-k8s.io/managed"] = "true";
    p["metadata"]["finalizers"] = Json::array({"kueue.x-k8s.io/managed"});
  });
}

}  // namespace

void add_workloads(std::vector<HostileKind>& out) {
  specs(out);
  statuses(out);
  foreign_statuses(out);
  pod_statuses(out);
  queues(out);
  pods(out);
}

}  // namespace hindsight::hostile
