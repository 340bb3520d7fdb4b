#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/session.hpp"
#include "projections/json.hpp"

namespace hindsight::cli {

using projections::Json;

/// Adds -o/--output with these values; the first is the default.
void add_output(CLI::App& command, std::string& format, const std::vector<std::string>& allowed);

/// `document` as JSON (two blanks of indentation) or YAML, by `format`.
void print_document(const Session& session, const Json& document, const std::string& format);

/// Block style; texts are quoted where YAML would read them as something else. Ends with a line feed.
[[nodiscard]] std::string to_yaml(const Json& document);

/// On one line, or with so many blanks of indentation; for every reader the same as `dump`, and nothing in it that a terminal obeys.
[[nodiscard]] std::string to_json_text(const Json& document, int indent = -1);

/// 1234567 → "1,234,567".
[[nodiscard]] std::string with_commas(std::uint64_t n);
[[nodiscard]] std::string hex(std::uint64_t value);

}  // namespace hindsight::cli
