#include "whatif/future.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <variant>

#include "admission/domain/domain.hpp"
#include "admission/state/snapshot.hpp"
#include "admission/workload/workload_parent.hpp"
#include "events/record.hpp"
#include "projections/lookup.hpp"
#include "replay/past.hpp"
#include "vocabulary/state_hash.hpp"
#include "whatif/subject.hpp"

namespace hindsight::whatif {

using namespace admission;

namespace {

constexpr int decisions_max = 100'000;

/// Nothing of it runs, waits, or is decided any more.
bool has_ended(const WorkloadParent& parent) {
  if (parent.empty() || !parent.pods().empty()) return false;
  if (parent.job() && !parent.job()->finished) return false;
  return std::ranges::all_of(parent.workloads(), [](const WorkloadState& w) { return w.finished(); });
}

}  // namespace

Future::Future(const projections::Stage& stage, const Responses& responses, const Arrivals& arrivals, std::uint64_t number)
    : responses_(responses), arrivals_(arrivals), driver_(stage.read_settings), number_(number) {
  if (auto ok = SnapshotCodec::read(stage.snapshot, driver_.entities()); !ok)
    throw std::runtime_error("a future of what is no snapshot: " + ok.error().message);
  driver_.entities().domain().forget_writes();
  now_ = planned_to_ = driver_.domain().now();
  driver_.forget_touched();
  const auto run_time = [this](std::string_view uid) -> std::optional<Known> {
    if (const auto it = run_times_.find(uid); it != run_times_.end()) return it->second;
    const auto copy_of = like_.find(uid);
    const auto drawn = copy_of == like_.end() ? responses_.draw_run_time(uid, responses_.running_for(uid), next_number())
                                              : responses_.draw_run_time(copy_of->second, {}, next_number());
    if (drawn) run_times_.emplace(std::string(uid), *drawn);
    return drawn;
  };
  world_ = std::make_unique<World>(
      driver_, responses_, [this](const Observation& o) { tell(o); }, run_time);
  for (std::uint32_t i = 0; i < driver_.domain().parent_count(); ++i) {
    const auto* parent = driver_.parent(i);
    if (parent == nullptr || parent->empty() || has_ended(*parent)) continue;
    const std::string subject(subject_of(*parent));
    if (subject.empty() || parent->is_part_of_what_runs()) continue;
    const Duration running = responses_.running_for(subject);
    world_->take_over(subject, running.micros > 0 ? now_ - running : Time::never());
  }
}

std::uint64_t Future::next_number() {
  StateHash h;
  h.add(number_);
  h.add(std::uint64_t{run_times_.size()});
  h.add(arrived_);
  h.add(planned_to_);
  return h.value();
}

void Future::append(Body body) {
  ++records_;
  RecordView r;
  r.envelope = {"future", driver_.domain().sequence() + 1, driver_.domain().epoch(), now_, 0};
  r.body = std::move(body);
  if (auto ok = replay::apply_record(driver_, r); !ok) throw std::runtime_error("a future came to an end: " + ok.error().message);
  each_touched(driver_, [&](const std::string& subject) {
    if (world_->answers_for(subject))
      world_->look_at(subject);
    else if (like_.contains(subject))
      world_->take_over(subject, Time::never());
  });
}

void Future::decide_to_rest() {
  for (int steps = 0; steps < decisions_max; ++steps) {
    const auto step = driver_.decide();
    if (!step) return;
    append(Decisions{step->base, step->kind, step->events});
  }
}

void Future::plan_arrivals() {
  while (planned_to_ <= now_ + Duration::seconds(1)) {
    const auto stretch = arrivals_.draw(planned_to_, next_number());
    if (stretch.length.micros <= 0) {  // nobody is known to come
      planned_to_ = now_ + Duration::seconds(400LL * 24 * 3600);
      return;
    }
    for (const auto& [at, arrival] : stretch.arrivals) coming_.emplace(at, arrival);
    planned_to_ = planned_to_ + stretch.length;
  }
}

void Future::arrive(const Arrivals::Arrival& arrival) {
  events::RecordReader reader;
  const auto read = reader.read(arrival.record);
  const auto* o = read ? std::get_if<Observation>(&(*read)->body) : nullptr;
  if (o == nullptr) return;
  const std::string name = "future-" + std::to_string(++arrived_), uid = "future/" + name;
  like_.emplace(uid, arrival.form);
  const auto renamed = [&](ObjectMeta& meta) {
    meta.name = name;
    meta.uid = uid;
    meta.resource_version = 1;
    meta.generation = 1;
    meta.created = Time::from_seconds(now_.floor_seconds());
    meta.deleting = false;
  };
  const std::string workload_name = "job-" + name;
  if (const auto* job = std::get_if<JobObserved>(o)) {
    JobObserved copy = *job;
    renamed(copy.meta);
    copy.workload_name = workload_name;
    copy.suspended = true;
    copy.active = copy.pods_ready = copy.stopping = copy.finished = copy.succeeded = false;
    copy.finish_message = {};
    copy.prebuilt_workload = {};
    copy.reclaimable = {};
    copy.start_settled = 0;
    tell(Observation{copy});
  } else if (const auto* w = std::get_if<WorkloadObserved>(o)) {
    WorkloadObserved copy = *w;
    renamed(copy.meta);
    copy.conditions = {};
    copy.has_admission = false;
    copy.admission_cluster_queue = {};
    copy.assignments = {};
    copy.checks = {};
    copy.has_requeue_state = false;
    copy.requeue_count = 0;
    copy.requeue_at = Time::never();
    copy.reclaimable = {};
    copy.evictions = {};
    tell(Observation{copy});
  }
}

std::optional<Time> Future::start_of(std::string_view workload_uid, Duration horizon, std::uint64_t records_max) {
  const Time until = now_ + horizon;
  while (now_ < until) {
    decide_to_rest();
    const auto at = projections::find_by_uid(driver_, workload_uid);
    if (at.workload == nullptr) return std::nullopt;
    if (at.workload->admitted()) return now_;
    if (at.workload->finished()) return std::nullopt;
    cut_ = records_ > records_max;
    if (cut_) return std::nullopt;
    plan_arrivals();
    const Time timer = driver_.domain().next_due(), world = world_->next_due();
    const Time arrival = coming_.empty() ? Time::never() : coming_.begin()->first;
    Time next = planned_to_;
    for (const Time t : {timer, world, arrival})
      if (t.is_set() && t < next) next = t;
    if (next >= until) return std::nullopt;
    const bool same = next <= now_;
    now_ = std::max(now_, next);
    if (arrival.is_set() && arrival <= next) {
      const auto* who = coming_.begin()->second;
      coming_.erase(coming_.begin());
      arrive(*who);
    } else if (world.is_set() && world <= next) {
      world_->say_next();
    } else if (timer.is_set() && timer <= next) {
      const auto before = driver_.domain().sequence();
      tell(Observation{TimerFired{}});
      decide_to_rest();
      if (same && driver_.domain().next_due() == timer && driver_.domain().sequence() == before + 1) now_ = now_ + Duration::seconds(1);
    }
  }
  return std::nullopt;
}

projections::Stage without_ended(const projections::Stage& stage) {
  LoopDriver driver(stage.read_settings);
  if (auto ok = SnapshotCodec::read(stage.snapshot, driver); !ok)
    throw std::runtime_error("a future of what is no snapshot: " + ok.error().message);
  for (std::uint32_t i = 0; i < driver.domain().parent_count(); ++i) {
    const auto* parent = driver.parent(i);
    if (parent == nullptr || !has_ended(*parent)) continue;
    Arena arena;
    for (const ObjectDeleted& gone : objects_of(*parent, arena)) {
      RecordView r;
      r.envelope = {"future", driver.domain().sequence() + 1, driver.domain().epoch(), driver.domain().now(), 0};
      r.body = Observation{gone};
      if (auto ok = replay::apply_record(driver, r); !ok) throw std::runtime_error("a future came to an end: " + ok.error().message);
    }
  }
  return projections::Stage::of(driver);
}

Estimate estimate(const projections::Stage& stage, const Responses& responses, const Arrivals& arrivals, std::string_view workload_uid,
                  std::size_t futures, Duration horizon, const std::function<void(std::size_t, std::size_t)>& progress) {
  Estimate out;
  out.futures = futures;
  std::vector<Time> starts;
  const projections::Stage begin = without_ended(stage);
  const std::uint64_t records_max =
      std::max<std::uint64_t>(records_of_a_future_min, records_of_all_futures / std::max<std::size_t>(1, futures));
  for (std::size_t i = 0; i < futures; ++i) {
    if (progress) progress(i, futures);
    Future future(begin, responses, arrivals, i + 1);
    if (const auto start = future.start_of(workload_uid, horizon, records_max)) starts.push_back(*start);
    out.cut += future.is_cut() ? 1 : 0;
  }
  if (progress) progress(futures, futures);
  out.started = starts.size();
  std::ranges::sort(starts);
  // nearest rank, of all futures: those in which it does not start come last
  const auto rank = [&](std::size_t percent) -> std::optional<Time> {
    const std::size_t n = (futures * percent + 99) / 100;
    return n == 0 || n > starts.size() ? std::nullopt : std::optional(starts[n - 1]);
  };
  out.early = rank(10);
  out.median = rank(50);
  out.late = rank(90);
  return out;
}

}  // namespace hindsight::whatif
