#include "page/timeline/indexed.hpp"

#include <algorithm>

namespace hindsight::page::timeline {
namespace {

/// The rows of a series that end in [from, to], and before them the last one before `from`.
void take_rows(const Series& series, Position from, Position to, std::vector<DrawnRow>& out) {
  for (const auto& block : series.blocks) {
    if (block->back().last < from) {
      if (out.empty() || out.back().row->last < from) out.assign(1, {&block->back(), &series});
      continue;
    }
    for (const Row& row : *block) {
      if (row.last > to) return;
      if (row.last < from) {
        out.assign(1, {&row, &series});
        continue;
      }
      out.push_back({&row, &series});
    }
  }
}

}  // namespace

const Series* Indexed::detail_of(Position from, Position to) const {
  const Series* best = nullptr;
  for (const auto& detail : details)
    if (detail->begin < from && detail->end >= to && detail->width < main->width && (best == nullptr || detail->width < best->width))
      best = detail.get();
  return best;
}

Stretch stretch_of(const Indexed& indexed, Position from, Position to) {
  Stretch out;
  if (const Series* detail = indexed.detail_of(from, to)) {
    out.detail = detail;
    take_rows(*detail, from, to, out.rows);
    out.covered = to;
    out.exact = true;
    return out;
  }
  take_rows(*indexed.main, from, to, out.rows);
  out.covered = std::min(to, indexed.main->end);
  out.exact = out.covered == to;
  if (out.exact || indexed.coarse == nullptr) return out;
  std::vector<DrawnRow> estimated;
  take_rows(*indexed.coarse, std::max(from, indexed.main->end + 1), to, estimated);
  for (const auto& drawn : estimated) {
    const bool is_before = drawn.row->last <= indexed.main->end;
    if (!is_before) out.rows.push_back(drawn);
  }
  out.covered = std::max(out.covered, std::min(to, indexed.coarse->end));
  return out;
}

std::uint64_t main_rows_in(const Indexed& indexed, Position from, Position to) {
  return from > to ? 0 : (to - from) / indexed.main->width + 1;
}

}  // namespace hindsight::page::timeline
