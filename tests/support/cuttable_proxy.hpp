#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
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
  /// From now on nothing passes on the connections that stand, as when a machine on the way has forgotten them; what is sent is taken all
  /// the same. New ones are not concerned.
  void freeze();

 private:
  void accept_all();
  void forward(int from, int to, const std::shared_ptr<const std::atomic<bool>>& is_frozen) const;
  void close_all();

  std::uint16_t target_port_;
  std::uint16_t port_ = 0;
  int listener_ = -1;
  std::atomic<bool> is_cut_{false};
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::vector<int> sockets_;  ///< Guarded by mutex_, as the next.
  std::vector<std::thread> threads_;
  std::shared_ptr<std::atomic<bool>> is_frozen_ =
      std::make_shared<std::atomic<bool>>(false);  ///< Of the connections made since the last freeze.
  std::thread acceptor_;
};

}  // namespace hindsight::testing
