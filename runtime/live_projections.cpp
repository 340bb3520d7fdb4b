#include "runtime/live_projections.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <utility>

#include "connectors/event_recorder/decision_events.hpp"
#include "projections/repeated_preemptions.hpp"
#include "vocabulary/thread_name.hpp"

namespace hindsight::runtime {
namespace {

/// Between two of these a scrape gets its turn, and a stop is noticed.
constexpr events::Position stretch = 2'000;
constexpr Duration wait_step = Duration::millis(200);
/// Between two questions to a log that is out of reach.
constexpr std::chrono::seconds out_of_reach_pause{1};

Time wall_time() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return Time{std::chrono::duration_cast<std::chrono::microseconds>(now).count()};
}

/// False: told to stop.
bool wait_a_little(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, out_of_reach_pause, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace

LiveProjections::LiveProjections(const events::Log& log, LiveProjectionsOptions options)
    : log_(log), options_(std::move(options)), metrics_(options_.metrics), begin_(options_.begin), past_(log, options_.domain) {
  thread_ = std::jthread([this](const std::stop_token& stop) { follow(stop); });
}

LiveProjections::~LiveProjections() = default;

std::string LiveProjections::metrics_text() const {
  if (!folded_) return {};
  const std::lock_guard lock(mutex_);
  return metrics_.text(past_.driver());
}

std::optional<projections::MetricsValues> LiveProjections::metrics() const {
  if (!folded_) return std::nullopt;
  const std::lock_guard lock(mutex_);
  return metrics_.values(past_.driver());
}

bool LiveProjections::look(const std::function<void(const admission::StateView&)>& reader) const {
  if (!folded_) return false;
  const std::lock_guard lock(mutex_);
  reader(past_.driver());
  return true;
}

// ---- the thread ---------------------------------------------------------------------------------------------------------------------

Result<void> LiveProjections::fold_first() {
  if (!begin_) {
    const auto last = log_.last();
    if (!last) return tl::unexpected(last.error());
    begin_ = *last;
  }
  const std::lock_guard lock(mutex_);
  return past_.go_to(*begin_);
}

Result<void> LiveProjections::fold_on() {
  const auto last = log_.wait_beyond(at_, wait_step);
  if (!last) return tl::unexpected(last.error());
  const events::Position to = std::min(*last, at_ + stretch);
  if (to <= at_) return {};
  const std::lock_guard lock(mutex_);
  if (auto ok = past_.fold_to(to); !ok) return ok;
  at_ = to;
  return {};
}

/// Does the work, again as long as the log is out of reach. False: told to stop, or no other try would help.
bool LiveProjections::insist(const std::stop_token& stop, const std::function<Result<void>()>& work) const {
  for (;;) {
    const auto done = work();
    if (done) return true;
    if (done.error().kind != ErrorKind::unavailable) {
      if (options_.on_notice)
        options_.on_notice("domain " + options_.domain + ": metrics and Kubernetes Events stand still: " + done.error().message);
      return false;
    }
    if (!wait_a_little(stop)) return false;
  }
}

void LiveProjections::see(const RecordView& record) {
  metrics_.record(record, past_.driver());
  if (options_.on_notice)
    for (const auto& line : projections::repeated_preemption_notices(record, past_.driver())) options_.on_notice(line);
  if (options_.events != nullptr) options_.events->offer(connectors::record_events(record, past_.driver()), wall_time());
}

void LiveProjections::follow(const std::stop_token& stop) {
  name_this_thread("projections");
  if (!insist(stop, [this] { return fold_first(); })) return;
  at_ = *begin_;
  past_.look_on({}, [this](events::Position position, const RecordView& record) {
    try {
      see(record);
    } catch (const std::exception& bug) {  // about one record: the others are told all the same
      if (options_.on_notice)
        options_.on_notice("domain " + options_.domain + ": what record " + std::to_string(position) +
                           " says cannot be told: " + bug.what());
    }
  });
  folded_ = true;
  while (!stop.stop_requested())
    if (!insist(stop, [this] { return fold_on(); })) return;
}

}  // namespace hindsight::runtime
