#include "connectors/kubernetes/http/curl_multi.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <stdexcept>
#include <utility>

namespace hindsight::connectors::kubernetes {
namespace {

/// Counts how deep we are inside libcurl.
class Entered {
 public:
  explicit Entered(int& depth) : depth_(depth) { ++depth_; }
  ~Entered() { --depth_; }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

 private:
  int& depth_;
};

}  // namespace

CurlMulti::CurlMulti(Loop& loop, std::shared_ptr<int> depth, OnDone on_done)
    : loop_(loop), on_done_(std::move(on_done)), depth_(std::move(depth)) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  multi_ = ready == CURLE_OK ? curl_multi_init() : nullptr;
  if (multi_ == nullptr) throw std::runtime_error("libcurl cannot be initialised");
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &CurlMulti::on_socket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &CurlMulti::on_timer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
}

CurlMulti::~CurlMulti() {
  const Entered entered(*depth_);
  curl_multi_cleanup(multi_);
  loop_.cancel(timer_);
}

CURLMcode CurlMulti::add(CURL* easy) {
  // A connection may outlive the transfer, but not the set.
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, &CurlMulti::close_socket);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, this);
  const Entered entered(*depth_);
  return curl_multi_add_handle(multi_, easy);
}

void CurlMulti::remove(CURL* easy) {
  const Entered entered(*depth_);
  curl_multi_remove_handle(multi_, easy);
}

void CurlMulti::unpause(CURL* easy) {
  const Entered entered(*depth_);
  curl_easy_pause(easy, CURLPAUSE_CONT);
}

int CurlMulti::on_socket(CURL* /*easy*/, curl_socket_t socket, int what, void* self, void* /*unused*/) {
  auto& multi = *static_cast<CurlMulti*>(self);
  if (what == CURL_POLL_REMOVE) {
    multi.forget(socket);
    return 0;
  }
  std::uint32_t events = 0;
  if ((what & CURL_POLL_IN) != 0) events |= EPOLLIN;
  if ((what & CURL_POLL_OUT) != 0) events |= EPOLLOUT;
  multi.watched_.insert(socket);
  multi.loop_.watch(socket, events, [&multi, socket](std::uint32_t ready) {
    int action = 0;
    if ((ready & EPOLLIN) != 0) action |= CURL_CSELECT_IN;
    if ((ready & EPOLLOUT) != 0) action |= CURL_CSELECT_OUT;
    if ((ready & (EPOLLERR | EPOLLHUP)) != 0) action |= CURL_CSELECT_ERR;
    multi.act(socket, action);
  });
  return 0;
}

int CurlMulti::close_socket(void* self, curl_socket_t socket) {
  static_cast<CurlMulti*>(self)->forget(socket);
  return ::close(socket);
}

void CurlMulti::forget(curl_socket_t socket) {
  if (watched_.erase(socket) != 0) loop_.unwatch(socket);
}

int CurlMulti::on_timer(CURLM* /*multi*/, long milliseconds, void* self) {
  auto& multi = *static_cast<CurlMulti*>(self);
  multi.loop_.cancel(multi.timer_);
  multi.timer_ = 0;
  if (milliseconds >= 0) {
    multi.timer_ = multi.loop_.after(std::chrono::milliseconds(milliseconds), [&multi] {
      multi.timer_ = 0;
      multi.act(CURL_SOCKET_TIMEOUT, 0);
    });
  }
  return 0;
}

void CurlMulti::act(curl_socket_t socket, int events) {
  {
    const Entered entered(*depth_);
    int running = 0;
    curl_multi_socket_action(multi_, socket, events, &running);
  }
  collect();
}

void CurlMulti::collect() {
  int left = 0;
  while (CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg == CURLMSG_DONE) on_done_(message->easy_handle, message->data.result);
  }
}

}  // namespace hindsight::connectors::kubernetes
