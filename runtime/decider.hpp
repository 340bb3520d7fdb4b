#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <string>

#include "evidence/keys.hpp"
#include "operations/signals.hpp"
#include "runtime/listeners.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::runtime {

/// What `run --role node` needs.
struct DeciderRunOptions {
  std::string log, log_config;  ///< On Kafka.
  std::string snapshot_folder;  ///< For copies of snapshots; empty: none are kept.
  std::string http;             ///< Where /healthz and the others listen.
  ListenerRunOptions listeners;
  std::string group;   ///< Empty: named as the log, so that the nodes of two logs do not share one.
  std::string member;  ///< Empty: none, the partitions go to others at once when this process ends.
  unsigned session_timeout_seconds = 6;
  bool standby = false;                  ///< Follow the partitions of other nodes, to decide at once when they become this one's.
  std::optional<Duration> keep_history;  ///< Nothing: all is kept.
  std::shared_ptr<const evidence::SigningKey> checkpoint_key;  ///< None: checkpoints are not signed.
  std::string identity;                                        ///< Of this process, in the log.
};

/// Shares the partitions of a log with other nodes and decides for the domains in its own, until it is told to stop. The exit code; `err`
/// gets the reason of a failure.
[[nodiscard]] int run_decider(const DeciderRunOptions& options, operations::Signals& signals, std::ostream& err);

}  // namespace hindsight::runtime
