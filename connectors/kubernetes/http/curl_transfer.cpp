#include "connectors/kubernetes/http/curl_transfer.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <new>

namespace hindsight::connectors::kubernetes {
namespace {

/// After so long without an acknowledgement the kernel gives a connection up, so that a vanished server is noticed.
constexpr unsigned unacknowledged_milliseconds_max = 20'000;

int set_socket_options(void* /*unused*/, curl_socket_t socket, curlsocktype /*purpose*/) {
  const unsigned limit = unacknowledged_milliseconds_max;
  ::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, sizeof limit);
  return CURL_SOCKOPT_OK;
}

void set_blob(CURL* easy, CURLoption option, const std::string& text, unsigned flags) {
  if (text.empty()) {
    curl_easy_setopt(easy, option, nullptr);
    return;
  }
  curl_blob blob{};
  blob.data = const_cast<char*>(text.data());  // libcurl only reads it.
  blob.len = text.size();
  blob.flags = flags;
  curl_easy_setopt(easy, option, &blob);
}

curl_slist* append(curl_slist* list, const char* line) {
  curl_slist* longer = curl_slist_append(list, line);
  if (longer == nullptr) throw std::bad_alloc();
  return longer;
}

const char* content_type_line(HttpRequest::Content content) {
  switch (content) {
    case HttpRequest::Content::none:
      return nullptr;
    case HttpRequest::Content::json:
      return "Content-Type: application/json";
    case HttpRequest::Content::merge_patch:
      return "Content-Type: application/merge-patch+json";
    case HttpRequest::Content::apply_patch:
      return "Content-Type: application/apply-patch+yaml";
  }
  return nullptr;
}

}  // namespace

HeaderLists::HeaderLists(const Credential& credential) {
  for (std::size_t i = 0; i < lists_.size(); ++i) {
    curl_slist* list = append(nullptr, "Accept: application/json");
    for (const std::string& line : credential.headers) list = append(list, line.c_str());
    if (const char* line = content_type_line(static_cast<HttpRequest::Content>(i))) list = append(list, line);
    lists_[i] = append(list, "Expect:");  // Large bodies over HTTP/1.1 go at once, without asking first.
  }
}

HeaderLists::~HeaderLists() {
  for (curl_slist* list : lists_) curl_slist_free_all(list);
}

EasyPool::EasyPool(Endpoint endpoint, const Connection& connection, bool for_streams, std::chrono::milliseconds connect_time_limit)
    : endpoint_(std::move(endpoint)),
      connection_(connection),
      for_streams_(for_streams),
      connect_milliseconds_(connect_time_limit.count()) {
  if (!endpoint_.connect_to.empty()) connect_to_ = append(nullptr, endpoint_.connect_to.c_str());
}

EasyPool::~EasyPool() {
  for (const Idle& idle : idle_) curl_easy_cleanup(idle.easy);
  curl_slist_free_all(connect_to_);
}

CURL* EasyPool::make() const {
  CURL* easy = curl_easy_init();
  if (easy == nullptr) throw std::bad_alloc();
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  // A name server that does not answer would hold the loop for as long as its library waits when such a transfer is given up.
  curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_USERAGENT, "hindsight");
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, connect_milliseconds_);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, 20L);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, 5L);
  curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, &set_socket_options);
  if (for_streams_) {
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
  } else {
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS);
    // Wait for the first connection instead of opening more, until TLS has told whether it takes many requests. Without TLS it does not.
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, endpoint_.is_tls ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip");
  }
  if (connect_to_ != nullptr) curl_easy_setopt(easy, CURLOPT_CONNECT_TO, connect_to_);
  if (!connection_.proxy_url.empty()) {
    curl_easy_setopt(easy, CURLOPT_PROXY, connection_.proxy_url.c_str());
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
  } else if (endpoint_.is_loopback) {
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
  }
  if (connection_.insecure_skip_tls_verify) {
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
  }
  return easy;
}

CURL* EasyPool::take(const Credential& credential, std::uint64_t number, const Authority& authority) {
  Idle out;
  if (idle_.empty()) {
    out.easy = make();
  } else {
    out = idle_.back();
    idle_.pop_back();
  }
  // libcurl uses no connection that was made with others of these, so that a change is felt by the next request.
  if (out.credential_number != number) {
    set_blob(out.easy, CURLOPT_SSLCERT_BLOB, credential.client_certificate_pem, CURL_BLOB_COPY);
    set_blob(out.easy, CURLOPT_SSLKEY_BLOB, credential.client_key_pem, CURL_BLOB_COPY);
  }
  if (out.authority_number != authority.number() && !connection_.insecure_skip_tls_verify && !authority.pem().empty()) {
    // Only the cluster's own authority, not also those of the system.
    curl_easy_setopt(out.easy, CURLOPT_CAINFO, nullptr);
    curl_easy_setopt(out.easy, CURLOPT_CAPATH, nullptr);
    set_blob(out.easy, CURLOPT_CAINFO_BLOB, authority.pem(), CURL_BLOB_COPY);
  }
  return out.easy;
}

void EasyPool::give_back(CURL* easy, std::uint64_t number, std::uint64_t authority_number) {
  idle_.push_back({easy, number, authority_number});
}

void set_request(CURL* easy, const Endpoint& endpoint, const HttpRequest& request, const HeaderLists& headers) {
  const std::string url = endpoint.base_url + request.path;
  curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
  curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);  // an object that is called ".." leads nowhere else
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers.of(request.content));
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(request.time_limit.count()));
  if (request.method == HttpRequest::Method::get) {
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, nullptr);
    curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, nullptr);
    return;
  }
  curl_easy_setopt(easy, CURLOPT_POST, 1L);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body ? request.body->size() : 0));
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body ? request.body->c_str() : "");
  const char* method = request.method == HttpRequest::Method::patch     ? "PATCH"
                       : request.method == HttpRequest::Method::delete_ ? "DELETE"
                                                                        : nullptr;
  curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method);
}

HttpAnswer::Failure failure_of(CURLcode code) {
  switch (code) {
    case CURLE_OK:
      return HttpAnswer::Failure::none;
    case CURLE_OPERATION_TIMEDOUT:
      return HttpAnswer::Failure::timeout;
    case CURLE_ABORTED_BY_CALLBACK:  // The fence, which is the only one that does so.
      return HttpAnswer::Failure::not_leading;
    default:
      return HttpAnswer::Failure::connection;
  }
}

std::string describe_failure(CURLcode code, const char* detail, const Connection& connection) {
  std::string out = connection.server + " (" + connection.description + "): ";
  switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
      out += "the server's certificate is not trusted (certificate-authority, tls-server-name): ";
      break;
    case CURLE_SSL_CERTPROBLEM:
      out += "our client certificate or its key cannot be used: ";
      break;
    case CURLE_SSL_CACERT_BADFILE:
      out += "the certificate authority cannot be read: ";
      break;
    case CURLE_OPERATION_TIMEDOUT:
      out += "no answer in time: ";
      break;
    default:
      break;
  }
  out += detail[0] != '\0' ? detail : curl_easy_strerror(code);
  return out;
}

}  // namespace hindsight::connectors::kubernetes
