// What became of a Workload that is not there any more.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "projections/format.hpp"
#include "projections/why.hpp"

namespace hindsight::projections {

std::optional<Why> explain_gone(const StateView& state, const Trail& trail) {
  const TrailEnd* end = trail.last_end();
  if (end == nullptr) return std::nullopt;
  Why out;
  out.deleted = true;
  out.object = "Workload " + full_name(end->namespace_, end->name);
  out.since = end->time;
  out.life = trail.life(end->uid, state.now());
  const std::string how = out.life ? out.life->end : std::string();
  constexpr std::string_view ended = "finished: ";
  if (!end->departed_to.empty()) {
    out.headline = "It belongs to another domain since then: " + end->departed_to;
  } else if (how.starts_with(ended)) {
    out.reason = how.substr(ended.size());
    out.headline = "It had finished, and its object was deleted: " + out.reason;
  } else {
    out.headline = "It was deleted before it had finished";
  }
  if (const auto* finished = trail.last(TrailFact::Kind::finished, end->uid)) out.message = finished->message;
  const auto tell = [&](TrailFact::Kind kind, const char* what) {
    const auto* f = trail.last(kind, end->uid);
    if (f == nullptr) return;
    std::string line = what;
    if (!f->other.empty()) line += " by " + f->other;
    if (!f->reason.empty()) line += ": " + f->reason;
    out.events.push_back({f->offset, f->time, std::move(line)});
  };
  tell(TrailFact::Kind::reserved, "quota reserved");
  tell(TrailFact::Kind::admitted, "admitted");
  tell(TrailFact::Kind::preempted, "preempted");
  tell(TrailFact::Kind::evicted, "evicted");
  tell(TrailFact::Kind::released, "its quota was given back");
  tell(TrailFact::Kind::finished, "finished");
  out.events.push_back({end->offset, end->time, end->departed_to.empty() ? "deleted" : "departed to domain " + end->departed_to});
  std::stable_sort(out.events.begin(), out.events.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
  return out;
}

}  // namespace hindsight::projections
