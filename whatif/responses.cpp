#include "whatif/responses.hpp"

#include <algorithm>
#include <variant>

#include "vocabulary/state_hash.hpp"

namespace hindsight::whatif {
namespace {

std::uint64_t queue_hash(std::string_view namespace_, std::string_view queue) {
  StateHash h;
  h.add(namespace_);
  h.add(queue);
  return h.value();
}

std::uint64_t form_hash(std::uint64_t queue, List<PodSetFacts> pod_sets) {
  StateHash h;
  h.add(queue);
  for (const auto& p : pod_sets) {
    h.add(p.name);
    h.add(p.count);
    h.add(p.core_hash);
    for (const auto& r : p.requests) {
      h.add(r.resource);
      h.add(r.amount);
    }
  }
  return h.value();
}

const ConditionFacts* find(const WorkloadObserved& o, ConditionType type) {
  const auto it = std::ranges::find_if(o.conditions, [&](const ConditionFacts& c) { return c.type == type; });
  return it == o.conditions.end() ? nullptr : &*it;
}

bool is_true(const WorkloadObserved& o, ConditionType type) {
  const auto* c = find(o, type);
  return c != nullptr && c->status == ConditionStatus::true_;
}

/// One of those that are longer than `seen`, always the same for one number.
std::optional<Duration> draw(std::vector<Duration> from, Duration seen, std::uint64_t number) {
  std::erase_if(from, [&](Duration d) { return d <= seen; });
  if (from.empty()) return std::nullopt;
  std::ranges::sort(from);
  return from[static_cast<std::size_t>(number % from.size())];
}

}  // namespace

void Responses::see(const RecordView& record) {
  const Time now = record.envelope.time;
  last_ = std::max(last_, now);
  if (const auto* o = std::get_if<Observation>(&record.body)) {
    if (const auto* job = std::get_if<JobObserved>(o)) see(*job, now);
    if (const auto* workload = std::get_if<WorkloadObserved>(o)) see(*workload, now);
    if (const auto* gone = std::get_if<ObjectDeleted>(o))
      if (const auto it = lives_.find(gone->uid); it != lives_.end()) stopped(it->second, now);
  } else if (const auto* d = std::get_if<Decisions>(&record.body)) {
    for (const Event& e : d->events) see(e, now);
  }
}

void Responses::stopped(Life& life, Time now) {
  if (life.running_since.is_set()) life.longest = std::max(life.longest, now - life.running_since);
  life.running_since = Time::never();
}

void Responses::completed(Life& life, Time now) {
  life.ended = true;
  if (!life.running_since.is_set()) return;
  const Duration run = now - life.running_since;
  life.complete = run;
  complete_of_[life.form].push_back(run);
  complete_of_[life.queue].push_back(run);
  complete_.push_back(run);
  life.running_since = Time::never();
}

void Responses::see(const JobObserved& o, Time now) {
  Life& life = lives_[std::string(o.meta.uid)];
  life.queue = queue_hash(o.meta.namespace_, o.queue_name);
  if (o.suspended || life.form == 0) life.form = form_hash(life.queue, o.pod_sets);  // a start may change counts
  if (o.finished) {
    if (life.ended) return;
    life.end = {o.succeeded, std::string(o.finish_message)};
    completed(life, now);
    return;
  }
  if (o.suspended) {
    stopped(life, now);
    if (!o.active && life.evicted_at.is_set()) {
      stops_.push_back(now - life.evicted_at);
      life.evicted_at = Time::never();
    }
    return;
  }
  if (!life.running_since.is_set()) {
    life.running_since = now;
    if (life.admitted_at.is_set()) starts_.push_back(now - life.admitted_at);
    life.admitted_at = Time::never();
  }
  if (o.pods_ready && !life.ready) {
    life.ready = now - life.running_since;
    ready_.push_back(*life.ready);
  }
}

void Responses::see(const WorkloadObserved& o, Time now) {
  Life& life = lives_[std::string(o.meta.uid)];
  uids_[std::string(o.meta.namespace_) + "/" + std::string(o.meta.name)] = std::string(o.meta.uid);
  life.job = o.owner_kind == "Workload" ? std::string() : std::string(o.owner_uid);
  life.queue = queue_hash(o.meta.namespace_, o.queue_name);
  life.form = form_hash(life.queue, o.pod_sets);
  for (const auto& c : o.checks) {
    if (c.state == CheckState::pending || !life.reserved_at.is_set()) continue;
    const auto key = std::pair(std::string(c.name), life.attempts);
    if (life.answers.contains(key)) continue;
    const Answer given{now - life.reserved_at, admission::own_check(c)};
    life.answers.emplace(key, given);
    answers_[key.first].push_back(given);
  }
  if (!life.job.empty()) return;
  // Nobody but its conditions tells how a Workload without a job fares.
  if (is_true(o, ConditionType::finished)) {
    if (life.ended) return;
    const auto* c = find(o, ConditionType::finished);
    life.end = {c->reason != "Failed", std::string(c->message)};
    completed(life, now);
    return;
  }
  if (is_true(o, ConditionType::pods_ready) && life.running_since.is_set() && !life.ready) {
    life.ready = now - life.running_since;
    ready_.push_back(*life.ready);
  }
  if (!o.has_admission && life.evicted_at.is_set()) {
    stops_.push_back(now - life.evicted_at);
    life.evicted_at = Time::never();
  }
}

Responses::Life* Responses::life_of_job(std::string_view workload_uid) {
  const auto it = lives_.find(workload_uid);
  if (it == lives_.end()) return nullptr;
  if (it->second.job.empty()) return &it->second;
  const auto job = lives_.find(it->second.job);
  return job == lives_.end() ? nullptr : &job->second;
}

void Responses::see(const Event& event, Time now) {
  const auto admitted = [&](const WorkloadRef& w) {
    Life* life = life_of_job(w.uid);
    if (life == nullptr) return;
    life->admitted_at = now;
    const auto own = lives_.find(w.uid);
    if (own != lives_.end() && own->second.job.empty() && !life->running_since.is_set()) life->running_since = now;
  };
  const auto evicted = [&](const WorkloadRef& w) {
    Life* life = life_of_job(w.uid);
    if (life == nullptr) return;
    life->evicted_at = now;
    life->admitted_at = Time::never();
    const auto own = lives_.find(w.uid);
    if (own != lives_.end() && own->second.job.empty()) stopped(*life, now);
  };
  if (const auto* q = std::get_if<QuotaReserved>(&event)) {
    if (const auto it = lives_.find(q->workload.uid); it != lives_.end()) {
      if (it->second.reserved_at.is_set()) ++it->second.attempts;
      it->second.reserved_at = now;
    }
    if (q->admitted) admitted(q->workload);
  } else if (const auto* a = std::get_if<WorkloadAdmitted>(&event)) {
    admitted(a->workload);
  } else if (const auto* e = std::get_if<WorkloadEvicted>(&event)) {
    evicted(e->workload);
  } else if (const auto* p = std::get_if<WorkloadPreempted>(&event)) {
    evicted(p->workload);
  }
}

Duration Responses::median(const std::vector<Duration>& of, Duration otherwise) {
  if (of.empty()) return otherwise;
  auto sorted = of;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

std::optional<Known> Responses::run_time(std::string_view uid) const {
  Duration seen;
  if (const auto it = lives_.find(uid); it != lives_.end()) {
    if (it->second.complete) return Known{*it->second.complete, true};
    seen = std::max(it->second.longest, running_for(uid));
  }
  StateHash h;
  h.add(uid);
  return draw_run_time(uid, seen, h.value());
}

std::optional<Known> Responses::draw_run_time(std::string_view like, Duration seen, std::uint64_t number) const {
  if (const auto it = lives_.find(like); it != lives_.end())
    for (const std::uint64_t alike : {it->second.form, it->second.queue})
      if (const auto runs = complete_of_.find(alike); runs != complete_of_.end())
        if (const auto run = draw(runs->second, seen, number)) return Known{*run, false};
  if (const auto run = draw(complete_, seen, number)) return Known{*run, false};
  return std::nullopt;
}

Duration Responses::running_for(std::string_view uid) const {
  const auto it = lives_.find(uid);
  return it == lives_.end() || !it->second.running_since.is_set() ? Duration{} : last_ - it->second.running_since;
}

End Responses::end_of(std::string_view uid) const {
  const auto it = lives_.find(uid);
  return it == lives_.end() || !it->second.ended ? End{} : it->second.end;
}

std::optional<Duration> Responses::until_ready(std::string_view uid) const {
  if (const auto it = lives_.find(uid); it != lives_.end() && it->second.ready) return it->second.ready;
  if (ready_.empty()) return std::nullopt;
  return median(ready_, {});
}

std::optional<Responses::Answer> Responses::answer(std::string_view workload_uid, std::string_view check, std::size_t attempt) const {
  if (const auto life = lives_.find(workload_uid); life != lives_.end())
    if (const auto own = life->second.answers.find({std::string(check), attempt}); own != life->second.answers.end()) return own->second;
  const auto given = answers_.find(check);
  if (given == answers_.end()) return std::nullopt;
  std::vector<const Answer*> ready;
  for (const Answer& a : given->second)
    if (a.status.state == CheckState::ready) ready.push_back(&a);
  if (ready.empty()) return given->second.front();
  std::ranges::sort(ready, {}, [](const Answer* a) { return a->after; });
  return *ready[ready.size() / 2];
}

std::optional<std::string> Responses::uid_of(const std::string& namespaced_name) const {
  const auto it = uids_.find(namespaced_name);
  return it == uids_.end() ? std::nullopt : std::optional(it->second);
}

}  // namespace hindsight::whatif
