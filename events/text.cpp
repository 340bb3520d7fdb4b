#include <algorithm>
#include <limits>
#include <string>

#include "events/decision_fields.hpp"
#include "events/json.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::events {
namespace {

std::string full_name(Text space, Text name) { return space.empty() ? std::string(name) : std::string(space) + "/" + std::string(name); }

std::string moment(Time t) { return t.is_set() ? format_rfc3339_micro(t) : "never"; }

/// " (reason: message)", with what there is of both.
std::string because(Text reason, Text message) {
  if (reason.empty() && message.empty()) return {};
  std::string out = " (" + std::string(reason);
  if (!reason.empty() && !message.empty()) out += ": ";
  return out + std::string(message) + ")";
}

std::string flavors(List<PodSetAssignmentFacts> assignments) {
  std::string out;
  for (const auto& assignment : assignments) {
    out += out.empty() ? " with " : ", ";
    out += std::string(assignment.pod_set) + " x" + std::to_string(assignment.count);
    for (const auto& choice : assignment.flavors) out += " " + std::string(choice.resource) + "=" + std::string(choice.flavor);
  }
  return out;
}

/// What an event or observation is about, from the members that it happens to have.
template <class T>
std::string describe(const T& e) {
  std::string out(Fields<T>::table);
  if constexpr (requires { e.meta; }) {
    out += " " + full_name(e.meta.namespace_, e.meta.name);
    if (e.meta.resource_version != 0) out += " at version " + std::to_string(e.meta.resource_version);
    if (e.meta.deleting) out += ", deleting";
  }
  if constexpr (requires { e.workload; }) {
    if (!e.workload.name.empty()) out += " " + full_name(e.workload.namespace_, e.workload.name);
  }
  if constexpr (std::is_same_v<T, SliceReplaced>) out += " by " + full_name(e.replacement.namespace_, e.replacement.name);
  if constexpr (std::is_same_v<T, PodsReleased> || std::is_same_v<T, PodsPlaced> || std::is_same_v<T, PodsFailed>)
    out += ", " + std::to_string(e.pods.size()) + " pods,";
  if constexpr (requires { e.job; } && !std::is_same_v<T, SliceReplaced>)
    out += " " + std::string(e.job.kind) + " " + full_name(e.job.namespace_, e.job.name);
  if constexpr (std::is_same_v<T, ObjectDeleted> || std::is_same_v<T, WriteRefused>) {
    out += " " + std::string(api_name(e.kind)) + " " + full_name(e.namespace_, e.name);
  }
  if constexpr (std::is_same_v<T, ObjectDeleted>) {
    if (!e.departed_to.empty()) out += ", now in domain " + std::string(e.departed_to);
  }
  if constexpr (std::is_same_v<T, MirrorSynced>) {
    if (e.pending) out += " pending";
  }
  if constexpr (std::is_same_v<T, WriteRefused>) out += ": HTTP " + std::to_string(e.http_status);
  if constexpr (std::is_same_v<T, ClockStepped>)
    out += " " + moment(e.from) + " in the log, " + moment(e.to) + " by " + std::string(e.source);
  if constexpr (std::is_same_v<T, WriteLimitObserved>) out += " " + (e.writes == 0 ? "not known" : std::to_string(e.writes) + " at a time");
  if constexpr (std::is_same_v<T, TreeReactivated>) out += " " + std::string(e.root);
  if constexpr (std::is_same_v<T, GateChanged>) out += " " + std::string(api_name(e.change)) + " " + std::string(e.value);
  if constexpr (std::is_same_v<T, EpochStarted>) {
    out += " by " + std::string(e.writer) + ", release " + std::string(e.release);
    if (e.rules != 0) out += ", rules " + std::to_string(e.rules);
  }
  if constexpr (std::is_same_v<T, ConditionChanged>) {
    out += " " + std::string(api_name(e.type)) + (e.remove ? " removed" : "=" + std::string(api_name(e.status)));
  }
  if constexpr (requires { e.cluster_queue; }) {
    if (!e.cluster_queue.empty()) out += " in " + std::string(e.cluster_queue);
  }
  if constexpr (requires { e.preemptor; }) out += " for " + full_name(e.preemptor.namespace_, e.preemptor.name);
  if constexpr (std::is_same_v<T, QuotaReserved>) out += flavors(e.assignments) + (e.admitted ? ", admitted" : "");
  if constexpr (std::is_same_v<T, EntryRequeued>) out += " " + std::string(api_name(e.requeue_reason));
  if constexpr (requires { e.suspended; }) out += e.finished ? ", finished" : e.suspended ? ", suspended" : ", started";
  if constexpr (std::is_same_v<T, ObjectQuarantined>) {
    out += " " + std::string(e.api_kind) + " " + full_name(e.namespace_, e.name);
    if (e.resource_version != 0) out += " at version " + std::to_string(e.resource_version);
    out += e.lifted ? ", lifted" : because(api_name(e.stage), e.reason);
  } else if constexpr (std::is_same_v<T, RecordQuarantined>) {
    out += ": record " + std::to_string(e.position) + " (sequence " + std::to_string(e.sequence) + ") has no effect, said " +
           std::string(e.writer) + because({}, e.reason);
  } else if constexpr (requires { e.reason; }) {
    out += because(e.reason, e.message);
  } else if constexpr (requires { e.message; }) {
    out += because({}, e.message);
  }
  return out;
}

std::string describe_body(const Observation& observation, std::size_t /*bytes_max*/) {
  return std::visit([](const auto& o) { return describe(o); }, observation);
}
std::string describe_body(const EpochStarted& started, std::size_t /*bytes_max*/) { return describe(started); }
/// Events are told until they take `bytes_max`; false: there were more.
bool add_events(std::string& out, List<Event> events, std::size_t bytes_max) {
  for (std::size_t i = 0; i < events.size(); ++i) {
    std::string event = std::visit([](const auto& e) { return describe(e); }, events[i]);
    if (i > 0 && out.size() + event.size() > bytes_max) {
      out += "; and " + std::to_string(events.size() - i) + " more";
      return false;
    }
    out += (i == 0 ? " " : "; ") + event;
  }
  return true;
}
std::string describe_body(const Decisions& decisions, std::size_t bytes_max) {
  std::string out = "Decisions " + std::string(api_name(decisions.step)) + " on " + std::to_string(decisions.base) + ":";
  if (!add_events(out, decisions.events, bytes_max)) return out;
  if (decisions.events.empty()) out += " nothing";
  return out;
}
/// What was not decided is not to be taken for what was.
std::string describe_body(const DecisionsNoted& noted, std::size_t bytes_max) {
  std::string out = "DecisionsNoted on " + std::to_string(noted.base) + ", would have:";
  if (!add_events(out, noted.events, bytes_max)) return out;
  for (std::size_t i = 0; i < noted.withdrawn.size(); ++i) {
    const std::string name = full_name(noted.withdrawn[i].namespace_, noted.withdrawn[i].name);
    if (i > 0 && out.size() + name.size() > bytes_max) return out + ", and " + std::to_string(noted.withdrawn.size() - i) + " more";
    out += (i > 0 ? ", " : noted.events.empty() ? " no more admitted " : "; no more admitted ") + name;
  }
  if (noted.events.empty() && noted.withdrawn.empty()) out += " nothing";
  for (std::size_t i = 0; i < noted.would_not.size(); ++i) {
    const std::string name = full_name(noted.would_not[i].namespace_, noted.would_not[i].name);
    if (out.size() + name.size() > bytes_max) return out + ", and " + std::to_string(noted.would_not.size() - i) + " more";
    out += (i > 0 ? ", " : "; and not what another controller did next with ") + name;
  }
  return out;
}

/// Control characters would break the line or the terminal.
std::string on_one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  return text;
}

}  // namespace

std::string to_text(const RecordView& record) {
  const Envelope& e = record.envelope;
  std::string out =
      std::to_string(e.sequence) + "  epoch " + std::to_string(e.epoch) + "  " + moment(e.time) + "  " + std::string(e.domain) + "  ";
  out += std::visit([](const auto& body) { return describe_body(body, std::numeric_limits<std::size_t>::max()); }, record.body);
  if (e.cause != 0) out += "  because of " + std::to_string(e.cause);
  return on_one_line(std::move(out));
}

std::string to_line(const RecordView& record, std::size_t bytes_max) {
  constexpr std::size_t for_the_rest = 32;  // " and 12345 more"
  const std::size_t for_events = bytes_max > for_the_rest ? bytes_max - for_the_rest : 0;
  const std::string out = std::visit([&](const auto& body) { return describe_body(body, for_events); }, record.body);
  return on_one_line(cut_message(out, std::max<std::size_t>(bytes_max, 4)));
}

}  // namespace hindsight::events
