#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace hindsight::operations {

/// The few places for requests that take much memory. Strangers have half of them at most. Who finds none waits; a place that becomes free
/// goes to whoever is no stranger, then to the peer that has fewest, and among equals to who came first. For one thread.
class LargeLane {
 public:
  explicit LargeLane(unsigned places) : places_(places), strangers_max_(std::max(1U, places / 2)) {}

  /// True: there is a place, it is taken. False: `go` is called once there is one; it must not throw.
  [[nodiscard]] bool enter(std::uint64_t id, const std::string& peer, bool proven, std::function<void()> go);
  /// Gives back a place or the wish for one; nothing happens to who has neither.
  void leave(std::uint64_t id);
  [[nodiscard]] std::size_t taken() const { return holders_.size(); }

 private:
  struct Who {
    std::string peer;
    bool proven = false;
  };
  struct Wish {
    std::uint64_t id = 0;
    Who who;
    std::function<void()> go;
  };
  [[nodiscard]] bool has_place_for(const Who& who) const;
  [[nodiscard]] std::size_t held_by(const std::string& peer) const;
  /// Whose wish is fulfilled next; the end: nobody's.
  [[nodiscard]] std::vector<Wish>::iterator next();

  const std::size_t places_, strangers_max_;
  std::map<std::uint64_t, Who> holders_;
  std::vector<Wish> wishes_;  ///< In the order in which they came.
};

}  // namespace hindsight::operations
