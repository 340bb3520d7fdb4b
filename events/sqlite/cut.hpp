#pragma once

#include <optional>

#include "events/log.hpp"
#include "events/sqlite/database.hpp"

namespace hindsight::events::sqlite {

/// Where the records of a file begin; nothing: with record 1.
[[nodiscard]] Result<std::optional<DomainsAt>> read_cut(Database& database);

/// Within a transaction of the caller's: notes that the records up to `cut` are not part of the log any more; the rows are removed later.
/// The note comes first, so that nobody takes a row that is gone for damage. `cut` names at least one domain.
[[nodiscard]] Result<void> write_cut(Database& database, const DomainsAt& cut);

/// Within a transaction of the caller's: the domains of an empty file stand as at the cut.
[[nodiscard]] Result<void> write_domains(Database& database, const DomainsAt& cut);

/// Makes the table without rows, if it is not there: files of later versions have it, trimmed or not.
[[nodiscard]] Result<void> make_cut_table(Database& database);

}  // namespace hindsight::events::sqlite
