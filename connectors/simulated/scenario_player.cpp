#include "connectors/simulated/scenario_player.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "connectors/simulated/job_endings.hpp"
#include "connectors/simulated/state_views.hpp"

namespace hindsight::connectors::simulated {
namespace {

bool is_refusal(int http_status) { return http_status == 400 || http_status == 403 || http_status == 409 || http_status == 422; }

/// A Node that says nothing of its conditions is Ready; what it can give, it has.
Json node_status(const Json& node, Time now) {
  Json status = member(node, "status").is_object() ? node["status"] : Json::object();
  if (!status.contains("capacity")) status["capacity"] = member(status, "allocatable").is_object() ? status["allocatable"] : Json::object();
  if (!status.contains("conditions")) {
    const std::string time = format_rfc3339(now);
    status["conditions"] = Json::array(
        {{{"type", "Ready"}, {"status", "True"}, {"reason", "KubeletReady"}, {"lastHeartbeatTime", time}, {"lastTransitionTime", time}}});
  }
  return status;
}

std::string full_name(const std::string& kind, const std::string& namespace_, const std::string& name) {
  const bool namespaced = manifests::kind_of(kind).type->namespaced;
  return kind + " " + (namespaced ? namespace_ + "/" : "") + name;
}

}  // namespace

ScenarioPlayer::ScenarioPlayer(SimulatedCluster& cluster, manifests::Scenario scenario)
    : cluster_(cluster), scenario_(std::move(scenario)), start_(cluster.now()) {
  ensure_namespace("default");
}

std::optional<Time> ScenarioPlayer::next_step() const {
  if (next_ >= scenario_.steps.size()) return std::nullopt;
  return start_ + scenario_.steps[next_].at;
}

Result<std::vector<Refusal>> ScenarioPlayer::run_step() {
  manifests::ScenarioStep& step = scenario_.steps.at(next_);
  cluster_.set_time(start_ + step.at);
  ++next_;
  refused_.clear();
  const auto run_all = [&](auto& items, auto run) -> Result<void> {
    for (auto& item : items) {
      stop_item_ = false;
      if (auto done = run(item); !done)
        return fail(done.error().kind, scenario_.source + ": step " + std::to_string(next_ - 1) + ": " + done.error().message);
    }
    return {};
  };
  if (auto done = run_all(step.apply, [&](Json& object) { return apply(std::move(object)); }); !done) return tl::unexpected(done.error());
  if (auto done = run_all(step.patch, [&](const auto& action) { return patch(action); }); !done) return tl::unexpected(done.error());
  if (auto done = run_all(step.finish, [&](const auto& action) { return finish(action); }); !done) return tl::unexpected(done.error());
  if (auto done = run_all(step.delete_, [&](const auto& action) { return delete_(action); }); !done) return tl::unexpected(done.error());
  step = {};  // Its objects live in the cluster now.
  return refused_;
}

Json ScenarioPlayer::state() const {
  Json out = state_of(cluster_);
  for (const auto& refusal : refused_)
    out["refused"].push_back({{"verb", refusal.verb}, {"kind", refusal.kind}, {"status", refusal.http_status}});
  return out;
}

// ---- verbs --------------------------------------------------------------------------------------------------------------------

Result<void> ScenarioPlayer::judge(const Reply& reply, std::string_view verb, std::string_view kind, std::string_view name) {
  if (reply.accepted()) return {};
  stop_item_ = true;
  if (!is_refusal(reply.http_status))
    return fail(reply.http_status == 404 ? ErrorKind::not_found : ErrorKind::invalid,
                std::string(verb) + " " + std::string(kind) + " " + std::string(name) + ": the API server answered " +
                    std::to_string(reply.http_status) + ": " + reply.message);
  refused_.push_back({std::string(verb), std::string(kind), std::string(name), reply.http_status, reply.message});
  return {};
}

Result<void> ScenarioPlayer::apply(Json object) {
  const std::string kind(text(object, "kind"));
  const Kind& known = manifests::kind_of(kind);
  const std::string name(text(member(object, "metadata"), "name"));
  std::string namespace_;
  if (known.type->namespaced) {
    namespace_ = text(member(object, "metadata"), "namespace");
    ensure_namespace(namespace_);
  }
  Json status = kind == "Node" ? node_status(object, cluster_.now()) : member(object, "status");
  object.erase("status");
  const bool exists = cluster_.find(kind, namespace_, name) != nullptr;
  const Reply reply = exists ? cluster_.merge_patch(kind, namespace_, name, Part::main, object) : cluster_.create(std::move(object));
  if (auto done = judge(reply, "apply", kind, name); !done || stop_item_) return done;
  if (status.empty()) return {};
  return judge(cluster_.merge_patch(kind, namespace_, name, Part::status, {{"status", std::move(status)}}), "apply", kind, name);
}

Result<void> ScenarioPlayer::patch(const manifests::PatchAction& action) {
  std::string name = action.name;
  if (action.owner) {
    const auto workload = newest_workload(*action.owner, action.namespace_);
    if (!workload) {
      refused_.push_back({"patch", action.kind, action.owner->name, 409, "no such Workload"});
      return {};
    }
    name = workload->name;
  }
  const Part part = action.status ? Part::status : Part::main;
  return judge(cluster_.merge_patch(action.kind, action.namespace_, name, part, action.merge), "patch", action.kind, name);
}

Result<void> ScenarioPlayer::finish(const manifests::FinishAction& action) {
  const auto job = cluster_.find(action.kind, action.namespace_, action.name);
  if (!job) return fail(ErrorKind::not_found, "finish: " + full_name(action.kind, action.namespace_, action.name) + " does not exist");
  for (auto& patch : ending_patches(*job, action.failed, cluster_.now())) {
    const Reply reply = cluster_.merge_patch(action.kind, action.namespace_, action.name, Part::status, patch);
    if (auto done = judge(reply, "finish", action.kind, action.name); !done || stop_item_) return done;
  }
  return {};
}

Result<void> ScenarioPlayer::delete_(const manifests::DeleteAction& action) {
  const auto object = cluster_.find(action.kind, action.namespace_, action.name);
  if (!object) return {};
  DeleteOptions options;
  options.propagation = Propagation::background;
  if (auto done = judge(cluster_.remove(action.kind, action.namespace_, action.name, options), "delete", action.kind, action.name); !done)
    return done;
  // Also where nobody collects garbage, or the owner lingers behind a finalizer.
  for (const auto& workload : cluster_.store().owned_by(action.kind, object->namespace_, action.name)) {
    if (workload->kind->type->kind == "Workload") cluster_.remove("Workload", workload->namespace_, workload->name, options);
  }
  return {};
}

void ScenarioPlayer::ensure_namespace(const std::string& name) {
  if (name.empty() || cluster_.find("Namespace", "", name)) return;
  cluster_.create({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}});
}

StoredPointer ScenarioPlayer::newest_workload(const manifests::OwnerName& owner, const std::string& namespace_) const {
  StoredPointer newest;
  for (const auto& object : cluster_.store().owned_by(owner.kind, namespace_, owner.name))
    if (object->kind->type->kind == "Workload") newest = object;
  return newest;
}

// ---- whole scenarios ------------------------------------------------------------------------------------------------------------

manifests::Scenario scenario_of(std::vector<manifests::Manifest> manifests, std::string name) {
  std::map<std::int64_t, std::vector<manifests::Manifest>> moments;
  for (auto& manifest : manifests) {
    const auto arrival = manifests::seconds_annotation(manifest.object, manifests::arrive_seconds_annotation);
    const std::int64_t at = arrival && *arrival ? (*arrival)->micros : 0;
    moments[at].push_back(std::move(manifest));
  }
  manifests::Scenario scenario;
  scenario.name = std::move(name);
  scenario.source = scenario.name;
  scenario.runs_every_job = true;
  scenario.defaults_jobs = true;
  for (auto& [at, objects] : moments) {
    std::stable_sort(objects.begin(), objects.end(), [](const auto& a, const auto& b) { return a.kind < b.kind; });
    manifests::ScenarioStep step;
    step.at = Duration{at};
    for (auto& manifest : objects) step.apply.push_back(std::move(manifest.object));
    scenario.steps.push_back(std::move(step));
  }
  if (scenario.steps.empty()) scenario.steps.emplace_back();
  return scenario;
}

Result<Json> play(SimulatedCluster& cluster, manifests::Scenario scenario, const RunUntil& run_until) {
  ScenarioPlayer player(cluster, std::move(scenario));
  Json states = Json::array();
  while (player.next_step()) {
    if (auto done = player.run_step(); !done) return tl::unexpected(done.error());
    const auto next = player.next_step();
    run_until(next ? *next - Duration{1} : Time::never());
    states.push_back(player.state());
  }
  return Json{{"case", player.scenario().name}, {"states", std::move(states)}};
}

}  // namespace hindsight::connectors::simulated
