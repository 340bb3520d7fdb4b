#pragma once

#include <string>
#include <vector>

namespace hindsight::projections {

/// How a cell is meant; a terminal may colour it.
enum class Tone { plain, good, waiting, bad, faint };

struct Cell {
  std::string text;
  Tone tone = Tone::plain;
  Cell(std::string t, Tone k = Tone::plain) : text(std::move(t)), tone(k) {}  // NOLINT: rows are written as lists of texts
  Cell(const char* t, Tone k = Tone::plain) : text(t), tone(k) {}             // NOLINT
};

/// Rows under headings, as `kubectl get` prints them.
struct Table {
  struct Column {
    std::string heading;
    bool wide = false;   ///< Only with -o wide.
    bool right = false;  ///< A number.
  };
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
};

struct TableStyle {
  bool wide = false;
  bool colour = false;
  bool headings = true;
  std::string indent;
};

/// Columns three blanks apart; every line ends with a line feed and has no blanks at its end. Texts of cells stand on one line, as
/// `printable` shows them.
[[nodiscard]] std::string render(const Table& table, const TableStyle& style = {});

/// The text between the escape sequences of its tone.
[[nodiscard]] std::string painted(const std::string& text, Tone tone);

/// All sequences that `painted` writes; nothing else of what we print is for the terminal itself.
[[nodiscard]] std::vector<std::string> tone_sequences();

}  // namespace hindsight::projections
