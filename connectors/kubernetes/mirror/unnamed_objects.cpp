#include "connectors/kubernetes/mirror/unnamed_objects.hpp"

namespace hindsight::connectors::kubernetes {
namespace {

/// All of a number; of what is no number the mark of that is lost, and still no two are likely to agree.
constexpr std::uint64_t version_mask = (std::uint64_t{1} << 63U) - 1;

}  // namespace

UnnamedObjects::Observed UnnamedObjects::observe(const ShortUid& uid, ObjectVersion version) {
  const State now{version.bits() & version_mask, 1};
  const auto [at, inserted] = objects_.try_emplace(uid, now);
  State& state = at->second;
  Observed out{Change::none, inserted || state.is_listed == 0};
  if (inserted) {
    out.change = Change::added;
  } else if (state.version != now.version || version.empty()) {
    out.change = Change::modified;
  }
  state = now;
  return out;
}

std::optional<UnnamedObjects::Removed> UnnamedObjects::remove(const ShortUid& uid) {
  const auto at = objects_.find(uid);
  if (at == objects_.end()) return std::nullopt;
  const Removed out{at->second.is_listed != 0};
  objects_.erase(at);
  return out;
}

void UnnamedObjects::begin_list() {
  for (auto& [uid, state] : objects_) state.is_listed = 0;
}

std::vector<ShortUid> UnnamedObjects::end_list() {
  std::vector<ShortUid> out;
  for (auto at = objects_.begin(); at != objects_.end();) {
    if (at->second.is_listed != 0) {
      ++at;
      continue;
    }
    out.push_back(at->first);
    objects_.erase(at++);
  }
  return out;
}

}  // namespace hindsight::connectors::kubernetes
