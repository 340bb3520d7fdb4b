#include "connectors/json/document.hpp"

#include <array>
#include <cstddef>
#include <string>

namespace hindsight::connectors {
namespace {

/// A plan holds two documents at a time (a job and its Workload); more than this many are not worth keeping.
constexpr std::size_t pool_size = 4;

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
  if (pool.count < pool_size) {
    pool.parsers[pool.count++] = parser;
  } else {
    delete parser;
  }
}

Document::Parser Document::take() {
  if (pool.count > 0 && pool.count <= pool_size) return Parser(pool.parsers[--pool.count]);
  return Parser(new simdjson::dom::parser);
}

Result<Document> Document::parse(std::string_view text) {
  Parser parser = take();
  simdjson::dom::element root;
  if (const auto error = parser->parse(text.data(), text.size()).get(root); error != simdjson::SUCCESS) {
    return fail(ErrorKind::invalid, std::string("not a JSON text: ") + simdjson::error_message(error));
  }
  return Document(std::move(parser), root);
}

}  // namespace hindsight::connectors
