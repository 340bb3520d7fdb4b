#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "admission/domain/loop_driver.hpp"
#include "vocabulary/record.hpp"

namespace hindsight::bench {

struct ElasticShape {
  std::size_t queues = 100;  ///< ClusterQueues in ten cohorts, with one LocalQueue each.
  std::size_t jobs = 1'000;
  std::optional<std::int32_t> kept;  ///< Replaced slices that are kept of a job; nothing: all of them.
};

/// Elastic Jobs of one pod set, and everybody who answers a decision about them: slices are created, their status is written, and what was
/// decided to go is deleted, each seen as a record of its own before the next decision. There is room for all.
class ResizingCluster {
 public:
  explicit ResizingCluster(const ElasticShape& shape);

  /// All jobs run with `size` pods each.
  void start(std::int32_t size);
  /// The user gives the job another size. What follows is decided by `settle`.
  void resize(std::size_t job, std::int32_t size);
  /// Decides and answers until nothing is left to decide.
  void settle();

  [[nodiscard]] std::uint64_t records() const { return sequence_; }
  [[nodiscard]] std::uint64_t replacements() const { return replacements_; }
  /// Milli-cpu in use over all ClusterQueues, as the rules have it.
  [[nodiscard]] Amount used() const;

 private:
  struct Job {
    std::string name, uid, queue, next_slice;
    std::int64_t generation = 0;
    std::int32_t size = 0;
    bool runs = false;
  };
  struct Slice {
    std::size_t job = 0;
    std::string name, uid, replaces, chain;
    std::int64_t generation = 1;
    std::int32_t count = 0, granted = 0;  ///< Granted 0: no reservation.
    Time created;
    bool finished = false;
  };
  enum class Write : std::uint8_t { create, admit, shrink, finish, remove };
  struct Answer {
    Write write = Write::create;
    std::size_t slice = 0;
  };

  void apply(Body body);
  void configure(const ElasticShape& shape);
  void observe_job(const Job& j);
  void observe_slice(const Slice& s);
  void collect_answers(const admission::Domain::Step& step);
  void answer();
  std::size_t create_slice(const WorkloadRequested& e);

  admission::LoopDriver driver_;
  std::vector<Job> jobs_;
  std::vector<Slice> slices_;
  std::vector<Answer> answers_;
  std::vector<std::string> queue_names_;
  Time now_ = Time::from_seconds(1'700'000'000);
  std::uint64_t sequence_ = 0, version_ = 0, replacements_ = 0;
};

}  // namespace hindsight::bench
