#include "replay/owners.hpp"

#include <variant>

#include "replay/scan.hpp"

namespace hindsight::replay {

Result<Owners> find_owners(const events::Log& log, events::Position upto, const std::function<bool(events::Position)>& go_on) {
  const auto first = log.first();
  if (!first) return tl::unexpected(first.error());
  const auto cut = log.trimmed();
  if (!cut) return tl::unexpected(cut.error());
  Owners out;
  if (*cut)
    for (const auto& owner : (*cut)->owners) out[owner.domain] = owner;
  bool goes_on = true;
  const auto see = [&](const events::StoredRecord& stored, const RecordView& record) {
    const auto* started = std::get_if<EpochStarted>(&record.body);
    if (started == nullptr) return goes_on;
    auto& owner = out[std::string(stored.domain)];
    if (stored.epoch > owner.epoch)
      owner = {std::string(stored.domain), stored.epoch, stored.time, std::string(started->writer), std::string(started->release)};
    return goes_on;
  };
  const auto progress = [&](std::uint64_t done, std::uint64_t /*total*/) { goes_on = go_on(*first + done); };
  if (auto ok = scan(log, "", *first, upto, see, progress); !ok) return tl::unexpected(ok.error());
  return out;
}

}  // namespace hindsight::replay
