#pragma once

#include <cstddef>
#include <string>

#include "vocabulary/record.hpp"

namespace hindsight::events {

/// The record as one line of JSON: envelope, `kind`, and `body` with names as in the API. Left out: empty texts and lists,
/// times that are never, false where that is the default. Amounts are Kubernetes quantities, hashes hexadecimal texts. Bytes that
/// are not UTF-8 become replacement characters.
[[nodiscard]] std::string to_json(const RecordView& record);

/// The record as one line for people: sequence, epoch, time, domain, and what it says.
[[nodiscard]] std::string to_text(const RecordView& record);
/// What the record says, without its envelope, on one line of at most so many bytes. Of a decision with more to say the first events are
/// told, and how many more there are.
[[nodiscard]] std::string to_line(const RecordView& record, std::size_t bytes_max);

}  // namespace hindsight::events
