#pragma once

#include <cstdint>
#include <string>
#include <typeinfo>
#include <utility>
#include <variant>

#include "admission/state/snapshot.hpp"
#include "admission/state/state_walk.hpp"

namespace hindsight::admission::testing {

/// A domain at rest that is read from a snapshot, and asked about every job again, has nothing to decide. Empty, or what it would decide:
/// then the state at rest held something that no record explains, or somebody was not asked who should have been.
[[nodiscard]] inline std::string decided_afresh(const LoopDriver& at_rest, Domain::SettingsReader reader) {
  LoopDriver copy(std::move(reader));
  copy.entities().domain().bound_as(at_rest.domain());
  if (auto ok = SnapshotCodec::read(SnapshotCodec::write(at_rest), copy); !ok) return ok.error().message;
  if (copy.state_hash() != at_rest.state_hash()) {
    const auto d = first_difference(copy.entities(), at_rest.entities());
    return "a snapshot of the state is of another state" + (d ? "; " + d->field + ": " + d->one + " against " + d->other : "");
  }
  const Domain& domain = copy.domain();
  const auto end = static_cast<std::uint32_t>(domain.entries());  // no number of a parent is as high
  for (std::uint32_t index = 0; index < end; ++index)
    if (copy.parent(index) != nullptr) copy.entities().domain().touched({EntityKind::workload_parent, index});
  const Envelope envelope{"default", domain.sequence() + 1, domain.epoch(), domain.now(), 0};
  if (auto ok = copy.apply({envelope, Observation(TimerFired{})}); !ok) return ok.error().message;
  const auto step = copy.decide();
  if (!step || step->kind != StepKind::life_cycle) return {};  // queues and trees were not asked
  std::string events;
  for (const Event& e : step->events)
    std::visit(
        [&]<class E>(const E& one) {
          events += std::string(" ") + typeid(E).name();
          if constexpr (requires { one.workload.name; }) events += " of " + std::string(one.workload.name);
          if constexpr (requires { one.message; }) events += " (" + std::string(one.message) + ")";
        },
        e);
  return "a copy that was read from a snapshot decides" + events;
}

}  // namespace hindsight::admission::testing
