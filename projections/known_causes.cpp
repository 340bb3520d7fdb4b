// The departures from Kueue that can make a Workload fare otherwise, as far as the state of the domain tells that they concern it. The
// rules are those of docs/deviations.md; a test holds the two together.

#include <algorithm>

#include "admission/domain/domain.hpp"
#include "projections/beside.hpp"
#include "projections/queue_place.hpp"

namespace hindsight::projections {
namespace {

struct KnownCause {
  std::string_view rule, text;
  bool (*concerns)(const StateView& state, const WorkloadState& w);
};

const admission::QueueConfig* config_of(const StateView& state, const WorkloadState& w) {
  return state.domain().catalog()->queue(w.admission ? w.admission->cluster_queue : queue_of(state, w));
}

bool is_slice(const StateView&, const WorkloadState& w) { return w.elastic && (!w.replacement_for.empty() || !w.slice_name.empty()); }

bool is_elastic(const StateView&, const WorkloadState& w) { return w.elastic; }

bool is_placed(const StateView&, const WorkloadState& w) {
  return std::any_of(w.pod_sets.begin(), w.pod_sets.end(), [](const auto& p) { return p.topology != decltype(p.topology){}; });
}

bool shares_by_usage(const StateView& state, const WorkloadState& w) {
  const auto* queue = config_of(state, w);
  return queue != nullptr && queue->admission_mode == AdmissionMode::usage_based;
}

bool leaves_somebody_alone(const StateView& state, const WorkloadState& w) {
  return !state.domain().repeated_preemptions().left_alone_by(w.uid).empty();
}

bool waits_as_option(const StateView&, const WorkloadState& w) { return w.family_facts && !w.family_facts->option_of.empty(); }

/// Of whom claims were made is known, not on whom: so it is said of all that have lost their room to another one.
bool may_be_withheld(const StateView& state, const WorkloadState& w) {
  const auto* c = w.find(ConditionType::quota_reserved);
  return !state.domain().claims().all().empty() && c != nullptr && std::string_view(c->message).starts_with("Workload no longer fits");
}

constexpr KnownCause causes[] = {
    {"D13", "it has preempted the same Workloads again and again, and Hindsight leaves them alone where Kueue goes on",
     leaves_somebody_alone},
    {"D14", "Hindsight does not admit what the next cycle would preempt again", may_be_withheld},
    {"EJ-43", "Kueue parks a replacement of a slice by what an equal one came to; Hindsight tries each", is_slice},
    {"EJ-134", "Hindsight grants a larger slice whole or lets it wait", is_elastic},
    {"TAS-31", "the last check in Kueue's cycle does not count the pods that a node may have", is_placed},
    {"TAS-86", "a place that was given counts at once in Hindsight", is_placed},
    {"BA-165", "usage of LocalQueues is sampled at other moments, so that their order may be another one", shares_by_usage},
    {"CA-143", "whether an upgrade Option holds up its queue is a setting of Hindsight's own", waits_as_option},
};

}  // namespace

std::vector<Matter::Why> known_causes(const StateView& state, const WorkloadState& w) {
  std::vector<Matter::Why> out;
  for (const auto& cause : causes)
    if (cause.concerns(state, w)) out.push_back({std::string(cause.rule), std::string(cause.text)});
  return out;
}

std::vector<std::string_view> rules_of_known_causes() {
  std::vector<std::string_view> out{"BA-59"};
  for (const auto& cause : causes) out.push_back(cause.rule);
  return out;
}

}  // namespace hindsight::projections
