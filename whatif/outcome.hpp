#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/domain/state_view.hpp"
#include "admission/model/workload_state.hpp"
#include "vocabulary/record.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::whatif {

/// What became of one Workload from a moment on. Options count for their Parent.
struct Fate {
  std::string queue;   ///< ClusterQueue that gave it quota last, else the one that it waits in.
  std::string job;     ///< "Job/train"; empty: it has none.
  std::string domain;  ///< That decides about it, the last one where several did.
  Time came;           ///< When it was made, or the moment from which on is counted.
  Time started;        ///< When it was admitted first since then, or the moment itself, if it was admitted by then; never: not yet.
  Time ended;          ///< Never: not yet.
  std::int32_t preempted = 0, evicted = 0;  ///< How often; preemptions count as evictions, too.
  Duration lost;                            ///< For which it was admitted in vain, because it was evicted in the end.
  Time admitted_since;                      ///< Never: it is not admitted now.
  bool had_started = false;                 ///< It was admitted at the moment already.
  bool gone = false;                        ///< Its object was deleted before it ended.
  bool departed = false;                    ///< It went on in another domain; `gone` is true as well.

  /// How long it waited for its start, at most until `now`.
  [[nodiscard]] Duration waited(Time now) const;
};

/// Waits of one queue, or of all.
struct Waits {
  std::size_t workloads = 0, started = 0, ended = 0;
  Duration mean, p50, p95;  ///< Of those that have not started yet: until the end.
  std::int64_t preemptions = 0, evictions = 0;
  Duration lost;
};

/// Watches a history, record by record, and tells what became of everybody.
class Ledger {
 public:
  /// `state`: as it stands at the moment.
  void begin(const admission::StateView& state, std::string_view domain = {});
  /// After it was applied.
  void see(const RecordView& record, const admission::StateView& state);
  void end(Time now) { end_ = now; }
  /// Takes what another one saw meanwhile of another domain of the same log; one that went from one to the other has one fate. With
  /// `prefix`, "prod:", before its names and those of its queues: of another cluster, where others may have the same.
  void absorb(Ledger other, std::string_view prefix);

  [[nodiscard]] const std::map<std::string, Fate>& fates() const { return fates_; }  ///< By "namespace/name".
  [[nodiscard]] Time begun() const { return begin_; }
  [[nodiscard]] Time ended() const { return end_; }
  /// By ClusterQueue; "" is all of them.
  [[nodiscard]] std::map<std::string, Waits> waits() const;
  /// By (ClusterQueue, flavor, resource): amount times seconds, of what was reserved.
  [[nodiscard]] std::map<std::vector<std::string>, std::int64_t> usage() const;
  /// The same of what was admitted in vain, because it was evicted in the end.
  [[nodiscard]] const std::map<std::vector<std::string>, std::int64_t>& lost() const { return lost_; }
  /// How many waited for their start at `n` moments, evenly from the beginning to `until`.
  [[nodiscard]] std::vector<std::size_t> waiting(std::size_t n, Time until) const;

 private:
  struct Held {
    Time since;
    std::string queue;
    std::vector<std::pair<std::pair<std::string, std::string>, std::int64_t>> amounts;
  };
  [[nodiscard]] Fate* fate_of(const admission::StateView& state, std::string_view uid);
  void give_back(std::string_view uid, Time now);
  void hold(const admission::WorkloadState& workload, Time since);
  void arrived_with_quota(const admission::WorkloadState& workload, Fate* fate, Time now);

  std::string domain_;
  Time begin_, end_;
  std::map<std::string, Fate> fates_;
  std::map<std::string, std::string, std::less<>> names_;  ///< Uid → key of its fate.
  std::map<std::string, Held, std::less<>> held_;          ///< By uid.
  std::map<std::vector<std::string>, std::int64_t> usage_, lost_;
  bool begins_empty_ = false;  ///< Nothing is known before its first record: it begins with that one.
};

}  // namespace hindsight::whatif
