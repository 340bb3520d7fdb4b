#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "connectors/kubernetes/auth/credentials.hpp"
#include "connectors/kubernetes/loop.hpp"

namespace hindsight::connectors::kubernetes {

/// The credential that requests carry, renewed in time. A command that yields one runs on a thread of its own while requests go on with the
/// credential that is there; they wait only when that one has expired. What the server refuses is replaced as soon as there is something
/// newer, and meanwhile only those requests wait that were refused.
///
/// Lives on the loop's thread, but for `load_first`, `stop` and the destructor.
class CredentialKeeper {
 public:
  using Clock = Loop::Clock;
  struct Options {
    std::chrono::milliseconds exec_time_limit = std::chrono::seconds(60);  ///< A command that takes longer is killed.
    /// Pause after a load that failed, and between two runs of the command because of refusals.
    std::chrono::milliseconds retry = std::chrono::seconds(5);
    std::chrono::milliseconds look_interval = std::chrono::seconds(1);  ///< Between two looks at files and times.
  };
  /// How a load that nobody waited for ended; the text is empty when it was good. `usable`: what was there before can still be used.
  using OnLoaded = std::function<void(const std::string& error, bool usable)>;

  CredentialKeeper(Loop& loop, const Connection& connection, Options options, OnLoaded on_loaded);

  /// The first load, on the calling thread, for as long as the command takes.
  [[nodiscard]] Result<void> load_first();
  /// Ends a command that runs. From any thread; nothing is loaded afterwards.
  void stop();

  enum class State : std::uint8_t {
    ready,    ///< `credential` may be used.
    loading,  ///< It has expired and the next one is on its way; `on_loaded` will be called.
    missing,  ///< It has expired and there is no other: `error` says why. Tried again after a pause.
  };
  /// Looks after the age of the credential and says whether requests may set out with it. Cheap; asked before each of them.
  [[nodiscard]] State look(Clock::time_point now);

  enum class Advice : std::uint8_t {
    try_again,  ///< There is a newer credential.
    wait,       ///< One is being loaded; `on_loaded` will be called.
    believe,    ///< There is no other credential: the refusal stands.
    missing,    ///< There should be another one, but it could not be loaded: `error` says why.
  };
  /// The server has refused the credential with this number.
  [[nodiscard]] Advice refused(std::uint64_t number, Clock::time_point now);

  [[nodiscard]] const Credential& credential() const { return credential_; }
  /// Rises with each credential, from 1.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  /// Why the last load failed; empty when it did not.
  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] std::uint64_t loads() const { return loads_; }  ///< After the first.

 private:
  [[nodiscard]] bool has_expired(Clock::time_point now) const;
  [[nodiscard]] bool is_due(Clock::time_point now) const;
  void load();
  void take(Result<Credential> loaded);
  void install(Credential credential);

  Loop& loop_;
  Credentials credentials_;
  Options options_;
  OnLoaded on_loaded_;

  Credential credential_;
  std::uint64_t number_ = 0;
  /// The end of its life on our own clock, so that a clock of the day that is set neither ends nor extends it. The maximum: it has none.
  Clock::time_point expires_at_ = Clock::time_point::max();
  std::chrono::nanoseconds renew_before_{};
  bool loading_ = false;
  std::string error_;
  Clock::time_point next_look_{};
  Clock::time_point next_after_refusal_{};
  std::uint64_t loads_ = 0;
  std::stop_source stop_;
  std::jthread loader_;
};

}  // namespace hindsight::connectors::kubernetes
