#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "events/kafka/client.hpp"
#include "events/record_batch.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::events::kafka {

/// What the brokers say of a topic.
struct TopicFacts {
  std::string name;
  int partitions = 0;
  int replicas = 0;  ///< Of its first partition.
  /// By Kafka's names; none: we may not ask.
  std::optional<std::map<std::string, std::string>> settings;
};

/// What was found, or made, of one topic.
struct TopicOutcome {
  TopicFacts facts;
  bool made = false;
};

/// Makes those of the two topics of a log that are missing, and checks the settings of the others. Errors: unsupported (a topic that is
/// there has a setting under which the log would lose or reorder records; the message names it and what is allowed), denied, invalid,
/// unavailable.
[[nodiscard]] Result<std::vector<TopicOutcome>> make_topics(const Access& access);

/// Whether both topics are there with the partitions that the log needs and, for a writer, with settings that it can live with. Errors:
/// not_found (names the command that makes them), unsupported, denied, unavailable (no broker answers). Gives the facts about
/// the topic of records.
[[nodiscard]] Result<TopicFacts> check_topics(const Access& access, LastWords& words, bool for_writing);

/// Has the brokers forget all records of the partition up to this position. Errors: denied, unavailable, io.
[[nodiscard]] Result<void> delete_records(const Access& access, LastWords& words, Position upto);

}  // namespace hindsight::events::kafka
