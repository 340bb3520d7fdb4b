#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "admission/domain/state_view.hpp"
#include "page/timeline/object_tokens.hpp"
#include "vocabulary/record.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::page::timeline {

/// An object as the page names it: "Workload/team-a/train", "ClusterQueue/team-a".
struct ObjectName {
  std::string kind, namespace_, name;

  /// Errors: invalid, with what was found and what is allowed.
  [[nodiscard]] static Result<ObjectName> parse(std::string_view text);
};

/// Tells which records are about one object: observations of it, its end, what was decided of it, and of a job also those about its
/// Workloads, as far as the state where the search began and the records that it has seen name them.
class ObjectFilter {
 public:
  ObjectFilter(ObjectName object, const admission::StateView& state);

  [[nodiscard]] bool matches(const RecordView& record);
  /// What stands in each record that matches, as far as its Workloads are known.
  [[nodiscard]] std::vector<Token> tokens() const;

  [[nodiscard]] const ObjectName& object() const { return object_; }
  /// Is it this one, or a Workload of this job?
  [[nodiscard]] bool is(std::string_view kind, Text namespace_, Text name) const;
  /// It is of no other kind that is in a namespace.
  [[nodiscard]] bool may_be_job() const;
  /// A Workload of the job was met.
  void note_workload(Text name);

 private:
  static constexpr std::size_t workloads_max = 1000;

  ObjectName object_;
  bool is_workload_ = false;
  std::set<std::string, std::less<>> workloads_;  ///< Names, in the namespace of the job.
};

}  // namespace hindsight::page::timeline
