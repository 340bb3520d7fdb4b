#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hindsight {

// Texts of objects are written by tenants, and read by people at terminals. What a terminal would obey (control characters, ESC sequences),
// what changes the order or the look of what stands beside it (bidirectional overrides, characters without width) and what is no UTF-8 is
// shown instead: one line of text stays one line, and says what it holds.

/// `text` on one line as a person may read it. Unprintable characters become "\n", "\t", "\x1b" (one byte: C0 and C1 controls, DEL, and
/// bytes that are no UTF-8), "\u202e" or "\U000e0001"; everything else, backslashes too, stays as it is. The same for any text that is
/// printable already.
[[nodiscard]] std::string printable(std::string_view text);
/// The same for text of several lines that we composed: line feeds stay.
[[nodiscard]] std::string printable_lines(std::string_view text);
/// Is `printable` the identity?
[[nodiscard]] bool is_printable(std::string_view text);

/// Text in JSON or YAML (strings in double quotes) with what is not printable escaped: the same value for every reader. `text` is UTF-8 of
/// which all control characters below U+0020 are escaped, or stand between values as white space. `long_escapes`: of characters beyond
/// U+FFFF as YAML writes them, "\U000e0001", otherwise as two of JSON's, "\udb40\udc01".
[[nodiscard]] std::string escaped_document(std::string_view text, bool long_escapes);

/// How many columns of a terminal the text takes: two for wide characters (East Asian, emoji), none for combining marks. `text` is
/// printable.
[[nodiscard]] std::size_t display_width(std::string_view text);

}  // namespace hindsight
