#include "operations/http_connection.hpp"

#include <algorithm>
#include <utility>

#include <sys/socket.h>
#include <boost/asio/post.hpp>

#include "operations/logging.hpp"

namespace hindsight::operations {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Who has kept us waiting for longer is slow.
constexpr seconds patience{1};
/// A client gets so long to read why it was refused before the connection is cut, and may send so much meanwhile.
constexpr milliseconds linger_time{3000};
/// A client that sends a body of a few MiB before it reads anything gets to read why it was refused; a longer one is cut off.
constexpr std::size_t linger_bytes_max = std::size_t{16} * 1024 * 1024;
/// Others have their turn after so many bytes of one answer.
constexpr std::size_t write_bytes_at_once = 1024 * 1024;
/// Short answers go out with their heads, in one piece.
constexpr std::size_t small_answer = 16 * 1024;
constexpr std::size_t urgent_waiting_max = 16;
/// Old clients send an empty line behind a body (RFC 9112, 2.2). Nobody needs more than some before a request.
constexpr std::size_t empty_lines_max = 4;

bool may_have_body(std::string_view method) { return method == "POST" || method == "PUT" || method == "PATCH" || method == "DELETE"; }

/// Bytes that a text holds beyond itself.
std::size_t held_by(const std::string& text) { return text.capacity() == std::string().capacity() ? 0 : text.capacity(); }

/// A header value cannot begin another line.
std::string one_line(std::string text) {
  std::erase_if(text, [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
  return text;
}

}  // namespace

HttpShared::HttpShared(const HttpServerOptions& o, HttpRoutes r)
    : options(o),
      routes(std::move(r)),
      workers(o.threads, o.waiting_max),
      lane(std::max(1U, o.large_requests_max)),
      memory(o.small_requests_memory_max) {
  // One thread and a short queue are enough for what waits for nothing.
  if (std::ranges::any_of(routes.all(), [](const auto& route) { return route.haste == HttpHaste::urgent; }))
    urgent_workers.emplace(1U, std::min(o.waiting_max, urgent_waiting_max));
}

bool HttpShared::may_tell() {
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(HttpConnection::Clock::now().time_since_epoch()).count();
  auto told = told_.load(std::memory_order_relaxed);
  return now - told >= 1000 && told_.compare_exchange_strong(told, now, std::memory_order_relaxed);
}

HttpConnection::HttpConnection(boost::asio::ip::tcp::socket socket, std::uint64_t id, std::string ip, HttpShared& shared)
    : socket_(std::move(socket)), id_(id), ip_(std::move(ip)), peer_(peer_of(ip_)), shared_(shared) {}

void HttpConnection::begin() {
  guarded([this] {
    const auto& tls = shared_.options.tls;
    transport_ = tls ? tls_transport(socket_.native_handle(), *tls) : plain_transport(socket_.native_handle());
    if (!transport_) return close();
    if (tls)
      enter(Phase::handshake, seconds(shared_.options.handshake_seconds));
    else
      enter(Phase::head, seconds(shared_.options.head_seconds));
    step();  // what it wants may have come with it, while it waited to be accepted
  });
}

void HttpConnection::enter(Phase phase, milliseconds time) {
  phase_ = phase;
  since_ = Clock::now();
  deadline_ = since_ + time;
}

std::optional<int> HttpConnection::rank(Clock::time_point now) const {
  switch (phase_) {
    case Phase::lingering:
      return 0;
    case Phase::idle:
    case Phase::streaming:  // whoever reads it comes again
      return 2;
    case Phase::handshake:
    case Phase::head:
    case Phase::body:
    case Phase::telling:
    case Phase::answering:
      return now - since_ > patience ? 1 : 3;
    case Phase::parked:
      return 3;
    case Phase::handling:  // or it waits for a thread, which is soon there for what is urgent
      if (begun_.load() || workers_ != &shared_.workers) return std::nullopt;
      return now - since_ > patience ? 1 : 3;
    case Phase::closed:
      return std::nullopt;
  }
  return std::nullopt;
}

bool HttpConnection::give_way() {
  if (phase_ == Phase::handling && !withdraw()) return false;
  close();
  return true;
}

std::optional<int> HttpConnection::request_rank() const {
  if (request_memory_ == 0) return std::nullopt;
  switch (phase_) {
    case Phase::head:
    case Phase::body:
    case Phase::parked:
      return 0;
    case Phase::handling:
      return begun_.load() ? std::nullopt : std::optional(1);
    case Phase::handshake:
    case Phase::idle:
    case Phase::telling:
    case Phase::answering:
    case Phase::streaming:
    case Phase::lingering:
    case Phase::closed:
      return std::nullopt;
  }
  return std::nullopt;
}

bool HttpConnection::give_up_request() {
  if (phase_ == Phase::handling && !withdraw()) return false;
  guarded([this] { turn_away(); });
  return true;
}

void HttpConnection::become(Standing next) {
  if (next <= standing_) return;
  if (is_stranger()) shared_.strangers.fetch_sub(1, std::memory_order_relaxed);
  shared_.memory.change(standing_, request_memory_, 0);
  standing_ = next;
  shared_.memory.change(standing_, 0, request_memory_);
}

// ---- the socket -------------------------------------------------------------------------------------------------------------------

/// Until the socket is ready.
void HttpConnection::wait(short events) {
  const auto what = events == POLLOUT ? boost::asio::socket_base::wait_write : boost::asio::socket_base::wait_read;
  socket_.async_wait(what, [self = shared_from_this(), turn = ++turn_](const boost::system::error_code& error) {
    if (!error && turn == self->turn_) self->step();
  });
}

/// After the others had their turn.
void HttpConnection::step_again() {
  boost::asio::post(shared_.io, [self = shared_from_this(), turn = ++turn_] {
    if (turn == self->turn_) self->step();
  });
}

void HttpConnection::step() {
  guarded([this] {
    switch (phase_) {
      case Phase::handshake:
        return shake_hands();
      case Phase::idle:
      case Phase::head:
      case Phase::body:
        return read();
      case Phase::telling:
      case Phase::answering:
      case Phase::streaming:
        return write();
      case Phase::lingering:
        return drain();
      case Phase::parked:
      case Phase::handling:
      case Phase::closed:
        return;
    }
  });
}

void HttpConnection::shake_hands() {
  const Moved moved = transport_->shake_hands();
  if (moved.bytes == 0) return moved.wait_for == 0 ? close() : wait(moved.wait_for);
  client_ = transport_->client();
  if (!client_.empty()) become(Standing::certified);
  enter(Phase::head, seconds(shared_.options.head_seconds));
  read_on();
}

void HttpConnection::read() {
  const Moved moved = transport_->receive(shared_.scratch.data(), shared_.scratch.size());
  if (moved.bytes > 0) {
    shared_.received.fetch_add(moved.bytes, std::memory_order_relaxed);
    in_.append(shared_.scratch.data(), moved.bytes);
    return claim_memory() ? process() : void();
  }
  if (moved.wait_for == 0) return end_of_input();
  if (moved.wait_for == POLLIN && transport_->holds_bytes()) return step_again();
  wait(moved.wait_for);
}

/// Waits for more of what is being read.
void HttpConnection::read_on() {
  if (transport_->holds_bytes())
    step_again();
  else
    wait(POLLIN);
}

void HttpConnection::end_of_input() {
  if (phase_ == Phase::idle || (phase_ == Phase::head && in_.empty())) return close();
  refuse(400, "the request ends too early");
}

void HttpConnection::close() {
  if (phase_ == Phase::closed) return;
  if (phase_ == Phase::handling) (void)withdraw();
  if (left_) left_->store(true, std::memory_order_relaxed);
  phase_ = Phase::closed;
  leave_lane();
  leave_stream();
  forget_answer();
  transport_.reset();
  boost::system::error_code ignored;
  socket_.close(ignored);
  std::string().swap(in_);
  forget_request();
  shared_.forget(id_);
}

/// Ends the connection so that the client can read what was said last: a socket that is closed while bytes wait in it takes that back.
void HttpConnection::linger() {
  leave_stream();
  transport_.reset();
  ::shutdown(socket_.native_handle(), SHUT_WR);
  std::string().swap(in_);
  count_memory();
  enter(Phase::lingering, linger_time);
  drain();
}

void HttpConnection::drain() {
  const ssize_t n = ::recv(socket_.native_handle(), shared_.scratch.data(), shared_.scratch.size(), MSG_DONTWAIT);
  const bool later = n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
  if (later) return wait(POLLIN);
  if (n <= 0) return close();
  drained_ += static_cast<std::size_t>(n);
  if (drained_ > linger_bytes_max) return close();
  step_again();
}

void HttpConnection::look_at_clock(Clock::time_point now) {
  if (answer_lost_.load()) return close();
  if (phase_ == Phase::handling && left_ && has_left()) left_->store(true, std::memory_order_relaxed);
  if (now >= deadline_) guarded([this] { time_is_over(); });
}

void HttpConnection::time_is_over() {
  switch (phase_) {
    case Phase::handling:
      if (withdraw()) return turn_away();
      deadline_ = Clock::time_point::max();  // a thread has it, which is not interrupted
      return;
    case Phase::closed:
      return;
    case Phase::lingering:
    case Phase::idle:
      return close();
    case Phase::handshake:
    case Phase::answering:
    case Phase::telling:
      shared_.timed_out.fetch_add(1, std::memory_order_relaxed);
      return close();
    case Phase::streaming:
      return show_life();
    case Phase::parked:
      return turn_away();
    case Phase::head:
      shared_.timed_out.fetch_add(1, std::memory_order_relaxed);
      if (in_.empty()) return close();
      return refuse(408, "the request took longer than " + std::to_string(shared_.options.head_seconds) + " s");
    case Phase::body:
      shared_.timed_out.fetch_add(1, std::memory_order_relaxed);
      return refuse(
          408, "the body took longer than " + std::to_string(large_ ? shared_.options.large_seconds : shared_.options.body_seconds) + " s");
  }
}

void HttpConnection::stop() {
  if (phase_ == Phase::handling && left_) left_->store(true, std::memory_order_relaxed);
  if (phase_ != Phase::handling && phase_ != Phase::answering) close();
}

void HttpConnection::finish(Clock::time_point last_write) {
  if (phase_ != Phase::answering) return close();
  deadline_ = std::min(deadline_, last_write);
}

// ---- requests ---------------------------------------------------------------------------------------------------------------------

/// Takes what has come as far as it goes.
void HttpConnection::process() {
  for (;;) {
    if (phase_ == Phase::idle) {
      if (in_.empty()) return read_on();
      enter(Phase::head, seconds(shared_.options.head_seconds));
    }
    const bool go_on = phase_ == Phase::head ? take_head() : phase_ == Phase::body && take_body();
    if (!go_on) return;
  }
}

/// False: there are too many, which has been said.
bool HttpConnection::skip_empty_lines() {
  std::size_t n = 0;
  while (in_.compare(n, 2, "\r\n") == 0) n += 2;
  if (n == 0) return true;
  in_.erase(0, n);
  seen_ = 0;
  skipped_ += n;
  if (skipped_ <= 2 * empty_lines_max) return true;
  refuse(400, "before the request: found more than " + std::to_string(empty_lines_max) + " empty lines");
  return false;
}

/// False: nothing more is to be taken for now.
bool HttpConnection::take_head() {
  head_only_ = false;  // what the last request was
  if (!skip_empty_lines()) return false;
  const std::size_t end = HttpParser::end_of_head(in_, seen_);
  const std::size_t max = shared_.options.head_bytes_max;
  if (end > max || (end == 0 && in_.size() >= max)) {
    const bool target = in_.find("\r\n") >= max;
    refuse(target ? 414 : 431,
           "request line and headers: found more than " + std::to_string(max) + " bytes; allowed: " + std::to_string(max));
    return false;
  }
  if (end == 0) {
    seen_ = in_.size();
    read_on();
    return false;
  }
  parser_ = std::make_unique<HttpParser>(shared_.options.body_bytes_max);
  const HttpMistake mistake = parser_->take_head(std::string_view(in_).substr(0, end));
  in_.erase(0, end);
  seen_ = skipped_ = 0;
  if (mistake) {
    refuse(mistake.status, mistake.message);
    return false;
  }
  begin_request();
  return phase_ == Phase::body;
}

/// The head is read: finds who answers, and whether the body is wanted.
void HttpConnection::begin_request() {
  const HttpHead& head = parser_->head();
  request_ = {};
  weight_ = 0;
  head_only_ = head.method == "HEAD";
  request_.method = head_only_ ? "GET" : head.method;
  request_.peer = ip_;
  request_.client = client_;
  request_.proven = !is_stranger();
  for (const auto& [name, value] : head.fields) request_.headers.emplace(name, value);
  HttpTarget target;
  if (const auto mistake = read_target(head.target, target)) return refuse(mistake.status, mistake.message);
  request_.path = target.path;
  for (auto& [name, value] : target.query) request_.query.emplace(std::move(name), std::move(value));

  if (!find_handler(target)) return;
  if (shared_.options.judge)
    if (auto refusal = shared_.options.judge(request_)) return answer(std::move(*refusal), parser_->has_body() || !parser_->keeps_alive());
  if (!parser_->has_body()) return dispatch();
  enter(Phase::body, seconds(shared_.options.body_seconds));
  if (!parser_->expects_continue() || !in_.empty()) return;
  out_ = "HTTP/1.1 100 Continue\r\n\r\n";
  sent_ = 0;
  enter(Phase::telling, seconds(shared_.options.response_seconds));
  write();
}

/// False: there is none, which has been said.
bool HttpConnection::find_handler(const HttpTarget& target) {
  // What is not read of a body would be taken for the next request.
  const bool last = parser_->has_body() || !parser_->keeps_alive();
  auto match = shared_.routes.find(request_.method, target.path);
  handler_ = match.handler;
  body_limits_ = match.body;
  workers_ = match.haste == HttpHaste::urgent ? &*shared_.urgent_workers : &shared_.workers;
  request_.rest = std::move(match.rest);
  if (match.allowed.empty()) {
    answer(http_error(404, "no such path: " + target.path), last);
  } else if (handler_ == nullptr) {
    std::string allowed;
    for (const auto& m : match.allowed) allowed.append(allowed.empty() ? "" : ", ").append(m);
    auto response = http_error(405, "method: found " + parser_->head().method + "; allowed: " + allowed);
    response.headers.emplace_back("Allow", allowed);
    answer(std::move(response), last);
  } else if (leads_elsewhere(request_.rest)) {
    refuse(400, "path: found a segment that is empty, \".\" or \"..\"; allowed: the path that is meant");
  } else if (parser_->has_body() && (!may_have_body(request_.method) || !request_.rest.empty())) {
    refuse(400, "a body is not allowed here");
  } else if (!is_too_long(parser_->announced_length())) {
    return true;
  }
  return false;
}

/// True: longer than the route takes, which has been said.
bool HttpConnection::is_too_long(std::uint64_t bytes) {
  const std::size_t max = body_limits_->bytes_max;
  if (max == 0 || bytes <= max) return false;
  refuse(413, "body: found a longer one; allowed: " + std::to_string(max) + " bytes");
  return true;
}

bool HttpConnection::take_body() {
  const auto taken = parser_->take_body(in_);
  if (body_limits_->weigh) weight_ += body_limits_->weigh(std::string_view(in_).substr(0, taken.bytes));
  in_.erase(0, taken.bytes);
  if (taken.mistake) {
    refuse(taken.mistake.status, taken.mistake.message);
    return false;
  }
  if (is_too_long(parser_->body().size())) return false;
  if (!has_room()) return false;
  if (parser_->done())
    dispatch();
  else
    read_on();
  return false;
}

/// Whether the request may take what it needs by now. False: it waits for its place, or was refused.
bool HttpConnection::has_room() {
  const std::size_t memory = parser_->body().capacity() + weight_;
  const auto& options = shared_.options;
  if (memory > options.request_memory_max) {
    refuse(413, "body: found one that takes more than " + std::to_string(options.request_memory_max) + " bytes to read; allowed: less");
    return false;
  }
  const bool enters = !large_ && memory > options.small_request_memory_max;
  if (enters && !enter_lane()) phase_ = Phase::parked;  // its time runs on
  return claim_memory() && phase_ != Phase::parked;
}

/// False: it is told when there is a place.
bool HttpConnection::enter_lane() {
  const auto go = [self = shared_from_this()] {
    if (self->phase_ != Phase::parked) return self->shared_.lane.leave(self->id_);
    self->large_ = true;
    self->shared_.large.store(self->shared_.lane.taken(), std::memory_order_relaxed);
    self->enter(Phase::body, seconds(self->shared_.options.large_seconds));
    self->guarded([&self] {
      self->count_memory();
      self->parser_->done() ? self->dispatch() : self->process();
    });
  };
  // Called when another one leaves, to whom it must not matter what becomes of this one.
  const auto soon = [self = shared_from_this(), go] { self->guarded([&] { boost::asio::post(self->shared_.io, go); }); };
  if (!shared_.lane.enter(id_, peer_, !is_stranger(), soon)) return false;
  large_ = true;
  shared_.large.store(shared_.lane.taken(), std::memory_order_relaxed);
  deadline_ = std::min(deadline_, Clock::now() + seconds(shared_.options.large_seconds));
  return true;
}

void HttpConnection::leave_lane() {
  if (!large_ && phase_ != Phase::parked && phase_ != Phase::closed) return;
  large_ = false;
  shared_.lane.leave(id_);
  shared_.large.store(shared_.lane.taken(), std::memory_order_relaxed);
}

/// Counts anew what the request holds.
void HttpConnection::count_memory() {
  const std::size_t before = request_memory_;
  request_memory_ = large_ ? 0 : held_by(in_) + (parser_ ? held_by(parser_->body()) : 0) + handed_over_ + weight_;
  shared_.memory.change(standing_, before, request_memory_);
}

/// The same after it has grown. False: there was no room for it, which has been said.
bool HttpConnection::claim_memory() {
  count_memory();
  if (!shared_.memory.whose_is_too_much()) return true;
  const Phase phase = phase_;
  shared_.make_request_room();
  return phase_ == phase;
}

/// It is answered, or over.
void HttpConnection::forget_request() {
  parser_.reset();
  request_ = {};
  weight_ = handed_over_ = 0;
  count_memory();
}

/// Hands the request, which is here as a whole, to the threads.
void HttpConnection::dispatch() {
  request_.body = std::move(parser_->body());
  handed_over_ = held_by(request_.body);
  enter(Phase::handling, seconds(shared_.options.wait_seconds));
  begun_.store(false);
  left_ = std::make_shared<std::atomic<bool>>(false);
  request_.left = left_;
  auto request = std::make_shared<HttpRequest>(std::move(request_));
  HttpJob job;
  job.peer = peer_;
  job.id = id_;
  job.proven = !is_stranger();
  job.work = [self = shared_from_this(), request]() mutable { self->work_on(std::move(request)); };
  // It may be another one's that finds no place.
  job.turn_away = [self = shared_from_this()] { self->guarded([&self] { self->turn_away(); }); };
  if (const auto displaced = workers_->enqueue(std::move(job))) displaced->turn_away();
}

/// On one of the threads. Where there is no memory for an answer, the clock closes the connection.
void HttpConnection::work_on(std::shared_ptr<HttpRequest> request) noexcept {
  try {
    begun_.store(true);
    auto response = handle(*request);
    request.reset();
    boost::asio::post(shared_.io, [self = shared_from_this(), response = std::move(response)]() mutable {
      if (self->phase_ != Phase::handling) return;
      self->guarded([&] {
        if (response.status / 100 == 2) self->become(Standing::answered);
        self->answer(std::move(response), !self->parser_->keeps_alive());
      });
    });
  } catch (...) {
    answer_lost_.store(true);
  }
}

/// Takes the request back from the threads. False: one of them has begun with it.
bool HttpConnection::withdraw() {
  if (!begun_.load() && workers_->withdraw(peer_, id_)) return true;
  begun_.store(true);  // or will in a moment
  return false;
}

/// On one of the threads.
HttpResponse HttpConnection::handle(const HttpRequest& request) const {
  try {
    return (*handler_)(request);
  } catch (const std::exception& e) {
    if (shared_.may_tell()) log(LogLevel::error, "an HTTP handler failed", {{"path", request.path}, {"error", e.what()}});
  } catch (...) {
    if (shared_.may_tell()) log(LogLevel::error, "an HTTP handler failed", {{"path", request.path}});
  }
  return http_error(500, "internal error");
}

/// There are too many.
void HttpConnection::turn_away() {
  if (phase_ == Phase::closed) return;
  shared_.rejected.fetch_add(1, std::memory_order_relaxed);
  leave_lane();
  auto response = http_error(503, "too many requests are under way; ask again later");
  response.headers.emplace_back("Retry-After", "1");
  answer(std::move(response), true);
}

// ---- answers ----------------------------------------------------------------------------------------------------------------------

void HttpConnection::refuse(int status, const std::string& message) {
  auto response = http_error(status, message);
  if (status == 415) response.headers.emplace_back("Accept-Encoding", "identity");
  answer(std::move(response), true);
}

std::string HttpConnection::head_of(const HttpResponse& response) const {
  std::string head = "HTTP/1.1 " + std::to_string(response.status) + " " + std::string(reason_phrase(response.status)) + "\r\n";
  const auto add = [&head](std::string_view name, const std::string& value) {
    head.append(name).append(": ").append(one_line(value)).append("\r\n");
  };
  add("Content-Type", response.content_type);
  // A client knows of these two that they have no body; a length would be taken for that of the answer which it has already.
  const bool never_has_body = response.status == 204 || response.status == 304;
  if (!events_ && !never_has_body) add("Content-Length", std::to_string(response.content().size()));
  const auto says_itself = [](const auto& field) { return field.first == "Cache-Control"; };
  if (std::ranges::none_of(response.headers, says_itself)) add("Cache-Control", "no-store");
  add("X-Content-Type-Options", "nosniff");
  for (const auto& [name, value] : response.headers) add(one_line(name), value);
  if (last_) add("Connection", "close");
  return head + "\r\n";
}

void HttpConnection::answer(HttpResponse response, bool last) {
  leave_lane();
  shared_.requests.fetch_add(1, std::memory_order_relaxed);
  ++served_;
  left_ = nullptr;
  if (response.events && (head_only_ || shared_.stopping || !claim_stream())) {
    refuse_stream(response);
  }
  events_ = std::move(response.events);
  // Its end is that of the connection.
  last_ = last || events_ || shared_.stopping || served_ >= shared_.options.requests_per_connection_max;
  const std::size_t memory = response.shared_body ? 0 : response.body.size();
  if (shared_.answer_memory + memory > shared_.options.answer_memory_max && memory > small_answer) {
    shared_.make_answer_room();
    if (shared_.answer_memory + memory > std::max(shared_.options.answer_memory_max, memory)) {
      response = http_error(503, "too many answers are being read; ask again later");
      response.headers.emplace_back("Retry-After", "1");
    }
  }
  answer_memory_ = response.shared_body ? 0 : response.body.size();
  shared_.answer_memory += answer_memory_;
  if (response.status >= 400 && response.status < 500) shared_.refused.fetch_add(1, std::memory_order_relaxed);
  if (response.status >= 500) shared_.failed.fetch_add(1, std::memory_order_relaxed);

  if (last_) std::string().swap(in_);  // nobody will look at what is left
  forget_request();
  out_ = head_of(response);
  if (events_) return begin_stream();
  answer_ = std::move(response);
  if (!head_only_ && answer_.content().size() <= small_answer) out_.append(answer_.content());
  if (head_only_ || answer_.content().size() <= small_answer) answer_ = {};
  sent_ = 0;
  enter(Phase::answering, seconds(shared_.options.response_seconds));
  write();
}

/// Sends what is left of the answer, whose body is whole.
void HttpConnection::write() {
  for (std::size_t at_once = 0; at_once < write_bytes_at_once;) {
    const std::string_view content = answer_.content();
    const std::string_view left = sent_ < out_.size() ? std::string_view(out_).substr(sent_) : content.substr(sent_ - out_.size());
    if (left.empty()) return written();
    const Moved moved = transport_->send(left.data(), left.size());
    if (moved.bytes == 0) return moved.wait_for == 0 ? close() : wait(moved.wait_for);
    sent_ += moved.bytes;
    at_once += moved.bytes;
  }
  step_again();
}

void HttpConnection::written() {
  if (phase_ == Phase::telling) {
    out_.clear();
    sent_ = 0;
    enter(Phase::body, seconds(shared_.options.body_seconds));
    return read_on();
  }
  if (phase_ == Phase::streaming) return take_events();
  forget_answer();
  if (last_ || shared_.stopping) return linger();
  enter(Phase::idle, seconds(shared_.options.idle_seconds));
  if (in_.empty()) std::string().swap(in_);  // it may be silent for long
  count_memory();
  if (in_.empty())
    read_on();
  else
    boost::asio::post(shared_.io, [self = shared_from_this()] {
      if (self->phase_ == Phase::idle) self->guarded([&self] { self->process(); });
    });
}

/// Takes no memory, as nothing does that ends a connection: a new answer would, for its content type.
void HttpConnection::forget_answer() {
  shared_.answer_memory -= std::exchange(answer_memory_, 0);
  std::string().swap(out_);
  answer_.body = {};
  answer_.shared_body = {};
  answer_.headers = {};
  sent_ = 0;
}

}  // namespace hindsight::operations
