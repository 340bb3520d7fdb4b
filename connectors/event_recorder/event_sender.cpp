#include "connectors/event_recorder/event_sender.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <stop_token>

#include "connectors/json/json_value.hpp"

namespace hindsight::connectors {

using kubernetes::KubernetesEvent;

struct EventSender::State : std::enable_shared_from_this<EventSender::State> {
  using Clock = std::chrono::steady_clock;

  State(Submit submit_function, const EventSenderOptions& o)
      : submit(std::move(submit_function)), options(o), correlator(o.correlator), allowance(o.burst) {}

  void add(KubernetesEvent event) {
    if (waiting.size() >= std::max<std::size_t>(1, options.waiting_max)) {
      waiting.pop_front();
      ++statistics.dropped;
    }
    waiting.push_back(std::move(event));
  }

  void pass_time(Time now) {
    if (last_time.is_set() && now > last_time) {
      const double earned = static_cast<double>((now - last_time).micros) / 1e6 * options.per_second;
      allowance = std::min<double>(options.burst, allowance + earned);
    }
    if (!last_time.is_set() || now > last_time) last_time = now;
  }

  [[nodiscard]] bool may_send() const {
    return !closed && !waiting.empty() && in_flight < std::max<std::size_t>(1, options.in_flight_max) &&
           (options.per_second == 0 || allowance >= 1) && options.clock() >= rests_until;
  }

  /// Sends what may be sent. A cluster may answer within submit(), on this thread: that answer leaves the work to the loop here.
  void pump() {
    std::unique_lock lock(mutex);
    if (pumping) return;
    pumping = true;
    while (may_send()) {
      const KubernetesEvent event = std::move(waiting.front());
      waiting.pop_front();
      ++in_flight;
      allowance -= 1;
      lock.unlock();
      send(event, kubernetes::event_write(event));
      lock.lock();
    }
    pumping = false;
  }

  void send(const KubernetesEvent& event, Write write) {
    const bool is_patch = write.verb == Write::Verb::merge_patch;
    submit(std::move(write), [weak = weak_from_this(), event, is_patch, sent = options.clock()](const WriteAnswer& answer) {
      const auto self = weak.lock();
      if (self == nullptr) return;
      // The Event of the first was dropped, or its time to live is over: the count needs a new one.
      if (is_patch && answer.http_status == 404 && self->is_open()) return self->send(event, creation_of(event));
      self->answered(answer, sent);
      self->pump();
    });
  }

  [[nodiscard]] bool is_open() {
    const std::lock_guard lock(mutex);
    return !closed;
  }

  static Write creation_of(KubernetesEvent event) {
    const auto count = event.count;
    event.count = 1;
    Write write = kubernetes::event_write(event);
    auto body = nlohmann::json::parse(write.body);
    body["count"] = count;
    write.body = to_text(body);
    return write;
  }

  void answered(const WriteAnswer& answer, Clock::time_point sent) {
    const auto now = options.clock();
    const std::lock_guard lock(mutex);
    --in_flight;
    if (now - sent > options.busy_from) rests_until = now + std::min<Clock::duration>(3 * (now - sent), options.longest_rest);
    // A creation that finds itself done was tried twice by the writer below.
    const bool good = (answer.http_status >= 200 && answer.http_status < 300) || answer.http_status == 409;
    ++(good ? statistics.sent : statistics.failed);
  }

  const Submit submit;
  const EventSenderOptions options;

  std::mutex mutex;  ///< Guards all below.
  EventCorrelator correlator;
  std::deque<KubernetesEvent> waiting;
  std::size_t in_flight = 0;
  double allowance;  ///< Writes that the rate allows now.
  Time last_time = Time::never();
  Clock::time_point rests_until = Clock::time_point::min();
  bool pumping = false;
  bool closed = false;
  EventSenderStatistics statistics;
};

EventSender::EventSender(Submit submit, EventSenderOptions options) : state_(std::make_shared<State>(std::move(submit), options)) {}

EventSender::EventSender(Cluster& cluster, EventSenderOptions options)
    : EventSender([&cluster](Write write, std::function<void(WriteAnswer)> done) { cluster.submit(std::move(write), std::move(done)); },
                  options) {}

EventSender::~EventSender() {
  ticker_ = {};
  const std::lock_guard lock(state_->mutex);
  state_->closed = true;
}

void EventSender::offer(std::vector<KubernetesEvent> events, Time now) {
  if (events.empty()) return;
  {
    const std::lock_guard lock(state_->mutex);
    state_->pass_time(now);
    state_->statistics.offered += events.size();
    for (auto& event : events) {
      if (event.type == nullptr) continue;
      if (auto shown = state_->correlator.offer(std::move(event), now)) state_->add(std::move(*shown));
    }
  }
  state_->pump();
}

void EventSender::tick(Time now) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->pass_time(now);
    for (auto& event : state_->correlator.due(now)) state_->add(std::move(event));
  }
  state_->pump();
}

void EventSender::start_ticking() {
  ticker_ = std::jthread([this](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    while (!stop.stop_requested()) {
      wake.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; });
      if (stop.stop_requested()) return;
      const auto now = std::chrono::system_clock::now().time_since_epoch();
      tick(Time{std::chrono::duration_cast<std::chrono::microseconds>(now).count()});
    }
  });
}

EventSenderStatistics EventSender::statistics() const {
  const std::lock_guard lock(state_->mutex);
  EventSenderStatistics out = state_->statistics;
  out.merged = state_->correlator.merged();
  out.waiting = state_->waiting.size();
  return out;
}

}  // namespace hindsight::connectors
