#include "events/kafka/membership.hpp"

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafkacpp.h>

#include <algorithm>
#include <future>

#include "vocabulary/thread_name.hpp"

namespace hindsight::events::kafka {
namespace {

constexpr std::chrono::milliseconds poll_timeout{100};
/// librdkafka 2.0.2 can hang while it closes a consumer (its issues 4187 and 4528): then it is left behind.
constexpr std::chrono::seconds close_timeout{5};

}  // namespace

/// What the group arranges. Called by the thread that polls.
class Membership::Arrangements final : public RdKafka::RebalanceCb {
 public:
  explicit Arrangements(std::function<void(const std::vector<std::int32_t>&)> tell) : tell_(std::move(tell)) {}

  void rebalance_cb(RdKafka::KafkaConsumer* consumer, RdKafka::ErrorCode code, std::vector<RdKafka::TopicPartition*>& partitions) override {
    if (code != RdKafka::ERR__ASSIGN_PARTITIONS) {
      // With the protocol of librdkafka's `range` everything is taken from everybody first. Most of it comes back at once, so nobody stops;
      // whoever gets a partition of ours fences us by its epoch.
      consumer->unassign();
      return;
    }
    std::vector<std::int32_t> mine;
    for (auto* p : partitions) {
      p->set_offset(RdKafka::Topic::OFFSET_END);
      mine.push_back(p->partition());
    }
    consumer->assign(partitions);
    consumer->pause(partitions);  // the group is for the arrangement alone
    std::sort(mine.begin(), mine.end());
    tell_(mine);
  }

 private:
  const std::function<void(const std::vector<std::int32_t>&)> tell_;
};

Membership::Membership(const Access& access, Options options)
    : access_(access), options_(std::move(options)), arrangements_(std::make_shared<Arrangements>(options_.on_assigned)) {}

Result<std::unique_ptr<Membership>> Membership::join(const Access& access, Options options) {
  std::unique_ptr<Membership> out(new Membership(access, std::move(options)));
  ClientSetup setup(out->access_, *out->words_);
  if (!setup.outcome()) return tl::unexpected(setup.outcome().error());
  const Options& o = out->options_;
  setup.set("group.id", o.group);
  if (!o.member.empty()) setup.set("group.instance.id", o.member);
  setup.set("session.timeout.ms", std::to_string(o.session_timeout.count()));
  const auto heartbeat = std::to_string(std::max<std::int64_t>(100, o.session_timeout.count() / 20));
  setup.set("heartbeat.interval.ms", heartbeat);
  // librdkafka 2.0.2 sends heartbeats when its main thread wakes up, which is once a second unless a timer is due earlier: this is one.
  setup.set("statistics.interval.ms", heartbeat);
  setup.set("partition.assignment.strategy", "range");
  setup.set("enable.auto.commit", "false");
  setup.set("enable.auto.offset.store", "false");
  setup.set("auto.offset.reset", "latest");
  setup.set("allow.auto.create.topics", "false");
  setup.set("topic.metadata.refresh.interval.ms", "5000");  // partitions that are added are shared out too
  std::string why;
  if (setup.conf().set("rebalance_cb", out->arrangements_.get(), why) != RdKafka::Conf::CONF_OK)
    throw std::logic_error("Kafka client: rebalance_cb: " + why);
  out->consumer_.reset(RdKafka::KafkaConsumer::create(&setup.conf(), why));
  if (!out->consumer_) return fail(ErrorKind::invalid, "log " + access.location.text() + ": no Kafka client can be made: " + why);
  if (const auto code = out->consumer_->subscribe({access.location.record_topic()}); code != RdKafka::ERR_NO_ERROR)
    return tl::unexpected(error_of(out->access_, "group " + o.group + " cannot be joined", code, *out->words_));
  out->thread_ = std::jthread([raw = out.get()](const std::stop_token& stop) { raw->run(stop); });
  return out;
}

void Membership::run(const std::stop_token& stop) {
  name_this_thread("kafka-group");
  while (!stop.stop_requested()) {
    const std::unique_ptr<RdKafka::Message> message(consumer_->consume(static_cast<int>(poll_timeout.count())));
    const auto code = message->err();
    if (code == RdKafka::ERR_NO_ERROR || code == RdKafka::ERR__TIMED_OUT || code == RdKafka::ERR__PARTITION_EOF || is_passing(code))
      continue;
    const bool ours = code == RdKafka::ERR__FATAL || code == RdKafka::ERR_FENCED_INSTANCE_ID || kind_of(code) == ErrorKind::denied;
    if (!ours) {
      words_->say(message->errstr());
      continue;
    }
    if (options_.on_failure) {
      const std::string name = options_.member.empty() ? std::string() : " as member " + options_.member;
      options_.on_failure(error_of(access_, "no longer in group " + options_.group + name + ": " + message->errstr(), code, *words_));
    }
    return;
  }
}

int Membership::members(std::chrono::milliseconds timeout) const {
  const rd_kafka_group_list* list = nullptr;
  if (rd_kafka_list_groups(consumer_->c_ptr(), options_.group.c_str(), &list, static_cast<int>(timeout.count())) !=
      RD_KAFKA_RESP_ERR_NO_ERROR)
    return 0;
  const int out = list->group_cnt == 1 ? list->groups[0].member_cnt : 0;
  rd_kafka_group_list_destroy(list);
  return out;
}

Membership::~Membership() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  if (!consumer_) return;
  // Closing calls back; whoever hangs in it keeps what it needs.
  auto closed = std::make_shared<std::promise<void>>();
  auto done = closed->get_future();
  std::thread([consumer = std::move(consumer_), kept = arrangements_, words = words_, closed] {
    consumer->close();
    closed->set_value();
  }).detach();
  (void)done.wait_for(close_timeout);
}

}  // namespace hindsight::events::kafka
