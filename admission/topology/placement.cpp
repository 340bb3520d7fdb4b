#include "admission/topology/placement.hpp"

#include <algorithm>
#include <cstddef>

#include "admission/topology/balance.hpp"
#include "admission/topology/compact.hpp"
#include "admission/topology/domain_list.hpp"

namespace hindsight::admission::topology {
namespace {

class Search {
 public:
  Search(const TopologyTree& tree, const Offers& offers, const PlacementRules& rules, const Gang& gang, Explain explain)
      : tree_(tree), offers_(offers), rules_(rules), gang_(gang), explain_(explain), order_(rules.least_free) {}

  tl::expected<Placement, Misfit> run() {
    if (rules_.balanced && !rules_.strict && !rules_.free)
      if (auto out = spread_evenly()) return *out;
    if (rules_.compact)
      if (auto out = place_compactly(tree_, rules_, gang_, offers_)) return *out;
    auto found = search(rules_.level);
    if (!found) return tl::unexpected(misfit());
    return descend(std::move(*found));
  }

 private:
  [[nodiscard]] std::size_t slice_level() const { return rules_.layers.front().level; }
  [[nodiscard]] std::int32_t slice_size() const { return rules_.layers.front().size; }
  [[nodiscard]] std::int32_t leaders() const { return gang_.leader ? 1 : 0; }
  [[nodiscard]] std::int32_t need() const { return gang_.count / slice_size(); }

  // ---- phase 2a (§3.6) ----------------------------------------------------------------------------------------------------------------

  struct Found {
    std::size_t level;
    DomainOffers domains;
  };

  /// Looks at each domain of the level once or twice, where the specification sorts them.
  std::optional<Found> search(std::size_t level) {
    searched_ = level;
    if (offers_.present() == 0) return give_up(0, true);
    if (level == tree_.lowest() && offers_.counts_single_pods() && need() > 0)
      if (const auto leaf = offers_.tightest_leaf(need())) return Found{level, {offers_.at(level, *leaf)}};
    // What is preferred may be too small, and something else large enough: only those who cannot go elsewhere take that (TAS-74).
    // Where nothing is preferred the largest comes first, and holds it where anything does.
    const auto best = tightest(level);
    if (best && (rules_.strict || !order_.best_fit() || offers_.is_plain() || holds(foremost(level)))) return Found{level, {*best}};
    if (rules_.strict) return give_up(foremost(level).slices);
    if (level > 0 && !rules_.free) return search(level - 1);
    return leaders() == 0 ? spread(level) : spread_with_leader(level);
  }
  [[nodiscard]] bool holds(const DomainOffer& e) const { return e.slices_l >= need() && e.lead >= leaders(); }
  /// The one with the least room that suffices.
  [[nodiscard]] std::optional<DomainOffer> tightest(std::size_t level) const {
    const auto tighter = [](const DomainOffer& a, const DomainOffer& b) {
      if (a.score != b.score) return a.score > b.score;
      if (a.slices_l != b.slices_l) return a.slices_l < b.slices_l;
      return a.pods_l != b.pods_l ? a.pods_l < b.pods_l : a.domain < b.domain;
    };
    std::optional<DomainOffer> out;
    offers_.each(level, [&](const DomainOffer& e) {
      if (holds(e) && (!out || tighter(e, *out))) out = e;
    });
    return out;
  }
  /// The one that would be sorted to the front.
  [[nodiscard]] DomainOffer foremost(std::size_t level) const {
    DomainOffer out = offers_.at(level, 0);
    offers_.each(level, [&](const DomainOffer& e) {
      if (order_.before_for_leader(e, out)) out = e;
    });
    return out;
  }

  /// Over several domains, of which each takes a slice at least: more than there are slices need not be sorted.
  std::optional<Found> spread(std::size_t level) {
    DomainOffers list;
    offers_.each(level, [&](const DomainOffer& e) {
      if (e.slices > 0) list.push_back(e);
    });
    const auto sorted = order_.sort_first(list, static_cast<std::size_t>(need()));

    Found out{level, {}};
    std::int32_t n = need();
    for (auto it = list.begin(); it != sorted && n > 0; ++it) {
      auto chosen = it;
      if (order_.best_fit() && it->slices >= n)  // the last one: the tightest of all that are left
        for (auto other = it; other != list.end(); ++other)
          if (other->score == it->score && other->slices >= n &&
              (other->slices != chosen->slices ? other->slices < chosen->slices : order_.before(*other, *chosen)))
            chosen = other;
      out.domains.push_back(*chosen);
      n -= chosen->slices;
    }
    if (n > 0) return give_up(need() - n);
    return out;
  }

  std::optional<Found> spread_with_leader(std::size_t level) {
    DomainOffers list;
    offers_.each(level, [&](const DomainOffer& e) { list.push_back(e); });
    order_.sort_for_leader(list);
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
    if (pruned_ != nullptr) return {(*pruned_)[level + 1].begin() + first, (*pruned_)[level + 1].begin() + last};
    DomainOffers out;
    out.reserve(last - first);
    for (DomainIndex i = first; i < last; ++i) out.push_back(offers_.at(level + 1, i));
    return out;
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
      const std::int32_t unit = level < slice_level() ? slice_size() : std::max(offers_.question().rounded[level + 1], 1);
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
    auto balanced = balance(tree_, rules_, gang_, offers_);
    if (!balanced) return {};
    pruned_ = &balanced->offers;
    const bool whole = hand_down(balanced->level, balanced->domains);
    pruned_ = nullptr;
    if (!whole) return {};
    return placement_of(std::move(balanced->domains));
  }

  // ---- why not ------------------------------------------------------------------------------------------------------------------------

  [[nodiscard]] Misfit misfit() const {
    Misfit out;
    if (explain_ == Explain::no) return out;
    out.empty_level = empty_;
    out.leaves = offers_.present();
    if (!empty_ && offers_.size(searched_) != 0)
      out.nearest = {searched_, most_of([](const DomainOffer& e) { return std::pair(e.slices_l, e.pods); })};
    out.fit = fit_;
    out.wanted = need();
    std::size_t position = 0;
    for (const auto& [resource, amount] : gang_.request) {
      if (amount == 0) continue;
      if (const std::int32_t n = offers_.lacking()[position++]; n != 0) out.lacking.emplace(resource.text(), n);
    }
    if (rules_.layers.size() > 1 && !empty_) count_layers(out);
    return out;
  }
  /// The first of those with the most of something, at the level that was searched last.
  template <class Measure>
  [[nodiscard]] DomainIndex most_of(const Measure& measure) const {
    DomainIndex out = 0;
    for (DomainIndex d = 1; d < offers_.size(searched_); ++d)
      if (measure(offers_.at(searched_, d)) > measure(offers_.at(searched_, out))) out = d;
    return out;
  }
  /// In the best domain of that level.
  void count_layers(Misfit& out) const {
    const DomainIndex best = most_of([](const DomainOffer& e) { return e.slices; });
    for (const auto& layer : rules_.layers) {
      DomainIndex first = best, last = best + 1;
      for (std::size_t l = searched_; l < layer.level; ++l) {
        last = tree_.children(l, last - 1).last;
        first = tree_.children(l, first).first;
      }
      std::int32_t fit = 0;
      for (DomainIndex d = first; d < last; ++d) fit = sum_of_pods(fit, offers_.at(layer.level, d).pods / layer.size);
      out.layers.emplace_back(fit, gang_.count / layer.size);
    }
  }

  const TopologyTree& tree_;
  const Offers& offers_;
  const PlacementRules& rules_;
  const Gang& gang_;
  Explain explain_;
  DomainOrder order_;
  const std::vector<DomainOffers>* pruned_ = nullptr;  ///< In place of what domains offer, while pods are handed down; null: nothing is.
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
  out.compact = profile.compact;

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

Question question_of(const TopologyTree& tree, const PlacementRules& rules, const Gang& gang) {
  Question out{gang.request, gang.leader, rules.layers.front().level, rules.layers.front().size, {}};
  out.rounded.resize(tree.level_count());
  for (std::size_t k = 1; k < rules.layers.size(); ++k)
    for (std::size_t l = rules.layers[k - 1].level + 1; l <= rules.layers[k].level; ++l) out.rounded[l] = rules.layers[k].size;
  return out;
}

tl::expected<Placement, Misfit> place(const TopologyTree& tree, const Offers& offers, const PlacementRules& rules, const Gang& gang,
                                      Explain explain) {
  return Search(tree, offers, rules, gang, explain).run();
}

tl::expected<Placement, Misfit> place(const TopologyTree& tree, const Capacity& free, const PlacementRules& rules, const Gang& gang,
                                      const LeafRules& leaves) {
  Offers offers(tree, question_of(tree, rules, gang));
  offers.count_all(tree, free, leaves);
  return place(tree, offers, rules, gang);
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
