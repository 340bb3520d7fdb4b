#include "tests/events/exercise_message.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "admission/domain/loop_driver.hpp"
#include "admission/rules.hpp"
#include "events/checksum.hpp"
#include "events/kafka/message.hpp"
#include "events/record.hpp"
#include "events/settings.hpp"

namespace hindsight::test {
namespace {

using Bytes = std::vector<std::byte>;

[[noreturn]] void broken(const char* what) {
  std::fprintf(stderr, "reading a message did not hold: %s\n", what);
  std::abort();
}

template <class T>
bool said_why(const Result<T>& read) {
  if (!read && read.error().message.empty()) broken("an error without a word");
  return read.has_value();
}

/// The checksum of all that comes before it is put at the end.
Bytes seal(std::span<const std::byte> value) {
  Bytes out(value.begin(), value.end());
  const std::uint64_t sum = events::checksum(out);
  const auto* begin = reinterpret_cast<const std::byte*>(&sum);
  out.insert(out.end(), begin, begin + sizeof sum);
  return out;
}

/// What a node does with a record that it reads: folds it, and decides.
void fold(std::span<const std::byte> bytes) {
  events::RecordReader reader;
  const auto record = reader.read(bytes);
  if (!said_why(record)) return;
  admission::LoopDriver driver([](Text json) { return events::read_settings(json); });
  if (!driver.apply(RecordView{{"domain", 1, 1, Time{1'000'000}, 0}, EpochStarted{"test", "1.0", admission::rules_version}}))
    broken("the first record is not taken");
  if (!driver.apply(RecordView{{"domain", 2, 1, Time{1'000'000}, 0}, Observation{MirrorSynced{}}}))
    broken("the second record is not taken");
  // Numbered by whoever reads, so that it always counts.
  RecordView view = **record;
  view.envelope.sequence = 0;
  view.envelope.epoch = 0;
  // Only what says that another record is set aside is refused where nobody was told of that before (events/quarantine.hpp).
  const auto* o = std::get_if<Observation>(&view.body);
  const bool may_be_refused = o != nullptr && std::holds_alternative<RecordQuarantined>(*o);
  if (!said_why(driver.apply(view)) && !may_be_refused) broken("a record that counts is not taken");
  for (int i = 0; i < 20; ++i)
    if (!driver.decide()) break;
  (void)driver.all_intents();
  (void)driver.domain().next_due();
}

bool exercise_record_message(std::string_view key, std::span<const std::byte> value, bool sealed) {
  Bytes message(value.begin(), value.end());
  if (sealed) {
    const events::EncodedRecord record{key, 1, 1, Time{1}, value};
    message.resize(events::kafka::record_head_bytes + value.size());
    events::kafka::write_record(record, message.data());
  }
  const auto read = events::kafka::read_record(key, message, 1);
  if (!said_why(read)) return false;
  if (read->domain != key || read->offset != 1) broken("a record of somebody else");
  if (sealed && read->bytes.size() != value.size()) broken("a record is not what was written");
  fold(read->bytes);
  return true;
}

template <class T, class Read, class Write>
bool exercise_entry(std::span<const std::byte> value, bool sealed, Read read, Write write) {
  const Bytes message = sealed ? seal(value) : Bytes(value.begin(), value.end());
  const Result<T> entry = read(message);
  if (!said_why(entry)) return false;
  const Result<T> again = read(write(*entry));
  if (!again || !(*again == *entry)) broken("what was read is not written so");
  return true;
}

}  // namespace

bool exercise_message(MessageKind kind, std::string_view key, std::span<const std::byte> value, bool sealed) {
  switch (kind) {
    case MessageKind::record:
      return exercise_record_message(key, value, sealed);
    case MessageKind::snapshot:
      return exercise_entry<events::kafka::SnapshotEntry>(
          value, sealed, [](std::span<const std::byte> v) { return events::kafka::read_snapshot_entry(v); },
          [](const auto& entry) { return events::kafka::write_snapshot_entry(entry); });
    case MessageKind::tails:
      return exercise_entry<events::DomainsAt>(
          value, sealed, [](std::span<const std::byte> v) { return events::kafka::read_tails(v); },
          [](const auto& entry) { return events::kafka::write_tails(entry); });
    case MessageKind::checkpoint:
      return exercise_entry<evidence::Checkpoint>(
          value, sealed, [](std::span<const std::byte> v) { return events::kafka::read_checkpoint(v); },
          [](const auto& entry) { return events::kafka::write_checkpoint(entry); });
    case MessageKind::key: {
      if (const auto position = events::kafka::read_checkpoint_key(key);
          position && events::kafka::read_checkpoint_key(events::kafka::checkpoint_key(*position)) != position)
        broken("a key of a checkpoint is not what was read");
      const auto read = events::kafka::read_snapshot_key(key);
      if (!read) return false;
      const auto again = events::kafka::read_snapshot_key(events::kafka::snapshot_key(read->first, read->second));
      if (!again || *again != *read) broken("a key is not what was read");
      return true;
    }
  }
  return false;
}

}  // namespace hindsight::test
