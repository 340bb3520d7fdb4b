#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "actors/node.hpp"
#include "replay/snapshots.hpp"

namespace hindsight::runtime {

/// The snapshots of a node: it begins from the newest one that can be read, and new ones are written when they are due. To walk over a
/// large state and to store it takes a second or more, in which nothing could be decided: so a snapshot is made beside the node, by folding
/// the log from the snapshot before. A log without snapshots is only slower: what goes wrong with them is told, and the node goes on.
class NodeSnapshots {
 public:
  /// The log must outlive this, and this the node. `notice`: what went wrong, one line; from any thread.
  NodeSnapshots(events::Log& log, std::function<void(const std::string&)> notice, replay::SnapshotPolicy policy = {})
      : log_(log), notice_(std::move(notice)), policy_(policy) {}
  /// Gives up a snapshot that is being made.
  ~NodeSnapshots() = default;
  NodeSnapshots(const NodeSnapshots&) = delete;
  NodeSnapshots& operator=(const NodeSnapshots&) = delete;

  /// Sets `restore` and `on_batch` of a node that is to be started over the same log, and adds to its `on_lead`: who stands by writes none.
  void attach(actors::NodeOptions& options);

  struct Standing {
    events::Position position = 0;  ///< Of the newest one that is known here; 0: there is none.
    std::uint64_t failures = 0;     ///< How many could not be stored.
  };
  /// Nothing: the node writes none. From any thread, after `attach`.
  [[nodiscard]] std::optional<Standing> standing() const;

 private:
  struct Moment {
    events::Position position = 0;
    Time now;
  };
  void make(const std::stop_token& stop, const std::string& domain, const std::string& version, Moment moment);
  void know(const std::vector<replay::SnapshotMeta>& list);
  void put_off(events::Position position, const std::string& why);
  /// The state at that moment, and some that are passed on the way, stored, unless another node has stored one lately. Errors: those of the
  /// log and of the fold.
  [[nodiscard]] Result<void> fold_and_store(const std::stop_token& stop, const std::string& domain, const std::string& version,
                                            Moment moment);

  events::Log& log_;
  std::function<void(const std::string&)> notice_;
  const replay::SnapshotPolicy policy_;
  std::atomic<bool> leads_ = false;
  std::atomic<events::Position> newest_ = 0;
  std::atomic<std::uint64_t> failures_ = 0;
  std::atomic<bool> busy_ = false;                ///< The next two belong to the thread that makes a snapshot; else to the node.
  std::optional<replay::SnapshotWriter> writer_;  ///< Of a node that decides.
  events::Position not_before_ = 0;               ///< After a failure, so that it is not tried for every record.
  std::jthread thread_;
};

}  // namespace hindsight::runtime
