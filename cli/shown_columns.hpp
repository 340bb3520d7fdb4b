#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/json_path.hpp"
#include "projections/table.hpp"

namespace hindsight::cli {

/// `-o custom-columns=HEADING:PATH,...`
class CustomColumns {
 public:
  /// Errors: invalid, with the column, what was found and what is allowed.
  [[nodiscard]] static Result<CustomColumns> parse(const std::string& text);
  /// A row for each object; several values stand with commas between, and "<none>" where there is none. Errors: those of JsonPath::values.
  [[nodiscard]] Result<projections::Table> table(const std::vector<const Json*>& objects) const;

 private:
  struct Column {
    std::string heading;
    JsonPath path;
  };
  std::vector<Column> columns_;
};

/// The places of the objects in the order of what `path` finds in them: what has nothing first, then numbers, quantities of Kubernetes and
/// texts, each from the least; equal ones stay as they are. `text`: the path for messages. Errors: invalid (no object has it).
[[nodiscard]] Result<std::vector<std::size_t>> order_by(const JsonPath& path, const std::string& text,
                                                        const std::vector<const Json*>& objects);

}  // namespace hindsight::cli
