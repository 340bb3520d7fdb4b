#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace hindsight::events::sqlite {

/// A lock that is handed over in the order in which it was asked for. Who has long work to do takes it for one short step after
/// another and so lets in everybody who waits; a std::mutex would mostly go to the thread again that has just released it.
class Turns {
 public:
  void lock();
  void unlock();

  /// How many hold it or wait for it.
  [[nodiscard]] std::uint64_t present() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable next_;
  std::uint64_t asked_ = 0;
  std::uint64_t left_ = 0;
};

}  // namespace hindsight::events::sqlite
