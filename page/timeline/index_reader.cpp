#include "page/timeline/index_reader.hpp"

#include <algorithm>
#include <bit>
#include <exception>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <variant>

#include "events/quarantine.hpp"
#include "events/record.hpp"
#include "page/server/freed_memory.hpp"
#include "page/server/quiet_thread.hpp"
#include "page/timeline/coarse_rows.hpp"
#include "replay/snapshots.hpp"

namespace hindsight::page {
namespace {

using timeline::Indexed;
using timeline::RowMaker;
using timeline::Series;

/// As a log gives them in one read: a thirtieth of a second at most, as a rule.
constexpr events::Position folded_at_once = 1024;
constexpr std::chrono::milliseconds told_every{200};
constexpr Duration retry_after = Duration::seconds(1);
constexpr std::chrono::minutes kept_every{10};

/// The width with which half as many rows as there may be hold so many records.
std::uint64_t row_width_for(events::Position records, std::size_t rows_max) {
  const std::uint64_t half = std::max<std::uint64_t>(1, rows_max / 2);
  return std::bit_ceil(std::max<std::uint64_t>(1, (records + half - 1) / half));
}

/// What a log cannot give now it may give later. Everything else that a fold says is wrong stays wrong until somebody sets it aside.
bool error_may_pass(const Error& error) {
  return error.kind == ErrorKind::io || error.kind == ErrorKind::unavailable || error.kind == ErrorKind::denied;
}

}  // namespace

TimelineIndex::Reader::Reader(const events::Log& log, std::string domain, TimelineOptions options)
    : log_(log), domain_(std::move(domain)), options_(std::move(options)), thread_([this] { run(); }) {}

TimelineIndex::Reader::~Reader() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

std::shared_ptr<const Indexed> TimelineIndex::Reader::now() const {
  const std::lock_guard lock(mutex_);
  return now_;
}

template <class Change>
void TimelineIndex::Reader::publish(Change change) {
  auto next = std::make_shared<Indexed>(*now());  // nobody else publishes
  change(*next);
  {
    const std::lock_guard lock(mutex_);
    now_ = std::move(next);
  }
  tell();
}

void TimelineIndex::Reader::tell() {
  if (!options_.grew) return;
  const auto known = now();
  options_.grew(known->main->end, known->last);
}

bool TimelineIndex::Reader::pause(Duration time) {
  turn_.give();
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, std::chrono::microseconds(time.micros), [this] { return stop_.load() || wish_.has_value(); });
  lock.unlock();
  return turn_.take([this] { return stop_.load(); }) && !stop_;
}

void TimelineIndex::Reader::run() {
  be_quiet();
  if (!turn_.take([this] { return stop_.load(); })) return;
  while (goes_on()) {
    try {
      const auto rested = std::exchange(rested_, std::nullopt);
      if ((rested ? go_on_from(*rested) : read_all()) == End::stopped) return;
    } catch (const std::exception& bug) {  // of the index: the page goes on without more of it
      publish([&](Indexed& now) {
        now.why_not_more = Error{ErrorKind::invalid, std::string("the index of the history ended: ") + bug.what()};
      });
      return;
    }
    return_freed_memory();  // a state, as a rule
  }
}

/// Where the beginning is not kept, behind the oldest snapshot that can be read.
Result<void> TimelineIndex::Reader::begin(replay::Past& past) const {
  const auto beginning = log_.beginning(domain_);
  if (beginning) return past.go_to(*beginning);
  if (beginning.error().kind != ErrorKind::not_found) return tl::unexpected(beginning.error());
  const auto snapshots = replay::snapshots_of(log_, domain_);
  if (!snapshots) return tl::unexpected(snapshots.error());
  for (auto it = snapshots->rbegin(); it != snapshots->rend() && goes_on(); ++it)
    if (past.go_to(it->position)) return {};
  return tl::unexpected(beginning.error());
}

TimelineIndex::Reader::End TimelineIndex::Reader::read_all() {
  set_aside_changed_ = false;
  replay::Past past(log_, domain_);
  const auto known = events::passed_over(log_, domain_);
  const auto last = log_.last();
  if (known && last)
    if (const auto kept = take_kept(*known, *last)) {
      set_aside_ = kept->passed_over;
      kept_to_ = kept->end();
      kept_at_ = Clock::now();
      publish([&](Indexed& now) {
        now.looked = true;
        now.last = *last;
        now.main = kept->rows;
        now.objects = kept->objects;
      });
      return go_on_from(*kept);
    }
  Result<void> began = known && last ? begin(past) : tl::unexpected(known ? last.error() : known.error());
  if (!began) {
    publish([&](Indexed& now) { now.why_not_more = began.error(); });
    (void)take_wish();  // nobody can carry it out
    return pause(retry_after) ? End::begin_anew : End::stopped;
  }
  set_aside_ = *known;
  kept_to_ = 0;
  took_.reset();
  const auto begin = past.position();
  publish([&](Indexed& now) {  // what was known of another fold is shown until this one knows more
    now.looked = true;
    now.last = *last;
    now.why_not_more.reset();
    now.details.clear();
    auto empty = std::make_shared<Series>();
    empty->begin = empty->end = begin;
    empty->width = row_width_for(*last - std::min(*last, begin), options_.rows_max);
    if (now.main->end > begin) now.coarse = now.main;
    now.main = std::move(empty);
    now.objects.reset();
  });
  if (*last > begin && *last - begin > options_.coarse_above && now()->coarse == nullptr) make_coarse(begin, *last);

  RowMaker rows(begin, now()->main->width, options_.rows_max);
  rows.begin(past.driver());
  timeline::ObjectIndexMaker objects(begin, options_.objects_bytes_max);
  const Fold fold{past, rows, objects};
  look_on(fold);
  return follow(fold);
}

/// What a file keeps of this history, asked for once; where it is of no use, somebody is told why, and all is read anew.
std::optional<timeline::KeptIndex> TimelineIndex::Reader::take_kept(const std::set<std::uint64_t>& set_aside, events::Position last) {
  if (options_.keep_in.empty() || std::exchange(asked_for_kept_, true)) return std::nullopt;
  auto kept = timeline::read_index_file(options_.keep_in, log_, domain_, options_.release);
  if (!kept) {
    notice(kept.error().message + "; the history is read anew");
    return std::nullopt;
  }
  if (!*kept || (*kept)->end() > last) return std::nullopt;
  if ((*kept)->passed_over != set_aside) {
    notice(options_.keep_in + ": records were set aside since it was written; the history is read anew");
    return std::nullopt;
  }
  const auto rows = std::accumulate((*kept)->rows->blocks.begin(), (*kept)->rows->blocks.end(), std::size_t{0},
                                    [](std::size_t n, const auto& block) { return n + block->size(); });
  if (rows > options_.rows_max + 1) {
    notice(options_.keep_in + ": found " + std::to_string(rows) + " rows; allowed: " + std::to_string(options_.rows_max) +
           "; the history is read anew");
    return std::nullopt;
  }
  return std::move(*kept);
}

/// As long as there is nothing behind what was kept, no state is needed.
TimelineIndex::Reader::End TimelineIndex::Reader::go_on_from(const timeline::KeptIndex& kept) {
  has_state_ = false;
  while (true) {
    serve_wish();
    const auto end = log_.last();
    if (end.has_value() == now()->why_not_more.has_value())
      publish([&](Indexed& now) { now.why_not_more = end ? std::nullopt : std::optional(end.error()); });
    if (end && *end > kept.end()) break;
    if (end && *end < kept.end()) return pause(retry_after) ? End::begin_anew : End::stopped;
    if (!pause(end ? options_.pause : retry_after)) return End::stopped;
  }
  const auto began = Clock::now();
  replay::Past past(log_, domain_);
  const auto there = past.go_to(kept.end(), [this] { return goes_on(); });
  took_ = std::max(took_.value_or(Clock::duration{}), Clock::now() - began);
  if (!there) {
    notice("the state where the index of the history goes on cannot be had: " + there.error().message + "; the history is read anew");
    return End::begin_anew;
  }
  if (!*there) return End::stopped;
  RowMaker rows(*kept.rows, options_.rows_max);
  rows.begin(past.driver());
  timeline::ObjectIndexMaker objects(*kept.objects, kept.open, options_.objects_bytes_max);
  const Fold fold{past, rows, objects};
  look_on(fold);
  return follow(fold);
}

void TimelineIndex::Reader::look_on(const Fold& fold) {
  fold.past.look_on([fold](events::Position at, const RecordView& record) { fold.rows.before(at, record, fold.past.driver()); },
                    [this, fold](events::Position at, const RecordView& record) {
                      fold.rows.after(at, record, fold.past.driver());
                      fold.objects.add(at, record);
                      const auto* o = std::get_if<Observation>(&record.body);
                      const auto* aside = o == nullptr ? nullptr : std::get_if<RecordQuarantined>(o);
                      if (aside != nullptr && !set_aside_.contains(aside->sequence)) set_aside_changed_ = true;
                    });
  fold.past.look_on_passed_over([fold, reader = std::make_shared<events::RecordReader>()](const events::StoredRecord& stored) {
    if (const auto record = reader->read(stored.bytes)) fold.objects.add_without_effect(stored.offset, **record);
  });
}

void TimelineIndex::Reader::make_coarse(events::Position begin, events::Position end) {
  // An error is one of the log, and the fold meets it as well.
  (void)timeline::make_coarse_rows(
      log_, domain_, {.begin = begin, .end = end},
      [&](std::shared_ptr<const Series> rows) { publish([&](Indexed& now) { now.coarse = std::move(rows); }); },
      [this] { return goes_on(); });
}

TimelineIndex::Reader::End TimelineIndex::Reader::follow(const Fold& fold) {
  auto& past = fold.past;
  const auto began = Clock::now();
  auto told = began;
  bool news = true;  // since it was told last
  has_state_ = true;
  while (goes_on()) {
    serve_wish();
    const auto last = log_.last();
    if (last && *last < past.position())  // it has lost records, and is another one now
      return pause(retry_after) ? End::begin_anew : End::stopped;
    auto folded = last ? Result<void>() : tl::unexpected(last.error());
    if (last && past.position() < *last) {
      folded = past.fold_to(std::min(*last, past.position() + folded_at_once));
      if (folded) fold.objects.reach(past.position());
      news = true;
    }
    if (set_aside_changed_) return End::begin_anew;
    if (!folded && !error_may_pass(folded.error())) return wait_behind(fold, folded.error());
    if (!folded) {
      publish([&](Indexed& now) { now.why_not_more = folded.error(); });
      news = true;
      if (!pause(retry_after)) return End::stopped;
      continue;
    }
    const bool at_end = past.position() >= *last;
    if (news && (at_end || Clock::now() - told >= told_every)) {
      publish([&](Indexed& now) {
        now.main = fold.rows.series(past.position(), past.driver());
        now.objects = fold.objects.index();
        now.last = *last;
        now.why_not_more.reset();
        if (at_end) now.coarse.reset();
      });
      told = Clock::now();
      news = false;
    }
    if (at_end && (kept_to_ == 0 || Clock::now() - kept_at_ >= kept_every)) keep(fold);
    if (at_end) {
      if (!took_) took_ = Clock::now() - began;
      if (Clock::now() - told >= std::max<Clock::duration>(std::chrono::microseconds(options_.let_go_after.micros), 10 * *took_)) {
        rested_ =
            timeline::KeptIndex{fold.rows.series(past.position(), past.driver()), fold.objects.index(), fold.objects.open(), set_aside_};
        keep(fold);
        return End::rested;
      }
    }
    if (at_end && !pause(options_.pause)) break;
  }
  keep(fold);
  return End::stopped;
}

/// Writes what is known into the file, if that spares the next process enough.
void TimelineIndex::Reader::keep(const Fold& fold) {
  const auto end = fold.past.position();
  if (options_.keep_in.empty() || cannot_keep_ || end < kept_to_ || end - std::max(kept_to_, now()->main->begin) < options_.keep_above)
    return;
  if (const auto space = log_.space(); space && *space && (*space)->nearly_full()) return;
  timeline::KeptIndex kept{fold.rows.series(end, fold.past.driver()), fold.objects.index(), fold.objects.open(), set_aside_};
  kept_at_ = Clock::now();
  if (const auto written = timeline::write_index_file(options_.keep_in, log_, domain_, options_.release, kept); !written) {
    cannot_keep_ = true;
    return notice("the index of the history is not kept, and is made anew by every start: " + written.error().message);
  }
  kept_to_ = end;
}

/// After an error the state may be that of half a record: what is told of the last row comes from another fold.
TimelineIndex::Reader::End TimelineIndex::Reader::wait_behind(const Fold& fold, const Error& error) {
  const auto& past = fold.past;
  replay::Past again(log_, domain_);
  const auto there = again.go_to(past.position(), [this] { return goes_on(); });
  const bool known = there && *there;
  publish([&](Indexed& now) {
    if (known) now.main = fold.rows.series(past.position(), again.driver());
    now.why_not_more = error;
    if (const auto last = log_.last()) now.last = *last;
  });
  while (pause(retry_after)) {
    serve_wish();
    const auto first = log_.first();
    if (first && *first > past.position() + 1) return End::begin_anew;  // what was wrong, or in the way, was forgotten
    const auto last = log_.last();
    if (last && *last < past.position()) return End::begin_anew;
    const auto changed = others_set_aside();
    if (changed && *changed) return End::begin_anew;
  }
  return End::stopped;
}

Result<bool> TimelineIndex::Reader::others_set_aside() const {
  return events::passed_over(log_, domain_).map([this](const auto& list) { return list != set_aside_; });
}

bool TimelineIndex::Reader::wish(events::Position from, events::Position to) {
  const Wish wish{from, to};
  if (!plan(*now(), wish)) return false;
  {
    const std::lock_guard lock(mutex_);
    if (refused_ == wish) return false;
    wish_ = wish;
  }
  wake_.notify_all();
  return true;
}

std::optional<TimelineIndex::Reader::Wish> TimelineIndex::Reader::take_wish() {
  const std::lock_guard lock(mutex_);
  return std::exchange(wish_, std::nullopt);
}

void TimelineIndex::Reader::serve_wish() {
  const auto wish = take_wish();
  if (!wish) return;
  make_detail(*wish);
  return_freed_memory();
}

/// A little more than was asked for, so that who moves on finds it. Nothing: it is there, or would be no better than what is.
std::optional<TimelineIndex::Reader::Detail> TimelineIndex::Reader::plan(const Indexed& known, const Wish& wish) const {
  const std::uint64_t length = wish.to - wish.from + 1;
  if (length > options_.detail_records || known.detail_of(wish.from, wish.to) != nullptr) return std::nullopt;
  const std::uint64_t step = std::max<std::uint64_t>(64, std::bit_floor(length) / 4);
  Detail out;
  const events::Position before = (wish.from - 1) / step * step, behind = (wish.to + 2 * step - 1) / step * step;
  out.begin = std::max(known.main->begin, before - std::min(before, step));
  out.end = std::max(wish.to, std::min(known.last, behind));
  if (out.begin >= wish.from) return std::nullopt;  // its first records are not kept
  out.width = std::bit_ceil((out.end - out.begin + options_.detail_rows - 1) / options_.detail_rows);
  return out.width < known.main->width ? std::optional(out) : std::nullopt;
}

void TimelineIndex::Reader::make_detail(const Wish& wish) {
  const auto detail = plan(*now(), wish);
  if (!detail) return;
  replay::Past past(log_, domain_);
  auto there = past.go_to(detail->begin, [this] { return goes_on(); });
  RowMaker maker(detail->begin, detail->width, 2 * options_.detail_rows);
  maker.look_on(past);
  while (there && *there && past.position() < detail->end) {
    if (auto ok = past.fold_to(std::min(detail->end, past.position() + folded_at_once)); !ok) there = tl::unexpected(ok.error());
    if (there) *there = goes_on();
  }
  if (!there) {  // the picture stays as it is
    {
      const std::lock_guard lock(mutex_);
      refused_ = wish;
    }
    return tell();
  }
  if (!*there) return;
  auto rows = maker.series(detail->end, past.driver());
  publish([&](Indexed& now) {
    if (now.details.size() >= details_max) now.details.erase(now.details.begin());
    now.details.push_back(std::move(rows));
  });
}

}  // namespace hindsight::page
