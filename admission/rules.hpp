#pragma once

#include <cstdint>

namespace hindsight::admission {

/// Version of the rules by which this build decides, written at the start of every epoch (EpochStarted::rules): decisions on record are
/// judged by the rules that made them, or not at all (replay/verify.hpp). It rises with each change after which the same state may lead to
/// another decision, and the list below says what changed. What folding does with a record of an earlier epoch never changes (design rule
/// 1).
///
/// 0: written before there was a number.
/// 1: a preemptor is entitled to its nominal quota as soon as its own victims bring it back to that (BA-122); whoever waits keeps its
///    reason when its namespace is selected no longer, also if it was seen just before (BA-208).
/// 2: a cycle that parks all its heads goes on with the next ones, in further rounds (CohortTree); the gate
///    UnadmittedWorkloadsExplicitStatus is obeyed (BA-211).
/// 3: pods that run on a host whose node came back keep it, in place of the one that was found meanwhile (TAS-96).
/// 4: how many pods a slice gives back follows its job when its new size has been seen, so that it never holds more than before (EJ-63); a
///    Workload whose failed checks are taken back is tried again at once (this one is folded so, from the first epoch by these rules on); a
///    family switches its other Options off in the step that shows its admission (CA-42), and moves only to what is better in any case
///    (CA-53, CA-153).
/// 5: a tree that would do again what it did before rests, whatever other trees do at the time (D10). This is folded so, from the
///    first epoch by these rules on.
/// 6: a life-cycle step that was decided before something happened to its Workload parent does not count among those that were made since
///    (RepeatedSteps); a Parent shows its Options when all of the first ones have been made (CA-100), and asks for none that somebody made
///    meanwhile. This is folded so, from the first epoch by these rules on.
/// 7: a head whose scan starts anew is told so, also if it comes to what the one before it came to: its next flavors are tried in the next
///    cycle (BA-54, BA-90).
/// 8: failed nodes of elastic jobs are replaced as those of others, and meanwhile no slice grows (EJ-112); what a slice that became smaller
///    has given up is no place of its pods any more (EJ-113); a deactivation counts in
///    status.schedulingStats with the reason Deactivated, whatever its cause, and also of a Workload that holds no quota (BA-205). The
///    counts, and what pods of elastic jobs hold, are folded so, from the first epoch by these rules on.
/// 9: an admission that an entry passed over before it would undo in the next cycle is withheld (D14); no cycle runs while the API server
///    has enough to do with what was decided before (D15).
/// 10: a Workload that was deleted keeps its quota until its job has stopped, also without a finalizer (D16), and the log says first that
///    the job is to be stopped; a finished slice whose name the next one needs is deleted (EJ-7). That quota is kept is folded so,
///    from the first epoch by these rules on.
inline constexpr std::uint32_t rules_version = 10;
/// Epochs that decide by earlier rules go on to do so when they are judged.
inline constexpr std::uint32_t rules_with_rounds = 2;
inline constexpr std::uint32_t rules_with_explicit_status = 2;
inline constexpr std::uint32_t rules_with_hosts_taken_back = 3;
inline constexpr std::uint32_t rules_with_sizes_first = 4;
inline constexpr std::uint32_t rules_with_checks_taken_back = 4;
inline constexpr std::uint32_t rules_with_rest_by_tree = 5;
inline constexpr std::uint32_t rules_with_steps_by_base = 6;
inline constexpr std::uint32_t rules_with_options_shown_together = 6;
inline constexpr std::uint32_t rules_with_scans_begun_anew = 7;
inline constexpr std::uint32_t rules_with_elastic_repairs = 8;
inline constexpr std::uint32_t rules_with_deactivations_counted = 8;
inline constexpr std::uint32_t rules_with_claims = 9;
inline constexpr std::uint32_t rules_with_write_backlog = 9;
inline constexpr std::uint32_t rules_with_quota_of_deleted = 10;

}  // namespace hindsight::admission
