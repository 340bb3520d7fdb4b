#include "page/server/live_events.hpp"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "page/server/quiet_thread.hpp"
#include "vocabulary/thread_name.hpp"

namespace hindsight::page {
namespace {

using std::chrono::milliseconds;

/// Between two looks at the end of the log.
constexpr milliseconds pause{250};
/// How long one wait for more of it lasts: so long the end of the process may take longer for it.
constexpr Duration patience = Duration::millis(500);

std::string written(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

Result<Json> place_of(const events::Log& log, replay::Position position) {
  replay::Position record = position;
  if (record == 0) {
    const auto first = log.first();
    if (!first) return tl::unexpected(first.error());
    record = *first;
  }
  events::RecordBatch batch;
  if (auto ok = log.read(record, {.records = 1}, batch); !ok) return tl::unexpected(ok.error());
  const Time time = batch.empty() ? Time::from_seconds(0) : batch[0].time;  // an empty log
  return Json{{"position", position}, {"time", format_rfc3339_micro(time)}};
}

LiveEvents::LiveEvents(std::shared_ptr<const events::Log> log) : log_(std::move(log)), thread_([this] { work(); }) {}

LiveEvents::~LiveEvents() { stop(); }

void LiveEvents::stop() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    for (const auto& one : followers_) one.stream->end();
    followers_.clear();
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::shared_ptr<operations::EventStream> LiveEvents::follow(bool sees_all, std::optional<std::chrono::seconds> lasts) {
  auto stream = std::make_shared<operations::EventStream>();
  const std::lock_guard lock(mutex_);
  if (ending_) {
    stream->end();
    return stream;
  }
  std::erase_if(followers_, [](const Follower& one) { return one.stream->is_over(); });
  // With others the thread keeps up with the log; without, what it knows may be old.
  if (!followers_.empty() && !latest_.empty()) stream->send_newest("latest", latest_);
  if (followers_.empty()) latest_.clear();
  if (!trouble_.empty()) stream->send_newest("trouble", trouble_);
  using Clock = std::chrono::steady_clock;
  followers_.push_back({stream, sees_all, lasts ? Clock::now() + *lasts : Clock::time_point::max()});
  changed_.notify_all();
  return stream;
}

void LiveEvents::tell(std::string_view name, std::string_view data, bool newest, bool only_for_all) {
  const std::lock_guard lock(mutex_);
  send(name, data, newest, only_for_all);
}

void LiveEvents::send(std::string_view name, std::string_view data, bool newest, bool only_for_all) {
  std::erase_if(followers_, [&](const Follower& one) {
    if (only_for_all && !one.sees_all) return one.stream->is_over();
    return !(newest ? one.stream->send_newest(name, data) : one.stream->send(name, data));
  });
}

std::size_t LiveEvents::followers() const {
  const std::lock_guard lock(mutex_);
  return followers_.size();
}

void LiveEvents::work() {
  name_this_thread("page-live");
  be_quiet();
  std::unique_lock lock(mutex_);
  while (!ending_) {
    std::erase_if(followers_, [now = std::chrono::steady_clock::now()](const Follower& one) {
      if (now >= one.until) one.stream->end();
      return one.stream->is_over();
    });
    if (followers_.empty()) {
      changed_.wait(lock, [this] { return ending_ || !followers_.empty(); });
      continue;
    }
    lock.unlock();
    look_at_end();
    lock.lock();
    changed_.wait_for(lock, pause, [this] { return ending_; });
  }
}

void LiveEvents::look_at_end() {
  replay::Position known = 0;
  {
    const std::lock_guard lock(mutex_);
    known = latest_.empty() ? 0 : last_;
  }
  auto last = known == 0 ? log_->last() : log_->wait_beyond(known, patience);
  auto place = last ? place_of(*log_, *last) : Result<Json>(tl::unexpected(last.error()));
  const std::lock_guard lock(mutex_);
  if (!place) {
    auto trouble = written(Json{{"message", place.error().message}});
    if (trouble != trouble_) send("trouble", trouble, true, false);
    trouble_ = std::move(trouble);
    return;
  }
  auto latest = written(*place);
  if (latest == latest_ && trouble_.empty()) return;
  trouble_.clear();
  last_ = *last;
  latest_ = std::move(latest);
  send("latest", latest_, true, false);
}

}  // namespace hindsight::page
