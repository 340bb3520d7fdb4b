#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "admission/domain/state_view.hpp"
#include "admission/workload/workload_parent.hpp"
#include "tests/explorer/api_server.hpp"
#include "vocabulary/record.hpp"
#include "vocabulary/symbol.hpp"

namespace hindsight::explorer {

/// For each Workload of the entity, by its position, the queue in which it is to wait as a member of a family; empty: in none. A Parent
/// waits in none (CA-2).
[[nodiscard]] std::vector<Symbol> family_queues_of(const admission::WorkloadParent& entity, const admission::StateView& state);

/// What is promised of families of concurrent admission (8691 CA-43, CA-130 to CA-133), reckoned from the configuration of queues, the
/// objects and the events alone. That usage is what is held, and who waits where, Invariants and SliceRules look at.
class FamilyRules {
 public:
  /// To be told of every record, before and after it is applied. Empty, or what is wrong.
  [[nodiscard]] std::string before(const admission::StateView& state, const RecordView& record);
  [[nodiscard]] std::string after(const admission::StateView& state, const RecordView& record);

  /// When there is nothing left to decide.
  [[nodiscard]] std::string check_rest(const admission::StateView& state);
  /// When besides all is told and written, and no pods are left of jobs that were stopped.
  [[nodiscard]] std::string check_quiet(const admission::StateView& state, const ApiServer& server);

  /// Of what is wanted: a job starts when the API server shows the admission of one of its Options.
  [[nodiscard]] std::string check_starts(const admission::StateView& state, const std::vector<admission::Intent>& intents,
                                         const ApiServer& server);

  /// How often there was something to look at.
  struct Figures {
    std::size_t formed = 0, dissolved = 0, resets = 0, admissions = 0, migrations = 0, kept = 0, adoptions = 0, rights = 0, preemptions = 0,
                rejections = 0, compared = 0, running = 0, stopped = 0, starts = 0;
  };
  [[nodiscard]] const Figures& figures() const { return figures_; }

 private:
  [[nodiscard]] std::string check_family(const admission::WorkloadParent& entity, const admission::WorkloadState& parent) const;
  /// `decided`: the record was a decision; else somebody else may have changed who is admitted.
  [[nodiscard]] std::string check_course(const admission::StateView& state, const admission::WorkloadParent& entity,
                                         const admission::WorkloadState& parent, bool decided);
  void note(const admission::StateView& state, const RecordView& record);

  /// Of a family (uid of its Parent) the Option that was admitted last, and the flavors that it was assigned, as long as nothing has
  /// happened since that lets it be admitted on others that are worse.
  struct Course {
    std::string option;
    std::vector<Symbol> flavors;
    bool stands = false;  ///< It is admitted, and not evicted.
  };
  std::map<std::string, Course, std::less<>> courses_;
  Figures figures_;
};

}  // namespace hindsight::explorer
