#pragma once

#include <algorithm>
#include <chrono>
#include <functional>

namespace hindsight::connectors::kubernetes {

/// A random number in [0, 1). Injected, so that tests decide it.
using Random = std::function<double()>;

/// A generator of its own with a seed from the system.
[[nodiscard]] Random system_random();

/// How long to wait after the n-th failure in a row: base * 2^(n-1), at most `longest`, spread by half up and down so that
/// many clients do not come back at the same moment.
struct Backoff {
  std::chrono::milliseconds base = std::chrono::milliseconds(250);
  std::chrono::milliseconds longest = std::chrono::seconds(30);

  [[nodiscard]] std::chrono::milliseconds after(unsigned failures, const Random& random) const {
    const unsigned doublings = std::min(failures > 0 ? failures - 1 : 0, 20U);
    return spread(std::min(base * (1L << doublings), longest), random);
  }

  /// Between half and one and a half of `time`.
  [[nodiscard]] static std::chrono::milliseconds spread(std::chrono::milliseconds time, const Random& random) {
    return std::chrono::milliseconds(static_cast<std::chrono::milliseconds::rep>(static_cast<double>(time.count()) * (0.5 + random())));
  }
};

/// A server may ask by Retry-After for a pause of at most so long; longer ones are cut to this, so that a wrong or hostile value cannot
/// silence us for hours. (API servers ask for 1 to 8 seconds.)
inline constexpr std::chrono::seconds retry_after_max{60};

/// How long to wait after the n-th failure in a row when the server asked for `retry_after_seconds` (0: for nothing): what the backoff
/// says, and not less than was asked for, which is spread too, but only upwards.
[[nodiscard]] std::chrono::milliseconds wait_before_retry(const Backoff& backoff, unsigned failures, int retry_after_seconds,
                                                          const Random& random);

}  // namespace hindsight::connectors::kubernetes
