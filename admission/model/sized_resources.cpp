#include "admission/model/sized_resources.hpp"

#include <algorithm>

#include "vocabulary/state_hash.hpp"

namespace hindsight::admission {
namespace {

const PlannedSize* find(const SizingPlan& plan, Symbol pod_set, const std::string& container, Symbol resource) {
  const auto it = std::find_if(plan.begin(), plan.end(), [&](const PlannedSize& p) {
    return p.pod_set == pod_set && p.resource == resource && p.container == container;
  });
  return it == plan.end() ? nullptr : &*it;
}

Amount amount_of(const SizedPart& part, const Symbol& resource) {
  for (const auto& a : part.amounts)
    if (a.resource == resource) return a.value();
  return 0;
}

/// What one pod asks for: the containers that run together, or the init step that asks for most (base-admission §1.3).
Amount pod_amount(std::span<const SizedPart> containers, const Symbol& resource) {
  Amount total = 0, sidecars = 0, steps = 0;
  for (const auto& part : containers) {
    const Amount amount = amount_of(part, resource);
    switch (part.role) {
      case ContainerRole::main:
        total = add(total, amount);
        break;
      case ContainerRole::sidecar:
        sidecars = add(sidecars, amount);
        steps = std::max(steps, sidecars);
        break;
      case ContainerRole::init:
        steps = std::max(steps, add(sidecars, amount));
        break;
    }
  }
  return std::max(add(total, sidecars), steps);
}

}  // namespace

std::vector<SizedPart> with_sizes(std::vector<SizedPart> containers, const SizingPlan& plan, const Symbol& pod_set) {
  for (auto& part : containers)
    for (auto& a : part.amounts) {
      const auto* p = find(plan, pod_set, part.container, a.resource);
      if (p == nullptr) continue;
      if (a.limit && (!a.request || a.limit == a.request)) a.limit = p->amount;  // MR-42: equal ones stay equal
      if (a.request) a.request = p->amount;
    }
  return containers;
}

std::uint64_t sizes_hash(std::span<const SizedPart> containers) {
  StateHash h;
  for (const auto& part : containers) {
    h.add(std::string_view(part.container));
    for (const auto& a : part.amounts) {
      h.add(a.resource);
      h.add(a.request);
      h.add(a.limit);
    }
  }
  return h.value();
}

bool same_sizes(std::span<const SizedPart> a, std::span<const SizedPart> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const SizedPart& x, const SizedPart& y) {
    return x.container == y.container && x.role == y.role &&
           std::equal(x.amounts.begin(), x.amounts.end(), y.amounts.begin(), y.amounts.end(),
                      [](const SizedResource& p, const SizedResource& q) {
                        return p.resource == q.resource && p.request == q.request && p.limit == q.limit;
                      });
  });
}

std::vector<ResourceRequest> sized_requests(std::span<const ResourceRequest> requests, std::span<const SizedPart> containers,
                                            const SizingPlan& sizes, Symbol pod_set) {
  const auto after = with_sizes({containers.begin(), containers.end()}, sizes, pod_set);
  std::vector<ResourceRequest> out(requests.begin(), requests.end());
  for (auto& r : out)  // what containers do not ask for, overhead, stays
    r.amount = add(r.amount, subtract(pod_amount(after, r.resource), pod_amount(containers, r.resource)));
  return out;
}

}  // namespace hindsight::admission
