// Objects that say to be something else than they are, or whose business is somebody else's: managed by others, with labels that only
// controllers write, on nodes that no scheduler chose, held while they go, in circles of another kind than ownership.

#include "tests/hostile/hostile_objects.hpp"

namespace hindsight::hostile {
namespace {

using Writes = std::vector<Write>;

Victim somebody(Making& m) {
  if (m.victims.empty()) return {"elsewhere", "nobody", "00000000-0000-0000-0000-000000000000"};
  return m.victims[m.random.below(m.victims.size())];
}

/// A job that was changed before it is written.
void add_job(std::vector<HostileKind>& out, const std::string& name, std::function<void(Making&, Json&)> change) {
  out.push_back({"disguise/" + name, Right::jobs, [change = std::move(change)](Making& m) {
                   Json j = job(m, m.name("dis"));
                   change(m, j);
                   return Writes{create(std::move(j))};
                 }});
}

void jobs(std::vector<HostileKind>& out) {
  for (const char* by : {"kueue.x-k8s.io/multikueue", "example.com/nobody", "kubernetes.io/job-controller"})
    add_job(out, "managed-by/" + std::string(by), [by](Making&, Json& j) {
      j["spec"]["managedBy"] = by;
      j["spec"]["suspend"] = false;
    });
  // Labels of the Job controller, which say whose pods these are, with the names of somebody else's job.
  add_job(out, "labels-of-somebody-elses-job", [](Making& m, Json& j) {
    const Victim v = somebody(m);
    j["spec"]["template"]["metadata"]["labels"] = {{"job-name", v.name},
                                                   {"batch.kubernetes.io/job-name", v.name},
                                                   {"controller-uid", v.uid},
                                                   {"batch.kubernetes.io/controller-uid", v.uid},
                                                   {"kueue.x-k8s.io/podset", "main"},
                                                   {"jobset.sigs.k8s.io/jobset-name", v.name}};
  });
  add_job(out, "selects-pods-of-somebody-else", [](Making& m, Json& j) {
    const Json labels = {{"batch.kubernetes.io/job-name", somebody(m).name}};
    j["spec"]["manualSelector"] = true;
    j["spec"]["selector"] = {{"matchLabels", labels}};
    j["spec"]["template"]["metadata"]["labels"] = labels;
  });
  add_job(out, "conditions-from-the-beginning", [](Making&, Json& j) {
    j["status"] = {{"conditions", Json::array({{{"type", "Complete"}, {"status", "True"}}})},
                   {"completionTime", "1970-01-01T00:00:00Z"},
                   {"startTime", "9999-12-31T23:59:59Z"},
                   {"active", 2147483647}};
  });
  add_job(out, "goes-from-the-beginning", [](Making&, Json& j) {
    j["metadata"]["deletionTimestamp"] = "2001-01-01T00:00:00Z";
    j["metadata"]["deletionGracePeriodSeconds"] = 0;
    j["metadata"]["finalizers"] = Json::array({"example.com/stays"});
    j["spec"]["suspend"] = false;
  });
  add_job(out, "made-in-the-year-1", [](Making&, Json& j) {
    j["metadata"]["creationTimestamp"] = "0001-01-01T00:00:00Z";
    j["metadata"]["generation"] = -5;
    j["metadata"]["resourceVersion"] = "";
    j["metadata"]["uid"] = "00000000-0000-0000-0000-000000000000";
  });
  add_job(out, "hundreds-of-finalizers", [](Making&, Json& j) {
    Json all = Json::array();
    for (int i = 0; i < 300; ++i) all.push_back("example.com/f" + std::to_string(i));
    j["metadata"]["finalizers"] = std::move(all);
  });
  add_job(out, "our-own-finalizer", [](Making&, Json& j) {
    j["metadata"]["finalizers"] = Json::array({"kueue.x-k8s.io/managed", "kueue.x-k8s.io/resource-in-use", "foregroundDeletion", "orphan"});
  });
  add_job(out, "annotations-of-all-writing-systems", [](Making&, Json& j) {
    // Right to left, marks without width, a flag, half of a pair of halves, a name in two forms.
    j["metadata"]["annotations"] = {{"example.com/text", "\u202e\u2066\u200bאבג\u0301\U0001F1E9\U0001F1EA\uFEFF\u0085"},
                                    {"hindsight.dev/run-seconds", "\u0661\u0662"},
                                    {"kueue.x-k8s.io/admission-gated-by", "exa\u0441mple.com/g\u200bate"},
                                    {"kueue.x-k8s.io/prebuilt-workload-name", "\uFF57\uFF4F\uFF52\uFF4B"}};
  });
  add_job(out, "failure-policy-of-hundreds", [](Making&, Json& j) {
    Json rules = Json::array(), codes = Json::array();
    for (int i = 1; i < 255; ++i) codes.push_back(i);
    for (int i = 0; i < 20; ++i)
      rules.push_back({{"action", "Ignore"}, {"onExitCodes", {{"containerName", "c"}, {"operator", "In"}, {"values", codes}}}});
    j["spec"]["podFailurePolicy"] = {{"rules", std::move(rules)}};
    j["spec"]["backoffLimit"] = 2147483647;
  });
  add_job(out, "ends-before-it-begins", [](Making&, Json& j) {
    j["spec"]["activeDeadlineSeconds"] = 1;
    j["spec"]["ttlSecondsAfterFinished"] = 0;
    j["spec"]["completions"] = 0;
    j["spec"]["suspend"] = false;
  });
}

void job_sets(std::vector<HostileKind>& out) {
  for (const int length : {1, 2, 12})
    out.push_back({"disguise/job-set-depends-in-a-circle-of-" + std::to_string(length), Right::jobs, [length](Making& m) {
                     Json set = job_set(m, m.name("ring"));
                     const Json part = set["spec"]["replicatedJobs"][0];
                     Json parts = Json::array();
                     for (int i = 0; i < length; ++i) {
                       parts.push_back(part);
                       parts[static_cast<std::size_t>(i)]["name"] = "r" + std::to_string(i);
                       parts[static_cast<std::size_t>(i)]["replicas"] = 1;
                       parts[static_cast<std::size_t>(i)]["dependsOn"] =
                           Json::array({{{"name", "r" + std::to_string((i + 1) % length)}, {"status", "Complete"}}});
                     }
                     set["spec"]["replicatedJobs"] = std::move(parts);
                     return Writes{create(std::move(set))};
                   }});
  out.push_back({"disguise/job-set-coordinated-by-nobody", Right::jobs, [](Making& m) {
                   Json set = job_set(m, m.name("set"));
                   set["spec"]["coordinator"] = {{"replicatedJob", "nobody"}, {"jobIndex", 2147483647}, {"podIndex", 2147483647}};
                   set["spec"]["managedBy"] = "example.com/nobody";
                   set["spec"]["suspend"] = false;
                   return Writes{create(std::move(set))};
                 }});
}

void pods(std::vector<HostileKind>& out) {
  const auto add = [&out](const std::string& name, std::function<void(Making&, Json&)> change) {
    out.push_back({"disguise/pod-" + name, Right::jobs, [change = std::move(change)](Making& m) {
                     Json pod = pod_template();
                     pod["apiVersion"] = "v1";
                     pod["kind"] = "Pod";
                     pod["metadata"]["name"] = m.name("pod");
                     change(m, pod);
                     return Writes{create(std::move(pod))};
                   }});
  };
  // No scheduler chose the node: whoever writes pods may say where they are.
  for (const char* cpu : {"1", "9223372036854775807", "1n"})
    add("on-a-node-of-nobody/" + std::string(cpu), [cpu](Making& m, Json& p) {
      p["spec"]["nodeName"] = m.name("no-such-node");
      p["spec"]["containers"][0]["resources"]["requests"]["cpu"] = cpu;
    });
  add("of-somebody-elses-job", [](Making& m, Json& p) {
    const Victim v = somebody(m);
    p["metadata"]["labels"] = {{"batch.kubernetes.io/job-name", v.name}, {"batch.kubernetes.io/controller-uid", v.uid}};
    p["metadata"]["annotations"] = {{"batch.kubernetes.io/job-completion-index", "0"}, {"kueue.x-k8s.io/workload", v.name}};
    p["spec"]["schedulingGates"] = Json::array({{{"name", "kueue.x-k8s.io/topology"}}});
  });
  add("gated-by-all", [](Making&, Json& p) {
    Json gates = Json::array();
    for (int i = 0; i < 200; ++i) gates.push_back({{"name", "example.com/g" + std::to_string(i)}});
    gates.push_back({{"name", "kueue.x-k8s.io/topology"}});
    gates.push_back({{"name", "kueue.x-k8s.io/admission"}});
    p["spec"]["schedulingGates"] = std::move(gates);
  });
}

}  // namespace

void add_disguises(std::vector<HostileKind>& out) {
  jobs(out);
  job_sets(out);
  pods(out);
}

}  // namespace hindsight::hostile
