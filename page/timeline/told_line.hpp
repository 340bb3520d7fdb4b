#pragma once

#include <cstddef>
#include <string>

#include "page/view.hpp"
#include "vocabulary/record.hpp"

namespace hindsight::page::timeline {

/// What a record says (events::to_line), as far as the audience may know it: whatever it names of a namespace that may not be seen is
/// replaced, events about nothing else are only counted, and of an observation its kind is left. It looks at the record alone, so that it
/// hides the same at whatever moment one stands. Texts inside of it (messages of conditions) are as they are.
[[nodiscard]] std::string told_line(const RecordView& record, const Audience& audience, std::size_t bytes_max);

}  // namespace hindsight::page::timeline
