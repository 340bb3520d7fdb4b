#include "actors/appender.hpp"

#include <algorithm>
#include <stdexcept>

#include "events/checksum.hpp"
#include "vocabulary/record_order.hpp"
#include "vocabulary/thread_name.hpp"

namespace hindsight::actors {

using events::StoredRecord;

namespace {

/// May it be written a little later? A pod behind no gate that has not ended uses what it was given, and no decision waits for it.
bool can_wait(const Observation& o) {
  const auto* pod = std::get_if<PodObserved>(&o);
  return pod != nullptr && !pod->gated && !pod->topology_gated && !pod->ended && !pod->terminating;
}

}  // namespace

Appender::Appender(events::Log& log, const Clock& clock, Options options)
    : log_(log), clock_(clock), options_(std::move(options)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

void Appender::stop() {
  {
    const std::lock_guard lock(mutex_);
    refusing_ = true;
    open_ = false;
    thread_.request_stop();
  }
  wake_.notify_all();
  credit_.notify_all();
  if (thread_.joinable()) thread_.join();
}

// ---- putting into the queue ---------------------------------------------------------------------------------------------------------

/// With the lock held. Sequence and epoch are those of now; while closed they are put right by `open`. Returns the length in bytes.
std::size_t Appender::put(Queue& queue, Kind kind, const Body& body, std::uint64_t cause, Time time) {
  time = latest_ = std::max(time, latest_);
  const std::uint64_t sequence = options_.shared ? numbered_by_reader : next_serial_;
  const std::uint64_t epoch = options_.shared && kind == Kind::observation ? 0 : epoch_;
  RecordView r;
  r.envelope = {options_.domain, sequence, epoch, time, cause};
  r.body = body;
  const auto bytes = encoder_.encode(r);
  if (queue.kinds.empty()) queue.first_serial = next_serial_;
  queue.records.add({options_.domain, sequence, epoch, time, bytes});
  queue.kinds.push_back(kind);
  ++next_serial_;
  return bytes.size();
}

/// The same observation with the sequence and epoch of now.
std::size_t Appender::put_again(Queue& queue, const StoredRecord& record) {
  const auto read = reader_.read(record.bytes);
  if (!read) throw std::logic_error("the appender cannot read what it has encoded: " + read.error().message);
  const RecordView& view = **read;
  return put(queue, Kind::observation, view.body, view.envelope.cause, view.envelope.time);
}

/// Moves observations behind what is in `to`; decisions are dropped.
void Appender::keep_observations(Queue& from, Queue& to) {
  for (std::size_t i = 0; i < from.kinds.size(); ++i) {
    const StoredRecord record = from.records[i];
    if (from.kinds[i] == Kind::observation) {
      in_flight_bytes_ += put_again(to, record);  // the numbers in the envelope may take more or fewer bytes now
    } else {
      --in_flight_records_;
    }
    in_flight_bytes_ -= record.bytes.size();
  }
  from.clear();
}

Credit Appender::observe(std::span<const Observation> observations) {
  const std::lock_guard lock(mutex_);
  if (refusing_) return Credit::stopped;
  const Time now = clock_.now();
  const bool first = queue_.kinds.empty();
  if (!std::all_of(observations.begin(), observations.end(), can_wait))
    write_by_.reset();
  else if (first && !observations.empty())
    write_by_ = std::chrono::steady_clock::now() + options_.patience;
  for (const auto& o : observations) in_flight_bytes_ += put(queue_, Kind::observation, Body{o}, 0, now);
  taken_ += observations.size();
  in_flight_records_ += observations.size();
  paused_ |= !has_credit();
  if (paused_) write_by_.reset();  // whoever gives more waits until this is written
  if (open_ && (first || !write_by_)) wake_.notify_one();
  return has_credit() ? Credit::more : Credit::pause;
}

bool Appender::wait_for_credit(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  return credit_.wait_for(lock, timeout, [&] { return refusing_ || has_credit(); }) && !refusing_;
}

Appender::Load Appender::load() const {
  const std::lock_guard lock(mutex_);
  return {taken_, applied_, in_flight_records_, in_flight_bytes_, open_};
}

// ---- the sequencer's side ------------------------------------------------------------------------------------------------------------

void Appender::open(const End& end, std::uint64_t epoch, const EpochStarted& started, std::chrono::milliseconds pause) {
  begin(end, epoch, &started, pause);
}

void Appender::open(const End& end, std::chrono::milliseconds pause) {
  if (!options_.shared) throw std::logic_error("the appender of a log that is not shared needs an epoch");
  begin(end, 0, nullptr, pause);
}

void Appender::begin(const End& end, std::uint64_t epoch, const EpochStarted* started, std::chrono::milliseconds pause) {
  const std::lock_guard lock(mutex_);
  Queue waiting;
  std::swap(waiting, queue_);
  if (!options_.shared) next_serial_ = end.sequence + 1;
  position_ = end.position;
  latest_ = std::max(latest_, end.time);
  epoch_ = epoch;
  if (started != nullptr) {
    in_flight_bytes_ += put(queue_, Kind::epoch, Body{*started}, 0, clock_.now());
    ++in_flight_records_;
  }
  keep_observations(waiting, queue_);
  write_by_.reset();
  not_before_ = std::chrono::steady_clock::now() + pause;
  open_ = true;
  wake_.notify_one();
}

bool Appender::decide(const admission::Domain::Step& step) {
  return put_own(Body{Decisions{step.base, step.kind, step.events}}, step.base);
}

bool Appender::note(const DecisionsNoted& note) { return put_own(Body{note}, note.base); }

/// Of the sequencer, and written in its epoch or not at all.
bool Appender::put_own(const Body& body, std::uint64_t base) {
  const std::lock_guard lock(mutex_);
  if (!open_) return false;
  in_flight_bytes_ += put(queue_, Kind::decision, body, base, clock_.now());
  ++in_flight_records_;
  write_by_.reset();
  wake_.notify_one();
  return true;
}

void Appender::applied(events::StoredRecord record) {
  record.offset = 0;  // not known when it was written
  std::unique_lock lock(mutex_);
  if (options_.shared) {
    // Ours come back in the order in which they were written, with others' between.
    if (!written_.empty() && written_.front().checksum == events::checksum(record)) {
      if (written_.front().serial > certain_) came_back_ = written_.front().serial;
      came_back(written_.front());
    }
    return give_credit(lock);
  }
  while (!written_.empty() && written_.front().serial <= record.sequence) {
    const Written& w = written_.front();
    if (w.serial > certain_) {
      // Another writer's record may have come first and taken the number; then the append is about to fail.
      if (w.serial != record.sequence || w.checksum != events::checksum(record)) break;
      came_back_ = w.serial;
    }
    came_back(w);
  }
  give_credit(lock);
}

/// The oldest of what was written is in the log and applied.
void Appender::came_back(const Written& written) {
  if (written.kind == Kind::observation) ++applied_;
  --in_flight_records_;
  in_flight_bytes_ -= written.bytes;
  written_.pop_front();
}

/// Resumes below half of the limits, so that it does not go back and forth with every record.
void Appender::give_credit(std::unique_lock<std::mutex>& lock) {
  if (!has_credit()) return;
  credit_.notify_all();
  if (!paused_ || in_flight_records_ > options_.records_max / 2 || in_flight_bytes_ > options_.bytes_max / 2) return;
  paused_ = false;
  lock.unlock();
  if (options_.resume) options_.resume();
}

void Appender::close() {
  std::unique_lock lock(mutex_);
  open_ = false;
  idle_.wait(lock, [&] { return !appending_; });
  Queue waiting;
  std::swap(waiting, queue_);
  keep_observations(waiting, queue_);
}

void Appender::refuse() {
  const std::lock_guard lock(mutex_);
  refusing_ = true;
  credit_.notify_all();
}

// ---- the thread ----------------------------------------------------------------------------------------------------------------------

void Appender::run(const std::stop_token& stop) {
  name_this_thread("append");
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    wake_.wait(lock, [&] { return stop.stop_requested() || (open_ && !queue_.kinds.empty()); });
    const auto when = [&] { return std::max(not_before_, write_by_.value_or(not_before_)); };
    const auto due = [&] { return stop.stop_requested() || std::chrono::steady_clock::now() >= when(); };
    if (!due() && !wake_.wait_until(lock, when(), due)) continue;
    if (!stop.stop_requested() && open_ && !queue_.kinds.empty()) write(lock);
  }
}

/// Appends all that has gathered. The lock is not held while the log works.
void Appender::write(std::unique_lock<std::mutex>& lock) {
  std::swap(queue_, writing_);
  for (std::size_t i = 0; i < writing_.kinds.size(); ++i) {
    const StoredRecord r = writing_.records[i];
    written_.push_back({writing_.first_serial + i, r.bytes.size(), events::checksum(r),
                        writing_.kinds[i]});  // before: it may be read back before `append` returns
  }
  appending_ = true;
  came_back_ = 0;
  const auto expected = options_.shared ? std::optional<events::Position>() : std::optional(position_);
  lock.unlock();
  const auto result = log_.append(writing_.records.views(), expected);
  lock.lock();
  appending_ = false;
  if (result) {
    position_ = *result;
    certain_ = writing_.first_serial + writing_.kinds.size() - 1;
    writing_.clear();
  } else {
    give_up_writing();
  }
  idle_.notify_all();
  if (result || !options_.lost) return;
  lock.unlock();
  options_.lost(result.error());
  lock.lock();
}

/// What came back in spite of the failure is done. Of the rest the observations wait for the next epoch, before those that came later.
void Appender::give_up_writing() {
  open_ = false;
  while (!written_.empty() && written_.back().serial >= writing_.first_serial) written_.pop_back();
  Queue left;
  for (std::size_t i = 0; i < writing_.kinds.size(); ++i) {
    const StoredRecord r = writing_.records[i];
    if (writing_.first_serial + i <= came_back_) continue;
    left.records.add(r);
    left.kinds.push_back(writing_.kinds[i]);
  }
  writing_.clear();
  Queue behind;
  std::swap(behind, queue_);
  keep_observations(left, queue_);
  keep_observations(behind, queue_);
}

}  // namespace hindsight::actors
