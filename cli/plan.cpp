#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "admission/domain/domain.hpp"
#include "cli/commands.hpp"
#include "cli/naming.hpp"
#include "cli/output.hpp"
#include "cli/past_options.hpp"
#include "projections/defragment.hpp"
#include "projections/lookup.hpp"

namespace hindsight::cli {
namespace {

struct DefragOptions {
  PastOptions past;
  std::string topology, waiting, level, namespace_ = "default", format;
};

Result<projections::DefragmentationPlan> plan_for(const admission::StateView& state, const DefragOptions& o) {
  const auto& topologies = state.domain().catalog()->topologies;
  const Symbol topology(o.topology);
  if (!topologies.contains(topology)) {
    std::vector<std::string> names;
    for (const auto& [name, levels] : topologies) names.emplace_back(name.text());
    return fail(ErrorKind::not_found, "topologies \"" + o.topology + "\" not found" + projections::did_you_mean(o.topology, names));
  }
  if (o.waiting.empty()) return projections::make_a_domain_free(state, topology, o.level);
  auto target = projections::parse_target(o.waiting, o.namespace_);
  if (!target) return tl::unexpected(target.error());
  const auto at = projections::find_workload(state, *target);
  if (!at) return tl::unexpected(at.error());
  return projections::make_room_for(state, topology, *at);
}

Result<int> defrag(const Session& session, const DefragOptions& o) {
  const auto journey = travel(session, o.past);
  if (!journey) return tl::unexpected(journey.error());
  const auto plan = plan_for(journey->state(), o);
  if (!plan) return tl::unexpected(plan.error());
  if (o.format == "text") {
    session.out << "At " << moment_text(journey->position(), journey->state().now()) << "\n" << projections::to_text(*plan);
  } else {
    print_document(session, projections::to_json(*plan), o.format);
  }
  return exit_ok;
}

}  // namespace

void add_plan(CLI::App& app, Session& session) {
  auto* plan = app.add_subcommand("plan", "What could be done, tried on a copy of the state; nothing is changed by it");
  plan->require_subcommand(1);
  const auto o = std::make_shared<DefragOptions>();
  auto* c = add_command(*plan, session, "defrag",
                        "Which workloads to move so that there is room in a topology, with as few pods as possible starting anew",
                        "  hindsight plan defrag --topology gpu-hall --log hindsight.db\n"
                        "  hindsight plan defrag --topology gpu-hall --for job/train --at 120 --log hindsight.db",
                        [o, &session] { return defrag(session, *o); });
  c->add_option("--topology", o->topology, "The Topology")->required();
  auto* waiting =
      c->add_option("--for", o->waiting, "A workload that waits: NAME, NAMESPACE/NAME, job/NAME; without it a domain is made free");
  c->add_option("--level", o->level, "Make a domain of this level free; without it one of the level above the lowest")->excludes(waiting);
  auto* one = c->add_option("-n,--namespace", o->namespace_, "The namespace")->default_str("default")->needs(waiting);
  waiting->check(in_namespace_of(one));
  add_output(*c, o->format, {"text", "json", "yaml"});
  add_past_options(*c, o->past, true);
}

}  // namespace hindsight::cli
