#include "admission/topology/placement.hpp"

#include <algorithm>
#include <cstddef>

namespace hindsight::admission::topology {
namespace {

std::int32_t sum(std::int32_t a, std::int32_t b) {
  const std::int64_t s = std::int64_t{a} + b;
  return s > unlimited_pods ? unlimited_pods : static_cast<std::int32_t>(s);
}

/// What a domain offers, and what it is given. `..._l`: if the leader stands there, too.
struct Entry {
  DomainIndex domain = 0;
  std::int32_t pods = 0, slices = 0, pods_l = 0, slices_l = 0;
  std::int32_t lead = 0;  ///< Leaders that it can host.
};

enum class Unit : std::uint8_t { pods, slices };

std::int32_t capacity(const Entry& e, Unit unit, bool with_leader) {
  if (unit == Unit::slices) return with_leader ? e.slices_l : e.slices;
  return with_leader ? e.pods_l : e.pods;
}

using Entries = std::vector<Entry>;

class Search {
 public:
  Search(const TopologyTree& tree, const Capacity& free, const PlacementRules& rules, const Gang& gang,
         std::span<const std::uint8_t> excluded)
      : tree_(tree), free_(free), rules_(rules), gang_(gang), excluded_(excluded), levels_(tree.level_count()) {
    inner_.resize(tree.level_count());
    for (std::size_t k = 1; k < rules.layers.size(); ++k)
      for (std::size_t l = rules.layers[k - 1].level + 1; l <= rules.layers[k].level; ++l) inner_[l] = rules.layers[k].size;
  }

  tl::expected<Placement, Misfit> run() {
    count_leaves();
    for (std::size_t level = tree_.lowest(); level-- > 0;) roll_up(level);
    auto found = search(rules_.level);
    if (!found) return tl::unexpected(misfit());
    return descend(std::move(*found));
  }

 private:
  [[nodiscard]] std::size_t slice_level() const { return rules_.layers.front().level; }
  [[nodiscard]] std::int32_t slice_size() const { return rules_.layers.front().size; }
  [[nodiscard]] std::int32_t leaders() const { return gang_.leader ? 1 : 0; }
  [[nodiscard]] std::int32_t need() const { return gang_.count / slice_size(); }
  [[nodiscard]] bool best_fit() const { return !rules_.least_free; }

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

  void count_leaves() {
    Entries& leaves = levels_.back();
    leaves.resize(tree_.leaves());
    const std::vector<Need> needs = needs_of(gang_.request, nullptr);
    const std::vector<Need> beside_leader = gang_.leader ? needs_of(gang_.request, &*gang_.leader) : std::vector<Need>();
    const std::vector<Need> needs_of_leader = gang_.leader ? needs_of(*gang_.leader, nullptr) : std::vector<Need>();
    lacking_.assign(needs.size(), 0);
    const bool counts_slices = slice_level() == tree_.lowest();
    for (DomainIndex leaf = 0; leaf < leaves.size(); ++leaf) {
      Entry& e = leaves[leaf];
      e.domain = leaf;
      if (!excluded_.empty() && excluded_[leaf] != 0) continue;
      const auto [n, limit] = fits(needs, leaf);
      e.pods = e.pods_l = n;
      if (n == 0) ++lacking_[limit];
      if (gang_.leader && fits(needs_of_leader, leaf).first > 0) {
        e.lead = 1;
        e.pods_l = fits(beside_leader, leaf).first;
      }
      if (counts_slices) {
        e.slices = e.pods / slice_size();
        e.slices_l = e.pods_l / slice_size();
      }
    }
  }

  /// The leader is charged to the child where it costs least.
  void roll_up(std::size_t level) {
    Entries& entries = levels_[level];
    entries.resize(tree_.size(level));
    const std::int32_t rounded_to = inner_[level + 1];
    for (DomainIndex d = 0; d < entries.size(); ++d) {
      Entry& e = entries[d];
      e.domain = d;
      std::int32_t least_pods = unlimited_pods, least_slices = unlimited_pods;
      bool any = false;
      const auto [first, last] = tree_.children(level, d);
      for (DomainIndex i = first; i < last; ++i) {
        const Entry& c = levels_[level + 1][i];
        std::int32_t pods = c.pods, pods_l = c.pods_l;
        if (rounded_to != 0) {
          pods -= pods % rounded_to;
          pods_l -= pods_l % rounded_to;
        }
        e.pods = sum(e.pods, pods);
        e.slices = sum(e.slices, c.slices);
        e.lead = std::max(e.lead, c.lead);
        if (!gang_.leader || c.lead != 0) {
          least_pods = std::min(least_pods, pods - pods_l);
          least_slices = std::min(least_slices, c.slices - c.slices_l);
          any = true;
        }
      }
      e.pods_l = any ? e.pods - least_pods : 0;
      e.slices_l = any ? e.slices - least_slices : 0;
      if (level == slice_level()) {
        e.slices = e.pods / slice_size();
        e.slices_l = e.pods_l / slice_size();
      }
    }
  }

  // ---- orders and best fit (§3.5) ---------------------------------------------------------------------------------------------------

  void order(Entries& list) const {
    std::sort(list.begin(), list.end(), [this](const Entry& a, const Entry& b) {
      if (a.slices != b.slices) return best_fit() ? a.slices > b.slices : a.slices < b.slices;
      return a.pods != b.pods ? a.pods < b.pods : a.domain < b.domain;
    });
  }
  void order_for_leader(Entries& list) const {
    std::sort(list.begin(), list.end(), [this](const Entry& a, const Entry& b) {
      if (a.lead != b.lead) return a.lead > b.lead;
      if (a.slices_l != b.slices_l) return best_fit() ? a.slices_l > b.slices_l : a.slices_l < b.slices_l;
      return a.pods_l != b.pods_l ? a.pods_l < b.pods_l : a.domain < b.domain;
    });
  }
  /// The smallest from `from` on that holds `n`; none does: the first.
  static std::size_t best(const Entries& list, std::size_t from, std::int32_t n, std::int32_t leaders, Unit unit) {
    std::size_t found = list.size();
    for (std::size_t i = from; i < list.size(); ++i) {
      if (list[i].lead < leaders) continue;
      const std::int32_t c = capacity(list[i], unit, leaders > 0);
      if (c >= n && (found == list.size() || c < capacity(list[found], unit, leaders > 0))) found = i;
    }
    return found == list.size() ? from : found;
  }
  /// Moves an entry to the front that can host the leader and leaves enough for the others.
  static void promote(Entries& list, std::int32_t units, std::int32_t leaders, Unit unit) {
    if (leaders == 0 || list.size() < 2) return;
    std::int64_t all = 0;
    for (const Entry& e : list) all += capacity(e, unit, false);
    const auto it = std::find_if(list.begin(), list.end(), [&](const Entry& e) {
      return e.lead >= leaders && all - (capacity(e, unit, false) - capacity(e, unit, true)) >= units;
    });
    if (it != list.end()) std::rotate(list.begin(), it, it + 1);
  }

  // ---- phase 2a (§3.6) ----------------------------------------------------------------------------------------------------------------

  struct Found {
    std::size_t level;
    Entries domains;
  };

  std::optional<Found> search(std::size_t level) {
    Entries list = levels_[level];
    order_for_leader(list);
    searched_ = level;
    if (list.empty()) return give_up(0, true);
    const auto holds = [&](const Entry& e) { return e.slices_l >= need() && e.lead >= leaders(); };
    std::size_t top = 0;
    if (best_fit() && holds(list[0])) top = best(list, 0, need(), leaders(), Unit::slices);
    if (!best_fit())
      for (const Entry& e : list)
        if (leaders() == 0 ? e.slices >= need() : holds(e)) return Found{level, {e}};
    if (holds(list[top])) return Found{level, {list[top]}};
    if (rules_.strict) return give_up(list[top].slices);
    if (level > 0 && !rules_.free) return search(level - 1);
    return spread(level, std::move(list));
  }

  std::optional<Found> spread(std::size_t level, Entries list) {
    promote(list, need(), leaders(), Unit::slices);
    Found out{level, {}};
    std::int32_t n = need(), q = leaders();
    std::size_t k = 0;
    for (; q > 0 && k < list.size() && list[k].lead > 0; ++k) {
      const Entry& d = list[best_fit() && list[k].slices_l >= n ? best(list, k, n, q, Unit::slices) : k];
      out.domains.push_back(d);
      q -= d.lead;
      n -= d.slices_l;
    }
    if (q > 0) return give_up(leaders() - q);
    Entries rest(list.begin() + static_cast<std::ptrdiff_t>(k), list.end());
    order(rest);
    for (std::size_t j = 0; j < rest.size() && n > 0; ++j) {
      const Entry& d = rest[best_fit() && rest[j].slices >= n ? best(rest, j, n, 0, Unit::slices) : j];
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

  /// Cuts the list down to the domains that take `count` pods together, each with what it gets. False: they do not suffice, which phase 1
  /// excludes.
  [[nodiscard]] bool give(Entries list, std::int32_t count, std::int32_t leaders, std::int32_t size, Unit unit, Entries& out) const {
    std::int32_t n = unit == Unit::slices ? count / size : count;
    std::int32_t q = leaders;
    promote(list, n, q, unit);
    const std::int32_t per_unit = unit == Unit::slices ? size : 1;
    const auto take = [&](Entry d, std::int32_t units, std::int32_t lead) {
      d.pods = units * per_unit;
      d.slices = unit == Unit::slices ? units : d.slices;
      d.lead = lead;
      out.push_back(d);
    };
    for (std::size_t j = 0; j < list.size(); ++j) {
      if (q > 0) {
        const Entry* d = &list[j];
        if (best_fit() && capacity(*d, unit, true) >= n && d->lead >= q) d = &list[best(list, j, n, q, unit)];
        const std::int32_t c = capacity(*d, unit, true);
        if (c >= n && d->lead >= q) {
          take(*d, n, q);
          return true;
        }
        const std::int32_t units = std::min(c, n), lead = std::min(d->lead, q);
        take(*d, units, lead);
        q -= lead;
        n -= units;
        continue;
      }
      const Entry* d = &list[j];
      if (best_fit() && capacity(*d, unit, false) >= n) d = &list[best(list, j, n, 0, unit)];
      const std::int32_t c = capacity(*d, unit, false);
      if (c >= n) {
        take(*d, n, 0);
        return true;
      }
      take(*d, c, 0);
      n -= c;
    }
    return n == 0 && q == 0;
  }

  [[nodiscard]] Entries children(std::size_t level, DomainIndex d) const {
    const auto [first, last] = tree_.children(level, d);
    const Entries& below = levels_[level + 1];
    return {below.begin() + first, below.begin() + last};
  }

  tl::expected<Placement, Misfit> descend(Found found) {
    std::size_t level = found.level;
    Entries at;
    bool whole = give(std::move(found.domains), gang_.count, leaders(), slice_size(), Unit::slices, at);
    for (; whole && level < std::min(tree_.lowest(), slice_level()); ++level) {  // the children of all compete
      Entries below;
      for (const Entry& d : at)
        for (const Entry& c : children(level, d.domain)) below.push_back(c);
      order(below);
      at.clear();
      whole = give(std::move(below), gang_.count, leaders(), slice_size(), Unit::slices, at);
    }
    for (; whole && level < tree_.lowest(); ++level) {  // each keeps what it was given
      const std::int32_t unit = std::max(inner_[level + 1], 1);
      Entries next;
      for (const Entry& d : at) {
        if (d.pods == 0 && d.lead == 0) continue;
        Entries below = children(level, d.domain);
        order(below);
        if (unit > 1)
          for (Entry& c : below) {
            c.slices = c.pods / unit;
            c.slices_l = c.pods_l / unit;
          }
        whole = whole && give(std::move(below), d.pods, d.lead, unit, unit > 1 ? Unit::slices : Unit::pods, next);
      }
      at = std::move(next);
    }
    if (!whole) return tl::unexpected(misfit());  // TAS-75

    std::sort(at.begin(), at.end(), [](const Entry& a, const Entry& b) { return a.domain < b.domain; });
    Placement out;
    for (const Entry& e : at) {
      if (e.lead > 0) out.leader = e.domain;
      if (e.pods > 0) out.pods.emplace_back(e.domain, e.pods);
    }
    return out;
  }

  // ---- why not ------------------------------------------------------------------------------------------------------------------------

  [[nodiscard]] Misfit misfit() const {
    Misfit out;
    out.empty_level = empty_;
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
    const Entries& list = levels_[searched_];
    const auto best = std::max_element(list.begin(), list.end(), [](const Entry& a, const Entry& b) { return a.slices < b.slices; });
    for (const auto& layer : rules_.layers) {
      DomainIndex first = best->domain, last = first + 1;
      for (std::size_t l = searched_; l < layer.level; ++l) {
        last = tree_.children(l, last - 1).last;
        first = tree_.children(l, first).first;
      }
      std::int32_t fit = 0;
      for (DomainIndex d = first; d < last; ++d) fit = sum(fit, levels_[layer.level][d].pods / layer.size);
      out.layers.emplace_back(fit, gang_.count / layer.size);
    }
  }

  const TopologyTree& tree_;
  const Capacity& free_;
  const PlacementRules& rules_;
  const Gang& gang_;
  std::span<const std::uint8_t> excluded_;
  std::vector<Entries> levels_;        ///< By level and domain: what phase 1 counted.
  std::vector<std::int32_t> inner_;    ///< By level: what domains round down to; 0: they do not.
  std::vector<std::int32_t> lacking_;  ///< Leaves without room for one pod, by what limits them: what is asked for, but zeros.
  std::size_t searched_ = 0;
  std::int32_t fit_ = 0;
  bool empty_ = false;
};

std::optional<std::size_t> find_level(const std::vector<std::string>& levels, const std::string& label) {
  const auto it = std::find(levels.begin(), levels.end(), label);
  return it == levels.end() ? std::nullopt : std::optional(static_cast<std::size_t>(it - levels.begin()));
}

}  // namespace

Result<PlacementRules> rules_for(const TopologyRequest& request, const std::vector<std::string>& levels, bool implied, bool mixed) {
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
  out.least_free = out.free && mixed;

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
                                      std::span<const std::uint8_t> excluded) {
  return Search(tree, free, rules, gang, excluded).run();
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
  out += ". Total nodes: " + std::to_string(tree.leaves()) + "; excluded: ";
  for (std::size_t i = 0; i < reasons.size(); ++i) out += (i == 0 ? "" : ", ") + reasons[i];
  return out;
}

}  // namespace hindsight::admission::topology
