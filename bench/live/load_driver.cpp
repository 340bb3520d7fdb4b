#include "bench/live/load_driver.hpp"

#include "bench/live/objects.hpp"
#include "bench/live/plain_write.hpp"
#include "connectors/objects/observe.hpp"
#include "connectors/objects/resource_types.hpp"
#include "connectors/objects/write_parts.hpp"

namespace hindsight::bench {

using connectors::Json;
using connectors::Write;
using connectors::WriteAnswer;
using connectors::kubernetes::Flow;
namespace types = connectors::types;

namespace {

Duration micros(std::chrono::steady_clock::duration d) {
  return Duration{std::chrono::duration_cast<std::chrono::microseconds>(d).count()};
}

}  // namespace

LoadDriver::LoadDriver(connectors::kubernetes::KubernetesCluster& cluster, const Generator& generator, Options options)
    : cluster_(cluster), generator_(generator), options_(options), arrivals_(arrivals(generator)), items_(arrivals_.size()) {
  outcome_.waits.resize(generator.classes.size());
  for (std::uint32_t i = 0; i < arrivals_.size(); ++i) numbers_.emplace(name(i), i);
}

Result<LiveOutcome> LoadDriver::run() {
  auto result = promise_.get_future();
  cluster_.watch(types::workload, [this](const connectors::WatchEvent& event) {
    on_event(event);
    return Flow::more;
  });
  return result.get();
}

std::string LoadDriver::name(std::uint32_t number) const { return workload_name(generator_, arrivals_[number]); }

// ---- all below runs on the client's thread -------------------------------------------------------------------------------------------

void LoadDriver::on_event(const connectors::WatchEvent& event) {
  using Type = connectors::WatchEvent::Type;
  if (over_) return;
  if (event.type == Type::synced) {
    began_ = Clock::now();
    create_what_is_due();
    watch_for_stalls();
    return;
  }
  if (event.type == Type::deleted) return;
  arena_.clear();
  const auto observation = connectors::observe_text(types::workload, event.object, arena_);
  if (!observation) return finish(tl::unexpected(observation.error()));
  const auto& workload = std::get<WorkloadObserved>(*observation);
  const auto found = numbers_.find(std::string(workload.meta.name));
  if (found == numbers_.end()) return;
  Item& item = items_[found->second];
  const bool had_ended = item.seen.finished();
  item.seen.see(workload, outcome_.writes);
  if (had_ended) return;
  if (item.seen.finished()) {
    ++ended_;
    outcome_.waits[arrivals_[found->second].kind].add(micros(item.admitted - item.created));
    if (ended_ == items_.size()) {
      outcome_.makespan = micros(Clock::now() - began_);
      finish(outcome_);
    }
    return;
  }
  react(found->second);
}

void LoadDriver::create_what_is_due() {
  const auto now = Clock::now();
  while (next_ < arrivals_.size() && creations_in_flight_ < options_.creations_in_flight &&
         began_ + std::chrono::microseconds(arrivals_[next_].at.micros) <= now) {
    const auto number = static_cast<std::uint32_t>(next_++);
    Write write{.verb = Write::Verb::create, .type = &types::workload, .namespace_ = load_namespace, .name = name(number)};
    write.body = workload_object(generator_, arrivals_[number]).dump();
    write.field_manager = "owner";
    ++creations_in_flight_;
    items_[number].created = now;
    cluster_.submit(std::move(write), [this](const WriteAnswer& answer) {
      --creations_in_flight_;
      if (over_) return;
      if (!succeeded(answer)) return finish(tl::unexpected(Error{ErrorKind::unavailable, "a creation was refused: " + answer.body}));
      create_what_is_due();
    });
  }
  if (timer_set_ || next_ == arrivals_.size() || creations_in_flight_ >= options_.creations_in_flight) return;
  timer_set_ = true;
  const auto due = began_ + std::chrono::microseconds(arrivals_[next_].at.micros);
  cluster_.loop().after(std::chrono::ceil<std::chrono::milliseconds>(due - now), [this] {
    timer_set_ = false;
    create_what_is_due();
  });
}

/// Does what an owner does when it sees its Workload so.
void LoadDriver::react(std::uint32_t number) {
  Item& item = items_[number];
  if (item.seen.evicted() || !item.seen.admitted()) {
    item.running = item.time_is_over = false;
    if (item.seen.evicted() && item.seen.holds_quota()) write_as_owner(number);
  } else if (!item.running) {
    start(number);
  } else if (item.time_is_over) {
    write_as_owner(number);  // again, after a conflict
  }
}

void LoadDriver::start(std::uint32_t number) {
  Item& item = items_[number];
  item.running = true;
  item.admitted = Clock::now();
  const auto run = ++item.runs;
  const auto runs_for = std::chrono::milliseconds(generator_.classes[arrivals_[number].kind].runs.micros / 1000);
  cluster_.loop().after(runs_for, [this, number, run] {
    Item& ended = items_[number];
    if (over_ || !ended.running || ended.runs != run) return;
    ended.time_is_over = true;
    write_as_owner(number);
  });
}

void LoadDriver::write_as_owner(std::uint32_t number) {
  if (!options_.serial_owner) return send_as_owner(number);
  Item& item = items_[number];
  if (item.writing) return;
  if (!std::exchange(item.queued, true)) (item.seen.evicted() ? evicted_ : others_).push_back(number);
  write_next();
}

/// With serial_owner. What has become unnecessary meanwhile is passed over.
void LoadDriver::write_next() {
  while (!owner_writes_ && !over_ && !(evicted_.empty() && others_.empty())) {
    auto& queue = evicted_.empty() ? others_ : evicted_;
    const auto number = queue.front();
    queue.pop_front();
    Item& item = items_[number];
    item.queued = false;
    const bool is_to_be_cleared = item.seen.evicted() && item.seen.holds_quota();
    const bool is_to_be_ended = !item.seen.evicted() && item.seen.admitted() && item.running && item.time_is_over;
    if (!item.seen.finished() && (is_to_be_cleared || is_to_be_ended)) send_as_owner(number);
  }
}

void LoadDriver::send_as_owner(std::uint32_t number) {
  Item& item = items_[number];
  if (item.writing) return;
  const auto text = cluster_.mirror().find(types::workload, load_namespace, name(number));
  if (text == nullptr) return;
  const Json workload = Json::parse(*text);
  const Json& conditions = connectors::list_or_empty(connectors::object_or_empty(workload, "status"), "conditions");
  Write write;
  if (options_.serial_owner && !item.seen.evicted()) {
    write = {.verb = Write::Verb::apply_patch, .type = &types::workload, .namespace_ = load_namespace, .name = name(number)};
    write.subresource = "status";
    write.body = applied_end(workload).dump();
  } else {
    write = connectors::merge_patch_of(types::workload, workload, "status",
                                       item.seen.evicted() ? cleared_status(conditions) : finished_status(conditions));
  }
  write.field_manager = "owner";
  item.writing = true;
  owner_writes_ = true;
  cluster_.submit(std::move(write), [this, number, text](const WriteAnswer& answer) { answered(number, text, answer); });
}

void LoadDriver::answered(std::uint32_t number, const connectors::kubernetes::MirrorStore::Text& over, const WriteAnswer& answer) {
  items_[number].writing = false;
  owner_writes_ = false;
  take_answer(number, over, answer);
  if (options_.serial_owner) write_next();
}

void LoadDriver::take_answer(std::uint32_t number, const connectors::kubernetes::MirrorStore::Text& over, const WriteAnswer& answer) {
  if (over_) return;
  if (succeeded(answer)) {
    // On a busy server the watch may have brought what came of the write, and what came of that, before its answer.
    const auto text = cluster_.mirror().find(types::workload, load_namespace, name(number));
    const Json written = Json::parse(answer.body, nullptr, false);
    if (text != nullptr && connectors::version_of(Json::parse(*text)) > connectors::version_of(written)) react(number);
    return;
  }
  if (answer.http_status != 409) return finish(tl::unexpected(Error{ErrorKind::unavailable, "a status was refused: " + answer.body}));
  ++outcome_.conflicts;
  // The watch may have brought the newer version already; if not, its event comes to react too. Another try before that would meet
  // the same conflict.
  if (cluster_.mirror().find(types::workload, load_namespace, name(number)) != over && !items_[number].seen.finished()) react(number);
}

void LoadDriver::watch_for_stalls() {
  cluster_.loop().after(options_.stall_time, [this] {
    if (over_) return;
    if (ended_ == ended_at_last_look_)
      return finish(tl::unexpected(Error{ErrorKind::unavailable, "nothing finished for " + std::to_string(options_.stall_time.count()) +
                                                                     " s; found " + std::to_string(ended_) + " of " +
                                                                     std::to_string(items_.size()) + " finished"}));
    ended_at_last_look_ = ended_;
    watch_for_stalls();
  });
}

void LoadDriver::finish(Result<LiveOutcome> outcome) {
  if (over_) return;
  over_ = true;
  promise_.set_value(std::move(outcome));
}

}  // namespace hindsight::bench
