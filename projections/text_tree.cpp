#include "projections/text_tree.hpp"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "projections/table.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::projections {
namespace {

constexpr std::size_t indent_step = 2;

/// "clusterQueue" → "Cluster Queue". Names of flavors and resources (with other characters than letters) stay as they are.
std::string in_words(const std::string& key) {
  if (key.empty() || !std::all_of(key.begin(), key.end(), [](unsigned char c) { return std::isalnum(c) != 0; })) return printable(key);
  std::string out(1, static_cast<char>(std::toupper(static_cast<unsigned char>(key[0]))));
  for (std::size_t i = 1; i < key.size(); ++i) {
    const bool capital = std::isupper(static_cast<unsigned char>(key[i])) != 0;
    if (capital && std::islower(static_cast<unsigned char>(key[i - 1])) != 0) out += ' ';
    out += key[i];
  }
  return out;
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

bool is_scalar(const Json& v) { return !v.is_object() && !v.is_array(); }
bool is_flat(const Json& v) {
  return v.is_object() && std::all_of(v.begin(), v.end(), [](const Json& x) {
           return is_scalar(x) || (x.is_array() && std::all_of(x.begin(), x.end(), is_scalar));
         });
}

std::string scalar(const Json& v) {
  if (v.is_string()) return printable(v.get_ref<const std::string&>());
  if (v.is_null()) return "<none>";
  if (!v.is_array()) return v.dump();
  std::string out;
  for (const auto& x : v) out += (out.empty() ? "" : ", ") + scalar(x);
  return out;
}

/// A list of flat objects; columns in the order of first appearance.
std::string rows(const Json& list, std::size_t indent) {
  Table table;
  std::vector<std::string> keys;
  for (const auto& entry : list) {
    for (const auto& [key, value] : entry.items()) {
      if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
      keys.push_back(key);
      table.columns.push_back({upper(in_words(key)), false, value.is_number()});
    }
  }
  for (const auto& entry : list) {
    auto& row = table.rows.emplace_back();
    for (const auto& key : keys) row.emplace_back(entry.contains(key) ? scalar(entry.at(key)) : std::string());
  }
  return render(table, {.indent = std::string(indent, ' ')});
}

void write(const Json& object, std::size_t indent, std::string& out) {
  const std::string margin(indent, ' ');
  std::size_t width = 0;
  for (const auto& [key, value] : object.items()) {
    if (is_scalar(value) || value.empty() || (value.is_array() && is_scalar(value.front())))
      width = std::max(width, display_width(in_words(key)) + 1);
  }
  for (const auto& [key, value] : object.items()) {
    const std::string label = margin + in_words(key) + ":";
    const auto padded = [&] { return label + std::string(std::max<std::size_t>(width + 2 - (display_width(label) - indent), 1), ' '); };
    if (is_scalar(value)) {
      out += padded() + scalar(value) + "\n";
    } else if (value.empty()) {
      out += padded() + "<none>\n";
    } else if (value.is_object()) {
      out += label + "\n";
      write(value, indent + indent_step, out);
    } else if (std::all_of(value.begin(), value.end(), is_scalar)) {
      out += padded() + scalar(value) + "\n";
    } else if (std::all_of(value.begin(), value.end(), is_flat)) {
      out += label + "\n" + rows(value, indent + indent_step);
    } else {
      out += label + "\n";
      for (const auto& entry : value) write(entry, indent + indent_step, out);
    }
  }
}

}  // namespace

std::string render_tree(const Json& document) {
  std::string out;
  write(document, 0, out);
  return out;
}

}  // namespace hindsight::projections
