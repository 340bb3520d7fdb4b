#pragma once

#include "connectors/webhooks/rules/webhook_rules.hpp"

namespace hindsight::connectors::webhooks {

// Jobs that are part of other jobs (base-api §7.1, 3; BA-171). The API server takes any owner reference, so it counts only where a
// controller makes such parts (connectors/json/owner_kinds.hpp), and only if one of the accounts that are known as controllers wrote it.

/// Whether a job above this one is managed: the whole runs when that one does, and this one waits in no queue of its own. As its references
/// say, whoever wrote them.
[[nodiscard]] bool has_managed_ancestor(const Kind& kind, const Json& object, const Surroundings& around);

/// Was the job made by somebody who is no controller, as part of one of a kind whose controller makes such parts? Then it is managed by
/// itself, whatever becomes of the other, and says who made it.
[[nodiscard]] bool note_foreign_maker(const Kind& kind, Json& object, const Surroundings& around, std::string_view user);

/// Nobody but a controller makes a job part of another one later on, or takes away what says that it is none.
void check_owner_change(const Kind& kind, const ObjectView& now, const ObjectView& before, const Surroundings& around,
                        std::string_view user, Findings& findings);

}  // namespace hindsight::connectors::webhooks
