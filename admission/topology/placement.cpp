#include "admission/topology/placement.hpp"

#include <algorithm>
#include <cstddef>

#include "admission/topology/balance.hpp"
#include "admission/topology/domain_counts.hpp"
#include "admission/topology/domain_list.hpp"

namespace hindsight::admission::topology {
namespace {

class Search {
 public:
  Search(const TopologyTree& tree, const Capacity& free, const PlacementRules& rules, const Gang& gang, const LeafRules& leaves)
      : tree_(tree), free_(free), rules_(rules), gang_(gang), leaf_rules_(leaves), order_(rules.least_free), levels_(tree.level_count()) {
    inner_.resize(tree.level_count());
    for (std::size_t k = 1; k < rules.layers.size(); ++k)
      for (std::size_t l = rules.layers[k - 1].level + 1; l <= rules.layers[k].level; ++l) inner_[l] = rules.layers[k].size;
  }

  tl::expected<Placement, Misfit> run() {
    count_leaves();
    const RollUp how{slice_level(), slice_size(), gang_.leader.has_value()};
    for (std::size_t level = tree_.lowest(); level-- > 0;) {
      levels_[level].resize(tree_.size(level));
      for (DomainIndex d = 0; d < levels_[level].size(); ++d) roll_up(tree_, levels_, level, d, how, inner_[level + 1]);
    }
    if (rules_.balanced && !rules_.strict && !rules_.free)
      if (auto out = spread_evenly()) return *out;
    auto found = search(rules_.level);
    if (!found) return tl::unexpected(misfit());
    return descend(std::move(*found));
  }

 private:
  [[nodiscard]] std::size_t slice_level() const { return rules_.layers.front().level; }
  [[nodiscard]] std::int32_t slice_size() const { return rules_.layers.front().size; }
  [[nodiscard]] std::int32_t leaders() const { return gang_.leader ? 1 : 0; }
  [[nodiscard]] std::int32_t need() const { return gang_.count / slice_size(); }

  // ---- phase 1 (§3.3, §3.4) -------------------------------------------------------------------------------------------------------

  /// What is asked of a leaf, of one resource; null: no leaf has any of it.
  struct Need {
    const Amount* column;
    Amount amount, taken;  ///< By a pod; by the leader, where it stands here.
  };

  [[nodiscard]] std::vector<Need> needs_of(const PodRequest& request, const PodRequest* leader) const {
    std::vector<Need> out;
    for (const auto& [resource, amount] : request) {
      if (amount == 0) continue;
      Amount taken = 0;
      if (leader != nullptr)
        for (const auto& [r, a] : *leader)
          if (r == resource) taken = a;
      out.push_back({free_.column(resource), amount, taken});
    }
    return out;
  }

  /// Pods that the leaf has room for, and the position of what limits them most.
  static std::pair<std::int32_t, std::size_t> fits(const std::vector<Need>& needs, DomainIndex leaf) {
    std::pair<std::int32_t, std::size_t> out{unlimited_pods, 0};
    for (std::size_t i = 0; i < needs.size(); ++i) {
      const Need& need = needs[i];
      const Amount has = need.column == nullptr ? 0 : need.column[leaf];
      const auto n = static_cast<std::int32_t>(std::clamp<Amount>(subtract(has, need.taken) / need.amount, 0, unlimited_pods));
      if (n < out.first) out = {n, i};
    }
    return out;
  }

  static bool is_set(std::span<const std::uint8_t> flags, DomainIndex leaf) { return !flags.empty() && flags[leaf] != 0; }

  void count_leaves() {
    DomainOffers& leaves = levels_.back();
    leaves.resize(tree_.leaves());
    const std::vector<Need> needs = needs_of(gang_.request, nullptr);
    const std::vector<Need> beside_leader = gang_.leader ? needs_of(gang_.request, &*gang_.leader) : std::vector<Need>();
    const std::vector<Need> needs_of_leader = gang_.leader ? needs_of(*gang_.leader, nullptr) : std::vector<Need>();
    lacking_.assign(needs.size(), 0);
    const bool counts_slices = slice_level() == tree_.lowest();
    for (DomainIndex leaf = 0; leaf < leaves.size(); ++leaf) {
      DomainOffer& e = leaves[leaf];
      e.domain = leaf;
      if (is_set(leaf_rules_.absent, leaf)) continue;
      ++present_;
      const bool out = is_set(leaf_rules_.excluded, leaf);
      if (!out) {
        const auto [n, limit] = fits(needs, leaf);
        e.pods = e.pods_l = n;
        if (n == 0) ++lacking_[limit];
        if (!leaf_rules_.scores.empty()) e.score = leaf_rules_.scores[leaf];
      }
      if (gang_.leader && !is_set(leaf_rules_.excluded_for_leader, leaf) && fits(needs_of_leader, leaf).first > 0) {
        e.lead = 1;
        if (!out) e.pods_l = fits(beside_leader, leaf).first;
      }
      if (counts_slices) {
        e.slices = e.pods / slice_size();
        e.slices_l = e.pods_l / slice_size();
      }
    }
  }

  // ---- phase 2a (§3.6) ----------------------------------------------------------------------------------------------------------------

  struct Found {
    std::size_t level;
    DomainOffers domains;
  };

  std::optional<Found> search(std::size_t level) {
    DomainOffers list = levels_[level];
    order_.sort_for_leader(list);
    searched_ = level;
    if (present_ == 0) return give_up(0, true);
    const auto holds = [&](const DomainOffer& e) { return e.slices_l >= need() && e.lead >= leaders(); };
    std::size_t top = 0;
    if (order_.best_fit() && holds(list[0])) top = DomainOrder::best(list, 0, need(), leaders(), Unit::slices);
    if (!order_.best_fit())
      for (const DomainOffer& e : list)
        if (leaders() == 0 ? e.slices >= need() : holds(e)) return Found{level, {e}};
    if (holds(list[top])) return Found{level, {list[top]}};
    if (rules_.strict) {
      // What is preferred may be too small, and something else large enough (TAS-74).
      for (std::size_t j = 1; j < list.size(); ++j)
        if (holds(list[j])) return Found{level, {list[DomainOrder::best(list, j, need(), leaders(), Unit::slices)]}};
      return give_up(list[top].slices);
    }
    if (level > 0 && !rules_.free) return search(level - 1);
    return spread(level, std::move(list));
  }

  std::optional<Found> spread(std::size_t level, DomainOffers list) {
    DomainOrder::promote(list, need(), leaders(), Unit::slices);
    Found out{level, {}};
    std::int32_t n = need(), q = leaders();
    std::size_t k = 0;
    for (; q > 0 && k < list.size() && list[k].lead > 0; ++k) {
      const DomainOffer& d = list[order_.best_fit() && list[k].slices_l >= n ? DomainOrder::best(list, k, n, q, Unit::slices) : k];
      out.domains.push_back(d);
      q -= d.lead;
      n -= d.slices_l;
    }
    if (q > 0) return give_up(leaders() - q);
    DomainOffers rest(list.begin() + static_cast<std::ptrdiff_t>(k), list.end());
    order_.sort(rest);
    for (std::size_t j = 0; j < rest.size() && n > 0; ++j) {
      const DomainOffer& d = rest[order_.best_fit() && rest[j].slices >= n ? DomainOrder::best(rest, j, n, 0, Unit::slices) : j];
      out.domains.push_back(d);
      n -= d.slices;
    }
    if (n > 0) return give_up(need() - n);
    return out;
  }

  std::nullopt_t give_up(std::int32_t fit, bool empty = false) {
    fit_ = fit;
    empty_ = empty;
    return std::nullopt;
  }

  // ---- distribution and descent (§3.7, §3.8) ------------------------------------------------------------------------------------------

  [[nodiscard]] DomainOffers children(std::size_t level, DomainIndex d) const {
    const auto [first, last] = tree_.children(level, d);
    const DomainOffers& below = levels_[level + 1];
    return {below.begin() + first, below.begin() + last};
  }

  tl::expected<Placement, Misfit> descend(Found found) {
    std::size_t level = found.level;
    DomainOffers at;
    bool whole = order_.give(std::move(found.domains), gang_.count, leaders(), slice_size(), Unit::slices, at);
    for (; whole && level < std::min(tree_.lowest(), slice_level()); ++level) {  // the children of all compete
      DomainOffers below;
      for (const DomainOffer& d : at)
        for (const DomainOffer& c : children(level, d.domain)) below.push_back(c);
      order_.sort(below);
      at.clear();
      whole = order_.give(std::move(below), gang_.count, leaders(), slice_size(), Unit::slices, at);
    }
    if (whole) whole = hand_down(level, at);
    if (!whole) return tl::unexpected(misfit());  // TAS-75
    return placement_of(std::move(at));
  }

  /// Each domain of `level` hands what it was given to those below it, down to the leaves. False: these do not suffice.
  [[nodiscard]] bool hand_down(std::size_t level, DomainOffers& at) const {
    for (; level < tree_.lowest(); ++level) {
      const std::int32_t unit = level < slice_level() ? slice_size() : std::max(inner_[level + 1], 1);
      DomainOffers next;
      for (const DomainOffer& d : at) {
        if (d.pods == 0 && d.lead == 0) continue;
        DomainOffers below = children(level, d.domain);
        order_.sort(below);
        if (unit > 1)
          for (DomainOffer& c : below) {
            c.slices = c.pods / unit;
            c.slices_l = c.pods_l / unit;
          }
        if (!order_.give(std::move(below), d.pods, d.lead, unit, unit > 1 ? Unit::slices : Unit::pods, next)) return false;
      }
      at = std::move(next);
    }
    return true;
  }

  [[nodiscard]] static Placement placement_of(DomainOffers leaves) {
    std::sort(leaves.begin(), leaves.end(), [](const DomainOffer& a, const DomainOffer& b) { return a.domain < b.domain; });
    Placement out;
    for (const DomainOffer& e : leaves) {
      if (e.lead > 0) out.leader = e.domain;
      if (e.pods > 0) out.pods.emplace_back(e.domain, e.pods);
    }
    return out;
  }

  /// §3.10; nothing: it cannot be done so.
  [[nodiscard]] std::optional<Placement> spread_evenly() {
    auto balanced = balance(tree_, rules_, gang_, levels_);
    if (!balanced) return {};
    std::swap(levels_, balanced->offers);
    const bool whole = hand_down(balanced->level, balanced->domains);
    std::swap(levels_, balanced->offers);
    if (!whole) return {};
    return placement_of(std::move(balanced->domains));
  }

  // ---- why not ------------------------------------------------------------------------------------------------------------------------

  [[nodiscard]] Misfit misfit() const {
    Misfit out;
    out.empty_level = empty_;
    out.leaves = present_;
    const DomainOffers& looked_at = levels_[searched_];
    const auto most = std::max_element(looked_at.begin(), looked_at.end(), [](const DomainOffer& a, const DomainOffer& b) {
      return std::pair(a.slices_l, a.pods) < std::pair(b.slices_l, b.pods);
    });
    if (!empty_ && most != looked_at.end()) out.nearest = {searched_, most->domain};
    out.fit = fit_;
    out.wanted = need();
    std::size_t position = 0;
    for (const auto& [resource, amount] : gang_.request) {
      if (amount == 0) continue;
      if (const std::int32_t n = lacking_[position++]; n != 0) out.lacking.emplace(resource.text(), n);
    }
    if (rules_.layers.size() > 1 && !empty_) count_layers(out);
    return out;
  }
  /// In the best domain of the level that was searched last.
  void count_layers(Misfit& out) const {
    const DomainOffers& list = levels_[searched_];
    const auto best =
        std::max_element(list.begin(), list.end(), [](const DomainOffer& a, const DomainOffer& b) { return a.slices < b.slices; });
    for (const auto& layer : rules_.layers) {
      DomainIndex first = best->domain, last = first + 1;
      for (std::size_t l = searched_; l < layer.level; ++l) {
        last = tree_.children(l, last - 1).last;
        first = tree_.children(l, first).first;
      }
      std::int32_t fit = 0;
      for (DomainIndex d = first; d < last; ++d) fit = sum_of_pods(fit, levels_[layer.level][d].pods / layer.size);
      out.layers.emplace_back(fit, gang_.count / layer.size);
    }
  }

  const TopologyTree& tree_;
  const Capacity& free_;
  const PlacementRules& rules_;
  const Gang& gang_;
  const LeafRules& leaf_rules_;
  DomainOrder order_;
  std::vector<DomainOffers> levels_;   ///< By level and domain: what phase 1 counted.
  std::vector<std::int32_t> inner_;    ///< By level: what domains round down to; 0: they do not.
  std::vector<std::int32_t> lacking_;  ///< Leaves without room for one pod, by what limits them: what is asked for, but zeros.
  std::int32_t present_ = 0;           ///< Leaves that take part.
  std::size_t searched_ = 0;
  std::int32_t fit_ = 0;
  bool empty_ = false;
};

std::optional<std::size_t> find_level(const std::vector<std::string>& levels, const std::string& label) {
  const auto it = std::find(levels.begin(), levels.end(), label);
  return it == levels.end() ? std::nullopt : std::optional(static_cast<std::size_t>(it - levels.begin()));
}

}  // namespace

Result<PlacementRules> rules_for(const TopologyRequest& request, const std::vector<std::string>& levels, bool implied,
                                 const PlacementProfile& profile) {
  const auto refuse = [](std::string text) { return fail(ErrorKind::invalid, std::move(text)); };
  PlacementRules out;
  const std::size_t lowest = levels.size() - 1;
  std::string asked;
  if (request.required || request.preferred) {
    asked = request.required ? *request.required : *request.preferred;
    const auto level = find_level(levels, asked);
    if (!level) return refuse("no requested topology level: " + asked);
    out.level = *level;
    out.strict = request.required.has_value();
  } else if (!request.slices.empty()) {
    out.free = true;
    asked = levels.front();
  } else if (request.unconstrained || implied) {
    out.free = true;
    out.level = lowest;
    asked = levels.back();
  } else {
    return refuse("topology level not specified");
  }
  out.least_free = out.free && profile.mixed;
  out.balanced = profile.balanced;

  if (request.slices.empty()) out.layers.push_back({lowest, 1});
  for (std::size_t i = 0; i < request.slices.size(); ++i) {
    const auto& layer = request.slices[i];
    if (!layer.size || *layer.size < 1) return refuse("slice topology requested, but slice size not provided");
    const auto level = find_level(levels, layer.level);
    if (!level)
      return refuse(std::string("no requested topology level for ") + (i == 0 ? "slices: " : "additional slice layer: ") + layer.level);
    if (i == 0) {
      if (*level < out.level) return refuse("podset slice topology " + layer.level + " is above the podset topology " + asked);
    } else {
      const auto& above = out.layers.back();
      if (*level <= above.level)
        return refuse("additional slice layer topology " + layer.level + " must be at a lower level than " + levels[above.level]);
      if (above.size % *layer.size != 0)
        return refuse("additional slice layer size " + std::to_string(*layer.size) + " must evenly divide parent layer size " +
                      std::to_string(above.size));
    }
    out.layers.push_back({*level, *layer.size});
  }
  return out;
}

tl::expected<Placement, Misfit> place(const TopologyTree& tree, const Capacity& free, const PlacementRules& rules, const Gang& gang,
                                      const LeafRules& leaves) {
  return Search(tree, free, rules, gang, leaves).run();
}

std::pair<std::int32_t, Symbol> pods_on(const Capacity& free, const PodRequest& request, DomainIndex leaf) {
  std::pair<std::int32_t, Symbol> out{unlimited_pods, {}};
  for (const auto& [resource, amount] : request) {
    if (amount == 0) continue;
    const auto n = static_cast<std::int32_t>(std::clamp<Amount>(free.at(resource, leaf) / amount, 0, unlimited_pods));
    if (n < out.first) out = {n, resource};
  }
  return out;
}

void charge(Capacity& free, const Gang& gang, const Placement& placement, int sign) {
  const auto take = [&](const PodRequest& request, DomainIndex leaf, std::int32_t pods) {
    for (const auto& [resource, amount] : request) {
      const Amount all = multiply(amount, pods);
      free.add(resource, leaf, sign > 0 ? subtract(0, all) : all);
    }
  };
  for (const auto& [leaf, pods] : placement.pods) take(gang.request, leaf, pods);
  if (placement.leader) take(*gang.leader, *placement.leader, 1);
}

std::string text_of(const Misfit& misfit, std::string_view topology, const TopologyTree& tree, const PlacementRules& rules,
                    const std::map<std::string, std::int32_t>& excluded) {
  if (misfit.empty_level) return "no topology domains at level: " + tree.levels()[rules.level];
  std::string out = "topology \"" + std::string(topology) + "\"";
  const std::string unit = rules.layers.front().size != 1 ? " slice(s)" : " pod(s)";
  if (!misfit.layers.empty()) {
    out += " doesn't allow to fit";
    for (std::size_t i = 0; i < misfit.layers.size(); ++i)
      out += "; " + std::to_string(misfit.layers[i].first) + "/" + std::to_string(misfit.layers[i].second) + " slice(s) fit on level " +
             tree.levels()[rules.layers[i].level];
  } else if (misfit.fit == 0) {
    out += " doesn't allow to fit any of " + std::to_string(misfit.wanted) + unit;
  } else {
    out += " allows to fit only " + std::to_string(misfit.fit) + " out of " + std::to_string(misfit.wanted) + unit;
  }
  std::vector<std::string> reasons;
  for (const auto& [why, n] : excluded) reasons.push_back(why + ": " + std::to_string(n));
  for (const auto& [resource, n] : misfit.lacking) reasons.push_back("resource \"" + resource + "\": " + std::to_string(n));
  std::sort(reasons.begin(), reasons.end());
  if (reasons.empty()) return out;
  out += ". Total nodes: " + std::to_string(misfit.leaves) + "; excluded: ";
  for (std::size_t i = 0; i < reasons.size(); ++i) out += (i == 0 ? "" : ", ") + reasons[i];
  return out;
}

}  // namespace hindsight::admission::topology
