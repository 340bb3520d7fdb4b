#include "page/timeline/coarse_rows.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>
#include <vector>

#include "events/record.hpp"
#include "events/record_kind.hpp"
#include "page/timeline/longest_wait.hpp"
#include "page/timeline/usage_sampler.hpp"
#include "replay/past.hpp"
#include "replay/snapshots.hpp"

namespace hindsight::page::timeline {
namespace {

/// What the decisions of a piece say, and the time of its last record; whether they count is not known without a fold.
Row row_of(const events::RecordBatch& piece, const std::string& domain, events::RecordReader& reader) {
  Row out;
  for (const auto& stored : piece) {
    if (out.first == 0) out.first = stored.offset;
    out.last = stored.offset;
    out.time = std::max(out.time, stored.time);
    if (stored.domain != domain || !events::is_decision(stored.bytes)) continue;
    const auto record = reader.read(stored.bytes);
    const auto* decisions = record ? std::get_if<Decisions>(&(*record)->body) : nullptr;
    if (decisions == nullptr) continue;  // who folds says what is wrong with it
    ++out.decisions;
    for (const Event& event : decisions->events) {
      const auto* reserved = std::get_if<QuotaReserved>(&event);
      if ((reserved != nullptr && reserved->admitted) || std::holds_alternative<WorkloadAdmitted>(event)) ++out.admitted;
      if (std::holds_alternative<WorkloadPreempted>(event) || std::holds_alternative<WorkloadEvicted>(event)) ++out.evicted;
    }
  }
  return out;
}

std::uint32_t scaled(std::uint32_t count, std::uint64_t of, std::uint64_t to) {
  constexpr WideAmount most = 0xFFFF'FFFF;
  return of == 0 ? 0 : static_cast<std::uint32_t>(std::min(most, WideAmount{count} * to / of));
}

Result<Block> read_pieces(const events::Log& log, const std::string& domain, const CoarseOptions& o, const std::function<bool()>& go_on) {
  Block out;
  events::RecordBatch batch;
  events::RecordReader reader;
  const std::uint64_t length = o.end - o.begin;
  Position done = o.begin;
  for (std::size_t i = 1; i <= o.pieces && go_on(); ++i) {
    const Position end = o.begin + static_cast<Position>(WideAmount{length} * i / o.pieces);
    if (end == done) continue;
    const Position from = std::max(done + 1, end >= o.records ? end - o.records + 1 : 1);
    // The limit of bytes: a piece of giants tells enough with its first ones.
    if (auto ok = log.read(from, {.records = end - from + 1, .bytes = std::size_t{1} << 20}, batch); !ok) return tl::unexpected(ok.error());
    Row row = row_of(batch, domain, reader);
    if (row.last == 0) break;
    const std::uint64_t seen = row.last - row.first + 1, all = end - done;
    row.admitted = scaled(row.admitted, seen, all);
    row.evicted = scaled(row.evicted, seen, all);
    row.decisions = scaled(row.decisions, seen, all);
    row.first = done + 1;
    row.last = done = end;
    if (!out.empty()) row.time = std::max(row.time, out.back().time);
    out.push_back(std::move(row));
  }
  return out;
}

/// The newest, and others evenly between; newest first.
std::vector<events::SnapshotMeta> snapshots_to_read(std::vector<events::SnapshotMeta> all, const CoarseOptions& o) {
  std::erase_if(all, [&](const auto& meta) { return meta.position <= o.begin || meta.position > o.end; });
  if (all.size() <= o.snapshots_max || o.snapshots_max < 2) return all;
  std::vector<events::SnapshotMeta> out;
  for (std::size_t i = 0; i < o.snapshots_max; ++i) out.push_back(all[i * (all.size() - 1) / (o.snapshots_max - 1)]);
  return out;
}

}  // namespace

Result<void> make_coarse_rows(const events::Log& log, const std::string& domain, const CoarseOptions& options,
                              const std::function<void(std::shared_ptr<const Series>)>& publish, const std::function<bool()>& go_on) {
  auto pieces = read_pieces(log, domain, options, go_on);
  if (!pieces) return tl::unexpected(pieces.error());
  if (pieces->empty()) return {};
  Block rows = std::move(*pieces);
  UsageSampler sampler;
  const auto tell = [&] {
    auto series = std::make_shared<Series>();
    series->blocks.push_back(std::make_shared<const Block>(rows));
    series->pairs = sampler.pairs();
    series->begin = options.begin;
    series->end = rows.back().last;
    series->width = (options.end - options.begin) / options.pieces + 1;
    publish(std::move(series));
  };
  tell();

  const auto began = std::chrono::steady_clock::now();
  const auto snapshots = replay::snapshots_of(log, domain);
  if (!snapshots) return tl::unexpected(snapshots.error());
  for (const auto& meta : snapshots_to_read(*snapshots, options)) {
    if (!go_on() || std::chrono::steady_clock::now() - began > std::chrono::milliseconds(options.snapshots_ms)) return {};
    replay::Past past(log, domain);
    const auto there = past.go_to(meta.position, [&] { return go_on() && past.position() == 0; });
    // One that cannot be read is left out: the fold in its place would take as long as it is far.
    if (past.position() != meta.position || !there) continue;
    // The row in which it lies has its state, as if it were the row's end.
    const auto row = std::ranges::lower_bound(rows, meta.position, {}, &Row::last);
    if (row == rows.end()) continue;
    sampler.sample(past.driver(), *row);
    const Time since = longest_wait_of(past.driver());
    row->waits_since = since.is_set() ? since.micros : no_waiter;
    tell();
  }
  return {};
}

}  // namespace hindsight::page::timeline
