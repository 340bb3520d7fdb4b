#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <string>

#include "admission/state/state_walk.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/past_options.hpp"
#include "cli/progress.hpp"

namespace hindsight::cli {
namespace {

struct ReplayCommand {
  PastOptions past;
  bool from_start = false, fields = false;
  std::string format;
};

Result<int> replay_log(const Session& session, const ReplayCommand& o) {
  const auto log = open_for_reading(o.past);
  if (!log) return tl::unexpected(log.error());
  const auto domain = replay::choose_domain(**log, o.past.domain);
  if (!domain) return tl::unexpected(domain.error());
  const auto position = replay::resolve(**log, o.past.at);
  if (!position) return tl::unexpected(position.error());
  ProgressBar bar(session, "folding");
  const Stopwatch watch;
  replay::Past past(**log, *domain, {.use_snapshots = !o.from_start, .progress = bar.callback()});
  if (auto ok = fold(past, *position); !ok) return tl::unexpected(ok.error());
  bar.clear();
  const double seconds = watch.seconds();
  tell_notices(session, past);
  const auto& domain_state = past.driver().domain();
  const auto& entities = past.driver().entities();
  if (o.format == "text") {
    session.out << "position " << moment_text(past.position(), domain_state.now()) << "\nstate    " << hex(past.driver().state_hash())
                << "\nepoch    " << domain_state.epoch() << "\nfolded   " << with_commas(past.folded()) << " records"
                << (past.started_from() == 0 ? " from the beginning" : " behind snapshot " + std::to_string(past.started_from())) << "\n";
    if (o.fields) session.out << "fields   " << hex(whole_hash(entities)) << "\n" << state_text(entities, admission::StateDepth::outcomes);
    return exit_ok;
  }
  Json out{{"domain", *domain}, {"position", past.position()}, {"sequence", domain_state.sequence()}};
  if (domain_state.now().micros > 0) out["time"] = format_rfc3339_micro(domain_state.now());
  out["epoch"] = domain_state.epoch();
  out["hash"] = hex(past.driver().state_hash());
  out["records"] = past.folded();
  out["snapshot"] = past.started_from();
  out["seconds"] = seconds;
  if (o.fields) {
    out["fieldsHash"] = hex(whole_hash(entities));
    Json& lines = out["fields"] = Json::array();
    std::istringstream text(state_text(entities, admission::StateDepth::outcomes));
    for (std::string line; std::getline(text, line);) lines.push_back(line);
  }
  print_document(session, out, o.format);
  return exit_ok;
}

}  // namespace

void add_replay(CLI::App& app, Session& session) {
  const auto o = std::make_shared<ReplayCommand>();
  auto* c = add_command(app, session, "replay",
                        "Fold the log to a moment and tell the hash of the state: equal logs give equal hashes, on every machine",
                        "  hindsight replay --log hindsight.db\n"
                        "  hindsight replay --from-start --at 1000 -o json --log hindsight.db\n"
                        "  hindsight replay --fields --log hindsight.db",
                        [o, &session] { return replay_log(session, *o); });
  c->add_flag("--from-start", o->from_start, "Fold every record, use no snapshot");
  c->add_flag("--fields", o->fields,
              "Print every field that the state holds, and what decisions read of it, a line each: for comparing two builds, or two logs");
  add_output(*c, o->format, {"text", "json", "yaml"});
  add_past_options(*c, o->past, true);
}

}  // namespace hindsight::cli
