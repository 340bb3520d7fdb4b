// What the API server refuses for good, or takes without becoming what is wanted: how often that is tried again, and how often it is told.
// Both end in next to nothing, or one object that cannot be written would keep the server busy and fill the log for as long as it is there.

#include <algorithm>
#include <functional>
#include <iterator>

#include "connectors/bridge/bridge.hpp"
#include "connectors/bridge/intent_names.hpp"
#include "connectors/bridge/want_names.hpp"
#include "connectors/json/json_value.hpp"
#include "connectors/objects/plan.hpp"
#include "vocabulary/state_hash.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::connectors {

namespace {

constexpr std::uint32_t longest_wait = 3600;  // calls of `retry`, which comes once a second
constexpr std::uint32_t times_max = 13;       // 2 to the power of 12 is longer than that

std::uint32_t wait_after(std::uint32_t times) { return std::min(std::uint32_t{1} << (times - 1), longest_wait); }

/// But for what changes with every write: its version, and who wrote which field.
std::uint64_t hash_of_object(const std::string& text) {
  auto object = parse_object(text);
  if (!object) return std::hash<std::string>{}(text);
  if (const auto metadata = object->find("metadata"); metadata != object->end() && metadata->is_object())
    metadata->erase("resourceVersion");
  return std::hash<std::string>{}(to_text(*object));
}

/// Of an object that is only looked at: its status is told by somebody else, and is no reason to try again.
std::uint64_t hash_of_spec(const std::string& text) {
  const auto object = parse_object(text);
  return object ? std::hash<std::string>{}(to_text(object_or_empty(*object, "spec"))) : 0;
}

/// Whose refusal is known by which decision; nullptr where none stands behind it.
const std::uint64_t* decision_of(const Intent& intent) {
  return std::visit(
      [](const auto& i) -> const std::uint64_t* {
        if constexpr (requires { i.decision_sequence; }) return &i.decision_sequence;
        return nullptr;
      },
      intent);
}

/// The record about the intent, without the answer; its views are of the intent.
WriteRefused refusal_of(const Intent& intent) {
  WriteRefused r;
  if (const auto* decision = decision_of(intent)) r.decision_sequence = *decision;
  const auto name = [&](ObjectKind kind, const std::string& uid, const std::string& namespace_, const std::string& object) {
    r.kind = kind;
    r.uid = uid;
    r.namespace_ = namespace_;
    r.name = object;
  };
  if (const auto* i = std::get_if<WorkloadIntent>(&intent)) name(ObjectKind::workload, i->uid, i->namespace_, i->name);
  if (const auto* c = std::get_if<WorkloadCreateIntent>(&intent)) name(ObjectKind::job, c->job_uid, c->namespace_, c->job_name);
  if (const auto* v = std::get_if<WorkloadReviseIntent>(&intent)) name(ObjectKind::workload, v->uid, v->namespace_, v->name);
  if (const auto* j = std::get_if<JobIntent>(&intent)) name(ObjectKind::job, j->uid, j->namespace_, j->name);
  if (const auto* d = std::get_if<PodReleaseIntent>(&intent)) name(ObjectKind::pod, d->uid, d->namespace_, d->name);
  if (const auto* f = std::get_if<PodFailIntent>(&intent)) name(ObjectKind::pod, f->uid, f->namespace_, f->name);
  // By the uid its Parent is found, by the name the Option that could not be made.
  if (const auto* o = std::get_if<OptionCreateIntent>(&intent)) name(ObjectKind::workload, o->parent_uid, o->namespace_, o->name);
  return r;
}

}  // namespace

/// First the object that is written, then what the plan takes into account besides.
Bridge::Objects Bridge::objects_of(const Intent& intent) const {
  if (const auto* q = std::get_if<QueueStatusIntent>(&intent))
    return {q->local ? mirror_.find(types::local_queue, q->namespace_, q->name) : mirror_.find(types::cluster_queue, "", q->name), nullptr};
  if (const auto* f = std::get_if<FinalizerIntent>(&intent)) {
    const auto* type = held_type(f->kind);
    return {type == nullptr ? nullptr : mirror_.find(*type, "", f->name), nullptr};
  }
  if (const auto* a = std::get_if<WorkloadAdoptIntent>(&intent))
    return {mirror_.find(types::workload, a->namespace_, a->name), mirror_.find_by_uid(a->job_uid)};
  if (const auto* o = std::get_if<OptionCreateIntent>(&intent))
    return {mirror_.find(types::workload, o->namespace_, o->name), mirror_.find_by_uid(o->parent_uid)};
  Objects out;
  const auto uids = looks_at(intent);
  for (std::size_t i = 0; i < std::min(uids.size(), out.size()); ++i)
    if (!uids[i].empty()) out[i] = mirror_.find_by_uid(uids[i]);
  return out;
}

std::uint64_t Bridge::hash_of(const Objects& objects) {
  StateHash hash;
  hash.add(objects[0] == nullptr ? std::uint64_t{0} : hash_of_object(*objects[0]));
  hash.add(objects[1] == nullptr ? std::uint64_t{0} : hash_of_spec(*objects[1]));
  return hash.value();
}

std::uint64_t Bridge::hash_of_text(const Mirror::ObjectText& text) { return text == nullptr ? 0 : std::hash<std::string_view>{}(*text); }

/// Is it for readers alone? Such a wish changes as often as what it tells of, and nothing waits for it.
bool Bridge::tells_only(const Intent& intent, const Mirror::ObjectText& object) {
  const auto* workload = std::get_if<WorkloadIntent>(&intent);
  if (workload == nullptr)
    return std::holds_alternative<QueueStatusIntent>(intent) || std::holds_alternative<admission::QuarantineIntent>(intent);
  if (!leaves_waiting(*workload) || object == nullptr) return false;
  const auto shown = parse_object(*object);
  return shown && only_tells(*workload, *shown);
}

/// `wanted`: content of what was refused.
Bridge::Refusal& Bridge::back_off(const std::string& key, const Intent& intent, std::uint64_t wanted) {
  Refusal& r = refusals_[key];
  r.times = std::min(r.times + 1, times_max);
  r.retries_to_wait = wait_after(r.times);
  r.shortened = false;
  r.wanted = wanted;
  const auto objects = objects_of(intent);
  r.seen = hash_of(objects);
  for (std::size_t i = 0; i < objects.size(); ++i) r.objects[i] = objects[i];
  return r;
}

bool Bridge::backs_off(const std::string& key) const {
  const auto it = refusals_.find(key);
  return it != refusals_.end() && it->second.retries_to_wait > 0;
}

/// What waits is tried at once, or within a second, when the object is another one than that of the last answer, or something else is
/// wanted of it. The object is changed by others, who are told the outcome. What is wanted can change because of the refusal itself, so
/// that counts only so often until a wait has passed.
void Bridge::look_for_change(const std::string& key, const Want& want) {
  const auto it = refusals_.find(key);
  if (it == refusals_.end() || it->second.retries_to_wait == 0) return;
  Refusal& r = it->second;
  const auto objects = objects_of(want.intent);
  bool changed = false;
  const auto is_as_before = [&](std::size_t i) { return !r.objects[i].owner_before(objects[i]) && !objects[i].owner_before(r.objects[i]); };
  if (!is_as_before(0) || !is_as_before(1)) {
    const auto seen = hash_of(objects);
    changed = std::exchange(r.seen, seen) != seen;
    for (std::size_t i = 0; i < objects.size(); ++i) r.objects[i] = objects[i];
  }
  if (changed) {
    r.times = 0;
    r.changes_left = Refusal::changes_max;
  } else if (want.content == r.wanted || tells_only(want.intent, objects[0])) {
    return;
  } else if (!r.hurried || r.retries_to_wait > 1) {
    if (r.changes_left == 0) return;
    --r.changes_left;
  }
  r.wanted = want.content;
  r.retries_to_wait = r.hurried ? 1 : 0;
  r.hurried = r.shortened = true;
}

/// One more second has passed.
void Bridge::wait_on() {
  for (auto& [key, r] : refusals_) {
    r.hurried = false;
    if (r.retries_to_wait > 0 && --r.retries_to_wait == 0 && !r.shortened) r.changes_left = Refusal::changes_max;
  }
  for (auto it = passes_.begin(); it != passes_.end();) {
    Pass& pass = it->second;
    if (pass.retries_to_wait > 0) --pass.retries_to_wait;
    it = pass.due || pass.retries_to_wait > 0 ? std::next(it) : passes_.erase(it);
  }
}

std::uint32_t Bridge::retries_until_next() const {
  std::uint32_t out = 0;
  const auto take = [&](std::uint32_t retries) {
    if (retries > 0) out = out == 0 ? retries : std::min(out, retries);
  };
  for (const auto& [key, refusal] : refusals_)
    if (wants_.contains(key)) take(refusal.retries_to_wait);
  for (const auto& [namespace_, pass] : passes_)
    if (pass.due) take(pass.retries_to_wait);
  return out;
}

/// A reservation that the status does not show yet: the state takes it back when it hears of the refusal, and its quota is free for others.
bool Bridge::is_unwritten_reservation(const Intent& intent) const {
  const auto* w = std::get_if<WorkloadIntent>(&intent);
  if (w == nullptr || !w->has_admission) return false;
  const auto text = mirror_.find_by_uid(w->uid);
  if (text == nullptr) return false;
  const auto object = parse_object(*text);
  if (!object) return false;
  const auto writes = plan_workload(*w, *object);
  return std::any_of(writes.begin(), writes.end(), [](const Write& write) {
    return write.subresource == "status" && member(object_or_empty(from_text(write.body), "status"), "admission") != nullptr;
  });
}

/// Told is what is news: another answer, or the same to another wish or about another object. Else the log would grow by what it holds
/// already. Two things are told although nothing else differs, because the state counts them: that a reservation of a later decision could
/// not be written either (BA-75), and that a start with other sizes was refused again (5440 MR-51), of which few in a row are enough.
bool Bridge::is_to_be_told(const Intent& intent, Refusal& r, int status, std::string_view message) const {
  constexpr std::uint32_t tellings_max = 4;
  StateHash hash;
  hash.add(status);
  hash.add(message);
  hash.add(r.wanted);
  hash.add(r.seen);
  const bool differs = std::exchange(r.told, hash.value()) != hash.value();
  const auto* decision = decision_of(intent);
  const std::uint64_t sequence = decision == nullptr ? 0 : *decision;
  const bool decided_since = std::exchange(r.decision, sequence) != sequence;
  if (differs || decided_since) r.tellings = 0;
  const auto* job = std::get_if<JobIntent>(&intent);
  const bool counts = job != nullptr && !job->sizes.empty() && r.tellings < tellings_max;
  if (!differs && !counts && !(decided_since && is_unwritten_reservation(intent))) return false;
  ++r.tellings;
  return true;
}

/// The server said no for good, or nothing can be planned (status 0). It stays wanted as long as the state says so.
void Bridge::refused(const std::string& key, int status, std::string_view why) {
  const auto it = wants_.find(key);
  if (it == wants_.end()) return;
  const auto* adoption = std::get_if<WorkloadAdoptIntent>(&it->second.intent);
  if (is_absent(it->second.intent) || (adoption != nullptr && mirror_.find_by_uid(adoption->job_uid) == nullptr)) {
    refusals_.erase(key);  // it went away meanwhile, and what is remembered of it would stay
    return drop_want(it);
  }
  it->second.waiting = true;
  Refusal& refusal = back_off(key, it->second.intent, it->second.content);
  const std::string message = cut_middle(valid_utf8(why), limits::finding.size());
  if (!is_to_be_told(it->second.intent, refusal, status, message)) return;  // nobody will say again that it is wanted
  if (decision_of(it->second.intent) == nullptr) return options_.notice("status of " + key + " was refused: " + message);
  const Intent intent = it->second.intent;
  drop_want(it);  // the state says again what it wants when it has heard of this
  WriteRefused r = refusal_of(intent);
  r.http_status = status;
  r.message = message;
  options_.notice("write to " + std::string(r.namespace_) + "/" + std::string(r.name) + " was refused: " + message);
  tell(r);
}

}  // namespace hindsight::connectors
