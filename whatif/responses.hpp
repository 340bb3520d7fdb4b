#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/model/workload_state.hpp"
#include "vocabulary/record.hpp"
#include "vocabulary/time.hpp"
#include "whatif/sample.hpp"

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

/// What becomes of the work that a job has done when it is evicted.
enum class Progress : std::uint8_t {
  lost,  ///< It starts from zero.
  kept,  ///< It goes on where it stood, as jobs with checkpoints do.
};

/// How the world answered on record: how long jobs ran, how soon they started, got ready and stopped, and what admission checks said. It is
/// shown all records of a domain in their order, those behind the moment that is looked at as well: how long a job runs is a property of
/// the job, and often known only later.
///
/// Its memory is bounded (docs/limits.md): of objects that are gone the newest are remembered, or none at all; of all others how long they
/// ran, by their form.
class Responses {
 public:
  explicit Responses(Progress progress = Progress::lost) : progress_(progress) {}

  void see(const RecordView& record);
  /// Whether jobs and Workloads are remembered by uid when their objects are gone. Who asks only about those that are there at the end, or
  /// from some moment on, has no use for those that went before.
  void remember_gone(bool yes) { remembers_gone_ = yes; }
  /// It is known from elsewhere how long this one runs.
  void set_run_time(const std::string& uid, Duration time) { lives_[uid].complete = time; }
  [[nodiscard]] Progress progress() const { return progress_; }

  /// What jobs of one kind have in common, and jobs of one queue: hashes.
  struct Form {
    std::uint64_t form = 0, queue = 0;
  };
  [[nodiscard]] static Form form_of(const JobObserved& o);
  [[nodiscard]] static Form form_of(const WorkloadObserved& o);

  /// How long a job, or a Workload without one, runs from its start to its end: its last complete run; else a complete run of its form (its
  /// pod sets, in its queue), of its queue, or of anybody that was longer than what is on record of its own. Nothing: there is none. Where
  /// progress is kept, all its runs together count as one.
  [[nodiscard]] std::optional<Known> run_time(std::string_view uid) const;
  /// One of the complete runs of the same form, queue, or of anybody, by a number, that was longer than `seen`. `like`: whose form it is.
  [[nodiscard]] std::optional<Known> draw_run_time(std::string_view like, Duration seen, std::uint64_t number) const;
  [[nodiscard]] std::optional<Known> draw_run_time(const Form& like, Duration seen, std::uint64_t number) const;
  /// For how long the present run of this job has been going on, where it runs at the end of the record.
  [[nodiscard]] Duration running_for(std::string_view uid) const;
  /// How long its runs were, together, that had ended by then in vain.
  [[nodiscard]] Duration done_before(std::string_view uid, Time then) const;
  /// Of its last end on record.
  [[nodiscard]] End end_of(std::string_view uid) const;
  /// From the start of a job until its pods are ready; nothing: nobody told of readiness.
  [[nodiscard]] std::optional<Duration> until_ready(std::string_view uid) const;
  /// From an admission to the start of its job, and from an eviction to the end of its pods: the medians on record.
  [[nodiscard]] Duration until_start() const { return starts_.median(Duration::millis(50)); }
  [[nodiscard]] Duration until_stop() const { return stops_.median(Duration::millis(50)); }

  /// What a check said, so long after the reservation.
  struct Answer {
    Duration after;
    admission::CheckStatus status;
  };
  /// To the attempt (0: the first) of this Workload; where that is not on record, what the check said to the most alike attempt of any;
  /// nothing: it never said anything.
  [[nodiscard]] std::optional<Answer> answer(std::string_view workload_uid, std::string_view check, std::size_t attempt) const;

  /// A job that another one brought while it ran, as a RayJob brings its RayCluster.
  struct Child {
    Duration after;  ///< The start of the other.
    std::string uid;
    std::vector<std::byte> record;  ///< Its first observation, encoded.
  };
  [[nodiscard]] const std::vector<Child>& children_of(std::string_view uid) const;

  /// The uid that the Workload of this name got, where there was one.
  [[nodiscard]] std::optional<std::string> uid_of(const std::string& namespaced_name) const;

  /// How many are remembered by uid.
  [[nodiscard]] std::size_t remembered() const { return lives_.size(); }

  static constexpr std::size_t gone_max = 500'000;  ///< Jobs and Workloads whose objects are gone.
  static constexpr std::size_t forms_max = 100'000, runs_of_a_form_max = 1'000, runs_max = 2'000'000;
  static constexpr std::size_t checks_max = 1'000, answers_of_a_check_max = 1'000;
  static constexpr std::size_t children_of_a_job_max = 64, children_bytes_max = std::size_t{64} << 20;

 private:
  struct Run {
    Time ended;
    Duration length;
  };
  struct Life {
    Form form;
    Time running_since, admitted_at, evicted_at, reserved_at;
    std::vector<Run> in_vain;  ///< Runs that came to no end; the first may stand for several.
    std::optional<Duration> complete, ready;
    End end;
    std::string job;   ///< Of a Workload: uid of its job; empty: it has none.
    std::string name;  ///< Of a Workload: "namespace/name".
    std::size_t attempts = 0;
    std::map<std::pair<std::string, std::size_t>, Answer> answers;  ///< By check and attempt.
    std::vector<Child> children;
    bool ended = false;
  };

  void see(const JobObserved& o, const RecordView& record);
  void see(const WorkloadObserved& o, Time now);
  void see(const Event& event, Time now);
  void stopped(Life& life, Time now);
  void completed(Life& life, Time now);
  void gone(std::string_view uid, Time now);
  void forget(std::string_view uid);
  void note_run(std::uint64_t alike, Duration run);
  void note_answer(const std::string& check, const Answer& given);
  void note_child(const JobObserved& o, const RecordView& record);
  [[nodiscard]] Duration seen_of(std::string_view uid, const Life& life) const;
  [[nodiscard]] Life* life_of_job(std::string_view workload_uid);

  /// What one check said, by how long it took.
  struct Answers {
    std::vector<std::pair<Answer, std::uint64_t>> given;  ///< With the number of each.
    std::uint64_t next = 0;
  };

  Progress progress_;
  bool remembers_gone_ = true;
  std::map<std::string, Life, std::less<>> lives_;  ///< Of jobs and of Workloads, by uid.
  std::deque<std::string> gone_;                    ///< Of these, those whose objects are gone, the oldest first.
  std::map<std::uint64_t, Sample> complete_of_;     ///< By form, and by queue.
  std::deque<std::uint64_t> forms_;                 ///< Its keys, the oldest first.
  std::size_t runs_ = 0;                            ///< In all of them.
  Sample complete_, starts_, stops_, ready_;
  std::map<std::string, Answers, std::less<>> answers_;  ///< By check.
  std::map<std::string, std::string> uids_;              ///< "namespace/name" of a Workload → uid.
  std::size_t children_bytes_ = 0;
  Time last_;
};

}  // namespace hindsight::whatif
