#include "connectors/bridge/bridge.hpp"

#include <algorithm>
#include <stdexcept>

#include "connectors/bridge/intent_names.hpp"
#include "connectors/bridge/want_names.hpp"
#include "connectors/jobs/integrations.hpp"
#include "connectors/json/document.hpp"
#include "connectors/json/json_value.hpp"
#include "connectors/json/object_meta.hpp"
#include "connectors/objects/observe.hpp"
#include "connectors/objects/plan.hpp"
#include "connectors/objects/write_parts.hpp"
#include "vocabulary/arena.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::connectors {
namespace {

std::string object_key(const ResourceType& type, std::string_view namespace_, std::string_view name) {
  return std::string(type.plural).append("/").append(namespace_).append("/").append(name);
}

bool is_defaults(const ResourceType& type) {
  return type.kind == types::limit_range.kind || (type.kind == types::runtime_class.kind && type.group == types::runtime_class.group);
}

/// Who owns something in a namespace: a uid alone would let tenants speak of each other's jobs.
std::string owner_key(std::string_view namespace_, std::string_view uid) { return std::string(namespace_).append("/").append(uid); }

/// The message of a Status, or what came instead of one.
std::string status_message(const WriteAnswer& answer) {
  const Json j = from_text(answer.body);
  if (j.is_object())
    if (const auto m = text_member(j, "message"); !m.empty()) return std::string(m);
  return "HTTP " + std::to_string(answer.http_status);
}

Text uid_of(const Observation& o) {
  return std::visit(
      [](const auto& x) -> Text {
        if constexpr (requires { x.meta; }) return x.meta.uid;
        return {};
      },
      o);
}

/// Known without a look at the object. What has its turn to wait for anyway need not be compared before: on a busy server that would be
/// most of the work.
bool surely_only_tells(const Intent& intent, bool queued) {
  if (const auto* w = std::get_if<WorkloadIntent>(&intent)) return queued && leaves_waiting(*w) && !w->parent_markers;
  return std::holds_alternative<QueueStatusIntent>(intent) || std::holds_alternative<QuarantineIntent>(intent);
}

constexpr std::uint32_t rounds_max = 12;   // a stop takes three writes; more than this is a circle
constexpr std::uint32_t rounds_again = 9;  // of one that is in a circle three are tried at a time

/// So long an object may be missing in the mirror before what is wanted of it is given up: a server may list what is some seconds old.
constexpr std::uint32_t absent_retries_max = 60;

/// The keys of all that can be wanted of an object with this uid.
std::vector<std::string> keys_of(const std::string& uid) {
  return {"status/" + uid, "create/" + uid, "revise/" + uid, "job/" + uid, "pod/" + uid, "quarantine/" + uid};
}

}  // namespace

Bridge::Bridge(Cluster& cluster, Mirror& mirror, Emit emit, BridgeOptions options)
    : cluster_(cluster), mirror_(mirror), emit_(std::move(emit)), options_(std::move(options)) {
  for (const auto* t : options_.synced_kinds) kinds_to_sync_.insert(std::string(t->plural));
}

Bridge::~Bridge() { *alive_ = false; }

// ---- in -------------------------------------------------------------------------------------------------------------------------

/// Whatever fails here fails about this object, and about no other.
void Bridge::on_watch(const WatchEvent& event) {
  try {
    take(event);
  } catch (const std::exception& e) {
    as_last_resort(event.resource->kind, [&] {
      if (event.type != WatchEvent::Type::added && event.type != WatchEvent::Type::modified)
        return options_.notice(std::string(event.resource->kind) + ": the end of an object was not taken: " + valid_utf8(e.what()));
      set_aside(*event.resource, event.object, QuarantineStage::read, e.what());
    });
  }
}

/// Says what failed, which may fail for the same reason: then a line of ours is all that is left to say, and if that fails, too, nothing.
void Bridge::as_last_resort(std::string_view about, const std::function<void()>& work) noexcept {
  try {
    try {
      work();
    } catch (const std::exception& e) {
      options_.notice(std::string(about) + ": what failed could not be told: " + valid_utf8(e.what()));
    }
  } catch (...) {
    return;
  }
}

/// Whoever takes observations may fail, too; it is said that this was not the object's text.
void Bridge::tell(const Observation& o) {
  try {
    emit_(o);
  } catch (const std::exception& e) {
    throw std::runtime_error(std::string("it could not be told to its domain: ") + e.what());
  }
}

void Bridge::take(const WatchEvent& event) {
  const ResourceType& type = *event.resource;
  if (event.type == WatchEvent::Type::synced) {
    kinds_to_sync_.erase(std::string(type.plural));
    if (!kinds_to_sync_.empty()) return;
    listed_ = true;
    read_again();
    return say_synced();
  }
  if (is_defaults(type)) return on_defaults(event);
  if (event.type == WatchEvent::Type::deleted) {
    take_deleted(event);
  } else if (type.kind != types::pod.kind || see_usage(type, event.object)) {
    observe_one(type, event.object);
  }
  if (!options_.gathers_usage) tell_usage();
}

void Bridge::see_node(const NodeObserved& node) {
  if (options_.gathers_usage && !usage_.knows_node(node.meta.name)) usage_.must_tell(node.meta.name);
  usage_.see_node(node.meta.name, node.allocatable);
}

/// Returns whether the pod is also one that is observed by itself.
bool Bridge::see_usage(const ResourceType& type, std::string_view text) {
  const auto use = read_pod_use(text);
  if (!use) {
    set_aside(type, text, QuarantineStage::read, use.error().message);
    return false;
  }
  usage_.see(*use);
  return seems_to_have_pod_set(text) || set_aside_.contains(use->uid);  // the log shall know that it can be read again
}

/// What could not be told waits for the next call.
void Bridge::tell_usage() {
  if (!usage_.waits()) return;
  try {
    usage_.tell([this](const NodeUsageObserved& o) { tell(o); });
  } catch (const std::exception& e) {
    options_.notice("what pods use of nodes is told later: " + valid_utf8(e.what()));
  }
}

/// First everything that is remembered of it goes, so that nothing stays if its end cannot be told.
void Bridge::take_deleted(const WatchEvent& event) {
  Arena arena;
  const auto o = observe_deleted_text(*event.resource, event.object, arena);
  if (!o) return options_.notice(o.error().message);
  const auto& gone = std::get<ObjectDeleted>(*o);
  const std::string uid(gone.uid);
  // Somebody deleted what we made before a watch showed it: whoever asked for it has to hear that it was there, and asks again.
  if (gone.kind == ObjectKind::workload && made_.erase(object_key(types::workload, gone.namespace_, gone.name)) != 0)
    observe_one(*event.resource, event.object);
  if (gone.kind == ObjectKind::pod) usage_.forget(uid);
  if (gone.kind == ObjectKind::node) usage_.forget_node(gone.name);
  const bool was_set_aside = set_aside_.erase(uid) != 0;
  if (gone.kind == ObjectKind::pod && !told_.contains(uid) && !was_set_aside) return;
  const std::string parent = gone.kind == ObjectKind::workload ? forget_workload(gone, event.object) : std::string();
  if (gone.kind == ObjectKind::cluster_queue) forget_want("cq/" + std::string(gone.name));
  if (gone.kind == ObjectKind::local_queue) forget_want("lq/" + std::string(gone.namespace_) + "/" + std::string(gone.name));
  if (held_type(gone.kind) != nullptr) forget_want(finalizer_key(gone.kind, gone.name));
  counts_by_owner_.erase(owner_key(gone.namespace_, uid));
  told_.erase(uid);
  own_versions_.erase(uid);
  pace_.forget(uid);
  forget_refusals(uid);
  if (const auto it = keys_by_uid_.find(uid); it != keys_by_uid_.end()) {
    const auto keys = it->second;
    for (const auto& key : keys)
      if (const auto w = wants_.find(key); w != wants_.end() && !w->second.in_flight && looks_at(w->second.intent).front() == uid) {
        refusals_.erase(key);
        drop_want(w);
      }
  }
  std::string job;
  if (const auto it = clusters_of_jobs_.find(uid); it != clusters_of_jobs_.end()) {
    job = std::move(it->second.first);
    clusters_of_jobs_.erase(it);
  }
  tell(*o);
  if (!job.empty()) reobserve_job(gone.namespace_, job);
  if (!parent.empty()) wake_want(option_key(parent, gone.name));  // the Option that is to be made anew waited for this
}

void Bridge::forget_refusals(const std::string& uid) {
  for (const auto& key : keys_of(uid)) refusals_.erase(key);
  const std::string options = option_key(uid, {});
  for (auto it = refusals_.lower_bound(options); it != refusals_.end() && it->first.starts_with(options);) it = refusals_.erase(it);
}

void Bridge::observe_one(const ResourceType& type, std::string_view text) {
  Arena arena;
  std::vector<PodSetCount> counts;
  if (object_kind(type) == ObjectKind::job) {
    // the uid is needed before the object is read; a second look at the text is cheaper than a second pass over jobs
    Arena scratch;
    if (const auto first = observe_text(type, text, scratch)) {
      const ObjectMeta& meta = std::get<JobObserved>(*first).meta;
      const auto it = counts_by_owner_.find(owner_key(meta.namespace_, meta.uid));
      if (it != counts_by_owner_.end())
        for (const auto& [name, n] : it->second) counts.push_back({name, n});
    }
  }
  const auto o = observe_text(type, text, arena, job_context(counts));
  if (!o) {
    if (o.error().kind != ErrorKind::unsupported) set_aside(type, text, QuarantineStage::read, o.error().message);
    return;
  }
  const bool back = !set_aside_.empty() && set_aside_.erase(std::string(uid_of(*o))) != 0;
  if (is_news(*o) || back) tell(*o);
  if (const auto* w = std::get_if<WorkloadObserved>(&*o)) {
    if (!made_.empty()) made_.erase(object_key(types::workload, w->meta.namespace_, w->meta.name));
    note_pending(*w);
    if (w->owner_kind == types::workload.kind) {  // an Option, of which no job knows (CA-12)
      wake_want(option_key(w->owner_uid, w->meta.name));
    } else if (!w->owner_uid.empty()) {
      std::vector<std::pair<std::string, std::int32_t>> now;
      for (const auto& p : w->pod_sets) now.emplace_back(std::string(p.name), p.count);
      auto& known = counts_by_owner_[owner_key(w->meta.namespace_, w->owner_uid)];
      if (known != now) {
        known = std::move(now);
        reobserve_job(w->meta.namespace_, w->owner_uid);
      }
    }
    wake(w->meta.uid);
    if (w->owner_uid.empty()) wake_want(adopt_key(w->meta.namespace_, w->meta.name));
  } else if (const auto* j = std::get_if<JobObserved>(&*o)) {
    if (j->owner_kind == types::ray_job.kind && j->kind == types::ray_cluster.kind) note_cluster(*j);
    wake(j->meta.uid);
  } else if (const auto* d = std::get_if<PodObserved>(&*o)) {
    wake(d->meta.uid);
  } else if (const auto* n = std::get_if<NodeObserved>(&*o)) {
    see_node(*n);
  } else if (const auto* q = std::get_if<ClusterQueueObserved>(&*o)) {
    wake_want("cq/" + std::string(q->meta.name));
    wake_want(finalizer_key(ObjectKind::cluster_queue, q->meta.name));
  } else if (const auto* l = std::get_if<LocalQueueObserved>(&*o)) {
    wake_want("lq/" + std::string(l->meta.namespace_) + "/" + std::string(l->meta.name));
  } else if (const auto* f = std::get_if<ResourceFlavorObserved>(&*o)) {
    wake_want(finalizer_key(ObjectKind::resource_flavor, f->meta.name));
  } else if (const auto* k = std::get_if<AdmissionCheckObserved>(&*o)) {
    wake_want(finalizer_key(ObjectKind::admission_check, k->meta.name));
  }
}

/// Whenever we write the status of a queue, the queue comes back with another version and otherwise as it was. A record of that would say
/// nothing; on a busy cluster it would be every fifth one.
bool Bridge::is_news(Observation o) {
  ObjectMeta* meta = nullptr;
  if (auto* q = std::get_if<ClusterQueueObserved>(&o)) meta = &q->meta;
  if (auto* l = std::get_if<LocalQueueObserved>(&o)) {
    meta = &l->meta;
    l->consumed = {};  // ours too; what a log starts from is what comes first
    l->consumed_at = Time::never();
  }
  if (auto* n = std::get_if<NodeObserved>(&o)) meta = &n->meta;  // TAS-19: a heartbeat is none
  if (auto* p = std::get_if<PodObserved>(&o)) {                  // a pod says much about itself, and little that matters here
    if (!p->gated && p->slice_name.empty() && !p->placed) return false;
    meta = &p->meta;
  }
  if (meta == nullptr) return true;
  meta->resource_version = 0;
  const std::string uid(meta->uid);
  const auto bytes = encoder_.encode({.envelope = {}, .body = std::move(o)});
  const std::uint64_t hash = std::hash<std::string_view>{}({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const auto [it, first] = told_.try_emplace(uid, hash);
  return first || std::exchange(it->second, hash) != hash;
}

void Bridge::wake_want(const std::string& key) {
  const auto it = wants_.find(key);
  if (it == wants_.end()) return;
  look_for_change(key, it->second);
  it->second.waiting = false;
  advance(key);
}

/// What is wanted of an object that has gone is wanted no more.
void Bridge::forget_want(const std::string& key) {
  if (const auto it = wants_.find(key); it != wants_.end() && !it->second.in_flight) drop_want(it);
  refusals_.erase(key);
}

/// Nothing is left of it, so that what tenants make and delete leaves nothing behind.
void Bridge::drop_want(Wants::iterator want) {
  end_postponement(want->first, want->second);
  look_no_more(want->second.intent, want->first);
  wants_.erase(want);
}

void Bridge::look_no_more(const Intent& intent, const std::string& key) {
  for (const auto& uid : looks_at(intent)) {
    const auto keys = keys_by_uid_.find(uid);
    if (keys == keys_by_uid_.end()) continue;
    std::erase(keys->second, key);
    if (keys->second.empty()) keys_by_uid_.erase(keys);
  }
}

/// What is wanted of it is wanted of nothing; the log will say so soon, if it does not already.
bool Bridge::is_absent(const Intent& intent) const {
  if (std::holds_alternative<WorkloadAdoptIntent>(intent)) return false;  // it waits for somebody to make its object
  if (const auto* q = std::get_if<QueueStatusIntent>(&intent))
    return (q->local ? mirror_.find(types::local_queue, q->namespace_, q->name) : mirror_.find(types::cluster_queue, "", q->name)) ==
           nullptr;
  if (const auto* f = std::get_if<FinalizerIntent>(&intent)) {
    const auto* type = held_type(f->kind);
    return type == nullptr || mirror_.find(*type, "", f->name) == nullptr;
  }
  return mirror_.find_by_uid(looks_at(intent).front()) == nullptr;
}

void Bridge::drop_absent(std::uint32_t retries) {
  for (auto it = wants_.begin(); it != wants_.end();) {
    const auto want = it++;
    Want& w = want->second;
    if (w.in_flight || w.queued || w.turn != Turn::none || !is_absent(w.intent)) {
      w.absent = 0;
    } else if (++w.absent > retries) {
      refusals_.erase(want->first);
      drop_want(want);
    }
  }
}

/// The Workload has gone; of an owner that nobody has seen nothing else would tell that it has, too. Returns the uid of the Workload that
/// it was an Option of; empty: of none.
std::string Bridge::forget_workload(const ObjectDeleted& gone, std::string_view text) {
  note_settled(gone.namespace_, gone.uid);
  const auto object = parse_object(text);
  std::string parent;
  if (!object) return parent;
  for (const auto& owner : list_or_empty(object_or_empty(*object, "metadata"), "ownerReferences")) {
    if (!flag_member(owner, "controller")) continue;
    const auto uid = text_member(owner, "uid");
    if (mirror_.find_by_uid(uid) == nullptr) counts_by_owner_.erase(owner_key(gone.namespace_, uid));
    if (text_member(owner, "kind") == types::workload.kind) parent = uid;
  }
  return parent;
}

/// EJ-60: what is reclaimable of a job depends on the counts of its Workload. Without a version, so that it is no repetition.
void Bridge::reobserve_job(std::string_view namespace_, std::string_view uid, std::uint64_t start_settled) {
  const auto text = mirror_.find_by_uid(uid);
  if (text == nullptr) return;
  const auto j = parse_object(*text);
  if (!j || text_member(object_or_empty(*j, "metadata"), "namespace") != namespace_) return;
  // What lists give does not say its kind, and who names a uid may name that of a Workload, which is no job (CA-12).
  const auto object_name = text_member(object_or_empty(*j, "metadata"), "name");
  const ResourceType* type = nullptr;
  for (const auto* t : all_resource_types)
    if (object_kind(*t) == ObjectKind::job && mirror_.find(*t, namespace_, object_name) == text) type = t;
  if (type == nullptr) return;
  Arena arena;
  std::vector<PodSetCount> counts;
  if (const auto known = counts_by_owner_.find(owner_key(namespace_, uid)); known != counts_by_owner_.end())
    for (const auto& [name, n] : known->second) counts.push_back({name, n});
  auto o = observe_text(*type, *text, arena, job_context(counts));
  if (!o) return set_aside(*type, *text, QuarantineStage::read, o.error().message);
  auto& job = std::get<JobObserved>(*o);
  job.meta.resource_version = 0;
  job.start_settled = start_settled;
  tell(*o);
  tell_again(uid);
}

JobContext Bridge::job_context(List<PodSetCount> workload_counts) const {
  JobContext out;
  out.defaults = &defaults_;
  out.workload_counts = workload_counts;
  out.find = [this](std::string_view kind, std::string_view namespace_, std::string_view name) -> Mirror::ObjectText {
    for (const auto* type : all_resource_types)
      if (type->kind == kind) return mirror_.find(*type, namespace_, name);
    return nullptr;
  };
  return out;
}

/// Status changes often and says nothing of the size; each change of the spec has a generation of its own.
void Bridge::note_cluster(const JobObserved& cluster) {
  auto& [job, generation] = clusters_of_jobs_[std::string(cluster.meta.uid)];
  if (job == cluster.owner_uid && generation == cluster.meta.generation) return;
  job = cluster.owner_uid;
  generation = cluster.meta.generation;
  reobserve_job(cluster.meta.namespace_, job);
}

void Bridge::wake(std::string_view uid) {
  const auto it = keys_by_uid_.find(std::string(uid));
  if (it == keys_by_uid_.end()) return;
  const auto keys = it->second;  // advancing may change the list
  for (const auto& key : keys)
    if (const auto w = wants_.find(key); w != wants_.end()) {
      look_for_change(key, w->second);
      w->second.waiting = false;
      advance(key);
    }
}

// ---- out ------------------------------------------------------------------------------------------------------------------------

void Bridge::want(std::vector<Intent> intents) {
  for (auto& intent : intents) {
    const std::string key = key_of(intent);
    if (const auto known = wants_.find(key); known != wants_.end()) look_no_more(known->second.intent, key);
    for (const auto& uid : looks_at(intent)) {
      if (uid.empty()) continue;
      auto& keys = keys_by_uid_[uid];
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    }
    if (const auto* workload = std::get_if<WorkloadIntent>(&intent))
      if (const auto own = own_versions_.find(workload->uid); own != own_versions_.end() && own->second <= workload->seen_version)
        own_versions_.erase(own);
    Want& w = wants_[key];
    w.intent = std::move(intent);
    const auto content = content_hash(w.intent);
    // Said again, a wish that the object does not take is no nearer to being true.
    if (std::exchange(w.content, content) != content) w.rounds = refusals_.contains(key) ? std::min(w.rounds, rounds_again) : 0;
    w.forgotten = false;
    w.checked = false;
    ++w.version;
    w.waiting = false;
    look_for_change(key, w);
    advance(key);
  }
}

void Bridge::forget(std::string_view uid) {
  own_versions_.erase(std::string(uid));  // of another domain now
  pace_.forget(std::string(uid));
  const auto it = keys_by_uid_.find(std::string(uid));
  if (it == keys_by_uid_.end()) return;
  const auto keys = it->second;
  for (const auto& key : keys) {
    const auto w = wants_.find(key);
    if (w == wants_.end() || looks_at(w->second.intent).front() != uid) continue;
    refusals_.erase(key);
    if (w->second.in_flight) {
      w->second.forgotten = true;
      departing_.insert(key);
    } else {
      drop_want(w);
    }
  }
}

/// The last write of the domain that had the object has been answered.
void Bridge::see_departed(const Sent& sent, bool written) {
  if (const auto text = written ? mirror_.find(*sent.type, sent.namespace_, sent.name) : nullptr) observe_one(*sent.type, *text);
  if (departing_.empty()) options_.departed();
}

void Bridge::tell_write_limit() {
  if (const auto limit = cluster_.write_limit(); synced_ && limit != 0) emit_(WriteLimitObserved{limit});
}

void Bridge::retry() {
  wait_on();
  tell_write_limit();
  if (listed_) tell_usage();
  read_again();
  std::vector<std::string> keys;
  for (auto& [key, w] : wants_)
    if (!w.in_flight && !w.queued && w.turn == Turn::none && !w.postponed_until.is_set()) {
      w.waiting = false;
      keys.push_back(key);
    }
  for (const auto& key : keys)
    if (wants_.contains(key)) advance(key);
  write_postponed();
  if (paces_messages()) pace_.forget_old(options_.now());
  if (synced_) drop_absent(absent_retries_max);
  others_since_report_ = options_.writes_for_each_report;
  send_ready();
  send_large();
  send_reports();
}

/// Whatever fails here fails about the object of this want.
void Bridge::advance(const std::string& key) {
  stage_ = QuarantineStage::plan;
  try {
    go_on(key);
  } catch (const std::exception& e) {
    failed(key, e.what());
  }
}

void Bridge::go_on(const std::string& key) {
  const auto it = wants_.find(key);
  if (it == wants_.end() || it->second.in_flight || it->second.waiting) return;
  Want& w = it->second;
  if (stays_postponed(w)) return;
  end_postponement(key, w);
  if (backs_off(key) || is_held_back(w.intent)) {
    w.waiting = true;
    return;
  }
  if (w.turn == Turn::spared) return;
  if (w.turn == Turn::large && !large_.has_room() && !gives_back(w.intent)) return;
  if (reports_wait() && surely_only_tells(w.intent, w.queued)) {
    if (!std::exchange(w.queued, true)) reports_.push(namespace_of(w.intent), key);
    return;
  }
  if (others_in_flight_ >= cluster_.writes_at_once()) return wait_for_turn(key, w);
  Plan p = plan(w.intent);
  if (p.error) return refused(key, p.error->kind == ErrorKind::conflict ? 409 : 0, p.error->message);
  if (p.not_yet) {
    w.waiting = true;
    return;
  }
  if (p.check && !w.checked) p.writes.push_back(std::move(*p.check));
  if (p.writes.empty()) {
    std::string settled_job, settled_in;
    std::uint64_t settles = 0;
    if (p.check) {
      const auto& stop = std::get<JobIntent>(w.intent);
      settled_job = stop.uid;
      settled_in = stop.namespace_;
      settles = stop.settles;
    }
    drop_want(it);
    refusals_.erase(key);
    if (settles != 0) reobserve_job(settled_in, settled_job, settles);  // last: what is told may change what is wanted
    return;
  }
  if ((p.rewords || p.opens) && postpone(key, w, p.opens)) return;
  if (p.only_tells && reports_wait()) {
    if (!std::exchange(w.queued, true)) reports_.push(namespace_of(w.intent), key);
    return;
  }
  const Write& next = p.writes.front();
  if (const auto busy = busy_.find(object_key(*next.type, next.namespace_, next.name)); busy != busy_.end()) {
    if (std::find(busy->second.begin(), busy->second.end(), key) == busy->second.end()) busy->second.push_back(key);
    return;
  }
  if (LargeWrites::is_large(next.body.size()) && !large_.has_room()) {
    if (std::exchange(w.turn, Turn::large) != Turn::large) large_.wait(next.namespace_, key);
    return;
  }
  const bool is_spared = spares(w.intent);
  if (is_spared && !budget_.has_one(options_.now(), statuses_.size())) {
    if (std::exchange(w.turn, Turn::spared) != Turn::spared) statuses_.push(namespace_of(w.intent), key);
    return;
  }
  if (w.rounds >= rounds_max) {
    const auto& refusal = back_off(key, w.intent, w.content);
    w.rounds = rounds_again;
    w.waiting = true;
    return options_.notice("write " + key + ": the object does not take what is written; trying again in " +
                           std::to_string(refusal.retries_to_wait) + " s");
  }
  stage_ = QuarantineStage::write;
  if (is_spared) budget_.take();
  send(key, w, std::move(p));
}

void Bridge::send(const std::string& key, Want& want, Plan plan) {
  want.in_flight = true;
  ++writes_;
  ++(plan.only_tells ? reports_in_flight_ : others_in_flight_);
  if (plan.only_tells) others_since_report_ = 0;
  Write write = std::move(plan.writes.front());
  if (write.verb == Write::Verb::create && write.type->kind == types::workload.kind)
    made_.insert(object_key(*write.type, write.namespace_, write.name));
  Sent sent{.version = want.version,
            .wanted = want.content,
            .type = write.type,
            .verb = write.verb,
            .namespace_ = write.namespace_,
            .name = write.name,
            .seen = hash_of_text(mirror_.find(*write.type, write.namespace_, write.name)),
            .only_tells = plan.only_tells,
            .checks = plan.check.has_value(),
            .workload_uid = {},
            .leaves_waiting = false};
  const auto* workload = std::get_if<WorkloadIntent>(&want.intent);
  if (workload != nullptr && (write.subresource == "status" || !workload->set_active)) sent.workload_uid = workload->uid;
  sent.leaves_waiting = workload != nullptr && write.subresource == "status" && leaves_waiting(*workload);
  busy_.try_emplace(object_key(*sent.type, sent.namespace_, sent.name));
  const std::string object = object_key(*sent.type, sent.namespace_, sent.name);
  const bool only_tells = sent.only_tells;
  const auto body = write.body.size();
  large_.sent(body);
  const auto answer_came = [this, alive = alive_, key, object, body, sent = std::move(sent)](WriteAnswer answer) {
    if (!*alive) return;
    large_.answered(body);
    --(sent.only_tells ? reports_in_flight_ : others_in_flight_);
    if (!sent.only_tells) ++others_since_report_;
    const auto others = std::move(busy_.extract(object).mapped());
    try {
      answered(key, sent, std::move(answer));
    } catch (const std::exception& e) {
      failed(key, e.what());
    }
    for (const auto& other : others) advance(other);
    send_ready();
    send_large();
    send_reports();
  };
  try {
    cluster_.submit(std::move(write), answer_came);
  } catch (...) {  // it was not sent, and no answer comes
    large_.answered(body);
    busy_.erase(object);
    --(only_tells ? reports_in_flight_ : others_in_flight_);
    throw;
  }
}

void Bridge::answered(const std::string& key, const Sent& sent, WriteAnswer answer) {
  const auto verb = sent.verb;
  const int status = answer.http_status;
  const bool ok = status >= 200 && status < 300;
  auto it = wants_.find(key);
  const bool forgotten = it == wants_.end() || it->second.forgotten;
  if (!ok && verb == Write::Verb::create && !made_.empty()) made_.erase(object_key(*sent.type, sent.namespace_, sent.name));
  if (ok && verb != Write::Verb::delete_) {
    if (!sent.workload_uid.empty() && !forgotten && mirror_.find_by_uid(sent.workload_uid) != nullptr) {
      if (const auto written = parse_object(answer.body)) own_versions_[sent.workload_uid] = version_of(*written);
      if (sent.leaves_waiting && paces_messages()) pace_.written(sent.workload_uid, options_.now());
    }
    mirror_.offer(*sent.type, std::move(answer.body));
  }
  if (departing_.erase(key) != 0) {
    see_departed(sent, ok && verb != Write::Verb::delete_);
    it = wants_.find(key);
  }
  if (it == wants_.end()) return;
  Want& w = it->second;
  w.in_flight = false;
  if (w.forgotten) {
    drop_want(it);
    return;
  }
  const bool newest = w.version == sent.version;
  if (ok) {
    ++w.rounds;
    w.checked = w.checked || (sent.checks && newest);
    const bool once = verb == Write::Verb::create || verb == Write::Verb::delete_;
    if (once && newest) {
      refusals_.erase(key);
      drop_want(it);  // done; what comes of it is observed
      return;
    }
    advance(key);
    return;
  }
  if (status == 404) {
    if (newest)
      drop_want(it);
    else
      advance(key);
    return;
  }
  if (status == 409 || status == 0 || status == 429 || status >= 500) {
    if (status == 409) ++conflicts_;
    // It exists already: the mirror will show whose it is. Of an Option's name the domain has to hear that it is taken (CA-6).
    if (newest && status == 409 && verb == Write::Verb::create && !std::holds_alternative<OptionCreateIntent>(w.intent)) {
      drop_want(it);
      return;
    }
    w.waiting = true;
    // What overtook the write may have been seen before its answer came; then nothing else would wake the want.
    if (status == 409 && hash_of_text(mirror_.find(*sent.type, sent.namespace_, sent.name)) != sent.seen) wake_want(key);
    return;
  }
  if (!newest && w.content != sent.wanted) {  // what is wanted by now has not been refused
    back_off(key, w.intent, sent.wanted);
    look_for_change(key, w);
    advance(key);
    return;
  }
  refused(key, status, status_message(answer));
}

}  // namespace hindsight::connectors
