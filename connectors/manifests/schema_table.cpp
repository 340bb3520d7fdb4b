#include <algorithm>
#include <stdexcept>
#include <utility>

#include "connectors/manifests/schema.hpp"

namespace hindsight::connectors::manifests {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto at = text.find(separator);
    parts.push_back(trimmed(text.substr(0, at)));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

struct Line {
  std::size_t depth = 0;
  std::string_view names;               ///< "a!, b"
  std::vector<std::string_view> words;  ///< Type and attributes.
};

}  // namespace

/// Reads the table language into nodes; used once, while a SchemaTable is made.
class SchemaReader {
 public:
  explicit SchemaReader(SchemaTable& table) : table_(table) {}

  void read(std::string_view text) {
    lines_.clear();
    for (auto line : split_lines(text)) {
      line = line.substr(0, line.find('#'));
      if (!trimmed(line).empty()) lines_.push_back(parse(line));
    }
    for (std::size_t at = 0; at < lines_.size();) {
      const Line& head = lines_[at];
      if (head.depth != 0 || head.names.empty() || head.names[0] != '@') bug(head.names, "a named type must start with @ at the margin");
      Schema* schema = named(head.names.substr(1));
      if (defined_[schema]) bug(head.names, "is defined twice");
      defined_[schema] = true;
      ++at;
      read_fields(*schema, at, 1);
    }
  }

  void finish() {
    for (const auto& [name, schema] : table_.named_)
      if (!defined_[schema]) bug(name, "is used but not defined");
    // Types may use each other in any order: repeat until nothing changes.
    for (bool changed = true; changed;) {
      changed = false;
      for (auto& node : table_.nodes_) {
        if (node.holds_defaults) continue;
        const auto has = [](const Schema* s) { return s != nullptr && (s->default_value || s->holds_defaults); };
        if (has(node.element) || std::any_of(node.fields.begin(), node.fields.end(), [&](const Field& f) { return has(f.schema); })) {
          node.holds_defaults = changed = true;
        }
      }
    }
  }

 private:
  [[noreturn]] static void bug(std::string_view where, std::string_view what) {
    throw std::logic_error("schema table: " + std::string(where) + ": " + std::string(what));
  }

  static std::vector<std::string_view> split_lines(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
      const auto end = text.find('\n');
      lines.push_back(text.substr(0, end));
      if (end == std::string_view::npos) break;
      text.remove_prefix(end + 1);
    }
    return lines;
  }

  static Line parse(std::string_view text) {
    Line line;
    std::size_t spaces = text.find_first_not_of(' ');
    if (spaces % 2 != 0) bug(text, "indentation is two spaces a level");
    line.depth = spaces / 2;
    text.remove_prefix(spaces);
    // The names end at the first word that follows no comma.
    std::size_t end = 0;
    for (;;) {
      const auto space = text.find(' ', end);
      if (space == std::string_view::npos) {
        end = text.size();
        break;
      }
      end = space;
      if (text[space - 1] != ',') break;
      end = text.find_first_not_of(' ', space);
    }
    line.names = trimmed(text.substr(0, end));
    for (const auto word : split(text.substr(end), ' '))
      if (!word.empty()) line.words.push_back(word);
    return line;
  }

  Schema* fresh() { return &table_.nodes_.emplace_back(); }

  Schema* named(std::string_view name) {
    auto [it, added] = table_.named_.try_emplace(std::string(name), nullptr);
    if (added) it->second = fresh();
    return it->second;
  }

  void read_fields(Schema& object, std::size_t& at, std::size_t depth) {
    while (at < lines_.size() && lines_[at].depth >= depth) {
      const Line line = lines_[at];
      if (line.depth != depth) bug(line.names, "is indented too far");
      ++at;
      const auto names = split(line.names, ',');
      const Schema* schema = read_type(line, at, depth);
      for (auto name : names) {
        const bool required = !name.empty() && name.back() == '!';
        if (required) name.remove_suffix(1);
        object.fields.push_back({std::string(name), schema, required});
      }
    }
    std::sort(object.fields.begin(), object.fields.end(), [](const Field& a, const Field& b) { return a.name < b.name; });
    const auto twice =
        std::adjacent_find(object.fields.begin(), object.fields.end(), [](const Field& a, const Field& b) { return a.name == b.name; });
    if (twice != object.fields.end()) bug(twice->name, "stands twice in one object");
  }

  const Schema* read_type(const Line& line, std::size_t& at, std::size_t depth) {
    std::string_view type = "object";
    std::size_t attribute = 0;
    if (!line.words.empty() && line.words[0].find('=') == std::string_view::npos)
      type = line.words[attribute++];
    else if (!line.words.empty() && line.words[0].starts_with("enum="))
      type = "string";
    if (type[0] == '@' && attribute == line.words.size()) return named(type.substr(1));
    Schema* schema = fresh();
    if (type[0] == '@') {
      bug(line.names, "a named type takes no attributes here");
    }
    set_type(*schema, type, line);
    for (; attribute < line.words.size(); ++attribute) set_attribute(*schema, line.words[attribute], line);
    const bool has_children = at < lines_.size() && lines_[at].depth > depth;
    if (has_children) {
      if (schema->type == FieldType::list && schema->element == nullptr) {
        Schema* element = fresh();
        schema->element = element;
        read_fields(*element, at, depth + 1);
      } else if (schema->type == FieldType::object) {
        read_fields(*schema, at, depth + 1);
      } else {
        bug(line.names, "cannot have fields");
      }
    }
    if ((schema->type == FieldType::list || schema->type == FieldType::map) && schema->element == nullptr)
      bug(line.names, "has no elements");
    return schema;
  }

  const Schema* leaf(std::string_view type, const Line& line) {
    if (type[0] == '@') return named(type.substr(1));
    Schema* schema = fresh();
    set_type(*schema, type, line);
    return schema;
  }

  void set_type(Schema& schema, std::string_view type, const Line& line) {
    static const std::map<std::string_view, std::pair<FieldType, Grammar>> plain{
        {"object", {FieldType::object, Grammar::none}},
        {"string", {FieldType::string, Grammar::none}},
        {"dns", {FieldType::string, Grammar::dns_subdomain}},
        {"label", {FieldType::string, Grammar::dns_label}},
        {"qualified", {FieldType::string, Grammar::qualified_name}},
        {"reason", {FieldType::string, Grammar::condition_reason}},
        {"int32", {FieldType::int32, Grammar::none}},
        {"int64", {FieldType::int64, Grammar::none}},
        {"number", {FieldType::number, Grammar::none}},
        {"bool", {FieldType::boolean, Grammar::none}},
        {"quantity", {FieldType::quantity, Grammar::none}},
        {"intOrString", {FieldType::int_or_string, Grammar::none}},
        {"time", {FieldType::time, Grammar::none}},
        {"any", {FieldType::any, Grammar::none}}};
    if (const auto it = plain.find(type); it != plain.end()) {
      schema.type = it->second.first;
      schema.grammar = it->second.second;
      return;
    }
    std::string_view rest = type;
    const auto take = [&](std::string_view word) {
      if (!rest.starts_with(word)) return false;
      rest.remove_prefix(word.size());
      return true;
    };
    if (take("list"))
      schema.type = FieldType::list;
    else if (take("set"))
      schema.type = FieldType::list, schema.set = true;
    else if (take("map"))
      schema.type = FieldType::map;
    else
      bug(line.names, "unknown type " + std::string(type));
    if (!rest.empty() && rest[0] == '(') {
      const auto close = rest.find(')');
      for (const auto key : split(rest.substr(1, close - 1), ',')) schema.keys.emplace_back(key);
      rest.remove_prefix(close + 1);
    }
    if (!rest.empty() && rest[0] == '<') schema.element = leaf(rest.substr(1, rest.size() - 2), line);
  }

  void set_attribute(Schema& schema, std::string_view text, const Line& line) {
    const auto equals = text.find('=');
    const auto name = text.substr(0, equals);
    const std::string value(text.substr(equals + 1));
    if (equals == std::string_view::npos) bug(line.names, "attribute without =: " + std::string(text));
    if (name == "enum") {
      for (const auto word : split(value, '|')) schema.allowed.emplace_back(word);
    } else if (name == "min") {
      schema.min = std::stoll(value);
    } else if (name == "max") {
      schema.max = std::stoll(value);
    } else if (name == "default") {
      schema.default_value = Json::parse(value);
    } else {
      bug(line.names, "unknown attribute " + std::string(name));
    }
  }

  SchemaTable& table_;
  std::vector<Line> lines_;
  std::map<const Schema*, bool> defined_;
};

SchemaTable::SchemaTable(const std::vector<std::string_view>& texts) {
  SchemaReader reader(*this);
  for (const auto text : texts) reader.read(text);
  reader.finish();
}

const Schema& SchemaTable::at(std::string_view name) const {
  const auto it = named_.find(name);
  if (it == named_.end()) throw std::logic_error("schema table: no type " + std::string(name));
  return *it->second;
}

bool SchemaTable::contains(std::string_view name) const { return named_.find(name) != named_.end(); }

}  // namespace hindsight::connectors::manifests
