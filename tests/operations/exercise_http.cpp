#include "tests/operations/exercise_http.hpp"

#include <algorithm>
#include <stdexcept>

#include "operations/http_server.hpp"
#include "operations/logging.hpp"
#include "tests/operations/attackers.hpp"
#include "tests/operations/raw_client.hpp"

namespace hindsight::operations {
namespace {

/// One for all inputs: what one does to it the next ones see.
HttpServer& server() {
  static const auto instance = [] {
    set_up_logging({.level = LogLevel::off});
    HttpRoutes routes;
    routes.add("GET", "/hello", [](const HttpRequest&) { return HttpResponse{.content_type = "text/plain", .body = "hello"}; });
    routes.add("GET", "/things/*", [](const HttpRequest& q) { return HttpResponse{.content_type = "text/plain", .body = q.rest}; });
    const auto echo = [](const HttpRequest& q) {
      HttpResponse out{.content_type = "text/plain", .body = q.body};
      for (const auto& [name, value] : q.headers) out.headers.emplace_back("X-" + name, value);
      return out;
    };
    routes.add("PUT", "/put", echo, {.bytes_max = 3'000, .weigh = [](std::string_view piece) { return piece.size() * 500; }});
    routes.add("POST", "/post", echo);
    HttpServerOptions options{.threads = 2};
    options.small_request_memory_max = 10'000;
    options.request_memory_max = 1'000'000;
    options.body_bytes_max = 20'000;
    options.requests_per_connection_max = 50;
    auto started = HttpServer::start(options, std::move(routes));
    if (!started) throw std::logic_error(started.error().message);
    return std::move(*started);
  }();
  return *instance;
}

/// What comes back is a row of answers, each as long as it says; the last one of a HEAD may have no body.
void judge_answers(std::string_view all) {
  while (!all.empty()) {
    if (!all.starts_with("HTTP/1.1 ")) throw std::logic_error("found no answer: " + std::string(all.substr(0, 200)));
    const auto end = all.find("\r\n\r\n");
    if (end == std::string_view::npos) throw std::logic_error("found half an answer: " + std::string(all.substr(0, 200)));
    const std::string head(all.substr(0, end + 2));
    all.remove_prefix(end + 4);
    const auto length = head.find("\r\nContent-Length: ");
    if (length == std::string::npos) {
      if (!head.starts_with("HTTP/1.1 100 ")) throw std::logic_error("found an answer without a length: " + head);
      continue;
    }
    const auto bytes = std::stoull(head.substr(length + 18));
    if (all.starts_with("HTTP/1.1 ") && bytes > 0) continue;  // to HEAD
    all.remove_prefix(std::min<std::size_t>(all.size(), bytes));
  }
}

}  // namespace

void exercise_http(std::string_view bytes) {
  const std::uint16_t port = server().address().port;
  if (bytes.empty()) return;
  const std::size_t piece = 1U + static_cast<unsigned char>(bytes.front()) * 64U;
  bytes.remove_prefix(1);
  {
    RawClient client(port);
    while (!bytes.empty() && client.send(bytes.substr(0, piece))) bytes.remove_prefix(std::min(bytes.size(), piece));
    client.finish_sending();
    judge_answers(client.read_all());
  }
  if (request(port, "GET", "/hello").body != "hello") throw std::logic_error("the server answers no more");
}

std::vector<std::string> http_corpus() {
  std::vector<std::string> out;
  const std::string host = " HTTP/1.1\r\nHost: x\r\n";
  for (const auto& bad : attack::bad_requests()) out.push_back(bad.bytes);
  out.push_back("GET /hello" + host + "\r\n");
  out.push_back("HEAD /hello?a=%20&b=+c" + host + "Accept: */*\r\n\r\n");
  out.push_back("GET /things/%e4%b8%ad/x?y=z" + host + "Connection: close\r\n\r\n");
  out.push_back("PUT /put" + host + "Content-Length: 5\r\nExpect: 100-continue\r\n\r\nhello");
  out.push_back("POST /post" + host + "Transfer-Encoding: chunked\r\n\r\n5;a=\"b\"\r\nhello\r\n0\r\nx: y\r\n\r\nGET /hello" + host +
                "\r\n");
  for (const std::size_t n : {2'047U, 2'049U, 4'095U, 4'097U, 16'383U, 16'385U, 65'535U, 65'537U, 300'000U}) {
    const std::string text(n, 'a');
    out.push_back("GET /things/" + text + host + "\r\n");
    out.push_back("GET /hello?" + text + host + "\r\n");
    out.push_back("GET /hello" + host + "X: " + text + "\r\n\r\n");
    out.push_back("GET /hello" + host + text + ": x\r\n\r\n");
    out.push_back("PUT /put" + host + "Content-Length: " + std::to_string(n) + "\r\n\r\n" + text);
    out.push_back("POST /post" + host + "Transfer-Encoding: chunked\r\n\r\n1;" + text + "\r\nx\r\n0\r\n\r\n");
    out.push_back("POST /post" + host + "Transfer-Encoding: chunked\r\n\r\n" + std::string(n, '0') + "1\r\nx\r\n0\r\nx: " + text +
                  "\r\n\r\n");
  }
  return out;
}

void TextMutator::mutate(std::string& text, const std::vector<std::string>& words, const std::string& other) {
  for (std::size_t n = 1 + below(4); n > 0; --n) {
    const std::size_t at = below(text.size() + 1);
    switch (below(8)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(random_());
        break;
      case 1:
        text.resize(at);
        break;
      case 2:
        text.insert(at, words[below(words.size())]);
        break;
      case 3:
        text.insert(at, 1 + below(20), static_cast<char>(random_()));
        break;
      case 4:
        text.erase(at, 1 + below(10));
        break;
      case 5:
        text.insert(at, text, below(text.size() + 1), below(200));
        break;
      case 6:
        text.insert(at, below(20) == 0 ? std::size_t{70'000} : below(3'000), words[below(words.size())].front());
        break;
      default:
        text.insert(at, other, below(other.size() + 1), below(200));
        break;
    }
  }
}

}  // namespace hindsight::operations
