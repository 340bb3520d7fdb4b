#include "tests/explorer/users.hpp"

#include <algorithm>

namespace hindsight::explorer {
namespace {

void set(WorkloadStatus& s, ConditionType type, ConditionStatus status, const std::string& reason, const std::string& message, Time now) {
  const Time at = Time::from_seconds(now.floor_seconds());
  for (auto& c : s.conditions)
    if (c.type == type) {
      c = {type, status, reason, message, c.status == status ? c.last_transition : at};
      return;
    }
  s.conditions.push_back({type, status, reason, message, at});
}

}  // namespace

// ---- setting up -----------------------------------------------------------------------------------------------------------------

QuotaHolder Users::random_quota(const std::string& name) {
  QuotaHolder q;
  q.name = name;
  q.flavors = flavor_names_;
  if (q.flavors.size() > 1 && random_.chance(25)) q.flavors.pop_back();
  q.resources = resource_names_;
  for (const auto& f : q.flavors)
    for (const auto& r : q.resources) {
      Quota& quota = q.quota[{f, r}];
      quota.nominal = random_.between(0, 8) * 1000;
      if (random_.chance(20)) quota.borrowing_limit = random_.between(0, 6) * 1000;
      if (random_.chance(20)) quota.lending_limit = random_.between(0, 6) * 1000;
    }
  const PreemptionPolicy policies[] = {PreemptionPolicy::never, PreemptionPolicy::lower_priority,
                                       PreemptionPolicy::lower_or_newer_equal_priority, PreemptionPolicy::any};
  q.within = policies[random_.below(3)];
  q.reclaim = policies[random_.below(4)];
  if (random_.chance(30)) q.borrow_within = PreemptionPolicy::lower_priority;
  if (random_.chance(30)) q.strategy = QueueingStrategy::strict_fifo;
  if (random_.chance(30)) q.when_can_borrow = FungibilityPolicy::try_next_flavor;
  if (random_.chance(30)) q.when_can_preempt = FungibilityPolicy::may_stop_search;
  q.weight_nano = random_.between(0, 3) * 500'000'000;
  if (random_.chance(60)) q.mode = AdmissionMode::usage_based;
  return q;
}

void Users::set_up() {
  flavor_names_ = {"on-demand"};
  if (random_.chance(60)) flavor_names_.emplace_back("spot");
  resource_names_ = {"cpu"};
  if (random_.chance(40)) resource_names_.emplace_back("memory");
  cohort_names_ = {"all", "left", "right"};
  for (const auto& f : flavor_names_) {
    server_.flavors.push_back(f);
    server_.publish_flavor(f);
  }
  server_.publish_namespace("default");
  server_.priority_classes = {{"high", 100}, {"low", -5}};
  for (const auto& [name, value] : server_.priority_classes) server_.publish_priority_class(name);
  server_.checks["budget"] = true;
  server_.publish_check("budget");
  if (random_.chance(60))
    for (const char* name : {"left", "right"}) {
      QuotaHolder c;
      c.name = name;
      if (random_.chance(30)) c = random_quota(name);
      c.cohort = random_.chance(70) ? "all" : "";
      server_.cohorts[name] = c;
      server_.publish_cohort(name);
    }
  const auto queues = 1 + random_.below(4);
  for (std::size_t i = 0; i < queues; ++i) {
    const std::string name = "queue-" + std::to_string(i);
    queue_names_.push_back(name);
    QuotaHolder q = random_quota(name);
    if (random_.chance(80)) q.cohort = random_.pick(cohort_names_);
    if (random_.chance(15)) q.checks = {"budget"};
    server_.queues[name] = q;
    server_.publish_queue(name);
    const std::string local = "local-" + std::to_string(i);
    server_.local_queues[local] = {"default", local, name, StopPolicy::none};
    server_.publish_local_queue(local);
  }
}

std::vector<PodSet> Users::random_pod_sets() {
  std::vector<PodSet> out;
  const std::size_t n = random_.chance(20) ? 2 : 1;
  for (std::size_t i = 0; i < n; ++i) {
    PodSet p;
    p.name = i == 0 ? "main" : "workers";
    p.count = static_cast<std::int32_t>(random_.between(1, 4));
    if (random_.chance(15) && p.count > 1) p.min_count = 1;
    for (const auto& r : resource_names_) p.requests.emplace_back(r, random_.between(1, 3) * 500);
    out.push_back(std::move(p));
  }
  return out;
}

// ---- jobs and Workloads -------------------------------------------------------------------------------------------------------------

void Users::create_job() {
  Job j;
  j.name = "j" + std::to_string(++made_);
  j.uid = server_.new_uid(j.name);
  j.created = Time::from_seconds(server_.now.floor_seconds());
  j.namespace_ = "default";
  j.queue = "local-" + std::to_string(random_.below(queue_names_.size()));
  if (random_.chance(40)) j.priority_class = random_.chance(50) ? "high" : "low";
  j.templates = random_pod_sets();
  j.elastic = random_.chance(resize_often_ ? 90 : 35);
  if (j.elastic)
    for (auto& t : j.templates) t.min_count.reset();
  if (random_.chance(10)) j.max_exec_seconds = static_cast<std::int32_t>(random_.between(5, 60));
  auto& kept = server_.jobs[j.uid] = j;
  server_.publish(kept);
}

void Users::create_workload() {
  Workload w;
  w.name = "w" + std::to_string(++made_);
  w.uid = server_.new_uid(w.name);
  w.created = Time::from_seconds(server_.now.floor_seconds());
  w.namespace_ = "default";
  w.queue = "local-" + std::to_string(random_.below(queue_names_.size()));
  w.pod_sets = random_pod_sets();
  w.finalizer = false;
  w.priority = static_cast<std::int32_t>(random_.between(-1, 1) * 10);
  if (random_.chance(30)) {
    w.priority_class_kind = PriorityClassKind::workload_priority_class;
    w.priority_class = random_.chance(50) ? "high" : "low";
    w.priority = server_.priority_classes.at(w.priority_class);
  }
  auto& kept = server_.workloads[w.uid] = w;
  server_.publish(kept);
}

void Users::change_job() {
  Job* j = any(server_.jobs);
  if (j == nullptr) return;
  switch (random_.below(9)) {
    case 0:
      server_.remove_job(std::string(j->uid));
      return;
    case 1:
      j->queue = "local-" + std::to_string(random_.below(queue_names_.size() + 1));  // the last one does not exist
      break;
    case 2:
      j->priority_class = random_.chance(50) ? "high" : "low";
      break;
    case 3:
      if (!j->suspended || j->finished) return;
      j->templates = random_pod_sets();
      if (j->elastic)
        for (auto& t : j->templates) t.min_count.reset();
      break;
    case 6:
    case 7:
    case 8:
      if (!resize(*j)) return;
      break;
    case 4:
      if (j->suspended || j->finished) return;
      if (j->elastic)
        j->remaining = std::max(0, (j->remaining < 0 ? j->running_counts.front() : j->remaining) - 1);
      else
        j->reclaimable = std::min(j->reclaimable + 1, j->running_counts.front());
      break;
    default:
      if (j->suspended || j->finished) return;
      j->pods_ready = false;
      break;
  }
  ++j->generation;
  server_.publish(*j);
}

/// The size of an elastic job, in one or all of its pod sets, up or down.
bool Users::resize(Job& j) {
  if (!j.elastic || j.finished) return false;
  for (std::size_t i = 0; i < j.templates.size(); ++i) {
    if (i > 0 && random_.chance(50)) continue;
    j.templates[i].count = static_cast<std::int32_t>(random_.between(0, 6));
    if (!j.running_counts.empty()) j.running_counts[i] = j.templates[i].count;
  }
  j.pods_ready = false;
  return true;
}

void Users::change_workload() {
  Workload* w = any(server_.workloads);
  if (w == nullptr) return;
  switch (random_.below(6)) {
    case 0:
      server_.remove_workload(std::string(w->uid));
      return;
    case 1:
      w->active = !w->active;
      ++w->generation;
      break;
    case 2:
      w->status = WorkloadStatus{};  // somebody wipes the status
      break;
    case 3:
      if (w->job_uid.empty()) {
        w->priority = static_cast<std::int32_t>(random_.between(-2, 2) * 10);
        w->priority_class_kind = PriorityClassKind::none;
        w->priority_class.clear();
        ++w->generation;
      }
      break;
    case 4:
      if (w->job_uid.empty() && w->status.cluster_queue.empty()) {
        w->queue = "local-" + std::to_string(random_.below(queue_names_.size() + 1));
        ++w->generation;
      }
      break;
    default:
      if (w->job_uid.empty()) finish(*w);
      return;
  }
  server_.publish(*w);
}

void Users::finish(Workload& w) {
  if (w.status.is_true(ConditionType::finished)) return;
  set(w.status, ConditionType::finished, ConditionStatus::true_, "Succeeded", "done", server_.now);
  server_.publish(w);
}

void Users::judge_checks() {
  for (auto& [uid, w] : server_.workloads) {
    if (w.status.cluster_queue.empty()) continue;
    for (auto& c : w.status.checks) {
      if (c.state != CheckState::pending) continue;
      const auto verdict = random_.below(10);
      c.state = verdict < 7 ? CheckState::ready : verdict < 9 ? CheckState::retry : CheckState::rejected;
      c.last_transition = Time::from_seconds(server_.now.floor_seconds());
      c.message = "judged";
      c.requeue_after_seconds.reset();
      if (c.state == CheckState::retry && random_.chance(50)) c.requeue_after_seconds = static_cast<std::int32_t>(random_.between(1, 20));
      server_.publish(w);
      return;
    }
  }
}

// ---- administrators -------------------------------------------------------------------------------------------------------------

void Users::change_quota() {
  QuotaHolder* q = random_.chance(25) ? any(server_.cohorts) : any(server_.queues);
  if (q == nullptr || q->flavors.empty()) return;
  Quota& quota = q->quota[{random_.pick(q->flavors), random_.pick(q->resources)}];
  quota.nominal = random_.between(0, 10) * 1000;
  if (server_.queues.contains(q->name))
    server_.publish_queue(q->name);
  else
    server_.publish_cohort(q->name);
}

void Users::change_queue() {
  if (random_.chance(20)) {
    const std::string name = random_.pick(queue_names_);
    if (server_.queues.contains(name)) {
      server_.remove_queue(name);
    } else {
      server_.queues[name] = random_quota(name);
      server_.publish_queue(name);
    }
    return;
  }
  QuotaHolder* q = any(server_.queues);
  if (q == nullptr) return;
  switch (random_.below(5)) {
    case 0: {
      const StopPolicy policies[] = {StopPolicy::none, StopPolicy::none, StopPolicy::hold, StopPolicy::hold_and_drain};
      q->stop = policies[random_.below(4)];
      break;
    }
    case 1:
      q->cohort = random_.chance(25) ? "" : random_.pick(cohort_names_);
      break;
    case 2:
      q->checks = q->checks.empty() ? std::vector<std::string>{"budget"} : std::vector<std::string>{};
      break;
    case 3: {
      const QuotaHolder other = random_quota(q->name);
      q->within = other.within;
      q->reclaim = other.reclaim;
      q->borrow_within = other.borrow_within;
      q->strategy = other.strategy;
      break;
    }
    default:
      q->weight_nano = random_.between(0, 3) * 500'000'000;
      break;
  }
  server_.publish_queue(q->name);
}

void Users::change_cohort() {
  const std::string& name = random_.pick(cohort_names_);
  if (server_.cohorts.contains(name) && random_.chance(30)) {
    server_.remove_cohort(name);
    return;
  }
  QuotaHolder c = random_.chance(50) ? random_quota(name) : QuotaHolder{};
  c.name = name;
  c.cohort = random_.chance(50) ? "" : random_.pick(cohort_names_);  // now and then a circle
  server_.cohorts[name] = c;
  server_.publish_cohort(name);
}

void Users::change_local_queue() {
  const auto i = std::to_string(random_.below(queue_names_.size()));
  const std::string name = "local-" + i;
  const auto it = server_.local_queues.find(name);
  if (it == server_.local_queues.end()) {
    server_.local_queues[name] = {"default", name, "queue-" + i, StopPolicy::none};
  } else if (random_.chance(20)) {
    server_.remove_local_queue(name);
    return;
  } else if (random_.chance(20)) {
    it->second.weight_nano = random_.between(0, 3) * 500'000'000;
  } else if (random_.chance(20)) {
    it->second.cluster_queue = random_.pick(queue_names_);
  } else {
    const StopPolicy policies[] = {StopPolicy::none, StopPolicy::none, StopPolicy::hold, StopPolicy::hold_and_drain};
    it->second.stop = policies[random_.below(4)];
  }
  server_.publish_local_queue(name);
}

void Users::change_classes_and_checks() {
  if (random_.chance(50)) {
    const char* name = random_.chance(50) ? "high" : "low";
    server_.priority_classes[name] = static_cast<std::int32_t>(random_.between(-10, 110));
    server_.publish_priority_class(name);
  } else if (random_.chance(50)) {
    server_.checks["budget"] = !server_.checks["budget"];
    server_.publish_check("budget");
  } else {
    const std::string& name = random_.pick(flavor_names_);
    if (std::find(server_.flavors.begin(), server_.flavors.end(), name) != server_.flavors.end()) {
      server_.remove_flavor(name);
    } else {
      server_.flavors.push_back(name);
      server_.publish_flavor(name);
    }
  }
}

/// So that more than one of its slices may be under way.
void Users::resize_one_that_runs() {
  std::vector<Job*> running;
  for (auto& [uid, j] : server_.jobs)
    if (j.elastic && !j.suspended && !j.finished) running.push_back(&j);
  if (running.empty()) return;
  Job& j = *random_.pick(running);
  if (!resize(j)) return;
  ++j.generation;
  server_.publish(j);
}

void Users::act() {
  if (resize_often_ && random_.chance(30)) return resize_one_that_runs();
  const auto dice = random_.below(100);
  if (dice < 30)
    create_job();
  else if (dice < 42)
    create_workload();
  else if (dice < 54)
    change_job();
  else if (dice < 64)
    change_workload();
  else if (dice < 74)
    change_quota();
  else if (dice < 83)
    change_queue();
  else if (dice < 87)
    change_cohort();
  else if (dice < 92)
    change_local_queue();
  else if (dice < 95)
    change_classes_and_checks();
  else
    judge_checks();
}

Text Users::pick_settings() {
  const char* settings[] = {"default", "fair", "impatient", "plain", "sharing"};
  return settings[random_.below(5)];
}

/// A Workload without a job: its maker ends the eviction.
bool Users::end_eviction(Workload& w) {
  if (!w.status.is_true(ConditionType::evicted) || w.status.cluster_queue.empty()) return false;
  w.status.cluster_queue.clear();
  w.status.assignments.clear();
  set(w.status, ConditionType::quota_reserved, ConditionStatus::false_, "Pending", "evicted", server_.now);
  set(w.status, ConditionType::admitted, ConditionStatus::false_, "NoReservation", "evicted", server_.now);
  server_.publish(w);
  return true;
}

bool Users::let_run() {
  for (auto& [uid, j] : server_.jobs) {
    if (j.finished) continue;
    if (j.suspended && j.active) {
      j.active = false;  // the pods have gone
      server_.publish(j);
      return true;
    }
    if (!j.suspended && random_.chance(60)) {
      if (!j.pods_ready) {
        j.pods_ready = true;
      } else {
        j.finished = true;
        j.active = false;
        j.succeeded = random_.chance(80);
      }
      server_.publish(j);
      return true;
    }
  }
  for (auto& [uid, w] : server_.workloads) {
    if (!w.job_uid.empty() || !w.option_of.empty() || w.status.is_true(ConditionType::finished)) continue;
    if (end_eviction(w)) return true;
    if (w.status.is_true(ConditionType::admitted) && !w.status.is_true(ConditionType::evicted) && random_.chance(40)) {
      finish(w);
      return true;
    }
  }
  return false;
}

void Users::resume_local_queues() {
  for (std::size_t i = 0; i < queue_names_.size(); ++i) {
    const std::string name = "local-" + std::to_string(i);
    auto [it, fresh] = server_.local_queues.try_emplace(name, LocalQueue{"default", name, queue_names_[i], StopPolicy::none});
    if (!fresh && it->second.stop == StopPolicy::none) continue;
    it->second.stop = StopPolicy::none;
    server_.publish_local_queue(name);
  }
}

void Users::make_everything_possible() {
  for (const auto& f : flavor_names_)
    if (std::find(server_.flavors.begin(), server_.flavors.end(), f) == server_.flavors.end()) {
      server_.flavors.push_back(f);
      server_.publish_flavor(f);
    }
  for (std::size_t i = 0; i < queue_names_.size(); ++i) {
    QuotaHolder q = random_quota(queue_names_[i]);
    for (auto& [pair, quota] : q.quota) quota.nominal = 1'000'000;
    server_.queues[q.name] = q;
    server_.publish_queue(q.name);
    const std::string local = "local-" + std::to_string(i);
    server_.local_queues[local] = {"default", local, q.name, StopPolicy::none};
    server_.publish_local_queue(local);
  }
  for (const auto& c : cohort_names_) server_.remove_cohort(c);
  for (auto& [uid, j] : server_.jobs)
    if (!server_.local_queues.contains(j.queue)) {
      j.queue = "local-0";
      server_.publish(j);
    }
  for (auto& [uid, w] : server_.workloads)
    if (!server_.local_queues.contains(w.queue) && w.job_uid.empty()) {
      w.queue = "local-0";
      server_.publish(w);
    }
}

bool Users::stays_away(const Workload& w) {
  if (!w.active) return true;
  const auto* requeued = w.status.find(ConditionType::requeued);
  return requeued != nullptr && requeued->status == ConditionStatus::false_ && requeued->reason.starts_with("DeactivatedDueTo");
}

std::string Users::unfinished() const {
  const auto inactive = [&](const std::string& job_uid) {
    return std::any_of(server_.workloads.begin(), server_.workloads.end(),
                       [&](const auto& x) { return x.second.job_uid == job_uid && stays_away(x.second); });
  };
  std::string out;
  for (const auto& [uid, j] : server_.jobs)
    if (!j.finished && !inactive(uid)) out += " job " + uid;
  for (const auto& [uid, w] : server_.workloads)
    if (w.option_of.empty() && !w.status.is_true(ConditionType::finished) && !stays_away(w) && !w.deleting) out += " workload " + uid;
  return out;
}

bool Users::everything_finished() const { return unfinished().empty(); }

bool Users::waiting_for_luck() const {
  for (const auto& [uid, j] : server_.jobs)
    if (!j.finished && !j.suspended) return true;
  for (const auto& [uid, w] : server_.workloads)
    if (w.job_uid.empty() && w.option_of.empty() && !w.status.is_true(ConditionType::finished) && w.status.is_true(ConditionType::admitted))
      return true;
  return false;
}

}  // namespace hindsight::explorer
