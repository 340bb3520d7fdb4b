#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/domain/loop_driver.hpp"
#include "projections/play.hpp"
#include "whatif/arrivals.hpp"
#include "whatif/responses.hpp"
#include "whatif/world.hpp"

namespace hindsight::whatif {

/// One way in which things may go on from a state: who runs ends after a run time that others of its form had, and others come as they came
/// before. What is drawn follows from `number` alone.
class Future {
 public:
  Future(const projections::Stage& stage, const Responses& responses, const Arrivals& arrivals, std::uint64_t number);

  /// When this Workload is admitted first; nothing: not within `horizon`, not within so many records, or it is gone.
  [[nodiscard]] std::optional<Time> start_of(std::string_view workload_uid, Duration horizon, std::uint64_t records_max);
  /// It was given up because of the number of records.
  [[nodiscard]] bool is_cut() const { return cut_; }

 private:
  void append(Body body);
  void tell(const Observation& o) { append(o); }
  void decide_to_rest();
  void plan_arrivals();
  void arrive(const Arrivals::Arrival& arrival);
  [[nodiscard]] std::uint64_t next_number();

  const Responses& responses_;
  const Arrivals& arrivals_;
  admission::LoopDriver driver_;
  std::unique_ptr<World> world_;
  std::multimap<Time, const Arrivals::Arrival*> coming_;
  std::map<std::string, Responses::Form, std::less<>> like_;  ///< Uid of who arrived here → what it is a copy of.
  std::map<std::string, Known, std::less<>> run_times_;       ///< That were drawn.
  Time now_, planned_to_;
  std::uint64_t number_, arrived_ = 0, records_ = 0;
  bool cut_ = false;
};

/// All futures of one estimate play so many records together; where more jobs come than are ever given quota, futures have no end.
inline constexpr std::uint64_t records_of_all_futures = 400'000, records_of_a_future_min = 2'000;

/// When a Workload will start, from many futures.
struct Estimate {
  std::size_t futures = 0, started = 0;     ///< Of `futures` it starts within the horizon in so many.
  std::size_t cut = 0;                      ///< So many were given up because of the number of their records; they count as later.
  std::optional<Time> early, median, late;  ///< The 10th, 50th and 90th percentile; nothing: beyond the horizon.
};
/// The same state without jobs and Workloads that have ended: they decide nothing any more, and are often most of it.
[[nodiscard]] projections::Stage without_ended(const projections::Stage& stage);

[[nodiscard]] Estimate estimate(const projections::Stage& stage, const Responses& responses, const Arrivals& arrivals,
                                std::string_view workload_uid, std::size_t futures, Duration horizon,
                                const std::function<void(std::size_t done, std::size_t total)>& progress = {});

}  // namespace hindsight::whatif
