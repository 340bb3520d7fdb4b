#include "casefile/proof.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <vector>

#include "events/chain.hpp"
#include "events/json.hpp"
#include "events/record.hpp"
#include "evidence/lines.hpp"
#include "projections/json.hpp"
#include "replay/past.hpp"
#include "replay/scan.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::casefile {
namespace {

using events::ChainedRecord;
using evidence::Checkpoint;

/// Writes records while the chain is walked. A segment begins with the first record that is included and goes on to the checkpoint behind
/// the last one; where no checkpoint follows, the hashes between two records prove nothing and are left out.
class ProofWriter {
 public:
  ProofWriter(const events::Log& log, const Bearing& bearing, std::ostream& records, std::ostream& checkpoints, std::ostream& decoded)
      : log_(log), bearing_(bearing), records_(records), checkpoints_(checkpoints), decoded_(decoded) {}

  Result<Proof> write(const GatherProgress& progress) {
    if (bearing_.records.empty()) return proof_;
    auto known = log_.checkpoints();
    if (!known) return tl::unexpected(known.error());
    known_ = std::move(*known);
    auto set_aside = log_.quarantined();
    if (!set_aside) return tl::unexpected(set_aside.error());
    set_aside_ = std::move(*set_aside);
    choose_ends();
    const Position end = *std::max_element(ends_.begin(), ends_.end());
    const Position last = std::max(end, bearing_.records.back().offset);
    const auto start = events::chain_before(log_, bearing_.records.front().offset - 1);
    if (!start) return tl::unexpected(start.error());
    events::ChainWalk walk(log_, *start);
    before_ = walk.head();
    const Position from = walk.position();
    const auto see = [&](const ChainedRecord& met) {
      if (progress && met.record.offset % 1024 == 0) progress(met.record.offset - from, last - from);
      return take(met);
    };
    if (auto ok = walk.to(last, see); !ok) return tl::unexpected(ok.error());
    if (problem_) return tl::unexpected(*problem_);
    return proof_;
  }

 private:
  /// For each record the checkpoint that proves it: the next signed one, else the next; 0: none is near enough.
  void choose_ends() {
    ends_.reserve(bearing_.records.size());
    auto next = known_.begin(), next_signed = known_.begin();
    for (const auto& record : bearing_.records) {
      const auto behind = [&](const Checkpoint& c) { return c.position >= record.offset; };
      next = std::find_if(next, known_.end(), behind);
      next_signed = std::find_if(next_signed, known_.end(), [&](const Checkpoint& c) { return behind(c) && c.is_signed(); });
      const auto near = [&](const auto it) {
        return it != known_.end() && it->position - record.offset <= Proof::hashes_to_checkpoint_max;
      };
      ends_.push_back(near(next_signed) ? next_signed->position : near(next) ? next->position : 0);
    }
  }

  [[nodiscard]] const Checkpoint* checkpoint_at(Position position) const {
    const auto it = std::ranges::lower_bound(known_, position, {}, &Checkpoint::position);
    return it == known_.end() || it->position != position ? nullptr : &*it;
  }

  void write_checkpoint(Position position) {
    const auto* checkpoint = checkpoint_at(position);
    if (checkpoint == nullptr || position == written_checkpoint_) return;
    written_checkpoint_ = position;
    checkpoints_ << evidence::checkpoint_line(*checkpoint);
    ++proof_.checkpoints;
  }

  [[nodiscard]] bool is_next(Position offset) const { return next_ < bearing_.records.size() && bearing_.records[next_].offset == offset; }

  bool take(const ChainedRecord& met) {
    const Position offset = met.record.offset;
    const bool wanted = is_next(offset);
    if (met.order == RecordOrder::passed_over) {
      if (wanted) ++next_, ++proof_.replaced;
      return true;
    }
    if (wanted) {
      if (!inside_) {
        write_checkpoint(offset - 1);
        records_ << evidence::start_line(before_);
      }
      inside_ = true;
      include(met);
      end_ = proof_.hashes < Proof::hashes_max ? ends_[next_] : 0;
      ++next_;
    } else if (inside_) {
      withhold(met);
    }
    before_ = met.head;
    if (inside_) write_checkpoint(offset);
    if (inside_ && offset >= end_) inside_ = is_next(offset + 1);
    return !problem_ && records_.good() && decoded_.good();
  }

  void withhold(const ChainedRecord& met) {
    records_ << evidence::withheld_line(met.head.records, met.content);
    ++proof_.hashes;
  }

  void include(const ChainedRecord& met) {
    const events::StoredRecord& stored = met.record;
    if (bytes_ + stored.bytes.size() > Proof::bytes_max) {
      ++proof_.too_large;
      return withhold(met);
    }
    bytes_ += stored.bytes.size();
    records_ << evidence::record_line(met.head.records, stored.offset, events::content_of(stored));
    ++proof_.included;
    const auto* end = checkpoint_at(ends_[next_]);
    if (end != nullptr && proof_.hashes < Proof::hashes_max) ++(end->is_signed() ? proof_.under_signed : proof_.under_unsigned);
    decode(stored, bearing_.records[next_].role);
  }

  void decode(const events::StoredRecord& stored, Role role) {
    const bool set_aside = replay::find_quarantined(set_aside_, stored) != nullptr;
    const std::string begin = "{\"offset\":" + std::to_string(stored.offset) + ",\"role\":\"" + std::string(name_of(role)) +
                              (set_aside ? "\",\"setAside\":true," : "\",");
    const auto record = reader_.read(stored.bytes);
    if (record) {
      decoded_ << begin << escaped_document(events::to_json(**record).substr(1), false) << "\n";
    } else if (set_aside) {
      decoded_ << begin << "\"unreadable\":"
               << escaped_document(
                      projections::Json(record.error().message).dump(-1, ' ', false, projections::Json::error_handler_t::replace), false)
               << "}\n";
    } else {
      problem_ = replay::at_record(log_, stored.offset, record.error()).value();
    }
  }

  const events::Log& log_;
  const Bearing& bearing_;
  std::ostream &records_, &checkpoints_, &decoded_;
  std::vector<Checkpoint> known_;
  std::vector<events::QuarantinedRecord> set_aside_;
  std::vector<Position> ends_;  ///< Of each record of the bearing.
  std::size_t next_ = 0;        ///< Of these.
  evidence::Head before_;       ///< The chain before the record that is met.
  bool inside_ = false;         ///< A segment.
  Position end_ = 0;            ///< Of that.
  Position written_checkpoint_ = 0;
  std::uint64_t bytes_ = 0;
  events::RecordReader reader_;
  std::optional<Error> problem_;
  Proof proof_;
};

}  // namespace

Result<Proof> write_proof(const events::Log& log, const Bearing& bearing, std::ostream& records, std::ostream& checkpoints,
                          std::ostream& decoded, const GatherProgress& progress) {
  return ProofWriter(log, bearing, records, checkpoints, decoded).write(progress);
}

}  // namespace hindsight::casefile
