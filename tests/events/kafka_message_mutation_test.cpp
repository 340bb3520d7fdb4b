// Messages of Kafka that are damaged, or made by somebody with a grudge whose checksums fit: reading them gives an error or what they say,
// and a domain takes any record that can be read. Seeded, so that a failure can be repeated; libFuzzer goes on from here
// (kafka_message_fuzz.cpp).

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>

#include "events/kafka/message.hpp"
#include "events/record.hpp"
#include "evidence/keys.hpp"
#include "tests/events/exercise_message.hpp"
#include "tests/events/random_records.hpp"

namespace hindsight::test {
namespace {

using Bytes = std::vector<std::byte>;
using events::kafka::read_snapshot_entry;
using events::kafka::read_tails;
using events::kafka::SnapshotEntry;
using events::kafka::write_snapshot_entry;
using events::kafka::write_tails;

/// Around each limit of Kubernetes and of ours, and beyond.
constexpr std::size_t lengths[] = {0,   1,     62,    63,    64,     252,    253,    254,    314,    315,
                                   316, 1'023, 1'024, 1'025, 32'767, 32'768, 32'769, 65'535, 65'536, 1'000'000};

Bytes copy_of(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

/// Without the checksum at its end, which is put right again after a change.
std::span<const std::byte> unsealed(const Bytes& message) { return std::span(message).first(message.size() - sizeof(std::uint64_t)); }

void mutate(Bytes& bytes, std::mt19937_64& random) {
  constexpr std::uint64_t edges[] = {0, 1, 0x7FFFFFFF, 0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0xFFFFFFFFFFFFFFFF};
  for (std::size_t n = 1 + random() % 3; n > 0 && !bytes.empty(); --n) {
    const std::size_t at = random() % bytes.size();
    switch (random() % 4) {
      case 0:
        bytes[at] ^= std::byte{1} << static_cast<int>(random() % 8);
        break;
      case 1: {
        const std::uint64_t value = edges[random() % std::size(edges)];
        std::memcpy(bytes.data() + at, &value, std::min<std::size_t>(8, bytes.size() - at));
        break;
      }
      case 2:
        bytes.resize(at);
        break;
      default:
        bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), 8, static_cast<std::byte>(random()));
    }
  }
}

SnapshotEntry entry(const std::string& text) {
  return {.meta = {.position = 42, .epoch = 3, .time = Time{5}, .schema_version = 1, .state_hash = 7, .release = text, .domain = text},
          .bytes = 1'000'000,
          .checksum = 9,
          .part_offsets = {10, 11}};
}

events::DomainsAt tails(const std::string& text) { return {42, {{text, 40, 2, 41}, {"b", 1, 1, 1}}, {{text, 2, Time{3}, text, text}}}; }

evidence::Checkpoint checkpoint(bool is_signed) {
  evidence::Checkpoint out{.position = 42, .head = evidence::genesis(), .time = Time{5}, .release = "0.1.0", .key = {}, .signature = {}};
  out.head.records = 40;
  if (is_signed) {
    EXPECT_TRUE(evidence::SigningKey::make()->sign(out));
  }
  return out;
}

TEST(KafkaMessages, CheckpointsComeBackAndThoseThatWereChangedAreReadOrRefused) {
  for (const bool is_signed : {false, true}) {
    const auto good = events::kafka::write_checkpoint(checkpoint(is_signed));
    EXPECT_TRUE(exercise_message(MessageKind::checkpoint, "", good, false));
    std::mt19937_64 random(15);
    std::size_t refused = 0;
    for (const bool sealed : {false, true})
      for (int i = 0; i < 2'000; ++i) {
        auto mutant = sealed ? copy_of(unsealed(good)) : good;
        mutate(mutant, random);
        refused += exercise_message(MessageKind::checkpoint, "", mutant, sealed) ? 0 : 1;
      }
    EXPECT_GT(refused, 2'000U);
  }
  auto odd = checkpoint(false);
  odd.release = "two words";
  EXPECT_EQ(events::kafka::read_checkpoint(events::kafka::write_checkpoint(odd)).error().kind, ErrorKind::corrupt);
  odd = checkpoint(false);
  odd.position = events::Position{1} << 62;
  EXPECT_EQ(events::kafka::read_checkpoint(events::kafka::write_checkpoint(odd)).error().kind, ErrorKind::corrupt);
  EXPECT_EQ(events::kafka::checkpoint_key(42), "checkpoint/00000000000000000042");
  EXPECT_EQ(events::kafka::read_checkpoint_key("checkpoint/00000000000000000042"), 42U);
  for (const char* bad : {"checkpoint/", "checkpoint/x", "checkpoint/1x", "checkpoint", "checkpoint/-1", "checkpoint/99999999999999999999"})
    EXPECT_FALSE(events::kafka::read_checkpoint_key(bad)) << bad;
}

TEST(KafkaMessages, TextsOfAllLengthsComeBack) {
  for (const auto n : lengths) {
    const std::string text(n, 'x');
    EXPECT_TRUE(exercise_message(MessageKind::snapshot, "", write_snapshot_entry(entry(text)), false)) << n;
    EXPECT_TRUE(exercise_message(MessageKind::tails, "", write_tails(tails(text)), false)) << n;
    EXPECT_TRUE(exercise_message(MessageKind::key, events::kafka::snapshot_key(42, text), {}, false)) << n;
  }
}

TEST(KafkaMessages, RecordsWithTextsOfAllLengthsAreTakenByADomain) {
  events::Encoder encoder;
  for (const auto n : lengths) {
    const std::string text(n, 'x');
    WorkloadObserved w;
    w.meta = {.namespace_ = text, .name = text, .uid = text.empty() ? "u" : Text(text)};
    w.queue_name = w.priority_class = w.admission_gated_by = text;
    JobObserved j;
    j.meta = w.meta;
    j.queue_name = j.workload_name = text;
    for (const Observation& o :
         {Observation(w), Observation(j), Observation(ConfigurationObserved{text}), Observation(ClockStepped{{}, {}, text})}) {
      const auto bytes = copy_of(encoder.encode(RecordView{{text, 1, 1, Time{std::numeric_limits<std::int64_t>::max()}, 0}, o}));
      EXPECT_TRUE(exercise_message(MessageKind::record, text, bytes, true)) << n;
    }
  }
}

TEST(KafkaMessages, ThatWereChangedAreReadOrRefused) {
  std::mt19937_64 random(14);
  std::size_t read = 0, refused = 0;
  for (const bool sealed : {false, true})
    for (int i = 0; i < 4'000; ++i) {
      const std::string text(random() % 80, 'n');
      const bool snapshot = random() % 2 == 0;
      const auto good = snapshot ? write_snapshot_entry(entry(text)) : write_tails(tails(text));
      auto mutant = sealed ? copy_of(unsealed(good)) : good;
      mutate(mutant, random);
      ++(exercise_message(snapshot ? MessageKind::snapshot : MessageKind::tails, text, mutant, sealed) ? read : refused);
      auto key = events::kafka::snapshot_key(random(), text);
      if (!key.empty()) key[random() % key.size()] = static_cast<char>(random());
      exercise_message(MessageKind::key, key, {}, false);
    }
  EXPECT_GT(read, 500U);
  EXPECT_GT(refused, 500U);
}

TEST(KafkaMessages, RecordsThatWereChangedAreTakenByADomainOrRefused) {
  std::mt19937_64 random(15);
  events::Encoder encoder;
  std::size_t read = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    RandomRecords records(seed);
    const auto good = copy_of(encoder.encode(records.record(seed % body_kinds)));
    for (int i = 0; i < 20; ++i) {
      auto mutant = good;
      if (i > 0) mutate(mutant, random);
      read += exercise_message(MessageKind::record, "domain", mutant, true) ? 1 : 0;
    }
  }
  EXPECT_EQ(read, 6'000U) << "as a message each of them is whole";
}

// What a message claims costs nothing before it is there: 2^63 bytes of a snapshot in one part, parts before the first offset, positions
// behind the last one.
TEST(KafkaMessages, ClaimsThatCannotBeAreRefused) {
  auto e = entry("d");
  e.bytes = std::uint64_t{1} << 63;
  EXPECT_EQ(read_snapshot_entry(write_snapshot_entry(e)).error().kind, ErrorKind::corrupt);
  e = entry("d");
  e.part_offsets = {-2, 1};
  EXPECT_EQ(read_snapshot_entry(write_snapshot_entry(e)).error().kind, ErrorKind::corrupt);
  e = entry("d");
  e.meta.position = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(read_snapshot_entry(write_snapshot_entry(e)).error().kind, ErrorKind::corrupt);
  auto t = tails("d");
  t.position = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(read_tails(write_tails(t)).error().kind, ErrorKind::corrupt);
  EXPECT_TRUE(read_snapshot_entry(write_snapshot_entry(entry("d"))));
  EXPECT_TRUE(read_tails(write_tails(tails("d"))));
}

}  // namespace
}  // namespace hindsight::test
