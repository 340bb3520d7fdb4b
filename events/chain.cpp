#include "events/chain.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace hindsight::events {
namespace {

using evidence::Checkpoint;

/// How the domains stand at `upto`, read from somewhere before it.
Result<std::vector<DomainTail>> standing_at(const Log& log, const DomainsAt& from, Position upto) {
  DomainTails tails;
  for (const auto& tail : from.tails) tails.set(tail);
  RecordBatch batch;
  for (Position at = from.position; at < upto;) {
    if (auto ok = log.read(at + 1, {}, batch); !ok) return tl::unexpected(ok.error());
    if (batch.empty()) break;
    for (const auto& record : batch)
      if ((at = record.offset) <= upto) (void)tails.take(record);
  }
  return tails.list();
}

/// In a log where every record counts nobody need know how its domains stood.
bool every_record_counts(const std::optional<DomainsAt>& standing) { return standing && standing->tails.empty(); }

/// What is known of the domains where the first record that is kept follows.
Result<DomainsAt> known_before(const Log& log, Position first) {
  const auto cut = log.trimmed();
  if (!cut) return tl::unexpected(cut.error());
  if (*cut && (*cut)->position + 1 == first) return DomainsAt{first - 1, (*cut)->tails, {}};
  return DomainsAt{first - 1, {}, {}};
}

Result<ChainStart> start_of(const Log& log, const std::vector<Checkpoint>& checkpoints) {
  const auto first = log.first();
  if (!first) return tl::unexpected(first.error());
  if (*first == 1) return ChainStart{};
  auto before = known_before(log, *first);
  if (!before) return tl::unexpected(before.error());
  const auto next = std::ranges::find_if(checkpoints, [&](const Checkpoint& c) { return c.position + 1 >= *first; });
  if (next == checkpoints.end() || (next->position >= *first && next->head.begin + 1 == *first))
    return ChainStart{ChainStart::From::lost, evidence::genesis(*first - 1), std::move(*before)};
  if (next->position + 1 == *first) return ChainStart{ChainStart::From::cut, next->head, std::move(*before)};
  auto standing = standing_at(log, *before, next->position);
  if (!standing) return tl::unexpected(standing.error());
  return ChainStart{ChainStart::From::checkpoint, next->head, {next->position, std::move(*standing), {}}};
}

}  // namespace

ChainWalk::ChainWalk(const Log& log, const ChainStart& start, ReadLimits limits) : ChainWalk(reads_of(log), start) { limits_ = limits; }

ChainWalk::ChainWalk(ReadRecords read, const ChainStart& start) : read_(std::move(read)), chain_(start.head), position_(start.at.position) {
  for (const auto& tail : start.at.tails) tails_.set(tail);
}

Result<void> ChainWalk::to(Position upto, const ChainVisitor& visit) {
  while (position_ < upto) {
    if (auto ok = read_(position_ + 1, limits_, batch_); !ok) return ok;
    if (batch_.empty()) return {};
    for (const auto& record : batch_) {
      if (record.offset > upto) return {};
      ChainedRecord met{.record = record, .order = tails_.take(record), .head = {}};
      position_ = record.offset;
      if (met.order == RecordOrder::passed_over) {
        ++passed_over_;
      } else {
        met.content = chain_.content(content_of(record));
        chain_.add(met.content);
      }
      met.head = chain_.head();
      if (visit && !visit(met)) return {};
    }
  }
  return {};
}

Result<ChainStart> chain_start(const Log& log) {
  const auto checkpoints = log.checkpoints();
  if (!checkpoints) return tl::unexpected(checkpoints.error());
  return start_of(log, *checkpoints);
}

Result<ChainStart> chain_before(const Log& log, Position position) {
  const auto checkpoints = log.checkpoints();
  if (!checkpoints) return tl::unexpected(checkpoints.error());
  auto start = start_of(log, *checkpoints);
  if (!start) return start;
  const auto behind = std::ranges::upper_bound(*checkpoints, position, {}, &Checkpoint::position);
  if (behind == checkpoints->begin()) return start;
  const Checkpoint& newest = *std::prev(behind);
  if (newest.position <= start->at.position) return start;
  const auto known = log.checkpoint_standing();
  if (!known) return tl::unexpected(known.error());
  ChainStart out{ChainStart::From::checkpoint, newest.head, {newest.position, {}, {}}};
  if (every_record_counts(*known)) return out;
  if (*known && (*known)->position == newest.position) {
    out.at.tails = (*known)->tails;
    return out;
  }
  auto standing = standing_at(log, start->at, newest.position);
  if (!standing) return tl::unexpected(standing.error());
  out.at.tails = std::move(*standing);
  return out;
}

Result<ChainStart> chain_resume(const Log& log, const evidence::PublicKey* trusted) {
  const auto checkpoints = log.checkpoints();
  if (!checkpoints) return tl::unexpected(checkpoints.error());
  const auto known = log.checkpoint_standing();
  if (!known) return tl::unexpected(known.error());
  const auto last = log.last();
  if (!last) return tl::unexpected(last.error());
  auto start = start_of(log, *checkpoints);
  if (!start || !*known) return start;
  for (auto it = checkpoints->rbegin(); it != checkpoints->rend(); ++it) {
    if (it->position <= start->at.position) break;
    if (it->position > *last) continue;
    if (!every_record_counts(*known) && it->position != (*known)->position) continue;
    if (trusted != nullptr && (it->key != trusted->id() || !trusted->verifies(*it))) continue;
    return ChainStart{ChainStart::From::checkpoint, it->head, {it->position, (*known)->tails, {}}};
  }
  return start;
}

Result<evidence::Checkpoint> store_checkpoint(Log& log, const ChainWalk& walk, Time now, std::string_view release,
                                              const evidence::SigningKey* key) {
  if (key == nullptr) {  // one that is signed is worth more
    const auto there = log.checkpoints();
    if (!there) return tl::unexpected(there.error());
    const auto it = std::ranges::lower_bound(*there, walk.position(), {}, &Checkpoint::position);
    if (it != there->end() && it->position == walk.position() && it->is_signed() && it->head == walk.head()) return *it;
  }
  Checkpoint out{
      .position = walk.position(), .head = walk.head(), .time = now, .release = std::string(release), .key = {}, .signature = {}};
  if (key != nullptr)
    if (auto ok = key->sign(out); !ok) return tl::unexpected(ok.error());
  if (auto ok = log.put_checkpoint(out, walk.standing()); !ok) return tl::unexpected(ok.error());
  return out;
}

Result<std::size_t> thin_checkpoints(Log& log, std::size_t newest, Position stretch) {
  const auto all = log.checkpoints();
  if (!all) return tl::unexpected(all.error());
  if (all->size() <= newest) return 0;
  const auto first = log.first();
  if (!first) return tl::unexpected(first.error());
  const auto old = std::span(*all).first(all->size() - newest);
  std::set<Position> signed_in;
  for (const Checkpoint& c : old)
    if (c.is_signed()) signed_in.insert(c.position / stretch);
  std::set<std::pair<Position, std::string_view>> kept;
  std::size_t dropped = 0;
  for (const Checkpoint& c : old) {
    if (c.position < *first) continue;  // at the cut: what the chain goes on from
    const Position where = c.position / stretch;
    if ((c.is_signed() || !signed_in.contains(where)) && kept.emplace(where, c.key).second) continue;
    if (auto ok = log.drop_checkpoint(c.position); !ok) return tl::unexpected(ok.error());
    ++dropped;
  }
  return dropped;
}

Result<bool> keep_head_at(Log& log, Position position, Time now, std::string_view release, const std::function<bool(Position)>& go_on) {
  const auto start = chain_before(log, position);
  if (!start) return tl::unexpected(start.error());
  if (start->at.position >= position) return true;  // it is kept, or nobody can know it
  ChainWalk walk(log, *start);
  bool goes_on = true;
  const auto ask = [&](const ChainedRecord& met) { return goes_on = met.record.offset % 1024 != 0 || !go_on || go_on(met.record.offset); };
  if (auto ok = walk.to(position, ask); !ok) return tl::unexpected(ok.error());
  if (!goes_on || walk.position() != position) return false;
  if (auto stored = store_checkpoint(log, walk, now, release, nullptr); !stored) return tl::unexpected(stored.error());
  return true;
}

}  // namespace hindsight::events
