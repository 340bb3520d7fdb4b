// What the way to the brokers can do to a log, on the mock cluster of librdkafka: its brokers fail on demand.

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <librdkafka/rdkafkacpp.h>

#include <array>
#include <cstring>
#include <memory>

#include "events/kafka/message.hpp"
#include "events/kafka/producer.hpp"
#include "events/kafka/reader.hpp"
#include "events/kafka/settings.hpp"
#include "tests/events/log_records.hpp"

namespace hindsight::test {
namespace {

using events::kafka::Access;
using events::kafka::LastWords;
using events::kafka::Outgoing;
using events::kafka::Producer;
using events::kafka::Reader;

/// Three brokers in this process, with one topic.
class MockCluster {
 public:
  MockCluster() {
    std::array<char, 256> why{};
    client_ = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), why.data(), why.size());
    cluster_ = rd_kafka_mock_cluster_new(client_, 3);
    rd_kafka_mock_topic_create(cluster_, "hindsight.log", 1, 3);
    rd_kafka_mock_partition_set_leader(cluster_, "hindsight.log", 0, 1);
  }
  MockCluster(const MockCluster&) = delete;
  MockCluster& operator=(const MockCluster&) = delete;
  ~MockCluster() {
    rd_kafka_mock_cluster_destroy(cluster_);
    rd_kafka_destroy(client_);
  }
  [[nodiscard]] std::string brokers() const { return rd_kafka_mock_cluster_bootstraps(cluster_); }
  void all(bool up) {
    for (const int broker : {1, 2, 3}) (up ? rd_kafka_mock_broker_set_up : rd_kafka_mock_broker_set_down)(cluster_, broker);
  }
  /// As brokers that have just started, and have not heard yet what they hold.
  void know_the_topic(bool known) {
    rd_kafka_mock_topic_set_error(cluster_, "hindsight.log", known ? RD_KAFKA_RESP_ERR_NO_ERROR : RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  }
  /// As brokers from before Kafka 0.11, which know no idempotent producers (InitProducerId, API key 22).
  void be_old() { rd_kafka_mock_set_apiversion(cluster_, 22, -1, -1); }
  /// The next answers to Produce (API key 0).
  void answer_produce(std::vector<rd_kafka_resp_err_t> errors) {
    rd_kafka_mock_push_request_errors_array(cluster_, 0, errors.size(), errors.data());
  }

 private:
  rd_kafka_t* client_ = nullptr;
  rd_kafka_mock_cluster_t* cluster_ = nullptr;
};

class KafkaFaults : public testing::Test {
 protected:
  KafkaFaults() { access_.settings.patience = std::chrono::milliseconds(3000); }

  Producer::Outcome send(std::size_t count) {
    std::vector<Outgoing> messages;
    for (std::size_t i = 0; i < count; ++i)
      messages.push_back({"default", 4, 1, [this](std::byte* out) {
                            const auto number = static_cast<std::uint32_t>(++sent_);
                            std::memcpy(out, &number, sizeof number);
                          }});
    return producer_.send(messages);
  }
  /// The numbers in the partition, in their order.
  std::vector<std::uint32_t> stored(std::size_t count) {
    auto reader = Reader::open(access_, words_, "hindsight.log", 0, {});
    EXPECT_TRUE(reader.has_value());
    EXPECT_TRUE((*reader)->start(0).has_value());
    std::vector<std::uint32_t> out;
    while (out.size() < count) {
      const auto came = (*reader)->next(std::chrono::seconds(10), [&](const events::kafka::RawMessage& message) {
        std::uint32_t number = 0;
        std::memcpy(&number, message.value.data(), sizeof number);
        out.push_back(number);
      });
      if (!came || !*came) break;
    }
    return out;
  }

  MockCluster cluster_;
  Access access_{{.brokers = cluster_.brokers()}, {}};
  LastWords words_;
  Producer producer_{access_, words_, "hindsight.log", 0};
  int sent_ = 0;
};

TEST_F(KafkaFaults, writes_in_order_and_knows_the_offsets) {
  const auto outcome = send(5);
  ASSERT_TRUE(outcome.error.has_value()) << outcome.error.error().message;
  EXPECT_EQ(outcome.offsets, (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(send(1).offsets, std::vector<std::int64_t>{5});
  EXPECT_EQ(stored(6), (std::vector<std::uint32_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(producer_.clients(), 1u);
}

TEST_F(KafkaFaults, a_reader_that_rested_goes_on_where_it_was) {
  ASSERT_TRUE(send(3).error.has_value());
  auto reader = Reader::open(access_, words_, "hindsight.log", 0, {}).value();
  ASSERT_TRUE(reader->start(0).has_value());
  std::vector<std::int64_t> seen;
  const auto next = [&] {
    const auto came = reader->next(std::chrono::seconds(10), [&](const events::kafka::RawMessage& m) { seen.push_back(m.offset); });
    return came && *came;
  };
  ASSERT_TRUE(next() && next());
  reader->rest();
  reader->rest();
  EXPECT_EQ(reader->at(), 2);
  EXPECT_TRUE(reader->start(2).has_value()) << "it stands there";
  ASSERT_TRUE(next());
  reader->rest();
  ASSERT_TRUE(send(1).error.has_value());
  EXPECT_EQ(reader->last(std::chrono::seconds(10)).value(), 4U) << "questions are answered all the same";
  ASSERT_TRUE(next());
  EXPECT_EQ(seen, (std::vector<std::int64_t>{0, 1, 2, 3}));
}

TEST_F(KafkaFaults, tries_again_what_passes_without_doubling_or_reordering) {
  ASSERT_TRUE(send(1).error.has_value());
  cluster_.answer_produce({RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS});
  const auto outcome = send(3);
  ASSERT_TRUE(outcome.error.has_value()) << outcome.error.error().message;
  EXPECT_EQ(stored(4), (std::vector<std::uint32_t>{1, 2, 3, 4}));
}

TEST_F(KafkaFaults, brokers_that_stay_away_make_an_error_in_time_and_a_new_client_later) {
  ASSERT_TRUE(send(2).error.has_value());
  cluster_.all(false);
  const auto lost = send(2);
  ASSERT_FALSE(lost.error.has_value());
  EXPECT_EQ(lost.error.error().kind, ErrorKind::unavailable) << lost.error.error().message;
  EXPECT_TRUE(lost.offsets.empty());
  cluster_.all(true);
  access_.settings.patience = std::chrono::seconds(30);
  const auto outcome = send(1);
  ASSERT_TRUE(outcome.error.has_value()) << outcome.error.error().message;
  EXPECT_EQ(producer_.clients(), 2u);
  EXPECT_EQ(stored(3), (std::vector<std::uint32_t>{1, 2, 5}));  // what was lost did not come after all
}

TEST_F(KafkaFaults, a_client_that_is_lost_for_good_is_replaced) {
  ASSERT_TRUE(send(1).error.has_value());
  ASSERT_EQ(rd_kafka_test_fatal_error(producer_.client()->c_ptr(), RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, "for this test"),
            RD_KAFKA_RESP_ERR_NO_ERROR);
  const auto lost = send(1);
  ASSERT_FALSE(lost.error.has_value());
  EXPECT_EQ(lost.error.error().kind, ErrorKind::io) << lost.error.error().message;
  EXPECT_NE(lost.error.error().message.find("for this test"), std::string::npos) << lost.error.error().message;
  ASSERT_TRUE(send(1).error.has_value());
  EXPECT_EQ(producer_.clients(), 2u);
  EXPECT_EQ(stored(2),
            (std::vector<std::uint32_t>{1, 2}));  // a client that is lost takes nothing: the second number was given out only now
}

TEST_F(KafkaFaults, brokers_that_are_too_old_are_named_as_that) {
  cluster_.be_old();
  const auto old = send(1);
  ASSERT_FALSE(old.error.has_value());
  EXPECT_EQ(old.error.error().kind, ErrorKind::unsupported) << old.error.error().message;
  EXPECT_NE(old.error.error().message.find("the brokers are too old, allowed: Kafka 2.1 and newer"), std::string::npos)
      << old.error.error().message;
}

TEST_F(KafkaFaults, a_refused_message_is_told_as_what_it_is) {
  ASSERT_TRUE(send(1).error.has_value());
  cluster_.answer_produce({RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED});
  const auto denied = send(1);
  ASSERT_FALSE(denied.error.has_value());
  EXPECT_EQ(denied.error.error().kind, ErrorKind::denied) << denied.error.error().message;
  cluster_.answer_produce({RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE});
  const auto large = send(1);
  ASSERT_FALSE(large.error.has_value());
  EXPECT_EQ(large.error.error().kind, ErrorKind::invalid) << large.error.error().message;
}

TEST_F(KafkaFaults, brokers_that_do_not_know_the_partition_for_long_are_waited_for) {
  ASSERT_TRUE(send(2).error.has_value());
  cluster_.know_the_topic(false);
  auto reader = Reader::open(access_, words_, "hindsight.log", 0, {}).value();
  const auto unknown = reader->extent(std::chrono::milliseconds(300));
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().kind, ErrorKind::unavailable) << unknown.error().message;
  cluster_.know_the_topic(true);
  const auto known = reader->extent(std::chrono::seconds(30));
  ASSERT_TRUE(known.has_value()) << known.error().message;
  EXPECT_EQ(known->last, 2u);
}

// ---- without any broker ---------------------------------------------------------------------------------------------------

TEST(KafkaLocation, reads_what_it_writes) {
  using events::kafka::Location;
  using events::kafka::parse_location;
  EXPECT_EQ(parse_location("kafka:a:9092").value(), (Location{"a:9092", "hindsight", 0}));
  EXPECT_EQ(parse_location("kafka:a:9092,b:9093/team-x?partition=3").value(), (Location{"a:9092,b:9093", "team-x", 3}));
  for (const std::string text : {"kafka:a:9092", "kafka:a:9092,b:1/x", "kafka:[::1]:9092?partition=7", "kafka:a:1/x.y_z?partition=9999"})
    EXPECT_EQ(parse_location(text).value().text(), text);
  for (const std::string text :
       {"kafka:", "kafka:a", "kafka:a:", "kafka::9092", "kafka:a:0", "kafka:a:70000", "kafka:a:9092,", "kafka:a:9092/", "kafka:a:9092/x y",
        "kafka:a:9092?partition=", "kafka:a:9092?partition=-1", "kafka:a:9092?offset=1"}) {
    const auto wrong = parse_location(text);
    ASSERT_FALSE(wrong.has_value()) << text;
    EXPECT_EQ(wrong.error().kind, ErrorKind::invalid);
    EXPECT_NE(wrong.error().message.find("allowed: "), std::string::npos) << wrong.error().message;
  }
}

TEST(KafkaSettings, takes_what_is_on_the_list_and_names_the_rest) {
  using events::kafka::parse_settings;
  const auto good =
      parse_settings("# the way\nsecurity.protocol = ssl\r\n\nssl.ca.location=/dev/null\npatience.ms=5000\nreplication.factor=3", "f");
  ASSERT_TRUE(good.has_value()) << good.error().message;
  EXPECT_EQ(good->client.at("security.protocol"), "ssl");
  EXPECT_EQ(good->patience.count(), 5000);
  EXPECT_EQ(good->replication_factor, 3);
  EXPECT_NE(parse_settings("a\n", "f").error().message.find("f, line 1: found \"a\"; allowed: KEY=VALUE"), std::string::npos);
  EXPECT_NE(parse_settings("\nacks=1\n", "f").error().message.find("f, line 2: the key is \"acks\"; allowed: "), std::string::npos);
  EXPECT_NE(parse_settings("security.protocol=wire", "f").error().message.find("security.protocol is \"wire\""), std::string::npos);
  EXPECT_EQ(parse_settings("ssl.key.location=/nowhere/key.pem", "f").error().message,
            "f, line 1: ssl.key.location is \"/nowhere/key.pem\": No such file or directory; allowed: a file that can be read");
  EXPECT_NE(parse_settings("patience.ms=fast", "f").error().message.find("patience.ms is \"fast\"; allowed: a number from"),
            std::string::npos);
}

TEST(KafkaMessages, give_back_what_was_written_and_find_every_flipped_bit) {
  using namespace events::kafka;
  const std::string text = "some bytes";
  const events::EncodedRecord record{"default", 7, 3, Time{123'456'789}, std::as_bytes(std::span(text))};
  std::vector<std::byte> message(record_head_bytes + text.size());
  write_record(record, message.data());
  const auto read = read_record("default", message, 42);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(test::text(*read), "42 default 7 e3 t123456789 some bytes");
  for (std::size_t bit = 0; bit < message.size() * 8; ++bit) {
    auto damaged = message;
    damaged[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    const auto found = read_record("default", damaged, 42);
    ASSERT_FALSE(found.has_value()) << bit;
    EXPECT_TRUE(found.error().kind == ErrorKind::corrupt || found.error().kind == ErrorKind::unsupported);
  }
  EXPECT_FALSE(read_record("defaulu", message, 42).has_value());
  for (std::size_t size = 0; size < message.size(); ++size)
    EXPECT_FALSE(read_record("default", std::span(message).first(size), 42).has_value());
}

TEST(KafkaMessages, entries_about_snapshots_and_domains_survive_any_damage) {
  using namespace events::kafka;
  const SnapshotEntry entry{
      {.position = 9, .epoch = 2, .time = Time{5}, .schema_version = 1, .state_hash = 77, .release = "0.1.0"}, 3, 4, {10, 12}};
  const events::DomainsAt tails{12, {{"a", 7, 1, 11}, {"b", 5, 2, 12}}};
  SnapshotEntry of_a_domain = entry;
  of_a_domain.meta.domain = "prod/root-a";
  const auto entry_bytes = write_snapshot_entry(entry);
  const auto domain_bytes = write_snapshot_entry(of_a_domain);
  const auto tails_bytes = write_tails(tails);
  events::DomainsAt cut = tails;
  cut.owners = {{"a", 1, Time{7}, "node-1_5_9", "0.1.0"}, {"b", 2, Time{8}, "node-2_6_4", "0.2.0"}};
  const auto cut_bytes = write_tails(cut);
  EXPECT_EQ(read_snapshot_entry(entry_bytes).value(), entry);
  EXPECT_EQ(read_snapshot_entry(domain_bytes).value(), of_a_domain);
  EXPECT_EQ(read_tails(tails_bytes).value(), tails);
  EXPECT_EQ(read_tails(cut_bytes).value(), cut);
  for (const auto& bytes : {entry_bytes, domain_bytes, tails_bytes, cut_bytes}) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      auto damaged = bytes;
      damaged[i] ^= std::byte{0x41};
      EXPECT_FALSE(read_snapshot_entry(damaged).has_value());
      EXPECT_FALSE(read_tails(damaged).has_value());
      EXPECT_FALSE(read_tails(std::span(bytes).first(i)).has_value());
    }
  }
  for (const char* domain : {"", "default", "prod/root-a"}) {
    const auto key = read_snapshot_key(snapshot_key(42, domain));
    ASSERT_TRUE(key.has_value()) << domain;
    EXPECT_EQ(*key, std::pair(events::Position{42}, std::string(domain)));
  }
  for (const char* none : {"tails", "snapshot/", "snapshot/42/", "snapshot/42x"}) EXPECT_FALSE(read_snapshot_key(none).has_value()) << none;
}

}  // namespace
}  // namespace hindsight::test
