#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "admission/domain/state_view.hpp"
#include "vocabulary/amount.hpp"
#include "vocabulary/record.hpp"

namespace hindsight::projections {

using admission::StateView;

/// What was used of each flavor and resource in a span of a log, weighted by the time for which it was. It looks on while records are
/// folded (replay::Past::look_on); between two records nothing changes.
class UsageOverTime {
 public:
  enum class Of { cluster_queues, local_queues };

  /// `state`: where the span begins.
  UsageOverTime(Of what, const StateView& state);

  void before(const RecordView& record, const StateView& state);
  void after(const RecordView& record, const StateView& state);
  /// The span ends at `moment`, or where the last record was if that is later.
  void end(Time moment, const StateView& state);

  /// How long the span is, so far.
  [[nodiscard]] Duration span() const { return last_ - first_; }
  /// Used amount times microseconds. `owner`: a ClusterQueue, or the namespace of the LocalQueue `local`.
  [[nodiscard]] WideAmount integral(const Symbol& owner, const Symbol& local, const Symbol& flavor, const Symbol& resource) const;
  /// Of such a sum the amount that was used on average, rounded to the nearest; 0 for a span without length.
  [[nodiscard]] Amount average(WideAmount integral) const;

 private:
  struct Cell {
    Symbol owner, local, flavor, resource;
    friend bool operator==(const Cell&, const Cell&) = default;
  };
  struct CellHash {
    std::size_t operator()(const Cell& c) const noexcept;
  };
  struct Sum {
    WideAmount integral = 0;
    Amount now = 0;
  };

  void read(const StateView& state);
  void put(std::size_t& next, const Symbol& owner, const Symbol& local, const Symbol& flavor, const Symbol& resource, Amount used);
  void advance(Time to);

  Of what_;
  Time first_, last_;
  bool changed_ = true;  ///< Usage may be another than what was read last.
  std::vector<Cell> cells_;
  std::vector<Sum> sums_;
  std::unordered_map<Cell, std::size_t, CellHash> index_;
};

}  // namespace hindsight::projections
