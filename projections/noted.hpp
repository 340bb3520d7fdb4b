#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "projections/json.hpp"
#include "projections/mentions.hpp"

namespace hindsight::projections {

/// What notes of a log (`run --observe`) say about one workload: what would have been decided. Give it every record of the domain up to the
/// moment that is asked about, but for those that were set aside.
class Noted {
 public:
  explicit Noted(Target target) : mentions_(std::move(target)) {}
  void add(std::uint64_t offset, const RecordView& record);

  struct Line {
    std::uint64_t offset = 0, base = 0;
    Time time;
    std::string text;
  };
  /// The newest, oldest first.
  static constexpr std::size_t lines_max = 8;
  [[nodiscard]] const std::deque<Line>& lines() const { return lines_; }

 private:
  void say(std::uint64_t offset, const RecordView& record, std::uint64_t base, std::string text);

  Mentions mentions_;
  std::deque<Line> lines_;
};

/// For people, with a title; empty: there is no note about it.
[[nodiscard]] std::string to_text(const Noted& noted);
/// An array, which may be empty.
[[nodiscard]] Json to_json(const Noted& noted);

}  // namespace hindsight::projections
