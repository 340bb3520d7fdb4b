#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "events/kafka/location.hpp"
#include "events/kafka/settings.hpp"
#include "events/log.hpp"
#include "events/sqlite_log.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::runtime {

/// How a log is opened.
struct LogAccess {
  bool read_only = false;
  events::Durability durability = events::Durability::fsync;  ///< Of a file.
  std::string kafka_config;                                   ///< File with settings of the way to Kafka; empty: none.
  std::uint64_t limit = 0;                                    ///< Of a file, in bytes; 0: none but the disk's.
  std::string snapshot_folder = {};                           ///< For copies of the snapshots of a log on Kafka; empty: none are kept.
};

[[nodiscard]] bool is_kafka(const std::string& location);
/// The settings of the way to Kafka that `access` names. Errors: invalid, naming file, line, key, what was found and what is allowed.
[[nodiscard]] Result<events::kafka::Settings> kafka_settings(const LogAccess& access);

/// The log in each partition of its topic; a file, and a location that names its partition, is the only one. Errors: invalid, those of
/// events::kafka::check_topics.
[[nodiscard]] Result<std::vector<std::string>> partitions_of(const std::string& location, const LogAccess& access);

/// The command that sets aside a record of a log, for a shell: "hindsight log quarantine 12 --log sqlite:log.db". For
/// NodeOptions::quarantine_command.
[[nodiscard]] std::function<std::string(std::string_view log, events::Position)> quarantine_command(const std::string& log_config);

/// Opens what --log names. Errors: invalid for other schemes, and those of SqliteLog::open and KafkaLog::open.
[[nodiscard]] Result<std::unique_ptr<events::Log>> open_log(const std::string& location, const LogAccess& access = {});

}  // namespace hindsight::runtime
