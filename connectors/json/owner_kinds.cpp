#include "connectors/json/owner_kinds.hpp"

#include <array>

namespace hindsight::connectors {
namespace {

constexpr KindName job_kind{"Job", "batch"}, job_set_kind{"JobSet", "jobset.x-k8s.io"}, ray_cluster_kind{"RayCluster", "ray.io"},
    ray_job_kind{"RayJob", "ray.io"}, pod_kind{"Pod", ""};

struct KnownPair {
  KindName owner, part;
  Ownership how;
};

constexpr std::array<KnownPair, 6> known_pairs{{{job_set_kind, job_kind, Ownership::part},
                                                {ray_job_kind, ray_cluster_kind, Ownership::part},
                                                {ray_job_kind, job_kind, Ownership::part},
                                                {ray_cluster_kind, job_kind, Ownership::when_leaving},
                                                {job_kind, pod_kind, Ownership::part},
                                                {ray_cluster_kind, pod_kind, Ownership::part}}};

}  // namespace

std::string_view group_of_version(std::string_view api_version) {
  const auto slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

Ownership ownership(const KindName& owner, const KindName& part) {
  for (const auto& pair : known_pairs)
    if (pair.owner == owner && pair.part == part) return pair.how;
  return Ownership::none;
}

}  // namespace hindsight::connectors
