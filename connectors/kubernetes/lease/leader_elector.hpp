#pragma once

#include <functional>

#include "connectors/kubernetes/http/http_client.hpp"
#include "connectors/kubernetes/lease/lease_election.hpp"
#include "connectors/kubernetes/notice.hpp"

namespace hindsight::connectors::kubernetes {

/// Runs a LeaseElection over HTTP. Lives on the loop's thread. Its requests go before all others, so that a full queue of
/// writes cannot cost the lease.
class LeaderElector {
 public:
  /// `on_change(true)`: we lead from now on; `on_change(false)`: not any more. Nobody leads beside us before that, provided that
  /// `on_change` returns within leaseDuration - renewDeadline (5 s) and that clocks run at about the same speed.
  /// A namespace of the lease that does not exist is made, once; what else refuses the lease is told by `on_notice`, once.
  LeaderElector(HttpClient& http, LeaseSettings settings, std::function<void(bool)> on_change, OnNotice on_notice = {});
  ~LeaderElector() { stop(); }
  LeaderElector(const LeaderElector&) = delete;
  LeaderElector& operator=(const LeaderElector&) = delete;

  void start() { tick(); }
  /// Stands down: `on_change(false)` if we led, then gives the lease away. `done` is called when that is answered.
  void resign(const std::function<void()>& done);
  void stop();
  /// What `on_change` said last.
  [[nodiscard]] bool leads() const { return leads_; }
  /// Whether we lead in this very moment: that may end before `on_change` says so, by up to an eighth of the retry period.
  [[nodiscard]] bool may_act() const;
  [[nodiscard]] const std::string& holder() const { return election_.holder(); }

 private:
  void tick();
  void send(const LeaseElection::Request& request, HttpClient::OnAnswer on_answer);
  void release(int tries_left, const std::function<void()>& done);
  void tell();
  void note_refusal(LeaseElection::Request::Verb verb, const HttpAnswer& answer);
  void make_namespace();

  HttpClient& http_;
  LeaseElection election_;
  std::function<void(bool)> on_change_;
  OnNotice on_notice_;
  HttpClient::RequestId request_ = 0;
  Loop::TimerId timer_ = 0;
  bool leads_ = false;
  bool resigned_ = false;
  bool refused_ = false;         ///< And told so.
  bool made_namespace_ = false;  ///< Or tried to.
};

}  // namespace hindsight::connectors::kubernetes
