#pragma once

#include <string>
#include <string_view>

namespace hindsight::runtime {

/// How the user can call this program again from the folder where he stands: by its name where the PATH leads to it, else by the
/// relative path where the binary lies below that folder, else by the absolute one. As a word of the shell.
[[nodiscard]] std::string call_name();

/// The text as one word of a POSIX shell: as it is where that is safe, else in quotes.
[[nodiscard]] std::string shell_word(std::string_view text);

}  // namespace hindsight::runtime
