#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "cli/session.hpp"

namespace hindsight::cli {

/// The word that the scripts of `hindsight completion` call the program with. It is no command of its own.
inline constexpr const char* complete_word = "__complete";

/// What may stand in place of the last of some words.
struct Candidates {
  std::vector<std::string> words;  ///< Those that begin like it; at most candidates_max.
  bool files = false;              ///< Names of files, which the shell knows best.
};

inline constexpr std::size_t candidates_max = 1000;
/// For reading the log whose objects are named; then what was read by then counts.
inline constexpr std::chrono::milliseconds candidates_patience{2000};
/// After which the process ends, whatever holds it up.
inline constexpr unsigned candidates_end_seconds = 8;

/// `words`: all behind the program's name, the last one as far as it was typed. Names of objects come from the end of the log that the
/// words or the environment name; a log that cannot be read has none. Names that a shell would take for more than a word are left out.
[[nodiscard]] Candidates find_candidates(const CLI::App& app, const std::vector<std::string>& words);

/// Prints them for the scripts, one a line; a last line ":files" or ":end".
int print_candidates(const Session& session, const CLI::App& app, const std::vector<std::string>& words);

/// From now on the process ends by itself after candidates_end_seconds, with status 0 and without a word.
void end_soon();

}  // namespace hindsight::cli
