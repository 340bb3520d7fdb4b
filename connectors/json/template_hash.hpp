#pragma once

#include <cstdint>
#include <string_view>

#include <simdjson.h>

namespace hindsight::connectors {

/// Hashes of a pod template in canonical form: the order of members does not matter, amounts count by value, and what the API
/// server adds by default counts as nothing, so that a template and its defaulted form are equal. The same on every machine.
struct TemplateHashes {
  std::uint64_t whole = 0;  ///< Labels, annotations and spec (base-api §7.1, Workload matching).
  std::uint64_t core = 0;   ///< Without labels, annotations, node selector, tolerations and scheduling gates: what a start may change.
  std::uint64_t shape = 0;  ///< The scheduling shape of base-admission §3.6.
};

/// Hashes any value that is meant as a PodTemplateSpec; anything unexpected in it is hashed as it is.
[[nodiscard]] TemplateHashes hash_template(simdjson::dom::element pod_template);

/// Labels that the Job controller adds to a template; they belong to one Job and never to a Workload.
[[nodiscard]] bool is_job_controller_label(std::string_view key);

}  // namespace hindsight::connectors
