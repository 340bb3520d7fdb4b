#pragma once

#include <vector>

#include "events/log.hpp"
#include "events/record_batch.hpp"
#include "events/sqlite/database.hpp"
#include "evidence/checkpoint.hpp"

namespace hindsight::events::sqlite {

// The table is made with the first checkpoint. A build that does not know of it reads and writes the file as before; what such a build
// appends is covered by the next checkpoint, and where it trims, the head of the chain at the cut is not kept (docs/log-format.md).

[[nodiscard]] Result<bool> has_checkpoint_table(Database& database);
[[nodiscard]] Result<void> make_checkpoint_table(Database& database);

/// Statements to be run once; what is bound must live until then. The table must be there.
[[nodiscard]] Result<Statement> put_checkpoint_row(Database& database, const evidence::Checkpoint& checkpoint);
[[nodiscard]] Result<Statement> drop_checkpoint_row(Database& database, Position position);

/// Oldest position first; none where there is no table. Errors: also corrupt (a row is of no form that there can be, or there are more than
/// evidence::checkpoints_max).
[[nodiscard]] Result<std::vector<evidence::Checkpoint>> read_checkpoints(Database& database);
/// Those whose rows are of no form that there can be.
[[nodiscard]] Result<std::vector<UnreadableCheckpoint>> unreadable_checkpoints(Database& database);

}  // namespace hindsight::events::sqlite
