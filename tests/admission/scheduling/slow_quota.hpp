#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/admission/scheduling/builders.hpp"

namespace hindsight::admission::testing {

/// §2.1 and §2.2 word for word: everything is computed anew for each question, by name and by recursion.
class SlowQuota {
 public:
  SlowQuota(const std::vector<QueueSpec>& queues, const std::vector<CohortSpec>& cohorts) {
    const auto name_of = [](Symbol s) { return std::string(s.text()); };
    for (const auto& c : cohorts) {
      Node& n = nodes_["cohort " + name_of(c.config.name)];
      n.groups = c.config.groups;
      if (!c.config.parent.empty()) n.parent = "cohort " + name_of(c.config.parent);
    }
    for (const auto& q : queues) {
      Node& n = nodes_["queue " + name_of(q.config.name)];
      n.groups = q.config.groups;
      if (!q.config.cohort.empty()) n.parent = "cohort " + name_of(q.config.cohort);
    }
    std::vector<std::string> implicit;
    for (const auto& [name, n] : nodes_)
      if (!n.parent.empty()) implicit.push_back(n.parent);
    for (const auto& name : implicit) nodes_[name];
  }

  /// What the workloads of a queue use of the pair in question.
  std::map<std::string, Amount> queue_usage;

  void about(Symbol flavor, Symbol resource) {
    flavor_ = flavor;
    resource_ = resource;
  }
  [[nodiscard]] Amount subtree(const std::string& n) const {
    Amount sum = quota(n).nominal;
    for (const auto& [name, child] : nodes_)
      if (child.parent == n) sum = add(sum, subtract(subtree(name), local(name)));
    return sum;
  }
  [[nodiscard]] Amount local(const std::string& n) const {
    const auto limit = quota(n).lending_limit;
    return limit && !parent(n).empty() ? std::max<Amount>(0, subtract(subtree(n), *limit)) : 0;
  }
  [[nodiscard]] Amount usage(const std::string& n) const {
    if (const auto own = queue_usage.find(n); own != queue_usage.end()) return own->second;
    Amount sum = 0;
    for (const auto& [name, child] : nodes_)
      if (child.parent == n) sum = add(sum, std::max<Amount>(0, subtract(usage(name), local(name))));
    return sum;
  }
  [[nodiscard]] Amount available(const std::string& n) const {
    if (parent(n).empty()) return subtract(subtree(n), usage(n));
    Amount p = available(parent(n));
    if (const auto limit = quota(n).borrowing_limit) {
      p = std::min(p, add(subtract(subtract(subtree(n), local(n)), std::max<Amount>(0, subtract(usage(n), local(n)))), *limit));
    }
    return add(std::max<Amount>(0, subtract(local(n), usage(n))), p);
  }
  [[nodiscard]] Amount potential(const std::string& n) const {
    if (parent(n).empty()) return subtree(n);
    const Amount p = add(local(n), potential(parent(n)));
    const auto limit = quota(n).borrowing_limit;
    return limit ? std::min(p, add(subtree(n), *limit)) : p;
  }
  [[nodiscard]] bool has(const std::string& n) const { return nodes_.contains(n); }

 private:
  struct Node {
    std::string parent;
    std::vector<ResourceGroup> groups;
  };
  [[nodiscard]] const std::string& parent(const std::string& n) const { return nodes_.at(n).parent; }
  [[nodiscard]] Quota quota(const std::string& n) const {
    for (const auto& g : nodes_.at(n).groups)
      for (const auto& f : g.flavors)
        for (std::size_t r = 0; r < g.resources.size(); ++r)
          if (f.flavor == flavor_ && g.resources[r] == resource_) return f.quotas[r];
    return {};
  }

  std::map<std::string, Node> nodes_;
  Symbol flavor_, resource_;
};

}  // namespace hindsight::admission::testing
