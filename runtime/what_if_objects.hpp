#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "connectors/manifests/manifest_reader.hpp"
#include "vocabulary/result.hpp"
#include "vocabulary/time.hpp"
#include "whatif/responses.hpp"

namespace hindsight::runtime {

/// Objects of manifests as an API server would give them at that moment, for whatif::Changes: each with a uid that follows from its name,
/// and jobs suspended. How long the annotation says that a job runs goes to `responses`. `what`: what stands in errors for where the
/// manifests came from ("-f", "edits[2].yaml"). Errors: invalid (a scenario, too many objects, or what an object says; the message names
/// it).
[[nodiscard]] Result<std::vector<std::vector<std::byte>>> what_if_objects(connectors::manifests::Input input, const std::string& what,
                                                                          Time at, whatif::Responses& responses);

/// The same of one text in YAML or JSON.
[[nodiscard]] Result<std::vector<std::vector<std::byte>>> what_if_objects_of_text(const std::string& yaml, Time at,
                                                                                  whatif::Responses& responses);

}  // namespace hindsight::runtime
