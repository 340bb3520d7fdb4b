#include "page/views/state_views.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "page/views/cohorts.hpp"
#include "page/views/overview.hpp"
#include "page/views/queue.hpp"
#include "page/views/search.hpp"
#include "page/views/workload.hpp"
#include "page/views/workloads.hpp"

namespace hindsight::page {

std::vector<ViewRoute> state_views(HourSource hour) {
  const View overview = [hour = std::move(hour)](const Look& look, const Parameters&) { return overview_view(look, hour); };
  return {
      {"overview", overview, "What waits, runs and was evicted, and what needs attention", {}, false},
      {"cohorts", cohorts_view, "The trees of cohorts and ClusterQueues with their quota", {}, false},
      {"cohorts/users", queue_users_view, "Who uses how much of one flavor and resource", {"flavor", "resource"}, false},
      {"queues/{name}", queue_view, "A ClusterQueue, who waits in it in order, and who holds quota", {"limit", "offset"}, false},
      {"workloads",
       workloads_view,
       "All Workloads as a table",
       {"phase", "queue", "namespace", "text", "sort", "descending", "limit", "offset"},
       false},
      {"workloads/{namespace}/{name}", workload_view, "A Workload: its life, its story, its pods", {}, false},
      {"workloads/{namespace}/{name}/why", workload_why_view, "Why a Workload waits or runs, and what would let it in", {"plays"}, false},
      {"clusterqueues/{name}/why", cluster_queue_why_view, "What a ClusterQueue lacks, and who uses it", {}, false},
      {"search", search_view, "Objects by name", {"q", "limit"}, false},
  };
}

std::vector<ViewRoute> state_views() {
  return state_views([](const Look& look, const Symbol& flavor, const Symbol& resource) { return fold_hour(look, flavor, resource); });
}

}  // namespace hindsight::page
