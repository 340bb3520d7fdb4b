#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
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

/// Tries again while the log is out of reach, for a minute at most or until it is told to stop: brokers may be away just when a process
/// starts. `notice` hears of it once. Whatever else is wrong is told at once.
template <class Open>
[[nodiscard]] auto when_reachable(Open open, const std::stop_token& stop, const std::function<void(const std::string&)>& notice) {
  constexpr std::chrono::milliseconds patience{60'000}, pause{500};
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (bool told = false;; told = true) {
    auto opened = open();
    if (opened || opened.error().kind != ErrorKind::unavailable || stop.stop_requested() || std::chrono::steady_clock::now() >= deadline)
      return opened;
    if (!told) notice(opened.error().message + "; it is tried again");
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace hindsight::runtime
