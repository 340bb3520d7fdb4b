#include "bench/live/bare_writes.hpp"

#include "bench/live/objects.hpp"
#include "connectors/kubernetes/api_path.hpp"
#include "connectors/objects/resource_types.hpp"

namespace hindsight::bench {

using connectors::kubernetes::collection_path;
using connectors::kubernetes::object_path;
using connectors::kubernetes::bench::BareWrite;
using connectors::types::workload;

std::vector<std::vector<BareWrite>> bare_writes(const Generator& generator) {
  std::vector<BareWrite> creations, admissions, endings;
  for (const Arrival& arrival : arrivals(generator)) {
    const std::string status_path = object_path(workload, load_namespace, workload_name(generator, arrival), "status");
    const auto admitted = admission_status(generator, arrival);
    creations.push_back({collection_path(workload, load_namespace), workload_object(generator, arrival).dump(), true});
    admissions.push_back({status_path + "?fieldManager=hindsight", admitted.dump()});
    endings.push_back({status_path + "?fieldManager=owner", finished_status(admitted["status"]["conditions"]).dump()});
  }
  return {std::move(creations), std::move(admissions), std::move(endings)};
}

}  // namespace hindsight::bench
