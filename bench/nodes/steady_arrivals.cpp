#include "bench/nodes/steady_arrivals.hpp"

#include <variant>

namespace hindsight::bench {

namespace {

constexpr std::size_t queues = 10;
constexpr std::size_t arrivals_max = 100'000;  ///< The quota of the queue in which they arrive.

/// Every tenth Workload is of the queue with quota.
std::size_t arrival(std::size_t i) { return queues * i; }
std::size_t waiting(std::size_t i) { return queues * (i / (queues - 1)) + 1 + i % (queues - 1); }

}  // namespace

SteadyArrivals::SteadyArrivals(std::size_t waiting, std::chrono::milliseconds every)
    : facts_({.cohorts = queues, .queues = queues, .workloads = queues * arrivals_max, .borrowing = false}),
      waiting_(waiting),
      every_(every) {}

Result<std::unique_ptr<SteadyArrivals>> SteadyArrivals::start(events::Log& log, std::size_t waiting_count,
                                                              std::chrono::milliseconds every) {
  std::unique_ptr<SteadyArrivals> out(new SteadyArrivals(waiting_count, every));
  actors::NodeOptions options;
  options.domain = "bench";
  options.role = actors::Role::connector;
  options.writer = "bench";
  options.settings_reader = [](Text) -> Result<admission::Settings> { return admission::Settings(); };
  options.on_record = [raw = out.get()](const RecordView& record, events::Position) { raw->saw(record); };
  auto node = actors::Node::start(log, std::move(options));
  if (!node) return tl::unexpected(node.error());
  out->node_ = std::move(*node);

  std::size_t queue = 0;
  for (Observation o : out->facts_.configuration()) {
    if (std::holds_alternative<MirrorSynced>(o)) continue;
    if (std::holds_alternative<ConfigurationObserved>(o)) o = ConfigurationObserved{"{}"};
    if (auto* q = std::get_if<ClusterQueueObserved>(&o); q != nullptr && queue++ > 0) q->resource_groups = out->facts_.without_quota();
    (void)out->node_->observe_and_wait(o);
  }
  for (std::size_t i = 0; i < waiting_count; ++i) (void)out->node_->observe_and_wait(out->facts_.workload(waiting(i)));
  if (!out->node_->observe_and_wait(MirrorSynced{})) return tl::unexpected(Error{ErrorKind::unavailable, out->node_->status().error});
  out->thread_ = std::jthread([raw = out.get()](const std::stop_token& stop) { raw->arrive(stop); });
  return out;
}

SteadyArrivals::~SteadyArrivals() {
  thread_ = {};
  node_.reset();
}

void SteadyArrivals::arrive(const std::stop_token& stop) {
  auto next = Clock::now();
  for (std::size_t i = 0; i < arrivals_max && !stop.stop_requested(); ++i) {
    if (!node_->observe_and_wait(facts_.workload(arrival(i)))) return;
    next += every_;
    std::this_thread::sleep_until(next);
  }
}

void SteadyArrivals::saw(const RecordView& record) {
  const auto now = Clock::now();
  const std::lock_guard lock(mutex_);
  if (const auto* started = std::get_if<EpochStarted>(&record.body))
    epochs_.push_back({record.envelope.epoch, std::string(started->writer), {}, {}, 0});
  if (!std::holds_alternative<Decisions>(record.body) || epochs_.empty() || epochs_.back().number != record.envelope.epoch) return;
  Epoch& e = epochs_.back();
  if (e.decisions++ == 0) e.first = now;
  e.last = now;
}

SteadyArrivals::Epoch SteadyArrivals::epoch() const {
  const std::lock_guard lock(mutex_);
  return epochs_.empty() ? Epoch() : epochs_.back();
}

double SteadyArrivals::pause_before(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  Clock::time_point last;
  for (const Epoch& e : epochs_) {
    if (e.decisions == 0) continue;  // somebody began and was replaced at once
    if (e.number >= number) return std::chrono::duration<double>(e.first - last).count();
    last = e.last;
  }
  return 0;
}

bool SteadyArrivals::wait_for_epoch_after(std::uint64_t number, std::chrono::seconds timeout) const {
  const auto end = Clock::now() + timeout;
  while (Clock::now() < end) {
    if (const auto e = epoch(); e.number > number && e.decisions > 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

bool SteadyArrivals::wait_for_calm(std::chrono::milliseconds age, std::chrono::milliseconds calm, std::chrono::seconds timeout) const {
  const auto end = Clock::now() + timeout;
  auto since = Clock::now();
  std::uint64_t number = 0;
  while (Clock::now() < end) {
    const auto e = epoch();
    const auto now = Clock::now();
    if (e.decisions == 0 || e.number != number || now - e.last > age) {
      since = now;
      number = e.number;
    }
    if (now - since >= calm) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

}  // namespace hindsight::bench
