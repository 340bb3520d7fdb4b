#include "events/trial.hpp"

#include <utility>

#include "admission/domain/loop_driver.hpp"
#include "admission/state/snapshot.hpp"

namespace hindsight::events {

Result<Trial> try_out(const admission::Entities& state, const admission::Domain::SettingsReader& settings_reader, std::string_view domain,
                      std::size_t steps_max) {
  admission::LoopDriver copy(settings_reader);
  if (auto ok = admission::SnapshotCodec::read(admission::SnapshotCodec::write(state), copy); !ok) return tl::unexpected(ok.error());
  copy.entities().domain().bound_as(state.domain());
  copy.entities().domain().forget_writes();
  Trial out;
  Encoder encoder;
  while (const auto step = copy.decide()) {
    if (out.steps.size() == steps_max) {
      out.at_rest = false;
      break;
    }
    const auto& at = copy.domain();
    RecordView record;
    record.envelope = {domain, at.sequence() + 1, at.epoch(), at.now(), step->base};
    record.body = Decisions{step->base, step->kind, step->events};
    // What a step says lies in memory that entities use again while it is applied: it is read back, as from a log.
    auto read = decode(encoder.encode(record));
    if (!read) return tl::unexpected(read.error());
    if (auto ok = copy.apply((*read)->view()); !ok) return tl::unexpected(ok.error());
    copy.forget_touched();
    out.steps.push_back(std::move(*read));
  }
  return out;
}

}  // namespace hindsight::events
