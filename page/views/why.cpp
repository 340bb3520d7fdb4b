#include "projections/why.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "page/views/refs.hpp"
#include "page/views/sight.hpp"
#include "page/views/story.hpp"
#include "page/views/workload.hpp"
#include "projections/explain_target.hpp"
#include "projections/why_queue.hpp"

namespace hindsight::page {

Result<Json> workload_why_view(const Look& look, const Parameters& parameters) {
  const projections::Target target{"Workload", parameters.of_path("namespace"), parameters.of_path("name")};
  const auto plays = parameters.flag("plays");
  if (!plays) return tl::unexpected(plays.error());
  const auto& state = look.past.driver();
  const Sight sight(state, look.audience);
  if (!sight.sees(target.namespace_)) return not_for_you(target.namespace_);
  const auto at = projections::find_workload(state, target);
  const auto from = at ? begins_at(look, *at) : search_begins_at(look);
  if (!from) return tl::unexpected(from.error());
  const auto trail = read_trail(look, target, *from);
  if (!trail) return tl::unexpected(trail.error());
  if (look.is_over()) return nobody_waits();

  Json out = taken_at(look);
  if (at && !*plays) {
    out.update(projections::to_json(projections::explain_facts(state, *at, *trail)));
    out.erase("remedies");  // none were looked for
  } else {
    const auto stage = [&](const projections::WorkloadAt& who) { return projections::Stage::of_tree(look.past.driver(), who); };
    const auto why = projections::explain_target(state, target, *trail, stage);
    if (!why) return tl::unexpected(why.error());
    out.update(projections::to_json(*why));
  }
  out["hidden"] = sight.veil(out);
  return out;
}

Result<Json> cluster_queue_why_view(const Look& look, const Parameters& parameters) {
  const projections::QueueTarget target{projections::QueueTarget::Kind::cluster_queue, {}, parameters.of_path("name")};
  const auto why = projections::explain_queue(look.past.driver(), target);
  if (!why) return tl::unexpected(why.error());
  Json out = taken_at(look);
  out.update(projections::to_json(*why));
  out["hidden"] = Sight(look.past.driver(), look.audience).veil(out);
  return out;
}

}  // namespace hindsight::page
