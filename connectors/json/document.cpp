#include "connectors/json/document.hpp"

#include <array>
#include <cstddef>
#include <new>
#include <string>

#include "vocabulary/limits.hpp"

namespace hindsight::connectors {
namespace {

/// A plan holds two documents at a time (a job and its Workload); more than this many are not worth keeping.
constexpr std::size_t pool_size = 4;
/// A parser takes some ten times the longest text that it has read, and keeps it.
constexpr std::size_t capacity_kept = std::size_t{1} << 20;

struct Pool {
  std::array<simdjson::dom::parser*, pool_size> parsers{};
  std::size_t count = 0;
  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() {
    for (std::size_t i = 0; i < count; ++i) delete parsers[i];
    count = pool_size + 1;  // A document that outlives the thread's pool frees its parser itself.
  }
};

thread_local Pool pool;

}  // namespace

void Document::Return::operator()(simdjson::dom::parser* parser) const noexcept {
  if (pool.count < pool_size && parser->capacity() <= capacity_kept && parser->max_depth() == limits::json_depth.size()) {
    pool.parsers[pool.count++] = parser;
  } else {
    delete parser;
  }
}

namespace {

/// Where the text of JSON ends that begins behind the quotation mark before `at`; npos: nowhere.
std::size_t end_of_text(std::string_view json, std::size_t at) {
  for (std::size_t quote = json.find('"', at); quote != std::string_view::npos; quote = json.find('"', quote + 1)) {
    std::size_t escapes = 0;
    while (quote - escapes > at && json[quote - escapes - 1] == '\\') ++escapes;
    if (escapes % 2 == 0) return quote;
  }
  return std::string_view::npos;
}

/// Without its long texts. What is no JSON stays none.
std::string without_long_texts(std::string_view json, std::size_t longest) {
  std::string out;
  std::size_t kept = 0;  // so much of it has been decided upon
  for (std::size_t quote = json.find('"'); quote != std::string_view::npos;) {
    const std::size_t end = end_of_text(json, quote + 1);
    if (end == std::string_view::npos) break;
    if (end - quote - 1 > longest) {
      out += json.substr(kept, quote + 1 - kept);
      kept = end;
    }
    quote = json.find('"', end + 1);
  }
  out += json.substr(kept);
  return out;
}

}  // namespace

Result<Document> Document::parse_outline(std::string_view text) {
  if (text.size() <= outline_text_max) return parse_beyond_limits(text);
  return parse_beyond_limits(without_long_texts(text, outline_text_max));
}

Document::Parser Document::take() {
  if (pool.count > 0 && pool.count <= pool_size) return Parser(pool.parsers[--pool.count]);
  Parser parser(new simdjson::dom::parser);
  // Whoever walks over what was read may do so by recursion.
  if (parser->allocate(0, limits::json_depth.size()) != simdjson::SUCCESS) throw std::bad_alloc();
  return parser;
}

Result<Document> Document::parse(std::string_view text) {
  if (text.size() > limits::object_text.size())
    return fail(ErrorKind::invalid,
                "found " + std::to_string(text.size()) + " bytes, allowed: at most " + std::to_string(limits::object_text.size()));
  return parse(take(), text);
}

Result<Document> Document::parse_beyond_limits(std::string_view text) {
  constexpr std::size_t deepest = 16'384;  // the API server reads no more than 10,000 levels
  Parser parser(new simdjson::dom::parser);
  if (parser->allocate(0, deepest) != simdjson::SUCCESS) throw std::bad_alloc();
  return parse(std::move(parser), text);
}

Result<Document> Document::parse(Parser parser, std::string_view text) {
  if (text.data() == nullptr) text = "";  // an empty text may stand nowhere, and the parser copies from where it stands
  simdjson::dom::element root;
  const auto error = parser->parse(text.data(), text.size()).get(root);
  if (error == simdjson::DEPTH_ERROR)
    return fail(ErrorKind::invalid, "found a deeper nesting, allowed: at most " + std::to_string(parser->max_depth()) + " levels");
  if (error != simdjson::SUCCESS) return fail(ErrorKind::invalid, std::string("not a JSON text: ") + simdjson::error_message(error));
  return Document(std::move(parser), root);
}

}  // namespace hindsight::connectors
