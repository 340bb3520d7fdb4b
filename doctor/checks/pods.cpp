#include "doctor/checks/pods.hpp"

#include <algorithm>
#include <set>

#include "connectors/kubernetes/api_path.hpp"
#include "connectors/manifests/json_views.hpp"
#include "connectors/manifests/quantity_text.hpp"
#include "doctor/manifests.hpp"

namespace hindsight::doctor {
namespace {

namespace m = connectors::manifests;

constexpr std::size_t pods_max = 100;
constexpr std::int64_t restarts_tolerated = 3;

bool is_image_trouble(const std::string& reason) {
  return reason == "ImagePullBackOff" || reason == "ErrImagePull" || reason == "InvalidImageName" || reason == "ErrImageNeverPull";
}

void judge_pod(const PodFacts& pod, const PodsFacts& facts, Outcome& out, const Commands& commands) {
  const auto& installation = facts.installation;
  const std::string object = "Pod " + installation.namespace_ + "/" + pod.name;
  const std::string of_pod = in_namespace(installation.namespace_) + " pod/" + as_word(pod.name);
  if (!pod.unscheduled.empty())
    out.add({Severity::error, object, "no node takes it: " + pod.unscheduled, "a node with room for its requests, and its volume",
             "Make room, or let it ask for less; what is said of it", commands.kubectl("describe " + of_pod)});
  if (is_image_trouble(pod.waiting))
    out.add({Severity::error, object, pod.waiting + ": " + (pod.waiting_message.empty() ? "image " + pod.image : pod.waiting_message),
             "an image that the node can get", "Put it where nodes get it, or name another one in place of IMAGE",
             commands.kubectl("set image " + installation.deployment_words() + " " + as_word(installation.container) + "=IMAGE")});
  else if (pod.waiting == "CrashLoopBackOff")
    out.add({Severity::error, object,
             "it ends again and again, the last time with " + (pod.last_end.empty() ? "status" : pod.last_end) + " " +
                 std::to_string(pod.last_exit),
             "a process that runs", "See what it said last", commands.kubectl("logs " + of_pod + " --previous --tail=50")});
  else if (!pod.waiting.empty() && pod.waiting != "ContainerCreating" && pod.waiting != "PodInitializing")
    out.add({Severity::error, object, pod.waiting + ": " + pod.waiting_message, "a container that runs", "See what is said of it",
             commands.kubectl("describe " + of_pod)});
  if (pod.last_end == "OOMKilled")
    out.add({Severity::error, object,
             "it was ended because it took more memory than its limit, " +
                 (facts.memory_limit.empty() ? "that of its node" : facts.memory_limit) + " (" +
                 counted(static_cast<std::size_t>(std::max<std::int64_t>(pod.restarts, 0)), "restart", "restarts") + ")",
             "a limit above what its state needs (docs/scale.md)", "Give it more",
             commands.kubectl("set resources " + installation.deployment_words() + " -c " + as_word(installation.container) +
                              " --limits=memory=" + as_word(facts.memory_limit.empty() ? "4Gi" : twice(facts.memory_limit)))});
  else if (pod.restarts > restarts_tolerated && pod.waiting != "CrashLoopBackOff")
    out.add({Severity::warning, object,
             "it has started again " + std::to_string(pod.restarts) + " times" +
                 (pod.last_end.empty() ? "" : ", the last time after " + pod.last_end),
             "at most " + std::to_string(restarts_tolerated), "See what it said before it ended",
             commands.kubectl("logs " + of_pod + " --previous --tail=50")});
}

PodFacts pod_of(const Json& object, const std::string& container) {
  PodFacts out;
  const Json& status = m::member(object, "status");
  out.name = std::string(m::text(m::member(object, "metadata"), "name"));
  out.phase = std::string(m::text(status, "phase"));
  out.ready = m::condition_is(status, "Ready");
  if (m::condition_is(status, "PodScheduled", "False")) {
    out.unscheduled = std::string(m::text(m::condition(status, "PodScheduled"), "message"));
    if (out.unscheduled.empty()) out.unscheduled = "Unschedulable";
  }
  const Json& containers = m::member(status, "containerStatuses");
  if (!containers.is_array()) return out;
  for (const auto& one : containers) {
    if (m::text(one, "name") != container) continue;
    out.image = std::string(m::text(one, "image"));
    out.restarts = m::number(one, "restartCount").value_or(0);
    const Json& waiting = m::member(one, "state", "waiting");
    out.waiting = std::string(m::text(waiting, "reason"));
    out.waiting_message = std::string(m::text(waiting, "message"));
    const Json* ended = &m::member(one, "state", "terminated");
    if (ended->is_null()) ended = &m::member(one, "lastState", "terminated");
    out.last_end = std::string(m::text(*ended, "reason"));
    out.last_exit = m::number(*ended, "exitCode").value_or(0);
  }
  return out;
}

/// "a=b,c=d" of a selector of labels.
std::string selector_text(const Json& selector) {
  std::string out;
  const Json& labels = m::member(selector, "matchLabels");
  if (labels.is_object())
    for (const auto& [key, value] : labels.items())
      if (value.is_string()) out += (out.empty() ? "" : ",") + key + "=" + value.get<std::string>();
  return out;
}

}  // namespace

std::string twice(const std::string& quantity) {
  auto read = m::read_milli_quantity(quantity);
  if (!read) return quantity;
  read->millis *= 2;
  return m::canonical_text(*read);
}

Outcome judge_pods(const PodsFacts& facts, const Commands& commands) {
  const auto& installation = facts.installation;
  if (!installation.deployed()) return skipped("there is no Deployment of Hindsight in " + installation.namespace_);
  Outcome out;
  const std::string object = "Deployment " + installation.namespace_ + "/" + installation.deployment;
  if (installation.replicas() == 0)
    out.add({Severity::error, object, "it is scaled to nothing: nobody decides", "one replica", "Start it",
             commands.kubectl("scale " + installation.deployment_words() + " --replicas=1")});
  if (!facts.failure.empty())
    out.add({Severity::error, object, "its pods cannot be made: " + facts.failure, "a pod",
             "Remove what forbids it (a quota, a policy); what is said of it",
             commands.kubectl("describe " + installation.deployment_words())});
  const std::string log = installation.value_of("--log");
  if (installation.replicas() > 1 && (log.empty() || log.starts_with("sqlite:")))
    out.add({Severity::error, object, std::to_string(installation.replicas()) + " replicas with a log in a file, which one process writes",
             "one replica; several with a log on Kafka (docs/operations.md)", "Leave one",
             commands.kubectl("scale " + installation.deployment_words() + " --replicas=1")});
  for (const auto& claim : facts.claims) {
    if (!claim.there)
      out.add({Severity::error, "PersistentVolumeClaim " + installation.namespace_ + "/" + claim.name,
               "it is not there: the pod waits for it", "a claim for the log", "Make it, as deploy/ has it",
               commands.print_to(names::deployment, "apply")});
    else if (claim.phase != "Bound")
      out.add({claim.phase == "Lost" ? Severity::error : Severity::warning,
               "PersistentVolumeClaim " + installation.namespace_ + "/" + claim.name,
               "it is " + (claim.phase.empty() ? "not bound" : claim.phase) +
                   (claim.storage_class.empty() ? ", and names no storage class: the cluster may have no default one"
                                                : ", storage class " + claim.storage_class),
               "Bound", "See why, and whether the cluster has a storage class that makes volumes",
               commands.kubectl("get storageclass") + "; " +
                   commands.kubectl(in_namespace(installation.namespace_) + " describe pvc " + as_word(claim.name))});
  }
  for (const auto& pod : facts.pods) judge_pod(pod, facts, out, commands);
  const auto ready =
      static_cast<std::size_t>(std::count_if(facts.pods.begin(), facts.pods.end(), [](const auto& pod) { return pod.ready; }));
  if (installation.replicas() > 0 && ready == 0 && out.findings.empty())
    out.add({Severity::error, object, facts.pods.empty() ? "it has no pod" : "none of its pods is ready", "a pod that is ready",
             "See what it waits for",
             commands.kubectl(in_namespace(installation.namespace_) + " get pods,events" + (facts.selector.empty() ? "" : " -o wide"))});
  out.summary = object + ", " + std::to_string(ready) + " of " + std::to_string(installation.replicas()) + " ready";
  return out;
}

Outcome examine_pods(Context& context) {
  PodsFacts facts;
  facts.installation = context.installation;
  if (!context.no_installation.empty()) return blind(context.no_installation);
  if (!facts.installation.deployed()) return judge_pods(facts, context.commands);
  const Json& spec = m::member(facts.installation.object, "spec");
  const Json& pod_spec = m::member(m::member(spec, "template"), "spec");
  if (m::condition_is(m::member(facts.installation.object, "status"), "ReplicaFailure"))
    facts.failure = std::string(m::text(m::condition(m::member(facts.installation.object, "status"), "ReplicaFailure"), "message"));
  const std::string base = "/api/v1/namespaces/" + connectors::kubernetes::escape(facts.installation.namespace_);
  facts.selector = selector_text(m::member(spec, "selector"));
  const auto pods = list(*context.cluster, base + "/pods", "labelSelector=" + connectors::kubernetes::escape(facts.selector), pods_max);
  if (!pods) return blind(pods.error().message);
  for (const auto& one : pods->items) facts.pods.push_back(pod_of(one, facts.installation.container));
  for (const auto& container : m::member(pod_spec, "containers"))
    if (m::text(container, "name") == facts.installation.container)
      facts.memory_limit = std::string(m::text(m::member(m::member(container, "resources"), "limits"), "memory"));
  for (const auto& volume : m::member(pod_spec, "volumes")) {
    const std::string name(m::text(m::member(volume, "persistentVolumeClaim"), "claimName"));
    if (name.empty()) continue;
    const auto claim = find(*context.cluster, base + "/persistentvolumeclaims/" + connectors::kubernetes::escape(name));
    if (!claim) return blind(claim.error().message);
    if (!*claim)
      facts.claims.push_back({name, "", "", false});
    else
      facts.claims.push_back({name, std::string(m::text(m::member(**claim, "status"), "phase")),
                              std::string(m::text(m::member(**claim, "spec"), "storageClassName")), true});
  }
  return judge_pods(facts, context.commands);
}

}  // namespace hindsight::doctor
