#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "events/chain.hpp"
#include "events/log.hpp"
#include "evidence/keys.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::runtime {

/// Reads a log along, computes the chain of its records, and stores checkpoints of it (events/chain.hpp), beside the node that decides in
/// it: no append waits for a hash. A log without checkpoints proves less and works as well: what goes wrong is told, and tried again.
class ChainKeeper {
 public:
  struct Options {
    std::string release;                                   ///< Written into the checkpoints.
    std::shared_ptr<const evidence::SigningKey> key = {};  ///< None: they are not signed.
    std::function<Time()> now;
    std::function<void(const std::string&)> on_notice;
    events::Position records = 10'000;     ///< A checkpoint is stored after so many records, ...
    std::chrono::seconds interval{600};    ///< ... or after so long if there was any.
    std::chrono::milliseconds look{1000};  ///< Between two looks at the log.
  };
  /// The log must outlive it.
  ChainKeeper(events::Log& log, Options options);
  /// Stores one more checkpoint, of where it stands or, if that is near, of the end of the log.
  ~ChainKeeper() = default;
  /// Begins nothing any more. Never blocks.
  void end() { thread_.request_stop(); }
  ChainKeeper(const ChainKeeper&) = delete;
  ChainKeeper& operator=(const ChainKeeper&) = delete;

 private:
  void run(const std::stop_token& stop);
  /// Goes on to the end of the log, and stores what is due on the way. `last_look`: goes on a little only, and stores where it is then.
  [[nodiscard]] Result<void> follow(const std::stop_token& stop, bool last_look);
  [[nodiscard]] Result<void> start();
  [[nodiscard]] Result<void> store();

  events::Log& log_;
  const Options options_;
  std::optional<events::ChainWalk> walk_;  ///< Of the thread, as the next three.
  events::Position stored_ = 0;
  std::chrono::steady_clock::time_point stored_at_;
  int until_thinned_ = 0;  ///< So many more are stored before old ones are looked at.
  std::jthread thread_;
};

/// The key in a file that `run --checkpoint-key` names; none without a name. Errors: invalid (no such key, with the name of the option),
/// denied, io.
[[nodiscard]] Result<std::shared_ptr<const evidence::SigningKey>> checkpoint_key(const std::string& file);

}  // namespace hindsight::runtime
