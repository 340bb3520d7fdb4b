// From what is wanted of an object to what has to be written, by the newest text of the object.

#include "connectors/bridge/bridge.hpp"
#include "connectors/bridge/intent_names.hpp"
#include "connectors/json/json_value.hpp"
#include "connectors/objects/plan.hpp"
#include "connectors/objects/write_parts.hpp"

namespace hindsight::connectors {

namespace {

std::optional<Json> parse(const Mirror::ObjectText& text) {
  if (text == nullptr) return std::nullopt;
  auto object = parse_object(*text);
  if (!object) return std::nullopt;
  return std::move(*object);
}

/// Does the intent tell no more than why the Workload waits?
bool only_tells(const WorkloadIntent& intent, const Json& workload) {
  return leaves_waiting(intent) && member(object_or_empty(workload, "status"), "admission") == nullptr;
}

}  // namespace

bool leaves_waiting(const WorkloadIntent& intent) {
  return !intent.has_admission && !intent.remove && !intent.release_finalizer && !intent.set_inactive;
}

/// Somebody else wrote the Workload after the version on which the intent was decided: its parts would undo what they wrote, an end for
/// instance. The domain has not seen that yet, and will say what it wants then. Own writes are no such thing: they were decided before.
bool Bridge::overtaken(const WorkloadIntent& intent, std::uint64_t version) const {
  if (intent.seen_version == 0 || version <= intent.seen_version) return false;
  const auto own = own_versions_.find(intent.uid);
  return own == own_versions_.end() || own->second != version;
}

Bridge::Plan Bridge::plan(const Intent& intent) const {
  Plan out;
  const auto take = [&](auto&& result) {
    if (result)
      out.writes = std::move(*result);
    else
      out.error = result.error();
  };
  if (const auto* i = std::get_if<WorkloadIntent>(&intent)) {
    const auto raw = parse(mirror_.find_by_uid(i->uid));
    if (raw && !overtaken(*i, version_of(*raw))) {
      out.writes = plan_workload(*i, *raw);
      out.only_tells = only_tells(*i, *raw);
    } else {
      out.not_yet = true;
    }
  } else if (const auto* c = std::get_if<WorkloadCreateIntent>(&intent)) {
    const auto job = parse(mirror_.find_by_uid(c->job_uid));
    const auto replaced = c->replaces_uid.empty() ? std::optional<Json>(Json::object()) : parse(mirror_.find_by_uid(c->replaces_uid));
    if (!job || !replaced) {
      out.not_yet = true;
    } else if (auto write = plan_create(*c, *job, options_.plans, *replaced); write) {
      out.writes.push_back(std::move(*write));
    } else {
      out.error = write.error();
    }
  } else if (const auto* r = std::get_if<WorkloadReviseIntent>(&intent)) {
    const auto raw = parse(mirror_.find_by_uid(r->uid));
    const auto job = r->job_uid.empty() ? std::optional<Json>(Json::object()) : parse(mirror_.find_by_uid(r->job_uid));
    if (raw && job)
      take(plan_revise(*r, *raw, *job, options_.plans));
    else
      out.not_yet = true;
  } else if (const auto* j = std::get_if<JobIntent>(&intent)) {
    const auto job = parse(mirror_.find_by_uid(j->uid));
    const auto workload = j->workload_uid.empty() ? std::nullopt : parse(mirror_.find_by_uid(j->workload_uid));
    if (!job) {
      out.not_yet = true;
    } else {
      take(plan_job(*j, *job, workload ? *workload : Json::object(), options_.plans.template_mutability));
      if (j->settles != 0 && !out.error && out.writes.empty() && is_meant(*job, j->uid) && !is_deleting(*job))
        out.check = merge_patch_of(*find_resource_type(j->kind, j->group), *job, "", Json::object());
    }
  } else if (const auto* q = std::get_if<QueueStatusIntent>(&intent)) {
    const auto raw =
        parse(q->local ? mirror_.find(types::local_queue, q->namespace_, q->name) : mirror_.find(types::cluster_queue, "", q->name));
    out.only_tells = true;
    if (!raw)
      out.not_yet = true;
    else if (auto write = plan_queue_status(*q, *raw))
      out.writes.push_back(std::move(*write));
  } else if (const auto* a = std::get_if<WorkloadAdoptIntent>(&intent)) {
    const auto raw = parse(mirror_.find(types::workload, a->namespace_, a->name));
    if (!raw)
      out.not_yet = true;
    else if (auto write = plan_adopt(*a, *raw))
      out.writes.push_back(std::move(*write));
  } else if (const auto* d = std::get_if<PodReleaseIntent>(&intent)) {
    const auto raw = parse(mirror_.find_by_uid(d->uid));
    if (!raw)
      out.not_yet = true;
    else if (auto write = plan_release(*d, *raw))
      out.writes.push_back(std::move(*write));
  } else if (const auto* g = std::get_if<QuarantineIntent>(&intent)) {
    const auto raw = parse(mirror_.find_by_uid(g->uid));
    out.only_tells = true;
    if (!raw)
      out.not_yet = true;
    else if (auto write = plan_quarantine(*g, *raw))
      out.writes.push_back(std::move(*write));
  } else if (const auto* f = std::get_if<FinalizerIntent>(&intent)) {
    const auto* type = held_type(f->kind);
    const auto raw = type == nullptr ? std::nullopt : parse(mirror_.find(*type, "", f->name));
    if (!raw)
      out.not_yet = true;
    else if (auto write = plan_finalizer(*f, *raw))
      out.writes.push_back(std::move(*write));
  }
  return out;
}

}  // namespace hindsight::connectors
