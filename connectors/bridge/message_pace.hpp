#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>

#include "vocabulary/time.hpp"

namespace hindsight::connectors {

/// When the status of each waiting Workload was written last. What would change nothing but the message that says why it waits is written
/// only after an interval has passed since then, and of several messages the last (BridgeOptions::message_interval). It has an entry for
/// each waiting Workload that was written within the interval, or for each that there is where nobody calls `forget_old`.
class MessagePace {
 public:
  explicit MessagePace(Duration interval) : interval_(interval) {}

  /// From when on the next message may be written; never: at any time.
  [[nodiscard]] Time earliest(const std::string& uid) const {
    const auto it = written_.find(uid);
    return it == written_.end() ? Time::never() : it->second + interval_;
  }
  void written(const std::string& uid, Time now) { written_[uid] = now; }
  void forget(const std::string& uid) { written_.erase(uid); }
  /// Those for which the interval has passed.
  void forget_old(Time now) {
    std::erase_if(written_, [&](const auto& entry) { return entry.second + interval_ <= now; });
  }
  [[nodiscard]] std::size_t size() const { return written_.size(); }

 private:
  Duration interval_;
  std::unordered_map<std::string, Time> written_;  ///< By uid.
};

}  // namespace hindsight::connectors
