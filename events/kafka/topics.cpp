#include "events/kafka/topics.hpp"

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafkacpp.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <thread>

namespace hindsight::events::kafka {
namespace {

template <auto destroy>
struct Destroy {
  template <class T>
  void operator()(T* pointer) const {
    destroy(pointer);
  }
};
using Topic = std::unique_ptr<rd_kafka_topic_t, Destroy<rd_kafka_topic_destroy>>;
using NewTopic = std::unique_ptr<rd_kafka_NewTopic_t, Destroy<rd_kafka_NewTopic_destroy>>;
using Options = std::unique_ptr<rd_kafka_AdminOptions_t, Destroy<rd_kafka_AdminOptions_destroy>>;
using Queue = std::unique_ptr<rd_kafka_queue_t, Destroy<rd_kafka_queue_destroy>>;
using Event = std::unique_ptr<rd_kafka_event_t, Destroy<rd_kafka_event_destroy>>;
using PartitionList = std::unique_ptr<rd_kafka_topic_partition_list_t, Destroy<rd_kafka_topic_partition_list_destroy>>;
using Deletion = std::unique_ptr<rd_kafka_DeleteRecords_t, Destroy<rd_kafka_DeleteRecords_destroy>>;
using Resource = std::unique_ptr<rd_kafka_ConfigResource_t, Destroy<rd_kafka_ConfigResource_destroy>>;

/// A setting that one of our topics must have. `wanted` is what new topics get; `allowed` says it of those that are there.
struct Rule {
  std::string key;
  std::string wanted;
  bool writers_too = false;  ///< Also looked at whenever the log is opened for writing.
};

std::vector<Rule> record_rules() {
  return {{"cleanup.policy", "delete", true},
          {"message.timestamp.type", "CreateTime", true},
          {"retention.ms", "-1", false},
          {"retention.bytes", "-1", false},
          {"unclean.leader.election.enable", "false", false}};
}

std::vector<Rule> snapshot_rules() { return {{"cleanup.policy", "compact", true}, {"unclean.leader.election.enable", "false", false}}; }

/// Asks about topics and makes them, with a client of its own.
class Administrator {
 public:
  Administrator(const Access& access, LastWords& words) : access_(access), words_(words) {}

  Result<void> connect() {
    ClientSetup setup(access_, words_);
    if (!setup.outcome()) return setup.outcome();
    setup.set("allow.auto.create.topics", "false");
    std::string why;
    client_.reset(RdKafka::Consumer::create(&setup.conf(), why));
    if (!client_) return fail(ErrorKind::invalid, "log " + access_.location.text() + ": no Kafka client can be made: " + why);
    return {};
  }

  /// None: there is no such topic.
  Result<std::optional<TopicFacts>> describe(const std::string& name) {
    const Topic topic(rd_kafka_topic_new(handle(), name.c_str(), nullptr));
    const auto deadline = std::chrono::steady_clock::now() + access_.settings.patience;
    TopicFacts facts{.name = name};
    for (;;) {
      const rd_kafka_metadata_t* metadata = nullptr;
      auto code = rd_kafka_metadata(handle(), 0, topic.get(), &metadata, step());
      client_->poll(0);
      if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        const rd_kafka_metadata_topic_t& found = metadata->topics[0];
        brokers_ = metadata->broker_cnt;
        code = found.err;
        facts.partitions = found.partition_cnt;
        if (found.partition_cnt > 0) facts.replicas = found.partitions[0].replica_cnt;
        rd_kafka_metadata_destroy(metadata);
      }
      if (code == RD_KAFKA_RESP_ERR_NO_ERROR && facts.partitions > 0) break;
      if (code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) return std::optional<TopicFacts>();
      // a wrong password stays wrong
      const bool refused = words_.in_brackets().find("authentication") != std::string::npos;
      if (!is_passing(code) || refused || std::chrono::steady_clock::now() >= deadline) {
        if (refused) code = RD_KAFKA_RESP_ERR__AUTHENTICATION;
        return tl::unexpected(error_of(access_, "the brokers say nothing of topic " + name, code, words_));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    auto settings = settings_of(name);
    if (settings) {
      facts.settings = std::move(*settings);
    } else if (settings.error().kind != ErrorKind::denied) {
      return tl::unexpected(settings.error());
    }
    return std::optional(std::move(facts));
  }

  Result<void> make(const std::string& name, int partitions, const std::map<std::string, std::string>& settings) {
    std::string why(512, '\0');
    const NewTopic topic(rd_kafka_NewTopic_new(name.c_str(), partitions, replicas(), why.data(), why.size()));
    if (!topic) return fail(ErrorKind::invalid, "topic " + name + ": " + why.substr(0, why.find('\0')));
    for (const auto& [key, value] : settings) rd_kafka_NewTopic_set_config(topic.get(), key.c_str(), value.c_str());
    const Options options = options_for(RD_KAFKA_ADMIN_OP_CREATETOPICS);
    const Queue queue(rd_kafka_queue_new(handle()));
    rd_kafka_NewTopic_t* one = topic.get();
    rd_kafka_CreateTopics(handle(), &one, 1, options.get(), queue.get());
    const Event event(rd_kafka_queue_poll(queue.get(), patience()));
    const std::string what = "topic " + name + " cannot be made";
    if (!event) return tl::unexpected(error_of(access_, what, RD_KAFKA_RESP_ERR__TIMED_OUT, words_));
    if (const auto code = rd_kafka_event_error(event.get()); code != RD_KAFKA_RESP_ERR_NO_ERROR)
      return tl::unexpected(error_of(access_, what, code, words_));
    std::size_t count = 0;
    const auto* const* results = rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event.get()), &count);
    for (std::size_t i = 0; i < count; ++i) {
      const auto code = rd_kafka_topic_result_error(results[i]);
      if (code == RD_KAFKA_RESP_ERR_NO_ERROR || code == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) continue;
      Error error = error_of(access_, what, code, words_);
      if (const char* text = rd_kafka_topic_result_error_string(results[i])) error.message += ": " + std::string(text);
      return tl::unexpected(std::move(error));
    }
    return {};
  }

  /// Those of a partition below an offset.
  Result<void> delete_before(const std::string& name, std::int32_t partition, std::int64_t offset) {
    const PartitionList list(rd_kafka_topic_partition_list_new(1));
    rd_kafka_topic_partition_list_add(list.get(), name.c_str(), partition)->offset = offset;
    const Deletion wish(rd_kafka_DeleteRecords_new(list.get()));
    const Options options = options_for(RD_KAFKA_ADMIN_OP_DELETERECORDS);
    const Queue queue(rd_kafka_queue_new(handle()));
    rd_kafka_DeleteRecords_t* one = wish.get();
    rd_kafka_DeleteRecords(handle(), &one, 1, options.get(), queue.get());
    const Event event(rd_kafka_queue_poll(queue.get(), patience()));
    const std::string what = "records of topic " + name + " cannot be deleted";
    if (!event) return tl::unexpected(error_of(access_, what, RD_KAFKA_RESP_ERR__TIMED_OUT, words_));
    if (const auto code = rd_kafka_event_error(event.get()); code != RD_KAFKA_RESP_ERR_NO_ERROR)
      return tl::unexpected(error_of(access_, what, code, words_));
    const auto* const done = rd_kafka_DeleteRecords_result_offsets(rd_kafka_event_DeleteRecords_result(event.get()));
    for (int i = 0; i < done->cnt; ++i)
      if (done->elems[i].err != RD_KAFKA_RESP_ERR_NO_ERROR) return tl::unexpected(error_of(access_, what, done->elems[i].err, words_));
    return {};
  }

  /// How many copies a new topic gets.
  [[nodiscard]] int replicas() const {
    const int wanted = access_.settings.replication_factor;
    return wanted > 0 ? wanted : std::clamp(brokers_, 1, 3);
  }
  [[nodiscard]] int in_sync(int replicas) const {
    const int wanted = access_.settings.min_insync_replicas;
    return wanted > 0 ? wanted : std::max(1, replicas - 1);
  }

 private:
  Result<std::map<std::string, std::string>> settings_of(const std::string& name) {
    const Resource resource(rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, name.c_str()));
    const Options options = options_for(RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS);
    const Queue queue(rd_kafka_queue_new(handle()));
    rd_kafka_ConfigResource_t* one = resource.get();
    rd_kafka_DescribeConfigs(handle(), &one, 1, options.get(), queue.get());
    const Event event(rd_kafka_queue_poll(queue.get(), patience()));
    const std::string what = "the settings of topic " + name + " are not known";
    if (!event) return tl::unexpected(error_of(access_, what, RD_KAFKA_RESP_ERR__TIMED_OUT, words_));
    if (const auto code = rd_kafka_event_error(event.get()); code != RD_KAFKA_RESP_ERR_NO_ERROR)
      return tl::unexpected(error_of(access_, what, code, words_));
    std::size_t count = 0;
    const auto* const* found = rd_kafka_DescribeConfigs_result_resources(rd_kafka_event_DescribeConfigs_result(event.get()), &count);
    std::map<std::string, std::string> out;
    for (std::size_t i = 0; i < count; ++i) {
      if (const auto code = rd_kafka_ConfigResource_error(found[i]); code != RD_KAFKA_RESP_ERR_NO_ERROR)
        return tl::unexpected(error_of(access_, what, code, words_));
      std::size_t entries = 0;
      const auto* const* configs = rd_kafka_ConfigResource_configs(found[i], &entries);
      for (std::size_t j = 0; j < entries; ++j) {
        const char* value = rd_kafka_ConfigEntry_value(configs[j]);
        out.emplace(rd_kafka_ConfigEntry_name(configs[j]), value == nullptr ? "" : value);
      }
    }
    return out;
  }

  Options options_for(rd_kafka_admin_op_t operation) {
    Options out(rd_kafka_AdminOptions_new(handle(), operation));
    std::string why(512, '\0');
    rd_kafka_AdminOptions_set_request_timeout(out.get(), patience(), why.data(), why.size());
    return out;
  }
  [[nodiscard]] rd_kafka_t* handle() { return client_->c_ptr(); }
  [[nodiscard]] int patience() const { return static_cast<int>(access_.settings.patience.count()); }
  [[nodiscard]] int step() const { return std::min(patience(), 2'000); }

  const Access& access_;
  LastWords& words_;
  std::unique_ptr<RdKafka::Consumer> client_;
  int brokers_ = 1;
};

tl::unexpected<Error> unfit(const TopicFacts& topic, const std::string& field, const std::string& found, const std::string& allowed) {
  return fail(ErrorKind::unsupported, "topic " + topic.name + ": " + field + " is " + found + "; allowed: " + allowed);
}

Result<void> check_partitions(const TopicFacts& topic, int needed) {
  if (topic.partitions >= needed) return {};
  return unfit(topic, "the number of partitions", std::to_string(topic.partitions), std::to_string(needed) + " or more for this log");
}

Result<void> check_settings(const TopicFacts& topic, const std::vector<Rule>& rules, bool writers_only) {
  if (!topic.settings) return {};
  for (const Rule& rule : rules) {
    if (writers_only && !rule.writers_too) continue;
    const auto it = topic.settings->find(rule.key);
    if (it != topic.settings->end() && it->second != rule.wanted) return unfit(topic, rule.key, it->second, rule.wanted);
  }
  return {};
}

/// With three copies a write must reach two; otherwise one broker that dies takes records with it.
Result<void> check_in_sync(const TopicFacts& topic) {
  if (!topic.settings) return {};
  const auto it = topic.settings->find("min.insync.replicas");
  if (it == topic.settings->end()) return {};
  int found = 0;
  (void)std::from_chars(it->second.data(), it->second.data() + it->second.size(), found);
  if (topic.replicas >= 3 && found < 2)
    return unfit(topic, "min.insync.replicas", it->second, "2 or more with " + std::to_string(topic.replicas) + " replicas");
  if (found > topic.replicas)
    return unfit(topic, "min.insync.replicas", it->second, "at most the number of replicas, " + std::to_string(topic.replicas));
  return {};
}

}  // namespace

Result<std::vector<TopicOutcome>> make_topics(const Access& access) {
  LastWords words;
  Administrator administrator(access, words);
  if (auto ok = administrator.connect(); !ok) return tl::unexpected(ok.error());
  struct Wanted {
    std::string name;
    int partitions;
    int partitions_needed;
    std::vector<Rule> rules;
    std::map<std::string, std::string> more;
  };
  const Location& location = access.location;
  const int partitions = std::max(access.settings.partitions, location.partition + 1);
  const std::vector<Wanted> all{// records of a simulated future are as good as any, and one record may be as long as a log takes
                                {location.record_topic(),
                                 partitions,
                                 location.partition + 1,
                                 record_rules(),
                                 {{"max.message.bytes", "70000000"},
                                  {"message.timestamp.after.max.ms", "9223372036854775807"},
                                  {"message.timestamp.before.max.ms", "9223372036854775807"}}},
                                {location.snapshot_topic(), 2 * partitions, location.body_partition() + 1, snapshot_rules(), {}}};

  std::vector<TopicOutcome> out;
  for (const Wanted& wanted : all) {
    auto found = administrator.describe(wanted.name);
    if (!found) return tl::unexpected(found.error());
    const bool made = !*found;
    if (made) {
      std::map<std::string, std::string> settings = wanted.more;
      for (const Rule& rule : wanted.rules) settings[rule.key] = rule.wanted;
      settings["min.insync.replicas"] = std::to_string(administrator.in_sync(administrator.replicas()));
      if (auto ok = administrator.make(wanted.name, wanted.partitions, settings); !ok) return tl::unexpected(ok.error());
      // Brokers hear of a new topic one after another.
      const auto deadline = std::chrono::steady_clock::now() + access.settings.patience;
      while (found && !*found && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        found = administrator.describe(wanted.name);
      }
      if (!found) return tl::unexpected(found.error());
      if (!*found) return fail(ErrorKind::unavailable, "topic " + wanted.name + " was made, but the brokers do not know it yet");
    }
    const TopicFacts& facts = **found;
    if (auto ok = check_partitions(facts, wanted.partitions_needed); !ok) return tl::unexpected(ok.error());
    if (auto ok = check_settings(facts, wanted.rules, false); !ok) return tl::unexpected(ok.error());
    if (auto ok = check_in_sync(facts); !ok) return tl::unexpected(ok.error());
    out.push_back({facts, made});
  }
  return out;
}

Result<void> delete_records(const Access& access, LastWords& words, Position upto) {
  Administrator administrator(access, words);
  if (auto ok = administrator.connect(); !ok) return ok;
  return administrator.delete_before(access.location.record_topic(), access.location.partition, static_cast<std::int64_t>(upto));
}

Result<TopicFacts> check_topics(const Access& access, LastWords& words, bool for_writing) {
  Administrator administrator(access, words);
  if (auto ok = administrator.connect(); !ok) return tl::unexpected(ok.error());
  const Location& location = access.location;
  const auto check = [&](const std::string& name, int partitions, const std::vector<Rule>& rules) -> Result<TopicFacts> {
    auto found = administrator.describe(name);
    if (!found) return tl::unexpected(found.error());
    if (!*found)
      return fail(ErrorKind::not_found, "log " + location.text() + ": there is no topic " + name + "; 'hindsight log init --log " +
                                            location.text() + "' makes it");
    if (auto ok = check_partitions(**found, partitions); !ok) return tl::unexpected(ok.error());
    if (for_writing)
      if (auto ok = check_settings(**found, rules, true); !ok) return tl::unexpected(ok.error());
    return std::move(**found);
  };
  auto records = check(location.record_topic(), location.partition + 1, record_rules());
  if (!records) return records;
  if (auto snapshots = check(location.snapshot_topic(), location.body_partition() + 1, snapshot_rules()); !snapshots) return snapshots;
  return records;
}

}  // namespace hindsight::events::kafka
