#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace hindsight::testing {

/// A port of 127.0.0.1 behind which lies another one, until the test cuts the line. Passes bytes on without looking at them.
class CuttableProxy {
 public:
  explicit CuttableProxy(std::uint16_t target_port);
  ~CuttableProxy();
  CuttableProxy(const CuttableProxy&) = delete;
  CuttableProxy& operator=(const CuttableProxy&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// Breaks all connections and refuses new ones by closing them at once.
  void cut();
  void mend() { is_cut_ = false; }

 private:
  void accept_all();
  void forward(int from, int to) const;
  void close_all();

  std::uint16_t target_port_;
  std::uint16_t port_ = 0;
  int listener_ = -1;
  std::atomic<bool> is_cut_{false};
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::vector<int> sockets_;  ///< Guarded by mutex_, as the next.
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

}  // namespace hindsight::testing
