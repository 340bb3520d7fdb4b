#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "admission/domain/state_view.hpp"
#include "projections/json.hpp"
#include "vocabulary/amount.hpp"
#include "vocabulary/record.hpp"

namespace hindsight::casefile {

using admission::StateView;

/// A value that changes in steps. Of one that changes more often than a picture can show, the extremes of each stretch of time stay.
class Steps {
 public:
  struct Step {
    Time from;
    Amount value = 0;
    friend bool operator==(const Step&, const Step&) = default;
  };
  /// Beyond it steps are put together.
  static constexpr std::size_t most = 4096;

  /// Times do not fall. The last value of a moment counts.
  void put(Time from, Amount value);
  [[nodiscard]] const std::vector<Step>& all() const { return steps_; }
  /// Steps were put together.
  [[nodiscard]] bool thinned() const { return thinned_; }

 private:
  void thin();
  std::vector<Step> steps_;
  bool thinned_ = false;
};

struct Curve {
  enum class Kind { queue, queue_limit, tree, tree_limit, count };
  Kind kind = Kind::count;
  std::string name;  ///< "used in ClusterQueue team-a".
  Steps steps;
};

/// What is drawn over one axis of time.
struct Plot {
  std::string title;
  std::string resource;  ///< Of the amounts; empty: they are counts.
  std::vector<Curve> curves;
};

/// Looks on while records are folded (replay::Past::look_on) and keeps what the queues of some Workloads, and the trees of cohorts over
/// these, used meanwhile, who waited there, and where the Workloads stood in line. It costs a few steps for each moment, and for each queue
/// of the tree.
class Watch {
 public:
  /// Amounts are kept of as many queues, and of as many flavors and resources of each.
  static constexpr std::size_t queues_max = 3, pairs_max = 6;
  /// Places in line are asked for so often between `begin` and `end`, and as often again after records about the Workloads: each question
  /// looks at everybody who waits.
  static constexpr std::int64_t places_max = 200;

  Watch(Time begin, Time end) : begin_(begin), end_(end) {}

  void before(const RecordView& record, const StateView& state);
  /// `concerns`: it is about the Workloads that are looked at. `uid`: of the one whose object it shows; else empty.
  void after(const RecordView& record, const StateView& state, bool concerns, std::string_view uid);
  void finish(const StateView& state) { sample(state); }

  [[nodiscard]] std::vector<Plot> plots() const;
  /// ClusterQueues that they were in, in the order in which they came there.
  [[nodiscard]] const std::vector<Symbol>& queues() const { return names_; }
  [[nodiscard]] std::size_t queues_left_out() const { return names_.size() - queues_.size(); }
  [[nodiscard]] std::size_t pairs_left_out() const { return pairs_left_out_; }

 private:
  struct Pair {
    Symbol flavor, resource;
    Amount nominal = 0, tree_nominal = 0;
    Steps used, limit, tree_used, tree_limit;
  };
  struct Queue {
    Symbol name, root;  ///< `root`: the cohort at the top of its tree; empty: none.
    std::vector<Pair> pairs;
    Steps pending;
  };

  void sample(const StateView& state);
  void sample_places(const StateView& state, Time now);
  void read_configuration(const StateView& state, Queue& queue);
  void meet(const StateView& state, std::string_view uid);

  Time begin_, end_;
  std::vector<Symbol> names_;
  std::vector<Queue> queues_;
  std::vector<std::string> uids_;  ///< Newest last.
  std::vector<Symbol> resources_;  ///< That they ask for, by name.
  std::size_t pairs_left_out_ = 0;
  bool configuration_changed_ = true;
  std::int64_t next_place_ = 0;    ///< Number of the stretch of time in which the next place is asked for.
  bool place_changed_ = false;     ///< A record was about them since the last time.
  std::int64_t places_asked_ = 0;  ///< Because of such records.
  Steps place_;                    ///< -1: none of them waits.
};

/// {"title", "resource", "curves": [{"name", "kind", "steps": [["2026-…Z", 4000], …]}]}, amounts as the log has them (cpu in thousandths).
[[nodiscard]] projections::Json to_json(const Plot& plot);

}  // namespace hindsight::casefile
