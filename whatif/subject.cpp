#include "whatif/subject.hpp"

namespace hindsight::whatif {

using namespace admission;

std::string_view subject_of(const WorkloadParent& parent) {
  if (parent.job()) return parent.job()->uid;
  return parent.workloads().empty() ? std::string_view() : std::string_view(parent.workloads().front().uid);
}

std::string name_of_subject(const WorkloadParent& parent) {
  const auto full = [](std::string_view kind, std::string_view namespace_, std::string_view name) {
    return std::string(kind) + " " + std::string(namespace_) + "/" + std::string(name);
  };
  if (const auto& job = parent.job()) return full(job->kind.text(), job->namespace_.text(), job->name);
  if (parent.workloads().empty()) return {};
  const auto& w = parent.workloads().front();
  return full("Workload", w.namespace_.text(), w.name);
}

const WorkloadState* admitted_of(const WorkloadParent& parent) {
  for (const auto& w : parent.workloads())
    if (w.admitted() && !w.finished() && !w.is_made_as_option()) return &w;
  return nullptr;
}

std::vector<ObjectDeleted> objects_of(const WorkloadParent& parent, Arena& arena) {
  std::vector<ObjectDeleted> out;
  const auto add = [&](ObjectKind kind, std::string_view namespace_, std::string_view name, std::string_view uid) {
    out.push_back({kind, arena.copy(namespace_), arena.copy(name), arena.copy(uid), {}});
  };
  if (const auto& job = parent.job()) add(ObjectKind::job, job->namespace_.text(), job->name, job->uid);
  for (const auto& p : parent.pods()) add(ObjectKind::pod, {}, p.name, p.uid);
  for (const auto& w : parent.workloads()) add(ObjectKind::workload, w.namespace_.text(), w.name, w.uid);
  return out;
}

}  // namespace hindsight::whatif
