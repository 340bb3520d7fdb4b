#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "doctor/context.hpp"
#include "doctor/finding.hpp"
#include "events/kafka/topics.hpp"
#include "events/log.hpp"

namespace hindsight::doctor {

/// Where a log in a file lies.
struct DiskFacts {
  std::string file_system;  ///< "ext4"; empty: not known.
  enum class Kind { disk, network, memory, unknown } kind = Kind::unknown;
  std::optional<events::LogSpace> space;
  std::optional<double> sync_milliseconds;  ///< Of one small write; nothing: `sync_unknown` says why.
  std::string sync_unknown;
  std::uint64_t quota_used = 0, quota_limit = 0;  ///< Of this user, bytes; a limit of 0: there is none, or it is not known.
  unsigned mode = 0;                              ///< Permissions of the file; 0: not known.
};

/// What its topics are like.
struct TopicsFacts {
  std::string brokers;
  std::optional<events::kafka::TopicFacts> records;  ///< Nothing: `problem` says why.
  std::string record_topic, snapshot_topic;
  std::optional<Error> problem;  ///< Why a writer would not take them.
};

struct LogFacts {
  std::string location;
  std::optional<Error> not_open;
  std::optional<DiskFacts> disk;
  std::optional<TopicsFacts> topics;

  events::Position first = 0, last = 0;
  std::optional<Error> unreadable;  ///< The first or the last record.
  events::Position unreadable_at = 0;
  Time last_time = Time::never();
  std::optional<events::SnapshotMeta> newest_snapshot;
  std::uint32_t newest_schema = 0;  ///< Of the snapshots.
  std::string newest_release;       ///< Who wrote that one.
  std::size_t set_aside = 0;        ///< Records that every reader passes over.
};

[[nodiscard]] Outcome judge_log(const LogFacts& facts, const Options& options, const Commands& commands);
/// Within the time of a check, whatever the disk does.
[[nodiscard]] Outcome examine_log(Context& context);

/// What kind of file system has this number in statfs.
[[nodiscard]] std::pair<std::string, DiskFacts::Kind> file_system_of(long magic);

}  // namespace hindsight::doctor
