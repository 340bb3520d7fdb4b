#include "connectors/manifests/yaml_reader.hpp"

#include <charconv>
#include <istream>
#include <map>
#include <optional>
#include <stdexcept>
#include <streambuf>
#include <utility>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "connectors/manifests/json_text.hpp"

namespace hindsight::connectors::manifests {
namespace {

/// What ends the reading of a text; never leaves this file.
struct Refusal : std::runtime_error {
  Refusal(int at, const std::string& what) : std::runtime_error(what), line(at) {}
  int line;
};

int line_at(const YAML::Mark& mark) { return mark.is_null() ? 1 : mark.line + 1; }

/// A stream over memory that is not copied.
class MemoryBuffer : public std::streambuf {
 public:
  explicit MemoryBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // Only ever read: no put area is set.
    setg(begin, begin, begin + text.size());
  }
};

bool all_of(std::string_view text, std::string_view allowed) {
  return !text.empty() && text.find_first_not_of(allowed) == std::string_view::npos;
}

std::optional<Json> integer(std::string_view digits, bool negative, int base) {
  std::uint64_t magnitude = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, base);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (!negative) {
    if (magnitude <= static_cast<std::uint64_t>(INT64_MAX)) return Json(static_cast<std::int64_t>(magnitude));
    return Json(magnitude);
  }
  if (magnitude > static_cast<std::uint64_t>(INT64_MAX) + 1) return std::nullopt;
  return Json(static_cast<std::int64_t>(0 - magnitude));
}

std::optional<Json> number(std::string_view text) {
  constexpr std::string_view decimal = "0123456789";
  std::string_view body = text;
  const bool negative = !body.empty() && body[0] == '-';
  if (!body.empty() && (body[0] == '-' || body[0] == '+')) body.remove_prefix(1);
  if (body.empty()) return std::nullopt;
  if (all_of(body, decimal)) {
    const bool octal = body.size() > 1 && body[0] == '0' && all_of(body, "01234567");
    if (auto value = integer(body, negative, octal ? 8 : 10)) return value;
  } else if (body.starts_with("0x") && all_of(body.substr(2), "0123456789abcdefABCDEF")) {
    if (auto value = integer(body.substr(2), negative, 16)) return value;
  } else if (body.starts_with("0o") && all_of(body.substr(2), "01234567")) {
    if (auto value = integer(body.substr(2), negative, 8)) return value;
  }
  if (body.find_first_of(decimal) == std::string_view::npos || !all_of(body, "0123456789.eE+-") || body[0] == 'e' || body[0] == 'E')
    return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), value);
  if (error != std::errc() || end != body.data() + body.size()) return std::nullopt;
  return Json(negative ? -value : value);
}

/// A plain scalar by the core schema.
Json plain_value(const std::string& text, int line) {
  if (text == "true" || text == "True" || text == "TRUE") return Json(true);
  if (text == "false" || text == "False" || text == "FALSE") return Json(false);
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") return Json(nullptr);
  if (text.size() <= 5 && text.find('.') != std::string::npos) {
    for (const char* special : {".inf", ".Inf", ".INF", "-.inf", "-.Inf", "-.INF", "+.inf", ".nan", ".NaN", ".NAN"})
      if (text == special) throw Refusal(line, "number " + text + " has no form in JSON");
  }
  if (auto value = number(text)) return std::move(*value);
  return Json(text);
}

Json scalar_value(const std::string& tag, const std::string& text, int line) {
  constexpr std::string_view core = "tag:yaml.org,2002:";
  if (tag == "?" || tag.empty()) return plain_value(text, line);
  if (tag == "!") return Json(text);
  if (!tag.starts_with(core)) throw Refusal(line, "tag " + tag + " is not known; allowed: !!str, !!int, !!float, !!bool, !!null");
  const auto name = std::string_view(tag).substr(core.size());
  if (name == "str") return Json(text);
  Json value = plain_value(text, line);
  if (name == "int" && value.is_number_integer()) return value;
  if (name == "float" && value.is_number()) return Json(value.get<double>());
  if (name == "bool" && value.is_boolean()) return value;
  if (name == "null" && value.is_null()) return value;
  throw Refusal(line, "\"" + text + "\" is no " + std::string(name) + " as its tag says");
}

/// Turns the events of yaml-cpp into trees.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const ReadLimits& limits)
      : budget_(limits.values), most_values_(limits.values), most_repeated_(std::min(limits.values, limits.repeated_values)) {}

  std::vector<YamlDocument> documents;

  void OnDocumentStart(const YAML::Mark& mark) override {
    document_line_ = line_at(mark);
    anchors_.clear();
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (in_key()) throw Refusal(line_at(mark), "a key is empty");
    attach(Json(nullptr), mark, anchor, 1);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto it = anchors_.find(anchor);
    if (it == anchors_.end()) throw Refusal(line_at(mark), "an alias stands inside what it names");
    repeated_ += it->second.values;  // before anything is copied
    if (repeated_ > most_repeated_) throw Refusal(line_at(mark), "aliases repeat more than " + std::to_string(most_repeated_) + " values");
    attach(it->second.value, mark, 0, it->second.values);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& text) override {
    if (in_key()) {
      frames_.back().key = text;
      frames_.back().has_key = true;
      frames_.back().merge_key = tag == "?" && text == "<<";
      return;
    }
    attach(scalar_value(tag, text, line_at(mark)), mark, anchor, 1 + text.size() / 64);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    open(Json::array(), mark, anchor);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    open(Json::object(), mark, anchor);
  }
  void OnMapEnd() override {
    for (const auto& merged : frames_.back().merges) frames_.back().value.insert(merged.begin(), merged.end());
    close();
  }

 private:
  struct Frame {
    Json value;
    YAML::Mark mark;
    YAML::anchor_t anchor = 0;
    std::string key;
    bool has_key = false;
    bool merge_key = false;
    std::size_t values_before = 0;
    std::vector<Json> merges;  ///< What `<<` brings in; what stands in the map itself comes first.
  };
  struct Anchored {
    Json value;
    std::size_t values = 0;
  };

  [[nodiscard]] bool in_key() const { return !frames_.empty() && frames_.back().value.is_object() && !frames_.back().has_key; }

  void open(Json value, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (in_key()) throw Refusal(line_at(mark), "a key must be a string");
    if (frames_.size() >= static_cast<std::size_t>(max_depth))
      throw Refusal(line_at(mark), "values are nested deeper than " + std::to_string(max_depth) + " levels");
    Frame frame;
    frame.value = std::move(value);
    frame.mark = mark;
    frame.anchor = anchor;
    frame.values_before = used_;
    frames_.push_back(std::move(frame));
  }

  void close() {
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    const std::size_t values = used_ - frame.values_before + 1;
    used_ += 1;
    attach_counted(std::move(frame.value), frame.mark, frame.anchor, values);
  }

  void attach(Json value, const YAML::Mark& mark, YAML::anchor_t anchor, std::size_t values) {
    used_ += values;
    if (used_ > budget_) throw Refusal(line_at(mark), "the file holds more than " + std::to_string(most_values_) + " values");
    attach_counted(std::move(value), mark, anchor, values);
  }

  void attach_counted(Json value, const YAML::Mark& mark, YAML::anchor_t anchor, std::size_t values) {
    if (anchor != 0) anchors_[anchor] = {value, values};
    if (frames_.empty()) {
      if (!value.is_null()) documents.push_back({std::move(value), document_line_});
      return;
    }
    Frame& frame = frames_.back();
    if (frame.value.is_array()) {
      frame.value.push_back(std::move(value));
      return;
    }
    if (in_key()) throw Refusal(line_at(mark), "a key must be a string");
    frame.has_key = false;
    if (frame.merge_key) return merge(frame, std::move(value), mark);
    const auto [it, added] = frame.value.get_ref<Json::object_t&>().try_emplace(std::move(frame.key), std::move(value));
    if (!added) throw Refusal(line_at(mark), "key \"" + it->first + "\" stands twice in one map");
  }

  static void merge(Frame& frame, Json value, const YAML::Mark& mark) {
    const bool list = value.is_array();
    Json sources = list ? std::move(value) : Json::array({std::move(value)});
    for (auto& source : sources) {
      if (!source.is_object()) throw Refusal(line_at(mark), "<< must name a map, or a list of maps");
      frame.merges.push_back(std::move(source));
    }
  }

  std::size_t budget_;
  std::size_t most_values_;
  std::size_t most_repeated_;
  std::size_t used_ = 0;
  std::size_t repeated_ = 0;
  int document_line_ = 1;
  std::vector<Frame> frames_;
  std::map<YAML::anchor_t, Anchored> anchors_;
};

/// Finds the line of one field.
class LineFinder : public YAML::EventHandler {
 public:
  LineFinder(std::size_t document, std::string_view path) : document_(document), path_(path) {}

  [[nodiscard]] int line() const { return line_; }

  void OnDocumentStart(const YAML::Mark&) override { frames_.clear(); }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { leaf(mark, {}); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { leaf(mark, {}); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t, const std::string& text) override { leaf(mark, text); }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    open(mark, false);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override { open(mark, true); }
  void OnMapEnd() override { close(); }

 private:
  struct Frame {
    std::string path;
    bool map = false;
    bool has_key = false;
    std::string key;
    std::size_t index = 0;
  };

  /// The path of the value that comes now.
  [[nodiscard]] std::string next_path() const {
    if (frames_.empty()) return {};
    const Frame& frame = frames_.back();
    if (!frame.map) return frame.path + "[" + std::to_string(frame.index) + "]";
    return frame.path.empty() ? frame.key : frame.path + "." + frame.key;
  }

  void see(const std::string& path, const YAML::Mark& mark) {
    if (seen_documents_ != document_ || !path_.starts_with(path)) return;
    const bool whole_step = path.size() == path_.size() || path.empty() || path_[path.size()] == '.' || path_[path.size()] == '[';
    if (whole_step && (line_ == 0 || path.size() > longest_)) {
      longest_ = path.size();
      line_ = line_at(mark);
    }
  }

  void value_done() {
    if (frames_.empty()) {
      ++seen_documents_;
      return;
    }
    frames_.back().has_key = false;
    ++frames_.back().index;
  }

  void leaf(const YAML::Mark& mark, const std::string& text) {
    if (!frames_.empty() && frames_.back().map && !frames_.back().has_key) {
      frames_.back().key = text;
      frames_.back().has_key = true;
      see(next_path(), mark);
      return;
    }
    if (frames_.empty()) {
      if (!text.empty()) ++seen_documents_;
      return;
    }
    see(next_path(), mark);
    value_done();
  }

  void open(const YAML::Mark& mark, bool map) {
    Frame frame;
    frame.path = next_path();
    frame.map = map;
    see(frame.path, mark);
    frames_.push_back(std::move(frame));
  }

  void close() {
    frames_.pop_back();
    value_done();
  }

  std::size_t document_;
  std::string_view path_;
  std::size_t seen_documents_ = 0;
  std::size_t longest_ = 0;
  int line_ = 0;
  std::vector<Frame> frames_;
};

void run(std::string_view text, YAML::EventHandler& handler) {
  MemoryBuffer buffer(text);
  std::istream stream(&buffer);
  YAML::Parser parser(stream);
  while (parser.HandleNextDocument(handler)) {}
}

bool looks_like_json(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

}  // namespace

Result<std::vector<YamlDocument>> read_yaml(std::string_view text, const ReadLimits& limits) {
  if (text.size() > limits.bytes)
    return fail(ErrorKind::invalid,
                "is " + std::to_string(text.size()) + " bytes long, allowed: at most " + std::to_string(limits.bytes) + " bytes");
  if (looks_like_json(text)) {
    // The slower reader below takes over where this one fails: it can tell the line.
    if (auto tree = parse_json(text)) {
      std::vector<YamlDocument> documents;
      documents.push_back({std::move(*tree), 1});
      return documents;
    }
  }
  TreeBuilder builder(limits);
  try {
    run(text, builder);
  } catch (const Refusal& refusal) {
    return fail(ErrorKind::invalid, "line " + std::to_string(refusal.line) + ": " + refusal.what());
  } catch (const YAML::Exception& error) {
    return fail(ErrorKind::invalid, "line " + std::to_string(line_at(error.mark)) + ": not YAML: " + error.msg);
  }
  return std::move(builder.documents);
}

int line_of(std::string_view text, std::size_t document, std::string_view path) {
  LineFinder finder(document, path);
  try {
    run(text, finder);
  } catch (const YAML::Exception&) {
    return 0;
  }
  return finder.line();
}

}  // namespace hindsight::connectors::manifests
