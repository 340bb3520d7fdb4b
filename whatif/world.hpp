#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "admission/domain/loop_driver.hpp"
#include "vocabulary/arena.hpp"
#include "whatif/edits.hpp"
#include "whatif/responses.hpp"

namespace hindsight::whatif {

/// The world as it answers those whose decisions are not those on record: it writes what the state wants, starts and stops jobs, lets them
/// get ready and come to their ends, and speaks for admission checks, after the times that `Responses` knows. All that it says is an
/// observation, of facts that follow from the state; it keeps nothing but what is due when, and how far runs have come.
///
/// Pods are made where a topology needs them: of a job that starts with places, at most `pods_of_a_job_max`, which wait at their gate until
/// each has its place.
class World {
 public:
  /// `tell`: takes an observation into the state at once.
  using Tell = std::function<void(const Observation&)>;
  /// How long a job, or a Workload without one, runs, by uid; nothing: it never ends.
  using RunTime = std::function<std::optional<Known>(std::string_view uid)>;
  World(admission::LoopDriver& driver, const Responses& responses, Tell tell)
      : World(driver, responses, std::move(tell), [&responses](std::string_view uid) { return responses.run_time(uid); }) {}
  World(admission::LoopDriver& driver, const Responses& responses, Tell tell, RunTime run_time)
      : driver_(driver), responses_(responses), tell_(std::move(tell)), run_time_(std::move(run_time)) {}

  /// From now on it answers for this job, or for this Workload without a job. `running_since`: if it runs.
  void take_over(const std::string& subject, Time running_since);
  [[nodiscard]] bool answers_for(std::string_view subject) const { return subjects_.contains(subject); }
  /// Since when a run goes on of one that it answers for; never: none does.
  [[nodiscard]] Time running_since(std::string_view subject) const;
  /// What there is of it as its API server would show it, encoded: its job and its Workloads. Empty: it is not there.
  [[nodiscard]] std::vector<std::vector<std::byte>> shown(std::string_view subject);
  /// Something about it may have changed.
  void look_at(std::string_view subject);

  /// When it says something next; never: nothing is due.
  [[nodiscard]] Time next_due() const { return agenda_.empty() ? Time::never() : agenda_.begin()->first; }
  /// Says the first of what is due by now.
  void say_next();

  /// Its user changed it, as far as the API server takes it. `recorded`: how its object looked on record afterwards.
  Edited edit(const std::string& subject, const UserPart& before, const UserPart& wanted, const JobObserved& recorded);
  /// The same of a Workload that belongs to it, or is it.
  Edited edit(const std::string& subject, const UserPart& before, const UserPart& wanted, const WorkloadObserved& recorded);
  /// A user deleted a Workload of it; the job stays, and gets another one.
  void remove_workload(const std::string& subject, std::string_view workload_uid);
  /// It was deleted, with all that belongs to it; or it went to this domain.
  void remove(const std::string& subject, std::string_view departed_to = {});

  /// Jobs and Workloads that it answers for.
  [[nodiscard]] std::size_t size() const { return subjects_.size(); }
  /// How many it had run for a time that it knows or draws.
  [[nodiscard]] std::size_t timed() const { return timed_; }
  /// Of those, such whose run time is not their own, and such that never end because no run of any job is on record: "Job NAMESPACE/JOB".
  [[nodiscard]] const std::set<std::string>& estimated() const { return estimated_; }
  [[nodiscard]] const std::set<std::string>& endless() const { return endless_; }
  /// Checks that wait for an answer that was never given on record: "CHECK of NAMESPACE/WORKLOAD".
  [[nodiscard]] const std::set<std::string>& silent_checks() const { return silent_checks_; }
  /// Jobs with so many pods that they were not made: "NAMESPACE/JOB".
  [[nodiscard]] const std::set<std::string>& without_pods() const { return without_pods_; }

  static constexpr std::int64_t pods_of_a_job_max = 1'000;

 private:
  enum class Task : std::uint8_t { write, start, stop, pods, child, ready, check, clear, end };
  struct Subject {
    std::map<Task, Time> due;
    Time running_since;
    Duration done;                                                 ///< In earlier runs, where progress is kept.
    std::size_t children_come = 0;                                 ///< Of those that it brought on record, in this run.
    std::vector<std::string> brought;                              ///< Uids of children that are there.
    int runs = 0;                                                  ///< That the world began.
    bool timed = false;                                            ///< It is counted in `timed_`.
    std::map<std::string, std::pair<Time, std::size_t>> attempts;  ///< Of a Workload, by uid: its reservation, and how many it had before.
  };
  struct Parent {
    std::uint32_t index = 0;
    const admission::WorkloadParent* parent = nullptr;
  };

  [[nodiscard]] std::optional<Parent> find(std::string_view subject) const;
  void plan(const std::string& uid, Subject& subject, Task task, std::optional<Time> when);
  void plan_run(const std::string& uid, Subject& subject, const admission::WorkloadParent& parent);
  void plan_child(const std::string& uid, Subject& subject);
  void bring_child(const std::string& uid);
  void take_children(const std::string& uid, Subject& subject);
  void make_pods(const std::string& uid);
  void tell_pod(const Parent& at, const admission::PodState& pod, std::string_view workload);
  void release_pods(const std::string& uid);
  void take_pods(const std::string& uid);
  void plan_checks(const std::string& uid, Subject& subject, const admission::WorkloadParent& parent);
  void write_all(const std::string& uid);
  void write(const admission::WorkloadIntent& intent, const Parent& at);
  void write(const admission::WorkloadCreateIntent& intent, const Parent& at);
  void write(const admission::OptionCreateIntent& intent, const Parent& at);
  void write(const admission::WorkloadReviseIntent& intent, const Parent& at);
  void start_or_stop(const std::string& uid, bool run);
  void be_ready(const std::string& uid);
  void end(const std::string& uid);
  void clear(const std::string& uid);
  void answer_checks(const std::string& uid);
  void tell_job(const admission::WorkloadParent& parent, const std::function<void(JobObserved&)>& change);
  [[nodiscard]] WorkloadObserved shown(const admission::WorkloadState& w, const admission::WorkloadParent& parent);
  [[nodiscard]] std::string new_uid(const std::string& namespace_, const std::string& name);

  admission::LoopDriver& driver_;
  const Responses& responses_;
  Tell tell_;
  RunTime run_time_;
  Arena arena_;
  std::map<std::string, Subject, std::less<>> subjects_;
  std::set<std::pair<Time, std::pair<std::string, Task>>> agenda_;
  std::map<std::string, int> names_;  ///< How many Workloads it made of each name.
  std::size_t timed_ = 0;
  std::set<std::string> estimated_, endless_, silent_checks_, without_pods_;
};

}  // namespace hindsight::whatif
