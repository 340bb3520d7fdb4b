#include "tests/explorer/family_users.hpp"

#include <algorithm>

namespace hindsight::explorer {
namespace {

constexpr const char* settings_on[] = {"family default", "family fair", "family impatient", "family plain", "family sharing"};
constexpr const char* settings_off[] = {"default", "fair", "impatient", "plain", "sharing"};

}  // namespace

// ---- setting up -----------------------------------------------------------------------------------------------------------------

ConcurrentPolicy::Option FamilyUsers::random_option(const QuotaHolder& q, std::size_t number) {
  ConcurrentPolicy::Option o;
  o.name = "o" + std::to_string(number);
  for (const auto& f : q.flavors)
    if (random_.chance(45)) o.flavors.push_back(f);
  if (o.flavors.empty()) o.flavors.push_back(random_.pick(q.flavors));
  if (random_.chance(35)) o.create_delay = static_cast<std::int32_t>(random_.between(1, 60));
  if (random_.chance(35)) o.delete_delay = static_cast<std::int32_t>(random_.between(0, 60));
  return o;
}

ConcurrentPolicy FamilyUsers::random_policy(const QuotaHolder& q) {
  ConcurrentPolicy p;
  p.enabled = true;
  const OnSuccess all[] = {OnSuccess::remove_other, OnSuccess::remove_lower, OnSuccess::remove_below_target};
  p.on_success = all[random_.below(3)];
  if (p.on_success == OnSuccess::remove_below_target) p.target = random_.pick(q.flavors);
  if (random_.chance(40))
    for (std::size_t i = 0, n = 1 + random_.below(4); i < n; ++i) p.options.push_back(random_option(q, i));
  return p;
}

QuotaHolder FamilyUsers::random_family_queue(const std::string& name) {
  QuotaHolder q = random_quota(name);
  q.flavors = flavor_names_;
  while (q.flavors.size() > 2 && random_.chance(30)) q.flavors.pop_back();
  for (const auto& f : q.flavors)
    for (const auto& r : q.resources) {
      Quota& quota = q.quota[{f, r}];
      quota = {};
      quota.nominal = random_.chance(25) ? 0 : random_.between(1, 8) * 1000;
      if (random_.chance(15)) quota.borrowing_limit = random_.between(0, 6) * 1000;
      if (random_.chance(15)) quota.lending_limit = random_.between(0, 6) * 1000;
    }
  q.strategy = QueueingStrategy::best_effort_fifo;
  q.concurrent = random_policy(q);
  for (const auto& check : check_names_) {
    if (!random_.chance(40)) continue;
    q.checks.push_back(check);
    if (random_.chance(25)) continue;
    for (const auto& f : q.flavors)
      if (random_.chance(50)) q.check_flavors[check].push_back(f);
  }
  make_valid(q);
  return q;
}

/// What the webhook would see to (8691 V4, V8).
void FamilyUsers::make_valid(QuotaHolder& q) {
  const auto missing = [&](const std::string& f) { return std::ranges::find(q.flavors, f) == q.flavors.end(); };
  for (auto& o : q.concurrent.options) std::erase_if(o.flavors, missing);
  std::erase_if(q.concurrent.options, [](const auto& o) { return o.flavors.empty(); });
  if (q.concurrent.on_success != OnSuccess::remove_below_target)
    q.concurrent.target.clear();
  else if (missing(q.concurrent.target))
    q.concurrent.target = q.flavors.front();
}

Text FamilyUsers::pick_settings() {
  settings_ = random_.below(5);
  gate_on_ = !random_.chance(5);
  return gate_on_ ? settings_on[settings_] : settings_off[settings_];
}

void FamilyUsers::set_up() {
  flavor_names_ = {"best", "good", "fair", "poor"};
  flavor_names_.resize(2 + random_.below(3));
  resource_names_ = {"cpu"};
  if (random_.chance(20)) resource_names_.emplace_back("memory");
  cohort_names_ = {"all"};
  for (const auto& f : flavor_names_) {
    server_.flavors.push_back(f);
    server_.publish_flavor(f);
  }
  server_.publish_namespace("default");
  server_.priority_classes = {{"high", 100}, {"low", -5}};
  for (const auto& [name, value] : server_.priority_classes) server_.publish_priority_class(name);
  check_names_ = {"budget", "capacity"};
  for (const auto& check : check_names_) {
    server_.checks[check] = true;
    server_.publish_check(check);
  }
  const bool cohort = random_.chance(50);
  const auto queues = 1 + random_.below(3);
  for (std::size_t i = 0; i < queues; ++i) {
    const std::string name = "queue-" + std::to_string(i);
    queue_names_.push_back(name);
    QuotaHolder q = random_family_queue(name);
    if (i == 2 || (i > 0 && random_.chance(25))) q.concurrent = {};  // others, who want the same quota
    if (cohort) q.cohort = "all";
    server_.queues[name] = q;
    server_.publish_queue(name);
    const std::string local = "local-" + std::to_string(i);
    server_.local_queues[local] = {"default", local, name, StopPolicy::none};
    server_.publish_local_queue(local);
  }
}

// ---- jobs, Parents and Options ------------------------------------------------------------------------------------------------------

void FamilyUsers::create_family_job() {
  Job j;
  j.name = "j" + std::to_string(++made_);
  j.uid = server_.new_uid(j.name);
  j.created = Time::from_seconds(server_.now.floor_seconds());
  j.namespace_ = "default";
  j.queue = "local-" + std::to_string(random_.below(queue_names_.size()));
  if (random_.chance(40)) j.priority_class = random_.chance(50) ? "high" : "low";
  j.templates = random_pod_sets();
  j.elastic = random_.chance(20);
  if (j.elastic)
    for (auto& t : j.templates) t.min_count.reset();
  if (random_.chance(7)) j.max_exec_seconds = static_cast<std::int32_t>(random_.between(5, 60));
  server_.publish(server_.jobs[j.uid] = j);
}

std::vector<Workload*> FamilyUsers::members(bool parents, bool options) {
  std::vector<Workload*> out;
  for (auto& [uid, w] : server_.workloads)
    if (!w.deleting && ((parents && w.parent_marked) || (options && w.gated))) out.push_back(&w);
  return out;
}

void FamilyUsers::lay_hands_on_members() {
  const bool option = random_.chance(65);
  const auto some = members(!option, option);
  if (some.empty()) return;
  Workload& w = *random_.pick(some);
  switch (random_.below(10)) {
    case 0:
    case 1:
    case 2:
      if (!option && random_.chance(60)) return;
      server_.remove_workload(std::string(w.uid));
      return;
    case 3:
      w.status = WorkloadStatus{};  // somebody wipes the status
      break;
    case 4:
      if (!option) {
        w.parent_marked = false;
      } else if (random_.chance(50)) {
        w.allowed = {random_.pick(flavor_names_)};
        ++w.generation;
      } else {
        w.status.options.clear();
        w.status.gate_open = false;
      }
      break;
    default:
      w.active = !w.active;
      ++w.generation;
      break;
  }
  server_.publish(w);
}

/// Somebody makes a Workload that an Option is to be called like, or one that claims to be an Option.
void FamilyUsers::take_a_name() {
  const auto parents = members(true, false);
  const Workload* parent = parents.empty() ? nullptr : random_.pick(parents);
  const bool forged = random_.chance(40) && parent != nullptr;
  const std::string base = parent != nullptr && random_.chance(50) ? parent->name : "job-j" + std::to_string(made_ + 1);
  Workload w;
  w.name = forged ? "forged-" + std::to_string(++made_) : base + "-option-" + random_.pick(flavor_names_);
  for (const auto& [uid, other] : server_.workloads)
    if (other.name == w.name) return;
  w.uid = server_.new_uid(w.name);
  w.created = Time::from_seconds(server_.now.floor_seconds());
  w.namespace_ = "default";
  w.queue = "local-" + std::to_string(random_.below(queue_names_.size()));
  w.pod_sets = random_pod_sets();
  w.finalizer = false;
  if (forged) {
    w.option_of = random_.chance(70) ? parent->uid : "nobody";
    w.gated = random_.chance(70);
    if (random_.chance(50)) w.allowed = {random_.pick(flavor_names_)};
  }
  server_.publish(server_.workloads[w.uid] = w);
}

void FamilyUsers::judge_some_check() {
  std::vector<std::pair<Workload*, Check*>> open;
  for (auto& [uid, w] : server_.workloads)
    if (!w.status.cluster_queue.empty() && !w.status.is_true(ConditionType::evicted))
      for (auto& c : w.status.checks)
        if (c.state == CheckState::pending || (c.state == CheckState::ready && random_.chance(8))) open.emplace_back(&w, &c);
  if (open.empty()) return;
  const auto& [w, c] = random_.pick(open);
  const auto verdict = random_.below(10);
  c->state = verdict < 6 ? CheckState::ready : verdict < 8 ? CheckState::retry : CheckState::rejected;
  c->last_transition = Time::from_seconds(server_.now.floor_seconds());
  c->message = "judged";
  c->requeue_after_seconds.reset();
  if (c->state == CheckState::retry && random_.chance(50)) c->requeue_after_seconds = static_cast<std::int32_t>(random_.between(1, 20));
  server_.publish(*w);
}

// ---- administrators -------------------------------------------------------------------------------------------------------------

void FamilyUsers::change_flavors(QuotaHolder& q) {
  switch (random_.below(3)) {
    case 0:
      if (q.flavors.size() > 1) q.flavors.erase(q.flavors.begin() + static_cast<std::ptrdiff_t>(random_.below(q.flavors.size())));
      break;
    case 1: {
      const std::string& f = random_.pick(flavor_names_);
      if (std::ranges::find(q.flavors, f) != q.flavors.end()) break;
      q.flavors.insert(q.flavors.begin() + static_cast<std::ptrdiff_t>(random_.below(q.flavors.size() + 1)), f);
      for (const auto& r : q.resources) q.quota[{f, r}].nominal = random_.between(0, 8) * 1000;
      break;
    }
    default:
      std::swap(q.flavors[random_.below(q.flavors.size())], q.flavors[random_.below(q.flavors.size())]);
      break;
  }
}

void FamilyUsers::change_options(QuotaHolder& q) {
  auto& options = q.concurrent.options;
  switch (random_.below(6)) {
    case 0:
      options.clear();
      break;
    case 1: {
      std::size_t number = 0;
      while (std::ranges::any_of(options, [&](const auto& o) { return o.name == "o" + std::to_string(number); })) ++number;
      options.insert(options.begin() + static_cast<std::ptrdiff_t>(random_.below(options.size() + 1)), random_option(q, number));
      break;
    }
    case 2:
      if (!options.empty()) options.erase(options.begin() + static_cast<std::ptrdiff_t>(random_.below(options.size())));
      break;
    case 3:
      if (!options.empty()) options[random_.below(options.size())].name = "r" + std::to_string(++made_);  // renamed
      break;
    case 4:
      if (!options.empty()) {
        auto& o = options[random_.below(options.size())];
        const std::string name = o.name;
        o = random_option(q, 0);
        o.name = name;
      }
      break;
    default:
      if (!options.empty()) {
        auto& o = options[random_.below(options.size())];
        o.create_delay = static_cast<std::int32_t>(random_.between(0, 60));
        o.delete_delay.reset();
        if (random_.chance(60)) o.delete_delay = static_cast<std::int32_t>(random_.between(0, 60));
      }
      break;
  }
}

void FamilyUsers::change_policy() {
  QuotaHolder* q = any(server_.queues);
  if (q == nullptr || q->flavors.empty()) return;
  switch (random_.below(9)) {
    case 0:
      q->concurrent = {};
      break;
    case 1:
    case 2:
      if (!q->concurrent.enabled || random_.chance(40)) q->concurrent = random_policy(*q);
      break;
    case 3:
      q->concurrent.on_success = random_.chance(50) ? OnSuccess::remove_lower : OnSuccess::remove_other;
      break;
    case 4:
      q->concurrent.on_success = OnSuccess::remove_below_target;
      q->concurrent.target = random_.pick(q->flavors);
      break;
    case 5:
    case 6:
      change_options(*q);
      break;
    default:
      change_flavors(*q);
      break;
  }
  if (q->concurrent.enabled) q->strategy = QueueingStrategy::best_effort_fifo;
  make_valid(*q);
  server_.publish_queue(q->name);
}

void FamilyUsers::change_quota_of_flavor() {
  QuotaHolder* q = any(server_.queues);
  if (q == nullptr || q->flavors.empty()) return;
  q->quota[{random_.pick(q->flavors), random_.pick(q->resources)}].nominal = random_.between(0, 8) * 1000;
  server_.publish_queue(q->name);
}

void FamilyUsers::stop_or_resume() {
  const StopPolicy policies[] = {StopPolicy::none, StopPolicy::none, StopPolicy::hold, StopPolicy::hold_and_drain};
  if (random_.chance(50)) {
    QuotaHolder* q = any(server_.queues);
    if (q == nullptr) return;
    q->stop = policies[random_.below(4)];
    server_.publish_queue(q->name);
  } else if (LocalQueue* lq = any(server_.local_queues)) {
    lq->stop = policies[random_.below(4)];
    server_.publish_local_queue(lq->name);
  }
}

void FamilyUsers::publish_settings(bool on) {
  gate_on_ = on;
  server_.publish_as("configuration", {nullptr, ConfigurationObserved{on ? Text(settings_on[settings_]) : Text(settings_off[settings_])}});
}

void FamilyUsers::switch_gate() { publish_settings(!gate_on_ || random_.chance(20)); }

void FamilyUsers::act() {
  const auto dice = random_.below(100);
  if (dice < 14)
    create_family_job();
  else if (dice < 16)
    create_workload();
  else if (dice < 23)
    change_job();
  else if (dice < 33)
    lay_hands_on_members();
  else if (dice < 57)
    judge_some_check();
  else if (dice < 69)
    change_quota_of_flavor();
  else if (dice < 84)
    change_policy();
  else if (dice < 89)
    stop_or_resume();
  else if (dice < 91)
    change_queue();
  else if (dice < 92)
    change_local_queue();
  else if (dice < 94)
    change_classes_and_checks();
  else if (dice < 95)
    switch_gate();
  else if (dice < 97)
    take_a_name();
  else
    (void)server_.collect_option();
}

// ---- what happens by itself ---------------------------------------------------------------------------------------------------------

bool FamilyUsers::end_stops() {
  if (server_.collect_option()) return true;
  for (auto& [uid, j] : server_.jobs)
    if (!j.finished && j.suspended && j.active) {
      j.active = false;
      server_.publish(j);
      return true;
    }
  for (auto& [uid, w] : server_.workloads)
    if (w.job_uid.empty() && (w.option_of.empty() || !w.gated) && !w.status.is_true(ConditionType::finished) && end_eviction(w))
      return true;
  return false;
}

bool FamilyUsers::judge_kindly() {
  for (auto& [uid, w] : server_.workloads)
    for (auto& c : w.status.checks)
      if (const bool reserved = !w.status.cluster_queue.empty();
          c.state != CheckState::ready && reserved == (c.state == CheckState::pending)) {
        // What was judged while the reservation went is taken back.
        c.state = reserved ? CheckState::ready : CheckState::pending;
        c.last_transition = Time::from_seconds(server_.now.floor_seconds());
        server_.publish(w);
        return true;
      }
  return false;
}

bool FamilyUsers::let_run() {
  if (server_.collect_option()) return true;
  if (kind_ && judge_kindly()) return true;
  return Users::let_run();
}

void FamilyUsers::make_everything_possible() {
  for (const auto& f : flavor_names_)
    if (std::ranges::find(server_.flavors, f) == server_.flavors.end()) {
      server_.flavors.push_back(f);
      server_.publish_flavor(f);
    }
  for (const auto& check : check_names_) {
    server_.checks[check] = true;
    server_.publish_check(check);
  }
  kind_ = true;
  for (std::size_t i = 0; i < queue_names_.size(); ++i) {
    const std::string& name = queue_names_[i];
    QuotaHolder q = random_family_queue(name);
    if (const auto it = server_.queues.find(name); it != server_.queues.end() && !it->second.flavors.empty()) q = it->second;
    q.stop = StopPolicy::none;
    q.cohort.clear();
    for (const auto& f : q.flavors)
      for (const auto& r : q.resources) q.quota[{f, r}] = {1'000'000, std::nullopt, std::nullopt};
    if (random_.chance(20)) q.concurrent = {};
    server_.queues[name] = q;
    server_.publish_queue(name);
    const std::string local = "local-" + std::to_string(i);
    server_.local_queues[local] = {"default", local, name, StopPolicy::none};
    server_.publish_local_queue(local);
  }
  for (const auto& c : cohort_names_) server_.remove_cohort(c);
  for (auto& [uid, j] : server_.jobs)
    if (!server_.local_queues.contains(j.queue)) {
      j.queue = "local-0";
      server_.publish(j);
    }
  for (auto& [uid, w] : server_.workloads)
    if (!server_.local_queues.contains(w.queue) && w.job_uid.empty() && w.option_of.empty()) {
      w.queue = "local-0";
      server_.publish(w);
    }
  for (auto& [uid, w] : server_.workloads)  // at the head of a StrictFIFO queue it would hold up the others for ever
    if (!w.gated && !w.allowed.empty()) {
      w.allowed.clear();
      ++w.generation;
      server_.publish(w);
    }
  publish_settings(!random_.chance(15));
}

std::string FamilyUsers::unfinished() const {
  std::string out = Users::unfinished();
  for (const auto& [uid, w] : server_.workloads) {
    if (!w.gated) continue;
    const auto parent = server_.workloads.find(w.option_of);
    if (parent == server_.workloads.end())
      out += " Option without a Parent " + uid;
    else if (parent->second.status.is_true(ConditionType::finished) && !w.status.is_true(ConditionType::finished))
      out += " Option of a finished Parent " + uid;
  }
  return out;
}

}  // namespace hindsight::explorer
