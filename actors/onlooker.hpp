#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "admission/domain/entities.hpp"
#include "events/proposals.hpp"

namespace hindsight::actors {

/// What a node that only looks on (NodeOptions::observes) finds: what it would decide with the world as another controller has made it.
///
/// A look costs a copy of the state. So it looks when nothing is left to apply, and then not again before four times as long has passed
/// as that took; and without that pause before a record is applied that shows a decision of somebody else that no look has come to yet:
/// afterwards nobody could say any more what would have been decided. Those looks have a bound of their own: as many at once as take
/// `unpaced_max`, and a fifth of the time over longer. What they find is noted, also that it is nothing (`would_not`); so who reads the log
/// knows of each decision of somebody else whether anybody had looked, and takes no silence for an answer.
class Onlooker {
 public:
  using Clock = std::chrono::steady_clock;

  /// `unpaced_max` zero: every look has its pause.
  Onlooker(admission::Domain::SettingsReader settings_reader, std::string domain, Clock::duration unpaced_max)
      : settings_reader_(std::move(settings_reader)), domain_(std::move(domain)), unpaced_max_(unpaced_max) {}

  /// A record that is no note was applied.
  void world_changed() { changed_ = true; }
  /// A look may come to something that was not noted.
  [[nodiscard]] bool has_reason() const { return changed_; }
  /// Until the next look may be; zero: now.
  [[nodiscard]] Clock::duration pause() const { return std::max(not_before_ - Clock::now(), Clock::duration::zero()); }
  /// What the record, which is not applied yet, shows that somebody else decided, where no look before it came to the same.
  [[nodiscard]] std::optional<events::ForeignDecision> unforeseen(const RecordView& record, const admission::StateView& state) const;
  /// May a look be at once, although the pause is not over?
  [[nodiscard]] bool may_look_unpaced() const;

  /// `unpaced`: it counts among those without a pause. One note or, where it would be too long, several; none: there is nothing new. The
  /// views live until the next look. Errors: bugs.
  [[nodiscard]] Result<std::vector<DecisionsNoted>> look(const admission::Entities& state, bool unpaced);
  /// That the state leads to no such decision; none: the last look was at another state, or did not come to its end. The view lives until
  /// the next call.
  [[nodiscard]] std::optional<DecisionsNoted> would_not(const events::ForeignDecision& decision, const admission::Domain& domain);

  /// A note that is read back while the log is folded.
  void read(const DecisionsNoted& note) { proposals_.read(note); }
  /// Notes may have been lost.
  void begin_anew();

 private:
  const admission::Domain::SettingsReader settings_reader_;
  const std::string domain_;
  const Clock::duration unpaced_max_;
  events::Proposals proposals_;
  events::Trial trial_;
  events::Proposals::News news_;
  WorkloadRef would_not_;  ///< Views into the record that is about to be applied.
  bool changed_ = true;
  Clock::time_point not_before_;
  Clock::time_point unpaced_until_;  ///< By when the looks without a pause will have been a fifth of the time.
};

}  // namespace hindsight::actors
