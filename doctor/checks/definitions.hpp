#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "doctor/context.hpp"
#include "doctor/finding.hpp"
#include "doctor/service_reach.hpp"

namespace hindsight::doctor {

/// Where two definitions differ.
struct SchemaDifference {
  enum class Kind {
    missing,  ///< The cluster has no such member.
    extra,    ///< Ours has none.
    other,    ///< Both have it, and the values differ.
  };
  Kind kind = Kind::other;
  std::string path;  ///< "v1beta2: spec.podSets[].count.minimum"
  std::string found, wanted;
  bool is_field = false;  ///< A field of objects, and not a rule about one.
};

/// The first `max` differences of what a definition serves, by version. Descriptions do not count.
[[nodiscard]] std::vector<SchemaDifference> differences_of(const Json& wanted, const Json& found, std::size_t max);

struct DefinitionFacts {
  Json wanted;                 ///< Of deploy/crds.
  std::optional<Json> found;   ///< As the cluster has it.
  bool has_converter = false;  ///< Its versions are converted by a webhook.
  Callee converter;
  Reach converter_reach;
  std::string
      conversion_error;  ///< What the server says of a read in another version than the stored one; empty: it works, or is not known.
};

struct DefinitionsFacts {
  std::vector<DefinitionFacts> all;
  Installation installation;
};

[[nodiscard]] Outcome judge_definitions(const DefinitionsFacts& facts, const Commands& commands);
[[nodiscard]] Outcome examine_definitions(Context& context);

}  // namespace hindsight::doctor
