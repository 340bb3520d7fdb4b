#include "page/views/records_about.hpp"

#include <algorithm>

#include "page/views/refs.hpp"
#include "replay/scan.hpp"

namespace hindsight::page {
namespace {

using timeline::Segment;
using timeline::Token;

/// So often it is asked whether anybody still waits for the answer.
constexpr std::uint64_t seen_between_questions = 4'096;

/// One after the other in order: what may be wanted is read, the rest is told of.
class AboutReader {
 public:
  AboutReader(const Look& look, const ReadAbout& reading, std::vector<events::QuarantinedRecord> set_aside)
      : look_(look), reading_(reading), set_aside_(std::move(set_aside)) {}

  Result<void> read(Position from, Position to) {
    if (reading_.wants) wanted_ = reading_.wants();
    for (Position at = std::max<Position>(from, 1); at <= to && !ended_;) {
      const Position block = (at - 1) / Segment::records;
      const Position end = std::min(to, (block + 1) * Segment::records);
      const bool whole = at == block * Segment::records + 1 && end == (block + 1) * Segment::records;
      if (whole && leaves_out(block)) {
        if (++left_out_ % blocks_between_questions == 0 && look_.is_over()) return nobody_waits();
      } else {
        if (auto ok = scan(at, end); !ok) return ok;
        if (reading_.wants) wanted_ = reading_.wants();
      }
      at = end + 1;
    }
    return {};
  }

 private:
  static constexpr std::uint64_t blocks_between_questions = 256;

  [[nodiscard]] bool leaves_out(Position block) const {
    if (wanted_.empty() || look_.objects == nullptr || !look_.objects->knows(block)) return false;
    const Segment* segment = look_.objects->segment(block);
    if (segment == nullptr) return true;  // nothing of this domain is there
    if (segment->may_have_any(wanted_)) return false;
    if (reading_.left_out) reading_.left_out(*segment);
    return true;
  }

  Result<void> scan(Position from, Position to) {
    bool over = false;
    const auto read = replay::scan(look_.log, look_.past.domain_name(), from, to, [&](const auto& stored, const RecordView& record) {
      if (++seen_ % seen_between_questions == 0 && look_.is_over()) {
        over = true;
        return false;
      }
      if (replay::find_quarantined(set_aside_, stored) != nullptr) return true;
      ended_ = !reading_.see(stored, record);
      return !ended_;
    });
    if (!read) return read;
    if (over) return nobody_waits();
    return {};
  }

  const Look& look_;
  const ReadAbout& reading_;
  const std::vector<events::QuarantinedRecord> set_aside_;
  std::vector<Token> wanted_;
  std::uint64_t seen_ = 0, left_out_ = 0;
  bool ended_ = false;
};

}  // namespace

Result<void> read_records_about(const Look& look, Position from, Position to, const ReadAbout& reading) {
  auto set_aside = look.log.quarantined();
  if (!set_aside) return tl::unexpected(set_aside.error());
  return AboutReader(look, reading, std::move(*set_aside)).read(from, to);
}

std::vector<Token> tokens_of(const projections::Mentions& mentions) {
  std::vector<Token> out{timeline::name_token(mentions.target().namespace_, mentions.target().name)};
  for (const auto* uids : {&mentions.workloads(), &mentions.jobs()})
    for (const auto& uid : *uids) out.push_back(timeline::uid_token(uid));
  return out;
}

}  // namespace hindsight::page
