#pragma once

#include <string>

#include "cli/output.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::cli {

/// Whom `--for TYPE[.GROUP]/NAME` means; the type in lower case and the singular.
struct ObjectReference {
  std::string type, group, name;  ///< An empty group: any.
};
/// Errors: invalid.
[[nodiscard]] Result<ObjectReference> read_reference(const std::string& text);
/// Does an element of metadata.ownerReferences mean it?
[[nodiscard]] bool means(const Json& owner, const ObjectReference& wanted);
/// The label selector of the pods of a job: "batch.kubernetes.io/job-name=train". Errors: invalid, for kinds that have none.
[[nodiscard]] Result<std::string> pod_selector(const ObjectReference& job);

}  // namespace hindsight::cli
