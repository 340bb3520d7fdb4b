#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "connectors/manifests/schema.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::connectors::manifests {

/// Bounds on what a file may ask for; what lies beyond them is refused with an error that names the bound.
struct ReadLimits {
  std::size_t bytes = std::size_t{256} << 20U;
  std::size_t values = 20'000'000;          ///< Values after aliases are followed.
  std::size_t repeated_values = 1'000'000;  ///< Of these, what aliases repeat: a few lines of `&a`, `*a` cannot take all memory.
};

/// One document of a file.
struct YamlDocument {
  Json value;
  int line = 1;  ///< Where it starts, from 1.
};

/// Reads the documents of a YAML or JSON text by the core schema of YAML 1.2: plain `true`, `12`, `1.5`, `null` are what they look
/// like, anything quoted is a string. As kubectl does, numbers that start with 0 are octal, `<<` merges, and a key that stands twice
/// is an error. Empty documents are left out. Errors: invalid, "line 12: …".
[[nodiscard]] Result<std::vector<YamlDocument>> read_yaml(std::string_view text, const ReadLimits& limits = {});

/// The line of the field `path` ("spec.steps[0].apply[2].metadata") in document number `document`; of the nearest field around it
/// when it is not there; 0 when the text cannot be read.
[[nodiscard]] int line_of(std::string_view text, std::size_t document, std::string_view path);

}  // namespace hindsight::connectors::manifests
