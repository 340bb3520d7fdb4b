#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/model/workload_state.hpp"
#include "projections/json.hpp"
#include "projections/mentions.hpp"

namespace hindsight::projections {

/// What a Workload did for a time, without a break.
struct LifeSpan {
  enum class Kind {
    unknown,       ///< It was there, and the log does not tell of it: before the log began, or while it was in another domain.
    turn,          ///< It waited in line, and nothing was said of it yet.
    quota,         ///< It was tried, and there was no room for it.
    victims,       ///< It waited for those that it had preempted to stop.
    others_ready,  ///< It waited for the pods of all admitted Workloads to be ready.
    held,          ///< It might not be tried: its queue was stopped or missing, a gate was closed, it was set aside.
    back_off,      ///< It might not be tried for a while after an eviction.
    inactive,      ///< spec.active was false.
    checks,        ///< It held quota, and waited for admission checks, for places or for its family.
    running,       ///< It was admitted.
    stopping       ///< It was evicted, and had not given its quota back yet.
  };
  Kind kind = Kind::turn;
  std::string reason;  ///< Of the condition that says so; empty: none does.
  std::string words;   ///< For people, behind how long it took: "for quota of default/cpu", "held back: LocalQueue lq is inactive".
  std::vector<std::pair<std::string, std::string>> lacks;  ///< quota, victims: flavors and resources that were short.
  std::vector<std::string> checks;                         ///< checks: those that were not ready.
  Time from, to;
  std::uint64_t offset = 0;  ///< Of the record that it began with.
  /// turn, quota: how often others were given quota in its ClusterQueue meanwhile. victims: how many it had preempted.
  std::uint64_t others = 0;
  std::vector<std::string> names;  ///< "namespace/name" of the first few of these, each once.

  /// It neither held quota nor was it on its way out.
  [[nodiscard]] bool is_wait() const { return kind != Kind::unknown && kind != Kind::running && kind != Kind::stopping; }
};

/// A reservation that a Workload lost before it had finished.
struct LifeLoss {
  std::uint64_t offset = 0;  ///< Of the record that says so.
  Time time;
  std::string reason;    ///< Of the preemption or of the eviction; empty: somebody cleared the admission without one.
  std::string by;        ///< "namespace/name" of the preemptor; empty: nobody preempted it.
  std::string by_queue;  ///< ClusterQueue of the preemptor.
  Duration lost;         ///< How long it had run.
};

/// An account of the whole time of one Workload object. The spans follow each other without a gap, so that what it waited, ran, stopped
/// and was out of sight adds up to the time from its creation to `until`, to the microsecond.
struct Life {
  Time created, until;
  std::string end;  ///< "finished: Succeeded", "deleted"; empty: it goes on.
  std::vector<LifeSpan> spans;
  std::vector<LifeLoss> losses;

  [[nodiscard]] Duration total() const { return until - created; }
  [[nodiscard]] Duration waited() const;
  /// All time in which it was admitted.
  [[nodiscard]] Duration ran() const;
  /// Of that what came to nothing, because the reservation was lost.
  [[nodiscard]] Duration lost() const;
  /// From evictions until the quota was given back.
  [[nodiscard]] Duration stopped() const;
  [[nodiscard]] Duration unknown() const;
  [[nodiscard]] std::size_t runs() const;
  /// There is more to tell than how long it waited.
  [[nodiscard]] bool was_admitted() const { return runs() > 0 || !losses.empty(); }
};

/// Keeps the accounts of the Workloads that are about a target, from records alone: no state is folded but theirs. Give it every record of
/// the domain that counts, in order.
class Lives {
 public:
  /// `concerns`: what `mentions` said of the record.
  void add(std::uint64_t offset, const RecordView& record, const Mentions& mentions, bool concerns);
  /// A LocalQueue that was there before the first record that is given.
  void know_local_queue(std::string_view namespace_, std::string_view name, std::string_view cluster_queue);

  // For whoever leaves records out that are about none of these.

  /// A ClusterQueue in which somebody of these waits, and lets others by.
  struct WaitsIn {
    std::string cluster_queue;
    bool names_wanted = false;  ///< Of those whom he lets by, more names would be told.
  };
  [[nodiscard]] std::vector<WaitsIn> waits_in() const;
  /// So many others were given quota there, in records that are left out; their names are not told.
  void pass_by(std::string_view cluster_queue, std::uint64_t count);
  /// The last record that was left out was at this time, or before.
  void leave_out_to(Time now) { now_ = std::max(now_, now); }

  /// Nothing: it was never seen. What goes on counts to `until`.
  [[nodiscard]] std::optional<Life> of(std::string_view workload_uid, Time until) const;

 private:
  /// One Workload: its object as far as spans depend on it, and what was written into its account.
  struct One {
    admission::WorkloadState w;
    Time created;
    std::vector<LifeSpan> spans;  ///< The last one is open while it lives.
    std::vector<LifeLoss> losses;
    bool ended = false;
    Time end_time;
    std::string end;
    std::uint64_t victims = 0;  ///< Whom it preempted since it got quota last.
    std::vector<std::string> victim_names;
    std::uint64_t passed_by = 0;  ///< `others` and `names` of a wait that took no time, for the one that follows.
    std::vector<std::string> passed_by_names;
    std::string shown;        ///< A Parent: uid of the Option whose admission it shows (8691).
    bool keeps_hold = false;  ///< A Parent: quota is kept for an Option that it moves to.
  };
  struct Fold;

  void observed(std::uint64_t offset, const Observation& o, const Mentions& mentions);
  void decided(std::uint64_t offset, const Decisions& d);
  void granted(const Decisions& d, const Mentions& mentions);
  void begin(One& one, std::uint64_t offset);
  void resume(One& one, std::uint64_t offset);
  void settle(One& one, std::uint64_t offset, const WorkloadPreempted* preempted);
  void end(One& one, std::string how);
  void close_span(One& one) const;
  void open_span(One& one, LifeSpan span, std::uint64_t offset) const;
  [[nodiscard]] One* find(std::string_view uid);

  std::map<std::string, One, std::less<>> all_;                   ///< By uid.
  std::set<std::string, std::less<>> open_;                       ///< Uids of those that live.
  std::map<std::string, std::string, std::less<>> local_queues_;  ///< "namespace/name" → ClusterQueue.
  Time now_;
};

/// As Go writes durations, with hours as the largest unit: "0s", "0.25s", "1m5s", "26h0m3.5s". Exact.
[[nodiscard]] std::string exact_duration(Duration d);

/// One stretch for people: "waited for quota of default/cpu", "ran", "stopped after it was evicted".
[[nodiscard]] std::string span_text(const LifeSpan& span);
/// "turn", "quota", "running", ...: as documents name it.
[[nodiscard]] std::string_view name_of(LifeSpan::Kind kind);
/// A few lines for people, the first without indentation.
[[nodiscard]] std::vector<std::string> life_lines(const Life& life);
/// Durations in microseconds.
[[nodiscard]] Json to_json(const Life& life);

}  // namespace hindsight::projections
