#pragma once

#include <functional>
#include <optional>
#include <string>

#include "actors/node.hpp"
#include "replay/snapshots.hpp"

namespace hindsight::cli {

/// The snapshots of a node: it begins from the newest one that can be read, and writes new ones when they are due. A log without snapshots
/// is only slower: what goes wrong with them is told, and the node goes on.
class NodeSnapshots {
 public:
  /// The log must outlive this, and this the node. `notice`: what went wrong, one line.
  NodeSnapshots(events::Log& log, std::function<void(const std::string&)> notice, replay::SnapshotPolicy policy = {})
      : log_(log), notice_(std::move(notice)), policy_(policy) {}

  /// Sets `restore` and `on_batch` of a node that is to be started over the same log.
  void attach(actors::NodeOptions& options);

 private:
  events::Log& log_;
  std::function<void(const std::string&)> notice_;
  const replay::SnapshotPolicy policy_;
  std::optional<replay::SnapshotWriter> writer_;  ///< Of a node that decides.
};

}  // namespace hindsight::cli
