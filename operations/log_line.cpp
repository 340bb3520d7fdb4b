#include "operations/log_line.hpp"

#include <string>

#include "vocabulary/printable.hpp"

namespace hindsight::operations {
namespace {

void append_json_string(std::string& out, std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      quoted.append(1, '\\').append(1, c);
    else if (c == '\n')
      quoted += "\\n";
    else if (c == '\t')
      quoted += "\\t";
    else if (static_cast<unsigned char>(c) < 0x20) {
      static constexpr std::string_view digits = "0123456789abcdef";
      quoted.append("\\u00").append(1, c < 0x10 ? '0' : '1').append(1, digits[static_cast<unsigned char>(c) & 0xFU]);
    } else
      quoted += c;
  }
  out += escaped_document(quoted + '"', false);
}

bool is_plain(std::string_view text) { return !text.empty() && text.find_first_of(" \"=\t\n\r\\") == std::string_view::npos; }

struct Style {
  std::string_view name;  ///< Padded to the same width.
  std::string_view color;
};

Style style_of(LogLevel level) {
  switch (level) {
    case LogLevel::trace:
      return {"TRACE", "\x1b[2m"};
    case LogLevel::debug:
      return {"DEBUG", "\x1b[36m"};
    case LogLevel::info:
      return {"INFO ", "\x1b[32m"};
    case LogLevel::warning:
      return {"WARN ", "\x1b[33m"};
    case LogLevel::error:
      return {"ERROR", "\x1b[31m"};
    case LogLevel::critical:
    case LogLevel::off:
      return {"FATAL", "\x1b[1;31m"};
  }
  return {"FATAL", ""};
}

}  // namespace

std::string json_line(const LogLine& line) {
  std::string out;
  out.reserve(line.message.size() + 128);
  out.append(R"({"time":")").append(format_rfc3339_micro(line.time));
  out.append(R"(","level":")").append(log_level_name(line.level));
  out.append(R"(","message":)");
  append_json_string(out, line.message);
  for (const auto& [key, value] : line.fields) {
    out += ',';
    std::string name(key);
    if (name == "time" || name == "level" || name == "message") name += '_';
    append_json_string(out, name);
    out += ':';
    append_json_string(out, value);
  }
  out += '}';
  return out;
}

std::string text_line(const LogLine& line, bool color) {
  const Style style = style_of(line.level);
  std::string out = format_rfc3339_micro(line.time);
  out += ' ';
  if (color) out += style.color;
  out += style.name;
  if (color) out += "\x1b[0m";
  out += ' ';
  out += printable(line.message);
  for (const auto& [key, value] : line.fields) {
    out.append(" ").append(key).append("=");
    if (is_plain(value)) {
      out += printable(value);
    } else {
      append_json_string(out, value);
    }
  }
  return out;
}

}  // namespace hindsight::operations
