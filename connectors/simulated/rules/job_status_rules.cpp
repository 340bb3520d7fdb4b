#include <array>
#include <optional>

#include "connectors/simulated/rules/job_rules.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::connectors::simulated {
namespace {

std::int64_t count(const Json& status, const char* name) { return number(status, name).value_or(0); }

std::optional<Time> time_of(const Json& status, const char* name) {
  const auto parsed = parse_rfc3339(text(status, name));
  return parsed ? std::optional(*parsed) : std::nullopt;
}

/// One status, read for the rules.
struct JobStatus {
  explicit JobStatus(const Json& json)
      : status(json),
        complete(condition_is(json, "Complete")),
        failed(condition_is(json, "Failed")),
        success_criteria(condition_is(json, "SuccessCriteriaMet")),
        failure_target(condition_is(json, "FailureTarget")) {}

  [[nodiscard]] bool finished() const { return complete || failed; }
  [[nodiscard]] bool differs(const JobStatus& other, const char* name) const { return member(status, name) != member(other.status, name); }

  const Json& status;
  bool complete, failed, success_criteria, failure_target;
};

void check_counters(const JobStatus& now, Findings& findings) {
  for (const char* name : {"active", "succeeded", "failed", "ready", "terminating"})
    if (count(now.status, name) < 0)
      findings.invalid(std::string("status.") + name, member(now.status, name), "must be greater than or equal to 0");
}

void check_conditions(const JobStatus& now, const JobStatus& before, Findings& findings) {
  const auto bad = [&](const char* message) { findings.invalid("status.conditions", Json(), message); };
  const bool complete_changed = now.complete != before.complete;
  const bool failed_changed = now.failed != before.failed;
  if ((complete_changed || failed_changed) && now.complete && now.failed) bad("cannot set Complete=True and Failed=true conditions");
  if ((complete_changed || now.failure_target != before.failure_target) && now.complete && now.failure_target)
    bad("cannot set Complete=True and FailureTarget=true conditions");
  if ((failed_changed || now.differs(before, "failedIndexes")) && now.failed && !now.failure_target)
    bad("cannot set Failed=True condition without the FailureTarget=true condition");
  if ((complete_changed || now.success_criteria != before.success_criteria) && now.complete && !now.success_criteria)
    bad("cannot set Complete=True condition without the SuccessCriteriaMet=true condition");
  if (now.success_criteria && now.failed) bad("cannot set SuccessCriteriaMet=True and Failed=true conditions");
  if (now.success_criteria && now.failure_target) bad("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions");
}

void check_times(const JobStatus& now, const JobStatus& before, const Json& spec, Findings& findings) {
  const bool completion_changed = now.differs(before, "completionTime");
  const bool start_changed = now.differs(before, "startTime");
  const bool has_completion = !member(now.status, "completionTime").is_null();
  const bool has_start = !member(now.status, "startTime").is_null();
  if (now.complete != before.complete || completion_changed) {
    if (has_completion && !now.complete)
      findings.invalid("status.completionTime", member(now.status, "completionTime"),
                       "cannot set completionTime when there is no Complete=True condition");
    if (!has_completion && now.complete) findings.required("status.completionTime", "completionTime is required for Complete jobs");
  }
  if (completion_changed || start_changed) {
    const auto start = time_of(now.status, "startTime");
    const auto completion = time_of(now.status, "completionTime");
    if (start && completion && *completion < *start)
      findings.invalid("status.completionTime", member(now.status, "completionTime"), "must be equal to or after `startTime`");
  }
  const bool empty_and_suspended = flag(spec, "suspend") && number(spec, "completions") == 0;
  if ((now.finished() != before.finished() || start_changed) && !empty_and_suspended && now.finished() && !has_start)
    findings.required("status.startTime", "startTime is required for finished job");
  if (has_completion && !member(before.status, "completionTime").is_null() && completion_changed)
    findings.invalid("status.completionTime", member(now.status, "completionTime"), "field is immutable");
  const bool resuming = condition_is(before.status, "Suspended") && condition_is(now.status, "Suspended", "False");
  if (start_changed && !resuming && !member(before.status, "startTime").is_null() && !flag(spec, "suspend"))
    findings.invalid("status.startTime", member(now.status, "startTime"), "field is immutable for unsuspended job once set");
}

void check_pods(const JobStatus& now, const JobStatus& before, const Json& spec, Findings& findings) {
  const bool finished_changed = now.finished() != before.finished();
  const auto uncounted = [](const Json& status) {
    const Json& pods = member(status, "uncountedTerminatedPods");
    return member(pods, "succeeded").size() + member(pods, "failed").size();
  };
  if ((finished_changed || now.differs(before, "active")) && now.finished() && count(now.status, "active") > 0)
    findings.invalid("status.active", member(now.status, "active"), "active>0 is invalid for finished job");
  if ((finished_changed || now.differs(before, "uncountedTerminatedPods")) && now.finished() && uncounted(now.status) > 0)
    findings.invalid("status.uncountedTerminatedPods", Json(), "must be empty for finished job");
  if ((finished_changed || now.differs(before, "terminating")) && now.finished() && count(now.status, "terminating") > 0)
    findings.invalid("status.terminating", member(now.status, "terminating"), "terminating>0 is invalid for finished job");
  if ((now.differs(before, "ready") || now.differs(before, "active")) && count(now.status, "ready") > count(now.status, "active"))
    findings.invalid("status.ready", member(now.status, "ready"), "cannot set more ready pods than active");
  const bool indexed = text(spec, "completionMode") == "Indexed";
  if (now.differs(before, "completedIndexes") && !indexed && !text(now.status, "completedIndexes").empty())
    findings.invalid("status.completedIndexes", member(now.status, "completedIndexes"),
                     "cannot set non-empty completedIndexes when non-indexed completion mode");
  if (now.differs(before, "failedIndexes") && !member(now.status, "failedIndexes").is_null() && !spec.contains("backoffLimitPerIndex"))
    findings.invalid("status.failedIndexes", member(now.status, "failedIndexes"),
                     "cannot set non-null failedIndexes when backoffLimitPerIndex is null");
}

void check_no_way_back(const JobStatus& now, const JobStatus& before, const Json& spec, Findings& findings) {
  const auto stays = [&](bool was, bool is, const char* name) {
    if (was && !is) findings.invalid("status.conditions", Json(), std::string("cannot disable the terminal ") + name + "=True condition");
  };
  stays(before.failed, now.failed, "Failed");
  stays(before.complete, now.complete, "Complete");
  stays(before.failure_target, now.failure_target, "FailureTarget");
  if (before.success_criteria && !now.success_criteria)
    findings.invalid("status.conditions", Json(), "cannot disable the SuccessCriteriaMet=True condition");
  if (before.complete && !before.success_criteria && now.success_criteria)
    findings.invalid("status.conditions", Json(), "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions");
  if (count(now.status, "failed") < count(before.status, "failed"))
    findings.invalid("status.failed", member(now.status, "failed"), "cannot decrease the failed counter");
  // An Indexed job with equal parallelism and completions can be scaled down.
  const bool scalable = text(spec, "completionMode") == "Indexed" && member(spec, "completions") == member(spec, "parallelism");
  if (!scalable && count(now.status, "succeeded") < count(before.status, "succeeded"))
    findings.invalid("status.succeeded", member(now.status, "succeeded"), "cannot decrease the succeeded counter");
}

}  // namespace

void check_job_status_change(const ObjectView& now, const ObjectView& before, Findings& findings) {
  const Json& spec = now.spec;
  const JobStatus after(now.status);
  const JobStatus earlier(before.status);
  check_counters(after, findings);
  check_conditions(after, earlier, findings);
  check_times(after, earlier, spec, findings);
  check_pods(after, earlier, spec, findings);
  check_no_way_back(after, earlier, spec, findings);
}

}  // namespace hindsight::connectors::simulated
