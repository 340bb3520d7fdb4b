#include "connectors/bridge/bridge.hpp"

#include <algorithm>

#include "connectors/bridge/want_names.hpp"
#include "connectors/jobs/integrations.hpp"
#include "connectors/json/document.hpp"
#include "connectors/json/json_value.hpp"
#include "connectors/json/object_meta.hpp"
#include "connectors/objects/observe.hpp"
#include "connectors/objects/plan.hpp"
#include "connectors/objects/write_parts.hpp"
#include "vocabulary/arena.hpp"

namespace hindsight::connectors {
namespace {

using admission::FinalizerIntent;
using admission::Intent;
using admission::JobIntent;
using admission::PodReleaseIntent;
using admission::QueueStatusIntent;
using admission::WorkloadAdoptIntent;
using admission::WorkloadCreateIntent;
using admission::WorkloadIntent;
using admission::WorkloadReviseIntent;

std::string object_key(const ResourceType& type, std::string_view namespace_, std::string_view name) {
  return std::string(type.plural).append("/").append(namespace_).append("/").append(name);
}

std::optional<Json> parse(const Mirror::ObjectText& text) {
  if (text == nullptr) return std::nullopt;
  auto object = parse_object(*text);
  if (!object) return std::nullopt;
  return std::move(*object);
}

bool is_defaults(const ResourceType& type) {
  return type.kind == types::limit_range.kind || (type.kind == types::runtime_class.kind && type.group == types::runtime_class.group);
}

/// The message of a Status, or what came instead of one.
std::string status_message(const WriteAnswer& answer) {
  const Json j = Json::parse(answer.body, nullptr, false);
  if (j.is_object())
    if (const auto m = text_member(j, "message"); !m.empty()) return std::string(m);
  return "HTTP " + std::to_string(answer.http_status);
}

/// Does the intent leave alone whether the Workload is admitted, exists and may run? Then it tells readers why it waits.
bool leaves_waiting(const WorkloadIntent& intent) {
  return !intent.has_admission && !intent.remove && !intent.release_finalizer && !intent.set_inactive;
}

bool only_tells(const WorkloadIntent& intent, const Json& workload) {
  return leaves_waiting(intent) && member(object_or_empty(workload, "status"), "admission") == nullptr;
}

/// Known without a look at the object. What has its turn to wait for anyway need not be compared before: on a busy server that would be
/// most of the work.
bool surely_only_tells(const Intent& intent, bool queued) {
  if (const auto* w = std::get_if<WorkloadIntent>(&intent)) return queued && leaves_waiting(*w);
  return std::holds_alternative<QueueStatusIntent>(intent);
}

constexpr std::uint32_t rounds_max = 12;  // a stop takes three writes; more than this is a circle

}  // namespace

Bridge::Bridge(Cluster& cluster, Mirror& mirror, Emit emit, BridgeOptions options)
    : cluster_(cluster), mirror_(mirror), emit_(std::move(emit)), options_(std::move(options)) {
  for (const auto* t : options_.synced_kinds) kinds_to_sync_.insert(std::string(t->plural));
}

Bridge::~Bridge() { *alive_ = false; }

// ---- in -------------------------------------------------------------------------------------------------------------------------

void Bridge::on_watch(const WatchEvent& event) {
  const ResourceType& type = *event.resource;
  if (event.type == WatchEvent::Type::synced) {
    kinds_to_sync_.erase(std::string(type.plural));
    if (kinds_to_sync_.empty() && !synced_) {
      synced_ = true;
      emit_(MirrorSynced{});
    }
    return;
  }
  if (is_defaults(type)) return on_defaults(event);
  if (event.type == WatchEvent::Type::deleted) {
    Arena arena;
    const auto o = observe_deleted_text(type, event.object, arena);
    if (!o) return options_.notice(o.error().message);
    const auto& gone = std::get<ObjectDeleted>(*o);
    const std::string uid(gone.uid);
    if (gone.kind == ObjectKind::pod && !queues_told_.contains(uid)) return;
    if (gone.kind == ObjectKind::workload)
      if (const auto in = pending_.find(gone.namespace_); in != pending_.end()) in->second.erase(uid);
    emit_(*o);
    if (gone.kind == ObjectKind::cluster_queue) forget_want("cq/" + std::string(gone.name));
    if (gone.kind == ObjectKind::local_queue) forget_want("lq/" + std::string(gone.namespace_) + "/" + std::string(gone.name));
    if (held_type(gone.kind) != nullptr) forget_want(finalizer_key(gone.kind, gone.name));
    counts_by_owner_.erase(uid);
    queues_told_.erase(uid);
    own_versions_.erase(uid);
    if (const auto it = clusters_of_jobs_.find(uid); it != clusters_of_jobs_.end()) {
      const auto job = std::move(it->second.first);
      clusters_of_jobs_.erase(it);
      reobserve_job(job);
    }
    if (const auto it = keys_by_uid_.find(uid); it != keys_by_uid_.end()) {
      const auto keys = it->second;
      keys_by_uid_.erase(it);
      for (const auto& key : keys)
        if (const auto w = wants_.find(key); w != wants_.end() && !w->second.in_flight && looks_at(w->second.intent).front() == uid)
          wants_.erase(w);
    }
    return;
  }
  observe_one(type, event.object);
}

void Bridge::observe_one(const ResourceType& type, std::string_view text) {
  Arena arena;
  std::vector<PodSetCount> counts;
  if (object_kind(type) == ObjectKind::job) {
    // the uid is needed before the object is read; a second look at the text is cheaper than a second pass over jobs
    Arena scratch;
    if (const auto first = observe_text(type, text, scratch)) {
      const auto it = counts_by_owner_.find(std::string(std::get<JobObserved>(*first).meta.uid));
      if (it != counts_by_owner_.end())
        for (const auto& [name, n] : it->second) counts.push_back({name, n});
    }
  }
  const auto o = observe_text(type, text, arena, job_context(counts));
  if (!o) {
    if (o.error().kind != ErrorKind::unsupported) options_.notice(o.error().message);
    return;
  }
  if (is_news(*o)) emit_(*o);
  if (const auto* w = std::get_if<WorkloadObserved>(&*o)) {
    note_pending(*w);
    if (!w->owner_uid.empty()) {
      std::vector<std::pair<std::string, std::int32_t>> now;
      for (const auto& p : w->pod_sets) now.emplace_back(std::string(p.name), p.count);
      auto& known = counts_by_owner_[std::string(w->owner_uid)];
      if (known != now) {
        known = std::move(now);
        reobserve_job(w->owner_uid);
      }
    }
    wake(w->meta.uid);
    if (w->owner_uid.empty()) wake_want(adopt_key(w->meta.namespace_, w->meta.name));
  } else if (const auto* j = std::get_if<JobObserved>(&*o)) {
    if (j->owner_kind == types::ray_job.kind && j->kind == types::ray_cluster.kind) note_cluster(*j);
    wake(j->meta.uid);
  } else if (const auto* d = std::get_if<PodObserved>(&*o)) {
    wake(d->meta.uid);
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
  if (auto* p = std::get_if<PodObserved>(&o)) {  // a pod says much about itself, and little that matters here
    if (!p->gated && p->slice_name.empty()) return false;
    meta = &p->meta;
  }
  if (meta == nullptr) return true;
  meta->resource_version = 0;
  const std::string uid(meta->uid);
  const auto bytes = encoder_.encode({.envelope = {}, .body = std::move(o)});
  const std::uint64_t hash = std::hash<std::string_view>{}({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const auto [it, first] = queues_told_.try_emplace(uid, hash);
  return first || std::exchange(it->second, hash) != hash;
}

void Bridge::wake_want(const std::string& key) {
  const auto it = wants_.find(key);
  if (it == wants_.end()) return;
  it->second.waiting = false;
  advance(key);
}

/// What is wanted of an object that has gone is wanted no more.
void Bridge::forget_want(const std::string& key) {
  if (const auto it = wants_.find(key); it != wants_.end() && !it->second.in_flight) wants_.erase(it);
  refusals_.erase(key);
}

/// EJ-60: what is reclaimable of a job depends on the counts of its Workload. Without a version, so that it is no repetition.
void Bridge::reobserve_job(std::string_view uid, std::uint64_t start_settled) {
  const auto text = mirror_.find_by_uid(uid);
  if (text == nullptr) return;
  const auto j = parse(text);
  if (!j) return;
  const auto kind = text_member(*j, "kind");
  const ResourceType* type = kind.empty() ? &types::job : nullptr;
  for (const auto* t : all_resource_types)
    if (object_kind(*t) == ObjectKind::job && t->kind == kind) type = t;
  if (type == nullptr) return;
  Arena arena;
  std::vector<PodSetCount> counts;
  for (const auto& [name, n] : counts_by_owner_[std::string(uid)]) counts.push_back({name, n});
  auto o = observe_text(*type, *text, arena, job_context(counts));
  if (!o) return options_.notice(o.error().message);
  auto& job = std::get<JobObserved>(*o);
  job.meta.resource_version = 0;
  job.start_settled = start_settled;
  emit_(*o);
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
  reobserve_job(job);
}

// ---- what the cluster adds to every pod (base-admission §1.3 a, b) ------------------------------------------------------------------

/// A LimitRange or RuntimeClass changed: pending Workloads of the namespace, or of the class, ask for something else now (§3.7). What
/// holds quota is charged as it was admitted and is observed anew when that ends.
void Bridge::on_defaults(const WatchEvent& event) {
  const bool range = event.resource->kind == types::limit_range.kind;
  const auto complain = [&](const Error& e) { options_.notice(std::string(event.resource->kind) + ": " + e.message); };
  const auto document = Document::parse(event.object);
  if (!document) return complain(document.error());
  Arena arena;
  Reading reading(arena, document->root(), object_title(event.resource->kind, document->root()));
  const auto meta = read_meta(reading.root());
  if (reading.failed()) return complain(reading.take_error());
  if (event.type == WatchEvent::Type::deleted) {
    if (range)
      defaults_.remove_limit_range(meta.namespace_, meta.name);
    else
      defaults_.remove_runtime_class(meta.name);
  } else if (auto done = range ? defaults_.set_limit_range(document->root()) : defaults_.set_runtime_class(document->root()); !done) {
    return complain(done.error());
  }
  if (range) {
    reobserve_pending(std::string(meta.namespace_), {});
  } else {
    std::vector<std::string> namespaces;
    for (const auto& [name, uids] : pending_) namespaces.push_back(name);
    const std::string quoted = '"' + std::string(meta.name) + '"';
    for (const auto& name : namespaces) reobserve_pending(name, quoted);
  }
}

/// Those whose text has `mention`. Without a version, so that it is no repetition.
void Bridge::reobserve_pending(const std::string& namespace_, std::string_view mention) {
  const auto it = pending_.find(namespace_);
  if (it == pending_.end()) return;
  std::vector<std::string> uids(it->second.begin(), it->second.end());
  std::sort(uids.begin(), uids.end());
  JobContext context;
  context.defaults = &defaults_;
  for (const auto& uid : uids) {
    const auto text = mirror_.find_by_uid(uid);
    if (text == nullptr || (!mention.empty() && text->find(mention) == std::string::npos)) continue;
    Arena arena;
    auto o = observe_text(types::workload, *text, arena, context);
    if (!o) continue;  // it was complained of when it came
    std::get<WorkloadObserved>(*o).meta.resource_version = 0;
    emit_(*o);
  }
}

void Bridge::note_pending(const WorkloadObserved& w) {
  const bool finished = std::any_of(w.conditions.begin(), w.conditions.end(), [](const ConditionFacts& c) {
    return c.type == ConditionType::finished && c.status == ConditionStatus::true_;
  });
  if (w.has_admission || finished) {
    if (const auto it = pending_.find(w.meta.namespace_); it != pending_.end()) it->second.erase(std::string(w.meta.uid));
  } else {
    pending_[std::string(w.meta.namespace_)].emplace(w.meta.uid);
  }
}

void Bridge::wake(std::string_view uid) {
  const auto it = keys_by_uid_.find(std::string(uid));
  if (it == keys_by_uid_.end()) return;
  const auto keys = it->second;  // advancing may change the list
  for (const auto& key : keys)
    if (const auto w = wants_.find(key); w != wants_.end()) {
      w->second.waiting = false;
      advance(key);
    }
}

// ---- out ------------------------------------------------------------------------------------------------------------------------

void Bridge::want(std::vector<Intent> intents) {
  for (auto& intent : intents) {
    const std::string key = key_of(intent);
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
    w.forgotten = false;
    w.checked = false;
    ++w.version;
    w.waiting = false;
    w.rounds = 0;
    advance(key);
  }
}

void Bridge::forget(std::string_view uid) {
  own_versions_.erase(std::string(uid));  // of another domain now
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
      wants_.erase(w);
    }
  }
}

/// The last write of the domain that had the object has been answered.
void Bridge::see_departed(const Sent& sent, bool written) {
  if (const auto text = written ? mirror_.find(*sent.type, sent.namespace_, sent.name) : nullptr) observe_one(*sent.type, *text);
  if (departing_.empty()) options_.departed();
}

void Bridge::retry() {
  for (auto& [key, refusal] : refusals_)
    if (refusal.retries_to_wait > 0) --refusal.retries_to_wait;
  std::vector<std::string> keys;
  for (auto& [key, w] : wants_)
    if (!w.in_flight && !w.queued) {
      w.waiting = false;
      w.rounds = 0;
      keys.push_back(key);
    }
  for (const auto& key : keys)
    if (wants_.contains(key)) advance(key);
  others_since_report_ = options_.writes_for_each_report;
  send_reports();
}

/// Somebody else wrote the Workload after the version on which the intent was decided: its parts would undo what they wrote, an end for
/// instance. The domain has not seen that yet, and will say what it wants then. Own writes are no such thing: they were decided before.
bool Bridge::overtaken(const WorkloadIntent& intent, std::uint64_t version) const {
  if (intent.seen_version == 0 || version <= intent.seen_version) return false;
  const auto own = own_versions_.find(intent.uid);
  return own == own_versions_.end() || own->second != version;
}

Bridge::Plan Bridge::plan(const Intent& intent) const {
  Plan out;
  const auto take = [&](auto&& result) {
    if (result)
      out.writes = std::move(*result);
    else
      out.error = result.error();
  };
  if (const auto* i = std::get_if<WorkloadIntent>(&intent)) {
    const auto raw = parse(mirror_.find_by_uid(i->uid));
    if (raw && !overtaken(*i, version_of(*raw))) {
      out.writes = plan_workload(*i, *raw);
      out.only_tells = only_tells(*i, *raw);
    } else {
      out.not_yet = true;
    }
  } else if (const auto* c = std::get_if<WorkloadCreateIntent>(&intent)) {
    const auto job = parse(mirror_.find_by_uid(c->job_uid));
    const auto replaced = c->replaces_uid.empty() ? std::optional<Json>(Json::object()) : parse(mirror_.find_by_uid(c->replaces_uid));
    if (!job || !replaced) {
      out.not_yet = true;
    } else if (auto write = plan_create(*c, *job, options_.plans, *replaced); write) {
      out.writes.push_back(std::move(*write));
    } else {
      out.error = write.error();
    }
  } else if (const auto* r = std::get_if<WorkloadReviseIntent>(&intent)) {
    const auto raw = parse(mirror_.find_by_uid(r->uid));
    const auto job = r->job_uid.empty() ? std::optional<Json>(Json::object()) : parse(mirror_.find_by_uid(r->job_uid));
    if (raw && job)
      take(plan_revise(*r, *raw, *job, options_.plans));
    else
      out.not_yet = true;
  } else if (const auto* j = std::get_if<JobIntent>(&intent)) {
    const auto job = parse(mirror_.find_by_uid(j->uid));
    const auto workload = j->workload_uid.empty() ? std::nullopt : parse(mirror_.find_by_uid(j->workload_uid));
    if (!job) {
      out.not_yet = true;
    } else {
      take(plan_job(*j, *job, workload ? *workload : Json::object(), options_.plans.template_mutability));
      if (j->settles != 0 && !out.error && out.writes.empty() && is_meant(*job, j->uid) && !is_deleting(*job))
        out.check = merge_patch_of(*find_resource_type(j->kind, j->group), *job, "", Json::object());
    }
  } else if (const auto* q = std::get_if<QueueStatusIntent>(&intent)) {
    const auto raw =
        parse(q->local ? mirror_.find(types::local_queue, q->namespace_, q->name) : mirror_.find(types::cluster_queue, "", q->name));
    out.only_tells = true;
    if (!raw)
      out.not_yet = true;
    else if (auto write = plan_queue_status(*q, *raw))
      out.writes.push_back(std::move(*write));
  } else if (const auto* a = std::get_if<WorkloadAdoptIntent>(&intent)) {
    const auto raw = parse(mirror_.find(types::workload, a->namespace_, a->name));
    if (!raw)
      out.not_yet = true;
    else if (auto write = plan_adopt(*a, *raw))
      out.writes.push_back(std::move(*write));
  } else if (const auto* d = std::get_if<PodReleaseIntent>(&intent)) {
    const auto raw = parse(mirror_.find_by_uid(d->uid));
    if (!raw)
      out.not_yet = true;
    else if (auto write = plan_release(*d, *raw))
      out.writes.push_back(std::move(*write));
  } else if (const auto* f = std::get_if<FinalizerIntent>(&intent)) {
    const auto* type = held_type(f->kind);
    const auto raw = type == nullptr ? std::nullopt : parse(mirror_.find(*type, "", f->name));
    if (!raw)
      out.not_yet = true;
    else if (auto write = plan_finalizer(*f, *raw))
      out.writes.push_back(std::move(*write));
  }
  return out;
}

void Bridge::advance(const std::string& key) {
  const auto it = wants_.find(key);
  if (it == wants_.end() || it->second.in_flight || it->second.waiting) return;
  Want& w = it->second;
  if (backs_off(key)) {
    w.waiting = true;
    return;
  }
  if (reports_wait() && surely_only_tells(w.intent, w.queued)) {
    if (!std::exchange(w.queued, true)) reports_.push_back(key);
    return;
  }
  Plan p = plan(w.intent);
  if (p.error) {
    const Intent intent = w.intent;
    const std::string message = p.error->message;
    wants_.erase(it);
    refused(intent, 0, message);
    return;
  }
  if (p.not_yet) {
    w.waiting = true;
    return;
  }
  if (p.check && !w.checked) p.writes.push_back(std::move(*p.check));
  if (p.writes.empty()) {
    std::string settled_job;
    std::uint64_t settles = 0;
    if (p.check) {
      const auto& stop = std::get<JobIntent>(w.intent);
      settled_job = stop.uid;
      settles = stop.settles;
    }
    for (const auto& uid : looks_at(w.intent)) {
      const auto keys = keys_by_uid_.find(uid);
      if (keys == keys_by_uid_.end()) continue;
      std::erase(keys->second, key);
      if (keys->second.empty()) keys_by_uid_.erase(keys);
    }
    wants_.erase(it);
    refusals_.erase(key);
    if (settles != 0) reobserve_job(settled_job, settles);  // last: what is told may change what is wanted
    return;
  }
  if (p.only_tells && reports_wait()) {
    if (!std::exchange(w.queued, true)) reports_.push_back(key);
    return;
  }
  const Write& next = p.writes.front();
  if (const auto busy = busy_.find(object_key(*next.type, next.namespace_, next.name)); busy != busy_.end()) {
    if (std::find(busy->second.begin(), busy->second.end(), key) == busy->second.end()) busy->second.push_back(key);
    return;
  }
  if (++w.rounds > rounds_max) {
    options_.notice("write " + key + ": the object does not take what is written; trying again later");
    w.waiting = true;
    return;
  }
  send(key, w, std::move(p));
}

void Bridge::send(const std::string& key, Want& want, Plan plan) {
  want.in_flight = true;
  ++writes_;
  ++(plan.only_tells ? reports_in_flight_ : others_in_flight_);
  if (plan.only_tells) others_since_report_ = 0;
  Write write = std::move(plan.writes.front());
  Sent sent{.version = want.version,
            .type = write.type,
            .verb = write.verb,
            .namespace_ = write.namespace_,
            .name = write.name,
            .seen = mirror_.find(*write.type, write.namespace_, write.name),
            .only_tells = plan.only_tells,
            .checks = plan.check.has_value(),
            .workload_uid = {}};
  const auto* workload = std::get_if<WorkloadIntent>(&want.intent);
  if (workload != nullptr && (write.subresource == "status" || !workload->set_inactive)) sent.workload_uid = workload->uid;
  busy_.try_emplace(object_key(*sent.type, sent.namespace_, sent.name));
  cluster_.submit(std::move(write), [this, alive = alive_, key, sent = std::move(sent)](WriteAnswer answer) {
    if (!*alive) return;
    --(sent.only_tells ? reports_in_flight_ : others_in_flight_);
    if (!sent.only_tells) ++others_since_report_;
    const auto others = std::move(busy_.extract(object_key(*sent.type, sent.namespace_, sent.name)).mapped());
    answered(key, sent, std::move(answer));
    for (const auto& other : others) advance(other);
    send_reports();
  });
}

bool Bridge::reports_wait() const {
  return reports_in_flight_ >= options_.reports_in_flight_max ||
         (others_in_flight_ > 0 && others_since_report_ < options_.writes_for_each_report);
}

/// What waits for its turn is compared anew when it comes: much of it has become true or was overtaken.
void Bridge::send_reports() {
  while (!reports_.empty() && !reports_wait()) {
    const std::string key = std::move(reports_.front());
    reports_.pop_front();
    const auto it = wants_.find(key);
    if (it == wants_.end()) continue;
    it->second.queued = false;
    advance(key);
  }
}

void Bridge::answered(const std::string& key, const Sent& sent, WriteAnswer answer) {
  const auto verb = sent.verb;
  const int status = answer.http_status;
  const bool ok = status >= 200 && status < 300;
  auto it = wants_.find(key);
  const bool forgotten = it == wants_.end() || it->second.forgotten;
  if (ok && verb != Write::Verb::delete_) {
    if (!sent.workload_uid.empty() && !forgotten)
      if (const auto written = parse_object(answer.body)) own_versions_[sent.workload_uid] = version_of(*written);
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
    wants_.erase(it);
    return;
  }
  const bool newest = w.version == sent.version;
  if (ok) {
    refusals_.erase(key);
    w.checked = w.checked || (sent.checks && newest);
    const bool once = verb == Write::Verb::create || verb == Write::Verb::delete_;
    if (once && newest) {
      wants_.erase(it);  // done; what comes of it is observed
      return;
    }
    advance(key);
    return;
  }
  if (status == 404) {
    if (newest)
      wants_.erase(it);
    else
      advance(key);
    return;
  }
  if (status == 409 || status == 0 || status == 429 || status >= 500) {
    if (status == 409) ++conflicts_;
    if (newest && status == 409 && verb == Write::Verb::create) {  // it exists already: the mirror will show whose it is
      wants_.erase(it);
      return;
    }
    w.waiting = true;
    // What overtook the write may have been seen before its answer came; then nothing else would wake the want.
    if (status == 409 && mirror_.find(*sent.type, sent.namespace_, sent.name) != sent.seen) wake_want(key);
    return;
  }
  const Intent intent = w.intent;
  if (!newest) {
    advance(key);
    return;
  }
  wants_.erase(it);
  refused(intent, status, status_message(answer));
}

bool Bridge::backs_off(const std::string& key) const {
  const auto it = refusals_.find(key);
  return it != refusals_.end() && it->second.retries_to_wait > 0;
}

std::uint32_t Bridge::retries_until_next() const {
  std::uint32_t out = 0;
  for (const auto& [key, refusal] : refusals_)
    if (wants_.contains(key) && refusal.retries_to_wait > 0)
      out = out == 0 ? refusal.retries_to_wait : std::min(out, refusal.retries_to_wait);
  return out;
}

void Bridge::refused(const Intent& intent, int status, std::string_view message) {
  constexpr std::uint32_t longest_wait = 64;
  Refusal& refusal = refusals_[key_of(intent)];
  refusal.times = std::min(refusal.times + 1, 7U);
  refusal.retries_to_wait = std::min(1U << (refusal.times - 1), longest_wait);
  WriteRefused r;
  r.http_status = status;
  r.message = message;
  const auto name = [&](ObjectKind kind, const std::string& uid, const std::string& namespace_, const std::string& object,
                        std::uint64_t decision) {
    r.kind = kind;
    r.uid = uid;
    r.namespace_ = namespace_;
    r.name = object;
    r.decision_sequence = decision;
  };
  if (const auto* i = std::get_if<WorkloadIntent>(&intent))
    name(ObjectKind::workload, i->uid, i->namespace_, i->name, i->decision_sequence);
  else if (const auto* c = std::get_if<WorkloadCreateIntent>(&intent))
    name(ObjectKind::job, c->job_uid, c->namespace_, c->job_name, c->decision_sequence);
  else if (const auto* v = std::get_if<WorkloadReviseIntent>(&intent))
    name(ObjectKind::workload, v->uid, v->namespace_, v->name, v->decision_sequence);
  else if (const auto* j = std::get_if<JobIntent>(&intent))
    name(ObjectKind::job, j->uid, j->namespace_, j->name, j->decision_sequence);
  else if (const auto* d = std::get_if<PodReleaseIntent>(&intent))
    name(ObjectKind::pod, d->uid, d->namespace_, d->name, d->decision_sequence);
  else {  // no decision stands behind it, so it is just tried again
    wants_.insert_or_assign(key_of(intent), Want{.intent = intent, .waiting = true});
    return options_.notice("status of " + key_of(intent) + " was refused: " + std::string(message));
  }
  options_.notice("write to " + std::string(r.namespace_) + "/" + std::string(r.name) + " was refused: " + std::string(message));
  emit_(r);
}

}  // namespace hindsight::connectors
