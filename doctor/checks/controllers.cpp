#include "doctor/checks/controllers.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "connectors/manifests/json_views.hpp"

namespace hindsight::doctor {
namespace {

namespace m = connectors::manifests;

constexpr std::size_t leases_max = 50;
constexpr std::size_t kueue_max = 50;
constexpr std::size_t workloads_max = 1000;
/// Who wrote before that may have been replaced since.
constexpr Duration lately = Duration::seconds(600);
/// Controllers of Kueue write as these; those of admission checks have other names and are welcome.
bool writes_as_kueue(const std::string& manager) { return manager == "kueue" || manager.starts_with("kueue-") || manager == "manager"; }

Time time_in(const Json& object, const char* member) { return parse_rfc3339(m::text(object, member)).value_or(Time::never()); }

std::string full_name(const std::string& namespace_, const std::string& name) { return namespace_ + "/" + name; }

void take_writers(const Json& workload, Time now, std::map<std::string, WriterFacts>& out) {
  const Json& meta = m::member(workload, "metadata");
  const Json& fields = m::member(meta, "managedFields");
  if (!fields.is_array()) return;
  for (const auto& entry : fields) {
    const std::string manager(m::text(entry, "manager"));
    const Time when = time_in(entry, "time");
    if (m::text(entry, "subresource") != "status" || manager.empty() || !when.is_set() || now - when > lately) continue;
    auto& writer = out[manager];
    writer.manager = manager;
    ++writer.objects;
    if (!writer.last.is_set() || when > writer.last) {
      writer.last = when;
      writer.example = full_name(std::string(m::text(meta, "namespace")), std::string(m::text(meta, "name")));
    }
  }
}

}  // namespace

bool LeaseFacts::is_held(Time now) const {
  return !holder.empty() && renewed.is_set() && now - renewed <= Duration::seconds(2 * std::clamp<std::int64_t>(duration_seconds, 1, 3600));
}

Outcome judge_controllers(const ControllersFacts& facts, const Commands& commands) {
  Outcome out;
  const bool observes = facts.installation.has_flag("--observe");
  const auto severity = observes ? Severity::note : Severity::error;
  const std::string allowed = "one controller of kueue.x-k8s.io: two would undo each other's work";
  bool kueue_runs = false;
  for (const auto& one : facts.kueue) {
    if (one.replicas == 0) continue;
    kueue_runs = true;
    out.add({severity, "Deployment " + full_name(one.namespace_, one.name),
             "Kueue's controller runs (" + std::to_string(one.ready) + " of " + std::to_string(one.replicas) + " ready)" +
                 (observes ? "; Hindsight only observes" : ""),
             allowed, "When the cluster is to be Hindsight's, stop it",
             commands.kubectl("scale " + in_namespace(one.namespace_) + " deployment/" + as_word(one.name) + " --replicas=0")});
  }
  std::vector<const LeaseFacts*> held;
  for (const auto& one : facts.leases)
    if (one.is_held(facts.now)) held.push_back(&one);
  if (held.size() > 1) {
    std::vector<std::string> texts;
    for (const auto* one : held) texts.push_back(full_name(one->namespace_, one->name) + " by " + one->holder);
    out.add({severity, "Leases " + std::string(names::lease), "held at the same time: " + some_of(texts, 4), allowed,
             "Stop one of them, or give all copies the same --lease-namespace; see who runs",
             commands.kubectl("get deployments -A -l 'app.kubernetes.io/name in (kueue,hindsight)'")});
  }
  for (const auto& one : facts.installation.others)
    out.add({Severity::error, "Deployment " + one,
             "a second Hindsight, beside " + full_name(facts.installation.namespace_, facts.installation.deployment), allowed,
             "Stop one of them",
             commands.kubectl("scale " + in_namespace(one.substr(0, one.find('/'))) + " deployment/" +
                              as_word(one.substr(one.find('/') + 1)) + " --replicas=0")});
  for (const auto& one : facts.writers) {
    if (!writes_as_kueue(one.manager)) continue;
    out.add({kueue_runs || observes ? Severity::note : Severity::error, "status of Workloads",
             "written by \"" + one.manager + "\" within the last " + rough(lately) + ", at " + format_rfc3339(one.last) +
                 " that of Workload " + one.example + " (" + counted(one.objects, "object", "objects") + ")",
             allowed, "Find who runs it; it may stand outside of this cluster",
             commands.kubectl("get deployments -A -l app.kubernetes.io/name=kueue")});
  }
  if (facts.installation.deployed() && facts.installation.replicas() > 0 && held.empty() && !facts.installation.has_flag("--no-lease") &&
      facts.unknown.empty())
    out.add({Severity::warning, "Lease " + std::string(names::lease),
             facts.leases.empty() ? "it is not there: no copy has begun to lead" : "nobody renews it", "a copy of Hindsight that leads",
             "See what the process says", commands.kubectl("logs " + facts.installation.deployment_words() + " --tail=50")});
  if (!facts.unknown.empty() && out.findings.empty()) return blind(facts.unknown);
  if (!held.empty())
    out.summary = "lease " + full_name(held.front()->namespace_, held.front()->name) + " is held by " + held.front()->holder;
  else
    out.summary = "nobody holds a lease";
  std::vector<std::string> writers;
  for (const auto& one : facts.writers) writers.push_back(one.manager);
  if (!writers.empty()) out.summary += "; status of Workloads lately written by " + some_of(writers, 5);
  return out;
}

Result<std::vector<LeaseFacts>> read_leases(ClusterReader& cluster) {
  const auto found =
      list(cluster, "/apis/coordination.k8s.io/v1/leases", std::string("fieldSelector=metadata.name%3D") + names::lease, leases_max);
  if (!found) return tl::unexpected(found.error());
  std::vector<LeaseFacts> out;
  for (const auto& lease : found->items) {
    const Json& meta = m::member(lease, "metadata");
    const Json& spec = m::member(lease, "spec");
    out.push_back({std::string(m::text(meta, "namespace")), std::string(m::text(meta, "name")),
                   std::string(m::text(spec, "holderIdentity")), m::number(spec, "leaseDurationSeconds").value_or(15),
                   time_in(spec, "renewTime")});
  }
  return out;
}

Outcome examine_controllers(Context& context) {
  ControllersFacts facts;
  facts.installation = context.installation;
  auto leases = read_leases(*context.cluster);
  if (leases)
    facts.leases = std::move(*leases);
  else
    facts.unknown = leases.error().message;
  const auto deployments = list(*context.cluster, "/apis/apps/v1/deployments", "labelSelector=app.kubernetes.io%2Fname%3Dkueue", kueue_max);
  if (deployments) {
    for (const auto& one : deployments->items) {
      const Json& meta = m::member(one, "metadata");
      // The dashboard and others of its parts carry the same name.
      const auto component = m::text(m::member(meta, "labels"), "app.kubernetes.io/component");
      const auto plane = m::text(m::member(meta, "labels"), "control-plane");
      const std::string name(m::text(meta, "name"));
      if (component != "controller" && plane != "controller-manager" && name.find("controller-manager") == std::string::npos) continue;
      facts.kueue.push_back({std::string(m::text(meta, "namespace")), name, m::number(m::member(one, "spec"), "replicas").value_or(1),
                             m::number(m::member(one, "status"), "readyReplicas").value_or(0)});
    }
  } else {
    facts.unknown = deployments.error().message;
  }
  facts.now = context.now();
  std::map<std::string, WriterFacts> writers;
  const auto workloads =
      list(*context.cluster, "/apis/kueue.x-k8s.io/v1beta2/workloads", "", std::min(workloads_max, context.options.objects_max));
  if (workloads)
    for (const auto& one : workloads->items) take_writers(one, facts.now, writers);
  else if (workloads.error().kind != ErrorKind::not_found)
    facts.unknown = workloads.error().message;
  for (auto& [name, writer] : writers) facts.writers.push_back(std::move(writer));
  return judge_controllers(facts, context.commands);
}

}  // namespace hindsight::doctor
