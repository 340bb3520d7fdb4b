#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "admission/domain/state_view.hpp"
#include "projections/json.hpp"
#include "projections/lookup.hpp"
#include "vocabulary/record.hpp"

namespace hindsight::projections {

/// How two controllers stand to each other in one matter.
enum class Verdict : std::uint8_t {
  same,            ///< Both did it, in the same way, within the tolerance.
  earlier,         ///< Both in the same way, Hindsight earlier by more than the tolerance.
  other_flavors,   ///< Both admitted it, with other flavors or counts.
  other_victims,   ///< Both got it its quota, but would not preempt the same Workloads for it.
  other_reason,    ///< Both evicted it, for other reasons.
  only_hindsight,  ///< Hindsight would have, the other one has not.
  only_kueue,      ///< The other one has, and Hindsight would not have by then.
  taken_back,      ///< Hindsight would have for a moment that was shorter than the tolerance.
  open,            ///< Hindsight would, since less than the tolerance, when the time that is looked at ends.
  both_wait,       ///< Neither did anything.
  unseen,          ///< The other one did it before anybody looked on.
  not_looked,      ///< The other one did it otherwise, and what Hindsight would have done at that moment was not found out.
};
inline constexpr std::size_t verdicts = 12;
/// "Same", "OnlyKueue".
[[nodiscard]] std::string_view name_of(Verdict verdict);
/// Is it a difference that somebody wants to understand?
[[nodiscard]] bool is_difference(Verdict verdict);

/// What one of the two did, or would have done.
struct SideOfTwo {
  std::uint64_t record = 0;  ///< Position in the log of what says so.
  Time time;
  std::string cluster_queue;
  std::vector<std::string> assignments;  ///< "main x2: cpu=default, memory=default", one for each pod set.
  std::set<std::string> victims;         ///< "namespace/name".
  std::string reason;                    ///< Of an eviction; of who waits, why.
  friend bool operator==(const SideOfTwo&, const SideOfTwo&) = default;
};

/// One matter: that a Workload gets its quota, or that it is evicted for another reason than preemption.
struct Matter {
  std::string workload, cluster_queue;
  bool eviction = false;
  Verdict verdict = Verdict::both_wait;
  Time since;  ///< When it began to wait, or got its quota.
  std::optional<SideOfTwo> hindsight, kueue;
  Duration difference;  ///< By how much Hindsight was earlier, where both did it.
  struct Why {
    std::string rule;  ///< Of docs/deviations.md; empty: what the records tell.
    std::string text;
  };
  std::vector<Why> why;
};

struct BesideOptions {
  Duration tolerance = Duration::seconds(30);  ///< The other controller may take so long for what is the same.
  std::size_t matters_max = 10'000;            ///< So many are kept; all are counted.
  bool keep_same = false;                      ///< Also those that are no differences.
};

/// Compares what the notes of an observer (DecisionsNoted) say with what another controller did, as the statuses of Workloads tell. Feed it
/// all records from some moment on, after each was applied; `begin` first, with the state before them.
class Beside {
 public:
  explicit Beside(BesideOptions options) : options_(options) {}

  void begin(const StateView& state);
  void after(std::uint64_t offset, const RecordView& record, const StateView& state);
  /// After the last one.
  void finish(const StateView& state);

  [[nodiscard]] const std::vector<Matter>& matters() const { return matters_; }
  /// More than were kept.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }
  [[nodiscard]] std::uint64_t count(Verdict verdict) const { return counts_[static_cast<std::size_t>(verdict)]; }
  [[nodiscard]] std::uint64_t differences() const;
  /// Events of the notes, by kind.
  [[nodiscard]] const std::map<std::string, std::uint64_t>& noted() const { return noted_; }
  [[nodiscard]] std::uint64_t notes() const { return notes_; }
  /// Did anybody look on, in the records that it was given or before them?
  [[nodiscard]] bool was_observed() const { return observed_ || notes_ != 0; }

 private:
  enum class Phase : std::uint8_t { unknown, waits, holds, over };
  /// A stretch of waiting, or of holding quota; sequences [begin, end), 0: it has not ended.
  struct Stretch {
    bool holds = false;
    std::uint64_t begin = 0, end = 0;
    Time since, ended;
    bool watched = true;  ///< Somebody looked on when it ended.
    bool looked = false;  ///< At the moment before the other one decided it Hindsight would not have, not in this way: a note says so.
    std::optional<SideOfTwo> hindsight, kueue;
    std::set<std::string> would_preempt, preempted;
    std::set<std::string> looked_at;  ///< Of `preempted` those of whom a note says that Hindsight would not have.
    std::string preempted_for;        ///< Uid of who got the quota.
    std::optional<SideOfTwo> first_preemption;
    Time withdrawn;
    std::string waits_for;  ///< Why Hindsight would let it wait.
    std::vector<Matter::Why> why;
  };
  struct Course {
    std::string name, queue;
    Phase phase = Phase::unknown;
    bool evicted = false;
    std::deque<Stretch> stretches;
  };
  struct MomentOf {
    std::uint64_t offset = 0;
    Time time;
  };

  void see(std::uint64_t offset, const WorkloadObserved& o, const StateView& state);
  void follow(const std::string& uid, Course& course, const WorkloadState* w, std::uint64_t offset, const StateView& state);
  void evicted(const std::string& uid, Course& course, const WorkloadState& w, std::uint64_t offset);
  void open(Course& course, bool holds);
  void close(const std::string& uid, Course& course);
  void note(std::uint64_t offset, const DecisionsNoted& n, const StateView& state);
  void looked(const WorkloadRef& w, std::uint64_t base);
  void note_event(const Event& event, std::uint64_t base, const SideOfTwo& when, const StateView& state);
  [[nodiscard]] Stretch* stretch_at(std::string_view uid, std::uint64_t sequence, bool holds);
  [[nodiscard]] MomentOf moment_of(std::uint64_t sequence) const;
  void settle(std::uint64_t before);
  void judge(const Course& course, const Stretch& stretch);
  void judge_waiting(Matter& m, const Stretch& s) const;
  void judge_holding(Matter& m, const Stretch& s) const;

  const BesideOptions options_;
  std::unordered_map<std::string, Course> courses_;  ///< By uid.
  /// Stretches that have ended, the oldest first. A note about one may come after its end, for a while.
  std::deque<std::pair<std::uint64_t, std::string>> ended_;
  std::deque<MomentOf> moments_;  ///< Of the newest records, by sequence.
  std::uint64_t first_moment_ = 0;
  std::uint64_t sequence_ = 0, notes_ = 0, left_out_ = 0;
  Time now_;
  bool watched_ = false, observed_ = false;
  std::vector<Matter> matters_;
  std::array<std::uint64_t, verdicts> counts_{};
  std::map<std::string, std::uint64_t> noted_;
};

/// Why a Workload may fare otherwise here, by the known departures from Kueue (docs/deviations.md), as far as the state tells that one of
/// them can play a part.
[[nodiscard]] std::vector<Matter::Why> known_causes(const StateView& state, const WorkloadState& w);
/// Every rule that `known_causes` and the comparison name.
[[nodiscard]] std::vector<std::string_view> rules_of_known_causes();

[[nodiscard]] Json to_json(const Matter& matter);

}  // namespace hindsight::projections
