#include "cli/live/domain_runner.hpp"

#include <algorithm>
#include <chrono>

#include "admission/snapshot.hpp"
#include "events/settings.hpp"

namespace hindsight::cli {
namespace {

constexpr std::size_t batch_max = 1000;
constexpr std::uint64_t restarts_max = 5;  // of the entities, before the runner gives up
constexpr auto longest_sleep = std::chrono::seconds(1);

}  // namespace

DomainRunner::DomainRunner(events::Log& log, RunnerOptions options)
    : log_(log), options_(std::move(options)), snapshots_(log, options_.snapshots), may_decide_(options_.decide_from_start) {}

DomainRunner::~DomainRunner() { stop(); }

Time DomainRunner::now() const { return std::max(options_.clock(), last_time_); }

// ---- start and stop -------------------------------------------------------------------------------------------------------------

Result<void> DomainRunner::rebuild() {
  driver_ = std::make_unique<actors::ActorDriver>([](Text json) { return events::read_settings(json); }, actors::ActorDriver::Options{.inline_receivers = 4});
  position_ = 0;
  sequence_ = 0;
  if (auto list = log_.snapshots()) {
    for (const auto& meta : *list) {
      Result<replay::SnapshotMeta> loaded = fail(ErrorKind::not_found, "");
      if (auto ok = driver_->with_entities([&](admission::Entities& e) { loaded = replay::load_state(log_, meta.position, options_.domain, e); }); !ok) return ok;
      if (loaded) {
        position_ = meta.position;
        break;
      }
      if (options_.on_notice) options_.on_notice("snapshot at " + std::to_string(meta.position) + " is not used: " + loaded.error().message);
      driver_ = std::make_unique<actors::ActorDriver>([](Text json) { return events::read_settings(json); }, actors::ActorDriver::Options{.inline_receivers = 4});
    }
  }
  return read_back();
}

Result<void> DomainRunner::start() {
  if (auto ok = snapshots_.open(); !ok && options_.on_notice) options_.on_notice(ok.error().message);
  if (auto ok = rebuild(); !ok) return ok;
  if (auto ok = driver_->with_entities([](admission::Entities& e) { e.forget_touched(); }); !ok) return ok;
  if (auto ok = begin_epoch(); !ok) return ok;
  publish(false);
  thread_ = std::jthread([this](std::stop_token stop) { run(std::move(stop)); });
  return {};
}

void DomainRunner::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  thread_.request_stop();
  changed_.notify_all();
  room_.notify_all();
  if (thread_.joinable() && thread_.get_id() != std::this_thread::get_id()) thread_.join();
  rested_.notify_all();
}

// ---- from other threads ---------------------------------------------------------------------------------------------------------

bool DomainRunner::observe(const Observation& o) {
  events::Encoder encoder;
  RecordView r;
  r.envelope.domain = options_.domain;
  r.body = o;
  const auto bytes = encoder.encode(r);
  std::vector<std::byte> copy(bytes.begin(), bytes.end());
  std::unique_lock lock(mutex_);
  room_.wait(lock, [&] { return stopped_ || inbox_.size() < options_.inbox_max; });
  if (stopped_) return false;
  inbox_.emplace_back(std::move(copy));
  ++work_asked_;
  changed_.notify_one();
  return true;
}

void DomainRunner::call(std::function<void(admission::Entities&)> work) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return;
  inbox_.emplace_back(std::move(work));
  ++work_asked_;
  changed_.notify_one();
}

void DomainRunner::allow_decisions() {
  const std::lock_guard lock(mutex_);
  may_decide_ = true;
  ++work_asked_;
  poked_ = true;
  changed_.notify_one();
}

void DomainRunner::poke() {
  const std::lock_guard lock(mutex_);
  poked_ = true;
  ++work_asked_;
  changed_.notify_one();
}

void DomainRunner::wait_until_rest() {
  std::unique_lock lock(mutex_);
  rested_.wait(lock, [&] { return stopped_ || work_done_ == work_asked_; });
}

DomainRunner::Status DomainRunner::status() const {
  const std::lock_guard lock(mutex_);
  Status s = status_;
  s.inbox = inbox_.size();
  return s;
}

// ---- the runner's thread ----------------------------------------------------------------------------------------------------------

void DomainRunner::publish(bool at_rest) {
  const std::lock_guard lock(mutex_);
  status_.position = position_;
  status_.epoch = epoch_;
  status_.decisions = decisions_;
  status_.synced = synced_;
  status_.caught_up = inbox_.empty();
  status_.at_rest = at_rest;
  status_.next_due = next_due_;
}

void DomainRunner::run(std::stop_token stop) {
  unsigned failures = 0;
  for (;;) {
    std::deque<Item> items;
    std::uint64_t asked = 0;
    bool may_decide = false;
    {
      std::unique_lock lock(mutex_);
      const auto due = [&] { return next_due_.is_set() && next_due_ <= options_.clock(); };
      if (inbox_.empty() && !poked_ && !due() && !stop.stop_requested()) {
        auto sleep = std::chrono::microseconds(longest_sleep);
        if (next_due_.is_set()) sleep = std::min(sleep, std::chrono::microseconds(std::max<std::int64_t>(100, (next_due_ - options_.clock()).micros)));
        changed_.wait_for(lock, sleep, [&] { return !inbox_.empty() || poked_ || stop.stop_requested(); });
      }
      if (stop.stop_requested() && inbox_.empty()) break;
      while (!inbox_.empty() && items.size() < batch_max) {
        items.push_back(std::move(inbox_.front()));
        inbox_.pop_front();
      }
      poked_ = false;
      asked = work_asked_ - inbox_.size();
      may_decide = may_decide_;
    }
    room_.notify_all();

    Result<void> ok;
    if (!items.empty()) ok = work_off(std::move(items));
    if (ok && next_due_.is_set() && next_due_ <= options_.clock()) {
      stamp_ = now();
      ok = append({encode(Observation(TimerFired{}), sequence_ + 1, 0)});
    }
    bool rests = true;
    if (ok && may_decide) {
      // Decide until at rest, but let observations in between two steps.
      auto decided = decide_once();
      if (!decided)
        ok = tl::unexpected(decided.error());
      else
        rests = !*decided;
    }
    if (!ok) {
      if (auto recovered = recover(ok.error(), failures, stop); !recovered) {
        const std::lock_guard lock(mutex_);
        status_.error = recovered.error().message;
        stopped_ = true;
        break;
      }
      const std::lock_guard lock(mutex_);
      poked_ = true;
      continue;
    }
    failures = 0;
    snapshot_if_due();
    publish(rests);
    const std::lock_guard lock(mutex_);
    if (rests && inbox_.empty() && !poked_) {
      work_done_ = asked;
      rested_.notify_all();
    } else if (!rests) {
      poked_ = true;
    }
  }
  room_.notify_all();
  rested_.notify_all();
}

Result<void> DomainRunner::work_off(std::deque<Item> items) {
  std::vector<std::vector<std::byte>> records;
  stamp_ = now();
  const auto flush = [&]() -> Result<void> {
    if (records.empty()) return {};
    auto ok = append(records);
    records.clear();
    return ok;
  };
  for (auto& item : items) {
    if (auto* work = std::get_if<Call>(&item)) {
      if (auto ok = flush(); !ok) return ok;
      if (auto ok = driver_->with_entities(*work); !ok) return ok;
      stamp_ = now();
      continue;
    }
    // the observation was encoded by another thread, before its place in the log was known
    auto read = reader_.read(std::get<std::vector<std::byte>>(item));
    if (!read) return tl::unexpected(read.error());
    records.push_back(encode((*read)->body, sequence_ + 1 + records.size(), 0));
  }
  return flush();
}

Result<bool> DomainRunner::decide_once() {
  auto step = driver_->decide();
  if (!step) return tl::unexpected(step.error());
  if (!*step) return false;
  stamp_ = now();
  const Decisions d{(*step)->base, (*step)->kind, (*step)->events};
  if (auto ok = append({encode(d, sequence_ + 1, (*step)->base)}); !ok) return tl::unexpected(ok.error());
  ++decisions_;
  return true;
}

std::vector<std::byte> DomainRunner::encode(const Body& body, std::uint64_t sequence, std::uint64_t cause) {
  RecordView r;
  r.envelope = {options_.domain, sequence, epoch_, stamp_, cause};
  r.body = body;
  const auto bytes = encoder_.encode(r);
  return {bytes.begin(), bytes.end()};
}

/// Appends, then applies what is read back. Sequences in the bytes must follow on `sequence_`.
Result<void> DomainRunner::append(const std::vector<std::vector<std::byte>>& records) {
  std::vector<events::EncodedRecord> views;
  views.reserve(records.size());
  for (std::size_t i = 0; i < records.size(); ++i) views.push_back({options_.domain, sequence_ + 1 + i, epoch_, stamp_, records[i]});
  auto written = log_.append(views, position_);
  if (!written) return tl::unexpected(written.error());
  return read_back();
}

Result<void> DomainRunner::read_back() {
  events::RecordBatch batch;
  for (;;) {
    if (auto ok = log_.read(position_ + 1, {}, batch); !ok) return ok;
    if (batch.empty()) break;
    for (const auto& stored : batch) {
      if (stored.domain == options_.domain) {
        auto read = reader_.read(stored.bytes);
        if (!read) return fail(read.error().kind, "record " + std::to_string(stored.offset) + ": " + read.error().message);
        if (auto ok = driver_->apply(**read); !ok) return ok;
        sequence_ = stored.sequence;
        epoch_ = std::max(epoch_, stored.epoch);
        last_time_ = std::max(last_time_, stored.time);
        if (options_.on_record) options_.on_record(**read);
      }
      position_ = stored.offset;
    }
  }
  take_intents();
  return {};
}

void DomainRunner::take_intents() {
  std::vector<admission::Intent> intents;
  (void)driver_->with_entities([&](admission::Entities& e) {
    intents = e.collect_intents();
    next_due_ = e.domain().next_due();
    synced_ = e.domain().synced();
    sequence_ = e.domain().sequence();
  });
  if (!intents.empty() && options_.on_intents) options_.on_intents(std::move(intents));
}

Result<void> DomainRunner::begin_epoch() {
  ++epoch_;
  stamp_ = now();
  return append({encode(EpochStarted{options_.writer, options_.release}, sequence_ + 1, 0)});
}

/// What went wrong decides: a dead entity means building anew; a log that does not answer means waiting, and then a new epoch.
Result<void> DomainRunner::recover(const Error& error, unsigned& failures, std::stop_token& stop) {
  if (options_.on_notice) options_.on_notice(error.message);
  if (error.kind == ErrorKind::corrupt || error.kind == ErrorKind::unsupported || error.kind == ErrorKind::invalid) return tl::unexpected(error);
  {
    const std::lock_guard lock(mutex_);
    status_.caught_up = false;
    if (error.kind == ErrorKind::unavailable && ++status_.restarts > restarts_max)
      return fail(ErrorKind::unavailable, "the domain failed " + std::to_string(restarts_max) + " times, the last time with: " + error.message);
  }
  for (;;) {
    auto ok = error.kind == ErrorKind::unavailable ? rebuild() : read_back();
    if (ok) ok = begin_epoch();
    if (ok) return {};
    if (++failures > 60 || stop.stop_requested()) return ok;
    std::this_thread::sleep_for(std::chrono::milliseconds(std::min(1000U, 50U * failures)));
  }
}

void DomainRunner::snapshot_if_due() {
  if (!snapshots_.due(position_, last_time_)) return;
  std::optional<replay::EncodedSnapshot> snapshot;
  (void)driver_->with_entities([&](admission::Entities& e) { snapshot = replay::encode_state(e, options_.domain, position_, options_.release); });
  if (!snapshot) return;
  if (auto ok = snapshots_.store(*snapshot); !ok && options_.on_notice) options_.on_notice("snapshot was not stored: " + ok.error().message);
}

}  // namespace hindsight::cli
