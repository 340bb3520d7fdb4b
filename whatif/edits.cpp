#include "whatif/edits.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "vocabulary/state_hash.hpp"

namespace hindsight::whatif {

using namespace admission;

namespace {

/// Names of a list that is separated by commas.
std::set<std::string, std::less<>> names_of(std::string_view list) {
  std::set<std::string, std::less<>> out;
  while (!list.empty()) {
    const auto comma = std::min(list.find(','), list.size());
    if (comma > 0) out.emplace(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return out;
}

/// Gates can be removed, not added (SG-5, SG-62).
std::optional<std::string> refusal_of_gate(std::string_view wanted, std::string_view here) {
  const auto has = names_of(here);
  for (const auto& name : names_of(wanted))
    if (!has.contains(name)) return "gates can only be removed, and \"" + name + "\" is not there here";
  return std::nullopt;
}

template <class Conditions>
bool is_true(const Conditions& conditions, ConditionType type) {
  return std::ranges::any_of(conditions, [&](const auto& c) { return c.type == type && c.status == ConditionStatus::true_; });
}

}  // namespace

std::string_view text_of(EditedPart part) {
  static constexpr std::array<std::string_view, 11> texts{"queue",
                                                          "priority",
                                                          "priority boost",
                                                          "admission gates",
                                                          "scheduling gate",
                                                          "bounds of its resources",
                                                          "maximum execution time",
                                                          "spec.active",
                                                          "hold",
                                                          "size",
                                                          "pod templates"};
  return texts.at(static_cast<std::size_t>(part));
}

UserPart user_part_of(const JobObserved& o) {
  UserPart out;
  out.queue_name = o.queue_name;
  out.priority_class = o.priority_class;
  out.admission_gated_by = o.admission_gated_by;
  out.scheduling_gated_by = o.scheduling_gated_by;
  out.resource_policy = o.resource_policy;
  out.resource_bounds = o.resource_bounds;
  out.max_exec_seconds = o.max_exec_seconds.value_or(0);
  out.on_hold = o.on_hold;
  const bool in_part = std::ranges::any_of(o.pod_sets, [](const PodSetFacts& p) { return p.min_count.has_value(); });
  if (o.elastic || (!o.suspended && !o.stopping && !o.finished && !in_part))
    for (const auto& p : o.pod_sets) out.counts.emplace_back(p.name, p.count);
  return out;
}

UserPart user_part_of(const WorkloadObserved& o) {
  UserPart out;
  out.queue_name = o.queue_name;
  out.priority_class = o.priority_class;
  out.priority_class_kind = o.priority_class_kind;
  out.priority = o.priority;
  out.priority_boost = o.priority_boost;
  out.admission_gated_by = o.admission_gated_by;
  out.max_exec_seconds = o.max_exec_seconds.value_or(0);
  out.active = o.active;
  out.form = form_of(o.pod_sets);
  return out;
}

std::uint64_t form_of(List<PodSetFacts> pod_sets) {
  StateHash h;
  for (const auto& p : pod_sets) {
    h.add(p.name);
    h.add(p.count);
    h.add(p.core_hash);
    for (const auto& r : p.requests) {
      h.add(r.resource);
      h.add(r.amount);
    }
  }
  return std::max<std::uint64_t>(1, h.value());
}

bool edits_size(const UserPart& before, const UserPart& after) {
  return !before.counts.empty() && !after.counts.empty() && before.counts != after.counts;
}

std::vector<EditedPart> edited_parts(const UserPart& before, const UserPart& after) {
  std::vector<EditedPart> out;
  const auto compare = [&](bool same, EditedPart part) {
    if (!same) out.push_back(part);
  };
  compare(before.queue_name == after.queue_name, EditedPart::queue);
  compare(before.priority_class == after.priority_class && before.priority == after.priority &&
              before.priority_class_kind == after.priority_class_kind,
          EditedPart::priority);
  compare(before.priority_boost == after.priority_boost, EditedPart::boost);
  compare(before.admission_gated_by == after.admission_gated_by, EditedPart::admission_gate);
  compare(before.scheduling_gated_by == after.scheduling_gated_by, EditedPart::scheduling_gate);
  compare(before.resource_policy == after.resource_policy && before.resource_bounds == after.resource_bounds, EditedPart::bounds);
  compare(before.max_exec_seconds == after.max_exec_seconds, EditedPart::time);
  compare(before.active == after.active, EditedPart::active);
  compare(before.on_hold == after.on_hold, EditedPart::hold);
  compare(!edits_size(before, after), EditedPart::size);
  compare(before.form == 0 || after.form == 0 || before.form == after.form, EditedPart::form);
  return out;
}

// The rules are those of the webhooks and of the API server (connectors/webhooks/rules).

std::optional<std::string> refusal(EditedPart part, const UserPart& wanted, const JobState& job) {
  if (job.finished) return "it has ended here";
  switch (part) {
    case EditedPart::queue:
      if (!job.suspended) return "a job that runs keeps its queue";
      break;
    case EditedPart::time:
      if (!job.suspended) return "a job that runs keeps its maximum execution time";
      break;
    case EditedPart::priority:
      if (!job.suspended && job.priority_class.empty()) return "a job that runs without a priority class gets none";
      break;
    case EditedPart::form:
      if (!job.suspended) return "a job that runs keeps its pod templates";
      break;
    case EditedPart::admission_gate:
      return refusal_of_gate(wanted.admission_gated_by, std::string_view(job.admission_gated_by));
    case EditedPart::scheduling_gate:
      return refusal_of_gate(wanted.scheduling_gated_by, std::string_view(job.scheduling_gated_by));
    case EditedPart::boost:
    case EditedPart::bounds:
    case EditedPart::active:
    case EditedPart::hold:
      break;
    case EditedPart::size:
      if (!job.suspended && !job.elastic && std::ranges::any_of(job.pod_sets.value(), [](const PodSetSpec& p) { return p.min_count >= 0; }))
        return "a job that may be admitted in part keeps its size while it runs";
      break;
  }
  return std::nullopt;
}

std::optional<std::string> refusal(EditedPart part, const UserPart& wanted, const WorkloadState& w) {
  if (w.finished()) return "it has ended here";
  switch (part) {
    case EditedPart::queue:
      if (w.reserved()) return "a Workload that holds quota keeps its queue";
      break;
    case EditedPart::form:
      if (w.reserved()) return "a Workload that holds quota keeps its pod sets";
      break;
    case EditedPart::time:
      if (w.admitted()) return "a Workload that is admitted keeps its maximum execution time";
      break;
    case EditedPart::admission_gate:
      return refusal_of_gate(wanted.admission_gated_by, std::string_view(w.admission_gated_by));
    case EditedPart::priority:
    case EditedPart::scheduling_gate:
    case EditedPart::boost:
    case EditedPart::bounds:
    case EditedPart::active:
    case EditedPart::hold:
    case EditedPart::size:
      break;
  }
  return std::nullopt;
}

Standing standing_of(const JobObserved& o) {
  if (o.finished) return Standing::ended;
  return o.suspended ? Standing::waiting : Standing::running;
}

Standing standing_of(const WorkloadObserved& o) {
  if (is_true(o.conditions, ConditionType::finished)) return Standing::ended;
  return is_true(o.conditions, ConditionType::admitted) ? Standing::running : Standing::waiting;
}

Standing standing_of(const JobState& job) {
  if (job.finished) return Standing::ended;
  return job.suspended ? Standing::waiting : Standing::running;
}

Standing standing_of(const WorkloadState& w) {
  if (w.finished()) return Standing::ended;
  return w.admitted() ? Standing::running : Standing::waiting;
}

std::string_view now_text(Standing standing) {
  static constexpr std::array<std::string_view, 4> texts{"is not there", "waits", "runs", "has ended"};
  return texts.at(static_cast<std::size_t>(standing));
}

std::string_view then_text(Standing standing) {
  static constexpr std::array<std::string_view, 4> texts{"was not there", "waited", "ran", "had ended"};
  return texts.at(static_cast<std::size_t>(standing));
}

}  // namespace hindsight::whatif
