#include "events/append_queue.hpp"

#include <semaphore>
#include <utility>

namespace hindsight::events {
namespace {

/// Bounds of one group: a crowd of writers must not hold up the first of them.
constexpr std::size_t group_records_max = 16'384;
constexpr std::size_t group_requests_max = 1'024;

}  // namespace

void AppendQueue::put(WaitingAppend waiting) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(waiting));
  }
  queued_.notify_one();
}

void AppendQueue::put(RecordBatch batch, std::optional<Position> expected, AppendDone done) {
  WaitingAppend waiting;
  waiting.batch = std::move(batch);  // a moved batch keeps its memory where it is
  waiting.views = waiting.batch.views();
  waiting.records = waiting.views;
  waiting.expected = expected;
  waiting.done = std::move(done);
  put(std::move(waiting));
}

Result<Position> AppendQueue::put_and_wait(std::span<const EncodedRecord> records, std::optional<Position> expected) {
  Result<Position> outcome;
  std::binary_semaphore finished(0);
  WaitingAppend waiting;
  waiting.records = records;
  waiting.expected = expected;
  waiting.done = [&](Result<Position> result) {
    outcome = std::move(result);
    finished.release();
  };
  put(std::move(waiting));
  finished.acquire();
  return outcome;
}

std::vector<WaitingAppend> AppendQueue::next_group() {
  std::unique_lock lock(mutex_);
  if (std::exchange(group_out_, false)) writing_ = false;
  queued_.wait(lock, [&] { return !writing_ && (stopping_ || !queue_.empty()); });
  std::vector<WaitingAppend> group;
  std::size_t records = 0;
  while (!queue_.empty() && group.size() < group_requests_max) {
    records += queue_.front().records.size();
    if (!group.empty() && records > group_records_max) break;
    group.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  writing_ = group_out_ = !group.empty();
  return group;
}

bool AppendQueue::begin_alone() {
  const std::lock_guard lock(mutex_);
  if (writing_ || stopping_ || !queue_.empty()) return false;
  return writing_ = true;
}

void AppendQueue::end_alone() {
  {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    if (queue_.empty() && !stopping_) return;
  }
  queued_.notify_one();
}

void AppendQueue::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  queued_.notify_all();
}

}  // namespace hindsight::events
