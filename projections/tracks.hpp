#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "admission/domain/state_view.hpp"
#include "projections/phase.hpp"
#include "vocabulary/record.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::projections {

/// A stretch of time in which a Workload stood in one phase and one ClusterQueue.
struct TrackSpan {
  std::string namespace_, name, uid;
  std::string job;            ///< "Job/train"; empty: none.
  std::string cluster_queue;  ///< That it waits in, or holds quota of; empty: none.
  std::string chain;          ///< Of a slice of an elastic job: name of the chain's origin; of an Option: name of its Parent. Else empty.
  std::string reason;         ///< Of one that waits or was evicted: why, as its conditions say at the beginning of the stretch.
  Phase phase = Phase::pending;
  std::int64_t priority = 0;
  Time begin, end;
  bool open = false;  ///< It went on when the record ended.
};

/// Turns records into such stretches, each given as it ends. It keeps the open ones only.
class Tracks {
 public:
  using Give = std::function<void(const TrackSpan&)>;
  /// `opened`, where given, is called as one begins; its `end` is not known then.
  explicit Tracks(Give give, Give opened = {}) : give_(std::move(give)), opened_(std::move(opened)) {}

  /// Those that stand there already begin now.
  void begin(const admission::StateView& state);
  /// After the record was applied.
  void see(const RecordView& record, const admission::StateView& state);
  /// Gives those that are open.
  void end(Time now);

 private:
  void look_at(std::string_view uid, const admission::StateView& state, Time now);
  void close(const std::string& uid, Time now);

  Give give_, opened_;
  std::map<std::string, TrackSpan, std::less<>> open_;  ///< By uid.
};

}  // namespace hindsight::projections
