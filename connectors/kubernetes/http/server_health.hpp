#pragma once

#include <chrono>
#include <string>

#include "connectors/kubernetes/loop.hpp"
#include "connectors/kubernetes/notice.hpp"

namespace hindsight::connectors::kubernetes {

/// What the answers to requests show of the API server: whether it can be reached, whether it takes our credentials, and whether it has
/// come back only just now. People are told of each change once. Lives on the loop's thread.
class ServerHealth {
 public:
  using Clock = Loop::Clock;

  struct Settling {
    std::chrono::milliseconds time = std::chrono::seconds(15);  ///< So long after its return an API server is not believed when it refuses.
  };

  /// `server` and `user` are for messages.
  ServerHealth(std::string server, std::string user, Settling settling, OnNotice on_notice);

  /// A whole answer came.
  void answered(int status, Clock::time_point now);
  /// None came. `why` is for people.
  void not_answered(const std::string& why);
  /// There are no credentials that a request could carry.
  void no_credentials(const std::string& why);

  /// Whether the last request got an answer, whatever it was.
  [[nodiscard]] bool is_reachable() const { return reachable_; }
  /// Whether the server has come back only just now. An API server that starts serves before it knows its users, roles and kinds, so that
  /// 401, 403 and "no such resource" mean nothing yet. However short it was away for us, it may have been restarted: our first request that
  /// failed may have been sent when the restart was nearly over. Of a server that comes and goes this is true for a quarter of the time at
  /// most: what it refuses would otherwise never be believed.
  [[nodiscard]] bool is_settling(Clock::time_point now) const { return reachable_ && now < settles_until_; }

 private:
  void begin_to_settle(Clock::time_point now);

  std::string server_;
  std::string user_;
  Settling settling_;
  OnNotice on_notice_;

  bool reachable_ = true;
  bool accepted_ = true;
  Clock::time_point settles_until_{};
  /// Time that may still be granted for settling: so much is there at first, a quarter of the time that passes is added, and never is there
  /// more.
  std::chrono::nanoseconds credit_;
  Clock::time_point credit_at_{};
};

}  // namespace hindsight::connectors::kubernetes
