#include "connectors/kubernetes/auth/credential_keeper.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace hindsight::connectors::kubernetes {
namespace {

using std::chrono::nanoseconds;

/// A credential is renewed when a fifth of its life is left, within these bounds: early enough for a command that is slow or fails a few
/// times, and so that no request sets out with one that dies on the way.
constexpr int parts_of_life = 5;
constexpr nanoseconds renew_before_min = std::chrono::seconds(10);
constexpr nanoseconds renew_before_max = std::chrono::minutes(2);

Time wall_clock() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::microseconds>(since).count()};
}

}  // namespace

CredentialKeeper::CredentialKeeper(Loop& loop, const Connection& connection, Options options, OnLoaded on_loaded)
    : loop_(loop), credentials_(connection, options.exec_time_limit), options_(options), on_loaded_(std::move(on_loaded)) {}

Result<void> CredentialKeeper::load_first() {
  auto loaded = credentials_.load(stop_.get_token());
  if (!loaded) return tl::unexpected(loaded.error());
  install(*std::move(loaded));
  return {};
}

void CredentialKeeper::stop() {
  stop_.request_stop();
  if (loader_.joinable()) loader_.join();
}

bool CredentialKeeper::has_expired(Clock::time_point now) const {
  // Only if both clocks say so: to use a dead credential costs a refusal, not to use a good one costs everything.
  return now >= expires_at_ && wall_clock() >= credential_.expires;
}

bool CredentialKeeper::is_due(Clock::time_point now) const {
  if (expires_at_ != Clock::time_point::max() && now + renew_before_ >= expires_at_) return true;
  return credentials_.files_changed(credential_);
}

CredentialKeeper::State CredentialKeeper::look(Clock::time_point now) {
  const bool expired = has_expired(now);
  const bool has_failed = !error_.empty();
  if (!loading_ && (now >= next_look_ || (expired && !has_failed)) && credentials_.can_change()) {
    next_look_ = now + options_.look_interval;
    if (expired || is_due(now)) load();
  }
  if (!expired || !has_expired(now)) return State::ready;
  return loading_ ? State::loading : State::missing;
}

CredentialKeeper::Advice CredentialKeeper::refused(std::uint64_t number, Clock::time_point now) {
  if (number != number_) return Advice::try_again;
  if (!credentials_.can_change()) return Advice::believe;
  if (!loading_) {
    // A server that refuses everything would have the command run without a pause.
    if (credentials_.runs_command() && now < next_after_refusal_) return error_.empty() ? Advice::believe : Advice::missing;
    next_after_refusal_ = now + options_.retry;
    load();
  }
  if (loading_) return Advice::wait;
  return number != number_ ? Advice::try_again : Advice::missing;
}

void CredentialKeeper::load() {
  if (stop_.stop_requested()) return;
  ++loads_;
  if (!credentials_.runs_command()) {
    take(credentials_.load());
    return;
  }
  loading_ = true;
  try {
    loader_ = std::jthread([this] {
      auto loaded = credentials_.load(stop_.get_token());
      loop_.post([this, loaded = std::move(loaded)]() mutable { take(std::move(loaded)); });
    });
  } catch (const std::system_error& none) {  // what we have may be good until there is a thread again
    take(hindsight::fail(ErrorKind::unavailable, std::string("cannot run the credential command: ") + none.what()));
  }
}

void CredentialKeeper::take(Result<Credential> loaded) {
  loading_ = false;
  if (stop_.stop_requested()) return;
  const auto now = Clock::now();
  if (loaded) {
    error_.clear();
    install(*std::move(loaded));
    // A command that gives out what it has until that dies is not asked again and again.
    next_look_ = now + options_.look_interval;
    if (credentials_.runs_command() && is_due(now)) next_look_ = now + std::max<nanoseconds>(options_.retry, (expires_at_ - now) / 2);
  } else {
    // What we have may still be good: the files of a mounted secret are away for a moment when it changes.
    error_ = loaded.error().message;
    next_look_ = now + options_.retry;
  }
  on_loaded_(error_, !has_expired(now));
}

void CredentialKeeper::install(Credential credential) {
  credential_ = std::move(credential);
  ++number_;
  expires_at_ = Clock::time_point::max();
  if (!credential_.expires.is_set()) return;
  // A year is far beyond any life that matters, and nothing overflows.
  const nanoseconds life = std::min<std::chrono::microseconds>(std::chrono::microseconds((credential_.expires - wall_clock()).micros),
                                                               std::chrono::hours(24 * 365));
  // One that is dead on arrival shows that the clocks differ: the server shall judge.
  if (life <= nanoseconds::zero()) return;
  expires_at_ = Clock::now() + life;
  renew_before_ = std::clamp(life / parts_of_life, renew_before_min, renew_before_max);
}

}  // namespace hindsight::connectors::kubernetes
