#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "projections/json.hpp"
#include "projections/mentions.hpp"
#include "projections/queue_place.hpp"

namespace hindsight::projections {

/// One thing that happened to a workload.
struct HistoryEntry {
  std::uint64_t offset = 0;    ///< Position in the log.
  std::uint64_t sequence = 0;  ///< In its domain.
  std::uint64_t epoch = 0;
  Time time;
  bool decided = false;     ///< By us; otherwise it was observed.
  std::uint64_t cause = 0;  ///< Of a decision its base, of an observation the record that led to it; 0: the outside world.
  std::string object;       ///< "Workload default/w1", "Job default/train".
  std::string kind;         ///< In one word, for programs: "created", "quotaReserved", "preempted", ...
  std::string text;         ///< For people.
  bool void_ = false;       ///< A decision without effect, because the object had moved on.
  bool noted = false;       ///< Only a note of what would be decided, at the base in `cause`.
};

/// The history of one workload and its job: what each record changed, told by comparing the states before and after. Feed it every record
/// of the domain, `before` and `after` it is applied; observations that change nothing (our own writes coming back) are left out.
class History {
 public:
  explicit History(Target target) : mentions_(std::move(target)) {}

  void before(const RecordView& record, const StateView& state);
  void after(std::uint64_t offset, const RecordView& record, const StateView& state);

  /// A record that was set aside, and has no effect.
  void passed_over(std::uint64_t offset, const RecordView& record);

  [[nodiscard]] const std::vector<HistoryEntry>& entries() const { return entries_; }

 private:
  /// What is known between two records: of an elastic job several Workloads live at once, its slices.
  struct Known {
    std::map<std::string, WorkloadState, std::less<>> workloads;  ///< By uid.
    Boxed<admission::JobState> job;
    [[nodiscard]] const WorkloadState* find(std::string_view uid) const;
  };
  /// Of the Workloads that were met, and those that the record's decisions name.
  [[nodiscard]] Known look(const RecordView& record, const StateView& state) const;
  void observed(const Observation& o, const Known& now, const StateView& state);
  void compare_jobs(const Known& now);
  void compare_workloads(const WorkloadState* before, const WorkloadState* now, const StateView& state);
  void decided(const Decisions& d, const Known& now);
  void noted(const DecisionsNoted& note);
  /// Whether it waits somewhere. Its place among the others is more than what is asked after each record of a long wait.
  struct Standing {
    Symbol queue;
    bool parked = false;
  };
  [[nodiscard]] static std::optional<Standing> standing_of(const StateView& state, const WorkloadState& w);
  void moved(const std::string& uid, const std::optional<Standing>& before, const StateView& state);
  void say(std::string object, std::string kind, std::string text, bool is_void = false);

  Mentions mentions_;
  std::set<std::uint64_t> passed_over_;  ///< Sequences of records that were set aside and are about it.
  bool concerned_ = false;
  bool may_move_ = false;  ///< The record may change its place in the queue without naming it.
  Known was_;
  std::map<std::string, std::optional<Standing>> places_;  ///< Of the Workloads that live, by uid.
  HistoryEntry blank_;
  std::vector<HistoryEntry> entries_;
};

[[nodiscard]] Json to_json(const HistoryEntry& entry);

}  // namespace hindsight::projections
