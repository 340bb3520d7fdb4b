#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include "connectors/kubernetes/http/curl_multi.hpp"
#include "connectors/kubernetes/loop.hpp"

namespace hindsight::connectors::kubernetes {

/// A pool of connections to the server and the requests that are under way on them. It knows when something was heard last, because a
/// connection can be dead without anybody saying so: a machine on the way has forgotten it, and takes what is sent all the same. libcurl
/// would go on using it for ever. A channel that hears nothing is retired: nothing more is sent on it, and it goes away with its last
/// request. Lives on the loop's thread.
class HttpChannel {
 public:
  using Clock = Loop::Clock;
  struct Limits {
    long connections_max = 0;  ///< At the same time; 0: any number.
    long streams_max = 100;    ///< Requests at the same time on one connection, where the protocol allows more than one.
    bool multiplexes = false;
  };

  HttpChannel(Loop& loop, std::shared_ptr<int> depth, CurlMulti::OnDone on_done, const Limits& limits);
  HttpChannel(const HttpChannel&) = delete;
  HttpChannel& operator=(const HttpChannel&) = delete;

  [[nodiscard]] CURLMcode add(CURL* easy, Clock::time_point now);
  void remove(CURL* easy);
  void unpause(CURL* easy) { multi_.unpause(easy); }
  void set_connections_max(long count);

  /// Bytes came.
  void hear(Clock::time_point now) { last_heard_ = now; }
  /// Whether requests are under way and nothing was heard for so long.
  [[nodiscard]] bool is_silent(Clock::time_point now, std::chrono::milliseconds limit) const {
    return under_way_ > 0 && now - last_heard_ > limit;
  }
  [[nodiscard]] bool has_heard_since(Clock::time_point moment) const { return last_heard_ > moment; }

 private:
  CurlMulti multi_;
  std::size_t under_way_ = 0;
  Clock::time_point last_heard_{};  ///< Or, if that was later, when the first of those under way set out.
};

}  // namespace hindsight::connectors::kubernetes
