#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace hindsight::operations {

/// The few places for requests that take much memory. Who finds none waits; a place that becomes free goes to the peer that has fewest, and
/// among equals to who came first. For one thread.
class LargeLane {
 public:
  explicit LargeLane(unsigned places) : places_(places) {}

  /// True: there is a place, it is taken. False: `go` is called once there is one.
  [[nodiscard]] bool enter(std::uint64_t id, const std::string& peer, std::function<void()> go);
  /// Gives back a place or the wish for one; nothing happens to who has neither.
  void leave(std::uint64_t id);
  [[nodiscard]] std::size_t taken() const { return holders_.size(); }

 private:
  struct Wish {
    std::uint64_t id = 0;
    std::string peer;
    std::function<void()> go;
  };
  [[nodiscard]] std::size_t held_by(const std::string& peer) const;

  unsigned places_;
  std::map<std::uint64_t, std::string> holders_;
  std::vector<Wish> wishes_;  ///< In the order in which they came.
};

}  // namespace hindsight::operations
