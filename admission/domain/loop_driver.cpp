#include "admission/domain/loop_driver.hpp"

#include <limits>
#include <map>

#include "admission/scheduling/decision_trace.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::admission {
namespace {

constexpr auto no_parent = std::numeric_limits<std::uint32_t>::max();

/// A condition that the Workload has already. Builds up to 0.1 compared messages whole that they stored cut (BA-21), and decided them
/// again.
bool says_what_is_so(const WorkloadParent& parent, const Event& event) {
  const auto* change = std::get_if<ConditionChanged>(&event);
  if (change == nullptr || change->remove) return false;
  for (const auto& w : parent.workloads()) {
    if (w.uid != change->workload.uid) continue;
    const auto* now = w.find(change->type);
    return now != nullptr && now->status == change->status && now->reason.text() == change->reason &&
           now->message == condition_message(change->message);
  }
  return false;
}

/// As long as it lives, entities note what they do.
class Following {
 public:
  Following(Entities& entities, DecisionTrace* trace) : entities_(entities) { entities_.follow(trace); }
  ~Following() { entities_.follow(nullptr); }
  Following(const Following&) = delete;
  Following& operator=(const Following&) = delete;

 private:
  Entities& entities_;
};

}  // namespace

Result<void> LoopDriver::apply(const RecordView& record) {
  Outbox out;
  if (auto ok = entities_.domain().begin(record, out); !ok) return ok;
  entities_.deliver_all(out, true, order_);
  entities_.domain().end();
  return {};
}

std::optional<Domain::Step> LoopDriver::decide(DecisionTrace* trace) {
  const Following following(entities_, trace);
  Outbox out;
  circling_.clear();
  while (entities_.domain().start_deciding(out)) {
    if (trace != nullptr) trace->step_begins();
    entities_.deliver_all(out, false, order_);
    auto step = entities_.domain().take_decisions();
    if (trace != nullptr) trace->step_ends(step.arenas);
    circling_.insert(circling_.end(), step.circling.begin(), step.circling.end());
    if (!step.events.empty()) return step;
  }
  return std::nullopt;
}

std::vector<Event> LoopDriver::without_repeats(const Decisions& step) const {
  std::vector<Event> out(step.events.begin(), step.events.end());
  if (step.step != StepKind::life_cycle) return out;
  const auto parent_of = [this](const Event& e) { return entities_.domain().parent_of(e).value_or(no_parent); };
  std::map<std::uint32_t, std::vector<Event>> of_parents;
  for (const Event& e : out) of_parents[parent_of(e)].push_back(e);
  std::map<std::uint32_t, bool> repeats;
  for (const auto& [index, events] : of_parents) {
    const auto* parent = index == no_parent ? nullptr : entities_.parent(index);
    repeats[index] = parent != nullptr && parent->repeated_steps().repeats(events, entities_.domain().context().configured);
  }
  std::erase_if(out, [&](const Event& e) {
    const std::uint32_t index = parent_of(e);
    return index != no_parent && entities_.parent(index) != nullptr && (repeats[index] || says_what_is_so(*entities_.parent(index), e));
  });
  return out;
}

}  // namespace hindsight::admission
