#include "tests/events/exercise_record.hpp"

#include <cstdlib>

#include "events/json.hpp"
#include "events/record.hpp"
#include "tests/events/random_records.hpp"

namespace hindsight::test {

bool exercise_record(std::span<const std::byte> bytes) {
  static events::RecordReader reader;
  static events::Encoder encoder;
  const auto owned = events::decode(bytes);
  const auto viewed = reader.read(bytes);
  if (owned.has_value() != viewed.has_value()) std::abort();
  if (!owned) {
    if (owned.error().message != viewed.error().message || owned.error().message.empty()) std::abort();
    return false;
  }
  const RecordView& record = (*owned)->view();
  if (!equal_records(record, **viewed)) std::abort();
  if (events::to_json(record).empty() || events::to_text(record).empty()) std::abort();
  const auto again = events::decode(encoder.encode(record));
  if (!again || !equal_records((*again)->view(), record)) std::abort();
  return true;
}

}  // namespace hindsight::test
