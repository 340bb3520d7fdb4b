#include "page/timeline/rows.hpp"

#include <algorithm>
#include <utility>

namespace hindsight::page::timeline {

void add_mark(std::vector<Mark>& marks, Mark more) {
  const auto at = std::ranges::lower_bound(marks, more.kind, {}, &Mark::kind);
  if (at == marks.end() || at->kind != more.kind)
    marks.insert(at, std::move(more));
  else
    at->count += more.count;
}

void append(Row& row, Row next) {
  row.last = next.last;
  row.time = next.time;
  row.admitted += next.admitted;
  row.evicted += next.evicted;
  row.decisions += next.decisions;
  for (auto& mark : next.marks) add_mark(row.marks, std::move(mark));
  row.waiting = next.waiting;
  row.running = next.running;
  row.used = next.used;
  row.waits_since = next.waits_since;
  row.pairs = std::move(next.pairs);
}

}  // namespace hindsight::page::timeline
