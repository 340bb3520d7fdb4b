#include "page/timeline/object_index.hpp"

#include <algorithm>
#include <bit>
#include <variant>

#include "vocabulary/record_order.hpp"

namespace hindsight::page::timeline {
namespace {

constexpr std::size_t bits_a_token = 12;
constexpr unsigned probes = 6;
/// So many LocalQueues are remembered; of others every record counts as a change.
constexpr std::size_t local_queues_max = 100'000;

/// Calls `see` with the numbers of bits that a token has among `count`, until it says no.
template <class See>
bool each_bit(Token token, std::uint64_t count, See see) {
  const std::uint64_t step = std::rotl(token * 0x9E3779B97F4A7C15ULL, 31) | 1;
  std::uint64_t at = token;
  for (unsigned i = 0; i < probes; ++i, at += step)
    if (!see(at % count)) return false;
  return true;
}

/// Sorted, of a table.
std::vector<Grants> sorted_grants(const std::unordered_map<Token, std::uint32_t>& grants) {
  std::vector<Grants> out;
  out.reserve(grants.size());
  for (const auto& [queue, count] : grants) out.push_back({queue, count});
  std::ranges::sort(out, {}, &Grants::queue);
  return out;
}

}  // namespace

// ---- a segment --------------------------------------------------------------------------------------------------------------------

Segment::Segment(Position block, const std::unordered_set<Token>& tokens, std::vector<Grants> grants, const StandBehind& stand)
    : block_(block), grants_(std::move(grants)), stand_(stand) {
  // As many times words_min as a power of two, so that it can be halved; and then a whole number of these.
  const std::size_t wanted = (tokens.size() * bits_a_token + 63) / 64;
  std::size_t unit = words_min;
  while (unit * 8 < wanted) unit *= 2;
  bits_.resize(std::max(unit, (wanted + unit - 1) / unit * unit));
  const std::uint64_t count = bits_.size() * 64;
  for (const Token token : tokens)
    (void)each_bit(token, count, [&](std::uint64_t bit) {
      bits_[bit / 64] |= std::uint64_t{1} << (bit % 64);
      return true;
    });
}

bool Segment::may_have(Token token) const {
  return each_bit(token, bits_.size() * 64, [&](std::uint64_t bit) { return (bits_[bit / 64] >> (bit % 64) & 1) != 0; });
}

bool Segment::may_have_any(std::span<const Token> tokens) const {
  return std::ranges::any_of(tokens, [this](Token token) { return may_have(token); });
}

/// What was at a bit b of 2n is at b mod n, so a question finds it where it looks.
std::shared_ptr<const Segment> Segment::halved() const {
  if (bits_.size() % 2 != 0 || bits_.size() / 2 < words_min) return nullptr;
  const std::size_t half = bits_.size() / 2;
  std::vector<std::uint64_t> bits(bits_.begin(), bits_.begin() + static_cast<std::ptrdiff_t>(half));
  for (std::size_t i = 0; i < half; ++i) bits[i] |= bits_[half + i];
  return std::make_shared<const Segment>(block_, std::move(bits), grants_, stand_);
}

// ---- all of them ------------------------------------------------------------------------------------------------------------------

const Segment* ObjectIndex::segment(Position block) const {
  const auto at = std::ranges::lower_bound(segments_, block, {}, [](const auto& one) { return one->block(); });
  return at != segments_.end() && (*at)->block() == block ? at->get() : nullptr;
}

bool ObjectIndex::has_none(Position block, std::span<const Token> tokens) const {
  if (!knows(block)) return false;
  const Segment* there = segment(block);
  return there == nullptr || !there->may_have_any(tokens);
}

Position ObjectIndex::next_with(std::span<const Token> tokens, Position from, Position to) const {
  from = std::max<Position>(from, 1);
  while (from <= to) {
    const Position block = (from - 1) / Segment::records;
    if (!has_none(block, tokens)) return from;
    from = (block + 1) * Segment::records + 1;
  }
  return std::max(from, to + 1);
}

Position ObjectIndex::none_down_to(std::span<const Token> tokens, Position before, Position first) const {
  while (before > std::max<Position>(first, 1)) {
    const Position block = (before - 2) / Segment::records;
    if (!has_none(block, tokens)) return before;
    before = block * Segment::records + 1;
  }
  return std::max(before, first);
}

std::size_t ObjectIndex::bytes() const {
  std::size_t out = segments_.capacity() * sizeof(segments_.front());
  for (const auto& one : segments_) out += one->bytes();
  return out;
}

// ---- the maker --------------------------------------------------------------------------------------------------------------------

ObjectIndexMaker::ObjectIndexMaker(Position begin, std::size_t bytes_max)
    : bytes_max_(bytes_max),
      begin_(begin),
      first_block_((begin + Segment::records - 1) / Segment::records),
      block_(begin / Segment::records),
      end_(begin) {}

ObjectIndexMaker::ObjectIndexMaker(const ObjectIndex& made, const Open& open, std::size_t bytes_max)
    : ObjectIndexMaker(open.begin, bytes_max) {
  first_block_ = made.first_block();
  block_ = std::max(made.end_block(), open.end == 0 ? Position{0} : open.end / Segment::records);
  segments_ = made.segments();
  for (const auto& one : segments_) bytes_ += one->bytes();
  tokens_.insert(open.tokens.begin(), open.tokens.end());
  for (const auto& one : open.grants) grants_[one.queue] = one.count;
  local_queues_.insert(open.local_queues.begin(), open.local_queues.end());
  stand_ = open.stand;
  end_ = open.end;
  any_ = !open.tokens.empty();
}

void ObjectIndexMaker::add_without_effect(Position at, const RecordView& record) {
  if (block_of(at) != block_) seal(block_of(at));
  any_ = true;
  end_ = std::max(end_, at);
  each_object_token(record, [this](Token token) { tokens_.insert(token); });
}

void ObjectIndexMaker::add(Position at, const RecordView& record) {
  add_without_effect(at, record);
  note_local_queue(record);
  if (!note_stand(record)) return;
  const auto* decisions = std::get_if<Decisions>(&record.body);
  if (decisions == nullptr) return;
  for (const Event& event : decisions->events)
    if (const auto* reserved = std::get_if<QuotaReserved>(&event)) {
      const Token queue = grant_token(reserved->cluster_queue);
      tokens_.insert(queue);
      ++grants_[queue];
    }
}

void ObjectIndexMaker::reach(Position end) {
  end_ = std::max(end_, end);
  if (end_ / Segment::records > block_) seal(end_ / Segment::records);
}

/// As whoever reads records alone counts them (projections/trail.hpp). False: it has no effect.
bool ObjectIndexMaker::note_stand(const RecordView& record) {
  const Envelope& e = record.envelope;
  if (record_order(stand_.sequence, stand_.epoch, e.sequence, e.epoch) == RecordOrder::passed_over) return false;
  stand_.sequence = e.sequence == numbered_by_reader ? stand_.sequence + 1 : e.sequence;
  stand_.epoch = std::max(stand_.epoch, e.epoch);
  stand_.now = std::max(stand_.now, e.time);
  const auto* decisions = std::get_if<Decisions>(&record.body);
  if (decisions == nullptr || decisions->base == 0) return true;
  if (decisions->base <= stand_.decided_base) return false;
  stand_.decided_base = decisions->base;
  return true;
}

/// Most observations of a LocalQueue say where it led before, too.
void ObjectIndexMaker::note_local_queue(const RecordView& record) {
  const auto* o = std::get_if<Observation>(&record.body);
  if (o == nullptr) return;
  if (const auto* queue = std::get_if<LocalQueueObserved>(o)) {
    const Token name = name_token(queue->meta.namespace_, queue->meta.name), leads = grant_token(queue->cluster_queue);
    const auto known = local_queues_.find(name);
    if (known != local_queues_.end() && known->second == leads) return;
    if (known != local_queues_.end())
      known->second = leads;
    else if (local_queues_.size() < local_queues_max)
      local_queues_.emplace(name, leads);
    tokens_.insert(local_queues_token(queue->meta.namespace_));
  } else if (const auto* gone = std::get_if<ObjectDeleted>(o); gone != nullptr && gone->kind == ObjectKind::local_queue) {
    local_queues_.erase(name_token(gone->namespace_, gone->name));
    tokens_.insert(local_queues_token(gone->namespace_));
  }
}

/// A block that was not read from its beginning is not known.
void ObjectIndexMaker::seal(Position next_block) {
  if (block_ >= first_block_ && any_) {
    auto segment = std::make_shared<const Segment>(block_, tokens_, sorted_grants(grants_), stand_);
    bytes_ += segment->bytes();
    segments_.push_back(std::move(segment));
  }
  tokens_.clear();
  grants_.clear();
  any_ = false;
  block_ = next_block;
  if (bytes_ > bytes_max_) shrink();
}

void ObjectIndexMaker::shrink() {
  std::size_t refused = 0;  // one after the other
  while (bytes_ > bytes_max_ && refused < segments_.size()) {
    if (shrink_next_ >= segments_.size()) shrink_next_ = 0;
    auto& one = segments_[shrink_next_++];
    auto less = one->halved();
    if (less == nullptr) {
      ++refused;
      continue;
    }
    refused = 0;
    bytes_ -= one->bytes();
    bytes_ += less->bytes();
    one = std::move(less);
  }
  if (bytes_ <= bytes_max_) return;
  const std::size_t gone = segments_.size() / 8 + 1;  // of the oldest all is read again when somebody asks
  for (std::size_t i = 0; i < gone; ++i) bytes_ -= segments_[i]->bytes();
  first_block_ = segments_[gone - 1]->block() + 1;
  segments_.erase(segments_.begin(), segments_.begin() + static_cast<std::ptrdiff_t>(gone));
  shrink_next_ = 0;
}

std::shared_ptr<const ObjectIndex> ObjectIndexMaker::index() const {
  return std::make_shared<const ObjectIndex>(first_block_, std::max(first_block_, block_), segments_);
}

ObjectIndexMaker::Open ObjectIndexMaker::open() const {
  Open out;
  out.tokens.assign(tokens_.begin(), tokens_.end());
  std::ranges::sort(out.tokens);
  out.grants = sorted_grants(grants_);
  out.local_queues.assign(local_queues_.begin(), local_queues_.end());
  std::ranges::sort(out.local_queues);
  out.stand = stand_;
  out.begin = begin_;
  out.end = end_;
  return out;
}

}  // namespace hindsight::page::timeline
