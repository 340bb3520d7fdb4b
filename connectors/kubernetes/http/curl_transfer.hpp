#pragma once

#include <curl/curl.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "connectors/kubernetes/auth/authority.hpp"
#include "connectors/kubernetes/auth/credentials.hpp"
#include "connectors/kubernetes/http/endpoint.hpp"
#include "connectors/kubernetes/http/http_client.hpp"

namespace hindsight::connectors::kubernetes {

/// The header lines of requests, one list for each content type. Shared by all requests with the same credential.
class HeaderLists {
 public:
  explicit HeaderLists(const Credential& credential);
  ~HeaderLists();
  HeaderLists(const HeaderLists&) = delete;
  HeaderLists& operator=(const HeaderLists&) = delete;

  [[nodiscard]] curl_slist* of(HttpRequest::Content content) const { return lists_[static_cast<std::size_t>(content)]; }

 private:
  std::array<curl_slist*, 4> lists_{};
};

/// Easy handles with everything set that does not change from request to request. Reused, because setting them up costs more
/// than a small request does.
class EasyPool {
 public:
  EasyPool(Endpoint endpoint, const Connection& connection, bool for_streams, std::chrono::milliseconds connect_time_limit);
  ~EasyPool();
  EasyPool(const EasyPool&) = delete;
  EasyPool& operator=(const EasyPool&) = delete;

  /// A handle that shows this credential's client certificate and trusts these authorities; `number` tells credentials apart.
  [[nodiscard]] CURL* take(const Credential& credential, std::uint64_t number, const Authority& authority);
  /// `number` and `authority_number` are those with which it was taken.
  void give_back(CURL* easy, std::uint64_t number, std::uint64_t authority_number);
  [[nodiscard]] const Endpoint& endpoint() const { return endpoint_; }

 private:
  struct Idle {
    CURL* easy = nullptr;
    std::uint64_t credential_number = 0;
    std::uint64_t authority_number = 0;
  };
  [[nodiscard]] CURL* make() const;

  Endpoint endpoint_;
  const Connection& connection_;
  bool for_streams_;
  long connect_milliseconds_;
  curl_slist* connect_to_ = nullptr;
  std::vector<Idle> idle_;
};

/// Sets method, address, headers and body. The request must outlive the transfer: its body is not copied.
void set_request(CURL* easy, const Endpoint& endpoint, const HttpRequest& request, const HeaderLists& headers);

/// Why a transfer failed, in the terms of an answer.
[[nodiscard]] HttpAnswer::Failure failure_of(CURLcode code);
/// One sentence on why a transfer failed. `detail` is libcurl's error buffer.
[[nodiscard]] std::string describe_failure(CURLcode code, const char* detail, const Connection& connection);

}  // namespace hindsight::connectors::kubernetes
