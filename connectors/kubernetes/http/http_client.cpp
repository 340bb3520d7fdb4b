#include "connectors/kubernetes/http/http_client.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <optional>
#include <utility>

#include "connectors/kubernetes/http/curl_transfer.hpp"
#include "connectors/kubernetes/http/http_channel.hpp"

namespace hindsight::connectors::kubernetes {
namespace {

/// All header lines of one answer, those of 1xx answers before it included.
constexpr std::size_t header_bytes_max = std::size_t{256} << 10U;
/// What comes with a status that is no success; of that a sentence is read.
constexpr std::size_t refusal_bytes_max = std::size_t{1} << 20U;
/// Connections at a time when the server speaks only HTTP/1.1.
constexpr long plain_connections_max = 16;
constexpr long urgent_connections_max = 2;
/// libcurl ends a transfer at its time limit, but not one that waits for a connection. Then we do, so much later.
constexpr auto grace = std::chrono::milliseconds(500);
/// A channel that hears nothing for so long while requests are under way gets no more of them. If it was only the server that needed its
/// time, that costs a connection.
constexpr auto silence_max = std::chrono::seconds(10);
/// For requests without a time limit.
constexpr auto credential_wait_max = std::chrono::seconds(60);
/// One answer of so many tells what the server's clock says.
constexpr auto date_interval = std::chrono::seconds(1);
constexpr time_t date_max = 253'402'300'800;  ///< The year 10000.

}  // namespace

struct HttpClient::Transfer {
  RequestId id = 0;
  HttpRequest request;
  OnAnswer on_answer;
  OnBytes on_bytes;  ///< Empty: not a stream.
  HttpClient* client = nullptr;

  CURL* easy = nullptr;  ///< Only while it is on the wire, as the next.
  std::shared_ptr<HttpChannel> channel;
  Loop::Clock::time_point sent_at{};
  std::shared_ptr<const HeaderLists> headers;
  std::uint64_t credential_number = 0;
  std::uint64_t authority_number = 0;
  bool slow = false;        ///< A write that takes too long to count.
  bool retried = false;     ///< Once more with a new credential after 401.
  Loop::TimerId timer = 0;  ///< Of its time limit.

  std::optional<bool> succeeded;  ///< Whether the status is 2xx; known with the first bytes.
  bool pause_wanted = false;
  bool paused = false;
  bool cancelled = false;
  bool too_large = false;
  bool was_sent = false;  ///< It had a connection.
  std::size_t header_bytes = 0;
  std::string body;
  std::array<char, CURL_ERROR_SIZE> error{};

  [[nodiscard]] bool is_stream() const { return static_cast<bool>(on_bytes); }
  [[nodiscard]] bool counts() const { return !is_stream() && request.lane != Lane::urgent; }
  [[nodiscard]] bool is_write() const { return counts() && request.method != HttpRequest::Method::get; }
  [[nodiscard]] std::size_t lane() const {
    if (!counts()) return 0;
    return request.lane == Lane::background ? 3 : is_write() ? 2 : 1;
  }

  static std::size_t on_write(char* data, std::size_t one, std::size_t size, void* self);
  static std::size_t on_header(char* data, std::size_t one, std::size_t size, void* self);
  static int before_request(void* self, char* to, char* from, int to_port, int from_port);
};

std::size_t HttpClient::Transfer::on_write(char* data, std::size_t /*one*/, std::size_t size, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  if (transfer.cancelled) return 0;  // Anything but `size` ends the transfer.
  transfer.channel->hear(Loop::Clock::now());
  if (transfer.pause_wanted) {
    transfer.paused = true;
    return CURL_WRITEFUNC_PAUSE;
  }
  if (!transfer.succeeded) {
    long status = 0;
    curl_easy_getinfo(transfer.easy, CURLINFO_RESPONSE_CODE, &status);
    transfer.succeeded = status >= 200 && status < 300;
  }
  if (transfer.is_stream() && *transfer.succeeded) {
    if (transfer.on_bytes({data, size}) == Flow::pause) transfer.pause_wanted = true;
    return size;
  }
  const std::size_t most =
      *transfer.succeeded ? transfer.request.body_bytes_max : std::min(refusal_bytes_max, transfer.request.body_bytes_max);
  if (transfer.body.size() + size > most) {
    transfer.too_large = true;
    return 0;
  }
  transfer.body.append(data, size);
  return size;
}

std::size_t HttpClient::Transfer::on_header(char* data, std::size_t /*one*/, std::size_t size, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  transfer.header_bytes += size;
  transfer.channel->hear(Loop::Clock::now());
  if (transfer.header_bytes > header_bytes_max) {
    transfer.too_large = true;
    return 0;
  }
  transfer.client->note_header({data, size});
  return size;
}

/// The connection stands; nothing of the request has been sent on it.
int HttpClient::Transfer::before_request(void* self, char* /*to*/, char* /*from*/, int /*to_port*/, int /*from_port*/) {
  auto& transfer = *static_cast<Transfer*>(self);
  const bool may_go = !transfer.request.only_as_leader || !transfer.client->fence_ || transfer.client->fence_();
  transfer.was_sent |= may_go;
  return may_go ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

struct HttpClient::Curl {
  enum Kind : std::uint8_t { requests, urgent, streams };

  Curl(HttpClient& owner, const Endpoint& endpoint, const Connection& connection, const Options& options)
      : request_handles(endpoint, connection, false, options.connect_time_limit),
        stream_handles(endpoint, connection, true, options.connect_time_limit),
        client(owner) {
    const auto streams_max = static_cast<long>(std::max<std::size_t>(100, options.max_in_flight));
    limits[requests] = {endpoint.is_tls ? 1L : plain_connections_max, streams_max, true};
    limits[urgent] = {endpoint.is_tls ? 1L : urgent_connections_max, streams_max, true};
    // Streams have nothing to wait for: a connection each.
    limits[streams] = {0, streams_max, false};
    for (const Kind kind : {requests, urgent, streams}) channels[kind] = make(kind);
  }

  [[nodiscard]] std::shared_ptr<HttpChannel> make(Kind kind) {
    return std::make_shared<HttpChannel>(
        client.loop_, depth, [owner = &client](CURL* easy, CURLcode code) { on_done(*owner, easy, code); }, limits[kind]);
  }
  static void on_done(HttpClient& client, CURL* easy, CURLcode code) {
    char* transfer = nullptr;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
    client.finish(reinterpret_cast<Transfer*>(transfer)->id, code);
  }

  [[nodiscard]] static Kind kind_of(const Transfer& transfer) {
    return transfer.is_stream() ? streams : transfer.request.lane == Lane::urgent ? urgent : requests;
  }
  [[nodiscard]] EasyPool& pool_of(const Transfer& transfer) { return transfer.is_stream() ? stream_handles : request_handles; }
  [[nodiscard]] bool inside() const { return *depth > 0; }

  /// The channel for a request that sets out now.
  [[nodiscard]] const std::shared_ptr<HttpChannel>& channel_for(const Transfer& transfer, Loop::Clock::time_point now) {
    const Kind kind = kind_of(transfer);
    if (kind != streams && channels[kind]->is_silent(now, silence_max)) retire(kind);
    return channels[kind];
  }
  void retire(Kind kind) { let_go(std::exchange(channels[kind], make(kind))); }
  /// Later: it may be calling us.
  void let_go(std::shared_ptr<HttpChannel> channel) {
    client.loop_.post([kept = std::move(channel)] {});
  }
  void take_off_the_wire(Transfer& transfer) {
    transfer.channel->remove(transfer.easy);
    pool_of(transfer).give_back(transfer.easy, transfer.credential_number, transfer.authority_number);
    transfer.easy = nullptr;
    if (transfer.channel != channels[kind_of(transfer)]) let_go(std::move(transfer.channel));
    transfer.channel.reset();
  }

  EasyPool request_handles;  ///< Before the channels, which must let go of the handles first.
  EasyPool stream_handles;
  HttpClient& client;
  std::shared_ptr<int> depth = std::make_shared<int>(0);
  std::array<HttpChannel::Limits, 3> limits;
  std::array<std::shared_ptr<HttpChannel>, 3> channels;
};

Result<std::unique_ptr<HttpClient>> HttpClient::create(Loop& loop, const Connection& connection, Options options, OnNotice on_notice) {
  std::unique_ptr<HttpClient> client(new HttpClient(loop, connection, options, std::move(on_notice)));
  const auto endpoint = endpoint_of(connection);
  if (!endpoint) return tl::unexpected(endpoint.error());
  if (auto loaded = client->credentials_.load_first(); !loaded) return tl::unexpected(loaded.error());
  if (auto trusted = client->authority_.refresh(); !trusted) return tl::unexpected(trusted.error());

  loop.run([&] { client->curl_ = std::make_unique<Curl>(*client, *endpoint, client->connection(), options); });
  return client;
}

HttpClient::HttpClient(Loop& loop, const Connection& connection, Options options, OnNotice on_notice)
    : loop_(loop),
      options_(options),
      connection_(connection),
      on_notice_(std::move(on_notice)),
      health_(connection.server, connection.user.description, options.settling, on_notice_),
      credentials_(loop, connection, {options.exec_time_limit, options.credential_retry, options.look_interval},
                   [this](const std::string& error, bool usable) { on_credential(error, usable); }),
      authority_(connection) {}

HttpClient::~HttpClient() { stop(); }

void HttpClient::stop() {
  loop_.run([this] {
    if (stopped_) return;
    stopped_ = true;
    std::vector<RequestId> ids;
    for (const auto& [id, transfer] : transfers_) ids.push_back(id);
    std::sort(ids.begin(), ids.end());
    for (const RequestId id : ids) {
      const auto found = transfers_.find(id);
      if (found == transfers_.end()) continue;
      if (found->second->easy != nullptr) curl_->take_off_the_wire(*found->second);
      fail(id, HttpAnswer::Failure::stopped, "the client has stopped");
    }
    in_flight_ = 0;
    loop_.cancel(std::exchange(slow_timer_, 0));
    curl_.reset();
  });
  credentials_.stop();
  // What was posted before has run after this, so nothing refers to us any more.
  loop_.run([] {});
}

// ---------------------------------------------------------------- requests

HttpClient::RequestId HttpClient::send(HttpRequest request, OnAnswer on_answer) {
  return stream(std::move(request), nullptr, std::move(on_answer));
}

HttpClient::RequestId HttpClient::stream(HttpRequest request, OnBytes on_bytes, OnAnswer on_answer) {
  auto transfer = std::make_unique<Transfer>();
  transfer->request = std::move(request);
  transfer->on_bytes = std::move(on_bytes);
  transfer->on_answer = std::move(on_answer);
  transfer->client = this;
  return enqueue(std::move(transfer));
}

HttpClient::RequestId HttpClient::enqueue(std::unique_ptr<Transfer> transfer) {
  const RequestId id = ++last_id_;
  transfer->id = id;
  transfers_.emplace(id, std::move(transfer));
  if (stopped_) {
    loop_.post([this, id] { fail(id, HttpAnswer::Failure::stopped, "the client has stopped"); });
    return id;
  }
  put_in_lane(id, false);
  // Together with others that the same task may send; also, libcurl may be calling us.
  pump_soon();
  return id;
}

void HttpClient::put_in_lane(RequestId id, bool first) {
  Transfer& transfer = *transfers_.at(id);
  if (blocked_) wait_for_credential(transfer);
  auto& lane = lanes_[transfer.lane()];
  if (first) {
    lane.push_front(id);
  } else {
    lane.push_back(id);
  }
}

void HttpClient::cancel(RequestId id) {
  const auto found = transfers_.find(id);
  if (found == transfers_.end()) return;
  Transfer& transfer = *found->second;
  transfer.on_answer = nullptr;
  transfer.cancelled = true;
  loop_.cancel(std::exchange(transfer.timer, 0));
  if (transfer.easy == nullptr) {
    transfers_.erase(found);  // pump() skips ids that are gone.
    return;
  }
  if (curl_->inside()) {
    loop_.post([this, id] { cancel(id); });
    return;
  }
  curl_->take_off_the_wire(transfer);
  leave(transfer);
  transfers_.erase(found);
  pump_soon();
}

void HttpClient::resume(RequestId id) {
  const auto found = transfers_.find(id);
  if (found == transfers_.end()) return;
  Transfer& transfer = *found->second;
  if (curl_ && curl_->inside()) {
    loop_.post([this, id] { resume(id); });
    return;
  }
  transfer.pause_wanted = false;
  if (!transfer.paused) return;
  transfer.paused = false;
  if (transfer.easy != nullptr) transfer.channel->unpause(transfer.easy);
}

void HttpClient::pump_soon() {
  if (pump_posted_) return;
  pump_posted_ = true;
  loop_.post([this] {
    pump_posted_ = false;
    pump();
  });
}

void HttpClient::pump() {
  if (stopped_) return;
  const auto now = Loop::Clock::now();
  look_at_authority(now);
  if (!have_credential(now)) return;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    std::deque<RequestId>& lane = lanes_[i];
    while (!lane.empty() && may_set_out(i)) {
      const RequestId id = lane.front();
      lane.pop_front();
      if (transfers_.contains(id)) set_out(id);  // Else it was cancelled while it waited.
    }
  }
}

bool HttpClient::may_set_out(std::size_t lane) const {
  if (lane == 0) return true;
  return in_flight_ < options_.max_in_flight && (lane == 1 || writes_in_flight_ < limit_.now());
}

/// It is not on the wire any more.
void HttpClient::leave(Transfer& transfer) {
  if (transfer.counts()) --in_flight_;
  if (!transfer.is_write()) return;
  if (std::exchange(transfer.slow, false))
    --slow_writes_;
  else
    --writes_in_flight_;
}

Loop::Clock::duration HttpClient::patience() const {
  const auto unhurried = limit_.unhurried();
  return std::max<Loop::Clock::duration>(options_.write_patience, unhurried ? 4 * *unhurried : 2 * options_.write_patience);
}

void HttpClient::look_for_slow() {
  slow_timer_ = 0;
  const auto now = Loop::Clock::now();
  while (!young_.empty()) {
    const auto found = transfers_.find(young_.front());
    if (found != transfers_.end() && found->second->easy != nullptr && !found->second->slow) {
      Transfer& transfer = *found->second;
      if (const auto left = transfer.sent_at + patience() - now; left.count() > 0) {
        slow_timer_ = loop_.after(std::chrono::ceil<std::chrono::milliseconds>(left), [this] { look_for_slow(); });
        break;
      }
      transfer.slow = true;
      ++slow_writes_;
      --writes_in_flight_;
      pump_soon();
    }
    young_.pop_front();
  }
}

void HttpClient::set_out(RequestId id) {
  Transfer& transfer = *transfers_.at(id);
  if (transfer.request.only_as_leader && fence_ && !fence_()) {
    fail(id, HttpAnswer::Failure::not_leading, "not sent: the lease is not ours");
    return;
  }
  if (!launch(transfer)) finish(id, CURLE_FAILED_INIT);
}

bool HttpClient::launch(Transfer& transfer) {
  if (headers_number_ != credentials_.number()) {
    headers_number_ = credentials_.number();
    headers_ = std::make_shared<HeaderLists>(credentials_.credential());
  }
  const auto now = Loop::Clock::now();
  CURL* easy = curl_->pool_of(transfer).take(credentials_.credential(), credentials_.number(), authority_);
  transfer.easy = easy;
  transfer.headers = headers_;
  transfer.credential_number = credentials_.number();
  transfer.authority_number = authority_.number();
  transfer.header_bytes = 0;
  transfer.was_sent = false;
  transfer.error[0] = '\0';
  set_request(easy, curl_->pool_of(transfer).endpoint(), transfer.request, *transfer.headers);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &Transfer::on_write);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &Transfer::on_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, &Transfer::before_request);
  curl_easy_setopt(easy, CURLOPT_PREREQDATA, &transfer);
  curl_easy_setopt(easy, CURLOPT_PRIVATE, &transfer);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer.error.data());
  if (transfer.counts()) ++in_flight_;
  if (transfer.is_write()) limit_.sent(++writes_in_flight_, !lanes_[2].empty() || !lanes_[3].empty());
  loop_.cancel(std::exchange(transfer.timer, 0));
  if (transfer.request.time_limit.count() > 0) {
    transfer.timer = loop_.after(transfer.request.time_limit + grace, [this, id = transfer.id] { finish(id, CURLE_OPERATION_TIMEDOUT); });
  }
  transfer.channel = curl_->channel_for(transfer, now);
  transfer.sent_at = now;
  if (transfer.is_write() && !options_.fixed_in_flight) {
    young_.push_back(transfer.id);
    if (slow_timer_ == 0) slow_timer_ = loop_.after(std::chrono::ceil<std::chrono::milliseconds>(patience()), [this] { look_for_slow(); });
  }
  return transfer.channel->add(easy, now) == CURLM_OK;
}

void HttpClient::finish(RequestId id, int curl_code) {
  Transfer& transfer = *transfers_.at(id);
  loop_.cancel(std::exchange(transfer.timer, 0));
  HttpAnswer answer = take_answer(transfer, curl_code);
  if (transfer.cancelled) {
    transfers_.erase(id);
    pump();
    return;
  }
  if (answer.status == 401 && retry_after_refusal(transfer)) {
    pump();
    return;
  }
  note_health(transfer, answer);
  conclude(id, std::move(answer));
  pump();
}

/// Takes the transfer off the wire and reads what it brought.
HttpAnswer HttpClient::take_answer(Transfer& transfer, int curl_code) {
  const auto code = static_cast<CURLcode>(curl_code);
  HttpAnswer answer;
  long status = 0;
  curl_off_t retry_after = 0;
  long opened = 0;
  long version = 0;
  curl_easy_getinfo(transfer.easy, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(transfer.easy, CURLINFO_RETRY_AFTER, &retry_after);
  curl_easy_getinfo(transfer.easy, CURLINFO_NUM_CONNECTS, &opened);
  curl_easy_getinfo(transfer.easy, CURLINFO_HTTP_VERSION, &version);
  const bool heard_nothing = transfer.channel == curl_->channels[Curl::kind_of(transfer)] && !transfer.is_stream() &&
                             !transfer.channel->has_heard_since(transfer.sent_at);
  if (code == CURLE_OPERATION_TIMEDOUT && heard_nothing) curl_->retire(Curl::kind_of(transfer));
  curl_->take_off_the_wire(transfer);
  leave(transfer);
  statistics_.connections_opened += static_cast<std::uint64_t>(opened);
  if (transfer.cancelled) return answer;
  answer.failure = transfer.too_large ? HttpAnswer::Failure::too_large : failure_of(code);
  // Who got no connection has not asked, and so not for too much.
  if (answer.failure == HttpAnswer::Failure::timeout && !transfer.was_sent) answer.failure = HttpAnswer::Failure::connection;
  switch (answer.failure) {
    case HttpAnswer::Failure::none:
      answer.status = static_cast<int>(status);
      if (transfer.is_write()) {
        if (status == 429 || status == 503)
          limit_.refused(transfer.sent_at, Loop::Clock::now());
        else
          limit_.answered(transfer.sent_at, Loop::Clock::now());
        writes_at_once_ = limit_.now();
        writes_found_ = limit_.found().value_or(0);
      }
      answer.retry_after_seconds = static_cast<int>(std::clamp<curl_off_t>(retry_after, 0, retry_after_max.count()));
      answer.body = std::move(transfer.body);
      ++statistics_.answers;
      if (!transfer.is_stream() && transfer.request.lane != Lane::urgent && version != CURL_HTTP_VERSION_2_0) {
        curl_->limits[Curl::requests].connections_max = plain_connections_max;
        curl_->channels[Curl::requests]->set_connections_max(plain_connections_max);
      }
      break;
    case HttpAnswer::Failure::too_large:
      answer.error = connection().server + " (" + connection().description + "): the answer is larger than " +
                     std::to_string(transfer.request.body_bytes_max) + " bytes, or its headers than " + std::to_string(header_bytes_max);
      ++statistics_.connection_errors;
      break;
    case HttpAnswer::Failure::not_leading:
      answer.error = "not sent: the lease is not ours";
      break;
    default:
      answer.error = describe_failure(code, transfer.error.data(), connection());
      ++statistics_.connection_errors;
      break;
  }
  return answer;
}

void HttpClient::conclude(RequestId id, HttpAnswer answer) {
  const auto found = transfers_.find(id);
  if (found == transfers_.end()) return;
  loop_.cancel(found->second->timer);
  const OnAnswer on_answer = std::move(found->second->on_answer);
  transfers_.erase(found);
  if (on_answer) on_answer(std::move(answer));
}

void HttpClient::fail(RequestId id, HttpAnswer::Failure failure, std::string why) {
  HttpAnswer answer;
  answer.failure = failure;
  answer.error = std::move(why);
  conclude(id, std::move(answer));
}

void HttpClient::note_header(std::string_view line) {
  constexpr std::string_view name = "date:";
  if (!options_.on_date || line.size() <= name.size() || curl_strnequal(line.data(), name.data(), name.size()) == 0) return;
  const auto now = Loop::Clock::now();
  if (now < next_date_) return;
  const time_t date = curl_getdate(std::string(line.substr(name.size())).c_str(), nullptr);
  if (date <= 0 || date >= date_max) return;
  next_date_ = now + date_interval;
  options_.on_date(Time::from_seconds(date));
}

void HttpClient::note_health(const Transfer& transfer, const HttpAnswer& answer) {
  using Failure = HttpAnswer::Failure;
  if (answer.failure == Failure::none) {
    health_.answered(answer.status, Loop::Clock::now());
  } else if ((answer.failure == Failure::connection || answer.failure == Failure::timeout) && !transfer.succeeded) {
    // A stream that breaks after it began says nothing about whether a new connection can be made.
    health_.not_answered(answer.error);
  }
}

void HttpClient::give_up_as_leader() {
  if (curl_ && curl_->inside()) {
    loop_.post([this] { give_up_as_leader(); });
    return;
  }
  std::vector<RequestId> ids;
  for (const auto& [id, transfer] : transfers_) {
    if (transfer->request.only_as_leader) ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end());
  for (const RequestId id : ids) {
    const auto found = transfers_.find(id);
    if (found == transfers_.end()) continue;
    Transfer& transfer = *found->second;
    if (transfer.easy != nullptr) {
      curl_->take_off_the_wire(transfer);
      leave(transfer);
    }
    fail(id, HttpAnswer::Failure::not_leading, "given up: the lease is not ours any more");
  }
  pump_soon();
}

HttpStatistics HttpClient::statistics() const {
  HttpStatistics out = statistics_;
  out.in_flight = in_flight_;
  out.writes_at_once = limit_.now();
  for (const auto& [id, transfer] : transfers_) out.waiting += transfer->easy == nullptr ? 1 : 0;
  out.credential_loads = credentials_.loads();
  return out;
}

// ---------------------------------------------------------------- credentials

bool HttpClient::have_credential(Loop::Clock::time_point now) {
  const auto state = credentials_.look(now);
  if (state == CredentialKeeper::State::missing) {
    fail_waiting(credentials_.error());
    return false;
  }
  const bool blocked = state == CredentialKeeper::State::loading;
  if (std::exchange(blocked_, blocked) == blocked) return !blocked;
  for (const auto& lane : lanes_) {
    for (const RequestId id : lane) {
      const auto found = transfers_.find(id);
      if (found == transfers_.end()) continue;
      if (blocked) {
        wait_for_credential(*found->second);
      } else {
        loop_.cancel(std::exchange(found->second->timer, 0));
      }
    }
  }
  return !blocked;
}

void HttpClient::wait_for_credential(Transfer& transfer) {
  const auto limit = transfer.request.time_limit.count() > 0 ? transfer.request.time_limit : credential_wait_max;
  loop_.cancel(transfer.timer);
  transfer.timer = loop_.after(limit, [this, id = transfer.id] {
    fail(id, HttpAnswer::Failure::credentials, connection().user.description + ": the credentials have not come in time");
  });
}

/// Answers everything that has not set out.
void HttpClient::fail_waiting(const std::string& why) {
  for (auto& lane : lanes_) {
    for (const RequestId id : std::exchange(lane, {})) fail(id, HttpAnswer::Failure::credentials, why);
  }
}

bool HttpClient::retry_after_refusal(Transfer& transfer) {
  using Advice = CredentialKeeper::Advice;
  if (transfer.retried) return false;
  const Advice advice = credentials_.refused(transfer.credential_number, Loop::Clock::now());
  if (advice == Advice::believe) return false;
  transfer.retried = true;
  transfer.succeeded.reset();
  transfer.body.clear();
  if (advice == Advice::missing) {
    fail(transfer.id, HttpAnswer::Failure::credentials, credentials_.error());
  } else if (advice == Advice::try_again) {
    put_in_lane(transfer.id, true);
  } else {
    refused_.push_back(transfer.id);
    wait_for_credential(transfer);
  }
  return true;
}

void HttpClient::on_credential(const std::string& error, bool usable) {
  if (error.empty() || (usable && refused_.empty())) {
    tell_renewal(credentials_late_, error, "credentials");
  } else {
    health_.no_credentials(error);
  }
  for (const RequestId id : std::exchange(refused_, {})) {
    if (!transfers_.contains(id)) continue;
    if (error.empty()) {
      loop_.cancel(std::exchange(transfers_.at(id)->timer, 0));
      put_in_lane(id, true);
    } else {
      fail(id, HttpAnswer::Failure::credentials, error);
    }
  }
  pump_soon();
}

void HttpClient::look_at_authority(Loop::Clock::time_point now) {
  if (now < next_authority_look_) return;
  next_authority_look_ = now + options_.look_interval;
  const auto changed = authority_.refresh();
  tell_renewal(authority_late_, changed ? "" : changed.error().message, "certificate authorities");
}

void HttpClient::tell_renewal(bool& is_late, const std::string& error, const std::string& what) {
  if (std::exchange(is_late, !error.empty()) == !error.empty()) return;
  if (error.empty()) {
    on_notice_({Notice::Kind::renewed, nullptr, what + " of " + connection().server + " were read again"});
  } else {
    on_notice_({Notice::Kind::renewal_failed, nullptr,
                what + " of " + connection().server + " could not be read again, those that we have are used on: " + error});
  }
}

}  // namespace hindsight::connectors::kubernetes
