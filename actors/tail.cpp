#include "actors/tail.hpp"

#include <algorithm>
#include <chrono>

#include "vocabulary/thread_name.hpp"

namespace hindsight::actors {

namespace {

/// How long one wait for new records lasts: the most that an end of this thread takes.
constexpr Duration wait_max = Duration::millis(100);
constexpr unsigned failures_max = 30;

}  // namespace

Tail::Tail(const events::Log& log, Failed failed, Options options)
    : log_(log), failed_(std::move(failed)), options_(options), thread_([this](const std::stop_token& stop) { run(stop); }) {}

void Tail::stop() {
  {
    const std::lock_guard lock(mutex_);
    thread_.request_stop();
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Tail::follow(events::Position position, Deliver deliver) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !delivering_; });  // so that whom it delivered to may go
  position_ = position;
  deliver_ = std::move(deliver);
  handed_over_ = 0;
  last_of_batches_.clear();
  ++follows_;
  changed_.notify_all();
}

void Tail::taken() {
  const std::lock_guard lock(mutex_);
  if (handed_over_ != 0) --handed_over_;
  if (!last_of_batches_.empty()) {
    if (end_ && last_of_batches_.front() >= end_->position) reached_at_ = std::exchange(end_, std::nullopt)->seen_at;
    last_of_batches_.pop_front();
  }
  changed_.notify_all();
}

Duration Tail::behind() const {
  const std::lock_guard lock(mutex_);
  return {std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - reached_at_).count()};
}

/// One end is looked out for at a time: a log that grows all the time has no other that could be reached.
void Tail::ends_at(events::Position position) {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (position <= position_ && handed_over_ == 0) {
    reached_at_ = now;
    end_.reset();
  } else if (!end_) {
    end_ = End{position, now};
  }
}

void Tail::run(const std::stop_token& stop) {
  name_this_thread("tail");
  unsigned failures = 0;
  while (!stop.stop_requested()) {
    events::Position from = 0;
    std::uint64_t follows = 0;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stop.stop_requested() || (deliver_ && handed_over_ < options_.ahead); });
      if (stop.stop_requested()) return;
      from = position_;
      follows = follows_;
    }
    // To wait first costs nothing where there is something, and to read where there is nothing would cost a question to the brokers.
    auto read = std::make_shared<RecordsRead>();
    Result<void> result;
    const auto grown = log_.wait_beyond(from, wait_max);
    if (grown) ends_at(*grown);
    if (!grown)
      result = tl::unexpected(grown.error());
    else if (*grown <= from)
      continue;
    else
      result = log_.read(from + 1, options_.limits, read->batch);
    if (result && read->batch.empty()) continue;
    if (!result) {
      if (pause_after(result.error(), failures, stop)) continue;
      if (!stop.stop_requested()) failed_(result.error());
      return;
    }
    failures = 0;
    Deliver deliver;
    {
      const std::lock_guard lock(mutex_);
      if (follows != follows_ || !deliver_) continue;  // somebody else wants other records
      position_ = read->batch[read->batch.size() - 1].offset;
      ++handed_over_;
      last_of_batches_.push_back(position_);
      deliver = deliver_;
      delivering_ = true;
    }
    deliver(std::move(read));
    deliver = nullptr;
    {
      const std::lock_guard lock(mutex_);
      delivering_ = false;
    }
    changed_.notify_all();
  }
}

/// False: there is no use in trying again.
bool Tail::pause_after(const Error& error, unsigned& failures, const std::stop_token& stop) {
  constexpr unsigned longest_pause = 1000;
  unsigned pause = longest_pause;
  if (error.kind != ErrorKind::unavailable) {  // what is out of reach comes back some time
    if (error.kind != ErrorKind::io || ++failures > failures_max) return false;
    pause = std::min(longest_pause, 10U << std::min(failures, 7U));
  }
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::milliseconds(pause), [&] { return stop.stop_requested(); });
  return !stop.stop_requested();
}

}  // namespace hindsight::actors
