#include "replay/past.hpp"

#include <algorithm>
#include <utility>

#include "events/settings.hpp"
#include "replay/snapshots.hpp"

namespace hindsight::replay {

std::unique_ptr<LoopDriver> new_driver() {
  return std::make_unique<LoopDriver>([](Text json) { return events::read_settings(json); });
}

tl::unexpected<Error> at_record(const Log& log, Position offset, const Error& error) {
  return fail(error.kind, "log " + std::string(log.name()) + ", record " + std::to_string(offset) + ": " + error.message);
}

Past::Past(const Log& log, std::string domain, PastOptions options)
    : log_(log), domain_(std::move(domain)), options_(std::move(options)), driver_(new_driver()) {}

Result<void> Past::go_to(Position target) {
  if (auto ok = jump(target); !ok) return ok;
  return fold_to(target);
}

Result<bool> Past::go_to(Position target, const std::function<bool()>& go_on) {
  constexpr Position records_at_once = 20'000;
  if (!go_on()) return false;
  if (auto ok = jump(target); !ok) return tl::unexpected(ok.error());
  while (position_ < target) {
    if (!go_on()) return false;
    if (auto ok = fold_to(std::min(target, position_ + records_at_once)); !ok) return tl::unexpected(ok.error());
  }
  return go_on();
}

/// To the newest usable snapshot that saves folding.
Result<void> Past::jump(Position target) {
  const bool back = target < position_;
  const Position here = back ? 0 : position_;
  if (options_.use_snapshots) {
    const auto all = snapshots_of(log_, domain_);
    if (!all) return tl::unexpected(all.error());
    for (const auto& meta : *all) {
      if (meta.position > target) continue;
      if (meta.position <= here) break;
      auto fresh = new_driver();
      if (const auto loaded = load_state(log_, meta, domain_, fresh->entities()); !loaded) {
        notices_.push_back(loaded.error().message);
        continue;
      }
      driver_ = std::move(fresh);
      driver_->forget_touched();
      position_ = started_from_ = meta.position;
      return {};
    }
  }
  if (back || position_ == 0) {
    const auto beginning = log_.beginning(domain_);
    if (!beginning) return tl::unexpected(beginning.error());
    if (target < *beginning)
      return fail(ErrorKind::not_found, "log " + std::string(log_.name()) + ": record " + std::to_string(target) +
                                            " is not kept any more; the first that is kept is " + std::to_string(*beginning + 1));
    if (back) driver_ = new_driver();
    position_ = *beginning;
    started_from_ = 0;
  }
  return {};
}

Result<void> Past::fold_to(Position target) {
  events::RecordBatch batch;
  const Position first = position_;
  while (position_ < target) {
    if (options_.progress) options_.progress(position_ - first, target - first);
    if (auto ok = log_.read(position_ + 1, {}, batch); !ok) return ok;
    if (batch.empty()) {
      const std::string end = "log " + std::string(log_.name()) + " ends at " + std::to_string(position_);
      return fail(ErrorKind::not_found, end + ", before record " + std::to_string(target));
    }
    for (const auto& stored : batch) {
      if (stored.offset > target) break;
      if (stored.domain == domain_) {
        const auto record = reader_.read(stored.bytes);
        if (!record) return at_record(log_, stored.offset, record.error());
        if (before_) before_(stored.offset, **record);
        if (auto ok = driver_->apply(**record); !ok) return at_record(log_, stored.offset, ok.error());
        reader_.number(driver_->entities().domain().sequence());
        ++folded_;
        if (after_) after_(stored.offset, **record);
      }
      position_ = stored.offset;
    }
    driver_->forget_touched();  // nobody asks a replay what it wants of the world
  }
  if (options_.progress) options_.progress(target - first, target - first);
  return {};
}

}  // namespace hindsight::replay
