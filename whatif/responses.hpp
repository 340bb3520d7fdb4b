#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/model/workload_state.hpp"
#include "vocabulary/record.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::whatif {

/// How long something took, and whether it is known of the very object or taken from others like it.
struct Known {
  Duration time;
  bool own = true;
};

/// How a job came to its end.
struct End {
  bool succeeded = true;
  std::string message;
};

/// How the world answered on record: how long jobs ran, how soon they started, got ready and stopped, and what admission checks said. It is
/// shown all records of a domain in their order, those behind the moment that is looked at as well: how long a job runs is a property of
/// the job, and often known only later.
class Responses {
 public:
  void see(const RecordView& record);
  /// It is known from elsewhere how long this one runs.
  void set_run_time(const std::string& uid, Duration time) { lives_[uid].complete = time; }

  /// How long a job, or a Workload without one, runs from its start to its end: its last complete run; else a complete run of its form (its
  /// pod sets, in its queue), of its queue, or of anybody that was longer than what is on record of its own. Nothing: there is none.
  [[nodiscard]] std::optional<Known> run_time(std::string_view uid) const;
  /// One of the complete runs of the same form, queue, or of anybody, by a number, that was longer than `seen`. `like`: whose form it is.
  [[nodiscard]] std::optional<Known> draw_run_time(std::string_view like, Duration seen, std::uint64_t number) const;
  /// For how long the present run of this job has been going on, where it runs at the end of the record.
  [[nodiscard]] Duration running_for(std::string_view uid) const;
  /// Of its last end on record.
  [[nodiscard]] End end_of(std::string_view uid) const;
  /// From the start of a job until its pods are ready; nothing: nobody told of readiness.
  [[nodiscard]] std::optional<Duration> until_ready(std::string_view uid) const;
  /// From an admission to the start of its job, and from an eviction to the end of its pods: the medians on record.
  [[nodiscard]] Duration until_start() const { return median(starts_, Duration::millis(50)); }
  [[nodiscard]] Duration until_stop() const { return median(stops_, Duration::millis(50)); }

  /// What a check said, so long after the reservation.
  struct Answer {
    Duration after;
    admission::CheckStatus status;
  };
  /// To the attempt (0: the first) of this Workload; where that is not on record, what the check said to the most alike attempt of any;
  /// nothing: it never said anything.
  [[nodiscard]] std::optional<Answer> answer(std::string_view workload_uid, std::string_view check, std::size_t attempt) const;

  /// The uid that the Workload of this name got, where there was one.
  [[nodiscard]] std::optional<std::string> uid_of(const std::string& namespaced_name) const;

 private:
  struct Life {
    std::uint64_t form = 0, queue = 0;  ///< Hashes.
    Time running_since, admitted_at, evicted_at, reserved_at;
    Duration longest;  ///< Of what was seen of a run that came to no end.
    std::optional<Duration> complete, ready;
    End end;
    std::string job;  ///< Of a Workload: uid of its job; empty: it has none.
    std::size_t attempts = 0;
    std::map<std::pair<std::string, std::size_t>, Answer> answers;  ///< By check and attempt.
    bool ended = false;
  };

  void see(const JobObserved& o, Time now);
  void see(const WorkloadObserved& o, Time now);
  void see(const Event& event, Time now);
  void stopped(Life& life, Time now);
  void completed(Life& life, Time now);
  [[nodiscard]] Life* life_of_job(std::string_view workload_uid);
  [[nodiscard]] static Duration median(const std::vector<Duration>& of, Duration otherwise);

  std::map<std::string, Life, std::less<>> lives_;              ///< Of jobs and of Workloads, by uid.
  std::map<std::uint64_t, std::vector<Duration>> complete_of_;  ///< By form, and by queue.
  std::vector<Duration> complete_, starts_, stops_, ready_;
  std::map<std::string, std::vector<Answer>, std::less<>> answers_;  ///< By check.
  std::map<std::string, std::string> uids_;                          ///< "namespace/name" of a Workload → uid.
  Time last_;
};

}  // namespace hindsight::whatif
