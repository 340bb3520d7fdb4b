#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "admission/domain/state_view.hpp"
#include "events/log.hpp"
#include "projections/trail.hpp"
#include "projections/why.hpp"
#include "vocabulary/record.hpp"

namespace hindsight::casefile {

using events::Position;

/// Why a record is part of the evidence.
enum class Role {
  own,            ///< Something about it was observed.
  decision,       ///< A decision that names it, perhaps among many others.
  configuration,  ///< Its queues, their cohorts and flavors, its priority class, settings: as they were, and each change.
  other,          ///< Of those whom it preempted, who preempted it, and who hold what it waits for.
};
/// "own", "decision", "configuration", "other".
[[nodiscard]] std::string_view name_of(Role role);

struct BearingRecord {
  Position offset = 0;
  Role role = Role::own;
};

/// The records of a log that bear on one Workload, by offset.
struct Bearing {
  /// Of those about itself so many stay, the first and the last; of configuration, and of others, so many of each.
  static constexpr std::size_t own_max = 8'000, configuration_max = 1'000, others_max = 1'000;

  std::vector<BearingRecord> records;
  /// What is told of the Workload follows from the records from here on, and from the state before: its own, and to which ClusterQueue its
  /// LocalQueue led.
  Position needed_from = 0;
  std::size_t own_left_out = 0, configuration_left_out = 0, others_left_out = 0;
};

/// Which objects the explanation of a Workload stands on beside itself.
struct Connected {
  std::set<std::string, std::less<>> cluster_queues, cohorts, flavors, priority_classes;
  std::set<std::string, std::less<>> local_queues;  ///< "namespace/name"
  std::string namespace_;
  std::set<std::string, std::less<>> workloads;  ///< Uids of others.

  /// Beyond it, others are not looked for.
  static constexpr std::size_t workloads_max = 200;

  /// What a state has of these queues.
  void add_queues(const admission::StateView& state, const std::vector<Symbol>& queues);
  /// Those of the facts that it preempted, or that preempted it.
  void add_facts(const std::vector<projections::TrailFact>& facts);
  /// Who holds what it waits for, with the Options of a family.
  void add_holders(const projections::Why& why);
  void add_workload(std::string_view uid);
};

/// Chooses records. Give it every record of the domain, in order.
class Chooser {
 public:
  /// `first`: the first record about it; of configuration the newest before that counts too.
  Chooser(Connected connected, Position first) : connected_(std::move(connected)), first_(first) {}

  /// `concerns`: it is about the Workload itself.
  void see(Position offset, const RecordView& record, bool concerns);
  [[nodiscard]] Bearing finish();

 private:
  /// A list of which the middle goes when it gets too long.
  struct Ends {
    std::vector<Position> begin, end;  ///< `end` is a ring.
    std::size_t seen = 0;
    void add(Position offset, std::size_t most);
    [[nodiscard]] std::size_t left_out() const { return seen - begin.size() - end.size(); }
  };
  [[nodiscard]] std::string configured(const Observation& o) const;
  [[nodiscard]] bool about_other(const RecordView& record);

  Connected connected_;
  Position first_;
  Ends own_, decisions_, configuration_, others_;
  std::vector<std::pair<std::string, Position>> before_;  ///< The newest of each object of the configuration before `first_`.
  std::set<std::string, std::less<>> seen_others_;        ///< Whose first object was seen.
};

}  // namespace hindsight::casefile
