#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "connectors/manifests/kinds.hpp"
#include "connectors/manifests/scenario.hpp"
#include "connectors/manifests/yaml_reader.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::connectors::manifests {

/// One object as the API server will get it: of a version that is served here, with a namespace where its kind has one.
struct Manifest {
  Json object;
  const Kind* kind = nullptr;
  std::string source;  ///< "queues.yaml:12".
};

/// What files hold, in their order.
struct Input {
  std::vector<Manifest> manifests;
  std::vector<Scenario> scenarios;
};

/// Reads files, and the *.yaml, *.yml and *.json files of directories in name order. `kind: List` is opened, objects of
/// kueue.x-k8s.io/v1beta1 are rewritten as v1beta2. An unknown kind, an unknown field, a wrong type, a missing or bad name, a negative
/// or uncountable amount is an error that names file, line, object, field, what was found and what is allowed; up to ten are told.
/// Inside a Scenario only what no API server could judge is an error here (unknown kinds and fields, missing names): what it refuses is
/// part of the scenario.
[[nodiscard]] Result<Input> read_input(const std::vector<std::string>& paths, const ReadLimits& limits = {});

/// The same for one text; `file` stands in errors.
[[nodiscard]] Result<Input> read_text(std::string_view text, const std::string& file, const ReadLimits& limits = {});

/// Annotations that simulated runs honour.
inline constexpr std::string_view run_seconds_annotation =
    "hindsight.dev/run-seconds";  ///< On a job or its pod template: how long it runs.
inline constexpr std::string_view arrive_seconds_annotation = "hindsight.dev/arrive-seconds";  ///< On any object: when it is created.

/// The span that an annotation of `object` gives in seconds ("90", "0.5"); nothing where it is absent. Errors: invalid, not a number of
/// seconds.
[[nodiscard]] Result<std::optional<Duration>> seconds_annotation(const Json& object, std::string_view name);

}  // namespace hindsight::connectors::manifests
