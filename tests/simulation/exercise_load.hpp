#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "simulation/generate.hpp"
#include "simulation/load.hpp"
#include "simulation/trace.hpp"
#include "tests/simulation/load_examples.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::test {

enum class LoadKind { generate, automatic, swf, sacct };
inline constexpr std::size_t load_kinds = 4;

inline const std::vector<std::pair<LoadKind, std::string>>& good_loads() {
  static const std::vector<std::pair<LoadKind, std::string>> all{
      {LoadKind::generate, two_forms},
      {LoadKind::swf,
       "; Version: 2.2\n1 0 0 60 1 -1 -1 -1 -1 -1 1 5 6 -1 -1 -1 -1 -1\n2 3600 7 60 8 -1 2048 8 -1 4096 1 5 6 -1 2 1 -1 -1\n"},
      {LoadKind::automatic, "1 0 0 60 1 -1 -1 -1 -1 -1 1 5 6 -1 -1 -1 -1 -1\n"},
      {LoadKind::sacct,
       "JobID|Submit|Start|End|ReqCPUS|NNodes|ReqMem|ReqTRES|AllocTRES|Partition|Account|User|Priority\n"
       "7|2026-01-01T00:00:00|2026-01-01T00:00:10|2026-01-01T00:01:00|4|2|4Gn|cpu=4,gres/gpu=2|cpu=4|gpu,cpu|geo|ann|4294967295\n"
       "7.batch|2026-01-01T00:00:00|2026-01-01T00:00:10|2026-01-01T00:01:00|4|2||||||\n"},
      {LoadKind::automatic, "JobID|Submit|Elapsed|NCPUS|Priority\n7_[1-3]|0|1-00:01:00|1|5\n8|1767225600|90|1K|5\n"}};
  return all;
}

/// What must hold for every text, whether it describes jobs or not; the empty text: it does. What is read is within the bounds that
/// docs/limits.md names, in order and fit for a manifest.
inline std::string exercise_load(LoadKind kind, const std::string& text) {
  using namespace simulation;
  TraceOptions options;
  options.priorities = true;
  options.queue = static_cast<TraceQueue>(text.size() % 3);
  if (kind == LoadKind::swf) options.format = TraceFormat::swf;
  if (kind == LoadKind::sacct) options.format = TraceFormat::sacct;
  const auto load = kind == LoadKind::generate ? generate_load(text, "f", "default") : read_trace(text, "f", options);
  if (!load) {
    if (load.error().kind != ErrorKind::invalid) return "refused, but not as wrong input";
    return load.error().message.empty() ? "refused without a message" : std::string();
  }
  if (load->jobs.empty() || load->jobs.size() > load_jobs_max) return "no job, or more than there may be";
  if (load->priority_classes.size() > trace_priorities_max) return "more priorities than there may be";
  if (load->notices.size() > 4 * load_told_max + 4) return "more is told than anybody reads";
  for (const auto& notice : load->notices)
    if (notice.size() > 4096 || !is_utf8(notice)) return "a notice that is too long, or no text";
  Duration before{0};
  std::set<std::string> names;
  for (const auto& job : load->jobs) {
    if (job.arrives < before || job.arrives > load_span_max) return "a job out of its order, or of the span";
    before = job.arrives;
    if (job.runs < Duration{0} || job.runs > load_span_max) return "a run without end";
    if (job.pods < 1 || job.pods > load_pods_max) return "no pods, or more than there may be";
    if (job.name.empty() || job.name.size() > 63 || job.queue.empty()) return "a job without a name or queue, or with too long a name";
    if (!names.insert(job.namespace_ + "/" + job.name).second) return "two jobs of one name";
  }
  if (load->jobs.size() <= 100 && manifests_of(*load, "f").size() != load->jobs.size() + load->priority_classes.size())
    return "not a manifest for each";
  return {};
}

}  // namespace hindsight::test
