#include "page/views/fleet.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "admission/domain/domain.hpp"
#include "events/log.hpp"
#include "events/record.hpp"
#include "page/views/record_lines.hpp"
#include "page/views/refs.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::page {
namespace {

constexpr std::uint64_t epochs_default = 50, epochs_max = 200;
/// Read at a time, to find a record of the domain near a position.
constexpr std::size_t records_near = 256;
/// A writer that was replaced may leave records a little behind the first of the next epoch, where nothing keeps it from writing.
constexpr Position late_within = 256;

/// A record of the domain that says in which epoch it was written.
struct Dated {
  Position position = 0;
  std::uint64_t epoch = 0;
  Time time;
};

struct EpochFound {
  std::uint64_t epoch = 0;
  std::string owner, release;
  Position from = 0;
  Time since;
};

/// Epochs of one domain in a log, by search.
class Epochs {
 public:
  Epochs(const Look& look, Position first) : look_(look), first_(first) {}

  /// The first one from `from` to `to`.
  Result<std::optional<Dated>> next(Position from, Position to) {
    for (Position at = from; at <= to;) {
      if (auto ok = look_.log.read(at, {.records = records_near}, batch_); !ok) return tl::unexpected(ok.error());
      if (batch_.empty()) break;
      for (const auto& stored : batch_) {
        at = stored.offset + 1;
        if (stored.offset > to) return std::optional<Dated>();
        if (stored.domain == look_.past.domain_name() && stored.epoch != 0)
          return std::optional(Dated{stored.offset, stored.epoch, stored.time});
      }
      if (look_.is_over()) return nobody_waits();
    }
    return std::optional<Dated>();
  }

  /// The last one before `end`.
  Result<std::optional<Dated>> previous(Position end) {
    for (Position size = records_near; end > first_; size *= 2) {
      const Position begin = end - first_ > size ? end - size : first_;
      std::optional<Dated> found;
      for (Position at = begin; at < end;) {
        if (auto ok = look_.log.read(at, {.records = records_near}, batch_); !ok) return tl::unexpected(ok.error());
        if (batch_.empty()) break;
        for (const auto& stored : batch_) {
          at = stored.offset + 1;
          if (stored.offset >= end) break;
          if (stored.domain == look_.past.domain_name() && stored.epoch != 0) found = Dated{stored.offset, stored.epoch, stored.time};
        }
        if (look_.is_over()) return nobody_waits();
      }
      if (found) return found;
      end = begin;
    }
    return std::optional<Dated>();
  }

  /// The first record of the domain, up to `to`, of this epoch or a later one.
  Result<std::optional<Dated>> beginning_of(std::uint64_t epoch, Position to) {
    Position low = first_, high = to + 1;
    while (low < high) {
      const Position middle = low + (high - low) / 2;
      const auto there = next(middle, to);
      if (!there) return there;
      if (*there && (*there)->epoch < epoch)
        low = (*there)->position + 1;
      else
        high = middle;
    }
    return next(low, to);
  }

  /// With what its first record says.
  Result<EpochFound> described(const Dated& dated) {
    EpochFound out{dated.epoch, {}, {}, dated.position, dated.time};
    const Position begin = dated.position - first_ > late_within ? dated.position - late_within : first_;
    events::RecordReader reader;
    for (Position at = begin; at <= dated.position + late_within;) {
      if (auto ok = look_.log.read(at, {.records = records_near}, batch_); !ok) return tl::unexpected(ok.error());
      if (batch_.empty()) return out;
      for (const auto& stored : batch_) {
        at = stored.offset + 1;
        if (stored.offset > dated.position + late_within) return out;
        if (stored.domain != look_.past.domain_name() || stored.epoch != dated.epoch) continue;
        const auto record = reader.read(stored.bytes);
        const auto* started = record ? std::get_if<EpochStarted>(&(*record)->body) : nullptr;
        if (started == nullptr) continue;
        out.owner = valid_utf8(started->writer);
        out.release = valid_utf8(started->release);
        out.from = stored.offset;
        out.since = stored.time;
        return out;  // of two that begin the same epoch the first has it
      }
    }
    return out;
  }

 private:
  const Look& look_;
  const Position first_;
  events::RecordBatch batch_;
};

/// Who has an epoch that began before what is kept, as far as that was noted.
Result<void> add_noted_owner(const Look& look, EpochFound& found) {
  const auto cut = look.log.trimmed();
  if (!cut) return tl::unexpected(cut.error());
  if (!*cut) return {};
  for (const auto& owner : (*cut)->owners)
    if (owner.domain == look.past.domain_name() && owner.epoch == found.epoch) {
      found.owner = valid_utf8(owner.writer);
      found.release = valid_utf8(owner.release);
      found.since = owner.since;
    }
  return {};
}

}  // namespace

Result<Json> fleet_view(const Look& look, const Parameters& parameters) {
  const auto limit = parameters.number("limit", epochs_default, 1, epochs_max);
  if (!limit) return tl::unexpected(limit.error());
  const auto first = look.log.first();
  if (!first) return tl::unexpected(first.error());
  Epochs epochs(look, *first);
  std::vector<EpochFound> found;
  std::uint64_t left_out = 0;
  auto last = epochs.previous(look.position() + 1);
  if (!last) return tl::unexpected(last.error());
  while (*last) {
    const std::uint64_t epoch = (*last)->epoch;
    if (found.size() == *limit) {
      const auto oldest = epochs.next(*first, look.position());
      if (!oldest) return tl::unexpected(oldest.error());
      left_out = *oldest && (*oldest)->epoch <= epoch ? epoch - (*oldest)->epoch + 1 : 1;
      break;
    }
    const auto begun = epochs.beginning_of(epoch, (*last)->position);
    if (!begun) return tl::unexpected(begun.error());
    auto one = epochs.described(begun->value_or(**last));
    if (!one) return tl::unexpected(one.error());
    one->epoch = epoch;
    if (one->owner.empty())
      if (auto ok = add_noted_owner(look, *one); !ok) return tl::unexpected(ok.error());
    const Position begin = begun->value_or(**last).position;
    found.push_back(std::move(*one));
    last = epochs.previous(begin);
    if (!last) return tl::unexpected(last.error());
    if (*last && (*last)->epoch >= epoch) break;  // no log does that; a damaged one does not keep us here
  }
  Json list = Json::array();
  for (std::size_t i = 0; i < found.size(); ++i) {
    Json one{{"epoch", found[i].epoch}, {"owner", found[i].owner}, {"from", place_json(found[i].from, found[i].since)}};
    if (!found[i].release.empty()) one["release"] = found[i].release;
    if (i > 0) one["to"] = place_json(found[i - 1].from, found[i - 1].since);
    list.push_back(std::move(one));
  }
  Json out = taken_at(look);
  out["epochs"] = std::move(list);
  out["leftOut"] = left_out;
  return out;
}

}  // namespace hindsight::page
