#include "admission/scheduling/write_backlog.hpp"

#include <algorithm>

namespace hindsight::admission {
namespace {

/// Where so many are without their write no more are noted, so that looking through them costs nothing to speak of: one cycle may admit for
/// ten thousand queues. Who lets more than so many go ahead lets cycles wait for nothing.
constexpr std::size_t entries_max = 1'024;

}  // namespace

void WriteBacklog::limit(std::uint32_t writes) {
  limit_ = writes;
  if (writes == 0) entries_.clear();
}

void WriteBacklog::decided(std::string_view uid, Time now) {
  if (limit_ == 0) return;
  settled(uid);
  if (entries_.size() < entries_max) entries_.push_back({std::string(uid), now});
}

void WriteBacklog::settled(std::string_view uid) {
  if (const auto it = std::ranges::find(entries_, uid, &Entry::uid); it != entries_.end()) entries_.erase(it);
}

void WriteBacklog::pass_to(Time now) {
  const auto counts = std::ranges::find_if(entries_, [&](const Entry& e) { return now - e.since < counts_for; });
  if (counts != entries_.begin()) entries_.erase(entries_.begin(), counts);
}

void WriteBacklog::add_to(StateHash& h) const {
  if (limit_ == 0) return;  // logs that tell of none keep their hashes
  h.add(limit_);
  for (const Entry& e : entries_) {
    h.add(std::string_view(e.uid));
    h.add(e.since);
  }
}

}  // namespace hindsight::admission
