// Answers that do not end: streams of events. All else of a connection is in http_connection.cpp.

#include <chrono>
#include <utility>

#include <poll.h>
#include <boost/asio/post.hpp>

#include "operations/event_stream.hpp"
#include "operations/http_connection.hpp"

namespace hindsight::operations {
namespace {

using std::chrono::seconds;

/// A comment among events.
constexpr const char* heartbeat = ":\n\n";
/// A client has nothing to say while it is sent events. So many bytes, which may lie there since before, are passed over in all, however
/// slowly they come.
constexpr std::size_t said_in_stream_max = std::size_t{256} << 10;

}  // namespace

/// Whether the client has closed its end, while a thread is at work for it.
bool HttpConnection::has_left() {
  pollfd one{socket_.native_handle(), POLLRDHUP, 0};
  return ::poll(&one, 1, 0) == 1 && (one.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

/// False: there are enough.
bool HttpConnection::claim_stream() {
  const auto& options = shared_.options;
  if (shared_.streams.load(std::memory_order_relaxed) >= options.streams_max) return false;
  auto& of_peer = shared_.streams_of_peers[peer_];
  if (of_peer >= options.streams_per_peer_max) return false;
  ++of_peer;
  shared_.streams.fetch_add(1, std::memory_order_relaxed);
  claimed_ = true;
  return true;
}

/// There are enough of them, or only the head was asked for.
void HttpConnection::refuse_stream(HttpResponse& response) const {
  response.events->close();
  response.events = nullptr;
  if (head_only_) return;
  response = http_error(503, "too many streams of events are open; allowed: " + std::to_string(shared_.options.streams_max) +
                                 ", of one caller " + std::to_string(shared_.options.streams_per_peer_max));
  response.headers.emplace_back("Retry-After", "5");
}

/// It ends with whatever ends the connection. Takes no memory.
void HttpConnection::leave_stream() {
  if (events_) events_->close();
  events_ = nullptr;
  if (!std::exchange(claimed_, false)) return;
  shared_.streams.fetch_sub(1, std::memory_order_relaxed);
  const auto of_peer = shared_.streams_of_peers.find(peer_);
  if (--of_peer->second == 0) shared_.streams_of_peers.erase(of_peer);
}

/// The head is in `out_`.
void HttpConnection::begin_stream() {
  sent_ = 0;
  enter(Phase::streaming, seconds(shared_.options.response_seconds));
  events_->begin([weak = weak_from_this(), &io = shared_.io] {
    // Under the lock of the stream: as long as this is called the connection, and with it the server, is there.
    boost::asio::post(io, [weak] {
      const auto self = weak.lock();
      if (self && self->phase_ == Phase::streaming && self->out_.empty()) self->step();
    });
  });
  watch_for_end();
  write();
}

/// All that was taken before has been sent.
void HttpConnection::take_events() {
  out_.clear();
  sent_ = 0;
  auto taken = events_->take();
  if (taken.bytes.empty()) {
    if (taken.last) return linger();
    deadline_ = Clock::now() + seconds(shared_.options.heartbeat_seconds);
    return;
  }
  out_ = std::move(taken.bytes);
  deadline_ = Clock::now() + seconds(shared_.options.response_seconds);
  step_again();
}

/// Nothing has gone out for a while: because there was nothing, or because the client does not take it.
void HttpConnection::show_life() {
  if (!out_.empty()) {
    shared_.timed_out.fetch_add(1, std::memory_order_relaxed);
    return close();
  }
  out_ = heartbeat;
  deadline_ = Clock::now() + seconds(shared_.options.response_seconds);
  write();
}

/// One wait at a time, however many events go out meanwhile.
void HttpConnection::watch_for_end() {
  if (watching_) return;
  socket_.async_wait(boost::asio::socket_base::wait_read, [self = shared_from_this()](const boost::system::error_code& error) {
    self->watching_ = false;
    if (!error && self->phase_ == Phase::streaming) self->guarded([&self] { self->look_for_end(); });
  });
  watching_ = true;
}

void HttpConnection::look_for_end() {
  while (said_in_stream_ <= said_in_stream_max) {
    const Moved moved = transport_->receive(shared_.scratch.data(), shared_.scratch.size());
    if (moved.bytes == 0) return moved.wait_for == 0 ? close() : watch_for_end();
    said_in_stream_ += moved.bytes;
  }
  close();
}

}  // namespace hindsight::operations
