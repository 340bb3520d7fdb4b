#include "runtime/history_keeper.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>

#include "replay/moment.hpp"
#include "replay/trim.hpp"
#include "vocabulary/thread_name.hpp"

namespace hindsight::runtime {
namespace {

constexpr std::chrono::seconds hurried_look{60};

std::chrono::milliseconds usual_look(Duration keep) {
  const std::chrono::milliseconds part(keep.micros / 1000 / 24);
  return std::clamp<std::chrono::milliseconds>(part, std::chrono::seconds(1), std::chrono::hours(1));
}

}  // namespace

HistoryKeeper::HistoryKeeper(events::Log& log, Options options)
    : log_(log), options_(std::move(options)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

void HistoryKeeper::run(const std::stop_token& stop) {
  name_this_thread("history-cut");
  const auto look = options_.look.count() > 0 ? options_.look : usual_look(options_.keep);
  std::mutex mutex;
  std::condition_variable_any never;
  std::string told;
  // A log that is about to be full is looked at more often, for what is too old may be what takes the room.
  const auto pause = [&] {
    const auto space = log_.space();
    return space && *space && (*space)->nearly_full() ? std::min<std::chrono::milliseconds>(look, hurried_look) : look;
  };
  for (std::unique_lock lock(mutex); !never.wait_for(lock, stop, pause(), [&] { return stop.stop_requested(); });) {
    std::string why;
    try {
      if (auto ok = forget_old(stop); !ok) why = ok.error().message;
    } catch (const std::exception& bug) {  // in a state of its own: the node is none the worse
      why = bug.what();
    }
    if (!why.empty() && why != told) options_.on_notice("old history is not forgotten: " + why);
    told = why;
  }
}

/// What is older than it is to be kept ends here. A single record of a clock that was a year ahead would make all others too old, so both
/// the last record and the clock must say so. Only when the log is full the clock alone is asked: then there is no later record, and would
/// never be one.
Result<events::Position> HistoryKeeper::end_of_old() const {
  const auto by_log = replay::resolve(log_, {.kind = replay::Moment::Kind::ago, .ago = options_.keep});
  if (!options_.now) return by_log;
  const auto space = log_.space();
  const bool full = space && *space && (*space)->full();
  if (!by_log && !full) return by_log;
  const auto by_clock = replay::resolve(log_, {.kind = replay::Moment::Kind::time, .time = options_.now() - options_.keep});
  if (!by_clock || full) return by_clock;
  return std::min(*by_log, *by_clock);
}

Result<void> HistoryKeeper::forget_old(const std::stop_token& stop) {
  const auto upto = end_of_old();
  const bool none = !upto && upto.error().kind == ErrorKind::not_found;  // all records are newer
  if (!upto && !none) return tl::unexpected(upto.error());
  // Also when nothing is old: a trim that failed half-way is finished by the next one.
  const auto report = replay::trim(log_, none ? 0 : *upto, options_.release, false,
                                   [&](const std::string&, events::Position) { return !stop.stop_requested(); });
  if (!report) return tl::unexpected(report.error());
  if (report->complete && report->records > 0)
    options_.on_notice("history before record " + std::to_string(report->first) + " is forgotten: " + std::to_string(report->records) +
                       " records of " + std::to_string(report->domains) + " domains, " + std::to_string(report->snapshots_made) +
                       " snapshots made");
  return {};
}

}  // namespace hindsight::runtime
