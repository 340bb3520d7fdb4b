// From the text of a JSONPath to its tree. The reader never goes back, and its recursion has a bound: any text gives a tree or an error.

#include <cctype>
#include <limits>

#include "cli/json_path_tree.hpp"

namespace hindsight::cli {
namespace {

using Step = JsonPathStep;
using Part = JsonPathPart;

class JsonPathReader {
 public:
  explicit JsonPathReader(std::string_view text) : text_(text) {}

  /// Parts up to the end, or within a range up to its {end}.
  Result<std::vector<Part>> parts(std::size_t depth) {
    if (depth > JsonPathLimits::nesting) return wrong("at most " + std::to_string(JsonPathLimits::nesting) + " ranges in each other");
    std::vector<Part> out;
    while (!at_end()) {
      if (peek() != '{') {
        Part literal;
        while (!at_end() && peek() != '{') literal.text += take();
        out.push_back(std::move(literal));
        continue;
      }
      ++at_;
      blanks();
      if (is_word("end")) {
        at_ += 3;
        blanks();
        if (!take_if('}')) return wrong("\"}\" behind end");
        if (depth == 0) return wrong("{end} only behind a {range ...}");
        return out;
      }
      auto part = action(depth);
      if (!part) return tl::unexpected(part.error());
      out.push_back(std::move(*part));
    }
    if (depth > 0) return wrong("{end} for each {range ...}");
    return out;
  }

  /// An expression without braces that is all of the text.
  Result<JsonPathExpression> only_expression() {
    auto out = expression(0);
    if (!out) return out;
    blanks();
    if (!at_end()) return wrong(steps_allowed);
    return out;
  }

 private:
  static constexpr const char* steps_allowed = ".FIELD, ['FIELD'], [INDEX], [FROM:TO], [*], .*, ..FIELD, [?(@.FIELD==VALUE)]";

  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  char take() { return text_[at_++]; }
  bool take_if(char c) {
    if (at_end() || peek() != c) return false;
    ++at_;
    return true;
  }
  void blanks() {
    while (!at_end() && peek() == ' ') ++at_;
  }
  [[nodiscard]] bool is_word(std::string_view word) const {
    if (!text_.substr(at_).starts_with(word)) return false;
    const char next = peek(word.size());
    return next == ' ' || next == '}';
  }
  [[nodiscard]] tl::unexpected<Error> wrong(const std::string& allowed) const {
    const std::string found = at_end() ? "its end" : "\"" + std::string(text_.substr(at_)) + "\"";
    return fail(ErrorKind::invalid, "JSONPath \"" + std::string(text_) + "\": found " + found + " at byte " + std::to_string(at_ + 1) +
                                        "; allowed: " + allowed);
  }

  /// What stands between "{" and "}", which it takes too.
  Result<Part> action(std::size_t depth) {
    Part out;
    if (peek() == '"' || peek() == '\'') {
      auto text = quoted();
      if (!text) return tl::unexpected(text.error());
      out.text = std::move(*text);
    } else if (is_word("range")) {
      at_ += 5;
      blanks();
      auto over = expression(0);
      if (!over) return tl::unexpected(over.error());
      blanks();
      if (!take_if('}')) return wrong("\"}\" behind what the range goes over");
      out.kind = Part::Kind::range;
      out.expression = std::move(*over);
      auto inner = parts(depth + 1);
      if (!inner) return tl::unexpected(inner.error());
      out.inner = std::move(*inner);
      return out;
    } else {
      auto found = expression(0);
      if (!found) return tl::unexpected(found.error());
      out.kind = Part::Kind::expression;
      out.expression = std::move(*found);
    }
    blanks();
    if (!take_if('}')) return wrong(std::string("\"}\", ") + steps_allowed);
    return out;
  }

  Result<JsonPathExpression> expression(std::size_t depth) {
    JsonPathExpression out;
    if (take_if('$')) {
      out.from_root = true;
    } else if (!take_if('@') && !at_end() && peek() != '.' && peek() != '[') {
      auto name = field();  // "metadata.name" without the dot
      if (!name) return tl::unexpected(name.error());
      out.steps.push_back(std::move(*name));
    }
    while (!at_end() && (peek() == '.' || peek() == '[')) {
      if (peek() == '[') {
        auto step = bracket(depth);
        if (!step) return tl::unexpected(step.error());
        out.steps.push_back(std::move(*step));
        continue;
      }
      ++at_;
      const bool descends = take_if('.');
      if (descends) {
        Step all;
        all.kind = Step::Kind::descend;
        out.steps.push_back(std::move(all));
      }
      if (peek() == '[') continue;
      if (!descends && out.steps.empty() && (at_end() || peek() == '}' || peek() == ' ' || peek() == ')')) return out;  // "{.}": all of it
      auto step = field();
      if (!step) return tl::unexpected(step.error());
      out.steps.push_back(std::move(*step));
    }
    return out;
  }

  static bool ends_field(char c) {
    constexpr std::string_view ends = ".,[]$@{}() =!<>\"'";
    return ends.find(c) != std::string_view::npos;
  }

  /// "name", or "*"; a backslash takes away the meaning of the character behind it, as in labels: kubernetes\.io/hostname.
  Result<Step> field() {
    Step out;
    if (peek() == '*') {
      ++at_;
      out.kind = Step::Kind::wildcard;
      return out;
    }
    while (!at_end() && !ends_field(peek())) {
      char c = take();
      if (c == '\\') {
        if (at_end()) return wrong("a character behind the backslash");
        c = take();
      }
      out.name += c;
    }
    if (out.name.empty()) return wrong(steps_allowed);
    return out;
  }

  Result<Step> bracket(std::size_t depth) {
    ++at_;  // "["
    blanks();
    if (peek() == '?') return filter(depth);
    Step out;
    std::vector<Step> parts;
    do {
      blanks();
      auto one = element();
      if (!one) return tl::unexpected(one.error());
      parts.push_back(std::move(*one));
      blanks();
    } while (take_if(','));
    if (!take_if(']')) return wrong("\"]\"");
    if (parts.size() == 1) return std::move(parts.front());
    out.kind = Step::Kind::any_of;
    out.parts = std::move(parts);
    return out;
  }

  /// One thing between brackets: 'name', *, 2, -1, 1:3, ::2.
  Result<Step> element() {
    Step out;
    if (peek() == '*') {
      ++at_;
      out.kind = Step::Kind::wildcard;
      return out;
    }
    if (peek() == '\'' || peek() == '"') {
      auto name = quoted();
      if (!name) return tl::unexpected(name.error());
      out.name = std::move(*name);
      return out;
    }
    out.kind = Step::Kind::slice;
    const auto from = number();
    if (!from) return tl::unexpected(from.error());
    out.from = *from;
    if (!take_if(':')) {
      if (!out.from) return wrong("an index, a slice FROM:TO, *, 'FIELD'");
      out.single = true;
      return out;
    }
    const auto to = number();
    if (!to) return tl::unexpected(to.error());
    out.to = *to;
    if (take_if(':')) {
      const auto stride = number();
      if (!stride) return tl::unexpected(stride.error());
      if (*stride && **stride < 1) return wrong("a step of 1 or more");
      out.stride = stride->value_or(1);
    }
    return out;
  }

  /// A whole number, if there is one.
  Result<std::optional<std::int64_t>> number() {
    const bool negative = take_if('-');
    std::int64_t value = 0;
    bool any = false;
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    for (; !at_end() && std::isdigit(static_cast<unsigned char>(peek())) != 0; any = true) {
      value = value * 10 + (take() - '0');
      if (value > most) return wrong("indexes up to " + std::to_string(most));
    }
    if (negative && !any) return wrong("digits behind \"-\"");
    if (!any) return std::optional<std::int64_t>();
    return std::optional(negative ? -value : value);
  }

  Result<std::string> quoted() {
    const char quote = take();
    std::string out;
    while (!at_end() && peek() != quote) {
      char c = take();
      if (c == '\\') {
        switch (peek()) {
          case 'n':
            c = '\n';
            break;
          case 't':
            c = '\t';
            break;
          case 'r':
            c = '\r';
            break;
          case '\\':
          case '"':
          case '\'':
            c = peek();
            break;
          default:
            return wrong("\\n, \\t, \\r, \\\\, \\\" or \\'");
        }
        ++at_;
      }
      out += c;
    }
    if (!take_if(quote)) return wrong(std::string("a quotation mark at the end of the text: ") + quote);
    return out;
  }

  // ---- filters

  Result<Step> filter(std::size_t depth) {
    if (depth >= JsonPathLimits::nesting) return wrong("at most " + std::to_string(JsonPathLimits::nesting) + " filters in each other");
    ++at_;  // "?"
    if (!take_if('(')) return wrong("\"(\" behind \"?\"");
    auto out = std::make_shared<JsonPathFilter>();
    if (auto ok = side(out->left, depth); !ok) return tl::unexpected(ok.error());
    blanks();
    out->op = comparison();
    if (out->op != JsonPathFilter::Operator::exists)
      if (auto ok = side(out->right, depth); !ok) return tl::unexpected(ok.error());
    blanks();
    if (!take_if(')') || !take_if(']')) return wrong("==, !=, <, <=, >, >= and a value, or \")]\"");
    Step step;
    step.kind = Step::Kind::filter;
    step.filter = std::move(out);
    return step;
  }

  JsonPathFilter::Operator comparison() {
    using Operator = JsonPathFilter::Operator;
    struct Sign {
      std::string_view text;
      Operator op;
    };
    static constexpr Sign signs[] = {{"==", Operator::equal},    {"!=", Operator::not_equal}, {"<=", Operator::at_most},
                                     {">=", Operator::at_least}, {"<", Operator::less},       {">", Operator::more}};
    for (const auto& sign : signs) {
      if (!text_.substr(at_).starts_with(sign.text)) continue;
      at_ += sign.text.size();
      return sign.op;
    }
    return Operator::exists;
  }

  Result<void> side(JsonPathFilter::Side& out, std::size_t depth) {
    blanks();
    if (peek() == '@' || peek() == '$' || peek() == '.') {
      auto path = expression(depth + 1);
      if (!path) return tl::unexpected(path.error());
      out.path = std::make_unique<JsonPathExpression>(std::move(*path));
      return {};
    }
    if (peek() == '\'' || peek() == '"') {
      auto text = quoted();
      if (!text) return tl::unexpected(text.error());
      out.literal = std::move(*text);
      return {};
    }
    std::string word;
    while (!at_end() && (std::isalnum(static_cast<unsigned char>(peek())) != 0 || peek() == '-' || peek() == '+' || peek() == '.'))
      word += take();
    Json literal = Json::parse(word, nullptr, false);
    if (literal.is_discarded() || literal.is_structured()) return wrong("@.FIELD, \"TEXT\", a number, true, false or null");
    out.literal = std::move(literal);
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Result<JsonPathTree> read_json_path(std::string_view text, bool expression_only) {
  if (text.size() > JsonPathLimits::text)
    return fail(ErrorKind::invalid,
                "JSONPath: found " + std::to_string(text.size()) + " bytes; allowed: up to " + std::to_string(JsonPathLimits::text));
  const bool braces = text.find('{') != std::string_view::npos;
  JsonPathTree out;
  if (!braces && (expression_only || text.starts_with('.') || text.starts_with('$') || text.starts_with('['))) {
    if (text.empty()) return fail(ErrorKind::invalid, "JSONPath: found nothing; allowed: .FIELD, as .metadata.name");
    auto expression = JsonPathReader(text).only_expression();
    if (!expression) return tl::unexpected(expression.error());
    JsonPathPart part;
    part.kind = JsonPathPart::Kind::expression;
    part.expression = std::move(*expression);
    out.parts.push_back(std::move(part));
    return out;
  }
  auto parts = JsonPathReader(text).parts(0);
  if (!parts) return tl::unexpected(parts.error());
  out.parts = std::move(*parts);
  if (expression_only && (out.parts.size() != 1 || out.parts.front().kind != JsonPathPart::Kind::expression))
    return fail(ErrorKind::invalid, "JSONPath \"" + std::string(text) + "\": found a template; allowed: one expression, as .metadata.name");
  return out;
}

}  // namespace hindsight::cli
