#include "cli/live/history_keeper.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>

#include "replay/moment.hpp"
#include "replay/trim.hpp"

namespace hindsight::cli {
namespace {

std::chrono::milliseconds usual_look(Duration keep) {
  const std::chrono::milliseconds part(keep.micros / 1000 / 24);
  return std::clamp<std::chrono::milliseconds>(part, std::chrono::seconds(1), std::chrono::hours(1));
}

}  // namespace

HistoryKeeper::HistoryKeeper(events::Log& log, Options options)
    : log_(log), options_(std::move(options)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

void HistoryKeeper::run(const std::stop_token& stop) {
  const auto look = options_.look.count() > 0 ? options_.look : usual_look(options_.keep);
  std::mutex mutex;
  std::condition_variable_any never;
  std::string told;
  for (std::unique_lock lock(mutex); !never.wait_for(lock, stop, look, [&] { return stop.stop_requested(); });) {
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

Result<void> HistoryKeeper::forget_old(const std::stop_token& stop) {
  const auto first = log_.first();
  if (!first) return tl::unexpected(first.error());
  const replay::Moment moment{.kind = replay::Moment::Kind::ago, .ago = options_.keep};
  const auto upto = replay::resolve(log_, moment);
  if (!upto && upto.error().kind == ErrorKind::not_found) return {};  // all records are newer
  if (!upto) return tl::unexpected(upto.error());
  if (*upto < *first) return {};
  const auto report =
      replay::trim(log_, *upto, options_.release, false, [&](const std::string&, events::Position) { return !stop.stop_requested(); });
  if (!report) return tl::unexpected(report.error());
  if (report->complete)
    options_.on_notice("history before record " + std::to_string(report->first) + " is forgotten: " + std::to_string(report->records) +
                       " records of " + std::to_string(report->domains) + " domains, " + std::to_string(report->snapshots_made) +
                       " snapshots made");
  return {};
}

}  // namespace hindsight::cli
