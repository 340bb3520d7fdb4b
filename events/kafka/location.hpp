#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "vocabulary/result.hpp"

namespace hindsight::events::kafka {

/// Which log on which brokers: "kafka:HOST:PORT[,HOST:PORT]...[/PREFIX][?partition=N]".
///
/// Records stand in partition N of the topic PREFIX.log, snapshots in partitions 2N (what there is) and 2N + 1 (their bytes) of
/// PREFIX.snapshots. Without PREFIX it is "hindsight", without N it is 0.
struct Location {
  std::string brokers;
  std::string prefix = "hindsight";
  std::int32_t partition = 0;

  [[nodiscard]] std::string record_topic() const { return prefix + ".log"; }
  [[nodiscard]] std::string snapshot_topic() const { return prefix + ".snapshots"; }
  [[nodiscard]] std::int32_t index_partition() const { return 2 * partition; }
  [[nodiscard]] std::int32_t body_partition() const { return 2 * partition + 1; }
  /// As it is written, without what is the default.
  [[nodiscard]] std::string text() const;

  friend bool operator==(const Location&, const Location&) = default;
};

inline constexpr std::int32_t partition_max = 9999;

/// Reads a location with or without "kafka:" before it. Errors: invalid, naming the part, what was found and what is allowed.
[[nodiscard]] Result<Location> parse_location(std::string_view text);

}  // namespace hindsight::events::kafka
