#include "projections/wait_words.hpp"

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "projections/format.hpp"

namespace hindsight::projections {
namespace {

/// What a reason means: `alone`, or `with` before its detail where it has one.
struct ReasonWords {
  std::string_view reason, alone, with;
};

constexpr std::array<ReasonWords, 20> reason_words{{
    {"WaitingForQuota", "waits for quota", "waits for quota of "},
    {"ExceedsMaxQuota", "asks for more quota than there ever is", "asks for more quota than there ever is of "},
    {"NoMatchingFlavor", "finds no flavor that matches it", "finds no flavor that matches it: "},
    {"TopologyPlacementFailed", "finds no places in a topology", "finds no places in a topology: "},
    {"WaitingForPreemptedWorkloads", "waits for those that it preempted to stop", "waits for those that it preempted to give back "},
    {"WaitingForPodsReady", "waits for the pods of all admitted workloads to be ready", {}},
    {"WaitingForReplacementPods", "waits for pods that take the place of those that failed", {}},
    {"WaitingForPlaces", "holds quota, and waits for places in a topology", {}},
    {"WaitingForAdmission", "holds quota, and waits for its admission", {}},
    {"UnsatisfiedAdmissionChecks", "waits for admission checks", "waits for admission "},
    {"PendingEvaluation", "waits for its turn", {}},
    {"Pending", "waits for its turn", {}},
    {"StrictFIFO", "waits for the head of its queue", "waits in a StrictFIFO queue "},
    {"BackOff", "may not be tried for a while", "may not be tried for a while after "},
    {"NotRequeued", "may not be tried", "may not be tried: "},
    {"OnHold", "is on hold with its job", {}},
    {"Deleting", "is being deleted", {}},
    {"Suspended", "is held back", "is held back: "},
    {"Misconfigured", "cannot be tried as it is", "cannot be tried as it is: "},
    {"AdmissionGated", "is held back by an admission gate", "is held back by admission gate "},
}};

}  // namespace

std::string wait_sentence(const WaitReason& reason) {
  for (const auto& words : reason_words) {
    if (words.reason != reason.reason) continue;
    if (reason.detail.empty() || words.with.empty()) return std::string(words.alone);
    return std::string(words.with) + reason.detail;
  }
  if (reason.reason.starts_with("Deactivated")) return "is not active";
  return reason.reason.empty() ? "waits for its turn" : "waits: " + text_of(reason);
}

std::string wait_sentence(const WaitReason& reason, const StandsAt& place) {
  std::string out = wait_sentence(reason);
  if (place.parked) return out + "; it is tried again when something changes in its cohort tree";
  if (place.ahead > 0) out += "; " + counted(place.ahead, "other") + (place.ahead == 1 ? " is" : " are") + " ahead";
  return out;
}

std::string holding_sentence(const admission::Reservation& reservation) {
  std::vector<std::string> parts;
  for (const auto& c : reservation.charges)
    if (c.amount != 0) parts.push_back(text(c.flavor) + "/" + text(c.resource) + " " + amount_text(c.amount, c.resource));
  return parts.empty() ? "holds quota of nothing" : "holds " + joined(parts);
}

}  // namespace hindsight::projections
