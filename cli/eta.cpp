#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "admission/domain/domain.hpp"
#include "cli/commands.hpp"
#include "cli/naming.hpp"
#include "cli/output.hpp"
#include "cli/past_options.hpp"
#include "cli/progress.hpp"
#include "projections/format.hpp"
#include "projections/lookup.hpp"
#include "projections/play.hpp"
#include "replay/scan.hpp"
#include "whatif/future.hpp"

namespace hindsight::cli {
namespace {

struct EtaOptions {
  PastOptions past;
  std::string workload, namespace_ = "default", format, horizon = "168h";
  std::size_t futures = 100;
};

std::string moment_or(const std::optional<Time>& t, Time now) {
  if (!t) return "later than that";
  return format_rfc3339(*t) + " (in " + projections::human_duration(*t - now) + ")";
}

Result<int> eta(const Session& session, const EtaOptions& o) {
  const auto target = projections::parse_target(o.workload, o.namespace_);
  if (!target) return tl::unexpected(target.error());
  const auto horizon = parse_duration(o.horizon);
  if (!horizon || horizon->micros <= 0)
    return fail(ErrorKind::invalid, "--horizon: found \"" + o.horizon + "\"; allowed: a duration above 0, as 30m or 168h");
  const auto journey = travel(session, o.past);
  if (!journey) return tl::unexpected(journey.error());
  const auto at = projections::find_workload(journey->state(), *target);
  if (!at) return tl::unexpected(at.error());
  const auto& w = *at->workload;
  const std::string name = projections::full_name(w.namespace_.text(), std::string(std::string_view(w.name)));
  if (w.finished() || w.admitted())
    return fail(ErrorKind::invalid, "Workload " + name + (w.finished() ? " has finished" : " is admitted already") +
                                        "; allowed: one that waits. 'hindsight why' tells about the others");

  whatif::Responses responses;
  responses.remember_gone(false);
  whatif::Arrivals arrivals;
  {
    ProgressBar bar(session, "remembering");
    const auto see = [&](const events::StoredRecord&, const RecordView& record) {
      responses.see(record);
      arrivals.see(record);
      return true;
    };
    if (auto ok = replay::scan(*journey->log, journey->past->domain_name(), 1, journey->position(), see, bar.callback()); !ok)
      return tl::unexpected(ok.error());
    bar.clear();
  }
  const Time now = journey->state().domain().now();
  const std::string uid = w.uid.text();
  const auto stage = projections::Stage::of(journey->past->driver());
  ProgressBar bar(session, "futures");
  const auto estimate = whatif::estimate(stage, responses, arrivals, uid, o.futures, *horizon, bar.callback());
  bar.clear();

  if (estimate.cut > 0)
    session.warn(
        std::to_string(estimate.cut) + " of " + std::to_string(estimate.futures) +
        " futures were given up after so many records that an answer would take too long, and count as later: more jobs come than are "
        "given quota before this one");
  if (o.format != "text") {
    Json out{{"workload", name}, {"position", journey->position()}, {"time", format_rfc3339_micro(now)}};
    out["futures"] = estimate.futures;
    out["started"] = estimate.started;
    out["cut"] = estimate.cut;
    out["horizonSeconds"] = horizon->micros / 1'000'000;
    const auto add = [&](const char* key, const std::optional<Time>& t) {
      if (t) out[key] = format_rfc3339_micro(*t);
    };
    add("p10", estimate.early);
    add("p50", estimate.median);
    add("p90", estimate.late);
    print_document(session, out, o.format);
    return exit_ok;
  }
  session.out << "At " << moment_text(journey->position(), now) << "\nWorkload " << name << " starts within " << o.horizon << " in "
              << estimate.started << " of " << estimate.futures
              << " futures\n  as likely before as after: " << moment_or(estimate.median, now)
              << "\n  in 8 of 10 futures between: " << moment_or(estimate.early, now)
              << "\n                         and: " << moment_or(estimate.late, now) << "\n";
  return exit_ok;
}

}  // namespace

void add_eta(CLI::App& app, Session& session) {
  const auto o = std::make_shared<EtaOptions>();
  auto* c =
      add_command(app, session, "eta",
                  "When a workload that waits will start, from many futures that are played from the state: who runs ends as others of its "
                  "form did, and others come as they came before",
                  "  hindsight eta job/train\n  hindsight eta team-a/job-train-1f2e3 --at -1d --futures 400",
                  [o, &session] { return eta(session, *o); });
  c->add_option("workload", o->workload, "NAME, NAMESPACE/NAME, job/NAME, job/NAMESPACE/NAME")->required();
  const auto* one = c->add_option("-n,--namespace", o->namespace_, "The namespace")->default_str("default");
  c->get_option("workload")->check(in_namespace_of(one));
  c->add_option("--futures", o->futures, "How many are played; more give a finer answer")
      ->check(CLI::Range(10, 10'000))
      ->capture_default_str();
  c->add_option("--horizon", o->horizon, "How far they go")->type_name("DURATION")->capture_default_str();
  add_output(*c, o->format, {"text", "json", "yaml"});
  add_past_options(*c, o->past, true);
}

}  // namespace hindsight::cli
