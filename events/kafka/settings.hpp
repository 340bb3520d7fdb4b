#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>

#include "vocabulary/result.hpp"

namespace hindsight::events::kafka {

/// What a user may say about the way to the brokers and about topics that are made.
struct Settings {
  /// Settings of librdkafka by their own names, each on the list that parse_settings allows.
  std::map<std::string, std::string> client;

  /// How long the brokers may take to answer, or to take a record, before an error of kind unavailable.
  std::chrono::milliseconds patience{30'000};

  // ---- of topics that `make_topics` makes ----
  int replication_factor = 0;   ///< 0: 3, or as many as there are brokers when they are fewer.
  int min_insync_replicas = 0;  ///< 0: one less than the replicas, at least 1.
  int partitions = 1;           ///< Of the topic of records.

  friend bool operator==(const Settings&, const Settings&) = default;
};

/// One setting, checked. `where` begins the message of an error: "line 3". Errors: invalid, naming the key, what was found and what is
/// allowed.
[[nodiscard]] Result<void> set(Settings& settings, const std::string& key, const std::string& value, const std::string& where);

/// Reads lines "key=value"; empty lines and lines that begin with # say nothing. Errors: invalid, naming `source` and line.
[[nodiscard]] Result<Settings> parse_settings(std::string_view text, const std::string& source);

}  // namespace hindsight::events::kafka
