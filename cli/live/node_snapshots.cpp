#include "cli/live/node_snapshots.hpp"

namespace hindsight::cli {

void NodeSnapshots::attach(actors::NodeOptions& options) {
  options.restore = [this, domain = options.domain](admission::Entities& entities, unsigned attempt) -> Result<events::Position> {
    const auto list = replay::snapshots_of(log_, domain);
    if (!list || attempt >= list->size()) return events::Position{0};
    const auto loaded = replay::load_state(log_, (*list)[attempt], domain, entities);
    if (!loaded) return tl::unexpected(loaded.error());
    return (*list)[attempt].position;
  };
  if (options.role == actors::Role::connector) return;  // those who decide write them
  writer_.emplace(log_, options.domain, policy_);
  if (auto ok = writer_->open(); !ok) notice_("the snapshots cannot be listed: " + ok.error().message);
  options.on_batch = [this, domain = options.domain, release = options.release](const admission::Entities& entities,
                                                                                events::Position position, Time now) {
    if (!writer_->due(position, now)) return;
    if (auto ok = writer_->store(replay::encode_state(entities, domain, position, release)); !ok)
      notice_("a snapshot was not stored: " + ok.error().message);
  };
}

}  // namespace hindsight::cli
