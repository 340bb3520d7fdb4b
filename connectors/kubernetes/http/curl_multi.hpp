#pragma once

#include <curl/curl.h>

#include <functional>
#include <memory>
#include <unordered_set>

#include "connectors/kubernetes/loop.hpp"

namespace hindsight::connectors::kubernetes {

/// A set of libcurl transfers with their own pool of connections, driven by the loop. Lives on the loop's thread.
class CurlMulti {
 public:
  using OnDone = std::function<void(CURL*, CURLcode)>;

  /// `on_done` is called when a transfer has ended, never from inside libcurl. `depth` is above 0 while libcurl is calling us: then
  /// transfers may be neither added nor removed, of none of those that share it.
  CurlMulti(Loop& loop, std::shared_ptr<int> depth, OnDone on_done);
  ~CurlMulti();
  CurlMulti(const CurlMulti&) = delete;
  CurlMulti& operator=(const CurlMulti&) = delete;

  [[nodiscard]] CURLM* get() const { return multi_; }

  CURLMcode add(CURL* easy);
  void remove(CURL* easy);
  void unpause(CURL* easy);

 private:
  static int on_socket(CURL* easy, curl_socket_t socket, int what, void* self, void* unused);
  /// Closes a socket for libcurl, which now and then reports a socket as removed only after it has closed it. By then the number may
  /// belong to another thread, or to another set on the same loop: so the loop forgets the socket before the number is free.
  static int close_socket(void* self, curl_socket_t socket);
  static int on_timer(CURLM* multi, long milliseconds, void* self);
  void forget(curl_socket_t socket);
  void act(curl_socket_t socket, int events);
  void collect();

  Loop& loop_;
  OnDone on_done_;
  CURLM* multi_;
  std::unordered_set<curl_socket_t> watched_;  ///< Open sockets of this set alone.
  Loop::TimerId timer_ = 0;
  std::shared_ptr<int> depth_;
};

}  // namespace hindsight::connectors::kubernetes
