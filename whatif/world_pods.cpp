// What comes and goes with a run of a job: pods that a topology needs, and jobs that it brings.

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "admission/domain/domain.hpp"
#include "admission/workload/workload_parent.hpp"
#include "events/record.hpp"
#include "whatif/subject.hpp"
#include "whatif/world.hpp"

namespace hindsight::whatif {

using namespace admission;

namespace {

const Symbol& hostname() {
  static const Symbol key("kubernetes.io/hostname");
  return key;
}

const PodState* pod_by_uid(const WorkloadParent& parent, std::string_view uid) {
  for (const auto& pod : parent.pods())
    if (std::string_view(pod.uid) == uid) return &pod;
  return nullptr;
}

/// What one of its pods asks for, and that it is one.
List<ResourceAmount> requests_of(const WorkloadParent& parent, const Symbol& pod_set, Arena& arena) {
  std::map<std::string, Amount> amounts{{"pods", 1}};
  for (const auto& spec : parent.job()->pod_sets.value())
    if (spec.name == pod_set)
      for (const auto& r : spec.requests) amounts[std::string(r.resource.text())] = r.amount;
  auto out = arena.make<ResourceAmount>(amounts.size());
  std::size_t n = 0;
  for (const auto& [resource, amount] : amounts) out[n++] = {arena.copy(resource), amount};
  return out;
}

std::string name_of(const JobState& job) { return std::string(job.namespace_.text()) + "/" + job.name.text(); }

}  // namespace

// ---- pods -----------------------------------------------------------------------------------------------------------------------

/// Those of a job that has just started with places. Each waits at its gate.
void World::make_pods(const std::string& uid) {
  const auto at = find(uid);
  const auto* w = at && at->parent->job() ? admitted_of(*at->parent) : nullptr;
  if (w == nullptr || !w->admission) return;
  std::int64_t together = 0;
  for (const auto& p : w->admission->pod_sets)
    if (!p.topology->empty()) together += p.count;
  if (together == 0) return;
  if (together > pods_of_a_job_max) {
    without_pods_.insert(name_of(*at->parent->job()));
    return;
  }
  const int run = ++subjects_.at(uid).runs;
  const std::string workload = w->name.text(), prefix = "what-if/" + uid + "/" + std::to_string(run) + "/";
  std::vector<PodState> pods;
  for (const auto& p : w->admission->pod_sets) {
    if (p.topology->empty()) continue;
    const auto spec = std::ranges::find(w->pod_sets.value(), p.pod_set, &PodSetSpec::name);
    const bool known = spec != w->pod_sets.value().end();
    const std::int32_t groups = known && spec->groups && *spec->groups > 0 ? *spec->groups : 0;
    for (std::int32_t i = 0; i < p.count; ++i) {
      PodState pod;
      const std::string name = std::string(p.pod_set.text()) + "-" + std::to_string(i);
      pod.uid = prefix + name;
      pod.name = std::string(std::string_view(at->parent->job()->name)) + "-" + name;
      pod.pod_set = p.pod_set;
      if (known && spec->ranked) pod.index = i;
      if (groups > 0) pod.group = i / std::max(1, p.count / groups);
      pod.placed = pod.topology_gated = true;
      pods.push_back(std::move(pod));
    }
  }
  for (const PodState& pod : pods) {
    const auto now_at = find(uid);
    if (!now_at || !now_at->parent->job()) return;
    tell_pod(*now_at, pod, workload);
  }
}

void World::tell_pod(const Parent& at, const PodState& pod, std::string_view workload) {
  const JobState& job = *at.parent->job();
  PodObserved o;
  o.meta.namespace_ = arena_.copy(job.namespace_.text());
  o.meta.name = arena_.copy(std::string_view(pod.name));
  o.meta.uid = arena_.copy(std::string_view(pod.uid));
  o.meta.resource_version = pod.resource_version + 1;
  o.owner_uid = arena_.copy(std::string_view(job.uid));
  o.pod_set = arena_.copy(pod.pod_set.text());
  o.gated = pod.gated;
  o.ended = pod.ended;
  o.index = pod.index;
  o.placed = pod.placed;
  o.topology_gated = pod.topology_gated;
  o.workload_name = arena_.copy(workload);
  o.group = pod.group;
  o.index_offset = pod.index_offset;
  o.index_offset_bad = pod.index_offset_bad;
  auto selector = arena_.make<Pair>(pod.selector->entries.size());
  for (std::size_t i = 0; i < selector.size(); ++i)
    selector[i] = {arena_.copy(pod.selector->entries[i].first.text()), arena_.copy(pod.selector->entries[i].second.text())};
  o.node_selector = selector;
  o.node = arena_.copy(pod.node.text());
  o.terminating = pod.terminating;
  if (!o.node.empty()) o.requests = requests_of(*at.parent, pod.pod_set, arena_);
  tell_(Observation{o});
}

/// Who was given a place leaves the gate for it; who can start nowhere fails, and its job makes another one.
void World::release_pods(const std::string& uid) {
  const auto at = find(uid);
  if (!at->parent->job()) return;
  for (const Intent& intent : driver_.entities().intents_of(at->index)) {
    const auto now_at = find(uid);
    if (!now_at || !now_at->parent->job()) return;
    if (const auto* release = std::get_if<PodReleaseIntent>(&intent); release != nullptr && release->topology_gate) {
      const auto* known = pod_by_uid(*now_at->parent, release->uid);
      if (known == nullptr) continue;
      PodState pod = *known;
      pod.topology_gated = false;
      if (release->elastic_gate) pod.gated = false;
      std::map<std::string, std::string> labels;
      for (const auto& [key, value] : pod.selector->entries) labels[std::string(key.text())] = value.text();
      for (const auto& [key, value] : release->node_labels) labels[key] = value;
      NodeSelector selector;
      for (const auto& [key, value] : labels) {
        selector.entries.emplace_back(Symbol(key), Symbol(value));
        if (selector.entries.back().first == hostname() && driver_.domain().nodes().contains(Symbol(value))) pod.node = Symbol(value);
      }
      pod.selector = std::move(selector);
      tell_pod(*now_at, pod, std::string(pod.workload.text()));
    } else if (const auto* fails = std::get_if<PodFailIntent>(&intent)) {
      const auto* known = pod_by_uid(*now_at->parent, fails->uid);
      if (known == nullptr) continue;
      PodState failed = *known, next = *known;
      failed.ended = true;
      tell_pod(*now_at, failed, std::string(failed.workload.text()));
      next.uid = std::string(std::string_view(next.uid)) + "+";
      next.resource_version = 0;
      next.topology_gated = true;
      next.node = Symbol();
      next.selector = NodeSelector{};
      if (const auto after = find(uid); after && after->parent->job()) tell_pod(*after, next, std::string(next.workload.text()));
    }
  }
}

void World::take_pods(const std::string& uid) {
  const auto at = find(uid);
  if (!at || !at->parent->job()) return;
  std::vector<ObjectDeleted> gone;
  for (const auto& pod : at->parent->pods())
    gone.push_back({ObjectKind::pod,
                    arena_.copy(at->parent->job()->namespace_.text()),
                    arena_.copy(std::string_view(pod.name)),
                    arena_.copy(std::string_view(pod.uid)),
                    {}});
  for (const auto& pod : gone) tell_(Observation{pod});
}

// ---- jobs that it brings ------------------------------------------------------------------------------------------------------------

/// The next one comes as long after the start as it did on record.
void World::plan_child(const std::string& uid, Subject& subject) {
  const auto& children = responses_.children_of(uid);
  const bool more = subject.children_come < children.size();
  plan(uid, subject, Task::child, more ? std::optional(subject.running_since + children[subject.children_come].after) : std::nullopt);
}

void World::bring_child(const std::string& uid) {
  Subject& subject = subjects_.at(uid);
  const auto& children = responses_.children_of(uid);
  if (subject.children_come >= children.size() || !subject.running_since.is_set()) return;
  const auto& child = children[subject.children_come++];
  events::RecordReader reader;
  const auto read = reader.read(child.record);
  const auto* o = read ? std::get_if<Observation>(&(*read)->body) : nullptr;
  const auto* job = o == nullptr ? nullptr : std::get_if<JobObserved>(o);
  if (job == nullptr || driver_.domain().find_parent(child.uid)) return;
  JobObserved copy = *job;
  std::string own = child.uid;
  if (const int n = names_["child/" + child.uid]++; n > 0) own = "what-if/" + child.uid + "#" + std::to_string(n);  // a uid comes once
  copy.meta.uid = arena_.copy(own);
  copy.suspended = copy.finished = copy.succeeded = copy.stopping = false;
  copy.active = true;
  subject.brought.push_back(own);
  tell_(Observation{copy});
}

void World::take_children(const std::string& /*uid*/, Subject& subject) {
  for (const std::string& child : std::exchange(subject.brought, {})) {
    const auto at = find(child);
    if (!at) continue;
    Arena arena;
    for (const auto& gone : objects_of(*at->parent, arena)) tell_(Observation{gone});
  }
}

}  // namespace hindsight::whatif
