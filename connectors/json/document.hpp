#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include <simdjson.h>

#include "vocabulary/limits.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::connectors {

/// A parsed JSON text; `root` and every string in it live as long as the document. Parsers go back to a small pool of the
/// thread when a document ends, so that parsing watch events does not allocate once warm.
class Document {
 public:
  /// Copies and parses `text`, which is UTF-8 then, whatever came. Errors: invalid, with what simdjson says about it, or which limit of an
  /// object as a whole it exceeds (vocabulary/limits.hpp).
  [[nodiscard]] static Result<Document> parse(std::string_view text);

  /// The same up to the depth that the API server takes, and to the size that simdjson does: for objects that are set aside, of which it is
  /// still to be told who they are, and which may still have to be stopped. Slower, for its memory is given back.
  [[nodiscard]] static Result<Document> parse_beyond_limits(std::string_view text);
  /// The same, but texts in it that are longer than `outline_text_max` are read as empty: for who only asks for little of an object that is
  /// large by one text, as most of them are. That takes a tenth of the time.
  [[nodiscard]] static Result<Document> parse_outline(std::string_view text);
  /// As they stand in JSON, where a character may take six bytes; what is shorter there may be within the limit of a text.
  static constexpr std::size_t outline_text_max = 6 * limits::text.size();

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
  static Result<Document> parse(Parser parser, std::string_view text);

  Parser parser_;
  simdjson::dom::element root_;
};

}  // namespace hindsight::connectors
