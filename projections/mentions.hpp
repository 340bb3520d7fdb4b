#pragma once

#include <set>
#include <string>
#include <string_view>

#include "projections/lookup.hpp"
#include "vocabulary/record.hpp"

namespace hindsight::projections {

/// Tells, from records alone, which of them are about one workload: its Workload objects (there may be several over time under one
/// name), its job, the Options of each Workload (8691), and decisions about any of them. Give it every record of the domain in order.
class Mentions {
 public:
  explicit Mentions(Target target) : target_(std::move(target)) {}

  [[nodiscard]] bool concerns(const RecordView& record);
  [[nodiscard]] bool concerns(const Event& event) const;

  [[nodiscard]] bool knows_workload(std::string_view uid) const { return workload_uids_.contains(uid); }
  [[nodiscard]] bool knows_job(std::string_view uid) const { return job_uids_.contains(uid); }
  /// All Workload objects that were seen, by uid.
  [[nodiscard]] const std::set<std::string, std::less<>>& workloads() const { return workload_uids_; }
  /// All jobs that were seen, by uid.
  [[nodiscard]] const std::set<std::string, std::less<>>& jobs() const { return job_uids_; }
  [[nodiscard]] const Target& target() const { return target_; }
  [[nodiscard]] const std::string& latest_job() const { return latest_job_; }
  /// Any object of this name was seen.
  [[nodiscard]] bool met() const { return !workload_uids_.empty() || !job_uids_.empty(); }

 private:
  [[nodiscard]] bool concerns(const Observation& o);
  [[nodiscard]] bool see(const WorkloadObserved& w);
  [[nodiscard]] bool see(const JobObserved& j);
  [[nodiscard]] bool see(const ObjectQuarantined& q);
  void note_workload(std::string_view uid);
  void note_job(std::string_view uid);

  Target target_;
  std::set<std::string, std::less<>> workload_uids_, job_uids_;
  std::string latest_job_;
};

}  // namespace hindsight::projections
