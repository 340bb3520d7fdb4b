#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hindsight::operations {

/// Request line and header fields as the client sent them.
struct HttpHead {
  std::string method, target;
  int version = 11;                                         ///< 10 or 11.
  std::vector<std::pair<std::string, std::string>> fields;  ///< Names in lower case, in their order.

  /// How often a field is there; `name` in lower case.
  [[nodiscard]] std::size_t count(std::string_view name) const;
  /// Its first value; empty: it is not there.
  [[nodiscard]] std::string_view first(std::string_view name) const;
};

/// Why a request cannot be read. Status 0: nothing is wrong.
struct HttpMistake {
  int status = 0;
  std::string message;

  explicit operator bool() const { return status != 0; }
};

/// Reads one request of HTTP/1.0 or 1.1: first its head as a whole, then its body in pieces. The grammar is Boost.Beast's
/// (http::basic_parser); what the grammar leaves open, because proxies read it in different ways, is refused here.
class HttpParser {
 public:
  explicit HttpParser(std::size_t body_bytes_max);
  ~HttpParser();
  HttpParser(const HttpParser&) = delete;
  HttpParser& operator=(const HttpParser&) = delete;

  /// Where the head ends that `bytes` begin with: behind its empty line; 0: the end has not come yet. `seen`: how many of the bytes were
  /// looked at before.
  [[nodiscard]] static std::size_t end_of_head(std::string_view bytes, std::size_t seen);

  /// Takes a whole head, with its empty line. Once. Mistakes: 400, 413 (a body is announced that is too long), 415, 417, 431, 501.
  [[nodiscard]] HttpMistake take_head(std::string_view bytes);
  [[nodiscard]] const HttpHead& head() const { return head_; }
  [[nodiscard]] HttpHead&& release_head() { return std::move(head_); }
  [[nodiscard]] bool has_body() const { return has_body_; }
  /// What Content-Length says; 0 without one.
  [[nodiscard]] std::uint64_t announced_length() const;
  [[nodiscard]] bool expects_continue() const { return expects_continue_; }
  /// The client can read another answer over this connection.
  [[nodiscard]] bool keeps_alive() const { return keeps_alive_; }

  struct Taken {
    std::size_t bytes = 0;
    HttpMistake mistake;
  };
  /// Takes as many bytes of the body as can be told from what follows them; those that it leaves are to be offered again with more behind
  /// them. Not after done(). Mistakes: 400, 413.
  [[nodiscard]] Taken take_body(std::string_view bytes);
  [[nodiscard]] bool done() const;
  /// What has come of the body so far; to be taken away when it is done.
  [[nodiscard]] std::string& body() { return body_; }

 private:
  class Grammar;

  [[nodiscard]] HttpMistake judge_head();
  [[nodiscard]] HttpMistake judge_framing();

  const std::size_t body_bytes_max_;
  HttpHead head_;
  std::string body_;
  bool has_body_ = false, expects_continue_ = false, keeps_alive_ = false;
  bool waits_ = false;  ///< The grammar has asked for more bytes than there were.
  std::unique_ptr<Grammar> grammar_;
};

/// Header fields that one request may have.
inline constexpr std::size_t header_fields_max = 100;

/// What a request asks for, as it is written in its target: a path with a query, or an URL of it.
struct HttpTarget {
  std::string path;  ///< Decoded.
  std::vector<std::pair<std::string, std::string>> query;
};
/// Mistakes: 400, and 414 for a path that is longer than anybody needs.
[[nodiscard]] HttpMistake read_target(std::string_view target, HttpTarget& out);

/// Whether what stands for the `*` of a route leads somewhere else when it is put behind a folder's name or into another path: a segment
/// of it is "." or "..", or it has an empty one before its end.
[[nodiscard]] bool leads_elsewhere(std::string_view rest);

/// "Not Found".
[[nodiscard]] std::string_view reason_phrase(int status);

}  // namespace hindsight::operations
