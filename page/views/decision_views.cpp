#include "page/views/decision_views.hpp"

#include <nlohmann/json.hpp>

#include "page/views/compare.hpp"
#include "page/views/decisions.hpp"
#include "page/views/fit.hpp"
#include "page/views/fleet.hpp"
#include "page/views/preemptions.hpp"
#include "page/views/records.hpp"
#include "page/views/topologies.hpp"

namespace hindsight::page {

std::vector<ViewRoute> decision_views() {
  return {
      {"preemptions", preemptions_view, "Who made room for whom, in a stretch of the log", {"from", "to", "limit"}, false},
      {"decisions/{position}", decision_view, "How a decision came about", {"workload"}, true},
      {"topologies", topologies_view, "All topologies, and how full they are", {}, false},
      {"topologies/{name}", topology_view, "One topology as a map of its domains", {"workload", "requests", "under"}, false},
      {"topologies/{name}/fit",
       fit_view,
       "Where a gang of pods would stand as things are",
       {"pods", "requests", "level", "mode", "flavor"},
       false},
      {"compare", compare_view, "What differs between two moments, the biggest effect first", {"a", "b", "limit"}, false},
      {"records", records_view, "Records, on or back from a position", {"from", "direction", "limit", "filter"}, true},
      {"records/{position}", record_view, "One record, decoded, and what followed from it", {}, true},
      {"fleet", fleet_view, "Who decided when", {"limit"}, false},
  };
}

}  // namespace hindsight::page
