#include "projections/lookup.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <tuple>

#include "admission/domain/domain.hpp"
#include "projections/format.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::projections {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// Edits between two words, given up above `limit`.
std::size_t distance(std::string_view a, std::string_view b, std::size_t limit) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > limit) return limit + 1;
  std::vector<std::size_t> row(a.size() + 1);
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = i;
  for (std::size_t j = 1; j <= b.size(); ++j) {
    std::size_t corner = row[0];
    row[0] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
      const std::size_t change = corner + (a[i - 1] == b[j - 1] ? 0 : 1);
      corner = row[i];
      row[i] = std::min({row[i] + 1, row[i - 1] + 1, change});
    }
  }
  return row[a.size()];
}

}  // namespace

std::string target_kind(std::string_view word) {
  const std::string p = lower(word);
  static constexpr std::array<std::string_view, 8> workload{
      "workload", "workloads", "wl", "kwl", "kueueworkload", "kueueworkloads", "workload.kueue.x-k8s.io", "workloads.kueue.x-k8s.io"};
  static constexpr std::array<std::string_view, 4> job{"job", "jobs", "job.batch", "jobs.batch"};
  static constexpr std::array<std::string_view, 4> job_set{"jobset", "jobsets", "jobset.jobset.x-k8s.io", "jobsets.jobset.x-k8s.io"};
  static constexpr std::array<std::string_view, 4> ray_cluster{"raycluster", "rayclusters", "raycluster.ray.io", "rayclusters.ray.io"};
  static constexpr std::array<std::string_view, 4> ray_job{"rayjob", "rayjobs", "rayjob.ray.io", "rayjobs.ray.io"};
  const auto in = [&](const auto& names) { return std::find(names.begin(), names.end(), p) != names.end(); };
  if (in(workload)) return "Workload";
  if (in(job)) return "job";
  if (in(job_set)) return "jobset";
  if (in(ray_cluster)) return "raycluster";
  if (in(ray_job)) return "rayjob";
  return {};
}

std::string Target::text() const { return kind + " " + full_name(namespace_, name); }

Result<Target> parse_target(std::string_view text, std::string_view default_namespace) {
  std::vector<std::string> parts;
  for (std::size_t at = 0;;) {
    const std::size_t slash = text.find('/', at);
    parts.emplace_back(text.substr(at, slash == std::string_view::npos ? slash : slash - at));
    if (slash == std::string_view::npos) break;
    at = slash + 1;
  }
  const auto wrong = [&] {
    return fail(ErrorKind::invalid,
                "found \"" + std::string(text) +
                    "\" for a workload; allowed: NAME, NAMESPACE/NAME, KIND/NAME, KIND/NAMESPACE/NAME, where KIND is workload, "
                    "job, jobset, raycluster or rayjob");
  };
  if (parts.size() > 3 || std::any_of(parts.begin(), parts.end(), [](const auto& p) { return p.empty(); })) return wrong();
  Target out{"Workload", std::string(default_namespace), parts.back()};
  if (parts.size() == 1) return out;
  const std::string kind = target_kind(parts[0]);
  if (parts.size() == 3) {
    if (kind.empty()) return wrong();
    out.kind = kind;
    out.namespace_ = parts[1];
  } else if (kind.empty()) {
    out.namespace_ = parts[0];
  } else {
    out.kind = kind;
  }
  return out;
}

std::vector<WorkloadAt> all_workloads(const StateView& state) {
  std::vector<WorkloadAt> out;
  for (std::uint32_t i = 0; i < state.domain().parent_count(); ++i) {
    const auto* parent = state.parent(i);
    if (parent == nullptr) continue;
    for (const auto& w : parent->workloads()) out.push_back({parent, &w});
  }
  std::sort(out.begin(), out.end(), [](const WorkloadAt& a, const WorkloadAt& b) {
    return std::tuple(a.workload->namespace_.text(), std::string_view(a.workload->name)) <
           std::tuple(b.workload->namespace_.text(), std::string_view(b.workload->name));
  });
  return out;
}

namespace {

bool is_of_kind(const Boxed<admission::JobState>& job, const Target& target) {
  return job && job->namespace_.text() == target.namespace_ && lower(job->kind.text()) == target.kind;
}

bool is_named(const Boxed<admission::JobState>& job, const Target& target) {
  return job && job->name == target.name && is_of_kind(job, target);
}

/// Of the others that could have been meant.
std::vector<std::string> names_beside(const StateView& state, const Target& target) {
  std::vector<std::string> out;
  for (std::uint32_t i = 0; i < state.domain().parent_count(); ++i) {
    const auto* parent = state.parent(i);
    if (parent == nullptr) continue;
    if (target.is_workload()) {
      for (const auto& w : parent->workloads())
        if (w.namespace_.text() == target.namespace_) out.emplace_back(w.name.text());
    } else if (is_of_kind(parent->job(), target)) {
      out.emplace_back(parent->job()->name.text());
    }
  }
  return out;
}

}  // namespace

Result<WorkloadAt> find_workload(const StateView& state, const Target& target) {
  for (std::uint32_t i = 0; i < state.domain().parent_count(); ++i) {
    const auto* parent = state.parent(i);
    if (parent == nullptr) continue;
    if (target.is_workload()) {
      for (const auto& w : parent->workloads()) {
        if (w.namespace_.text() != target.namespace_) continue;
        if (w.name == target.name) return WorkloadAt{parent, &w};
      }
      continue;
    }
    const auto& job = parent->job();
    if (!is_named(job, target)) continue;
    const auto& all = parent->workloads();
    if (all.empty()) {
      std::string why;
      if (parent->gated(*state.domain().catalog()))
        why = ": it is held back by annotation scheduling-gated-by, " + printable(job->scheduling_gated_by);
      else if (parent->beyond_its_owner())
        why = ": it says that another job made it, and asks for more than is left of what that one was admitted with";
      else if (parent->is_part_of_what_runs())
        why = ": it runs as a part of the job that made it";
      return fail(ErrorKind::not_found, target.text() + " has no Workload" + why);
    }
    const auto own = std::find_if(all.rbegin(), all.rend(), [](const WorkloadState& w) { return !w.is_made_as_option(); });
    const auto live =
        std::find_if(all.rbegin(), all.rend(), [](const WorkloadState& w) { return !w.finished() && !w.is_made_as_option(); });
    return WorkloadAt{parent, live != all.rend() ? &*live : own != all.rend() ? &*own : &all.back()};
  }
  return fail(ErrorKind::not_found, target.text() + " not found" + did_you_mean(target.name, names_beside(state, target)));
}

WorkloadAt find_by_uid(const StateView& state, std::string_view uid) {
  const auto index = state.domain().find_parent(uid);
  if (!index) return {};
  const auto* parent = state.parent(*index);
  if (parent == nullptr) return {};
  for (const auto& w : parent->workloads())
    if (w.uid == uid) return {parent, &w};
  return {};
}

std::string did_you_mean(std::string_view wanted, const std::vector<std::string>& names) {
  const std::size_t limit = std::max<std::size_t>(2, wanted.size() / 4);
  std::vector<std::pair<std::size_t, std::string_view>> near;
  for (const auto& n : names) {
    const bool part = wanted.size() >= 3 && n.find(wanted) != std::string::npos;
    if (const std::size_t d = part ? 0 : distance(wanted, n, limit); d <= limit) near.emplace_back(d, n);
  }
  std::sort(near.begin(), near.end());
  std::string out;
  for (std::size_t i = 0; i < std::min<std::size_t>(near.size(), 3); ++i)
    out += (i == 0 ? ", did you mean " : ", ") + std::string(near[i].second);
  return out.empty() ? out : out + "?";
}

}  // namespace hindsight::projections
