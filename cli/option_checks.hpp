#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>

namespace hindsight::cli {

/// Takes the decimal digits of a whole number in this range, and nothing else: by itself the parser takes -1 for 2^64 - 1, no text at all
/// for 0, and too large a number for the largest that fits.
[[nodiscard]] CLI::Validator whole_number(std::uint64_t least = 0, std::uint64_t most = std::numeric_limits<std::int64_t>::max());

/// Refuses options that were given an empty text, in each command that is about a log: what a script meant to put there is missing, and
/// the command would answer something else than it was asked.
void refuse_empty_values(CLI::App& app);

/// Refuses options, by their long names without dashes, beside the one that makes them meaningless: "--rows: found with --compare; allowed:
/// ...". `allowed` ends that sentence. Empty: none of them was given.
[[nodiscard]] std::string found_beside(const CLI::App& command, std::initializer_list<const char*> options, const std::string& other,
                                       const std::string& allowed);

}  // namespace hindsight::cli
