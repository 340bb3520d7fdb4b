// Objects about which something failed: what is told of them, and what is done to them all the same.

#include "connectors/bridge/bridge.hpp"
#include "connectors/bridge/want_names.hpp"
#include "connectors/objects/observe.hpp"
#include "vocabulary/arena.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::connectors {

using admission::Intent;

void Bridge::set_aside(const ResourceType& type, std::string_view text, QuarantineStage stage, std::string_view reason) {
  Arena arena;
  auto told = observe_quarantined(type, text, stage, reason, arena);
  if (!told)
    return options_.notice(std::string(type.kind) + ": an object that cannot be told from others was left out: " +
                           cut_message(valid_utf8(reason), limits::finding.size()));
  const std::string uid(told->uid);
  SetAside& object = set_aside_[uid];
  const bool news = object.type == nullptr || object.stage != stage || object.reason != told->reason;
  object.type = &type;
  object.stage = stage;
  object.reason = told->reason;
  object.seen = stage == QuarantineStage::read ? 0 : hash_of_text(mirror_.find_by_uid(uid));
  auto without_version = *told;
  without_version.resource_version = 0;
  std::vector<JobObserved> outline(told->outline.begin(), told->outline.end());
  for (auto& job : outline) job.meta.resource_version = 0;
  without_version.outline = outline;
  const auto bytes = encoder_.encode({.envelope = {}, .body = Observation(without_version)});
  const std::uint64_t hash = std::hash<std::string_view>{}({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (std::exchange(object.told, hash) == hash) return;
  if (news)
    options_.notice(std::string(type.kind) + " " + std::string(told->namespace_) + (told->namespace_.empty() ? "" : "/") +
                    std::string(told->name) + " is set aside: " + std::string(told->reason));
  tell(*told);
}

/// A want could not be worked out or sent.
void Bridge::failed(const std::string& key, std::string_view what) noexcept {
  as_last_resort(key, [&] {
    const QuarantineStage stage = stage_;
    const auto it = wants_.find(key);
    if (it == wants_.end()) return options_.notice("write " + key + ": " + valid_utf8(what));
    it->second.in_flight = false;
    it->second.waiting = true;
    const auto* type = type_of(it->second.intent);
    const auto text = type == nullptr ? nullptr : mirror_.find_by_uid(looks_at(it->second.intent).front());
    if (text != nullptr) return set_aside(*type, *text, stage, what);
    drop_want(it);  // it is wanted again when the state says so anew
    options_.notice("write " + key + ": " + valid_utf8(what));
  });
}

/// What was just told of an object in the version that failed says that it can be read, which is not all.
void Bridge::tell_again(std::string_view uid) {
  const auto it = set_aside_.find(std::string(uid));
  if (it == set_aside_.end()) return;
  const auto text = mirror_.find_by_uid(uid);
  if (it->second.stage == QuarantineStage::read || hash_of_text(text) != it->second.seen) {
    set_aside_.erase(it);
    return;
  }
  it->second.told = 0;
  const auto object = it->second;
  set_aside(*object.type, *text, object.stage, object.reason);
}

/// Of kinds that no other observation tells of.
void Bridge::lift(const ResourceType& type, const ObjectMeta& meta) {
  if (set_aside_.erase(std::string(meta.uid)) == 0) return;
  ObjectQuarantined o;
  o.api_kind = type.kind;
  o.namespace_ = meta.namespace_;
  o.name = meta.name;
  o.uid = meta.uid;
  o.resource_version = meta.resource_version;
  o.lifted = true;
  tell(o);
}

/// What cannot be read may be stopped, and it may be told so; it may not be started, and nothing is made of it. What failed otherwise is
/// left alone until it changes.
bool Bridge::is_held_back(const Intent& intent) const {
  if (set_aside_.empty() || std::holds_alternative<admission::QuarantineIntent>(intent)) return false;
  const auto* job = std::get_if<admission::JobIntent>(&intent);
  const bool ends = std::holds_alternative<admission::WorkloadIntent>(intent) || (job != nullptr && !job->run);
  for (const auto& uid : looks_at(intent)) {
    const auto it = set_aside_.find(uid);
    if (it == set_aside_.end()) continue;
    if (it->second.stage == QuarantineStage::read ? !ends : hash_of_text(mirror_.find_by_uid(uid)) == it->second.seen) return true;
  }
  return false;
}

}  // namespace hindsight::connectors
