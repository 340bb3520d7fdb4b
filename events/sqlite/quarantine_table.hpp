#pragma once

#include <vector>

#include "events/quarantine.hpp"
#include "events/sqlite/database.hpp"

namespace hindsight::events::sqlite {

/// Makes the table if it is not there, and adds a row; inside of the transaction that adds the record which says so. From the first one on
/// the file has quarantined_version.
[[nodiscard]] Result<void> add_quarantined(Database& database, const QuarantinedRecord& record);

/// Sorted.
[[nodiscard]] Result<std::vector<QuarantinedRecord>> read_quarantined(Database& database);

}  // namespace hindsight::events::sqlite
