#pragma once

#include <cstdint>
#include <string_view>

#include "events/log.hpp"
#include "page/view.hpp"
#include "vocabulary/record.hpp"

namespace hindsight::page {

/// {"position": …, "time": …}; without a time where there is none, as before the first record.
[[nodiscard]] Json place_json(Position position, Time time);
/// The same of a record of the log; position 0 is before the first. Errors: not_found (the message names what there is), and those of
/// reading.
[[nodiscard]] Result<Json> place_at(const events::Log& log, Position position);

/// {"kind": …, "namespace": …, "name": …}
[[nodiscard]] Json object_ref(std::string_view kind, std::string_view namespace_, std::string_view name);
/// The same; where the audience may not see the namespace, {"kind": …, "name": hidden_name, "hidden": true}.
[[nodiscard]] Json object_ref_for(const Audience& audience, std::string_view kind, std::string_view namespace_, std::string_view name);

/// A record as one line of a list (RecordLine of web/src/api/types.ts). `text` has at most so many bytes.
[[nodiscard]] Json record_line(const events::Log& log, const events::StoredRecord& stored, const RecordView& record, bool set_aside);
/// The same of one that was set aside and cannot be decoded.
[[nodiscard]] Json unreadable_line(const events::StoredRecord& stored, const Error& why);
inline constexpr std::size_t record_text_bytes_max = 400;

/// Where the record with this number of the domain stands, looked for shortly before `before`; 0: not there.
[[nodiscard]] Position position_of(const events::Log& log, std::string_view domain, std::uint64_t sequence,
                                   const events::StoredRecord& before);

}  // namespace hindsight::page
