#pragma once

// The corpus of a release: for each stored thing a file <name>.bin, and <name>.json with what it says.

#include <string>

#include "events/snapshot.hpp"
#include "vocabulary/record.hpp"

namespace hindsight::test {

/// The name of the body's table.
[[nodiscard]] std::string body_name(const RecordView& record);

/// What a snapshot says, as one line of JSON.
[[nodiscard]] std::string snapshot_json(const events::Snapshot& snapshot);

}  // namespace hindsight::test
