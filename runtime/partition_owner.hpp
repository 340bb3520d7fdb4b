#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "actors/node.hpp"
#include "events/log.hpp"
#include "runtime/chain_keeper.hpp"
#include "runtime/history_keeper.hpp"
#include "runtime/node_snapshots.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::runtime {

/// Decides for every domain that lies in the partitions that are this node's, and stops when another node has taken one over. Which
/// partitions those are is told from outside (events/kafka/membership.hpp); who is right when two nodes believe it is said by the epochs in
/// the log. So a partition that goes to another node is not let go at once: its domains are decided here while that one folds the log, and
/// each of them until it reads the other's epoch.
class PartitionOwner {
 public:
  struct Options {
    /// Opens the log of a partition. Called again until it works.
    std::function<Result<std::unique_ptr<events::Log>>(std::int32_t)> open;
    std::string writer;  ///< Names this process in the log.
    std::string release;
    std::shared_ptr<actors::Clock> clock = std::make_shared<actors::DayClock>();
    std::chrono::milliseconds look{500};  ///< How often it looks for new domains, and for those that have ended.
    /// Whoever lost a domain to another node does not take it back for so long, unless it is told anew that the partition is its own: else
    /// one that was paused and has not heard yet that it was replaced would begin a quarrel.
    std::chrono::milliseconds hold_back{15'000};
    /// How long domains of a partition that is another node's now are decided here at most, if that one never begins.
    std::chrono::milliseconds linger{30'000};
    /// Partitions that are followed also while they are another node's, so that this one can decide as soon as it is asked to. Costs the
    /// memory of their whole state.
    std::vector<std::int32_t> standby = {};
    std::function<void(const std::string&)> on_notice;
    std::function<std::string(std::string_view log, events::Position)> quarantine_command = {};  ///< Of each node.
    replay::SnapshotPolicy snapshots = {};                                                       ///< Of each domain.
    std::optional<Duration> keep_history;  ///< What is older is forgotten in partitions that are decided here; nothing: all is kept.
    std::shared_ptr<const evidence::SigningKey> checkpoint_key = {};  ///< Signs the checkpoints of partitions that are decided here.
  };
  explicit PartitionOwner(Options options);
  /// Stops all; what was decided is written.
  ~PartitionOwner();

  /// All partitions that are this node's from now on. Never blocks.
  void own(std::vector<std::int32_t> partitions);
  /// Owns and follows nothing from now on, and waits until others have begun with all that was decided here, at most `timeout`. Whether
  /// they have.
  [[nodiscard]] bool hand_over(std::chrono::milliseconds timeout);

  struct Domain {
    std::int32_t partition = 0;
    std::string name;
    actors::NodeStatus status;
    std::optional<NodeSnapshots::Standing> snapshots;
  };
  /// Those that it decides for, is about to, or did until another node begins; not those that it only follows.
  [[nodiscard]] std::vector<Domain> domains() const;
  /// Those that it follows, and of them those that have been read to their end.
  struct Standby {
    std::size_t domains = 0, ready = 0;
  };
  [[nodiscard]] Standby standby() const;
  /// Those that are this node's, and of them those whose log is open.
  struct Standing {
    std::vector<std::int32_t> wanted, open;
  };
  [[nodiscard]] Standing standing() const;

 private:
  /// One domain of a partition.
  struct Decider {
    std::unique_ptr<NodeSnapshots> snapshots;
    std::unique_ptr<actors::Node> node;
  };
  enum class Stance : std::uint8_t {
    stands_by,  ///< It is another node's, and followed.
    decides,    ///< It is ours.
    lingers,    ///< It was ours, and is until another node has begun.
  };
  struct Partition {
    std::unique_ptr<events::Log> log;
    Stance stance = Stance::decides;
    std::unique_ptr<HistoryKeeper> history;  ///< While it is ours, if anything is to be forgotten.
    std::unique_ptr<ChainKeeper> chain;      ///< While it is ours.
    std::map<std::string, Decider> deciders;
    std::map<std::string, std::chrono::steady_clock::time_point> held_back;  ///< Until when.
    std::chrono::steady_clock::time_point lingers_until;
  };
  void run(const std::stop_token& stop);
  void look();
  void take(std::int32_t number, Partition& partition);
  [[nodiscard]] std::vector<Partition> part_with(const std::vector<std::int32_t>& wanted, const std::vector<std::int32_t>& followed);
  void drop(std::int32_t number, Partition& partition, const std::function<bool(const actors::NodeStatus&)>& which);
  void look_at(std::int32_t number, Partition& partition);
  /// `alone`: in its partition.
  [[nodiscard]] Result<Decider> decider(Partition& partition, const std::string& domain, bool alone);

  const Options options_;
  mutable std::mutex mutex_;  ///< Of all below; what the partitions hold changes on the thread only.
  std::condition_variable_any changed_, parted_;
  std::vector<std::int32_t> wanted_;
  std::map<std::int32_t, Partition> partitions_;
  bool news_ = false;  ///< Since the last look it was told what is its own.
  bool handing_over_ = false;
  std::jthread thread_;
};

}  // namespace hindsight::runtime
