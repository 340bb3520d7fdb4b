#include "projections/noted.hpp"

#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "projections/history_words.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::projections {

void Noted::say(std::uint64_t offset, const RecordView& record, std::uint64_t base, std::string text) {
  lines_.push_back({offset, base, record.envelope.time, std::move(text)});
  if (lines_.size() > lines_max) lines_.pop_front();
}

void Noted::add(std::uint64_t offset, const RecordView& record) {
  if (!mentions_.concerns(record)) return;
  const auto* note = std::get_if<DecisionsNoted>(&record.body);
  if (note == nullptr) return;
  for (const Event& e : note->events) {
    if (!mentions_.concerns(e)) continue;
    const auto* p = std::get_if<WorkloadPreempted>(&e);
    const auto* r = std::get_if<SliceReplaced>(&e);
    const bool as_other =
        (p != nullptr && !mentions_.knows_workload(p->workload.uid)) || (r != nullptr && !mentions_.knows_workload(r->workload.uid));
    say(offset, record, note->base, words_for(e, as_other).text);
  }
  for (const WorkloadRef& w : note->withdrawn)
    if (mentions_.knows_workload(w.uid)) say(offset, record, note->base, "not admitted any more");
  for (const WorkloadRef& w : note->would_not)
    if (mentions_.knows_workload(w.uid)) say(offset, record, note->base, "not done what the other controller did next");
}

std::string to_text(const Noted& noted) {
  if (noted.lines().empty()) return {};
  std::string out = "This log only looks on beside another controller. Hindsight would have, by its newest notes:\n";
  for (const auto& line : noted.lines())
    out += "  record " + std::to_string(line.offset) + " (" + format_rfc3339_micro(line.time) + "): " + printable(line.text) + "\n";
  return out;
}

Json to_json(const Noted& noted) {
  Json out = Json::array();
  for (const auto& line : noted.lines())
    out.push_back({{"offset", line.offset}, {"base", line.base}, {"time", format_rfc3339_micro(line.time)}, {"text", line.text}});
  return out;
}

}  // namespace hindsight::projections
