#include "replay/trim.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "events/chain.hpp"
#include "replay/owners.hpp"
#include "replay/snapshots.hpp"

namespace hindsight::replay {
namespace {

bool has_snapshot(const std::vector<SnapshotMeta>& list, Position position, const std::string& domain) {
  return std::ranges::any_of(list, [&](const SnapshotMeta& meta) { return meta.position == position && meta.domain == domain; });
}

/// When it is by the clock of the machine, for what is stored beside the records.
Time by_the_clock() {
  return Time{std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count()};
}

/// Without the records before the cut nothing leads to these.
Result<std::size_t> drop_checkpoints(Log& log, Position position, bool only_tell) {
  const auto checkpoints = log.checkpoints();
  if (!checkpoints) return tl::unexpected(checkpoints.error());
  std::size_t dropped = 0;
  for (const auto& checkpoint : *checkpoints) {
    if (checkpoint.position >= position) break;
    ++dropped;
    if (only_tell) continue;
    if (auto ok = log.drop_checkpoint(checkpoint.position); !ok) return tl::unexpected(ok.error());
  }
  return dropped;
}

/// The records that lead on from these are gone.
Result<TrimReport> drop_before(Log& log, Position position, const std::vector<SnapshotMeta>& list, bool only_tell, TrimReport report) {
  for (const auto& meta : list) {
    if (meta.position >= position) continue;
    ++report.snapshots_dropped;
    if (only_tell) continue;
    if (auto ok = log.drop_snapshot(meta.position, meta.domain); !ok) return tl::unexpected(ok.error());
  }
  const auto checkpoints = drop_checkpoints(log, position, only_tell);
  if (!checkpoints) return tl::unexpected(checkpoints.error());
  report.checkpoints_dropped = *checkpoints;
  if (only_tell) return report;
  if (auto ok = log.give_back(); !ok) return tl::unexpected(ok.error());
  return report;
}

}  // namespace

Result<TrimReport> trim(Log& log, Position upto, std::string_view release, bool only_tell, const TrimProgress& progress) {
  const auto first = log.first();
  if (!first) return tl::unexpected(first.error());
  TrimReport report{.first = *first};
  const auto before = log.snapshots();
  if (!before) return tl::unexpected(before.error());
  if (upto < *first) {  // an interrupted trim may have left older snapshots, each with a newer one of its domain
    auto left = *before;
    std::erase_if(left, [&](const SnapshotMeta& meta) {
      return std::ranges::none_of(*before, [&](const auto& m) { return m.domain == meta.domain && m.position + 1 >= *first; });
    });
    return drop_before(log, *first - 1, left, only_tell, report);
  }
  const auto tails = log.domains();
  if (!tails) return tl::unexpected(tails.error());

  std::vector<events::DomainTail> begun;
  for (const auto& tail : *tails) {
    Past past(log, tail.domain);
    const auto there = past.go_to(upto, [&] { return !progress || progress(tail.domain, past.position()); });
    if (!there) return tl::unexpected(there.error());
    if (!*there) {
      report.complete = false;
      return report;
    }
    const auto& domain = past.driver().domain();
    if (domain.sequence() == 0) continue;  // it began later
    begun.push_back({tail.domain, domain.sequence(), domain.epoch(), upto});
    if (has_snapshot(*before, upto, tail.domain)) continue;
    ++report.snapshots_made;
    if (only_tell) continue;
    const auto snapshot = encode_state(past.driver().entities(), tail.domain, upto, release);
    if (auto ok = log.put_snapshot(snapshot.meta, snapshot.bytes); !ok) return tl::unexpected(ok.error());
  }
  events::DomainsAt cut{upto, std::move(begun), {}};
  if (!only_tell) {
    bool goes_on = true;
    const auto owners = find_owners(log, upto, [&](Position position) { return goes_on = !progress || progress("", position); });
    if (!owners) return tl::unexpected(owners.error());
    if (!goes_on) {
      report.complete = false;
      return report;
    }
    const auto kept = events::keep_head_at(log, upto, by_the_clock(), release, [&](Position p) { return !progress || progress("", p); });
    if (!kept) return tl::unexpected(kept.error());
    if (!*kept) {
      report.complete = false;
      return report;
    }
    for (const auto& tail : cut.tails)
      if (const auto it = owners->find(tail.domain); it != owners->end() && it->second.epoch == tail.epoch)
        cut.owners.push_back(it->second);
  }
  report.domains = cut.tails.size();
  report.records = upto + 1 - *first;
  report.first = upto + 1;
  if (!only_tell) {
    // A node that stores a snapshot of its own meanwhile may have dropped one of these as too old: without it nothing may go.
    const auto now = log.snapshots();
    if (!now) return tl::unexpected(now.error());
    for (const auto& tail : cut.tails)
      if (!has_snapshot(*now, upto, tail.domain))
        return fail(ErrorKind::conflict, "log " + std::string(log.name()) + ": the snapshot of domain " + tail.domain + " at record " +
                                             std::to_string(upto) + " was dropped before the records were; nothing is forgotten");
    if (auto ok = log.forget(cut); !ok) return tl::unexpected(ok.error());
  }
  return drop_before(log, upto, *before, only_tell, report);
}

}  // namespace hindsight::replay
