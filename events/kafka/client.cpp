#include "events/kafka/client.hpp"

#include <librdkafka/rdkafkacpp.h>

#include <stdexcept>

namespace hindsight::events::kafka {
namespace {

/// Called from threads of librdkafka, or from whoever polls.
class Listener final : public RdKafka::EventCb {
 public:
  explicit Listener(LastWords& words) : words_(words) {}
  void event_cb(RdKafka::Event& event) override {
    if (event.type() == RdKafka::Event::EVENT_ERROR) {
      // "all brokers are down" follows on what is the matter with them
      if (event.err() != RdKafka::ERR__ALL_BROKERS_DOWN) words_.say(event.str());
    } else if (event.type() == RdKafka::Event::EVENT_LOG && event.severity() <= RdKafka::Event::EVENT_SEVERITY_ERROR) {
      words_.say(event.str());
    }
  }

 private:
  LastWords& words_;
};

}  // namespace

LastWords::LastWords() : listener_(std::make_shared<Listener>(*this)) {}

void LastWords::say(std::string text) {
  const std::lock_guard lock(mutex_);
  text_ = std::move(text);
}

std::string LastWords::in_brackets() const {
  const std::lock_guard lock(mutex_);
  return text_.empty() ? std::string() : " (" + text_ + ")";
}

ErrorKind kind_of(int code) {
  switch (code) {
    case RdKafka::ERR_TOPIC_AUTHORIZATION_FAILED:
    case RdKafka::ERR_CLUSTER_AUTHORIZATION_FAILED:
    case RdKafka::ERR_GROUP_AUTHORIZATION_FAILED:
    case RdKafka::ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
    case RdKafka::ERR_SASL_AUTHENTICATION_FAILED:
    case RdKafka::ERR_POLICY_VIOLATION:
    case RdKafka::ERR__AUTHENTICATION:
      return ErrorKind::denied;
    case RdKafka::ERR_UNKNOWN_TOPIC_OR_PART:
    case RdKafka::ERR__UNKNOWN_TOPIC:
    case RdKafka::ERR__UNKNOWN_PARTITION:
      return ErrorKind::not_found;
    case RdKafka::ERR_UNSUPPORTED_VERSION:
    case RdKafka::ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT:
    case RdKafka::ERR__UNSUPPORTED_FEATURE:
      return ErrorKind::unsupported;
    case RdKafka::ERR_MSG_SIZE_TOO_LARGE:
    case RdKafka::ERR_RECORD_LIST_TOO_LARGE:
    case RdKafka::ERR_INVALID_TIMESTAMP:
    case RdKafka::ERR_INVALID_RECORD:
    case RdKafka::ERR_INVALID_CONFIG:
    case RdKafka::ERR_INVALID_REPLICATION_FACTOR:
    case RdKafka::ERR_INVALID_PARTITIONS:
    case RdKafka::ERR_TOPIC_EXCEPTION:
    case RdKafka::ERR__INVALID_ARG:
      return ErrorKind::invalid;
    case RdKafka::ERR_TOPIC_ALREADY_EXISTS:
      return ErrorKind::conflict;
    case RdKafka::ERR_INVALID_MSG:
    case RdKafka::ERR__BAD_MSG:
    case RdKafka::ERR__BAD_COMPRESSION:
      return ErrorKind::corrupt;
    default:
      return is_passing(code) ? ErrorKind::unavailable : ErrorKind::io;
  }
}

bool is_passing(int code) {
  switch (code) {
    case RdKafka::ERR__TRANSPORT:
    case RdKafka::ERR__RESOLVE:
    case RdKafka::ERR__TIMED_OUT:
    case RdKafka::ERR__TIMED_OUT_QUEUE:
    case RdKafka::ERR__MSG_TIMED_OUT:
    case RdKafka::ERR__ALL_BROKERS_DOWN:
    case RdKafka::ERR__WAIT_COORD:
    case RdKafka::ERR__PURGE_QUEUE:
    case RdKafka::ERR__PURGE_INFLIGHT:
    case RdKafka::ERR__WAIT_CACHE:
    case RdKafka::ERR_LEADER_NOT_AVAILABLE:
    case RdKafka::ERR_NOT_LEADER_FOR_PARTITION:
    case RdKafka::ERR_REQUEST_TIMED_OUT:
    case RdKafka::ERR_BROKER_NOT_AVAILABLE:
    case RdKafka::ERR_REPLICA_NOT_AVAILABLE:
    case RdKafka::ERR_NETWORK_EXCEPTION:
    case RdKafka::ERR_NOT_ENOUGH_REPLICAS:
    case RdKafka::ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND:
    case RdKafka::ERR_NOT_CONTROLLER:
    case RdKafka::ERR_KAFKA_STORAGE_ERROR:
    case RdKafka::ERR_FENCED_LEADER_EPOCH:
    case RdKafka::ERR_UNKNOWN_LEADER_EPOCH:
    case RdKafka::ERR_OFFSET_NOT_AVAILABLE:
      return true;
    default:
      return false;
  }
}

Error error_of(const Access& access, const std::string& what, int code, const LastWords& words) {
  const ErrorKind kind = kind_of(code);
  const bool too_old = code == RdKafka::ERR__UNSUPPORTED_FEATURE || code == RdKafka::ERR_UNSUPPORTED_VERSION;
  const bool about_the_way = kind == ErrorKind::unavailable || kind == ErrorKind::denied || kind == ErrorKind::io;
  return {kind, "log " + access.location.text() + ": " + what + ": " + RdKafka::err2str(static_cast<RdKafka::ErrorCode>(code)) +
                    (too_old ? "; the brokers are too old, allowed: Kafka 2.1 and newer" : "") +
                    (about_the_way ? words.in_brackets() : std::string())};
}

// ---- settings -------------------------------------------------------------------------------------------------------------

ClientSetup::ClientSetup(const Access& access, LastWords& words) : conf_(RdKafka::Conf::create(RdKafka::Conf::CONF_GLOBAL)) {
  set("client.id", "hindsight");
  set("bootstrap.servers", access.location.brokers);
  set("socket.nagle.disable", "true");
  set("reconnect.backoff.ms", "50");
  set("reconnect.backoff.max.ms", "1000");
  set("topic.metadata.refresh.interval.ms", "60000");
  set("log.connection.close", "false");
  // The longest record of a log, with room for heads: one message is one record.
  set("message.max.bytes", "70000000");
  for (const auto& [key, value] : access.settings.client) {
    std::string why;
    if (conf_->set(key, value, why) != RdKafka::Conf::CONF_OK) outcome_ = fail(ErrorKind::invalid, "Kafka setting " + key + ": " + why);
  }
  std::string why;
  if (conf_->set("event_cb", words.listener(), why) != RdKafka::Conf::CONF_OK) throw std::logic_error("Kafka client: event_cb: " + why);
}

ClientSetup::~ClientSetup() = default;

void ClientSetup::set(const std::string& key, const std::string& value) {
  std::string why;
  if (conf_->set(key, value, why) != RdKafka::Conf::CONF_OK) throw std::logic_error("Kafka client: " + key + "=" + value + ": " + why);
}

}  // namespace hindsight::events::kafka
