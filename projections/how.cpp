// Names of what stands in a trace, and who is told of.

#include "projections/how.hpp"

#include <algorithm>

#include "admission/rules.hpp"
#include "projections/format.hpp"

namespace hindsight::projections {

using namespace admission;

bool HowFilter::matches(const TracedEntry& e) const {
  if (!cluster_queue.empty() && e.queue.text() != cluster_queue) return false;
  if (workload.empty() || e.workload == workload || e.family == workload) return true;
  const auto is_victim = [&](const auto& v) { return v.first == workload; };
  if (std::any_of(e.victims.list.begin(), e.victims.list.end(), is_victim)) return true;
  const auto looks_at_it = [&](const TracedSearch& s) {
    return std::any_of(s.candidates.list.begin(), s.candidates.list.end(), [&](const auto& c) { return c.workload == workload; });
  };
  return std::any_of(e.nominations.begin(), e.nominations.end(), [&](const TracedNomination& n) {
    return std::any_of(n.attempts.list.begin(), n.attempts.list.end(),
                       [&](const TracedAttempt& a) { return std::any_of(a.searches.list.begin(), a.searches.list.end(), looks_at_it); });
  });
}

DecisionTrace trace_for(const HowFilter& filter) {
  if (!filter.is_set()) return DecisionTrace();
  return DecisionTrace([filter](const WorkloadInfo& w, const Symbol& queue) {
    if (!filter.cluster_queue.empty()) return queue.text() == filter.cluster_queue;
    const std::string_view namespace_ = w.namespace_.text();
    return full_name(namespace_, w.name) == filter.workload ||
           (w.option != nullptr && full_name(namespace_, w.option->parent_name) == filter.workload);
  });
}

std::string why_otherwise(const Decided& decided) {
  if (decided.rules != rules_version)
    return "Its epoch decided by rules " + std::to_string(decided.rules) + ", and this build decides by rules " +
           std::to_string(rules_version) + ".";
  return "Its epoch decided by the rules of this build, so one of the two is wrong; 'hindsight verify' looks at the whole log.";
}

std::string_view name_of(FlavorMode mode) {
  switch (mode) {
    case FlavorMode::no_fit:
      return "NoFit";
    case FlavorMode::no_candidates:
      return "NoCandidates";
    case FlavorMode::preempt:
      return "Preempt";
    case FlavorMode::reclaim:
      return "Reclaim";
    case FlavorMode::fit:
      return "Fit";
  }
  return "";
}

std::string_view name_of(AssignmentMode mode) {
  switch (mode) {
    case AssignmentMode::no_fit:
      return "NoFit";
    case AssignmentMode::preempt:
      return "Preempt";
    case AssignmentMode::deferred_fit:
      return "DeferredFit";
    case AssignmentMode::fit:
      return "Fit";
  }
  return "";
}

std::string_view name_of(OrderedBy by) {
  switch (by) {
    case OrderedBy::nothing:
      return "";
    case OrderedBy::preemptor:
      return "Preemptor";
    case OrderedBy::level:
      return "BorrowingLevel";
    case OrderedBy::borrowing:
      return "Borrowing";
    case OrderedBy::share:
      return "Share";
    case OrderedBy::priority:
      return "Priority";
    case OrderedBy::time:
      return "Time";
    case OrderedBy::queue:
      return "ClusterQueueName";
    case OrderedBy::uid:
      return "Uid";
  }
  return "";
}

std::string_view name_of(PreemptionStep::Passed why) {
  using Passed = PreemptionStep::Passed;
  switch (why) {
    case Passed::none:
      return "";
    case Passed::reclaim_never:
      return "ReclaimWithinCohortNever";
    case Passed::within_never:
      return "WithinClusterQueueNever";
    case Passed::queue_inactive:
      return "ClusterQueueInactive";
    case Passed::within_nominal:
      return "WithinNominalQuota";
    case Passed::not_borrowing:
      return "NotBorrowing";
    case Passed::priority:
      return "Priority";
    case Passed::not_newer:
      return "NotNewer";
    case Passed::other_resources:
      return "OtherResources";
    case Passed::gone:
      return "GoesAlready";
    case Passed::replaced_slice:
      return "ReplacedSlice";
    case Passed::family:
      return "OwnFamily";
    case Passed::left_alone:
      return "RepeatedPreemptions";
  }
  return "";
}

std::string_view name_of(Outcome::Kind kind) {
  switch (kind) {
    case Outcome::Kind::admit:
      return "Admit";
    case Outcome::Kind::requeue:
      return "Requeue";
    case Outcome::Kind::migrate:
      return "Migrate";
    case Outcome::Kind::drop:
      return "Drop";
  }
  return "";
}

std::string_view name_of(Settings::FairStrategy strategy) {
  return strategy == Settings::FairStrategy::less_than_initial_share ? "LessThanInitialShare" : "LessThanOrEqualToFinalShare";
}

std::string why_not_recorded(const Decided& decided, const TracedTree& tree) {
  if (tree.recorded || tree.events == 0) return {};
  const auto& trees = decided.trace->trees();
  const auto again = [&](const TracedTree& t) { return t.root == tree.root && t.blocked; };
  if (!tree.blocked && std::any_of(trees.begin(), trees.end(), again))
    return "an entry of another tree goes first, and with blockAdmission one Workload is admitted at a time; it was asked once more";
  const auto stands_before = [&](const TracedTree& t) { return t.recorded && text(tree.root) < text(t.root); };
  if (decided.full && std::none_of(trees.begin(), trees.end(), stands_before))
    return "the record is full, and the tree is asked again in the next step";
  return "it only repeats what was decided since the last news, so the tree rests until there are some";
}

}  // namespace hindsight::projections
