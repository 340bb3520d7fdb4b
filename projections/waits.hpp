#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "projections/json.hpp"
#include "projections/lookup.hpp"
#include "vocabulary/record.hpp"

namespace hindsight::projections {

/// The value at a percentile of values that are sorted, by nearest rank: the smallest one that at least `percent` of all do not exceed.
/// `percent`: 1 … 100. Nothing: there are no values.
[[nodiscard]] std::optional<std::int64_t> percentile(std::span<const std::int64_t> sorted, int percent);

/// Waits of some Workloads until they got quota, in milliseconds, rounded down.
struct WaitFigures {
  std::size_t waits = 0;
  std::int64_t p50 = 0, p95 = 0, longest = 0;  ///< 0 where nobody got quota.
};
[[nodiscard]] WaitFigures figures_of(std::vector<std::int64_t> waits);
/// "0.4s", "12.5s", "3m20s".
[[nodiscard]] std::string wait_text(std::int64_t milliseconds);
/// {"count": 2, "p50": 400, "p95": 1200, "max": 1200}
[[nodiscard]] Json to_json(const WaitFigures& figures);

/// What became of Workloads in a span of a log: who got quota and how long that took, who was admitted, finished, evicted. It looks on
/// while records are folded (replay::Past::look_on). What counts is what a record made of a Workload, so decisions without effect, and what
/// others decided, are told for what they were. A family of concurrent admission is one, by its Parent, and a move of it from one Option to
/// another is no admission (CA-103, CA-105); a slice that another one replaces has not finished.
class Waits {
 public:
  struct Counts {
    std::vector<std::int64_t> waits;  ///< In the order in which they ended.
    std::size_t admitted = 0, finished = 0;
    std::size_t evicted = 0;    ///< Of those that held quota.
    std::size_t preempted = 0;  ///< Of `evicted`.
    void add(const Counts& other);
  };

  /// Before and after each record is applied.
  void before(const RecordView& record, const StateView& state);
  void after(const RecordView& record, const StateView& state);

  /// Of a ClusterQueue, a LocalQueue, a flavor (whoever has been assigned it); all 0 where nothing happened.
  [[nodiscard]] const Counts& of_queue(const Symbol& cluster_queue) const;
  [[nodiscard]] const Counts& of_local_queue(const Symbol& namespace_, const Symbol& name) const;
  [[nodiscard]] const Counts& of_flavor(const Symbol& flavor) const;

 private:
  /// What is compared of a Workload.
  struct Look {
    std::string uid;
    bool there = false;
    Symbol queue, namespace_, local_queue;
    std::vector<Symbol> flavors;  ///< Assigned; each once.
    bool reserved = false, admitted = false, finished = false, evicted = false, preempted = false;
    Time since;           ///< It waits since then.
    Time first_admitted;  ///< Of a Parent, in this cycle of its family.
  };

  [[nodiscard]] static Look look_at(const StateView& state, std::string_view uid);
  void look_again(const Look& was, const Look& is, Time now);
  template <class F>
  void count(const Look& where, F&& change);

  std::vector<Look> looks_;  ///< Of those whom the record that is being applied may concern.
  std::map<Symbol, Counts, ByText> queues_, flavors_;
  std::map<std::pair<std::string, std::string>, Counts> local_queues_;
};

}  // namespace hindsight::projections
