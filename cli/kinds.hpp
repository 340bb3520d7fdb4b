#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "vocabulary/result.hpp"

namespace hindsight::cli {

/// A kind that `get` and `describe` know, with the names that kubectl takes for it (base-api §1).
struct KnownKind {
  std::string_view plural;  ///< "workloads": how commands call it.
  bool namespaced = false;
  std::vector<std::string_view> names;  ///< The first is the singular.
  std::string_view group = "kueue.x-k8s.io";
  bool labels_kept = false;  ///< Are the labels of its objects on record, so that -l can choose by them?
};

[[nodiscard]] const std::vector<KnownKind>& known_kinds();
/// By any of its names, in any case, with or without its group ("workloads.kueue.x-k8s.io"). Null: there is no such kind.
[[nodiscard]] const KnownKind* find_kind(std::string_view name);
/// What to answer to another one: what was found, what was meant, what is allowed.
[[nodiscard]] Error unknown_kind(std::string_view found);
/// "workload.kueue.x-k8s.io", "node": what stands before the name of an object with -o name.
[[nodiscard]] std::string resource_of(const KnownKind& kind);

}  // namespace hindsight::cli
