#include "runtime/node_snapshots.hpp"

#include <exception>
#include <system_error>

#include "replay/past.hpp"
#include "vocabulary/thread_name.hpp"

namespace hindsight::runtime {
namespace {

/// After a failure, where the policy names no number.
constexpr events::Position records_after_failure = 100'000;

}  // namespace

void NodeSnapshots::attach(actors::NodeOptions& options) {
  options.restore = [this, domain = options.domain](admission::Entities& entities, unsigned attempt) -> Result<events::Position> {
    const auto list = replay::snapshots_of(log_, domain);
    if (!list) return events::Position{0};  // out of reach, perhaps: whoever reads the log waits for it
    if (attempt >= list->size()) return log_.beginning(domain);
    const auto loaded = replay::load_state(log_, (*list)[attempt], domain, entities);
    // Only a beginning that is gone ends it; a snapshot may have been dropped since it was listed.
    if (!loaded) return fail(loaded.error().kind == ErrorKind::not_found ? ErrorKind::io : loaded.error().kind, loaded.error().message);
    return (*list)[attempt].position;
  };
  if (options.role == actors::Role::connector) return;  // those who decide write them
  writer_.emplace(log_, options.domain, policy_);
  if (auto list = writer_->open(); !list)
    notice_("the snapshots cannot be listed: " + list.error().message);
  else
    know(*list);
  options.on_lead = [this, next = options.on_lead](std::uint64_t epoch, events::Position position) {
    leads_ = true;
    if (next) next(epoch, position);
  };
  options.on_batch = [this, domain = options.domain, version = options.release](const admission::Entities& /*entities*/,
                                                                                events::Position position, Time now) {
    if (!leads_ || busy_ || position < not_before_ || !writer_->due(position, now)) return;
    busy_ = true;
    try {
      thread_ = std::jthread(
          [this, domain, version, moment = Moment{position, now}](const std::stop_token& stop) { make(stop, domain, version, moment); });
    } catch (const std::system_error& none) {  // there may be a thread later
      put_off(position, none.what());
      busy_ = false;
    }
  };
}

void NodeSnapshots::make(const std::stop_token& stop, const std::string& domain, const std::string& version, Moment moment) {
  name_this_thread("snapshot");
  std::string why;
  try {
    if (auto ok = fold_and_store(stop, domain, version, moment); !ok) why = ok.error().message;
  } catch (const std::exception& bug) {  // in a state of its own: the node is none the worse
    why = bug.what();
  }
  if (!why.empty()) put_off(moment.position, why);
  busy_ = false;
}

void NodeSnapshots::put_off(events::Position position, const std::string& why) {
  ++failures_;
  not_before_ = position + (policy_.records == 0 ? records_after_failure : policy_.records);
  notice_("a snapshot at position " + std::to_string(position) + " was not stored: " + why);
}

Result<void> NodeSnapshots::fold_and_store(const std::stop_token& stop, const std::string& domain, const std::string& version,
                                           Moment moment) {
  const auto list = writer_->open();
  if (!list) return tl::unexpected(list.error());
  know(*list);
  const auto position = moment.position;
  if (!writer_->due(position, moment.now)) return {};
  auto positions = writer_->on_the_way(list->empty() ? 0 : list->front().position, position);
  if (!positions) return tl::unexpected(positions.error());
  positions->push_back(position);
  replay::Past past(log_, domain);
  for (const auto at : *positions) {
    const auto there = past.go_to(at, [&] { return !stop.stop_requested(); });
    if (!there) return tl::unexpected(there.error());
    if (!*there) return {};
    if (auto ok = writer_->store(replay::encode_state(past.driver().entities(), domain, at, version)); !ok) return ok;
    newest_ = at;
  }
  return {};
}

void NodeSnapshots::know(const std::vector<replay::SnapshotMeta>& list) {
  if (!list.empty()) newest_ = list.front().position;
}

std::optional<NodeSnapshots::Standing> NodeSnapshots::standing() const {
  if (!writer_) return std::nullopt;
  return Standing{newest_, failures_};
}

}  // namespace hindsight::runtime
