#pragma once

#include <memory>
#include <string_view>

#include <simdjson.h>

#include "vocabulary/result.hpp"

namespace hindsight::connectors {

/// A parsed JSON text; `root` and every string in it live as long as the document. Parsers go back to a small pool of the
/// thread when a document ends, so that parsing watch events does not allocate once warm.
class Document {
 public:
  /// Copies and parses `text`. Errors: invalid, with what simdjson says about it.
  [[nodiscard]] static Result<Document> parse(std::string_view text);

  Document(Document&&) noexcept = default;
  Document& operator=(Document&&) noexcept = default;

  [[nodiscard]] simdjson::dom::element root() const { return root_; }

 private:
  struct Return {
    void operator()(simdjson::dom::parser* parser) const noexcept;
  };
  using Parser = std::unique_ptr<simdjson::dom::parser, Return>;

  Document(Parser parser, simdjson::dom::element root) : parser_(std::move(parser)), root_(root) {}

  static Parser take();

  Parser parser_;
  simdjson::dom::element root_;
};

}  // namespace hindsight::connectors
