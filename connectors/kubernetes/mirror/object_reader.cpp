#include "connectors/kubernetes/mirror/object_reader.hpp"

#include <simdjson.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "connectors/kubernetes/text_of.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::connectors::kubernetes {
namespace {

namespace ondemand = simdjson::ondemand;
using simdjson::error_code;

static_assert(ObjectReader::padding >= simdjson::SIMDJSON_PADDING);

/// A longer Status is only quoted: nobody needs one, and reading it would take its time.
constexpr std::size_t status_bytes_max = std::size_t{256} << 10U;
/// A reader keeps room for so long a text.
constexpr std::size_t read_bytes_kept = std::size_t{1} << 20U;
/// The characters of a longer text that is quoted in an error.
constexpr std::size_t quoted_chars_max = 200;

std::string_view without_space_at_end(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

/// Whether `part` is the last thing in `whole`.
bool is_end(std::string_view part, std::string_view whole) {
  whole = without_space_at_end(whole);
  return part.data() + part.size() == whole.data() + whole.size();
}

/// The inside of a JSON string without escapes, as all names, uids and versions of the API are. INCORRECT_TYPE for others.
error_code plain_string(ondemand::value value, std::string_view& out) {
  std::string_view token = without_space_at_end(value.raw_json_token());
  if (token.size() < 2 || token.front() != '"' || token.back() != '"') return error_code::INCORRECT_TYPE;
  token = token.substr(1, token.size() - 2);
  if (token.find('\\') != std::string_view::npos) return error_code::INCORRECT_TYPE;
  out = token;
  return error_code::SUCCESS;
}

/// Extends the view of a field by the comma after it, or, for the last one, by the comma before it.
std::string_view with_comma(const char* begin, const char* end, std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  const char* const text_end = text.data() + text.size();
  const char* after = end;
  while (after < text_end && is_space(*after)) ++after;
  if (after < text_end && *after == ',') return {begin, static_cast<std::size_t>(after + 1 - begin)};
  const char* before = begin;
  while (before > text.data() && is_space(before[-1])) --before;
  if (before > text.data() && before[-1] == ',') return {before - 1, static_cast<std::size_t>(end - before + 1)};
  return {begin, static_cast<std::size_t>(end - begin)};
}

error_code read_metadata(ondemand::object metadata, ObjectView& out) {
  for (auto item : metadata) {
    ondemand::field field;
    if (const error_code error = std::move(item).get(field)) return error;
    const char* const key_begin = field.key().raw() - 1;
    std::string_view key;
    if (const error_code error = field.unescaped_key().get(key)) return error;
    std::string_view* target = key == "name"              ? &out.name
                               : key == "namespace"       ? &out.namespace_
                               : key == "uid"             ? &out.uid
                               : key == "resourceVersion" ? &out.resource_version
                                                          : nullptr;
    if (target != nullptr) {
      if (const error_code error = plain_string(field.value(), *target)) return error;
    } else if (key == "managedFields") {
      ondemand::array list;
      if (field.value().get(list) != error_code::SUCCESS) continue;  // null
      std::string_view raw;
      if (const error_code error = list.raw_json().get(raw)) return error;
      raw = without_space_at_end(raw);
      out.managed_fields = with_comma(key_begin, raw.data() + raw.size(), out.text);
    }
  }
  return error_code::SUCCESS;
}

error_code read_view(ondemand::object object, ObjectView& out) {
  if (const error_code error = object.raw_json().get(out.text)) return error;
  out.text = without_space_at_end(out.text);
  // On damaged text the skipping above may end anywhere.
  if (!out.text.starts_with('{') || !out.text.ends_with('}')) return error_code::TAPE_ERROR;
  if (const error_code error = object.reset().error()) return error;
  ondemand::object metadata;
  if (const error_code error = object.find_field_unordered("metadata").get(metadata)) return error;
  return read_metadata(metadata, out);
}

error_code read_watch_status(ondemand::object status, WatchLine& out) {
  for (auto item : status) {
    ondemand::field field;
    if (const error_code error = std::move(item).get(field)) return error;
    std::string_view key;
    if (const error_code error = field.unescaped_key().get(key)) return error;
    if (key == "code") {
      std::int64_t code = 0;
      if (const error_code error = field.value().get(code)) return error;
      out.status_code = code >= 0 && code < 1000 ? static_cast<int>(code) : 0;
    } else if (key == "message") {
      std::string_view message;
      if (const error_code error = field.value().get(message)) return error;
      out.status_message = message;
    }
  }
  return error_code::SUCCESS;
}

struct TypeName {
  std::string_view name;
  WatchLine::Type type;
};
constexpr TypeName type_names[] = {{"ADDED", WatchLine::Type::added},
                                   {"MODIFIED", WatchLine::Type::modified},
                                   {"DELETED", WatchLine::Type::deleted},
                                   {"BOOKMARK", WatchLine::Type::bookmark},
                                   {"ERROR", WatchLine::Type::error}};

tl::unexpected<Error> bad_json(const char* what, error_code error, std::string_view text) {
  const std::string start = valid_utf8(cut_text(text, quoted_chars_max));
  return fail(ErrorKind::corrupt,
              std::string(what) + ": " + simdjson::error_message(error) + " in: " + start + (text.size() > quoted_chars_max ? "..." : ""));
}

}  // namespace

struct ObjectReader::Parser {
  ondemand::parser parser;

  std::string repaired;

  /// What is no UTF-8 is replaced, or one such byte would keep a whole kind from being read; `text` is what is read then.
  error_code open(std::string_view& text, ondemand::document& document) {
    const auto error = iterate(text, document);
    if (error != error_code::UTF8_ERROR) return error;
    repaired = valid_utf8(text);
    pad(repaired);
    text = repaired;
    return iterate(text, document);
  }
  error_code iterate(std::string_view text, ondemand::document& document) {
    return parser.iterate(simdjson::padded_string_view(text, text.size() + padding)).get(document);
  }
};

ObjectReader::ObjectReader() : parser_(std::make_unique<Parser>()) {}
ObjectReader::~ObjectReader() = default;

void ObjectReader::rest() {
  if (parser_->parser.capacity() > read_bytes_kept || parser_->repaired.capacity() > read_bytes_kept) parser_ = std::make_unique<Parser>();
}

void copy_without_managed_fields(const ObjectView& object, std::string& out) {
  if (object.managed_fields.empty()) {
    out.assign(object.text);
    return;
  }
  const auto begin = static_cast<std::size_t>(object.managed_fields.data() - object.text.data());
  out.clear();
  out.reserve(object.text.size() - object.managed_fields.size());
  out.append(object.text.substr(0, begin));
  out.append(object.text.substr(begin + object.managed_fields.size()));
}

Result<ObjectView> ObjectReader::read_object(std::string_view padded_text) {
  ObjectView out;
  ondemand::document document;
  ondemand::object object;
  error_code error = parser_->open(padded_text, document);
  if (!error) error = document.get_object().get(object);
  if (!error) error = read_view(object, out);
  if (error) return bad_json("object", error, padded_text);
  return out;
}

Result<WatchLine> ObjectReader::read_watch_line(std::string_view padded_text) {
  WatchLine out;
  ondemand::document document;
  ondemand::object line;
  error_code error = parser_->open(padded_text, document);
  if (!error) error = document.get_object().get(line);
  std::string_view type;
  if (!error) error = line.find_field_unordered("type").get(type);
  if (error) return bad_json("watch event", error, padded_text);
  const TypeName* known = nullptr;
  for (const TypeName& candidate : type_names) {
    if (candidate.name == type) known = &candidate;
  }
  if (known == nullptr) {
    return fail(ErrorKind::corrupt, "watch event: type: found \"" + std::string(cut_text(type, quoted_chars_max)) +
                                        "\", allowed: ADDED, MODIFIED, DELETED, BOOKMARK, ERROR");
  }
  out.type = known->type;
  ondemand::object object;
  error = line.find_field_unordered("object").get(object);
  if (!error) error = out.type == WatchLine::Type::error ? read_watch_status(object, out) : read_view(object, out.object);
  // Nothing but spaces after the object: the brace that closes the line is missing.
  const bool is_open = !error && out.type != WatchLine::Type::error && is_end(out.object.text, padded_text);
  if (is_open) error = error_code::INCOMPLETE_ARRAY_OR_OBJECT;
  if (error) return bad_json("watch event", error, padded_text);
  return out;
}

Result<ListPage> ObjectReader::read_list_page(std::string_view padded_text) {
  ListPage out;
  ondemand::document document;
  ondemand::object list;
  error_code error = parser_->open(padded_text, document);
  if (!error) error = document.get_object().get(list);
  if (error) return bad_json("list", error, padded_text);
  bool has_metadata = false;
  for (auto item : list) {
    ondemand::field field;
    if ((error = std::move(item).get(field))) break;
    std::string_view key;
    if ((error = field.unescaped_key().get(key))) break;
    if (key == "metadata") {
      ondemand::object metadata;
      if ((error = field.value().get(metadata))) break;
      has_metadata = true;
      for (auto entry : metadata) {
        ondemand::field part;
        if ((error = std::move(entry).get(part))) break;
        std::string_view name;
        if ((error = part.unescaped_key().get(name))) break;
        if (name == "resourceVersion") error = plain_string(part.value(), out.resource_version);
        if (name == "continue") error = plain_string(part.value(), out.continue_token);
        if (error) break;
      }
    } else if (key == "items") {
      ondemand::array items;
      // Go writes null for an empty list.
      if (field.value().get(items) != error_code::SUCCESS) continue;
      for (auto element : items) {
        ondemand::object object;
        ObjectView view;
        if ((error = element.get_object().get(object))) break;
        if ((error = read_view(object, view))) break;
        out.items.push_back(view);
      }
    }
    if (error) break;
  }
  if (!error && !has_metadata) error = error_code::NO_SUCH_FIELD;
  if (error) return bad_json("list", error, padded_text);
  return out;
}

StatusText read_status(std::string_view body) {
  StatusText out;
  const auto json = body.size() > status_bytes_max ? nlohmann::json() : nlohmann::json::parse(body, nullptr, false);
  if (json.is_object() && json.value("kind", nlohmann::json()) == "Status") {
    if (const auto code = json.find("code"); code != json.end() && code->is_number_integer()) out.code = code->get<int>();
    out.reason = text_of(json, "reason");
    out.message = text_of(json, "message");
    if (const auto details = json.find("details"); details != json.end()) out.object_name = text_of(*details, "name");
    return out;
  }
  out.message = valid_utf8(cut_text(body, quoted_chars_max));
  return out;
}

}  // namespace hindsight::connectors::kubernetes
