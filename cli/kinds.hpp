#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace hindsight::cli {

/// A kind that `get` and `describe` know, with the names that kubectl takes for it (base-api §1).
struct KnownKind {
  std::string_view plural;  ///< "workloads": how commands call it.
  bool namespaced = false;
  std::vector<std::string_view> names;
};

[[nodiscard]] const std::vector<KnownKind>& known_kinds();
/// Null: there is no such kind.
[[nodiscard]] const KnownKind* find_kind(std::string_view name);
/// Refuses other kinds, as wrong usage.
[[nodiscard]] CLI::Validator is_kind();

}  // namespace hindsight::cli
