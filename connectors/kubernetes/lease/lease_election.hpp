#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "connectors/cluster.hpp"
#include "vocabulary/result.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::connectors::kubernetes {

/// The kind that an election is held with.
inline constexpr ResourceType lease_type{"Lease", "coordination.k8s.io", "v1", "leases", true};

/// Who stands for which lease. The defaults are those of the configuration file (base-api §11, leaderElection).
struct LeaseSettings {
  std::string namespace_ = "kueue-system";
  std::string name = "c1f6bfd2.kueue.x-k8s.io";
  std::string identity;                             ///< Of this copy, unlike all others: host name and something random.
  Duration lease_duration = Duration::seconds(15);  ///< Others wait so long after our last renewal.
  Duration renew_deadline = Duration::seconds(10);  ///< We stop leading when no renewal got through for so long.
  Duration retry_period = Duration::seconds(2);
};

/// Names fields that cannot work: an empty identity, or durations that are not retry < renew < lease.
[[nodiscard]] Result<LeaseSettings> checked(LeaseSettings settings);

/// Leader election with a Lease (coordination.k8s.io/v1) as a plain state machine: no clock, no I/O. The caller asks `next`
/// what to do at a time, does it, and tells the answer. Rules as in client-go: a lease is free when it has no holder or when we
/// have seen it unchanged for its duration, measured on our own clock, never by comparing times of two machines. Every
/// change carries the resourceVersion that it is based on, so of two candidates one gets 409.
class LeaseElection {
 public:
  struct Request {
    enum class Verb { get, create, merge_patch };
    Verb verb = Verb::get;
    std::string body;
  };

  explicit LeaseElection(LeaseSettings settings) : settings_(std::move(settings)) {}

  /// What to send now; nothing while an answer is awaited or when it is not yet time. `monotonic` never jumps, `wall` is
  /// what others read in the lease.
  [[nodiscard]] std::optional<Request> next(Duration monotonic, Time wall);
  /// The answer to the last request. `http_status` 0: none came. `retry_after_seconds`: what the server asked for (429, 503), heeded up to
  /// half of the renew deadline, so that a leader asks once more before it has to stand down.
  void answer(Duration monotonic, int http_status, std::string_view body, int retry_after_seconds = 0);
  /// The request that gives the lease away; nothing when we do not hold it. We do not lead any more, whatever the answer.
  [[nodiscard]] std::optional<Request> release(Time wall);

  /// Whether we may act as the leader at this time. Turns false by itself at the renew deadline.
  [[nodiscard]] bool leads(Duration monotonic) const;
  /// When `next` should be asked again.
  [[nodiscard]] Duration due() const { return due_; }
  /// Who holds the lease as far as we know; empty: nobody.
  [[nodiscard]] const std::string& holder() const { return holder_; }
  [[nodiscard]] const LeaseSettings& settings() const { return settings_; }

 private:
  void take_lease(Duration monotonic, std::string_view body);
  [[nodiscard]] Request change(Time wall) const;
  [[nodiscard]] bool is_ours() const { return holder_ == settings_.identity; }
  [[nodiscard]] bool is_free(Duration monotonic) const;

  LeaseSettings settings_;
  bool awaiting_ = false;
  bool known_ = false;  ///< Whether the fields below show the lease as it was a moment ago.
  bool exists_ = false;
  std::string resource_version_;
  std::string holder_;
  std::string acquire_time_;
  std::string observed_;  ///< Holder and renewTime as they have been since observed_at_.
  Duration observed_at_{};
  Duration their_duration_{};  ///< leaseDurationSeconds of the lease.
  std::int64_t transitions_ = 0;
  std::optional<Duration> renewed_at_;  ///< When the last successful renewal was sent. Set: we hold the lease.
  Duration sent_at_{};
  Duration due_{};
};

}  // namespace hindsight::connectors::kubernetes
