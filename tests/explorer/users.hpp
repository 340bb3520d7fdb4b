#pragma once

#include "tests/explorer/api_server.hpp"
#include "tests/explorer/random.hpp"

namespace hindsight::explorer {

/// Everybody who writes to the API server beside us: administrators, makers of jobs, kubelets, check controllers. Seeded.
class Users {
 public:
  /// Most jobs are elastic ones, and much of what happens is that one of them gets another size while it runs.
  void resize_often() { resize_often_ = true; }

  Users(ApiServer& server, Random& random) : server_(server), random_(random) {}
  Users(const Users&) = delete;
  Users& operator=(const Users&) = delete;
  virtual ~Users() = default;

  /// The first configuration: flavors, cohorts, queues, classes, checks.
  virtual void set_up();
  /// What is configured first, for `read_settings`.
  [[nodiscard]] virtual Text pick_settings();
  /// Somebody does something.
  virtual void act();
  /// What happens in a cluster that is left alone: pods start and end, jobs finish, evictions are completed. True if there was something.
  virtual bool let_run();
  /// Of that only what ends a stop: pods end, evictions are completed.
  virtual bool end_stops() { return false; }
  /// Those that were stopped or taken away are there and run.
  void resume_local_queues();
  /// Quota for all, no stops, no checks: from now on every job can be admitted.
  virtual void make_everything_possible();
  /// True when all jobs have finished, but those that were deactivated.
  [[nodiscard]] bool everything_finished() const;
  /// Something runs that `let_run` would have ended, had the dice been kinder.
  [[nodiscard]] bool waiting_for_luck() const;
  /// For messages: the names of what has not finished.
  [[nodiscard]] virtual std::string unfinished() const;

 protected:
  void create_job();
  void create_workload();
  void change_job();
  [[nodiscard]] bool resize(Job& j);
  void resize_one_that_runs();
  void change_workload();
  void change_quota();
  void change_queue();
  void change_cohort();
  void change_local_queue();
  void change_classes_and_checks();
  void judge_checks();
  void finish(Workload& w);
  bool end_eviction(Workload& w);
  [[nodiscard]] std::vector<PodSet> random_pod_sets();
  [[nodiscard]] QuotaHolder random_quota(const std::string& name);
  /// Inactive, or deactivated for a reason and active again, which opens no gate (D3).
  [[nodiscard]] static bool stays_away(const Workload& w);
  template <class T>
  [[nodiscard]] T* any(std::map<std::string, T>& objects) {
    if (objects.empty()) return nullptr;
    auto it = objects.begin();
    std::advance(it, static_cast<std::ptrdiff_t>(random_.below(objects.size())));
    return &it->second;
  }

  ApiServer& server_;
  Random& random_;
  std::vector<std::string> flavor_names_, resource_names_, cohort_names_, queue_names_;
  int made_ = 0;
  bool resize_often_ = false;
};

}  // namespace hindsight::explorer
