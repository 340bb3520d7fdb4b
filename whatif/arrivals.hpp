#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <vector>

#include "vocabulary/record.hpp"
#include "vocabulary/time.hpp"
#include "whatif/responses.hpp"

namespace hindsight::whatif {

/// When jobs arrived, and which: what a future draws those from that are still to come. The newest are kept (`kept_max`).
class Arrivals {
 public:
  void see(const RecordView& record);

  struct Arrival {
    Time at;
    Responses::Form form;
    std::vector<std::byte> record;  ///< Its first observation, encoded.
  };
  /// Arrivals of a stretch of the past that is drawn by `number`, moved so that the stretch begins at `from`, and how long it is. Where the
  /// record spans more than two days the stretch is of the same hour of the day. Nothing is known, or the record spans less than a
  /// second: an empty stretch of no length.
  struct Stretch {
    std::vector<std::pair<Time, const Arrival*>> arrivals;
    Duration length;
  };
  [[nodiscard]] Stretch draw(Time from, std::uint64_t number) const;

  static constexpr std::size_t kept_max = 20'000;

 private:
  std::deque<Arrival> arrivals_;
  std::set<std::string, std::less<>> seen_;  ///< Uids of objects that are there.
  Time first_, last_;
};

}  // namespace hindsight::whatif
