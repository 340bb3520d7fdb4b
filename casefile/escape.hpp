#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hindsight::casefile {

// Texts of objects are written by tenants. In the page they stand as text, never as markup: what a browser would obey is escaped, and what
// no reader should be shown as it is (control characters, bidirectional overrides, broken UTF-8) is shown as `printable` shows it.

/// One line.
[[nodiscard]] std::string html(std::string_view text);
/// Several lines that we composed.
[[nodiscard]] std::string html_lines(std::string_view text);
/// One line of at most about so many bytes, that says how much is missing.
[[nodiscard]] std::string html_cut(std::string_view text, std::size_t most);

/// As code in a line of Markdown.
[[nodiscard]] std::string markdown_code(std::string_view text);

/// As one word of a command for a POSIX shell.
[[nodiscard]] std::string shell_word(std::string_view text);

}  // namespace hindsight::casefile
