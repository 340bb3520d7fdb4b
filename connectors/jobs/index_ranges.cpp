#include "connectors/jobs/index_ranges.hpp"

#include <algorithm>

#include "connectors/json/text.hpp"

namespace hindsight::connectors {

void IndexRanges::add(std::string_view list) {
  while (!list.empty()) {
    const auto comma = list.find(',');
    const auto range = list.substr(0, comma);
    list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 1);
    const auto dash = range.find('-');
    const auto first = parse_int32(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_int32(range.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *first >= bound_) continue;
    ranges_.emplace_back(*first, std::min(*last, bound_ - 1));
  }
}

std::int64_t IndexRanges::count() const {
  auto sorted = ranges_;
  std::sort(sorted.begin(), sorted.end());
  std::int64_t total = 0;
  std::int64_t next = 0;  // The lowest index that is not counted yet.
  for (const auto& [first, last] : sorted) {
    const auto from = std::max<std::int64_t>(first, next);
    if (last < from) continue;
    total += last - from + 1;
    next = std::int64_t{last} + 1;
  }
  return total;
}

}  // namespace hindsight::connectors
