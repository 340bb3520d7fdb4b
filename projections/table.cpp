#include "projections/table.hpp"

#include <algorithm>

namespace hindsight::projections {

std::size_t display_width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string painted(const std::string& text, Tone tone) {
  const char* code = nullptr;
  switch (tone) {
    case Tone::plain:
      return text;
    case Tone::good:
      code = "\x1b[32m";
      break;
    case Tone::waiting:
      code = "\x1b[33m";
      break;
    case Tone::bad:
      code = "\x1b[31m";
      break;
    case Tone::faint:
      code = "\x1b[2m";
      break;
  }
  return code + text + "\x1b[0m";
}

std::string render(const Table& table, const TableStyle& style) {
  std::vector<std::size_t> shown;
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    if (style.wide || !table.columns[c].wide) shown.push_back(c);
  std::vector<std::size_t> widths(table.columns.size());
  for (const std::size_t c : shown) {
    if (style.headings) widths[c] = display_width(table.columns[c].heading);
    for (const auto& row : table.rows) widths[c] = std::max(widths[c], display_width(row[c].text));
  }

  std::string out;
  const auto line = [&](const auto& cell_of) {
    out += style.indent;
    std::size_t blanks = 0;
    for (const std::size_t c : shown) {
      const Cell cell = cell_of(c);
      const std::size_t padding = widths[c] - display_width(cell.text);
      const bool right = table.columns[c].right;
      if (!cell.text.empty()) {
        out.append(blanks + (right ? padding : 0), ' ');
        out += style.colour ? painted(cell.text, cell.tone) : cell.text;
        blanks = right ? 0 : padding;
      } else {
        blanks += widths[c];
      }
      blanks += 3;
    }
    out += '\n';
  };
  if (style.headings) line([&](std::size_t c) { return Cell(table.columns[c].heading); });
  for (const auto& row : table.rows) line([&](std::size_t c) { return row[c]; });
  return out;
}

}  // namespace hindsight::projections
