#pragma once

#include <cstdint>

namespace hindsight {

/// Whether a limit on writes (WriteLimitObserved) has changed by so much that the log is to know: by a third, up or down, or from nothing
/// or to it. Asked once a second, so that a log has one such record a second at most.
class WriteLimitNews {
 public:
  /// True: `writes` is to be told, and is what was told from now on.
  [[nodiscard]] bool is_news(std::uint32_t writes) {
    const std::uint64_t before = told_, now = writes;
    if (before == now || (before != 0 && now != 0 && 3 * now <= 4 * before && 3 * before <= 4 * now)) return false;
    told_ = writes;
    return true;
  }

 private:
  std::uint32_t told_ = 0;
};

}  // namespace hindsight
