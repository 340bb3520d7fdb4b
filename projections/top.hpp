#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "projections/json.hpp"
#include "projections/usage_over_time.hpp"
#include "projections/wait_reasons.hpp"
#include "projections/waits.hpp"

namespace hindsight::projections {

/// What `top` lists.
enum class TopKind { cluster_queues, cohorts, local_queues, flavors };
enum class TopOrder { use, wait, pending, name };

/// What a row has of one flavor and resource.
struct TopQuota {
  Symbol flavor, resource;
  /// Of a span: on average, weighted by time.
  Amount used = 0;
  /// Of a cohort that of everything below it, of a LocalQueue that of its ClusterQueue, of a flavor that of all queues and cohorts; at the
  /// end of a span.
  Amount nominal = 0;
  Amount borrowed = 0;  ///< Now; not of a LocalQueue.
};

/// Used of nominal quota in thousandths, rounded down; nothing: there is no quota, or it is unlimited.
[[nodiscard]] std::optional<std::int64_t> use_in_thousandths(const TopQuota& quota);

struct TopRow {
  std::string name;   ///< "namespace/name" of a LocalQueue.
  std::string group;  ///< Cohort of a ClusterQueue, parent of a cohort, ClusterQueue of a LocalQueue.
  std::vector<TopQuota> quota;
  /// Who waits for quota (phase Pending); of a flavor those who lack it. A cohort counts everybody below it.
  std::size_t pending = 0;
  Time waits_since;  ///< Of the one of them that has waited longest; never: nobody waits.
  struct Mostly {
    WaitReason reason;
    std::size_t workloads = 0;
  };
  std::optional<Mostly> mostly;  ///< The reason for which most of them wait.
  // Of a span.
  WaitFigures waits;
  std::size_t admitted = 0, finished = 0, evicted = 0, preempted = 0;
};

struct Top {
  TopKind kind = TopKind::cluster_queues;
  Time now;                      ///< Ages count to it.
  std::optional<Duration> span;  ///< Of a span: how long it is.
  std::vector<TopRow> rows;
  Waiters waiters;  ///< Everybody who waits, whatever is listed.
};

/// Who uses how much of what, and who waits; largest first.
[[nodiscard]] Top top_of(const StateView& state, TopKind kind, TopOrder order);

/// Looks on while a span of a log is folded (replay::Past::look_on), and tells of it.
class TopOverTime {
 public:
  /// `state`: where the span begins.
  TopOverTime(TopKind kind, const StateView& state);
  void before(const RecordView& record, const StateView& state);
  void after(const RecordView& record, const StateView& state);
  /// `state`: where the span ends. To be called once.
  [[nodiscard]] Top finish(const StateView& state, TopOrder order);

 private:
  TopKind kind_;
  Waits waits_;
  UsageOverTime usage_;
};

/// A table; and below it for which reasons how many wait, up to `reasons_max` of them. No line feed but at ends of lines.
[[nodiscard]] std::string to_text(const Top& top, bool colour, std::size_t reasons_max);
[[nodiscard]] Json to_json(const Top& top);

/// Only for which reasons how many wait, in each ClusterQueue.
[[nodiscard]] std::string reasons_text(const Waiters& waiters, Time now, bool colour);
[[nodiscard]] Json reasons_document(const Waiters& waiters, Time now);

}  // namespace hindsight::projections
