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

}  // namespace

bool leaves_waiting(const WorkloadIntent& intent) {
  return !intent.has_admission && !intent.remove && !intent.release_finalizer && !intent.set_active;
}

/// The marker of a Parent is for more than readers: its Options wait for that.
bool only_tells(const WorkloadIntent& intent, const Json& workload) {
  return leaves_waiting(intent) && shows_markers(intent, workload) && member(object_or_empty(workload, "status"), "admission") == nullptr;
}

/// Somebody else wrote the Workload after the version on which the intent was decided: its parts would undo what they wrote, an end for
/// instance. The domain has not seen that yet, and will say what it wants then. Own writes are no such thing: they were decided before.
bool Bridge::overtaken(const WorkloadIntent& intent, std::uint64_t version) const {
  if (intent.seen_version == 0 || version <= intent.seen_version) return false;
  const auto own = own_versions_.find(intent.uid);
  return own == own_versions_.end() || own->second != version;
}

/// An overload for each kind of intent, so that a new one does not compile before it has a plan.
struct Bridge::Planner {
  const Bridge& bridge;

  Plan operator()(const WorkloadIntent& i) const {
    const auto raw = object(i.uid);
    if (!raw || bridge.overtaken(i, version_of(*raw))) return not_yet();
    Plan out;
    out.writes = plan_workload(i, *raw);
    out.only_tells = only_tells(i, *raw);
    const bool one = out.only_tells && out.writes.size() == 1 && out.writes.front().subresource == "status";
    out.opens = one && list_or_empty(object_or_empty(*raw, "status"), "conditions").empty();
    out.rewords = one && only_rewords(out.writes.front(), *raw);
    return out;
  }
  Plan operator()(const WorkloadCreateIntent& c) const {
    // A job that is seen again before its new Workload is, as after the first look of its own controller, asks for the Workload twice.
    if (bridge.mirror_.find(types::workload, c.namespace_, c.name) != nullptr) return {};
    const auto job = object(c.job_uid);
    const auto replaced = object_or_nothing(c.replaces_uid);
    if (!job || !replaced) return not_yet();
    Plan out;
    if (auto write = plan_create(c, *job, bridge.options_.plans, *replaced))
      out.writes.push_back(std::move(*write));
    else
      out.error = write.error();
    return out;
  }
  /// What has the name already is the Option, or somebody else's, and then the domain finds another name (CA-6). One that is being deleted
  /// is in the way for a moment only.
  Plan operator()(const OptionCreateIntent& o) const {
    if (const auto text = bridge.mirror_.find(types::workload, o.namespace_, o.name); text != nullptr) {
      const auto there = parse(text);
      if (there && is_option_of(*there, o.parent_uid)) return is_deleting(*there) ? not_yet() : Plan{};
      Plan out;
      out.error =
          Error{ErrorKind::conflict, "Workload " + o.namespace_ + "/" + o.name + " exists already, and is no Option of " + o.parent_name};
      return out;
    }
    const auto parent = object(o.parent_uid);
    if (!parent || !has_parent_markers(*parent)) return not_yet();  // first it is a Parent for all to see (CA-1)
    if (is_deleting(*parent)) return {};
    Plan out;
    out.writes.push_back(plan_create_option(o, *parent));
    return out;
  }
  Plan operator()(const WorkloadReviseIntent& r) const {
    const auto raw = object(r.uid);
    const auto job = object_or_nothing(r.job_uid);
    return raw && job ? all_of(plan_revise(r, *raw, *job, bridge.options_.plans)) : not_yet();
  }
  Plan operator()(const JobIntent& j) const {
    const auto job = object(j.uid);
    if (!job) return not_yet();
    const auto workload = j.workload_uid.empty() ? std::nullopt : object(j.workload_uid);
    Plan out = all_of(plan_job(j, *job, workload ? *workload : Json::object(), bridge.options_.plans.template_mutability));
    if (j.settles != 0 && !out.error && out.writes.empty() && is_meant(*job, j.uid) && !is_deleting(*job))
      out.check = merge_patch_of(*find_resource_type(j.kind, j.group), *job, "", Json::object());
    return out;
  }
  Plan operator()(const QueueStatusIntent& q) const {
    const auto raw = parse(q.local ? bridge.mirror_.find(types::local_queue, q.namespace_, q.name)
                                   : bridge.mirror_.find(types::cluster_queue, "", q.name));
    Plan out = raw ? one_of(plan_queue_status(q, *raw)) : not_yet();
    out.only_tells = true;
    return out;
  }
  Plan operator()(const WorkloadAdoptIntent& a) const {
    const auto raw = parse(bridge.mirror_.find(types::workload, a.namespace_, a.name));
    return raw ? one_of(plan_adopt(a, *raw)) : not_yet();
  }
  Plan operator()(const PodReleaseIntent& d) const {
    const auto raw = object(d.uid);
    return raw ? one_of(plan_release(d, *raw)) : not_yet();
  }
  Plan operator()(const PodFailIntent& f) const {
    const auto raw = object(f.uid);
    return raw ? one_of(plan_fail(f, *raw)) : not_yet();
  }
  Plan operator()(const QuarantineIntent& g) const {
    const auto raw = object(g.uid);
    Plan out = raw ? one_of(plan_quarantine(g, *raw)) : not_yet();
    out.only_tells = true;
    return out;
  }
  Plan operator()(const FinalizerIntent& f) const {
    const auto* type = held_type(f.kind);
    const auto raw = type == nullptr ? std::nullopt : parse(bridge.mirror_.find(*type, "", f.name));
    return raw ? one_of(plan_finalizer(f, *raw)) : not_yet();
  }

 private:
  [[nodiscard]] std::optional<Json> object(const std::string& uid) const { return parse(bridge.mirror_.find_by_uid(uid)); }
  /// Without a uid there is nothing to look for, and nothing is lacking.
  [[nodiscard]] std::optional<Json> object_or_nothing(const std::string& uid) const { return uid.empty() ? Json::object() : object(uid); }

  [[nodiscard]] static Plan not_yet() {
    Plan out;
    out.not_yet = true;
    return out;
  }
  template <class OptionalWrite>
  [[nodiscard]] static Plan one_of(OptionalWrite write) {
    Plan out;
    if (write) out.writes.push_back(std::move(*write));
    return out;
  }
  template <class Writes>
  [[nodiscard]] static Plan all_of(Writes writes) {
    Plan out;
    if (writes)
      out.writes = std::move(*writes);
    else
      out.error = writes.error();
    return out;
  }
};

Bridge::Plan Bridge::plan(const Intent& intent) const { return std::visit(Planner{*this}, intent); }

}  // namespace hindsight::connectors
