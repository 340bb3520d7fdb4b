#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "admission/domain/state_view.hpp"
#include "cli/output.hpp"
#include "vocabulary/record.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::cli {

class RememberedValues;

/// A question to a moment of a log: to the record that was folded last, and to the state behind it.
///
///     event WorkloadPreempted                                  the record is one of this kind, or decides an event of it
///     event QuotaReserved of team-a/job-train-1f2e3            and it names this object
///     workload team-a/job-train-1f2e3                          the record is about it, or names it
///     job team-a/train                                         the record is about the job or its Workload
///     clusterqueue/team-a:.status.pendingWorkloads > 10        a value of the object, as `get -o json` shows it
///     clusterqueue/team-a.pending > 10                         the same by its short name (short_values.hpp)
///     queue team-a pending > 10                                and once more
///     workload/team-a/job-x:.status.admission                  the object has this value
///     clusterqueue/team-a                                      the object is there
///
/// joined by `and`, `or`, `not` and parentheses. Values compare by ==, !=, <, <=, >, >=: as numbers where both are numbers or quantities
/// (500m, 16Gi), as texts where neither is; where only one is, and of true, false, objects and lists, none is less or more. Where a path
/// finds several values, one is enough. A text with blanks stands in quotes.
class Condition {
 public:
  /// Errors: invalid, with the place, what was found and what is allowed. At most `text_max` bytes, and parentheses `nesting_max` deep.
  [[nodiscard]] static Result<Condition> parse(std::string_view text);

  /// `remembered`: whose values are known already; null: none.
  [[nodiscard]] bool holds(const admission::StateView& state, const RecordView& record, RememberedValues* remembered = nullptr) const;
  /// Values that it compares, for who watches them: "clusterqueue/team-a:.status.pendingWorkloads" and what it is now.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> values(const admission::StateView& state) const;

  /// Pairs that < and the like never hold for, because one of them is a number and the other is none: "clusterqueue/cq:.metadata.name is
  /// cq, which is neither less nor more than 5". Of the values as they are in this state.
  [[nodiscard]] std::vector<std::string> incomparable(const admission::StateView& state) const;

  static constexpr std::size_t text_max = 4096;
  static constexpr int nesting_max = 32;

  struct Node;

 private:
  explicit Condition(std::shared_ptr<const Node> root) : root_(std::move(root)) {}
  std::shared_ptr<const Node> root_;
};

/// What is shown of a value that is not there.
inline constexpr std::string_view nothing_there = "(nothing)";

/// A value of an object: "clusterqueue/team-a:.status.pendingWorkloads", or "clusterqueue/team-a.pending"; without a path the object whole.
class ObjectValue {
 public:
  /// Errors: invalid, with what is allowed.
  [[nodiscard]] static Result<ObjectValue> parse(std::string_view text);

  /// All that the path finds; empty: the object or the value is not there.
  [[nodiscard]] std::vector<Json> in(const admission::StateView& state) const;
  /// The same on one line; `nothing_there` where there is none.
  [[nodiscard]] std::string text_in(const admission::StateView& state) const;
  [[nodiscard]] const std::string& text() const { return text_; }

  /// `values` as one line.
  [[nodiscard]] static std::string text_of(const std::vector<Json>& values);

  struct Parts;
  [[nodiscard]] const std::shared_ptr<const Parts>& parts() const { return parts_; }

 private:
  std::string text_;
  std::shared_ptr<const Parts> parts_;
};

}  // namespace hindsight::cli
