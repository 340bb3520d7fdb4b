#include "operations/http_parser.hpp"

#include <algorithm>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/status.hpp>

#include "vocabulary/ascii.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::operations {
namespace {

namespace beast = boost::beast;

/// Between two pieces of a chunked body stand the size of the next one and what proxies may add; nobody needs more than this for it.
constexpr std::size_t chunk_head_bytes_max = 4096;
/// The shortest end of a chunked body: "0", and two line ends. Whatever begins between two pieces is followed by as much.
constexpr std::size_t last_chunk_bytes_min = 5;
constexpr std::size_t path_bytes_max = 2048;
constexpr std::size_t query_parameters_max = 100;
/// Bodies up to here get their memory at once, longer ones as they come: an announced length alone costs nothing.
constexpr std::size_t body_bytes_at_once = 64U * 1024U;

HttpMistake malformed(std::string message) { return {400, std::move(message)}; }

std::string_view to_std(beast::string_view text) { return {text.data(), text.size()}; }

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// False: a % is not followed by two digits.
bool decode(std::string_view text, bool plus_is_blank, std::string& out) {
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      const int high = i + 2 < text.size() ? digit_of(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? digit_of(text[i + 2]) : -1;
      if (high < 0 || low < 0) return false;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += text[i] == '+' && plus_is_blank ? ' ' : text[i];
    }
  }
  return true;
}

}  // namespace

std::size_t HttpHead::count(std::string_view name) const {
  return static_cast<std::size_t>(std::count_if(fields.begin(), fields.end(), [&](const auto& field) { return field.first == name; }));
}

std::string_view HttpHead::first(std::string_view name) const {
  const auto it = std::find_if(fields.begin(), fields.end(), [&](const auto& field) { return field.first == name; });
  return it == fields.end() ? std::string_view() : std::string_view(it->second);
}

// ---- the grammar ------------------------------------------------------------------------------------------------------------------

class HttpParser::Grammar final : public beast::http::basic_parser<true> {
 public:
  explicit Grammar(HttpParser& to) : to_(to) {}

 private:
  using error_code = beast::error_code;
  using string_view = beast::string_view;

  void on_request_impl(beast::http::verb, string_view method, string_view target, int version, error_code&) override {
    to_.head_.method = to_std(method);
    to_.head_.target = to_std(target);
    to_.head_.version = version;
  }
  void on_field_impl(beast::http::field, string_view name, string_view value, error_code& error) override {
    if (is_header_done()) return;  // Of trailers nobody makes use, and they must not pass for headers.
    if (to_.head_.fields.size() >= header_fields_max) {
      error = beast::http::error::header_limit;
      return;
    }
    to_.head_.fields.emplace_back(lower(to_std(name)), to_std(value));
  }
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>& length, error_code&) override {
    if (length) to_.body_.reserve(std::min(static_cast<std::size_t>(*length), body_bytes_at_once));
  }
  std::size_t on_body_impl(string_view bytes, error_code&) override { return append(bytes); }
  void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, string_view bytes, error_code&) override { return append(bytes); }
  void on_finish_impl(error_code&) override {}
  // Of answers only.
  void on_response_impl(int, string_view, int, error_code&) override {}

  std::size_t append(string_view bytes) {
    to_.body_.append(bytes.data(), bytes.size());
    return bytes.size();
  }

  HttpParser& to_;
};

HttpParser::HttpParser(std::size_t body_bytes_max) : body_bytes_max_(body_bytes_max), grammar_(std::make_unique<Grammar>(*this)) {
  grammar_->body_limit(body_bytes_max);
}
HttpParser::~HttpParser() = default;

std::size_t HttpParser::end_of_head(std::string_view bytes, std::size_t seen) {
  const auto end = bytes.find("\r\n\r\n", seen < 3 ? 0 : seen - 3);
  return end == std::string_view::npos ? 0 : end + 4;
}

HttpMistake HttpParser::take_head(std::string_view bytes) {
  // All of it is here: what the grammar would wait for does not come.
  grammar_->header_limit(static_cast<std::uint32_t>(bytes.size() + 1));
  beast::error_code error;
  grammar_->put(boost::asio::buffer(bytes.data(), bytes.size()), error);
  if (error == beast::http::error::header_limit)
    return {431, "headers: found more than " + std::to_string(header_fields_max) + "; allowed: " + std::to_string(header_fields_max)};
  if (error == beast::http::error::body_limit)
    return {413, "body: found a longer one; allowed: " + std::to_string(body_bytes_max_) + " bytes"};
  if (error || !grammar_->is_header_done())
    return malformed("the request is not well-formed: " + (error ? error.message() : "it ends too early"));
  return judge_head();
}

HttpMistake HttpParser::judge_head() {
  if (auto mistake = judge_framing()) return mistake;
  for (const char* once : {"host", "authorization"})
    if (head_.count(once) > 1) return malformed(std::string(once) + ": found more than one; allowed: one");
  if (head_.version >= 11 && head_.count("host") == 0) return malformed("host: found none; allowed: one");
  // To unpack is to let a few bytes become any number of them.
  for (const auto& [name, value] : head_.fields)
    if (name == "content-encoding" && lower(value) != "identity")
      return {415, "content-encoding: found \"" + std::string(cut_text(value, 40)) + "\"; allowed: identity"};
  if (const auto expected = head_.first("expect"); !expected.empty()) {
    if (lower(expected) != "100-continue") return {417, "expect: found something else; allowed: 100-continue"};
    expects_continue_ = head_.version >= 11;
  }
  keeps_alive_ = head_.version >= 11 && grammar_->keep_alive();
  return {};
}

/// Where the body ends must be said once, in one way (RFC 9112, 6.3 and 11.2).
HttpMistake HttpParser::judge_framing() {
  const auto lengths = head_.count("content-length"), encodings = head_.count("transfer-encoding");
  if (lengths + encodings > 1) return malformed("content-length, transfer-encoding: found more than one; allowed: one of them, once");
  if (encodings == 1) {
    if (head_.version < 11) return malformed("transfer-encoding: found one with HTTP/1.0; allowed: HTTP/1.1");
    if (lower(head_.first("transfer-encoding")) != "chunked") return {501, "transfer-encoding: found another one; allowed: chunked"};
    if (!grammar_->chunked()) return malformed("transfer-encoding: cannot be read");
    has_body_ = true;
  } else if (lengths == 1) {
    const auto length = head_.first("content-length");
    if (length.empty() || length.find_first_not_of("0123456789") != std::string_view::npos)
      return malformed("content-length: found something else; allowed: a number");
    has_body_ = !grammar_->is_done();
  }
  return {};
}

HttpParser::Taken HttpParser::take_body(std::string_view bytes) {
  Taken taken;
  const auto too_much_between = [&] {
    taken.mistake = malformed("body: between two pieces found more than " + std::to_string(chunk_head_bytes_max) + " bytes");
    return taken;
  };
  while (!grammar_->is_done() && taken.bytes < bytes.size()) {
    const auto rest = bytes.substr(taken.bytes);
    // The grammar takes it for granted that the end is there as a whole once it has seen its size (basic_parser::parse_chunk_header).
    if (waits_ && rest.size() < last_chunk_bytes_min) return taken;
    const std::size_t before = body_.size();
    beast::error_code error;
    const std::size_t n = grammar_->put(boost::asio::buffer(rest.data(), rest.size()), error);
    taken.bytes += n;
    waits_ = error == beast::http::error::need_more;
    if (waits_) return rest.size() - n > chunk_head_bytes_max ? too_much_between() : taken;
    if (error == beast::http::error::body_limit) {
      taken.mistake = {413, "body: found a longer one; allowed: " + std::to_string(body_bytes_max_) + " bytes"};
      return taken;
    }
    if (error) {
      taken.mistake = malformed("the body is not well-formed: " + error.message());
      return taken;
    }
    if (n > body_.size() - before + chunk_head_bytes_max) return too_much_between();
    if (n == 0) return taken;
  }
  return taken;
}

std::uint64_t HttpParser::announced_length() const { return grammar_->content_length().value_or(0); }

bool HttpParser::done() const { return grammar_->is_done(); }

// ---- targets ----------------------------------------------------------------------------------------------------------------------

HttpMistake read_target(std::string_view target, HttpTarget& out) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (lower(target.substr(0, scheme.size())) != scheme) continue;
    const auto path = target.find_first_of("/?#", scheme.size());
    if (path == scheme.size()) return malformed("target: found an URL without a host");
    target = path == std::string_view::npos ? "/" : target.substr(path);
    break;
  }
  if (!target.starts_with('/') || target.find('#') != std::string_view::npos)
    return malformed("target: allowed: a path that begins with /");
  const auto mark = target.find('?');
  const std::string_view path = target.substr(0, mark);
  if (path.size() > path_bytes_max)
    return {414, "path: found " + std::to_string(path.size()) + " bytes; allowed: " + std::to_string(path_bytes_max)};
  if (!decode(path, false, out.path)) return malformed("path: a % is not followed by two hexadecimal digits");
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(out.path.begin(), out.path.end(), control)) return malformed("path: found a control character");
  std::string_view query = mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
  while (!query.empty()) {
    const auto one = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), one.size() + 1));
    if (one.empty()) continue;
    if (out.query.size() >= query_parameters_max)
      return malformed("query: found more parameters; allowed: " + std::to_string(query_parameters_max));
    const auto equals = one.find('=');
    std::string name, value;
    if (!decode(one.substr(0, equals), true, name) || (equals != std::string_view::npos && !decode(one.substr(equals + 1), true, value)))
      return malformed("query: a % is not followed by two hexadecimal digits");
    out.query.emplace_back(std::move(name), std::move(value));
  }
  return {};
}

bool leads_elsewhere(std::string_view rest) {
  while (!rest.empty()) {
    const auto end = rest.find('/');
    const auto segment = rest.substr(0, end);
    if (segment.empty() || segment == "." || segment == "..") return true;
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return false;
}

std::string_view reason_phrase(int status) {
  const auto text = beast::http::obsolete_reason(static_cast<beast::http::status>(status));
  return {text.data(), text.size()};
}

}  // namespace hindsight::operations
