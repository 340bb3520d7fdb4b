#include "replay/judgement.hpp"

namespace hindsight::replay {

Judgement judge(const admission::LoopDriver& driver, const Decisions& recorded, const std::optional<admission::Domain::Step>& made_again) {
  const admission::Domain::Step nothing;
  const auto& step = made_again ? *made_again : nothing;
  Judgement out{first_difference(recorded, Decisions{step.base, step.kind, step.events})};
  if (!out.difference || recorded.step != StepKind::life_cycle) return out;
  const auto remaining = driver.without_repeats(recorded);
  if (remaining.size() == recorded.events.size()) return out;
  const bool nothing_new = remaining.empty() && step.kind != StepKind::life_cycle;
  out.repeats =
      nothing_new || !first_difference(Decisions{recorded.base, recorded.step, remaining}, Decisions{step.base, step.kind, step.events});
  return out;
}

}  // namespace hindsight::replay
