#include "page/timeline/timeline_answer.hpp"

#include <limits>
#include <nlohmann/json.hpp>

namespace hindsight::page {
namespace {

/// Nothing: it was not given.
Result<std::optional<Position>> position_in(const Parameters& parameters, const char* name) {
  if (parameters.text(name).empty()) return std::optional<Position>();
  return parameters.number(name, 0, 1, std::numeric_limits<std::int64_t>::max()).map([](std::uint64_t n) {
    return std::optional<Position>(n);
  });
}

}  // namespace

Result<Json> timeline_answer(const TimelineIndex& index, const Parameters& parameters) {
  const auto from = position_in(parameters, "from");
  if (!from) return tl::unexpected(from.error());
  const auto to = position_in(parameters, "to");
  if (!to) return tl::unexpected(to.error());
  const auto columns = parameters.number("buckets", TimelineRange().columns, 1, timeline::columns_max);
  if (!columns) return tl::unexpected(columns.error());
  return index.at({.from = *from, .to = *to, .columns = static_cast<std::size_t>(*columns)});
}

}  // namespace hindsight::page
