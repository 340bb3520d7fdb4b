// A Workload that waits is looked at again each time that quota becomes free, and the message of its condition says how much it lacks by
// now. Each of these messages would be a write to the API server, and what the write makes would be a record, for every Workload that
// waits and every cycle. So a write that changes nothing but such a message is postponed until an interval has passed since the last one,
// and of the messages of that time the newest is written. Whatever else changes is written at once, with the newest message.
//
// The first status of a new Workload says that it waits to start. Where there is room it is admitted a few milliseconds later, which would
// be a second write, and a second record. So the first status is postponed for a moment as well.

#include "connectors/bridge/bridge.hpp"
#include "connectors/bridge/want_names.hpp"

namespace hindsight::connectors {

/// The same as `Plan::only_rewords` says of a plan, without a look at the object: it is the one that the plan was made from, and nothing
/// but messages is wanted otherwise.
bool Bridge::stays_postponed(const Want& want) const {
  if (!want.postponed_until.is_set() || options_.now() >= want.postponed_until) return false;
  const auto* intent = std::get_if<admission::WorkloadIntent>(&want.intent);
  if (intent == nullptr || hash_beside_messages(*intent) != want.postponed_beside) return false;
  const auto object = mirror_.find_by_uid(intent->uid);
  return !want.postponed_over.owner_before(object) && !object.owner_before(want.postponed_over);
}

/// Returns whether the write has to wait.
bool Bridge::postpone(const std::string& key, Want& want, bool opens) {
  if (!paces_messages()) return false;
  const auto& intent = std::get<admission::WorkloadIntent>(want.intent);
  const Time now = options_.now();
  Time earliest = pace_.earliest(intent.uid);
  if (opens) {
    if (earliest.is_set()) return false;  // somebody has taken away what was written just now
    if (!want.opens_at.is_set()) want.opens_at = now + options_.opening_time;
    earliest = want.opens_at;
  }
  if (!earliest.is_set() || earliest <= now) return false;
  want.postponed_until = earliest;
  want.postponed_beside = hash_beside_messages(intent);
  want.postponed_over = mirror_.find_by_uid(intent.uid);
  postponed_.emplace(earliest, key);
  return true;
}

void Bridge::end_postponement(const std::string& key, Want& want) {
  if (!want.postponed_until.is_set()) return;
  postponed_.erase({want.postponed_until, key});
  want.postponed_until = Time::never();
}

void Bridge::write_postponed(bool all) {
  send_statuses();
  if (postponed_.empty()) return;
  const Time now = options_.now();
  std::vector<std::string> due;
  for (const auto& [time, key] : postponed_) {
    if (!all && time > now) break;
    due.push_back(key);
  }
  for (const auto& key : due) {
    const auto it = wants_.find(key);
    if (it == wants_.end()) continue;  // what was written before has ended it
    if (all) {
      pace_.forget(looks_at(it->second.intent).front());
      it->second.opens_at = now;
    }
    end_postponement(key, it->second);
    advance(key);
  }
}

}  // namespace hindsight::connectors
