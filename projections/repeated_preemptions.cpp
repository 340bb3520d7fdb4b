#include "projections/repeated_preemptions.hpp"

#include "admission/domain/domain.hpp"
#include "projections/format.hpp"
#include "projections/lookup.hpp"

namespace hindsight::projections {
namespace {

std::string name_of_uid(const StateView& state, const std::string& uid) {
  const WorkloadAt at = find_by_uid(state, uid);
  return at.workload == nullptr ? "of uid " + uid : full_name(at.workload->namespace_.text(), at.workload->name);
}

}  // namespace

std::string preempted_how_often(const StateView& state, const admission::RepeatedPreemptions::Count& count) {
  const auto limit = static_cast<std::uint32_t>(state.domain().catalog()->settings.repeated_preemptions);
  const std::string victim = name_of_uid(state, count.victim) + " ";
  return count.in_a_row >= limit ? victim + std::to_string(count.in_a_row) + " times in a row"
                                 : victim + std::to_string(count.in_all) + " times in all";
}

std::vector<std::string> repeated_preemption_notices(const RecordView& record, const StateView& after) {
  std::vector<std::string> out;
  const auto* decisions = std::get_if<Decisions>(&record.body);
  const auto& repeated = after.domain().repeated_preemptions();
  if (decisions == nullptr || !repeated.any()) return out;
  for (const Event& e : decisions->events) {
    const auto* p = std::get_if<WorkloadPreempted>(&e);
    if (p == nullptr) continue;
    for (const auto* count : repeated.left_alone_by(p->preemptor.uid))
      if (count->victim == p->workload.uid && count->last == record.envelope.sequence)
        out.push_back("Workload " + full_name(p->preemptor.namespace_, p->preemptor.name) + " has preempted Workload " +
                      preempted_how_often(after, *count) +
                      ", which came back each time: it goes before it now, or leaves it alone, until something else changes");
  }
  return out;
}

}  // namespace hindsight::projections
