#include "events/kafka/reader.hpp"

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafkacpp.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace hindsight::events::kafka {
namespace {

// What ListOffsets takes in place of a timestamp.
constexpr std::int64_t latest = -1;
constexpr std::int64_t earliest = -2;

constexpr std::size_t handed_max = 512;

/// A broker that has just started may not know its partitions for a while; that they exist was seen when the log was opened.
bool is_unknown(int code) {
  return code == RdKafka::ERR__UNKNOWN_PARTITION || code == RdKafka::ERR__UNKNOWN_TOPIC || code == RdKafka::ERR_UNKNOWN_TOPIC_OR_PART;
}

/// So they are out of reach, and not gone.
Error failure(const Access& access, const std::string& what, RdKafka::ErrorCode code, const LastWords& words) {
  Error out = error_of(access, what, code, words);
  if (is_unknown(code)) out.kind = ErrorKind::unavailable;
  return out;
}

}  // namespace

Reader::Reader(const Access& access, LastWords& words, std::string topic, std::int32_t partition)
    : access_(access), words_(words), topic_name_(std::move(topic)), partition_(partition) {}

Result<std::unique_ptr<Reader>> Reader::open(const Access& access, LastWords& words, std::string topic, std::int32_t partition,
                                             const Options& options) {
  ClientSetup setup(access, words);
  if (!setup.outcome()) return tl::unexpected(setup.outcome().error());
  setup.set("enable.auto.commit", "false");
  setup.set("enable.auto.offset.store", "false");
  setup.set("auto.offset.reset", "error");  // the default would pass over history without a word
  setup.set("isolation.level", "read_committed");
  setup.set("check.crcs", "true");
  setup.set("allow.auto.create.topics", "false");
  setup.set("enable.partition.eof", options.sees_end ? "true" : "false");
  setup.set("queued.min.messages", "1000000");  // the bytes are what bounds it
  setup.set("queued.max.messages.kbytes", std::to_string(options.kilobytes_ahead));
  setup.set("fetch.message.max.bytes", std::to_string(std::min(options.kilobytes_ahead, 4096U) * 1024));
  setup.set("fetch.error.backoff.ms", "50");
  setup.set("fetch.wait.max.ms", std::to_string(options.keep.count()));
  std::unique_ptr<Reader> out(new Reader(access, words, std::move(topic), partition));
  std::string why;
  out->consumer_.reset(RdKafka::Consumer::create(&setup.conf(), why));
  if (!out->consumer_) return fail(ErrorKind::invalid, "log " + access.location.text() + ": no Kafka client can be made: " + why);
  out->topic_.reset(RdKafka::Topic::create(out->consumer_.get(), out->topic_name_, nullptr, why));
  if (!out->topic_) return fail(ErrorKind::io, "log " + access.location.text() + ": topic " + out->topic_name_ + ": " + why);
  return out;
}

Reader::~Reader() {
  stop();
  topic_.reset();
}

void Reader::rest() {
  drop_handed();
  if (fetching_) consumer_->stop(topic_.get(), partition_);
  fetching_ = false;
}

void Reader::drop_handed() {
  for (auto* message : handed_) rd_kafka_message_destroy(message);
  handed_.clear();
  next_handed_ = 0;
}

/// The next message, or an error in the form of one, until the next call; null: none came. Waits for the first, and takes what is there
/// behind it.
const rd_kafka_message_s* Reader::hand_over(std::chrono::milliseconds timeout) {
  if (next_handed_ == handed_.size()) {
    drop_handed();
    auto* const first = rd_kafka_consume(topic_->c_ptr(), partition_, static_cast<int>(timeout.count()));
    consumer_->poll(0);  // errors of the way to the brokers are told here
    if (first == nullptr) return nullptr;
    handed_.resize(handed_max);
    handed_[0] = first;
    const auto more = rd_kafka_consume_batch(topic_->c_ptr(), partition_, 0, handed_.data() + 1, handed_max - 1);
    handed_.resize(1 + static_cast<std::size_t>(std::max<ssize_t>(0, more)));
  }
  return handed_[next_handed_++];
}

void Reader::stop() {
  rest();
  at_ = -1;
}

Result<void> Reader::start(std::int64_t offset) {
  if (at_ == offset) return {};
  stop();
  at_ = offset;
  return fetch();
}

Result<void> Reader::fetch() {
  if (fetching_ || at_ < 0) return {};
  if (const auto code = consumer_->start(topic_.get(), partition_, at_); code != RdKafka::ERR_NO_ERROR) {
    at_ = -1;
    return tl::unexpected(error_of(access_, "topic " + topic_name_ + " cannot be read", code, words_));
  }
  fetching_ = true;
  return {};
}

Result<bool> Reader::next(std::chrono::milliseconds timeout, const std::function<void(const RawMessage&)>& take) {
  if (auto ok = fetch(); !ok) return tl::unexpected(ok.error());
  std::optional<std::chrono::steady_clock::time_point> deadline;  // most often there is something, and time need not be asked for
  for (;;) {
    auto left = timeout;
    if (deadline) left = std::chrono::duration_cast<std::chrono::milliseconds>(*deadline - std::chrono::steady_clock::now());
    const auto* const message = hand_over(std::max(left, std::chrono::milliseconds(0)));
    if (message == nullptr) return false;
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR && message->offset >= at_) {
      RawMessage raw;
      raw.offset = message->offset;
      if (message->key != nullptr) raw.key = {static_cast<const char*>(message->key), message->key_len};
      raw.value = {static_cast<const std::byte*>(message->payload), message->len};
      raw.tombstone = message->payload == nullptr;
      at_ = raw.offset + 1;
      rd_kafka_timestamp_type_t kind = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
      (void)rd_kafka_message_timestamp(message, &kind);
      broker_time_ = kind == RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME;
      take(raw);
      return true;
    }
    if (!deadline) deadline = std::chrono::steady_clock::now() + timeout;
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) continue;
    if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
      at_ = std::max(at_, message->offset);
      return false;
    }
    const std::string what = "partition " + std::to_string(partition_) + " of topic " + topic_name_ + ", offset " + std::to_string(at_);
    if (message->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET || message->err == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE) {
      const std::int64_t at = at_;
      stop();
      return fail(ErrorKind::not_found, "log " + access_.location.text() + ": partition " + std::to_string(partition_) + " of topic " +
                                            topic_name_ + " holds no offset " + std::to_string(at) + " (any more)");
    }
    const auto code = static_cast<RdKafka::ErrorCode>(message->err);
    if (!is_passing(code)) {
      stop();
      return tl::unexpected(failure(access_, what, code, words_));
    }
    words_.say(rd_kafka_message_errstr(message));
    if (std::chrono::steady_clock::now() >= *deadline) return false;
  }
}

/// What Kafka's ListOffsets says to a timestamp, or to `earliest` and `latest`. The call that librdkafka has for the last two alone waits
/// for a broker that is away as long as it stays away.
Result<std::int64_t> Reader::ask_offset(std::int64_t what, std::chrono::milliseconds patience) {
  const std::unique_ptr<RdKafka::TopicPartition> asked(RdKafka::TopicPartition::create(topic_name_, partition_));
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    asked->set_offset(what);
    std::vector<RdKafka::TopicPartition*> list{asked.get()};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    auto code = consumer_->offsetsForTimes(list, std::max(1, static_cast<int>(std::min<std::int64_t>(left.count(), 5'000))));
    consumer_->poll(0);
    if (code == RdKafka::ERR_NO_ERROR) code = asked->err();
    if (code == RdKafka::ERR_NO_ERROR) return asked->offset();
    if (!(is_passing(code) || is_unknown(code)) || std::chrono::steady_clock::now() >= deadline)
      return tl::unexpected(
          failure(access_, "the brokers do not say what partition " + std::to_string(partition_) + " of topic " + topic_name_ + " holds",
                  code, words_));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

Result<Extent> Reader::extent(std::chrono::milliseconds patience) {
  const auto first = ask_offset(earliest, patience);
  if (!first) return tl::unexpected(first.error());
  const auto end = last(patience);
  if (!end) return tl::unexpected(end.error());
  return Extent{static_cast<Position>(*first) + 1, *end};
}

Result<Position> Reader::last(std::chrono::milliseconds patience) {
  const auto end = ask_offset(latest, patience);
  if (!end) return tl::unexpected(end.error());
  return static_cast<Position>(*end);
}

Result<std::optional<std::int64_t>> Reader::offset_at(std::int64_t timestamp, std::chrono::milliseconds patience) {
  const auto offset = ask_offset(timestamp, patience);
  if (!offset) return tl::unexpected(offset.error());
  return *offset < 0 ? std::optional<std::int64_t>() : std::optional(*offset);
}

}  // namespace hindsight::events::kafka
