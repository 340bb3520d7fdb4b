#include "cli/output.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <ostream>

#include "vocabulary/printable.hpp"

namespace hindsight::cli {
namespace {

/// Is a text read back as the same text without quotes?
bool is_plain(const std::string& s) {
  if (s.empty() || s.size() > 200 || !is_printable(s)) return false;
  const auto safe = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.' || c == '/' || c == ' ' || c == '(' || c == ')' || c >= 0x80;
  };
  if (!std::all_of(s.begin(), s.end(), [&](char c) { return safe(static_cast<unsigned char>(c)); })) return false;
  if (s.front() == ' ' || s.back() == ' ' || s.front() == '-' || s.front() == '.') return false;
  if (std::isdigit(static_cast<unsigned char>(s.front())) != 0) return false;  // numbers, dates, "0x…"
  std::string lower(s);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  static constexpr std::array<std::string_view, 10> words{"true", "false", "yes", "no", "on", "off", "null", "y", "n", "inf"};
  return std::find(words.begin(), words.end(), lower) == words.end() && lower != "nan";
}

std::string scalar(const Json& v) {
  if (v.is_string() && is_plain(v.get_ref<const std::string&>())) return v.get<std::string>();
  return v.dump(-1, ' ', false, Json::error_handler_t::replace);  // a JSON text is a YAML text
}

std::string key_text(const std::string& key) {
  return is_plain(key) ? key : Json(key).dump(-1, ' ', false, Json::error_handler_t::replace);
}

void write(const Json& v, std::size_t indent, std::string& out) {
  const std::string margin(indent, ' ');
  const auto entry = [&](const Json& value, std::size_t deeper) {
    if (!value.is_structured()) {
      out += " " + scalar(value) + "\n";
    } else if (value.empty()) {
      out += value.is_array() ? " []\n" : " {}\n";
    } else {
      out += "\n";
      write(value, deeper, out);
    }
  };
  if (v.is_object()) {
    for (const auto& [key, value] : v.items()) {
      out += margin + key_text(key) + ":";
      entry(value, value.is_array() ? indent : indent + 2);
    }
  } else {
    for (const auto& value : v) {
      if (value.is_structured() && !value.empty()) {
        std::string inner;
        write(value, indent + 2, inner);
        inner[indent] = '-';  // over the margin of its first line
        out += inner;
      } else {
        out += margin + "-";
        entry(value, indent + 2);
      }
    }
  }
}

}  // namespace

void add_output(CLI::App& command, std::string& format, const std::vector<std::string>& allowed) {
  format = allowed.front();
  command.add_option("-o,--output", format, "How to print")->check(CLI::IsMember(allowed))->default_str(format);
}

std::string to_yaml(const Json& document) {
  if (!document.is_structured()) return escaped_document(scalar(document), true) + "\n";
  if (document.empty()) return document.is_array() ? "[]\n" : "{}\n";
  std::string out;
  write(document, 0, out);
  return escaped_document(out, true);
}

std::string to_json_text(const Json& document, int indent) {
  return escaped_document(document.dump(indent, ' ', false, Json::error_handler_t::replace), false);
}

void print_document(const Session& session, const Json& document, const std::string& format) {
  if (format == "yaml")
    session.out << to_yaml(document);
  else
    session.out << to_json_text(document, 2) << "\n";
}

std::string with_commas(std::uint64_t n) {
  std::string out = std::to_string(n);
  for (std::size_t i = out.size(); i > 3; i -= 3) out.insert(i - 3, 1, ',');
  return out;
}

std::string hex(std::uint64_t value) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
  return text.data();
}

}  // namespace hindsight::cli
