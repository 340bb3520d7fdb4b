#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "projections/life.hpp"
#include "projections/mentions.hpp"

namespace hindsight::projections {

/// One decision about a workload, as the records tell it.
struct TrailFact {
  enum class Kind { reserved, admitted, tried, preempted, preempts, evicted, released, deactivated, finished, pending };
  Kind kind = Kind::tried;
  std::uint64_t offset = 0, sequence = 0;
  Time time;
  std::string workload_uid;  ///< Whom it was about; of `preempts` the victim.
  std::string by_uid;        ///< Of `preempts` and `preempted`: the preemptor.
  std::string other;  ///< "namespace/name": the preemptor of `preempted`, the victim of `preempts`, of a Parent's `admitted` the Option.
  std::string other_queue;  ///< ClusterQueue of the preemptor.
  std::string reason, message;
  std::int32_t borrowing_level = 0;
};

/// The end of an object of a Workload, or that it went to another domain.
struct TrailEnd {
  std::string uid, namespace_, name;
  std::uint64_t offset = 0;
  Time time;
  std::string departed_to;  ///< The domain that it concerns from then on; empty: it is gone.
};

/// Gathers what `why` needs to know of the past: give it every record of the domain up to the moment that is asked about. From records
/// alone; whether a decision took effect is for the state to say. Records that no reader counts (vocabulary/record_order.hpp) are left out;
/// those that were set aside are not to be given to it.
class Trail {
 public:
  explicit Trail(Target target) : mentions_(std::move(target)) {}
  void add(std::uint64_t offset, const RecordView& record);
  /// For whoever begins with a later record than the first: a LocalQueue that was there by then.
  void know_local_queue(std::string_view namespace_, std::string_view name, std::string_view cluster_queue) {
    lives_.know_local_queue(namespace_, name, cluster_queue);
  }

  /// For whoever leaves records out that are about none of these (`mentions`, `waits_in`): how the domain stands behind them.
  void leave_out(std::uint64_t sequence, std::uint64_t epoch, std::uint64_t decided_base, Time now) {
    sequence_ = std::max(sequence_, sequence);
    epoch_ = std::max(epoch_, epoch);
    decided_base_ = std::max(decided_base_, decided_base);
    lives_.leave_out_to(now);
  }
  void pass_by(std::string_view cluster_queue, std::uint64_t count) { lives_.pass_by(cluster_queue, count); }
  [[nodiscard]] std::vector<Lives::WaitsIn> waits_in() const { return lives_.waits_in(); }
  [[nodiscard]] const Mentions& mentions() const { return mentions_; }

  [[nodiscard]] const std::vector<TrailFact>& facts() const { return facts_; }
  /// The newest of a kind about this Workload; null: none.
  [[nodiscard]] const TrailFact* last(TrailFact::Kind kind, std::string_view workload_uid) const;
  /// The whole time of a Workload of this name, what goes on counted to `until`; nothing: it was never seen.
  [[nodiscard]] std::optional<Life> life(std::string_view workload_uid, Time until) const { return lives_.of(workload_uid, until); }
  /// Any object of the name was seen.
  [[nodiscard]] bool met() const { return mentions_.met(); }
  /// The Workload that ended last, Options and what came back again left out; null: none did.
  [[nodiscard]] const TrailEnd* last_end() const { return ends_.empty() ? nullptr : &ends_.back(); }
  [[nodiscard]] bool is_mine(std::string_view workload_uid) const { return mentions_.knows_workload(workload_uid); }

 private:
  [[nodiscard]] bool counts(const RecordView& record);
  void note_end(std::uint64_t offset, Time time, const Observation& o);

  Mentions mentions_;
  Lives lives_;
  std::uint64_t sequence_ = 0, epoch_ = 0, decided_base_ = 0;  ///< Of the last record that counted, and of the last decision.
  std::vector<TrailFact> facts_;
  std::map<std::string, std::pair<std::string, std::string>, std::less<>> names_;  ///< Uid of a Workload that is there → its name.
  std::vector<TrailEnd> ends_;
};

}  // namespace hindsight::projections
