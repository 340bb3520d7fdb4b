#include "cli/condition.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "admission/domain/domain.hpp"
#include "cli/condition_parts.hpp"
#include "cli/listing.hpp"
#include "cli/remembered_values.hpp"
#include "projections/lookup.hpp"
#include "projections/objects.hpp"
#include "projections/record_filter.hpp"
#include "vocabulary/amount.hpp"

namespace hindsight::cli {

struct Condition::Node {
  enum class Kind { both, either, negation, event, mention, value } kind = Kind::value;
  std::vector<std::shared_ptr<const Node>> parts;
  projections::RecordFilter filter;   ///< Of an event, and of who is mentioned.
  std::optional<ObjectValue> object;  ///< mention: of a job the uid of its Workload.
  std::string comparison, operand;    ///< Empty: it is enough that it is there.
};

namespace {

constexpr std::string_view allowed_terms =
    "event KIND [of NAME], workload NAME, job NAME, queue NAME FIELD, KIND/NAME, KIND/NAME.FIELD or KIND/NAME:.path; a value may be "
    "followed by ==, !=, <, <=, >, >= and another one";

struct Token {
  std::string text;
  std::size_t at = 0;
  bool quoted = false;
};

bool is_operator(std::string_view t) { return t == "==" || t == "!=" || t == "<" || t == "<=" || t == ">" || t == ">="; }

/// Words, operators and parentheses. Brackets of a JSONPath belong to its word, with whatever stands in them.
Result<std::vector<Token>> tokens_of(std::string_view text) {
  std::vector<Token> out;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == ' ' || c == '\t' || c == '\n') {
      ++i;
      continue;
    }
    const std::size_t begin = i;
    if (c == '(' || c == ')') {
      out.push_back({std::string(1, c), begin});
      ++i;
    } else if (c == '"' || c == '\'') {
      const auto end = text.find(c, i + 1);
      if (end == std::string_view::npos)
        return fail(ErrorKind::invalid, "at character " + std::to_string(begin + 1) + ": found a quote that is not closed; allowed: " +
                                            std::string(1, c) + "text" + std::string(1, c));
      out.push_back({std::string(text.substr(i + 1, end - i - 1)), begin, true});
      i = end + 1;
    } else if (c == '=' || c == '!' || c == '<' || c == '>') {
      ++i;
      if (i < text.size() && text[i] == '=') ++i;
      std::string op(text.substr(begin, i - begin));
      if (op == "=") op = "==";
      if (!is_operator(op))
        return fail(ErrorKind::invalid,
                    "at character " + std::to_string(begin + 1) + ": found \"" + op + "\"; allowed: ==, !=, <, <=, >, >=");
      out.push_back({op, begin});
    } else {
      int depth = 0;
      while (i < text.size()) {
        const char x = text[i];
        if (x == '[') ++depth;
        if (x == ']' && depth > 0) --depth;
        if (depth == 0 && (x == ' ' || x == '\t' || x == '\n' || x == '(' || x == ')' || x == '=' || x == '!' || x == '<' || x == '>'))
          break;
        ++i;
      }
      out.push_back({std::string(text.substr(begin, i - begin)), begin});
    }
  }
  return out;
}

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  Result<std::shared_ptr<const Condition::Node>> all() {
    auto out = either(0);
    if (!out) return out;
    if (next_ < tokens_.size()) return wrong("allowed here: and, or, the end");
    return out;
  }

 private:
  using Node = Condition::Node;
  using Parsed = Result<std::shared_ptr<const Node>>;

  [[nodiscard]] bool is(std::string_view word) const {
    return next_ < tokens_.size() && !tokens_[next_].quoted && tokens_[next_].text == word;
  }

  [[nodiscard]] tl::unexpected<Error> wrong(const std::string& allowed) const {
    if (next_ >= tokens_.size()) return fail(ErrorKind::invalid, "the condition ends too early; " + allowed);
    return fail(ErrorKind::invalid,
                "at character " + std::to_string(tokens_[next_].at + 1) + ": found \"" + tokens_[next_].text + "\"; " + allowed);
  }

  Parsed joined(Node::Kind kind, std::string_view word, int depth) {
    Node out;
    out.kind = kind;
    for (;;) {
      auto part = kind == Node::Kind::either ? joined(Node::Kind::both, "and", depth) : negation(depth);
      if (!part) return part;
      out.parts.push_back(std::move(*part));
      if (!is(word)) break;
      ++next_;
    }
    if (out.parts.size() == 1) return out.parts.front();
    return std::make_shared<const Node>(std::move(out));
  }

  Parsed either(int depth) { return joined(Node::Kind::either, "or", depth); }

  Parsed negation(int depth) {
    if (depth > Condition::nesting_max)
      return fail(ErrorKind::invalid, "parentheses and not are nested more than " + std::to_string(Condition::nesting_max) + " deep");
    if (is("not")) {
      ++next_;
      auto part = negation(depth + 1);
      if (!part) return part;
      Node out;
      out.kind = Node::Kind::negation;
      out.parts.push_back(std::move(*part));
      return std::make_shared<const Node>(std::move(out));
    }
    if (is("(")) {
      ++next_;
      auto part = either(depth + 1);
      if (!part) return part;
      if (!is(")")) return wrong("allowed here: )");
      ++next_;
      return part;
    }
    return term();
  }

  Parsed term() {
    if (next_ >= tokens_.size() || is(")") || is_operator(tokens_[next_].text)) return wrong("allowed here: " + std::string(allowed_terms));
    Node out;
    if (is("event")) {
      ++next_;
      out.kind = Node::Kind::event;
      const auto known = projections::all_kinds();
      if (next_ >= tokens_.size() || std::ranges::find(known, tokens_[next_].text) == known.end()) {
        std::string names;
        for (const auto k : known) names += (names.empty() ? "" : ", ") + std::string(k);
        return wrong("allowed behind event: " + names);
      }
      out.filter.kinds.push_back(tokens_[next_++].text);
      if (is("of")) {
        ++next_;
        if (next_ >= tokens_.size() || tokens_[next_].text.empty()) return wrong("allowed behind of: NAME or NAMESPACE/NAME");
        out.filter.objects.push_back(tokens_[next_++].text);
      }
      return std::make_shared<const Node>(std::move(out));
    }
    if (is("workload") || is("job")) return mention();
    const bool in_queue = is("queue");
    auto object = in_queue ? queue_field() : ObjectValue::parse(tokens_[next_].text);
    if (!object) {
      if (in_queue) return tl::unexpected(object.error());
      return fail(object.error().kind, "at character " + std::to_string(tokens_[next_].at + 1) + ": " + object.error().message);
    }
    ++next_;
    out.object = std::move(*object);
    if (next_ < tokens_.size() && !tokens_[next_].quoted && is_operator(tokens_[next_].text)) {
      out.comparison = tokens_[next_++].text;
      if (next_ >= tokens_.size() || (!tokens_[next_].quoted && (is_operator(tokens_[next_].text) || is("(") || is(")"))))
        return wrong("allowed behind " + out.comparison + ": a value");
      out.operand = tokens_[next_++].text;
    }
    return std::make_shared<const Node>(std::move(out));
  }

  /// Is there a name here, and no operator?
  [[nodiscard]] bool names() const {
    return next_ < tokens_.size() && !tokens_[next_].text.empty() &&
           (tokens_[next_].quoted || (!is_operator(tokens_[next_].text) && !is("(") && !is(")")));
  }

  /// "workload team-a/x", "job team-a/x": the record is about it.
  Parsed mention() {
    Node out;
    out.kind = Node::Kind::mention;
    const std::string word = tokens_[next_++].text;
    if (!names()) return wrong("allowed behind " + word + ": NAME or NAMESPACE/NAME");
    const auto target = projections::parse_target(word == "job" ? "job/" + tokens_[next_].text : tokens_[next_].text, "default");
    if (!target) return fail(target.error().kind, "at character " + std::to_string(tokens_[next_].at + 1) + ": " + target.error().message);
    ++next_;
    const std::string name = target->namespace_ + "/" + target->name;
    out.filter.objects.push_back(name);
    if (!target->is_workload()) {
      auto uid = ObjectValue::parse(target->kind + "/" + name + ":.metadata.uid");
      if (!uid) return tl::unexpected(uid.error());
      out.object = std::move(*uid);
    }
    return std::make_shared<const Node>(std::move(out));
  }

  /// "queue team-a pending" for "clusterqueue/team-a.pending".
  Result<ObjectValue> queue_field() {
    const auto place = [&] { return "at character " + std::to_string(next_ < tokens_.size() ? tokens_[next_].at + 1 : 0) + ": "; };
    const KnownKind& kind = *find_kind("clusterqueue");
    ++next_;
    if (!names()) return wrong("allowed behind queue: NAME FIELD");
    const std::string name = "clusterqueue/" + tokens_[next_++].text;
    if (!names()) return wrong("allowed behind queue NAME: " + short_fields_of(kind));
    auto out = ObjectValue::parse(name + "." + tokens_[next_].text);
    if (!out) return fail(out.error().kind, place() + out.error().message);
    if (!out->parts()->field) return wrong("allowed behind queue NAME: " + short_fields_of(kind));
    return out;
  }

  std::vector<Token> tokens_;
  std::size_t next_ = 0;
};

/// A number, or a quantity of any resource, in units of 10⁻⁹. False: it is none.
bool read_number(std::string_view text, NanoAmount& out) {
  const bool negative = !text.empty() && text.front() == '-';
  const auto parsed = parse_nano_amount(negative ? text.substr(1) : text);
  if (parsed) out = negative ? -*parsed : *parsed;
  return parsed.has_value();
}

std::string plain(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Less than 0, 0, more than 0; nothing: they are of different types, and neither is less.
std::optional<int> order_of(const Json& value, const std::string& operand) {
  const std::string text = plain(value);
  NanoAmount a = 0, b = 0;
  const bool scalar = value.is_number() || value.is_string();
  const bool number = scalar && read_number(text, a), other_number = read_number(operand, b);
  if (number && other_number) return a < b ? -1 : a > b ? 1 : 0;
  if (!scalar || number != other_number) return std::nullopt;
  return text < operand ? -1 : text > operand ? 1 : 0;
}

bool is_order(const std::string& op) { return op == "<" || op == "<=" || op == ">" || op == ">="; }

bool compares(const Json& value, const std::string& op, const std::string& operand) {
  const auto found = order_of(value, operand);
  if (!found && is_order(op)) return false;
  const int order = found ? *found : plain(value) == operand ? 0 : 1;
  if (op == "==") return order == 0;
  if (op == "!=") return order != 0;
  if (op == "<") return order < 0;
  if (op == "<=") return order <= 0;
  if (op == ">") return order > 0;
  return order >= 0;
}

/// `asked` holds them where they are not remembered.
const std::vector<Json>& values_now(const ObjectValue& value, const admission::StateView& state, RememberedValues* remembered,
                                    std::vector<Json>& asked) {
  if (remembered != nullptr) return remembered->of(value, state);
  return asked = value.in(state);
}

bool node_holds(const Condition::Node& n, const admission::StateView& state, const RecordView& record, RememberedValues* remembered) {
  using Kind = Condition::Node::Kind;
  std::vector<Json> asked;
  const auto part_holds = [&](const auto& part) { return node_holds(*part, state, record, remembered); };
  switch (n.kind) {
    case Kind::both:
      return std::ranges::all_of(n.parts, part_holds);
    case Kind::either:
      return std::ranges::any_of(n.parts, part_holds);
    case Kind::negation:
      return !part_holds(n.parts.front());
    case Kind::event:
      return n.filter.matches(record);
    case Kind::mention: {
      if (n.filter.matches(record)) return true;
      if (!n.object) return false;
      projections::RecordFilter workload;
      for (const Json& uid : values_now(*n.object, state, remembered, asked)) workload.objects.push_back(uid.get<std::string>());
      return !workload.objects.empty() && workload.matches(record);
    }
    case Kind::value:
      break;
  }
  const auto& values = values_now(*n.object, state, remembered, asked);
  if (n.comparison.empty()) return !values.empty();
  return std::ranges::any_of(values, [&](const Json& v) { return compares(v, n.comparison, n.operand); });
}

void add_incomparable(const Condition::Node& n, const admission::StateView& state, std::vector<std::string>& out) {
  for (const auto& part : n.parts) add_incomparable(*part, state, out);
  if (n.kind != Condition::Node::Kind::value || !is_order(n.comparison)) return;
  for (const Json& value : n.object->in(state))
    if (!order_of(value, n.operand)) {
      const std::string shown = plain(value);
      out.push_back(n.object->text() + " is " + (value.is_structured() ? std::string(value.is_array() ? "a list" : "an object") : shown) +
                    ", which is neither less nor more than " + n.operand);
    }
}

void add_values(const Condition::Node& n, const admission::StateView& state, std::vector<std::pair<std::string, std::string>>& out) {
  for (const auto& part : n.parts) add_values(*part, state, out);
  if (n.kind == Condition::Node::Kind::value && n.object) out.emplace_back(n.object->text(), n.object->text_in(state));
}

/// The one object, as cheaply as its kind allows.
std::optional<Json> find_object(const ObjectValue::Parts& p, const admission::StateView& state, const admission::WorkloadParent*& parent) {
  parent = nullptr;
  if (p.kind->plural == "workloads") {
    const auto at = projections::find_workload(state, target_of(p.name, "default"));
    if (at) parent = at->parent;
    return at ? std::optional(projections::workload_object(state, *at)) : std::nullopt;
  }
  if (p.kind->plural == "clusterqueues") {
    const auto* config = state.domain().catalog()->queue(Symbol(p.name.name));
    return config == nullptr ? std::nullopt : std::optional(projections::cluster_queue_object(state, *config));
  }
  projections::Filter filter;
  filter.names = {p.name.name};
  if (p.kind->namespaced) filter.namespace_ = p.name.namespace_.value_or("default");
  const auto listing = list_objects(state, *p.kind, filter, {.table = false});
  return listing.objects.empty() ? std::nullopt : std::optional(listing.objects.front());
}

}  // namespace

Result<ObjectValue> ObjectValue::parse(std::string_view text) {
  // Names of objects have no colon; a path may have one behind its first bracket.
  const auto colon = text.find(':');
  const std::string name(text.substr(0, colon));
  if (name.find('/') == std::string::npos)
    return fail(ErrorKind::invalid, "found \"" + std::string(text) + "\"; allowed: " + std::string(allowed_terms));
  auto field = colon == std::string_view::npos ? read_short_value(name) : std::nullopt;
  const auto wanted = read_one_wanted({field ? field->object : name});
  if (!wanted) return tl::unexpected(wanted.error());
  if (wanted->kind->plural == "events")
    return fail(ErrorKind::invalid, "found \"" + name + "\"; events stand in records: allowed: event KIND [of NAME]");
  Parts parts{wanted->kind, wanted->names.front(), std::nullopt, std::move(field)};
  if (colon != std::string_view::npos) {
    auto path = JsonPath::parse_expression(text.substr(colon + 1));
    if (!path) return fail(path.error().kind, "in \"" + std::string(text) + "\": " + path.error().message);
    parts.path = std::move(*path);
  }
  ObjectValue out;
  out.text_ = text;
  out.parts_ = std::make_shared<const Parts>(std::move(parts));
  return out;
}

std::vector<Json> ObjectValue::Parts::in(const admission::StateView& state, const admission::WorkloadParent*& parent) const {
  const auto object = find_object(*this, state, parent);
  if (!object) return {};
  if (field) return field->in(*object);
  if (!path) return {*object};
  std::vector<Json> out;
  if (const auto values = path->values(*object))
    for (const Json* v : *values) out.push_back(*v);
  return out;
}

std::vector<Json> ObjectValue::in(const admission::StateView& state) const {
  const admission::WorkloadParent* parent = nullptr;
  return parts_->in(state, parent);
}

std::string ObjectValue::text_of(const std::vector<Json>& values) {
  std::string out;
  for (const Json& v : values) out += (out.empty() ? "" : ", ") + value_text(v);
  return out.empty() ? std::string(nothing_there) : out;
}

std::string ObjectValue::text_in(const admission::StateView& state) const { return text_of(in(state)); }

Result<Condition> Condition::parse(std::string_view text) {
  if (text.size() > text_max)
    return fail(ErrorKind::invalid,
                "found a condition of " + std::to_string(text.size()) + " bytes; allowed: at most " + std::to_string(text_max));
  auto tokens = tokens_of(text);
  if (!tokens) return tl::unexpected(tokens.error());
  auto root = Parser(std::move(*tokens)).all();
  if (!root) return tl::unexpected(root.error());
  return Condition(std::move(*root));
}

bool Condition::holds(const admission::StateView& state, const RecordView& record, RememberedValues* remembered) const {
  return node_holds(*root_, state, record, remembered);
}

std::vector<std::string> Condition::incomparable(const admission::StateView& state) const {
  std::vector<std::string> out;
  add_incomparable(*root_, state, out);
  return out;
}

std::vector<std::pair<std::string, std::string>> Condition::values(const admission::StateView& state) const {
  std::vector<std::pair<std::string, std::string>> out;
  add_values(*root_, state, out);
  return out;
}

}  // namespace hindsight::cli
