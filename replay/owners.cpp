#include "replay/owners.hpp"

#include <utility>
#include <variant>

#include "events/record.hpp"
#include "replay/past.hpp"

namespace hindsight::replay {

Result<Owners> find_owners(const Log& log, Position upto, const std::function<bool(Position)>& go_on) {
  const auto first = log.first();
  if (!first) return tl::unexpected(first.error());
  const auto cut = log.trimmed();
  if (!cut) return tl::unexpected(cut.error());
  Owners out;
  if (*cut)
    for (const auto& owner : (*cut)->owners) out[owner.domain] = owner;
  events::RecordBatch batch;
  events::RecordReader reader;
  for (Position at = *first; at <= upto; at = batch[batch.size() - 1].offset + 1) {
    if (!go_on(at)) break;
    if (auto ok = log.read(at, {}, batch); !ok) return tl::unexpected(ok.error());
    if (batch.empty()) break;
    for (const auto& stored : batch) {
      if (stored.offset > upto) break;
      const auto record = reader.read(stored.bytes);
      if (!record) return at_record(log, stored.offset, record.error());
      const auto* started = std::get_if<EpochStarted>(&(*record)->body);
      if (started == nullptr) continue;
      auto& owner = out[std::string(stored.domain)];
      if (stored.epoch <= owner.epoch) continue;
      owner = {std::string(stored.domain), stored.epoch, stored.time, std::string(started->writer), std::string(started->release)};
    }
  }
  return out;
}

}  // namespace hindsight::replay
