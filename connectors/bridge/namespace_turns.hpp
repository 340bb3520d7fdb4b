#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace hindsight::connectors {

/// Keys that wait, each in its namespace. Namespaces have their turns, so that nobody waits for all that somebody else has. Not
/// thread-safe.
class NamespaceTurns {
 public:
  void push(const std::string& namespace_, std::string key) {
    waiting_[namespace_].push_back(std::move(key));
    ++size_;
  }
  /// The first of the namespace whose turn it is; it waits no longer. Nothing: none waits.
  [[nodiscard]] std::optional<std::string> pop() {
    if (waiting_.empty()) return std::nullopt;
    auto turn = waiting_.upper_bound(last_);
    if (turn == waiting_.end()) turn = waiting_.begin();
    last_ = turn->first;
    std::string out = std::move(turn->second.front());
    turn->second.pop_front();
    if (turn->second.empty()) waiting_.erase(turn);
    --size_;
    return out;
  }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::map<std::string, std::deque<std::string>> waiting_;  ///< None is empty.
  std::string last_;                                        ///< The namespace that had the last turn.
  std::size_t size_ = 0;
};

}  // namespace hindsight::connectors
