#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "admission/domain/loop_driver.hpp"
#include "tests/explorer/api_server.hpp"
#include "tests/explorer/applier.hpp"
#include "tests/explorer/history.hpp"
#include "tests/explorer/invariants.hpp"
#include "tests/explorer/random.hpp"
#include "tests/explorer/users.hpp"

namespace hindsight::explorer {

/// One random history of a shared log: a connector and several nodes write to it at the same time, and readers number the records. Writes
/// arrive late, also after their writer is dead; processes read as far as they like, stand still, die, and come back from a snapshot or
/// from the first record; several take themselves for the owner at the same time. The constructor's seed determines everything.
class Fleet {
 public:
  explicit Fleet(std::uint64_t seed);

  /// Empty: every check held. Otherwise what was wrong, and after which record.
  [[nodiscard]] std::string run();

  [[nodiscard]] std::uint64_t steps() const { return steps_; }  ///< Actions of users, processes and the way to the log.
  struct Figures {
    std::uint64_t records = 0, epochs = 0, races_lost = 0, stale_decisions = 0, restores = 0;
  };
  [[nodiscard]] const Figures& figures() const { return figures_; }
  [[nodiscard]] const std::vector<HistoryRecord>& log() const { return log_; }

 private:
  struct Failure {
    std::string what;
  };
  enum class Phase : std::uint8_t { reading, claiming, leading };

  /// A record on its way; writes of one producer arrive in their order, or never.
  using Way = std::deque<HistoryRecord>;

  /// A process that folds the log; the connector never claims.
  struct Process {
    std::string name;
    std::unique_ptr<admission::LoopDriver> driver;
    std::size_t read = 0;  ///< Records.
    Phase phase = Phase::reading;
    std::uint64_t own_epoch = 0;  ///< Claimed or had.
    int claims = 0;               ///< Each under a name of its own.
    std::string writer;
    std::optional<std::uint64_t> in_flight;  ///< Base of the decision that was not read back yet.
    std::shared_ptr<Way> way;                ///< Of the producer of now; older ones are in `ways_` alone.
  };
  struct Snapshot {
    std::size_t read = 0;
    std::vector<std::byte> bytes;
  };

  void one_action();
  void send(Process& p, HistoryRecord r);
  void arrive(std::size_t way);
  void append(HistoryRecord r);
  bool read_one(Process& p);
  void epoch_began(Process& p, const Envelope& e, const EpochStarted& started);
  void claim(Process& p);
  void decide(Process& p);
  void lose_producer(Process& p);
  void crash(Process& p);
  void take_snapshot(const Process& p);
  void observe(bool faults);
  void read_all(Process& p);
  bool go_on();
  void bring_to_rest();
  [[nodiscard]] HistoryRecord observation(OwnedObservation o) const;
  [[nodiscard]] HistoryRecord blank(std::uint64_t epoch) const;
  [[nodiscard]] std::array<Process*, 4> everybody() { return {&connector_, &nodes_[0], &nodes_[1], &nodes_[2]}; }
  [[nodiscard]] Process& any_node() { return nodes_[random_.below(nodes_.size())]; }
  [[nodiscard]] std::unique_ptr<admission::LoopDriver> new_driver();
  [[noreturn]] void fail(const std::string& what) const { throw Failure{what}; }

  Random random_, order_;  ///< The second one only for orders of delivery.
  ApiServer server_;
  Users users_;
  Applier applier_;
  Invariants invariants_;

  std::vector<HistoryRecord> log_;
  std::vector<std::uint64_t> hashes_;               ///< Of the state after some of the records.
  std::unique_ptr<admission::LoopDriver> auditor_;  ///< Has always read everything.
  std::map<std::uint64_t, std::string> epochs_;     ///< Who began each first.
  std::vector<std::shared_ptr<Way>> ways_;          ///< With something under way, or a producer.
  Process connector_;
  std::array<Process, 3> nodes_;
  std::vector<Snapshot> snapshots_;
  Figures figures_;
  std::uint64_t steps_ = 0;
};

}  // namespace hindsight::explorer
