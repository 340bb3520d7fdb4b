#include "replay/past.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "admission/rules.hpp"
#include "events/settings.hpp"
#include "replay/snapshots.hpp"

namespace hindsight::replay {

std::unique_ptr<LoopDriver> new_driver() {
  return std::make_unique<LoopDriver>([](Text json) { return events::read_settings(json); });
}

Result<void> apply_record(LoopDriver& driver, const RecordView& record) {
  try {
    return driver.apply(record);
  } catch (const std::exception& bug) {
    return fail(ErrorKind::corrupt, std::string("no entity can take it: ") + bug.what() +
                                        "; 'hindsight log quarantine' sets aside a record that no release can take");
  }
}

tl::unexpected<Error> at_record(const Log& log, Position offset, const Error& error) {
  return fail(error.kind, "log " + std::string(log.name()) + ", record " + std::to_string(offset) + ": " + error.message);
}

Past::Past(const Log& log, std::string domain, PastOptions options)
    : log_(log), domain_(std::move(domain)), options_(std::move(options)), driver_(new_driver()) {}

/// Once before the first record. True: there are others than those that this fold knows of.
Result<bool> Past::ask_for_quarantined() {
  auto now = events::passed_over(log_, domain_);
  if (!now) return tl::unexpected(now.error());
  asked_ = true;
  const bool changed = *now != to_pass_over_;
  to_pass_over_ = std::move(*now);
  return changed;
}

std::unique_ptr<LoopDriver> Past::driver_that_passes() const {
  auto driver = new_driver();
  driver->entities().domain().pass_over(to_pass_over_);
  return driver;
}

/// A record that was folded has been set aside since: back to where the fold was, without it. Who looks on has seen all that before.
Result<void> Past::begin_anew() {
  const Position here = position_;
  const auto before = std::exchange(before_, {});
  const auto after = std::exchange(after_, {});
  const auto passed_over = std::exchange(passed_over_, {});
  driver_ = driver_that_passes();
  position_ = 0;
  auto done = jump(here, Jump::where_it_saves);
  if (done) done = fold_to(here);
  before_ = before;
  after_ = after;
  passed_over_ = passed_over;
  return done;
}

Result<void> Past::go_to(Position target) {
  if (auto ok = jump(target, Jump::where_it_saves); !ok) return ok;
  auto there = fold_to(target);
  if (!there && passes_damage(there.error(), target)) there = fold_to(target);
  return there;
}

Result<bool> Past::go_to(Position target, const std::function<bool()>& go_on) {
  constexpr Position records_at_once = 20'000;
  if (!go_on()) return false;
  if (auto ok = jump(target, Jump::where_it_saves); !ok) return tl::unexpected(ok.error());
  while (position_ < target) {
    if (!go_on()) return false;
    auto on = fold_to(std::min(target, position_ + records_at_once));
    if (!on && !passes_damage(on.error(), target)) return tl::unexpected(on.error());
  }
  return go_on();
}

/// Where a record cannot be read, a snapshot behind it still leads to `target`.
bool Past::passes_damage(const Error& error, Position target) {
  const Position here = position_;
  return error.kind == ErrorKind::corrupt && jump(target, Jump::wherever_one_is) && position_ > here;
}

/// To the newest usable snapshot that saves folding, or, forward, that saves more than it costs to load.
Result<void> Past::jump(Position target, Jump which) {
  const auto changed = ask_for_quarantined();
  if (!changed) return tl::unexpected(changed.error());
  if (*changed && position_ != 0) {
    if (auto ok = begin_anew(); !ok) return ok;
  } else if (*changed) {
    driver_ = driver_that_passes();
  }
  const bool back = target < position_;
  Position here = back ? 0 : position_;
  // In the time in which a Workload is loaded, two records are folded (bench/RESULTS.md).
  if (here != 0 && which == Jump::where_it_saves) here += 2 * Position{driver_->domain().parent_count()};
  if (options_.use_snapshots) {
    const auto all = snapshots_of(log_, domain_);
    if (!all) return tl::unexpected(all.error());
    for (const auto& meta : *all) {
      if (meta.position > target) continue;
      if (meta.position <= here) break;
      if (options_.one_at_a_time && position_ != 0) {
        driver_ = driver_that_passes();
        position_ = started_from_ = here = 0;
      }
      auto fresh = driver_that_passes();
      if (const auto loaded = load_state(log_, meta, domain_, fresh->entities()); !loaded) {
        notices_.push_back(loaded.error().message);
        continue;
      }
      driver_ = std::move(fresh);
      driver_->forget_touched();
      position_ = started_from_ = meta.position;
      note_newer_rules();
      return {};
    }
  }
  if (back || position_ == 0) {
    const auto beginning = log_.beginning(domain_);
    if (!beginning) return tl::unexpected(beginning.error());
    if (target < *beginning)
      return fail(ErrorKind::not_found, "log " + std::string(log_.name()) + ": record " + std::to_string(target) +
                                            " is not kept any more; the first that is kept is " + std::to_string(*beginning + 1));
    if (back) driver_ = driver_that_passes();
    position_ = *beginning;
    started_from_ = 0;
  }
  return {};
}

Result<void> Past::fold_to(Position target) {
  if (!asked_) {
    if (auto known = ask_for_quarantined(); !known) return tl::unexpected(known.error());
    driver_->entities().domain().pass_over(to_pass_over_);
  }
  events::RecordBatch batch;
  const Position first = position_;
  while (position_ < target) {
    if (options_.progress) options_.progress(position_ - first, target - first);
    if (auto ok = log_.read(position_ + 1, {}, batch); !ok) return ok;
    if (batch.empty()) {
      const std::string end = "log " + std::string(log_.name()) + " ends at " + std::to_string(position_);
      return fail(ErrorKind::not_found, end + ", before record " + std::to_string(target));
    }
    const auto went_on = fold_batch(batch, target);
    if (!went_on) return tl::unexpected(went_on.error());
    if (!*went_on) {
      if (auto ok = begin_anew(); !ok) return ok;
    }
    driver_->forget_touched();  // nobody asks a replay what it wants of the world
  }
  if (options_.progress) options_.progress(target - first, target - first);
  return {};
}

/// False: a record says that one that was folded before is to be passed over.
Result<bool> Past::fold_batch(const events::RecordBatch& batch, Position target) {
  for (const auto& stored : batch) {
    if (stored.offset > target) return true;
    if (stored.domain == domain_) {
      if (const auto said = events::quarantine_in(stored); said && !to_pass_over_.contains(said->sequence)) {
        const auto changed = ask_for_quarantined();
        if (!changed) return tl::unexpected(changed.error());
        if (*changed) return false;  // else the record itself says what is wrong
      }
      if (auto ok = fold_one(stored); !ok) return tl::unexpected(ok.error());
    }
    position_ = stored.offset;
  }
  return true;
}

/// The fold itself may have changed with them (admission/rules.hpp), and nothing in the records would say so.
void Past::note_newer_rules() {
  if (told_of_rules_ || driver_->domain().rules() <= admission::rules_version) return;
  told_of_rules_ = true;
  notices_.push_back("log " + std::string(log_.name()) + ": a later release has decided by rules " +
                     std::to_string(driver_->domain().rules()) + " since about record " + std::to_string(position_ + 1) +
                     "; this build knows rules up to " + std::to_string(admission::rules_version) +
                     ", and what it shows of later moments may not be what was");
}

Result<void> Past::fold_one(const events::StoredRecord& stored) {
  auto& domain = driver_->entities().domain();
  if (const Envelope envelope{stored.domain, stored.sequence, stored.epoch, stored.time, 0}; domain.passes_over(envelope)) {
    domain.pass(envelope);
    ++folded_;
    if (passed_over_) passed_over_(stored);
    return {};
  }
  const auto record = reader_.read(stored.bytes);
  if (!record) return at_record(log_, stored.offset, record.error());
  if (before_) before_(stored.offset, **record);
  if (auto ok = apply_record(*driver_, **record); !ok) return at_record(log_, stored.offset, ok.error());
  reader_.number(domain.sequence());
  ++folded_;
  note_newer_rules();
  if (after_) after_(stored.offset, **record);
  return {};
}

}  // namespace hindsight::replay
