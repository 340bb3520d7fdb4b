#include "whatif/responses.hpp"

#include <algorithm>
#include <variant>

#include "events/record.hpp"
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

/// So many runs that came to no end are told apart; of more the oldest count as one.
constexpr std::size_t in_vain_max = 16;

}  // namespace

Responses::Form Responses::form_of(const JobObserved& o) {
  const std::uint64_t queue = queue_hash(o.meta.namespace_, o.queue_name);
  return {form_hash(queue, o.pod_sets), queue};
}

Responses::Form Responses::form_of(const WorkloadObserved& o) {
  const std::uint64_t queue = queue_hash(o.meta.namespace_, o.queue_name);
  return {form_hash(queue, o.pod_sets), queue};
}

void Responses::see(const RecordView& record) {
  const Time now = record.envelope.time;
  last_ = std::max(last_, now);
  if (const auto* o = std::get_if<Observation>(&record.body)) {
    if (const auto* job = std::get_if<JobObserved>(o)) see(*job, record);
    if (const auto* workload = std::get_if<WorkloadObserved>(o)) see(*workload, now);
    // One that departed is in another domain of this log, where its life goes on.
    if (const auto* deleted = std::get_if<ObjectDeleted>(o); deleted != nullptr && deleted->departed_to.empty()) gone(deleted->uid, now);
  } else if (const auto* d = std::get_if<Decisions>(&record.body)) {
    for (const Event& e : d->events) see(e, now);
  }
}

void Responses::gone(std::string_view uid, Time now) {
  const auto it = lives_.find(uid);
  if (it == lives_.end()) return;
  stopped(it->second, now);
  if (!remembers_gone_) return forget(uid);
  gone_.emplace_back(uid);
  if (gone_.size() <= gone_max) return;
  forget(gone_.front());
  gone_.pop_front();
}

void Responses::forget(std::string_view uid) {
  const auto it = lives_.find(uid);
  if (it == lives_.end()) return;
  if (const auto named = uids_.find(it->second.name); named != uids_.end() && named->second == uid) uids_.erase(named);
  for (const auto& child : it->second.children) children_bytes_ -= child.record.size();
  lives_.erase(it);
}

void Responses::stopped(Life& life, Time now) {
  if (!life.running_since.is_set()) return;
  life.in_vain.push_back({now, now - life.running_since});
  life.running_since = Time::never();
  if (life.in_vain.size() <= in_vain_max) return;
  // The first stands for both: for as long as the longer one, or both where what was done is not lost.
  const Run& first = life.in_vain[0];
  Run& second = life.in_vain[1];
  second.length =
      progress_ == Progress::kept ? Duration{first.length.micros + second.length.micros} : std::max(first.length, second.length);
  life.in_vain.erase(life.in_vain.begin());
}

void Responses::completed(Life& life, Time now) {
  life.ended = true;
  if (!life.running_since.is_set()) return;
  Duration run = now - life.running_since;
  if (progress_ == Progress::kept)
    for (const Run& before : life.in_vain) run = Duration{run.micros + before.length.micros};
  life.complete = run;
  note_run(life.form.form, run);
  note_run(life.form.queue, run);
  complete_.add(run);
  life.running_since = Time::never();
}

void Responses::note_run(std::uint64_t alike, Duration run) {
  const auto [it, first] = complete_of_.try_emplace(alike, runs_of_a_form_max);
  if (first) forms_.push_back(alike);
  runs_ -= it->second.size();
  it->second.add(run);
  runs_ += it->second.size();
  while (forms_.size() > forms_max || runs_ > runs_max) {
    const auto oldest = complete_of_.find(forms_.front());
    runs_ -= oldest->second.size();
    complete_of_.erase(oldest);
    forms_.pop_front();
  }
}

void Responses::see(const JobObserved& o, const RecordView& record) {
  const Time now = record.envelope.time;
  if (!o.owner_uid.empty()) note_child(o, record);
  Life& life = lives_[std::string(o.meta.uid)];
  if (o.suspended || life.form.form == 0)
    life.form = form_of(o);  // a start may change counts
  else
    life.form.queue = queue_hash(o.meta.namespace_, o.queue_name);
  if (o.finished) {
    if (life.ended) return;
    life.end = {o.succeeded, std::string(o.finish_message)};
    completed(life, now);
    return;
  }
  if (o.suspended) {
    stopped(life, now);
    if (!o.active && life.evicted_at.is_set()) {
      stops_.add(now - life.evicted_at);
      life.evicted_at = Time::never();
    }
    return;
  }
  if (!life.running_since.is_set()) {
    life.running_since = now;
    if (life.admitted_at.is_set()) starts_.add(now - life.admitted_at);
    life.admitted_at = Time::never();
  }
  if (o.pods_ready && !life.ready) {
    life.ready = now - life.running_since;
    ready_.add(*life.ready);
  }
}

/// Of a job that came when the one that owns it was running, it is remembered how soon.
void Responses::note_child(const JobObserved& o, const RecordView& record) {
  if (lives_.contains(o.meta.uid)) return;
  const auto owner = lives_.find(o.owner_uid);
  if (owner == lives_.end() || !owner->second.running_since.is_set()) return;
  if (owner->second.children.size() >= children_of_a_job_max || children_bytes_ >= children_bytes_max) return;
  auto bytes = events::encode(record);
  children_bytes_ += bytes.size();
  owner->second.children.push_back({record.envelope.time - owner->second.running_since, std::string(o.meta.uid), std::move(bytes)});
}

void Responses::see(const WorkloadObserved& o, Time now) {
  Life& life = lives_[std::string(o.meta.uid)];
  life.name = std::string(o.meta.namespace_) + "/" + std::string(o.meta.name);
  uids_[life.name] = std::string(o.meta.uid);
  life.job = o.owner_kind == "Workload" ? std::string() : std::string(o.owner_uid);
  life.form = form_of(o);
  for (const auto& c : o.checks) {
    if (c.state == CheckState::pending || !life.reserved_at.is_set()) continue;
    auto key = std::pair(std::string(c.name), life.attempts);
    if (life.answers.contains(key)) continue;
    const Answer given{now - life.reserved_at, admission::own_check(c)};
    note_answer(key.first, given);
    life.answers.emplace(std::move(key), given);
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
    ready_.add(*life.ready);
  }
  if (!o.has_admission && life.evicted_at.is_set()) {
    stops_.add(now - life.evicted_at);
    life.evicted_at = Time::never();
  }
}

void Responses::note_answer(const std::string& check, const Answer& given) {
  if (!answers_.contains(check) && answers_.size() >= checks_max) return;
  Answers& answers = answers_[check];
  auto& list = answers.given;
  if (list.size() >= answers_of_a_check_max) list.erase(std::ranges::min_element(list, {}, [](const auto& a) { return a.second; }));
  const auto at = std::ranges::upper_bound(list, given.after, {}, [](const auto& a) { return a.first.after; });
  list.insert(at, {given, answers.next++});
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

Duration Responses::seen_of(std::string_view uid, const Life& life) const {
  Duration seen = running_for(uid);
  for (const Run& run : life.in_vain)
    seen = progress_ == Progress::kept ? Duration{seen.micros + run.length.micros} : std::max(seen, run.length);
  return seen;
}

std::optional<Known> Responses::run_time(std::string_view uid) const {
  Duration seen;
  if (const auto it = lives_.find(uid); it != lives_.end()) {
    if (it->second.complete) return Known{*it->second.complete, true};
    seen = seen_of(uid, it->second);
  }
  StateHash h;
  h.add(uid);
  return draw_run_time(uid, seen, h.value());
}

std::optional<Known> Responses::draw_run_time(std::string_view like, Duration seen, std::uint64_t number) const {
  const auto it = lives_.find(like);
  return draw_run_time(it == lives_.end() ? Form{} : it->second.form, seen, number);
}

std::optional<Known> Responses::draw_run_time(const Form& like, Duration seen, std::uint64_t number) const {
  for (const std::uint64_t alike : {like.form, like.queue})
    if (const auto runs = complete_of_.find(alike); runs != complete_of_.end())
      if (const auto run = runs->second.draw(seen, number)) return Known{*run, false};
  if (const auto run = complete_.draw(seen, number)) return Known{*run, false};
  return std::nullopt;
}

Duration Responses::running_for(std::string_view uid) const {
  const auto it = lives_.find(uid);
  return it == lives_.end() || !it->second.running_since.is_set() ? Duration{} : last_ - it->second.running_since;
}

Duration Responses::done_before(std::string_view uid, Time then) const {
  Duration done;
  if (const auto it = lives_.find(uid); it != lives_.end())
    for (const Run& run : it->second.in_vain)
      if (run.ended <= then) done = Duration{done.micros + run.length.micros};
  return done;
}

End Responses::end_of(std::string_view uid) const {
  const auto it = lives_.find(uid);
  return it == lives_.end() || !it->second.ended ? End{} : it->second.end;
}

std::optional<Duration> Responses::until_ready(std::string_view uid) const {
  if (const auto it = lives_.find(uid); it != lives_.end() && it->second.ready) return it->second.ready;
  if (ready_.empty()) return std::nullopt;
  return ready_.median({});
}

std::optional<Responses::Answer> Responses::answer(std::string_view workload_uid, std::string_view check, std::size_t attempt) const {
  if (const auto life = lives_.find(workload_uid); life != lives_.end())
    if (const auto own = life->second.answers.find({std::string(check), attempt}); own != life->second.answers.end()) return own->second;
  const auto given = answers_.find(check);
  if (given == answers_.end()) return std::nullopt;
  const auto& list = given->second.given;
  const auto is_ready = [](const auto& a) { return a.first.status.state == CheckState::ready; };
  const auto ready = std::ranges::count_if(list, is_ready);
  if (ready == 0) return std::ranges::min_element(list, {}, [](const auto& a) { return a.second; })->first;
  auto middle = ready / 2;
  for (const auto& a : list)
    if (is_ready(a) && middle-- == 0) return a.first;
  return std::nullopt;
}

const std::vector<Responses::Child>& Responses::children_of(std::string_view uid) const {
  static const std::vector<Child> none;
  const auto it = lives_.find(uid);
  return it == lives_.end() ? none : it->second.children;
}

std::optional<std::string> Responses::uid_of(const std::string& namespaced_name) const {
  const auto it = uids_.find(namespaced_name);
  return it == uids_.end() ? std::nullopt : std::optional(it->second);
}

}  // namespace hindsight::whatif
