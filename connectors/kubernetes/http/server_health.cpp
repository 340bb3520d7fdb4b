#include "connectors/kubernetes/http/server_health.hpp"

#include <algorithm>
#include <utility>

namespace hindsight::connectors::kubernetes {
namespace {

/// So often in a row a server may come back and be given time, and this part of all time it may have.
constexpr int settlings_max = 4;

}  // namespace

ServerHealth::ServerHealth(std::string server, std::string user, Settling settling, OnNotice on_notice)
    : server_(std::move(server)),
      user_(std::move(user)),
      settling_(settling),
      on_notice_(std::move(on_notice)),
      credit_(settling.time * settlings_max) {}

void ServerHealth::begin_to_settle(Clock::time_point now) {
  const std::chrono::nanoseconds most = settling_.time * settlings_max;
  if (credit_at_ != Clock::time_point{}) credit_ = std::min(most, credit_ + (now - credit_at_) / settlings_max);
  credit_at_ = now;
  if (credit_ < settling_.time) return;
  credit_ -= settling_.time;
  settles_until_ = now + settling_.time;
}

void ServerHealth::answered(int status, Clock::time_point now) {
  if (!std::exchange(reachable_, true)) {
    begin_to_settle(now);
    on_notice_({Notice::Kind::reachable, nullptr, "the API server " + server_ + " answers again"});
  }
  const bool refused = status == 401;
  if (refused != accepted_ || (refused && is_settling(now))) return;
  accepted_ = !refused;
  on_notice_(accepted_ ? Notice{Notice::Kind::credentials_accepted, nullptr, "the API server " + server_ + " accepts our credentials again"}
                       : Notice{Notice::Kind::credentials_refused, nullptr,
                                "the API server " + server_ + " refuses the credentials of " + user_ +
                                    ": found status 401 Unauthorized, allowed: valid credentials"});
}

void ServerHealth::not_answered(const std::string& why) {
  if (!std::exchange(reachable_, false)) return;
  on_notice_({Notice::Kind::unreachable, nullptr, "cannot reach the API server " + why + "; trying again"});
}

void ServerHealth::no_credentials(const std::string& why) {
  if (!std::exchange(accepted_, false)) return;
  on_notice_({Notice::Kind::credentials_refused, nullptr, "no credentials for the API server: " + why});
}

}  // namespace hindsight::connectors::kubernetes
