#pragma once

#include <chrono>
#include <thread>

namespace hindsight::test {

/// Looks every five milliseconds whether something that other threads bring about has come true; false: not for so long.
template <class Condition>
[[nodiscard]] bool within_seconds(int seconds, const Condition& condition) {
  for (int tries = 0; tries < seconds * 200; ++tries) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

}  // namespace hindsight::test
