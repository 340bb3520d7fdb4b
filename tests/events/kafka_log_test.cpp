#include "events/kafka_log.hpp"

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafkacpp.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <thread>

#include "events/chain.hpp"
#include "events/kafka/message.hpp"
#include "events/kafka/producer.hpp"
#include "events/kafka/snapshot_store.hpp"
#include "events/kafka/topics.hpp"
#include "events/log_copy.hpp"
#include "events/sqlite_log.hpp"
#include "tests/cli/within_seconds.hpp"
#include "tests/events/kafka_broker.hpp"
#include "tests/events/log_contract.hpp"
#include "tests/events/temporary_folder.hpp"

namespace hindsight::test {
namespace {

using events::KafkaLog;

std::unique_ptr<KafkaLog> open(const events::kafka::Location& location, events::KafkaLogOptions options = {}) {
  auto log = KafkaLog::open(location, std::move(options));
  EXPECT_TRUE(log.has_value()) << (log ? "" : log.error().message);
  return log ? std::move(*log) : nullptr;
}

struct KafkaLogMaker {
  std::unique_ptr<events::Log> make() { return open(KafkaBroker::instance().new_topics()); }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Kafka, LogContract, KafkaLogMaker);

class KafkaLogTest : public testing::Test {
 protected:
  KafkaBroker& broker_ = KafkaBroker::instance();
  events::kafka::Location location_ = broker_.new_topics();
};

TEST_F(KafkaLogTest, goes_on_where_the_writer_before_ended) {
  {
    const auto log = open(location_);
    ASSERT_TRUE(log->append(Records::run("a", 1, 3).list(), 0));
    ASSERT_TRUE(log->append(Records().add("b", 1, 7).list(), 3));
  }
  const auto log = open(location_);
  EXPECT_EQ(log->last().value(), 4u);
  const std::vector<events::DomainTail> tails{{"a", 3, 1, 3}, {"b", 1, 7, 4}};
  EXPECT_EQ(log->domains().value(), tails);
  EXPECT_EQ(log->append(Records().add("a", 3).list(), {}).error().kind, ErrorKind::conflict);
  EXPECT_EQ(log->append(Records().add("a", 4).list(), 4).value(), 5u);
}

// A writer that comes later need not read a long log only to know where its domains stand.
TEST_F(KafkaLogTest, notes_where_the_domains_stand_as_the_log_grows) {
  constexpr std::size_t records = 60'000, at_once = 2'000;
  const auto log = open(location_);
  for (std::size_t i = 0; i < records; i += at_once) ASSERT_TRUE(log->append(Records::run("a", i + 1, at_once).list(), i));
  const events::kafka::Access access{location_, {}};
  events::kafka::LastWords words;
  events::kafka::SnapshotStore notes(access, words);
  std::optional<events::DomainsAt> noted;
  for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60); !noted && std::chrono::steady_clock::now() < end;) {
    noted = notes.tails().value();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  ASSERT_TRUE(noted.has_value());
  EXPECT_GE(noted->position, 50'000u);
  const std::vector<events::DomainTail> tails{{"a", noted->position, 1, noted->position}};
  EXPECT_EQ(noted->tails, tails);
  EXPECT_EQ(open(location_)->domains().value(), (std::vector<events::DomainTail>{{"a", records, 1, records}}));
}

TEST_F(KafkaLogTest, tells_readers_beside_the_writer_at_once) {
  const auto writer = open(location_);
  const auto reader = open(location_, {.read_only = true});
  EXPECT_EQ(reader->wait_beyond(0, Duration::millis(1)).value(), 0u);
  events::Position seen = 0;
  {
    std::jthread waiter([&] { seen = reader->wait_beyond(0, Duration::seconds(60)).value(); });
    ASSERT_TRUE(writer->append(Records::run("a", 1, 3).list(), 0));
  }
  EXPECT_GE(seen, 1u);
  EXPECT_EQ(read_all(*reader), read_all(*writer));
  EXPECT_EQ(reader->append(Records().add("a", 4).list(), {}).error().kind, ErrorKind::denied);
}

TEST_F(KafkaLogTest, passes_over_what_a_replaced_writer_leaves_behind) {
  const auto first = open(location_);
  ASSERT_TRUE(first->append(Records().add("a", 1, 1).list(), 0));
  const auto second = open(location_);
  ASSERT_TRUE(second->append(Records().add("a", 2, 2).add("a", 3, 2).list(), 1));
  // The first knows of one record and writes its second: either it has read by now that it is late, or its record lands where it should
  // not.
  const auto late = first->append(Records().add("a", 2, 1).list(), 1);
  ASSERT_FALSE(late.has_value()) << "nobody noticed";
  const bool landed = late.error().kind == ErrorKind::io;
  EXPECT_TRUE(landed || late.error().kind == ErrorKind::conflict) << late.error().message;
  if (landed) {
    EXPECT_EQ(second->wait_beyond(3, Duration::seconds(60)).value(), 4u);
  }
  // For the second nothing has happened: what it expects still holds.
  ASSERT_TRUE(second->append(Records().add("a", 4, 2).list(), 3)) << "the domain is lost";
  const auto tails = second->domains().value();
  ASSERT_EQ(tails.size(), 1u);
  EXPECT_EQ(tails[0].sequence, 4u);
  EXPECT_EQ(tails[0].epoch, 2u);
  const auto report = second->check();
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->passed_over, landed ? 1u : 0u);
}

TEST_F(KafkaLogTest, keeps_snapshots_that_are_longer_than_a_message) {
  const auto log = open(location_);
  ASSERT_TRUE(log->append(Records::run("a", 1, 10).list(), 0));
  std::vector<std::byte> bytes(5'000'000);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>((i * 2654435761U) >> 13);
  ASSERT_TRUE(log->put_snapshot({.position = 7, .release = "0.1.0"}, bytes));
  const auto other = open(location_, {.read_only = true});
  const auto stored = other->snapshot(7, "");
  ASSERT_TRUE(stored.has_value()) << stored.error().message;
  EXPECT_EQ(stored->bytes, bytes);
  ASSERT_TRUE(log->put_snapshot({.position = 7, .release = "0.1.1"}, std::span(bytes).first(1'000'000)));
  EXPECT_EQ(other->snapshot(7, "").value().bytes.size(), 1'000'000u);
  ASSERT_TRUE(log->drop_snapshot(7, ""));
  EXPECT_EQ(other->snapshot(7, "").error().kind, ErrorKind::not_found);
}

/// The newest snapshots are kept beside the topic too; the topic says which there are.
TEST_F(KafkaLogTest, reads_copies_of_snapshots_from_a_folder) {
  const TemporaryFolder folder;
  const auto copies = [&] {
    std::vector<std::filesystem::path> out;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path() / "copies")) out.push_back(entry.path());
    std::sort(out.begin(), out.end());
    return out;
  };
  events::KafkaLogOptions with_copies;
  with_copies.snapshot_folder = (folder.path() / "copies").string();
  const auto log = open(location_, with_copies);
  ASSERT_TRUE(log->append(Records::run("a", 1, 10).list(), 0));
  const auto bytes = [](int n) { return std::vector<std::byte>(100'000, static_cast<std::byte>(n)); };
  for (const int n : {7, 8, 9}) ASSERT_TRUE(log->put_snapshot({.position = static_cast<events::Position>(n), .domain = "a/b"}, bytes(n)));
  ASSERT_EQ(copies().size(), 2u) << "of the newest";
  EXPECT_EQ(open(location_, with_copies)->snapshot(9, "a/b").value().bytes, bytes(9));

  // One that is gone, one that is damaged, one that is too short: the brokers have them all, and then they are there again.
  const auto read_after = [&](const std::function<void(const std::filesystem::path&)>& harm) {
    for (const auto& path : copies()) harm(path);
    const auto other = open(location_, with_copies);
    for (const int n : {7, 8, 9}) EXPECT_EQ(other->snapshot(static_cast<events::Position>(n), "a/b").value().bytes, bytes(n));
    ASSERT_EQ(copies().size(), 2u);
    for (const auto& path : copies()) EXPECT_EQ(std::filesystem::file_size(path), 100'000u);
  };
  read_after([](const auto& path) { std::filesystem::remove(path); });
  read_after([](const auto& path) { std::filesystem::resize_file(path, 99'999); });
  read_after([](const auto& path) { std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(50'000).put('x'); });

  // What a dropped snapshot left in the folder is not given any more.
  ASSERT_TRUE(log->drop_snapshot(9, "a/b"));
  EXPECT_EQ(log->snapshot(9, "a/b").error().kind, ErrorKind::not_found);
  with_copies.snapshot_folder = "/proc/none";
  const auto refused = KafkaLog::open(location_, with_copies);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("folder /proc/none for copies of snapshots"), std::string::npos) << refused.error().message;
}

TEST_F(KafkaLogTest, takes_records_of_several_megabytes) {
  const auto log = open(location_);
  const std::string bytes(8'000'000, 'x');
  ASSERT_EQ(log->append(Records().add("a", 1, 1, 5, bytes).list(), 0).value(), 1u);
  events::RecordBatch batch;
  ASSERT_TRUE(open(location_, {.read_only = true})->read(1, {}, batch));
  ASSERT_EQ(batch.size(), 1u);
  EXPECT_EQ(batch[0].bytes.size(), bytes.size());
}

TEST_F(KafkaLogTest, names_the_topics_that_are_missing_and_the_command_that_makes_them) {
  const auto log = KafkaLog::open(broker_.new_location());
  ASSERT_FALSE(log.has_value());
  EXPECT_EQ(log.error().kind, ErrorKind::not_found);
  EXPECT_NE(log.error().message.find("hindsight log init"), std::string::npos) << log.error().message;
}

TEST_F(KafkaLogTest, makes_topics_once_and_finds_them_fit_later) {
  const auto again = events::kafka::make_topics({location_, {}});
  ASSERT_TRUE(again.has_value()) << again.error().message;
  ASSERT_EQ(again->size(), 2u);
  EXPECT_FALSE((*again)[0].made);
  EXPECT_EQ((*again)[0].facts.settings.value().at("cleanup.policy"), "delete");
  EXPECT_EQ((*again)[1].facts.settings.value().at("cleanup.policy"), "compact");
}

/// A topic as somebody else made it.
void make_topic(const std::string& brokers, const std::string& name, const std::map<std::string, std::string>& settings) {
  std::unique_ptr<RdKafka::Conf> conf(RdKafka::Conf::create(RdKafka::Conf::CONF_GLOBAL));
  std::string why(256, '\0');
  conf->set("bootstrap.servers", brokers, why);
  const std::unique_ptr<RdKafka::Producer> client(RdKafka::Producer::create(conf.get(), why));
  rd_kafka_NewTopic_t* topic = rd_kafka_NewTopic_new(name.c_str(), 2, 1, why.data(), why.size());
  for (const auto& [key, value] : settings) rd_kafka_NewTopic_set_config(topic, key.c_str(), value.c_str());
  rd_kafka_queue_t* queue = rd_kafka_queue_new(client->c_ptr());
  rd_kafka_CreateTopics(client->c_ptr(), &topic, 1, nullptr, queue);
  rd_kafka_event_t* event = rd_kafka_queue_poll(queue, 30'000);
  EXPECT_NE(event, nullptr);
  rd_kafka_event_destroy(event);
  rd_kafka_queue_destroy(queue);
  rd_kafka_NewTopic_destroy(topic);
}

TEST_F(KafkaLogTest, refuses_topics_that_would_lose_records_and_says_why) {
  const std::map<std::string, std::string> wrong{{"cleanup.policy", "compact"},
                                                 {"message.timestamp.type", "LogAppendTime"},
                                                 {"retention.ms", "3600000"},
                                                 {"unclean.leader.election.enable", "true"},
                                                 {"min.insync.replicas", "2"}};
  for (const auto& [key, value] : wrong) {
    const auto location = broker_.new_location();
    std::map<std::string, std::string> settings{{"retention.ms", "-1"}};
    settings[key] = value;
    make_topic(broker_.address(), location.record_topic(), settings);
    const auto made = events::kafka::make_topics({location, {}});
    ASSERT_FALSE(made.has_value()) << key;
    EXPECT_EQ(made.error().kind, ErrorKind::unsupported);
    EXPECT_NE(made.error().message.find("topic " + location.record_topic() + ": " + key + " is " + value + "; allowed: "),
              std::string::npos)
        << made.error().message;
  }
}

/// The chain goes over what counts: a record of a writer that was replaced is no part of it, and a copy in a file has the same chain.
TEST_F(KafkaLogTest, has_the_chain_of_its_copy_whatever_replaced_writers_leave_behind) {
  const auto key = evidence::SigningKey::make().value();
  const auto chain_to_the_end = [](const events::Log& log, const events::ChainStart& start) {
    events::ChainWalk walk(log, start);
    EXPECT_TRUE(walk.to(log.last().value()));
    return walk.head();
  };
  {
    const auto log = open(location_);
    ASSERT_TRUE(log->append(Records().add("a", 1, 1).add("b", 1, 1).add("a", 2, 2).list(), 0));
    // What a writer sends that does not know that epoch 2 has begun.
    const auto late = Records().add("a", 3, 1);
    const auto records = late.list();
    const events::kafka::Access access{location_, {}};
    events::kafka::LastWords words;
    events::kafka::Producer producer(access, words, location_.record_topic(), location_.partition);
    const events::kafka::Outgoing message{records[0].domain, events::kafka::record_head_bytes + records[0].bytes.size(), 1,
                                          [&](std::byte* out) { events::kafka::write_record(records[0], out); }};
    ASSERT_TRUE(producer.send({&message, 1}).error);
    EXPECT_EQ(log->wait_beyond(3, Duration::seconds(60)).value(), 4u);
    ASSERT_TRUE(log->append(Records().add("a", 3, 2).list(), 4));
    events::ChainWalk walk(*log, events::chain_start(*log).value());
    ASSERT_TRUE(walk.to(5));
    EXPECT_EQ(walk.head().records, 4u);
    EXPECT_EQ(walk.passed_over(), 1u);
    ASSERT_TRUE(events::store_checkpoint(*log, walk, Time{1'795'788'000'000'000}, "0.1.0", &key));
    ASSERT_TRUE(log->append(Records().add("b", 2, 1).list(), 5));
  }
  // Another process takes it up at the checkpoint, and knows there that "a" is in epoch 2.
  const auto log = open(location_, {.read_only = true});
  const auto start = events::chain_resume(*log, &key.public_key()).value();
  EXPECT_EQ(start.at.position, 5u);
  EXPECT_EQ(start.at.tails, (std::vector<events::DomainTail>{{"a", 3, 2, 5}, {"b", 1, 1, 2}}));
  const auto head = chain_to_the_end(*log, start);
  EXPECT_EQ(head, chain_to_the_end(*log, events::chain_start(*log).value()));
  const TemporaryFolder folder;
  const auto copy = events::SqliteLog::open(folder.file("copy.db")).value();
  const auto report = events::copy_log(*log, *copy);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->checkpoints, 1u);
  EXPECT_EQ(chain_to_the_end(*copy, events::chain_start(*copy).value()), head);
  const auto carried = copy->checkpoints().value();
  ASSERT_EQ(carried.size(), 1u);
  EXPECT_EQ(carried[0].position, 4u);
  EXPECT_TRUE(key.public_key().verifies(carried[0]));
}

TEST_F(KafkaLogTest, goes_on_with_its_chain_behind_a_cut) {
  const auto log = open(location_);
  ASSERT_TRUE(log->append(Records::run("a", 1, 20).list(), 0));
  events::ChainWalk whole(*log, events::chain_start(*log).value());
  ASSERT_TRUE(whole.to(20));
  ASSERT_TRUE(events::keep_head_at(*log, 12, Time{1}, "0.1.0", {}).value());
  ASSERT_TRUE(log->forget({12, {{"a", 12, 1, 12}}}));
  const auto reader = open(location_, {.read_only = true});
  const auto start = events::chain_start(*reader).value();
  EXPECT_EQ(start.from, events::ChainStart::From::cut);
  events::ChainWalk rest(*reader, start);
  ASSERT_TRUE(rest.to(20));
  EXPECT_EQ(rest.head(), whole.head());
}

/// A message that cannot be read is told: a checkpoint that was made unreadable would else be one that never was.
TEST_F(KafkaLogTest, tells_of_a_checkpoint_that_cannot_be_read) {
  const auto log = open(location_);
  ASSERT_TRUE(log->append(Records::run("a", 1, 3).list(), 0));
  const events::kafka::Access access{location_, {}};
  events::kafka::LastWords words;
  events::kafka::Producer producer(access, words, location_.snapshot_topic(), location_.index_partition());
  const std::string name = events::kafka::checkpoint_key(3);
  const events::kafka::Outgoing message{name, 5, 0, [](std::byte* out) { std::fill_n(out, 5, std::byte{7}); }};
  ASSERT_TRUE(producer.send({&message, 1}).error);
  const auto list = log->checkpoints();
  ASSERT_FALSE(list.has_value());
  EXPECT_EQ(list.error().kind, ErrorKind::corrupt);
  EXPECT_NE(list.error().message.find("the checkpoint at position 3: the message is none of this log"), std::string::npos)
      << list.error().message;
  const auto unreadable = log->unreadable_checkpoints().value();
  ASSERT_EQ(unreadable.size(), 1U);
  EXPECT_EQ(unreadable[0].position, 3U);
  ASSERT_TRUE(log->drop_checkpoint(3));
  EXPECT_TRUE(log->unreadable_checkpoints().value().empty());
  EXPECT_TRUE(log->checkpoints().value().empty());
}

TEST_F(KafkaLogTest, forgets_its_beginning_and_knows_whose_it_was) {
  {
    const auto log = open(location_);
    ASSERT_TRUE(log->append(Records::run("a", 1, 6).list(), 0));
    ASSERT_TRUE(log->append(Records().add("a", 7).add("b", 1).list(), 6));
    EXPECT_EQ(log->beginning("a").value(), 0u);
    ASSERT_TRUE(log->forget({6, {{"a", 6, 1, 6}}}));
    EXPECT_EQ(open(location_, {.read_only = true})->forget({7, {}}).error().kind, ErrorKind::denied);
  }
  const auto log = open(location_);
  // One that trims more slowly, and less far, undoes nothing of that.
  ASSERT_TRUE(log->forget({3, {{"a", 3, 1, 3}}}));
  const auto cut = log->trimmed().value();
  ASSERT_TRUE(cut.has_value());
  EXPECT_EQ(cut->position, 6u);
  EXPECT_EQ(log->first().value(), 7u);
  EXPECT_EQ(log->beginning("b").value(), 6u);
  EXPECT_EQ(log->beginning("nobody").value(), 6u);
  EXPECT_EQ(log->beginning("a").error().kind, ErrorKind::not_found);
  EXPECT_EQ(log->append(Records().add("a", 8).list(), 8).value(), 9u) << "the domains go on";
  const std::vector<events::DomainTail> tails{{"a", 8, 1, 9}, {"b", 1, 1, 8}};
  EXPECT_EQ(log->domains().value(), tails);
}

// What a process that lags behind notes of the domains may lie before the cut; then the trim's own note counts.
TEST_F(KafkaLogTest, knows_domains_of_which_every_record_was_trimmed) {
  {
    const auto log = open(location_);
    ASSERT_TRUE(log->append(Records().add("a", 1).add("a", 2).add("quiet", 1).add("quiet", 2).list(), 0));
    ASSERT_TRUE(log->append(Records().add("a", 3).list(), 4));
    ASSERT_TRUE(log->forget({4, {{"a", 2, 1, 4}, {"quiet", 2, 1, 4}}}));
  }
  const events::kafka::Access access{location_, {}};
  events::kafka::LastWords words;
  ASSERT_TRUE(events::kafka::SnapshotStore(access, words).put_tails({1, {{"a", 1, 1, 1}}}));
  const auto log = open(location_);
  const std::vector<events::DomainTail> tails{{"a", 3, 1, 5}, {"quiet", 2, 1, 4}};
  EXPECT_EQ(log->domains().value(), tails);
  EXPECT_EQ(log->append(Records().add("quiet", 3).list(), 5).value(), 6u);
}

TEST_F(KafkaLogTest, begins_behind_what_a_retention_has_taken) {
  {
    const auto log = open(location_);
    ASSERT_TRUE(log->append(Records::run("a", 1, 10).list(), 0));
  }
  // What an operator's DeleteRecords does.
  std::unique_ptr<RdKafka::Conf> conf(RdKafka::Conf::create(RdKafka::Conf::CONF_GLOBAL));
  std::string why;
  conf->set("bootstrap.servers", broker_.address(), why);
  const std::unique_ptr<RdKafka::Producer> client(RdKafka::Producer::create(conf.get(), why));
  rd_kafka_topic_partition_list_t* before = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(before, location_.record_topic().c_str(), 0)->offset = 6;
  rd_kafka_DeleteRecords_t* wish = rd_kafka_DeleteRecords_new(before);
  rd_kafka_topic_partition_list_destroy(before);
  rd_kafka_queue_t* queue = rd_kafka_queue_new(client->c_ptr());
  rd_kafka_DeleteRecords(client->c_ptr(), &wish, 1, nullptr, queue);
  rd_kafka_event_t* event = rd_kafka_queue_poll(queue, 30'000);
  ASSERT_NE(event, nullptr);
  EXPECT_EQ(rd_kafka_event_error(event), RD_KAFKA_RESP_ERR_NO_ERROR);
  rd_kafka_event_destroy(event);
  rd_kafka_queue_destroy(queue);
  rd_kafka_DeleteRecords_destroy(wish);

  const auto log = open(location_);
  EXPECT_EQ(log->first().value(), 7u);
  const auto beginning = log->beginning("a");
  ASSERT_FALSE(beginning.has_value());
  EXPECT_NE(beginning.error().message.find("not by 'hindsight log trim'"), std::string::npos) << beginning.error().message;
  EXPECT_EQ(log->last().value(), 10u);
  EXPECT_EQ(read_all(*log, 7).size(), 4u);
  events::RecordBatch batch;
  const auto gone = log->read(3, {}, batch);
  ASSERT_FALSE(gone.has_value());
  EXPECT_EQ(gone.error().kind, ErrorKind::not_found);
  EXPECT_NE(gone.error().message.find("the first that is kept is 7"), std::string::npos) << gone.error().message;
  EXPECT_EQ(log->append(Records().add("a", 11).list(), 10).value(), 11u);
}

TEST_F(KafkaLogTest, names_partition_and_offset_of_what_is_no_record) {
  const auto log = open(location_);
  ASSERT_TRUE(log->append(Records::run("a", 1, 2).list(), 0));
  std::unique_ptr<RdKafka::Conf> conf(RdKafka::Conf::create(RdKafka::Conf::CONF_GLOBAL));
  std::string why, junk = "junk";
  conf->set("bootstrap.servers", broker_.address(), why);
  const std::unique_ptr<RdKafka::Producer> client(RdKafka::Producer::create(conf.get(), why));
  client->produce(location_.record_topic(), 0, RdKafka::Producer::RK_MSG_COPY, junk.data(), junk.size(), "a", 1, 0, nullptr);
  ASSERT_EQ(client->flush(30'000), RdKafka::ERR_NO_ERROR);
  const auto reader = open(location_, {.read_only = true});
  const auto all = read_all(*reader);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_NE(all[2].find("record 3 (partition 0, offset 2): the message is none of this log"), std::string::npos) << all[2];
  const auto report = reader->check();
  ASSERT_TRUE(report.has_value()) << report.error().message;
  // Bytes of these tests decode as nothing; the junk is told as what it is.
  EXPECT_EQ(report->findings.back().offset, 3u);
}

// What somebody else put into the topics of a log, through the consumer that reads them: each message is read or refused, those beside it
// are read, and a log can be opened, asked for its snapshots and written.
TEST_F(KafkaLogTest, reads_past_whatever_others_have_put_into_its_topics) {
  std::vector<std::string> good;
  std::unique_ptr<RdKafka::Conf> conf(RdKafka::Conf::create(RdKafka::Conf::CONF_GLOBAL));
  std::string why;
  conf->set("bootstrap.servers", broker_.address(), why);
  conf->set("message.max.bytes", "8000000", why);
  const std::unique_ptr<RdKafka::Producer> client(RdKafka::Producer::create(conf.get(), why));
  std::mt19937_64 random(14);
  const auto put = [&](const std::string& topic, std::string key, std::string value) {
    const auto error =
        client->produce(topic, 0, RdKafka::Producer::RK_MSG_COPY, value.data(), value.size(), key.data(), key.size(), 0, nullptr);
    ASSERT_EQ(error, RdKafka::ERR_NO_ERROR);
  };
  const auto text_of = [](const std::vector<std::byte>& bytes) {
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  constexpr std::size_t lengths[] = {0, 1, 7, 8, 9, 63, 253, 1'000, 32'769, 70'000, 1'000'000};
  {
    const auto log = open(location_);
    ASSERT_TRUE(log->append(Records::run("a", 1, 2).list(), 0));
    std::size_t bad = 0;
    for (const auto n : lengths)
      for (int kind = 0; kind < 4; ++kind, ++bad) {
        std::string value(n, static_cast<char>(random()));
        for (auto& c : value) c = kind == 0 ? c : static_cast<char>(random());
        put(location_.record_topic(), std::string(kind == 3 ? n : 1, 'a'), value);
      }
    ASSERT_EQ(client->flush(60'000), RdKafka::ERR_NO_ERROR);
    const auto reader = open(location_, {.read_only = true});
    ASSERT_TRUE(within_seconds(60, [&] { return reader->last().value() == 2 + bad; })) << reader->last().value();
    events::RecordBatch batch;
    for (std::size_t i = 1; i <= 2 + bad; ++i) {
      const auto read = reader->read(i, {.records = 1}, batch);
      EXPECT_EQ(read.has_value(), i <= 2) << i;
      if (!read) {
        EXPECT_NE(read.error().message.find("partition 0"), std::string::npos) << read.error().message;
      }
    }
  }
  // Entries about snapshots, whole ones among them that lead nowhere.
  for (int i = 0; i < 60; ++i) {
    auto entry = text_of(events::kafka::write_snapshot_entry(
        {.meta = {.position = 2, .epoch = 1, .time = Time{5}, .schema_version = 1, .state_hash = 7, .release = "r", .domain = "a"},
         .bytes = 1'000'000'000'000,
         .checksum = 9,
         .part_offsets = {static_cast<std::int64_t>(random() >> 1U), 3}}));
    if (i % 3 != 0) entry[random() % entry.size()] ^= static_cast<char>(1U << (random() % 8));
    if (i % 5 == 0) entry.resize(random() % entry.size());
    put(location_.snapshot_topic(), events::kafka::snapshot_key(2 + random() % 3, "a"), entry);
    put(location_.snapshot_topic(), std::string(random() % 40, static_cast<char>(random())), std::string(lengths[random() % 9], 'x'));
  }
  ASSERT_EQ(client->flush(60'000), RdKafka::ERR_NO_ERROR);
  const auto log = open(location_, {.read_only = true});
  ASSERT_TRUE(log);
  const auto snapshots = log->snapshots();
  ASSERT_TRUE(snapshots.has_value()) << snapshots.error().message;
  for (const auto& meta : *snapshots) {
    const auto read = log->snapshot(meta.position, meta.domain);
    EXPECT_FALSE(read.has_value()) << "a snapshot of a million million bytes was never written";
  }
}

TEST(KafkaAway, says_that_no_broker_answers) {
  const auto settings = events::kafka::parse_settings("patience.ms=500", "test").value();
  const auto log = KafkaLog::open(events::kafka::parse_location("kafka:127.0.0.1:9").value(), {.settings = settings});
  ASSERT_FALSE(log.has_value());
  EXPECT_EQ(log.error().kind, ErrorKind::unavailable) << log.error().message;
  EXPECT_NE(log.error().message.find("127.0.0.1:9"), std::string::npos) << log.error().message;
}

// Last in this file: the broker goes away and comes back.
TEST_F(KafkaLogTest, rides_out_a_broker_that_restarts_and_reports_one_that_stays_away) {
  auto settings = events::kafka::parse_settings("patience.ms=2000", "test").value();
  const auto log = open(location_, {.settings = settings});
  const auto reader = open(location_, {.read_only = true, .settings = settings});
  ASSERT_TRUE(log->append(Records::run("a", 1, 3).list(), 0));
  EXPECT_EQ(read_all(*reader).size(), 3u);
  broker_.kill();
  const auto away = log->append(Records().add("a", 4).list(), 3);
  ASSERT_FALSE(away.has_value());
  EXPECT_EQ(away.error().kind, ErrorKind::unavailable) << away.error().message;
  EXPECT_EQ(log->last().error().kind, ErrorKind::unavailable);
  EXPECT_FALSE(reader->wait_beyond(3, Duration::millis(10)).value_or(0) > 3);
  broker_.start();
  // Whatever became of the record: the writer looks, and goes on behind it.
  Result<events::Position> last = log->last();
  for (int i = 0; i < 60 && !last; ++i) last = log->last();
  ASSERT_TRUE(last.has_value()) << last.error().message;
  const auto tails = log->domains();
  ASSERT_TRUE(tails.has_value()) << tails.error().message;
  const auto next = tails->front().sequence + 1;
  const auto position = log->append(Records().add("a", next, 2).list(), {});
  ASSERT_TRUE(position.has_value()) << position.error().message;
  EXPECT_EQ(log->producers(), 2u);
  EXPECT_EQ(read_all(*reader).size(), *position);
}

}  // namespace
}  // namespace hindsight::test
