#include "projections/topology_map.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "admission/domain/domain.hpp"
#include "admission/model/node_match.hpp"
#include "admission/topology/node_health.hpp"
#include "admission/topology/topology_tree.hpp"
#include "admission/workload/workload_parent.hpp"

namespace hindsight::projections {
namespace {

using namespace admission;

constexpr std::uint32_t no_resource = ~std::uint32_t{0};

/// Devices are what people look at topologies for.
int rank_of(const Symbol& resource) {
  if (resource.text().find('/') != std::string_view::npos) return 0;
  if (resource.text() == "cpu") return 1;
  if (resource.text() == "memory") return 2;
  return resource.text() == "pods" ? 4 : 3;
}

/// "block-1/rack-2", of what an assignment says: no value of a label has a slash.
std::string key_of_domain(std::span<const Symbol> values) {
  std::string out;
  for (const Symbol& value : values) out.append(value.text()).push_back('/');
  return out;
}

}  // namespace

TopologyMap::TopologyMap(const StateView& state, const Symbol& name, const std::vector<std::string>& levels, std::string_view gang_uid)
    : levels_(levels) {
  if (levels_.empty()) return;
  find_places(state, name);
  build();
  find_resources();
  add_nodes();
  add_placed(state, gang_uid);
  sum_up();
}

/// Nodes with all levels that some flavor with the topology can select; where no flavor names it, all that have the levels.
void TopologyMap::find_places(const StateView& state, const Symbol& name) {
  std::vector<const FlavorConfig*> flavors;
  for (const auto& [flavor_name, flavor] : state.domain().catalog()->flavors)
    if (flavor->topology == name) flavors.push_back(flavor.get());
  std::vector<Symbol> labels;
  for (const auto& level : levels_) labels.emplace_back(level);
  for (const auto& [node_name, node] : state.domain().nodes()) {
    const auto has = [&n = *node](const Symbol& label) { return n.has_label(label); };
    if (!std::all_of(labels.begin(), labels.end(), has)) continue;
    const auto selects_it = [&n = *node](const FlavorConfig* f) { return carries(n, f->node_labels); };
    if (!flavors.empty() && std::none_of(flavors.begin(), flavors.end(), selects_it)) continue;
    places_.push_back({node.get(), static_cast<std::uint32_t>(values_.size()), node->ready && !node->unschedulable});
    for (const Symbol& label : labels) values_.emplace_back(node->label(label));
  }
}

void TopologyMap::build() {
  const std::size_t depth = levels_.size();
  const auto before = [&](const Place& a, const Place& b) {
    for (std::size_t i = 0; i < depth; ++i) {
      const Symbol &x = values_[a.values + i], &y = values_[b.values + i];
      if (x != y) return x.text() < y.text();
    }
    return false;
  };
  std::stable_sort(places_.begin(), places_.end(), before);
  domains_.resize(depth);
  for (std::size_t p = 0; p < places_.size(); ++p) {
    std::size_t same = 0;  // levels that it shares with the one before it
    if (p > 0)
      while (same < depth && values_[places_[p].values + same] == values_[places_[p - 1].values + same]) ++same;
    for (std::size_t level = same; level < depth; ++level) {
      Domain& added = domains_[level].emplace_back();
      added.name = values_[places_[p].values + level];
      if (level + 1 < depth) added.first_child = added.end_of_children = static_cast<std::uint32_t>(domains_[level + 1].size());
      if (level == 0) continue;
      added.parent = static_cast<std::uint32_t>(domains_[level - 1].size() - 1);
      domains_[level - 1].back().end_of_children = static_cast<std::uint32_t>(domains_[level].size());
    }
    Domain& leaf = domains_.back().back();
    ++leaf.nodes;
    if (places_[p].takes_part) ++leaf.ready;
    leaf_of_.emplace(places_[p].node, static_cast<std::uint32_t>(domains_.back().size() - 1));
  }
}

void TopologyMap::find_resources() {
  std::set<Symbol, ByText> found;
  const AmountList* last = nullptr;  // neighbours mostly have the very same list
  for (const Place& p : places_) {
    if (&p.node->allocatable.value() == last) continue;
    last = &p.node->allocatable.value();
    for (const auto& [resource, amount] : *last)
      if (amount != 0) found.insert(resource);
  }
  resources_.assign(found.begin(), found.end());
  std::stable_sort(resources_.begin(), resources_.end(), [](const Symbol& a, const Symbol& b) { return rank_of(a) < rank_of(b); });
  for (std::uint32_t r = 0; r < resources_.size(); ++r) resource_numbers_.emplace(resources_[r], r);
  capacity_.resize(levels_.size());
  used_.resize(levels_.size());
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    capacity_[level].assign(domains_[level].size() * resources_.size(), 0);
    used_[level].assign(domains_[level].size() * resources_.size(), 0);
  }
  free_.assign(domains_.back().size() * resources_.size(), 0);
}

std::uint32_t TopologyMap::resource(const Symbol& name) const {
  const auto it = resource_numbers_.find(name);
  return it == resource_numbers_.end() ? no_resource : it->second;
}

void TopologyMap::add_nodes() {
  const std::size_t width = resources_.size();
  for (const Place& p : places_) {
    const std::size_t at = std::size_t{leaf_of_.at(p.node)} * width;
    for (const auto& [name, amount] : p.node->allocatable.value()) {
      const std::uint32_t r = resource(name);
      if (r == no_resource) continue;
      capacity_.back()[at + r] = add(capacity_.back()[at + r], amount);
      if (p.takes_part) free_[at + r] = add(free_[at + r], amount);
    }
    for (const auto& [name, amount] : p.node->used.value()) {
      const std::uint32_t r = resource(name);
      if (r == no_resource) continue;
      used_.back()[at + r] = add(used_.back()[at + r], amount);
      if (p.takes_part) free_[at + r] = subtract(free_[at + r], amount);
    }
  }
}

/// What pods with places take, by the assignments of all who hold quota.
void TopologyMap::add_placed(const StateView& state, std::string_view gang_uid) {
  static const Symbol pods_resource("pods");
  const auto context = state.domain().context();
  const Symbol lowest(levels_.back());
  const bool by_host = levels_.back() == topology::hostname_label;
  const std::size_t width = resources_.size();
  std::unordered_map<std::string, std::uint32_t> leaf_of_path;
  if (!by_host)
    for (const Place& p : places_)
      leaf_of_path.emplace(key_of_domain(std::span(values_).subspan(p.values, levels_.size())), leaf_of_.at(p.node));
  const auto leaf_of = [&](std::span<const Symbol> place) -> std::optional<std::uint32_t> {
    if (by_host) {
      const NodeConfig* node = node_of(*context.nodes, *context.hosts, place.back());
      const auto it = node == nullptr ? leaf_of_.end() : leaf_of_.find(node);
      return it == leaf_of_.end() ? std::nullopt : std::optional(it->second);
    }
    const auto it = leaf_of_path.find(key_of_domain(place));
    return it == leaf_of_path.end() ? std::nullopt : std::optional(it->second);
  };
  for (std::uint32_t i = 0; i < state.domain().parent_count(); ++i) {
    const auto* parent = state.parent(i);
    if (parent == nullptr) continue;
    for (const auto& w : parent->workloads()) {
      if (!w.reserved() || w.finished() || !w.active) continue;
      const bool is_gang = !gang_uid.empty() && w.uid.view() == gang_uid;
      for (const auto& p : w.admission->pod_sets) {
        const TopologyAssignment& where = p.topology;
        if (where.empty() || where.levels.back() != lowest || (!by_host && where.levels.size() != levels_.size())) continue;
        const auto& specs = w.pod_sets.value();
        const auto spec = std::find_if(specs.begin(), specs.end(), [&](const PodSetSpec& s) { return s.name == p.pod_set; });
        std::vector<std::pair<std::uint32_t, Amount>> request;
        if (spec != specs.end())
          for (const auto& r : spec->requests)
            if (const std::uint32_t number = resource(r.resource); number != no_resource && r.resource != pods_resource)
              request.emplace_back(number, r.amount);
        if (const std::uint32_t number = resource(pods_resource); number != no_resource) request.emplace_back(number, 1);
        for (std::size_t d = 0; d < where.size(); ++d) {
          const auto leaf = leaf_of(where.domain(d));
          if (!leaf) continue;
          if (is_gang) domains_.back()[*leaf].gang += where.counts[d];
          const std::size_t at = std::size_t{*leaf} * width;
          for (const auto& [number, amount] : request) {
            const Amount all = multiply(amount, where.counts[d]);
            used_.back()[at + number] = add(used_.back()[at + number], all);
            free_[at + number] = subtract(free_[at + number], all);
          }
        }
      }
    }
  }
}

void TopologyMap::sum_up() {
  const std::size_t width = resources_.size();
  for (std::size_t level = levels_.size() - 1; level > 0; --level) {
    for (std::size_t d = 0; d < domains_[level].size(); ++d) {
      const Domain& from = domains_[level][d];
      Domain& to = domains_[level - 1][from.parent];
      to.nodes += from.nodes;
      to.ready += from.ready;
      to.gang += from.gang;
      for (std::size_t r = 0; r < width; ++r) {
        Amount& capacity = capacity_[level - 1][from.parent * width + r];
        Amount& used = used_[level - 1][from.parent * width + r];
        capacity = add(capacity, capacity_[level][d * width + r]);
        used = add(used, used_[level][d * width + r]);
      }
    }
  }
}

std::uint32_t TopologyMap::nodes() const { return static_cast<std::uint32_t>(places_.size()); }

std::uint32_t TopologyMap::ready() const {
  if (domains_.empty()) return 0;
  return std::accumulate(domains_.front().begin(), domains_.front().end(), std::uint32_t{0},
                         [](std::uint32_t sum, const Domain& d) { return sum + d.ready; });
}

std::vector<std::string> TopologyMap::path(std::size_t level, std::size_t number) const {
  std::vector<std::string> out(level + 1);
  for (std::size_t l = level + 1; l-- > 0;) {
    out[l] = std::string(domains_[l][number].name.text());
    number = domains_[l][number].parent;
  }
  return out;
}

std::vector<std::vector<std::int64_t>> TopologyMap::room_for(const topology::PodRequest& pod) const {
  if (levels_.empty()) return {};
  const std::size_t width = resources_.size(), leaves = domains_.back().size();
  topology::Capacity free(leaves);
  for (const auto& [name, amount] : pod)
    if (const std::uint32_t r = resource(name); r != no_resource)
      for (topology::DomainIndex leaf = 0; leaf < leaves; ++leaf) free.add(name, leaf, free_[leaf * width + r]);
  std::vector<std::vector<std::int64_t>> out(levels_.size());
  for (std::size_t level = 0; level < levels_.size(); ++level) out[level].assign(domains_[level].size(), 0);
  for (topology::DomainIndex leaf = 0; leaf < leaves; ++leaf)
    if (domains_.back()[leaf].ready != 0) out.back()[leaf] = std::max<std::int64_t>(0, topology::pods_on(free, pod, leaf).first);
  for (std::size_t level = levels_.size() - 1; level > 0; --level)
    for (std::size_t d = 0; d < domains_[level].size(); ++d) out[level - 1][domains_[level][d].parent] += out[level][d];
  return out;
}

}  // namespace hindsight::projections
