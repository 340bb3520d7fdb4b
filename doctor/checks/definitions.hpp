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
  Json wanted;                 ///< Of deploy/crds; of deploy/crds/with-webhooks where it leaves checks to webhooks.
  std::optional<Json> found;   ///< As the cluster has it.
  bool has_converter = false;  ///< Its versions are converted by a webhook.
  Callee converter;
  Reach converter_reach;
  std::string
      conversion_error;        ///< What the server says of a read in another version than the stored one; empty: it works, or is not known.
  bool leaves_checks = false;  ///< The cluster's says that webhooks check what it has no rules for.
};

struct DefinitionsFacts {
  std::vector<DefinitionFacts> all;
  Installation installation;
  Json validating;             ///< Our ValidatingWebhookConfiguration, looked for where a definition leaves checks; null: there is none.
  std::string validating_why;  ///< Why it could not be looked for; empty: it was.
};

[[nodiscard]] Outcome judge_definitions(const DefinitionsFacts& facts, const Commands& commands);
[[nodiscard]] Outcome examine_definitions(Context& context);

}  // namespace hindsight::doctor
