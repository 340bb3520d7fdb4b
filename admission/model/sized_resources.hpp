#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "vocabulary/amount.hpp"
#include "vocabulary/observations.hpp"
#include "vocabulary/symbol.hpp"

namespace hindsight::admission {

struct ResourceRequest {
  Symbol resource;
  Amount amount = 0;  ///< Per pod.
  friend bool operator==(const ResourceRequest&, const ResourceRequest&) = default;
};

/// One resource of one container, as the template has it, and how far it may go (5440 §2.4).
struct SizedResource {
  Symbol resource;
  std::optional<Amount> request, limit;
  Amount low = 0, high = 0, step = 0;  ///< step 0: no bounds.

  [[nodiscard]] Amount value() const { return request ? *request : limit.value_or(0); }
  friend bool operator==(const SizedResource&, const SizedResource&) = default;
};

/// One container with the resources that any container of its pod set has bounds for.
struct SizedPart {
  std::string container;
  ContainerRole role = ContainerRole::main;
  std::vector<SizedResource> amounts;  ///< Sorted by resource text.
  friend bool operator==(const SizedPart&, const SizedPart&) = default;
};

/// Another size than that of the template.
struct PlannedSize {
  Symbol pod_set;
  std::string container;
  Symbol resource;
  Amount original = 0;
  Amount amount = 0;
  friend bool operator==(const PlannedSize&, const PlannedSize&) = default;
};
using SizingPlan = std::vector<PlannedSize>;  ///< In the order of pod sets, containers and resources.

/// What the scheduler has to know of a Workload whose containers may be sized.
struct SizingInfo {
  ResourcePolicy policy = ResourcePolicy::none;
  struct PodSet {
    std::vector<ResourceRequest> requests;  ///< Per pod as observed.
    std::vector<SizedPart> containers;
    bool covers_pods = false;  ///< One pod is one unit of resource "pods" (BA-42).
  };
  std::vector<PodSet> pod_sets;
};

/// The effective requests of a pod whose containers have other sizes. `containers`: as the template has them; `sizes`: of this pod set.
[[nodiscard]] std::vector<ResourceRequest> sized_requests(std::span<const ResourceRequest> requests, std::span<const SizedPart> containers,
                                                          const SizingPlan& sizes, Symbol pod_set);

/// The containers with the sizes that a plan gives them: what a job that was started with it shows (MR-55).
[[nodiscard]] std::vector<SizedPart> with_sizes(std::vector<SizedPart> containers, const SizingPlan& plan, const Symbol& pod_set);

/// Hash of what containers ask for.
[[nodiscard]] std::uint64_t sizes_hash(std::span<const SizedPart> containers);

/// Do containers ask for the same, whatever their bounds are?
[[nodiscard]] bool same_sizes(std::span<const SizedPart> a, std::span<const SizedPart> b);

}  // namespace hindsight::admission
