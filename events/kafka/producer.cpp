#include "events/kafka/producer.hpp"

#include <librdkafka/rdkafkacpp.h>

#include <algorithm>
#include <cstdlib>

namespace hindsight::events::kafka {
namespace {

using Clock = std::chrono::steady_clock;

/// Where no broker answers, the send that follows waits for one as long as it is told to.
constexpr std::chrono::milliseconds leader_wait{1000};

/// What became of a message.
struct Slot {
  std::int64_t offset = -1;
  bool reported = false;
};

}  // namespace

/// Takes the delivery reports of the send that is under way. Called only while that send polls.
class Producer::Reports final : public RdKafka::DeliveryReportCb {
 public:
  void begin(std::size_t count) {
    slots_.assign(count, {});
    left_ = 0;
    failure_ = RdKafka::ERR_NO_ERROR;
  }
  void* sent(std::size_t index) {
    ++left_;
    return &slots_[index];
  }
  void not_sent() { --left_; }

  void dr_cb(RdKafka::Message& message) override {
    auto* slot = static_cast<Slot*>(message.msg_opaque());
    slot->reported = true;
    --left_;
    if (message.err() == RdKafka::ERR_NO_ERROR) {
      slot->offset = message.offset();
    } else if (failure_ == RdKafka::ERR_NO_ERROR) {
      failure_ = message.err();
    }
  }

  [[nodiscard]] std::size_t left() const { return left_; }
  [[nodiscard]] RdKafka::ErrorCode failure() const { return failure_; }
  /// Of the messages up to the first that is not known to be in the partition.
  [[nodiscard]] std::vector<std::int64_t> offsets() const {
    std::vector<std::int64_t> out;
    for (const Slot& slot : slots_) {
      if (slot.offset < 0) break;
      out.push_back(slot.offset);
    }
    return out;
  }

 private:
  std::vector<Slot> slots_;
  std::size_t left_ = 0;
  RdKafka::ErrorCode failure_ = RdKafka::ERR_NO_ERROR;
};

Producer::Producer(const Access& access, LastWords& words, std::string topic, std::int32_t partition)
    : access_(access), words_(words), topic_(std::move(topic)), partition_(partition), reports_(std::make_unique<Reports>()) {}

Producer::~Producer() {
  if (client_) throw_away();
}

Result<void> Producer::connect() {
  if (client_) return {};
  ClientSetup setup(access_, words_);
  if (!setup.outcome()) return tl::unexpected(setup.outcome().error());
  setup.set("enable.idempotence", "true");
  setup.set("acks", "all");
  setup.set("max.in.flight.requests.per.connection", "1");  // what gets in is a prefix of what was sent, whatever a broker forgets
  setup.set("message.timeout.ms", "0");                     // never: a record that expires alone would leave a hole before the next
  setup.set("request.timeout.ms", "10000");
  setup.set("retry.backoff.ms", "50");
  setup.set("linger.ms", "5");  // flush() does not wait for it
  setup.set("queue.buffering.max.messages", "1000000");
  setup.set("queue.buffering.max.kbytes", "131072");
  std::string why;
  if (setup.conf().set("dr_cb", reports_.get(), why) != RdKafka::Conf::CONF_OK) return fail(ErrorKind::io, why);
  client_.reset(RdKafka::Producer::create(&setup.conf(), why));
  if (!client_) return fail(ErrorKind::invalid, "log " + access_.location.text() + ": no Kafka producer can be made: " + why);
  ++clients_;
  topic_handle_.reset(RdKafka::Topic::create(client_.get(), topic_, nullptr, why));
  if (!topic_handle_) return {};  // what is wrong with it is told by what is sent
  RdKafka::Metadata* metadata = nullptr;
  (void)client_->metadata(false, topic_handle_.get(), &metadata, static_cast<int>(leader_wait.count()));
  delete metadata;
  return {};
}

/// Drops what is queued and on the wire; what of it arrives nobody knows.
void Producer::throw_away() {
  client_->purge(RdKafka::Producer::PURGE_QUEUE | RdKafka::Producer::PURGE_INFLIGHT | RdKafka::Producer::PURGE_NON_BLOCKING);
  client_->poll(0);
  topic_handle_.reset();
  client_.reset();
}

Producer::Outcome Producer::send(std::span<const Outgoing> messages) {
  reports_->begin(messages.size());
  if (messages.empty()) return {};
  if (auto ok = connect(); !ok) return {{}, ok};
  const auto deadline = Clock::now() + access_.settings.patience;
  RdKafka::ErrorCode failure = RdKafka::ERR_NO_ERROR;
  const auto failed = [&] {
    if (failure == RdKafka::ERR_NO_ERROR) failure = reports_->failure();
    std::string text;
    if (failure == RdKafka::ERR_NO_ERROR) failure = client_->fatal_error(text);
    return failure != RdKafka::ERR_NO_ERROR;
  };

  for (std::size_t i = 0; i < messages.size() && !failed(); ++i) {
    const Outgoing& message = messages[i];
    auto* bytes = message.fill ? static_cast<std::byte*>(std::malloc(std::max<std::size_t>(1, message.size))) : nullptr;
    if (message.fill) message.fill(bytes);
    for (;;) {
      const auto code = client_->produce(topic_, partition_, RdKafka::Producer::RK_MSG_FREE, bytes, message.size, message.key.data(),
                                         message.key.size(), message.timestamp, reports_->sent(i));
      if (code == RdKafka::ERR_NO_ERROR) break;
      reports_->not_sent();
      if (code == RdKafka::ERR__QUEUE_FULL && Clock::now() < deadline) {
        client_->poll(10);
        continue;
      }
      std::free(bytes);
      failure = code == RdKafka::ERR__QUEUE_FULL ? RdKafka::ERR__TIMED_OUT : code;
      break;
    }
  }
  while (reports_->left() > 0 && !failed() && Clock::now() < deadline) client_->flush(100);
  if (!failed() && reports_->left() == 0) return {reports_->offsets(), {}};

  if (failure == RdKafka::ERR_NO_ERROR) failure = RdKafka::ERR__TIMED_OUT;
  // A fatal error purges what waits, and says in its text what it was.
  if (failure == RdKafka::ERR__FATAL || failure == RdKafka::ERR__PURGE_QUEUE || failure == RdKafka::ERR__PURGE_INFLIGHT) {
    std::string text;
    if (const auto cause = client_->fatal_error(text); cause != RdKafka::ERR_NO_ERROR) {
      failure = cause;
      words_.say(text);
    }
  }
  Outcome out{{}, tl::unexpected(error_of(access_, "records could not be written to topic " + topic_, failure, words_))};
  throw_away();
  out.offsets = reports_->offsets();
  return out;
}

}  // namespace hindsight::events::kafka
