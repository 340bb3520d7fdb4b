#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hindsight::operations {

class EventStream;

/// Who counts as one caller where callers have shares of something: an address, or of IPv6 the network (/64) that one machine may have for
/// itself and choose addresses from.
[[nodiscard]] std::string peer_of(const std::string& ip);

struct HttpRequest {
  std::string method;  ///< "GET"; HEAD arrives as GET.
  std::string path;    ///< Decoded, without the query.
  std::string rest;    ///< What `/*` at the end of the route stands for; empty for other routes.
  std::multimap<std::string, std::string> query;
  std::map<std::string, std::string> headers;  ///< By name in lower case; of repeated ones the first.
  std::string body;
  std::string peer;     ///< IP address of the client.
  std::string client;   ///< Common name of the certificate that it showed and that is good; empty: none (TlsIdentity::ask_clients).
  bool proven = false;  ///< Whoever has this connection is no stranger: it showed that certificate, or got a good answer over it before.
  std::shared_ptr<const std::atomic<bool>> left;  ///< See is_over().

  /// From this machine, or through "kubectl port-forward".
  [[nodiscard]] bool is_from_loopback() const;
  /// The client has closed its end of the connection, or the server stops: nobody is known to wait for the answer any more. It is looked at
  /// several times a second while a handler is at work.
  [[nodiscard]] bool is_over() const { return left && left->load(std::memory_order_relaxed); }
  /// Empty: not given. `name`: in lower case.
  [[nodiscard]] std::string_view header(const std::string& name) const {
    const auto it = headers.find(name);
    return it == headers.end() ? std::string_view() : std::string_view(it->second);
  }
  /// The first value of a query parameter; empty: not given.
  [[nodiscard]] std::string_view parameter(const std::string& name) const {
    const auto it = query.find(name);
    return it == query.end() ? std::string_view() : std::string_view(it->second);
  }
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  std::shared_ptr<const std::string> shared_body;  ///< In place of `body`, where many are sent the same.
  std::shared_ptr<EventStream>
      events;  ///< In place of a body: what comes is sent as it comes (content type text/event-stream), up to its end.

  [[nodiscard]] std::string_view content() const { return shared_body ? std::string_view(*shared_body) : std::string_view(body); }
};

/// Called on one of the server's threads, several at the same time. An exception becomes status 500 and a line in the log.
using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

/// {"error":"…"} with a line feed.
[[nodiscard]] HttpResponse http_error(int status, std::string_view message);

/// What a route takes of a request's body.
struct HttpBodyLimits {
  std::size_t bytes_max = 0;  ///< 0: as many as the server takes; never more than those.
  /// Memory that it takes to answer a body of which this is a piece, beyond the bytes themselves; the sum over its pieces counts. Empty:
  /// none.
  std::function<std::size_t(std::string_view piece)> weigh;
};

/// Whose turn a request of a route has.
enum class HttpHaste : std::uint8_t {
  usual,
  urgent,  ///< It waits for no request of a usual route. Its handler must not wait for anything.
};

/// Which handler answers which request. Filled before the server starts.
class HttpRoutes {
 public:
  /// `path` is compared whole; one that ends in "/*" stands for all below it, and the longest that fits is taken. Bodies are
  /// read for whole paths only. A path that is there already, or one without a leading '/', is a bug.
  void add(std::string method, std::string path, HttpHandler handler, HttpBodyLimits body = {}, HttpHaste haste = HttpHaste::usual);

  struct Match {
    const HttpHandler* handler = nullptr;  ///< Null: no such path, or not with this method.
    const HttpBodyLimits* body = nullptr;  ///< There when the handler is.
    HttpHaste haste = HttpHaste::usual;
    std::string rest;
    std::vector<std::string> allowed;  ///< Methods of the path; empty: there is no such path.
  };
  [[nodiscard]] Match find(std::string_view method, std::string_view path) const;

  struct Route {
    std::string method;
    std::string path;
    HttpHandler handler;
    HttpBodyLimits body;
    HttpHaste haste = HttpHaste::usual;
  };
  [[nodiscard]] const std::vector<Route>& all() const { return routes_; }

 private:
  std::vector<Route> routes_;
};

}  // namespace hindsight::operations
