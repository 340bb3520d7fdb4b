#include "cli/why_queue.hpp"

#include <nlohmann/json.hpp>
#include <ostream>

#include "admission/domain/domain.hpp"
#include "cli/output.hpp"

namespace hindsight::cli {

Result<int> print_queue_reasons(const Session& session, const PastOptions& past, const projections::QueueTarget& target,
                                const std::string& format) {
  const auto journey = travel(session, past);
  if (!journey) return tl::unexpected(journey.error());
  const auto& state = journey->state();
  auto why = projections::explain_queue(state, target);
  if (!why) {
    if (why.error().kind == ErrorKind::not_found) why.error().message += " at " + std::to_string(journey->position());
    return tl::unexpected(why.error());
  }
  if (format == "text") {
    session.out << "At " << moment_text(journey->position(), state.now()) << "\n" << projections::to_text(*why, session.colour);
  } else {
    Json out{{"position", journey->position()}, {"time", format_rfc3339_micro(state.now())}};
    out.update(projections::to_json(*why));
    print_document(session, out, format);
  }
  return exit_ok;
}

}  // namespace hindsight::cli
