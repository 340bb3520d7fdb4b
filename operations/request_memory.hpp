#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace hindsight::operations {

/// What is known of whoever has a connection. In the order in which they give way.
enum class Standing : std::uint8_t {
  stranger,
  answered,   ///< It got a good answer before.
  certified,  ///< It has shown a good certificate.
};

/// Of what strangers share with the others, at least this part is theirs: below it they do not give way before all others.
inline constexpr std::size_t strangers_part = 8;

/// What the requests of a server hold that have not been answered yet, but for those that have a large place: their bytes, and what it
/// takes to answer them. Strangers may have half of it. Changed by one thread, read by any.
class RequestMemory {
 public:
  explicit RequestMemory(std::size_t max) : max_(max) {}

  /// Somebody held so much and now holds so much.
  void change(Standing standing, std::size_t before, std::size_t now) {
    if (standing == Standing::stranger) of_strangers_ = of_strangers_ - before + now;
    held_.store(held() - before + now, std::memory_order_relaxed);
    peak_.store(std::max(peak(), held()), std::memory_order_relaxed);
  }
  /// Nothing: there is enough. Else whether it is strangers whose requests are to be given up.
  [[nodiscard]] std::optional<bool> whose_is_too_much() const {
    if (of_strangers_ > max_ / 2) return true;
    if (is_full()) return of_strangers_ > max_ / strangers_part;
    return std::nullopt;
  }
  [[nodiscard]] bool is_full() const { return held() > max_; }

  [[nodiscard]] std::size_t held() const { return held_.load(std::memory_order_relaxed); }
  /// The most that it ever was, with what was given up at once.
  [[nodiscard]] std::size_t peak() const { return peak_.load(std::memory_order_relaxed); }

 private:
  const std::size_t max_;
  std::size_t of_strangers_ = 0;
  std::atomic<std::size_t> held_{0}, peak_{0};
};

}  // namespace hindsight::operations
