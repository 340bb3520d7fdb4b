#include "cli/live_projections.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "connectors/events/decision_events.hpp"
#include "projections/repeated_preemptions.hpp"

namespace hindsight::cli {
namespace {

/// Between two of these a scrape gets its turn, and a stop is noticed.
constexpr events::Position stretch = 2'000;
constexpr Duration wait_step = Duration::millis(200);

Time wall_time() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return Time{std::chrono::duration_cast<std::chrono::microseconds>(now).count()};
}

}  // namespace

Result<std::unique_ptr<LiveProjections>> LiveProjections::start(const events::Log& log, LiveProjectionsOptions options) {
  const auto last = log.last();
  if (!last) return tl::unexpected(last.error());
  return std::unique_ptr<LiveProjections>(new LiveProjections(log, *last, std::move(options)));
}

LiveProjections::LiveProjections(const events::Log& log, events::Position begin, LiveProjectionsOptions options)
    : log_(log), begin_(begin), options_(std::move(options)), metrics_(options_.metrics), past_(log, options_.domain) {
  thread_ = std::jthread([this](const std::stop_token& stop) { follow(stop); });
}

LiveProjections::~LiveProjections() = default;

std::string LiveProjections::metrics_text() const {
  const std::lock_guard lock(mutex_);
  return folded_ ? metrics_.text(past_.driver()) : std::string();
}

bool LiveProjections::look(const std::function<void(const admission::StateView&)>& reader) const {
  const std::lock_guard lock(mutex_);
  if (folded_) reader(past_.driver());
  return folded_;
}

Result<void> LiveProjections::fold_on(events::Position to) {
  const std::lock_guard lock(mutex_);
  return past_.fold_to(to);
}

void LiveProjections::follow(const std::stop_token& stop) {
  const auto give_up = [&](const Error& error) {
    if (options_.on_notice) options_.on_notice("metrics and Kubernetes Events stand still: " + error.message);
  };
  {
    const std::lock_guard lock(mutex_);
    if (auto ok = past_.go_to(begin_); !ok) return give_up(ok.error());
    folded_ = true;
    past_.look_on({}, [this](events::Position, const RecordView& record) {
      metrics_.record(record, past_.driver());
      if (options_.on_notice)
        for (const auto& line : projections::repeated_preemption_notices(record, past_.driver())) options_.on_notice(line);
      if (options_.events != nullptr) options_.events->offer(connectors::record_events(record, past_.driver()), wall_time());
    });
  }
  for (events::Position at = begin_; !stop.stop_requested();) {
    const auto last = log_.wait_beyond(at, wait_step);
    if (!last) return give_up(last.error());
    const events::Position to = std::min(*last, at + stretch);
    if (to <= at) continue;
    if (auto ok = fold_on(to); !ok) return give_up(ok.error());
    at = to;
  }
}

}  // namespace hindsight::cli
