#include "projections/table.hpp"

#include <algorithm>
#include <string_view>

#include "vocabulary/printable.hpp"

namespace hindsight::projections {

namespace {

constexpr std::string_view plain_again = "\x1b[0m";

/// What begins a tone; empty: nothing.
std::string_view sequence_of(Tone tone) {
  switch (tone) {
    case Tone::plain:
      return {};
    case Tone::good:
      return "\x1b[32m";
    case Tone::waiting:
      return "\x1b[33m";
    case Tone::bad:
      return "\x1b[31m";
    case Tone::faint:
      return "\x1b[2m";
  }
  return {};
}

}  // namespace

std::string painted(const std::string& text, Tone tone) {
  if (tone == Tone::plain) return text;
  return std::string(sequence_of(tone)).append(text).append(plain_again);
}

std::vector<std::string> tone_sequences() {
  std::vector<std::string> out{std::string(plain_again)};
  for (const Tone tone : {Tone::good, Tone::waiting, Tone::bad, Tone::faint}) out.emplace_back(sequence_of(tone));
  return out;
}

std::string render(const Table& table, const TableStyle& style) {
  std::vector<std::size_t> shown;
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    if (style.wide || !table.columns[c].wide) shown.push_back(c);
  std::vector<std::size_t> widths(table.columns.size());
  for (const std::size_t c : shown) {
    if (style.headings) widths[c] = display_width(printable(table.columns[c].heading));
    for (const auto& row : table.rows) widths[c] = std::max(widths[c], display_width(printable(row[c].text)));
  }

  std::string out;
  const auto line = [&](const auto& cell_of) {
    out += style.indent;
    std::size_t blanks = 0;
    for (const std::size_t c : shown) {
      Cell cell = cell_of(c);
      cell.text = printable(cell.text);
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
