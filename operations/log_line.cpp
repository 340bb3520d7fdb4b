#include "operations/log_line.hpp"

#include <array>
#include <cstdint>

namespace hindsight::operations {
namespace {

constexpr std::string_view replacement_character = "\xEF\xBF\xBD";  // U+FFFD

/// Length in bytes of the UTF-8 character at the front; 0: not one (overlong forms and surrogates are none).
std::size_t character_size(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if (!follows(1) || !follows(2)) return 0;
    if (first == 0xE0 && byte(1) < 0xA0) return 0;
    if (first == 0xED && byte(1) > 0x9F) return 0;
    return 3;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    if (first == 0xF0 && byte(1) < 0x90) return 0;
    if (first == 0xF4 && byte(1) > 0x8F) return 0;
    return 4;
  }
  return 0;
}

void append_hex(std::string& out, std::string_view prefix, unsigned value, int digits) {
  static constexpr std::string_view symbols = "0123456789abcdef";
  out += prefix;
  for (int i = digits - 1; i >= 0; --i) out += symbols[(value >> (4 * i)) & 0xFU];
}

/// Appends `text` as UTF-8, with each control character as `escape` writes it.
template <class Escape>
void append_clean(std::string& out, std::string_view text, Escape escape) {
  while (!text.empty()) {
    const std::size_t size = character_size(text);
    const auto first = static_cast<unsigned char>(text[0]);
    if (size == 0) {
      out += replacement_character;
      text.remove_prefix(1);
      continue;
    }
    // C1 controls (U+0080 to U+009F) move a terminal's cursor as well as C0 ones do.
    const auto second = size == 2 ? static_cast<unsigned char>(text[1]) : 0U;
    const bool control = first < 0x20 || first == 0x7F || (first == 0xC2 && second < 0xA0);
    if (!escape(out, control ? (size == 2 ? second : first) : 0x100U, text.substr(0, size))) out.append(text.substr(0, size));
    text.remove_prefix(size);
  }
}

constexpr unsigned no_control = 0x100U;

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  append_clean(out, text, [](std::string& o, unsigned control, std::string_view character) {
    if (control != no_control) {
      if (control == '\n')
        o += "\\n";
      else if (control == '\t')
        o += "\\t";
      else
        append_hex(o, "\\u", control, 4);
      return true;
    }
    if (character != "\"" && character != "\\") return false;
    o.append("\\").append(character);
    return true;
  });
  out += '"';
}

void append_text(std::string& out, std::string_view text) {
  append_clean(out, text, [](std::string& o, unsigned control, std::string_view) {
    if (control == no_control) return false;
    if (control == '\n')
      o += "\\n";
    else if (control == '\t')
      o += "\\t";
    else
      append_hex(o, "\\x", control, 2);
    return true;
  });
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
  append_text(out, line.message);
  for (const auto& [key, value] : line.fields) {
    out.append(" ").append(key).append("=");
    if (is_plain(value)) {
      append_text(out, value);
    } else {
      append_json_string(out, value);
    }
  }
  return out;
}

}  // namespace hindsight::operations
