// Records as bytes: what was encoded comes back, whatever it is; what is not a record, or is newer than this build, is refused by
// kind and never read.

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <vector>

#include "events/decision_fields.hpp"
#include "events/record.hpp"
#include "schemas/envelope_generated.h"
#include "tests/events/random_records.hpp"

namespace hindsight::events {
namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes_of(std::span<const std::byte> span) { return {span.begin(), span.end()}; }

/// An envelope that says what the test wants it to say.
struct Forged {
  std::uint32_t version = schema_version;
  wire::Body tag = wire::Body::TimerFired;
  std::function<flatbuffers::Offset<void>(flatbuffers::FlatBufferBuilder&)> body = empty_table;

  static flatbuffers::Offset<void> empty_table(flatbuffers::FlatBufferBuilder& b) { return b.EndTable(b.StartTable()); }

  [[nodiscard]] Bytes bytes() const {
    flatbuffers::FlatBufferBuilder b;
    const auto made = body ? body(b) : flatbuffers::Offset<void>();
    b.Finish(wire::CreateEnvelope(b, 0, 1, 1, 0, 0, version, tag, made), wire::EnvelopeIdentifier());
    return bytes_of(std::as_bytes(std::span(b.GetBufferPointer(), b.GetSize())));
  }
};

ErrorKind kind_of_failure(const Bytes& bytes) {
  const auto record = decode(bytes);
  EXPECT_FALSE(record.has_value());
  return record.has_value() ? ErrorKind::invalid : record.error().kind;
}

TEST(Codec, gives_back_every_kind_of_body_as_it_was) {
  Encoder encoder;
  RecordReader reader;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    test::RandomRecords random(seed);
    for (std::size_t kind = 0; kind < test::body_kinds; ++kind) {
      const RecordView record = random.record(kind);
      const Bytes bytes = bytes_of(encoder.encode(record));
      const auto owned = decode(bytes);
      ASSERT_TRUE(owned.has_value()) << owned.error().message;
      EXPECT_TRUE(test::equal_records((*owned)->view(), record)) << "kind " << kind << " seed " << seed;
      const auto read = reader.read(bytes);
      ASSERT_TRUE(read.has_value()) << read.error().message;
      EXPECT_TRUE(test::equal_records(**read, record)) << "kind " << kind << " seed " << seed;
    }
  }
}

TEST(Codec, gives_back_every_kind_of_event_as_it_was) {
  Encoder encoder;
  test::RandomRecords random(1);
  std::vector<Event> events;
  for (int round = 0; round < 20; ++round) {
    for (std::size_t kind = 0; kind < std::variant_size_v<Event>; ++kind) events.push_back(random.event(kind));
  }
  const RecordView record{{"domain", 7, 2, Time{5}, 6}, Decisions{6, StepKind::cycle, events}};
  const auto decoded = decode(encoder.encode(record));
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
  EXPECT_TRUE(test::equal_records((*decoded)->view(), record));
}

TEST(Codec, keeps_an_empty_element_of_a_list_of_strings) {
  const Text levels[] = {"", "rack", "", "rack"};
  TopologyObserved topology;
  topology.levels = levels;
  const auto decoded = decode(encode({{}, Observation(topology)}));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_TRUE(test::equal_bodies((*decoded)->view().body, Observation(topology)));
}

TEST(Codec, gives_equal_bytes_for_equal_records) {
  Encoder first;
  Encoder second;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    test::RandomRecords random(seed);
    test::RandomRecords same(seed);
    const RecordView record = random.record();
    const Bytes bytes = bytes_of(first.encode(record));
    EXPECT_EQ(bytes, bytes_of(second.encode(same.record())));
    EXPECT_EQ(bytes, encode(record));
  }
}

TEST(Codec, reads_bytes_at_any_address) {
  Encoder encoder;
  RecordReader reader;
  test::RandomRecords random(3);
  const RecordView record = random.record(11);
  const Bytes bytes = bytes_of(encoder.encode(record));
  for (std::size_t shift = 0; shift < 16; ++shift) {
    Bytes moved(bytes.size() + shift);
    std::memcpy(moved.data() + shift, bytes.data(), bytes.size());
    const auto read = reader.read(std::span(moved).subspan(shift));
    ASSERT_TRUE(read.has_value());
    EXPECT_TRUE(test::equal_records(**read, record));
    const auto owned = decode(std::span<const std::byte>(moved).subspan(shift));
    ASSERT_TRUE(owned.has_value());
    EXPECT_TRUE(test::equal_records((*owned)->view(), record));
  }
}

TEST(Codec, lets_a_record_outlive_the_bytes_that_it_came_from) {
  test::RandomRecords random(4);
  const RecordView record = random.record(10);
  Bytes bytes = encode(record);
  const Bytes original = bytes;
  const auto decoded = decode(bytes).value();
  std::fill(bytes.begin(), bytes.end(), std::byte{0xFF});
  EXPECT_TRUE(test::equal_records(decoded->view(), record));
  EXPECT_EQ(bytes_of(decoded->bytes()), original);
}

// A table without any field reads as the default-constructed struct: the defaults of the schemas are those of C++.
TEST(Codec, agrees_with_the_schemas_on_every_default) {
  std::size_t kind = 0;  // the union counts the bodies in the order of the kinds, but for the last two
  for (const wire::Body tag : wire::EnumValuesBody()) {
    if (tag == wire::Body::NONE) continue;
    const auto decoded = decode(Forged{.tag = tag}.bytes());
    ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
    Body expected = test::default_body(kind++);
    if (tag == wire::Body::Decisions) expected = Decisions{};
    if (tag == wire::Body::EpochStarted) expected = EpochStarted{};
    if (tag == wire::Body::DecisionsNoted) expected = DecisionsNoted{};
    EXPECT_TRUE(test::equal_bodies((*decoded)->view().body, expected)) << wire::EnumNameBody(tag);
  }
  EXPECT_EQ(kind, test::body_kinds);

  kind = 0;
  for (const wire::Event tag : wire::EnumValuesEvent()) {
    if (tag == wire::Event::NONE) continue;
    const Forged forged{.tag = wire::Body::Decisions, .body = [tag](auto& b) {
                          const auto event = Forged::empty_table(b);
                          const auto events = b.CreateVector(std::vector{wire::CreateDecision(b, tag, event)});
                          return wire::CreateDecisions(b, 0, wire::StepKind::unspecified, events).Union();
                        }};
    const auto decoded = decode(forged.bytes());
    ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
    const Event expected[] = {test::default_event(kind++)};
    EXPECT_TRUE(test::equal_bodies((*decoded)->view().body, Decisions{0, StepKind::unspecified, expected})) << wire::EnumNameEvent(tag);
  }
  EXPECT_EQ(kind, std::variant_size_v<Event>);
}

/// Whether the empty table in field `id`, a vector, of a body reads as a default-constructed part.
template <flatbuffers::voffset_t id, class Owner, class Part>
void expect_default_part(wire::Body tag, List<Part> Owner::*list) {
  const Forged forged{.tag = tag, .body = [](auto& b) {
                        const auto vector = b.CreateVector(std::vector{Forged::empty_table(b)});
                        const auto start = b.StartTable();
                        b.AddOffset(flatbuffers::FieldIndexToOffset(id), vector);
                        return flatbuffers::Offset<void>(b.EndTable(start));
                      }};
  const auto decoded = decode(forged.bytes());
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
  const Part part[] = {Part{}};
  Owner owner;
  owner.*list = part;
  EXPECT_TRUE(test::equal_bodies((*decoded)->view().body, Observation(owner))) << wire::EnumNameBody(tag) << " field " << id;
}

TEST(Codec, agrees_with_the_schemas_on_the_defaults_of_parts) {
  expect_default_part<18>(wire::Body::JobObserved, &JobObserved::pod_sets);
  expect_default_part<13>(wire::Body::WorkloadObserved, &WorkloadObserved::conditions);
  expect_default_part<17>(wire::Body::WorkloadObserved, &WorkloadObserved::checks);
  expect_default_part<16>(wire::Body::WorkloadObserved, &WorkloadObserved::assignments);
  expect_default_part<3>(wire::Body::ResourceFlavorObserved, &ResourceFlavorObserved::tolerations);
}

TEST(Codec, refuses_bytes_that_are_no_record_as_corrupt) {
  EXPECT_EQ(kind_of_failure({}), ErrorKind::corrupt);
  EXPECT_EQ(kind_of_failure(Bytes(3)), ErrorKind::corrupt);
  EXPECT_EQ(kind_of_failure(Bytes(500)), ErrorKind::corrupt);
  EXPECT_EQ(kind_of_failure(Bytes(500, std::byte{0xFF})), ErrorKind::corrupt);
  test::RandomRecords random(1);
  Bytes other = encode(random.record());
  other[4] = std::byte{'X'};
  const auto wrong = decode(other);
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().message, "record: its " + std::to_string(other.size()) + " bytes do not carry the identifier HSRC");
}

TEST(Codec, refuses_every_record_that_was_cut_short) {
  test::RandomRecords random(5);
  const Bytes bytes = encode(random.record(1));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto cut = decode(std::span(bytes).first(size));
    // What a cut takes away may be the padding at the very end.
    if (cut.has_value()) {
      EXPECT_GT(size + 8, bytes.size());
    } else {
      EXPECT_EQ(cut.error().kind, ErrorKind::corrupt);
    }
  }
}

TEST(Codec, stops_at_a_record_of_a_newer_schema_version) {
  const auto record = decode(Forged{.version = schema_version + 1}.bytes());
  ASSERT_FALSE(record.has_value());
  EXPECT_EQ(record.error().kind, ErrorKind::unsupported);
  EXPECT_EQ(record.error().message, "record: it was written with schema version " + std::to_string(schema_version + 1) +
                                        " by a newer release; this build reads up to " + std::to_string(schema_version));
  EXPECT_EQ(kind_of_failure(Forged{.version = 0}.bytes()), ErrorKind::corrupt);
}

TEST(Codec, stops_at_a_body_that_it_does_not_know) {
  const auto record = decode(Forged{.tag = static_cast<wire::Body>(99)}.bytes());
  ASSERT_FALSE(record.has_value());
  EXPECT_EQ(record.error().kind, ErrorKind::unsupported);
  EXPECT_EQ(record.error().message, "record: its body is of the unknown kind 99");
  EXPECT_EQ(kind_of_failure(Forged{.tag = wire::Body::NONE}.bytes()), ErrorKind::corrupt);
  EXPECT_EQ(kind_of_failure(Forged{.body = {}}.bytes()), ErrorKind::corrupt);
}

TEST(Codec, stops_at_an_event_that_it_does_not_know) {
  const auto forged = [](std::uint8_t tag, bool with_event) {
    return Forged{.tag = wire::Body::Decisions, .body = [=](auto& b) {
                    const auto event = with_event ? Forged::empty_table(b) : flatbuffers::Offset<void>();
                    const auto events = b.CreateVector(std::vector{wire::CreateDecision(b, static_cast<wire::Event>(tag), event)});
                    return wire::CreateDecisions(b, 0, wire::StepKind::cycle, events).Union();
                  }};
  };
  const auto record = decode(forged(200, true).bytes());
  ASSERT_FALSE(record.has_value());
  EXPECT_EQ(record.error().kind, ErrorKind::unsupported);
  EXPECT_EQ(record.error().message, "record: event 0 is of the unknown kind 200");
  EXPECT_EQ(kind_of_failure(forged(0, true).bytes()), ErrorKind::corrupt);
  EXPECT_EQ(kind_of_failure(forged(5, false).bytes()), ErrorKind::corrupt);
}

TEST(Codec, stops_at_an_enum_value_that_it_does_not_know) {
  const Forged forged{.tag = wire::Body::ObjectDeleted,
                      .body = [](auto& b) { return wire::CreateObjectDeleted(b, static_cast<wire::ObjectKind>(77)).Union(); }};
  const auto record = decode(forged.bytes());
  ASSERT_FALSE(record.has_value());
  EXPECT_EQ(record.error().kind, ErrorKind::unsupported);
  EXPECT_EQ(record.error().message, "record: value 77 of ObjectKind is unknown; this build knows 0 to 13");
}

// Tables may be shared on the wire: a few kilobytes could ask for gigabytes of lists.
TEST(Codec, refuses_lists_that_grow_out_of_proportion) {
  const Forged forged{.tag = wire::Body::ClusterQueueObserved, .body = [](auto& b) {
                        const auto name = b.CreateString("x");
                        const auto names = b.CreateVector(std::vector(2000, name));
                        const auto rule = wire::CreateAdmissionCheckRule(b, 0, names);
                        const auto rules = b.CreateVector(std::vector(2000, rule));
                        wire::ClusterQueueObservedBuilder queue(b);
                        queue.add_admission_checks(rules);
                        return queue.Finish().Union();
                      }};
  const auto record = decode(forged.bytes());
  ASSERT_FALSE(record.has_value());
  EXPECT_EQ(record.error().kind, ErrorKind::corrupt);
  EXPECT_EQ(record.error().message, "record: its lists share tables");
}

TEST(Codec, reads_on_after_a_refused_record) {
  RecordReader reader;
  test::RandomRecords random(6);
  const RecordView record = random.record(12);
  const Bytes good = encode(record);
  EXPECT_FALSE(reader.read(Bytes(100)).has_value());
  EXPECT_TRUE(test::equal_records(*reader.read(good).value(), record));
  EXPECT_FALSE(reader.read(Forged{.tag = static_cast<wire::Body>(99)}.bytes()).has_value());
  EXPECT_TRUE(test::equal_records(*reader.read(good).value(), record));
}

template <class E, class Names>
void expect_same_names(const Names& names) {
  for (const auto& enumerator : Enumerators<E>::list) EXPECT_EQ(enumerator.name, names[static_cast<std::size_t>(enumerator.value)]);
}

TEST(Codec, names_enum_values_as_the_schemas_do) {
  expect_same_names<ObjectKind>(wire::EnumNamesObjectKind());
  expect_same_names<TaintEffect>(wire::EnumNamesTaintEffect());
  expect_same_names<SelectorOperator>(wire::EnumNamesSelectorOperator());
  expect_same_names<QueueingStrategy>(wire::EnumNamesQueueingStrategy());
  expect_same_names<StopPolicy>(wire::EnumNamesStopPolicy());
  expect_same_names<FungibilityPolicy>(wire::EnumNamesFungibilityPolicy());
  expect_same_names<FungibilityPreference>(wire::EnumNamesFungibilityPreference());
  expect_same_names<PreemptionPolicy>(wire::EnumNamesPreemptionPolicy());
  expect_same_names<AdmissionMode>(wire::EnumNamesAdmissionMode());
  expect_same_names<ConditionType>(wire::EnumNamesConditionType());
  expect_same_names<ConditionStatus>(wire::EnumNamesConditionStatus());
  expect_same_names<CheckState>(wire::EnumNamesCheckState());
  expect_same_names<PriorityClassKind>(wire::EnumNamesPriorityClassKind());
  expect_same_names<RequeueReason>(wire::EnumNamesRequeueReason());
  expect_same_names<StepKind>(wire::EnumNamesStepKind());
}

}  // namespace
}  // namespace hindsight::events
