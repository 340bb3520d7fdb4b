#include "replay/snapshots.hpp"

#include <algorithm>
#include <bit>
#include <future>
#include <set>
#include <system_error>
#include <utility>

#include "admission/domain/domain.hpp"
#include "admission/state/snapshot.hpp"
#include "admission/workload/workload_parent.hpp"
#include "events/snapshot.hpp"

namespace hindsight::replay {

using admission::SnapshotCodec;

namespace {

constexpr std::uint32_t parents_by_two_threads = 10'000;

/// The hash of a state that nobody else has yet. Each parent keeps its own once it is made: of many, another thread makes half of them.
std::uint64_t hash_of_read(const admission::Entities& entities) {
  const auto make = [&](std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t i = begin; i < end; ++i)
      if (const auto* parent = entities.parent(i); parent != nullptr && !parent->empty()) (void)parent->hash();
  };
  const std::uint32_t parents = entities.domain().parent_count();
  if (parents >= parents_by_two_threads) {
    try {
      auto half = std::async(std::launch::async, make, parents / 2, parents);
      make(0, parents / 2);
      half.get();
    } catch (const std::system_error&) {
      // No thread can be made: this one does all.
    }
  }
  return entities.state_hash();
}

}  // namespace

EncodedSnapshot encode_state(const admission::Entities& entities, std::string_view domain, Position position, std::string_view release) {
  const auto state = SnapshotCodec::write(entities);
  EncodedSnapshot out;
  out.meta.position = position;
  out.meta.epoch = entities.domain().epoch();
  out.meta.time = entities.domain().now();
  out.meta.schema_version = events::snapshot_schema_version;
  out.meta.state_hash = entities.state_hash();
  out.meta.release = release;
  out.meta.domain = domain;
  const events::DomainState one{domain, entities.domain().sequence(), out.meta.epoch, out.meta.state_hash, state};
  out.bytes = events::encode_snapshot(out.meta, admission::snapshot_version, std::span(&one, 1));
  return out;
}

Result<std::vector<SnapshotMeta>> snapshots_of(const Log& log, std::string_view domain) {
  auto all = log.snapshots();
  if (all) std::erase_if(*all, [&](const SnapshotMeta& meta) { return !meta.domain.empty() && meta.domain != domain; });
  return all;
}

Result<void> load_state(const Log& log, const SnapshotMeta& meta, std::string_view domain, admission::Entities& entities) {
  const std::string where = "snapshot at " + std::to_string(meta.position) + " of log " + std::string(log.name());
  auto stored = log.snapshot(meta.position, meta.domain);
  if (!stored) return tl::unexpected(stored.error());
  const auto decoded = events::decode_snapshot(std::move(stored->bytes));
  if (!decoded) return fail(decoded.error().kind, where + ": " + decoded.error().message);
  const events::Snapshot& snapshot = **decoded;
  // Whoever went on behind such a state would leave records out, or wait for some that never come.
  if (snapshot.meta().position != meta.position)
    return fail(ErrorKind::corrupt, where + ": it holds the state at " + std::to_string(snapshot.meta().position));
  const auto last = log.last();
  if (!last) return tl::unexpected(last.error());
  if (meta.position > *last) return fail(ErrorKind::corrupt, where + ": the log ends at " + std::to_string(*last));
  if (snapshot.state_version() != admission::snapshot_version) {
    return fail(ErrorKind::unsupported, where + ": found state version " + std::to_string(snapshot.state_version()) +
                                            "; allowed: " + std::to_string(admission::snapshot_version));
  }
  for (const auto& state : snapshot.domains()) {
    if (state.domain != domain) continue;
    if (auto ok = SnapshotCodec::read(state.state, entities); !ok) return fail(ok.error().kind, where + ": " + ok.error().message);
    if (hash_of_read(entities) != state.state_hash || entities.domain().sequence() != state.sequence) {
      return fail(ErrorKind::corrupt, where + ": the state that it holds does not have the hash that it names");
    }
    const auto set_aside = events::passed_over(log, domain);
    if (!set_aside) return tl::unexpected(set_aside.error());
    if (!entities.domain().has_passed_over(*set_aside))
      return fail(ErrorKind::unsupported, where + ": it was made before a record was set aside");
    entities.domain().pass_over(*set_aside);
    return {};
  }
  return fail(ErrorKind::not_found, where + " holds no state of domain " + std::string(domain));
}

Result<std::vector<SnapshotMeta>> SnapshotWriter::open() {
  auto all = snapshots_of(log_, domain_);
  if (!all || all->empty()) return all;
  last_position_ = all->front().position;
  last_time_ = all->front().time;
  return all;
}

bool SnapshotWriter::due(Position position, Time now) {
  if (!last_time_.is_set()) last_time_ = now;  // the interval counts from the first question
  if (position <= last_position_) return false;
  if (policy_.records != 0 && position - last_position_ >= policy_.records) return true;
  return policy_.interval.micros > 0 && now - last_time_ >= policy_.interval;
}

bool SnapshotWriter::is_worth_it(Position position, Time now) {
  if (due(position, now)) return true;
  return each_ != 0 && position / each_ > last_position_ / each_;
}

Result<void> SnapshotWriter::store(const EncodedSnapshot& snapshot) {
  // noted in any case: a log that cannot take it now is not asked again for every record
  last_position_ = snapshot.meta.position;
  last_time_ = snapshot.meta.time;
  if (auto ok = log_.put_snapshot(snapshot.meta, snapshot.bytes); !ok) return ok;
  last_size_ = snapshot.bytes.size();
  return forget_old(snapshot.bytes.size());
}

/// So many records for each snapshot that all of this `size`, of this domain and the others, take at most half of the log. A power of two,
/// so that stretches lie in each other: another size would else cut all of them elsewhere, and cost snapshots that had room.
std::uint64_t SnapshotWriter::stretch(std::size_t size, const std::vector<SnapshotMeta>& of_all_domains) const {
  if (policy_.spacing == 0 || size == 0) return policy_.spacing;
  const auto space = log_.space();
  if (!space || !*space || (*space)->nearly_full()) return policy_.spacing;
  std::set<std::string> domains;
  for (const auto& meta : of_all_domains) domains.insert(meta.domain);
  const std::uint64_t room = (*space)->used / 2 / std::max<std::uint64_t>(1, domains.size());
  const std::uint64_t allowed = room / size;
  return allowed == 0 ? policy_.spacing : std::min(policy_.spacing, std::bit_ceil(last_position_ / allowed + 1));
}

Result<std::vector<Position>> SnapshotWriter::on_the_way(Position from, Position to) const {
  std::vector<Position> out;
  if (policy_.closest == 0 || policy_.spacing == 0 || last_size_ == 0 || from >= to) return out;
  const auto all = log_.snapshots();
  if (!all) return tl::unexpected(all.error());
  std::uint64_t each = std::max(stretch(last_size_, *all), policy_.closest);
  while ((to - from) / each > on_the_way_max) each *= 2;
  for (Position p = (from / each + 1) * each; p < to; p += each) out.push_back(p);
  return out;
}

Result<void> SnapshotWriter::forget_old(std::size_t size) {
  auto all = log_.snapshots();
  if (!all) return tl::unexpected(all.error());
  const std::uint64_t each = stretch(size, *all);
  each_ = policy_.closest == 0 || each == 0 ? 0 : std::max(each, policy_.closest);
  std::erase_if(*all, [&](const SnapshotMeta& meta) { return !meta.domain.empty() && meta.domain != domain_; });
  std::set<std::uint64_t> stretches;
  const std::size_t old = all->size() > policy_.newest ? all->size() - policy_.newest : 0;
  if (old == 0) return {};
  const auto first = log_.first();
  if (!first) return tl::unexpected(first.error());
  auto it = all->rbegin();
  if (*first > 1) ++it;  // the records before it are gone: from the oldest every moment up to the next one is reached
  for (; it < all->rbegin() + static_cast<std::ptrdiff_t>(old); ++it) {
    if (each != 0 && stretches.insert(it->position / each).second) continue;
    if (auto ok = log_.drop_snapshot(it->position, it->domain); !ok) return ok;
  }
  return {};
}

}  // namespace hindsight::replay
