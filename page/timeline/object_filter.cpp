#include "page/timeline/object_filter.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "admission/workload/workload_parent.hpp"
#include "events/decision_fields.hpp"
#include "projections/lookup.hpp"
#include "vocabulary/printable.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::page::timeline {
namespace {

/// A name has at most 253 characters, a kind 63.
constexpr std::size_t object_text_max = 600;
constexpr std::string_view workload_kind = "Workload";

/// "Workload" of WorkloadObserved.
template <class T>
constexpr std::string_view kind_of_observation() {
  std::string_view kind = events::Fields<T>::table;
  if (constexpr std::string_view observed = "Observed"; kind.ends_with(observed)) kind.remove_suffix(observed.size());
  return kind;
}

bool is_ref(const WorkloadRef& w, const ObjectFilter& filter) { return filter.is(workload_kind, w.namespace_, w.name); }
bool is_ref(const JobRef& j, const ObjectFilter& filter) { return filter.is(j.kind, j.namespace_, j.name); }

bool is_about(const JobObserved& o, ObjectFilter& filter) {
  const bool yes = filter.is(o.kind, o.meta.namespace_, o.meta.name);
  if (yes && !o.workload_name.empty()) filter.note_workload(o.workload_name);
  return yes;
}

bool is_about(const WorkloadObserved& o, ObjectFilter& filter) {
  if (!o.owner_name.empty() && filter.is(o.owner_kind, o.meta.namespace_, o.owner_name)) {
    filter.note_workload(o.meta.name);
    return true;
  }
  return filter.is(workload_kind, o.meta.namespace_, o.meta.name);
}

/// That of a job does not say which kind of job it is.
std::string_view kind_of(ObjectKind kind, const ObjectFilter& filter) {
  return kind == ObjectKind::job && filter.may_be_job() ? std::string_view(filter.object().kind) : events::api_name(kind);
}

bool is_about(const ObjectDeleted& o, ObjectFilter& filter) { return filter.is(kind_of(o.kind, filter), o.namespace_, o.name); }
bool is_about(const WriteRefused& o, ObjectFilter& filter) { return filter.is(kind_of(o.kind, filter), o.namespace_, o.name); }
bool is_about(const ObjectQuarantined& o, ObjectFilter& filter) { return filter.is(o.api_kind, o.namespace_, o.name); }
bool is_about(const NodeUsageObserved& o, ObjectFilter& filter) { return filter.is("Node", {}, o.node); }

template <class T>
bool is_about(const T& o, ObjectFilter& filter) {
  if constexpr (requires { o.meta; })
    return filter.is(kind_of_observation<T>(), o.meta.namespace_, o.meta.name);
  else
    return false;
}

bool event_is_about(const Event& event, ObjectFilter& filter) {
  return std::visit(
      [&]<class T>(const T& e) {
        bool out = false;
        if constexpr (requires { e.job; }) {
          const bool of_job = is_ref(e.job, filter);
          if constexpr (std::is_same_v<T, WorkloadRequested>) {
            if (of_job && filter.object().kind != workload_kind) filter.note_workload(e.name);
            out = out || filter.is(workload_kind, e.job.namespace_, e.name);
          }
          out = out || of_job;
        }
        if constexpr (requires { e.workload; }) out = out || is_ref(e.workload, filter);
        if constexpr (requires { e.preemptor; }) out = out || is_ref(e.preemptor, filter);
        if constexpr (requires { e.parent; }) out = out || is_ref(e.parent, filter);
        if constexpr (requires { e.replacement; }) out = out || is_ref(e.replacement, filter);
        if constexpr (requires { e.cluster_queue; }) out = out || filter.is("ClusterQueue", {}, e.cluster_queue);
        if constexpr (std::is_same_v<T, WorkloadPreempted>) out = out || filter.is("ClusterQueue", {}, e.preemptor_cluster_queue);
        if constexpr (std::is_same_v<T, TreeReactivated>)
          out = out || filter.is("Cohort", {}, e.root) || filter.is("ClusterQueue", {}, e.root);
        return out;
      },
      event);
}

}  // namespace

Result<ObjectName> ObjectName::parse(std::string_view text) {
  const auto wrong = [&] {
    return fail(ErrorKind::invalid, "object: found \"" + printable(cut_text(text, 80)) +
                                        "\"; allowed: KIND/NAMESPACE/NAME, or KIND/NAME of what is in no namespace");
  };
  if (text.size() > object_text_max || !is_utf8(text)) return wrong();
  const auto first = text.find('/');
  if (first == 0 || first == std::string_view::npos) return wrong();
  ObjectName out{.kind = std::string(text.substr(0, first))};
  std::string_view rest = text.substr(first + 1);
  if (const auto second = rest.find('/'); second != std::string_view::npos) {
    out.namespace_ = rest.substr(0, second);
    rest.remove_prefix(second + 1);
    if (out.namespace_.empty()) return wrong();
  }
  out.name = rest;
  if (out.name.empty() || out.name.find('/') != std::string::npos) return wrong();
  return out;
}

ObjectFilter::ObjectFilter(ObjectName object, const admission::StateView& state)
    : object_(std::move(object)), is_workload_(object_.kind == workload_kind) {
  if (is_workload_ || object_.namespace_.empty()) return;
  const std::string kind = projections::target_kind(object_.kind);
  if (kind.empty()) return;
  const auto at = projections::find_workload(state, {kind, object_.namespace_, object_.name});
  if (!at) return;
  for (const auto& workload : at->parent->workloads()) note_workload(workload.name.text());
}

bool ObjectFilter::is(std::string_view kind, Text namespace_, Text name) const {
  if (namespace_ != object_.namespace_) return false;
  if (kind == workload_kind && !is_workload_) return workloads_.contains(name);
  return name == object_.name && kind == object_.kind;
}

bool ObjectFilter::may_be_job() const {
  return !object_.namespace_.empty() && !is_workload_ && object_.kind != "LocalQueue" && object_.kind != "Pod";
}

void ObjectFilter::note_workload(Text name) {
  if (workloads_.size() < workloads_max) workloads_.emplace(name);
}

std::vector<Token> ObjectFilter::tokens() const {
  std::vector<Token> out{name_token(object_.namespace_, object_.name)};
  for (const auto& workload : workloads_) out.push_back(name_token(object_.namespace_, workload));
  return out;
}

bool ObjectFilter::matches(const RecordView& record) {
  if (const auto* o = std::get_if<Observation>(&record.body)) return std::visit([this](const auto& x) { return is_about(x, *this); }, *o);
  const auto* decisions = std::get_if<Decisions>(&record.body);
  if (decisions == nullptr) return false;
  bool out = false;  // all of them: each may name another Workload
  for (const Event& event : decisions->events) out = event_is_about(event, *this) || out;
  return out;
}

}  // namespace hindsight::page::timeline
