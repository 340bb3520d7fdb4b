#include "actors/log_mode.hpp"

#include "events/record.hpp"
#include "events/record_batch.hpp"
#include "events/record_kind.hpp"

namespace hindsight::actors {
namespace {

/// Whether the last epoch of the domain was one in which nothing was decided. What cannot be read is left to whoever folds the log.
bool was_observing(const events::Log& log, const std::string& domain) {
  const auto first = log.first();
  if (!first) return false;
  bool observing = false;
  events::RecordBatch batch;
  events::RecordReader reader;
  for (events::Position from = *first;;) {
    if (auto ok = log.read(from, {}, batch); !ok || batch.empty()) return observing;
    for (const auto& stored : batch) {
      from = stored.offset + 1;
      if (stored.domain != domain || !events::starts_epoch(stored.bytes)) continue;
      const auto record = reader.read(stored.bytes);
      if (!record) continue;
      if (const auto* started = std::get_if<EpochStarted>(&(*record)->body)) observing = started->observes;
    }
  }
}

}  // namespace

Result<void> check_log_mode(const events::Log& log, const admission::Domain& state, const std::string& domain, bool observes) {
  const bool has_decisions = state.context().decided_base != 0;
  const std::string where = "domain " + domain + ": found ";
  const std::string in = " in " + std::string(log.name()) + ", ";
  if (observes && has_decisions)
    return fail(
        ErrorKind::conflict,
        where + "decisions" + in +
            "which a run without --observe made. What it decided and had not written yet would be taken for the truth, and what another "
            "controller writes for something old; allowed with --observe: a log of its own, or this one with --switch-mode");
  // Only a log without any decision can be that of an observer that nobody has followed since.
  if (!observes && !has_decisions && state.sequence() != 0 && was_observing(log, domain))
    return fail(ErrorKind::conflict,
                where + "notes of a run with --observe" + in +
                    "which looked on beside another controller. A run without --observe acts, and two controllers would undo each other's "
                    "work; allowed without --observe: another log, or this one with --switch-mode once the other controller has stopped");
  return {};
}

}  // namespace hindsight::actors
