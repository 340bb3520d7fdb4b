#include "connectors/kubernetes/http_client.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "connectors/kubernetes/curl_multi.hpp"
#include "connectors/kubernetes/curl_transfer.hpp"

namespace hindsight::connectors::kubernetes {
namespace {

/// A page of a list holds 500 objects of at most 1.5 MiB each in theory; nobody means more than this.
constexpr std::size_t body_bytes_max = std::size_t{512} << 20U;
/// Connections at a time when the server speaks only HTTP/1.1.
constexpr long plain_connections_max = 16;
constexpr auto credential_check_interval = std::chrono::seconds(1);

Time wall_clock() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::microseconds>(since).count()};
}

}  // namespace

struct HttpClient::Transfer {
  RequestId id = 0;
  HttpRequest request;
  OnAnswer on_answer;
  OnBytes on_bytes;  ///< Empty: not a stream.
  HttpClient* client = nullptr;

  CURL* easy = nullptr;  ///< Only while it is on the wire.
  std::shared_ptr<const HeaderLists> headers;
  std::uint64_t credential_number = 0;
  bool retried = false;  ///< Once more with a new credential after 401.

  std::optional<bool> succeeded;  ///< Whether the status is 2xx; known with the first bytes.
  bool pause_wanted = false;
  bool paused = false;
  bool cancelled = false;
  std::string body;
  std::array<char, CURL_ERROR_SIZE> error{};

  [[nodiscard]] bool is_stream() const { return static_cast<bool>(on_bytes); }
  [[nodiscard]] bool counts() const { return !is_stream() && request.lane != Lane::urgent; }

  static std::size_t on_write(char* data, std::size_t /*one*/, std::size_t size, void* self);
};

std::size_t HttpClient::Transfer::on_write(char* data, std::size_t /*one*/, std::size_t size, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  if (transfer.cancelled) return 0;  // Anything but `size` ends the transfer.
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
  if (transfer.body.size() + size > body_bytes_max) return 0;
  transfer.body.append(data, size);
  return size;
}

struct HttpClient::Curl {
  Curl(HttpClient& client, const Endpoint& endpoint, const Connection& connection, std::chrono::milliseconds connect_time_limit)
      : request_handles(endpoint, connection, false, connect_time_limit),
        stream_handles(endpoint, connection, true, connect_time_limit),
        requests(client.loop_, [&client](CURL* easy, CURLcode code) { on_done(client, easy, code); }),
        streams(client.loop_, [&client](CURL* easy, CURLcode code) { on_done(client, easy, code); }) {}

  static void on_done(HttpClient& client, CURL* easy, CURLcode code) {
    char* transfer = nullptr;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
    client.finish(reinterpret_cast<Transfer*>(transfer)->id, code);
  }

  [[nodiscard]] CurlMulti& multi_of(const Transfer& transfer) { return transfer.is_stream() ? streams : requests; }
  [[nodiscard]] EasyPool& pool_of(const Transfer& transfer) { return transfer.is_stream() ? stream_handles : request_handles; }
  [[nodiscard]] bool inside() const { return requests.inside() || streams.inside(); }
  void take_off_the_wire(Transfer& transfer) {
    multi_of(transfer).remove(transfer.easy);
    pool_of(transfer).give_back(transfer.easy, transfer.credential_number);
    transfer.easy = nullptr;
  }

  EasyPool request_handles;  ///< Before the multis, which must let go of the handles first.
  EasyPool stream_handles;
  CurlMulti requests;
  CurlMulti streams;
};

Result<std::unique_ptr<HttpClient>> HttpClient::create(Loop& loop, const Connection& connection, Options options, OnNotice on_notice) {
  std::unique_ptr<HttpClient> client(new HttpClient(loop, connection, options, std::move(on_notice)));
  const auto endpoint = endpoint_of(connection);
  if (!endpoint) return tl::unexpected(endpoint.error());
  auto credential = client->credentials_.load();
  if (!credential) return tl::unexpected(credential.error());
  client->credential_ = *std::move(credential);
  client->headers_ = std::make_shared<HeaderLists>(client->credential_);

  loop.run([&] {
    auto& curl = client->curl_;
    curl = std::make_unique<Curl>(*client, *endpoint, client->connection(), options.connect_time_limit);
    CURLM* requests = curl->requests.get();
    curl_multi_setopt(requests, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    curl_multi_setopt(requests, CURLMOPT_MAX_HOST_CONNECTIONS, endpoint->is_tls ? 1L : plain_connections_max);
    // Urgent requests come on top of the cap.
    curl_multi_setopt(requests, CURLMOPT_MAX_CONCURRENT_STREAMS, static_cast<long>(std::max<std::size_t>(100, options.max_in_flight + 8)));
    // Streams have nothing to wait for: a connection each.
    curl_multi_setopt(curl->streams.get(), CURLMOPT_PIPELINING, CURLPIPE_NOTHING);
  });
  return client;
}

HttpClient::HttpClient(Loop& loop, const Connection& connection, Options options, OnNotice on_notice)
    : loop_(loop), options_(options), on_notice_(std::move(on_notice)), credentials_(connection, options.exec_time_limit) {}

HttpClient::~HttpClient() { stop(); }

void HttpClient::stop() {
  loader_.request_stop();
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
      HttpAnswer answer;
      answer.error = "the client has stopped";
      conclude(id, std::move(answer));
    }
    in_flight_ = 0;
    curl_.reset();
  });
  if (loader_.joinable()) loader_.join();
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
    loop_.post([this, id] {
      HttpAnswer answer;
      answer.error = "the client has stopped";
      conclude(id, std::move(answer));
    });
    return id;
  }
  put_in_lane(id, false);
  // Together with others that the same task may send; also, libcurl may be calling us.
  pump_soon();
  return id;
}

void HttpClient::put_in_lane(RequestId id, bool first) {
  const Transfer& transfer = *transfers_.at(id);
  auto& lane = lanes_[static_cast<std::size_t>(transfer.is_stream() ? Lane::urgent : transfer.request.lane)];
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
  if (transfer.easy == nullptr) {
    transfers_.erase(found);  // pump() skips ids that are gone.
    return;
  }
  if (curl_->inside()) {
    loop_.post([this, id] { cancel(id); });
    return;
  }
  curl_->take_off_the_wire(transfer);
  if (transfer.counts()) --in_flight_;
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
  if (transfer.easy != nullptr) curl_->multi_of(transfer).unpause(transfer.easy);
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
  check_credential();
  if (loading_) return;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    std::deque<RequestId>& lane = lanes_[i];
    while (!lane.empty() && (i == 0 || in_flight_ < options_.max_in_flight)) {
      const auto found = transfers_.find(lane.front());
      lane.pop_front();
      if (found == transfers_.end()) continue;  // Cancelled while it waited.
      const RequestId id = found->first;
      if (load_error_.empty()) {
        if (!launch(*found->second)) finish(id, CURLE_FAILED_INIT);
      } else {
        HttpAnswer answer;
        answer.error = load_error_;
        conclude(id, std::move(answer));
      }
    }
  }
}

bool HttpClient::launch(Transfer& transfer) {
  CURL* easy = curl_->pool_of(transfer).take(credential_, credential_number_);
  transfer.easy = easy;
  transfer.headers = headers_;
  transfer.credential_number = credential_number_;
  transfer.error[0] = '\0';
  set_request(easy, curl_->pool_of(transfer).endpoint(), transfer.request, *transfer.headers);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &Transfer::on_write);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(easy, CURLOPT_PRIVATE, &transfer);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer.error.data());
  if (transfer.counts()) ++in_flight_;
  return curl_->multi_of(transfer).add(easy) == CURLM_OK;
}

void HttpClient::finish(RequestId id, int curl_code) {
  Transfer& transfer = *transfers_.at(id);
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
  curl_->take_off_the_wire(transfer);
  if (transfer.counts()) --in_flight_;
  statistics_.connections_opened += static_cast<std::uint64_t>(opened);
  if (transfer.cancelled) {
    transfers_.erase(id);
    pump();
    return;
  }
  if (code == CURLE_OK) {
    answer.status = static_cast<int>(status);
    answer.retry_after_seconds = static_cast<int>(std::clamp<curl_off_t>(retry_after, 0, 3600));
    answer.body = std::move(transfer.body);
    ++statistics_.answers;
    if (!transfer.is_stream() && version != CURL_HTTP_VERSION_2_0) {
      curl_multi_setopt(curl_->requests.get(), CURLMOPT_MAX_HOST_CONNECTIONS, plain_connections_max);
    }
  } else {
    answer.error = describe_failure(code, transfer.error.data(), connection());
    ++statistics_.connection_errors;
  }
  if (answer.status == 401 && retry_with_new_credential(transfer)) return;
  note_health(transfer, answer);
  conclude(id, std::move(answer));
  pump();
}

void HttpClient::conclude(RequestId id, HttpAnswer answer) {
  const auto found = transfers_.find(id);
  if (found == transfers_.end()) return;
  const OnAnswer on_answer = std::move(found->second->on_answer);
  transfers_.erase(found);
  if (on_answer) on_answer(std::move(answer));
}

void HttpClient::note_health(const Transfer& transfer, const HttpAnswer& answer) {
  const std::string& server = connection().server;
  const bool answered = answer.status != 0;
  // A stream that breaks after it began says nothing about whether a new connection can be made.
  if (answered != reachable_ && (answered || !transfer.succeeded)) {
    reachable_ = answered;
    if (answered) settled_at_ = Loop::Clock::now() + options_.settle_time;
    on_notice_(answered ? Notice{Notice::Kind::reachable, nullptr, "the API server " + server + " answers again"}
                        : Notice{Notice::Kind::unreachable, nullptr, "cannot reach the API server " + answer.error + "; trying again"});
  }
  if (!answered || (answer.status == 401) != accepted_ || (answer.status == 401 && is_settling())) return;
  accepted_ = answer.status != 401;
  on_notice_(accepted_ ? Notice{Notice::Kind::credentials_accepted, nullptr, "the API server " + server + " accepts our credentials again"}
                       : Notice{Notice::Kind::credentials_refused, nullptr,
                                "the API server " + server + " refuses the credentials of " + connection().user.description +
                                    ": found status 401 Unauthorized, allowed: valid credentials"});
}

HttpStatistics HttpClient::statistics() const {
  HttpStatistics out = statistics_;
  out.in_flight = in_flight_;
  for (const auto& lane : lanes_) out.waiting += lane.size();
  return out;
}

// ---------------------------------------------------------------- credentials

bool HttpClient::retry_with_new_credential(Transfer& transfer) {
  if (transfer.retried || !credentials_.can_change()) return false;
  transfer.retried = true;
  transfer.succeeded.reset();
  transfer.body.clear();
  // Of many requests that are refused at once only the first asks for a new credential.
  if (transfer.credential_number == credential_number_ && !loading_) must_load_ = true;
  put_in_lane(transfer.id, true);
  pump();
  return true;
}

void HttpClient::check_credential() {
  if (loading_) return;
  const auto now = Loop::Clock::now();
  if (must_load_ && load_error_.empty()) {
    load_credential();
    return;
  }
  if (now < next_check_) return;
  next_check_ = now + credential_check_interval;
  if (must_load_ || (credentials_.can_change() && credentials_.is_stale(credential_, wall_clock()))) load_credential();
}

void HttpClient::load_credential() {
  loading_ = true;
  ++statistics_.credential_loads;
  if (!credentials_.runs_command()) {
    take_credential(credentials_.load());
    return;
  }
  loader_ = std::jthread([this](const std::stop_token& stop) {
    auto loaded = credentials_.load(stop);
    loop_.post([this, loaded = std::move(loaded)]() mutable {
      take_credential(std::move(loaded));
      pump();
    });
  });
}

void HttpClient::take_credential(Result<Credential> loaded) {
  loading_ = false;
  if (stopped_) return;
  if (!loaded) {
    // What we have may still be good: the files of a mounted secret are away for a moment when it changes.
    const bool usable = !must_load_ && (!credential_.expires.is_set() || wall_clock() < credential_.expires);
    load_error_ = usable ? "" : loaded.error().message;
    next_check_ = Loop::Clock::now() + options_.credential_retry;
    if (!usable && accepted_) {
      accepted_ = false;
      on_notice_({Notice::Kind::credentials_refused, nullptr, "no credentials for the API server: " + loaded.error().message});
    }
    return;
  }
  must_load_ = false;
  load_error_.clear();
  credential_ = *std::move(loaded);
  headers_ = std::make_shared<HeaderLists>(credential_);
  ++credential_number_;
}

}  // namespace hindsight::connectors::kubernetes
