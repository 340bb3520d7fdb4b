#pragma once

#include <string>

#include "page/server/api_table.hpp"

namespace hindsight::page {

/// The description of the API as OpenAPI 3.1 has it: every path of the table, and what the server answers beside them (live, session).
[[nodiscard]] Json openapi(const ApiTable& table, const std::string& release);

/// The same as the table of docs/api.md, in Markdown.
[[nodiscard]] std::string api_reference(const ApiTable& table);

}  // namespace hindsight::page
