#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "admission/domain/entities.hpp"
#include "events/proposals.hpp"

namespace hindsight::actors {

/// What a node that only looks on (NodeOptions::observes) finds: what it would decide with the world as another controller has made it.
///
/// A look costs a copy of the state. So it looks when nothing is left to apply, and then not again before four times as long has passed
/// as that took; and, whatever it costs, before a record is applied that shows a decision of somebody else that no look has come to yet:
/// afterwards nobody could say any more what would have been decided.
class Onlooker {
 public:
  using Clock = std::chrono::steady_clock;

  Onlooker(admission::Domain::SettingsReader settings_reader, std::string domain)
      : settings_reader_(std::move(settings_reader)), domain_(std::move(domain)) {}

  /// A record that is no note was applied.
  void world_changed() { changed_ = true; }
  /// A look may come to something that was not noted.
  [[nodiscard]] bool has_reason() const { return changed_; }
  /// Until the next look may be; zero: now.
  [[nodiscard]] Clock::duration pause() const { return std::max(not_before_ - Clock::now(), Clock::duration::zero()); }
  /// Does the record, which is not applied yet, show what somebody else decided, and was that not found by a look before it came?
  [[nodiscard]] bool must_look_before(const RecordView& record, const admission::StateView& state) const;

  /// One note or, where it would be too long, several; none: there is nothing new. The views live until the next look. Errors: bugs.
  [[nodiscard]] Result<std::vector<DecisionsNoted>> look(const admission::Entities& state);

  /// A note that is read back while the log is folded.
  void read(const DecisionsNoted& note) { proposals_.read(note); }
  /// Notes may have been lost.
  void begin_anew();

 private:
  const admission::Domain::SettingsReader settings_reader_;
  const std::string domain_;
  events::Proposals proposals_;
  events::Trial trial_;
  events::Proposals::News news_;
  bool changed_ = true;
  Clock::time_point not_before_;
};

}  // namespace hindsight::actors
