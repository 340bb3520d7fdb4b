#include "admission/topology/balance.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>

namespace hindsight::admission::topology {
namespace {

/// log2 of a number above 0, in units of 2⁻²⁴, rounded down. Integers, so that every machine orders domains alike.
constexpr std::int64_t computed_log2(std::int64_t n) {
  const int whole = 63 - std::countl_zero(static_cast<std::uint64_t>(n));
  std::uint64_t mantissa = static_cast<std::uint64_t>(n) << (62 - whole) >> 31;  // in [1, 2), 31 bits behind the point
  std::int64_t out = whole;
  for (int bit = 0; bit < 24; ++bit) {
    mantissa = mantissa * mantissa >> 31;
    out <<= 1;
    if (mantissa >> 32 != 0) {
      mantissa >>= 1;
      out |= 1;
    }
  }
  return out;
}

/// Of the numbers of pods that hosts and racks have room for.
constexpr auto small_log2 = [] {
  std::array<std::int64_t, 1'024> out{};
  for (std::size_t n = 1; n < out.size(); ++n) out[n] = computed_log2(static_cast<std::int64_t>(n));
  return out;
}();

std::int64_t log2_of(std::int64_t n) { return n < std::ssize(small_log2) ? small_log2[static_cast<std::size_t>(n)] : computed_log2(n); }

/// How evenly these domains share their pods, in units of 2⁻²⁴ bits.
std::int64_t entropy(const DomainOffers& offers, TopologyTree::Range range) {
  std::int64_t total = 0, sum = 0;
  for (DomainIndex d = range.first; d < range.last; ++d) total += offers[d].pods;
  if (total == 0) return 0;
  const std::int64_t whole = log2_of(total);
  // Σ p/T · (log2 T − log2 p); of numbers above 2³⁰ the share is taken first, so that nothing overflows.
  for (DomainIndex d = range.first; d < range.last; ++d) {
    const std::int64_t p = offers[d].pods;
    if (p > 0) sum += total < (std::int64_t{1} << 30) ? p * (whole - log2_of(p)) / total : (whole - log2_of(p)) / (total / p);
  }
  return sum;
}

class Balancer {
 public:
  Balancer(const TopologyTree& tree, const PlacementRules& rules, const Gang& gang, const Offers& offers)
      : tree_(tree), rules_(rules), original_(offers), offers_(offers.all()) {
    how_ = question_of(tree, rules, gang);
    layered_ = rules.layers.size() > 1;
    how_.rounded.assign(tree.level_count(), 0);
    leaders_ = gang.leader ? 1 : 0;
    need_ = gang.count / how_.slice_size;
  }

  std::optional<Balanced> run() {
    if (need_ < 1) return {};
    pick_set();
    if (least_share_ < 1) return {};
    std::size_t level = rules_.level;
    const auto offers = offered(level, set_);
    DomainOffers list(offers.begin(), offers.end());
    if (level < how_.slice_level) {
      sort_by_evenness(list);
      const auto chosen = choose(list);
      if (!chosen) return {};
      list.clear();
      for (const DomainOffer& d : *chosen) append_children(level, d.domain, list);
      ++level;
    }
    auto shares = share_out(std::move(list));
    if (!shares) return {};
    return Balanced{level, std::move(*shares), std::move(offers_)};
  }

 private:
  using Range = TopologyTree::Range;

  // ---- which set of neighbours, and the least share of each (steps 1 to 4) ----------------------------------------------------------

  /// What filling up the largest first would use.
  struct Greedy {
    std::int32_t used = 0;
    std::optional<DomainOffer> last_leader, last;
  };
  [[nodiscard]] std::optional<Greedy> fill(std::span<const DomainOffer> list) const {
    Greedy out;
    std::int64_t n = need_;
    if (leaders_ > 0) {
      const auto first =
          std::min_element(list.begin(), list.end(), [this](const auto& a, const auto& b) { return order_.before_for_leader(a, b); });
      if (first == list.end() || first->lead == 0) return {};
      out.used = 1;
      out.last_leader = *first;
      n -= first->slices_l;
    }
    if (n <= 0) return out;
    for (const DomainOffer& d : order_.first_of(list, static_cast<std::size_t>(n + leaders_))) {  // each takes a slice at least
      if (n <= 0 || d.slices <= 0) break;
      if (out.last_leader && out.last_leader->domain == d.domain) continue;
      ++out.used;
      out.last = d;
      n -= d.slices;
    }
    if (n > 0) return {};
    return out;
  }

  void append_children(std::size_t level, DomainIndex d, DomainOffers& out) const {
    const auto [first, last] = tree_.children(level, d);
    out.insert(out.end(), offers_[level + 1].begin() + first, offers_[level + 1].begin() + last);
  }
  [[nodiscard]] std::span<const DomainOffer> offered(std::size_t level, Range set) const {
    return std::span(offers_[level]).subspan(set.first, set.last - set.first);
  }

  /// Of domains of the level that is asked for, which are neighbours.
  [[nodiscard]] Range children(Range set) const {
    return {tree_.children(rules_.level, set.first).first, tree_.children(rules_.level, set.last - 1).last};
  }

  void pick_set() {
    if (rules_.level == 0) return consider({0, static_cast<DomainIndex>(tree_.size(0))});
    for (DomainIndex parent = 0; parent < tree_.size(rules_.level - 1); ++parent) consider(tree_.children(rules_.level - 1, parent));
  }

  void consider(Range set) {
    if (set.first == set.last) return;
    const bool below = rules_.level < how_.slice_level;
    const auto filled = fill(below ? offered(rules_.level + 1, children(set)) : offered(rules_.level, set));
    if (!filled) return;
    std::int32_t share = need_ / filled->used;
    if (filled->last_leader) share = std::min(share, filled->last_leader->slices_l);
    if (filled->last) share = std::min(share, filled->last->slices);
    if (share < least_share_ || share < 1) return;
    const std::int32_t beside_leader = leaders_ > 0 && filled->last ? std::min(share, filled->last->slices_l) : share;

    prune(set, share);
    auto pruned = fill(offered(rules_.level, set));
    if (!pruned && beside_leader < share) {  // once more with room for the leader wherever it may come to stand
      if (beside_leader < 1 || beside_leader < least_share_) return;
      share = beside_leader;
      restore(set);
      prune(set, share);
      pruned = fill(offered(rules_.level, set));
    }
    if (!pruned || (share == least_share_ && pruned->used >= used_)) return;
    least_share_ = share;
    used_ = pruned->used;
    set_ = set;
  }

  // ---- what offers less than the least share offers nothing (step 3) ----------------------------------------------------------------

  template <class Change>
  void for_subtree(std::size_t level, Range range, const Change& change) {
    for (;; ++level) {
      for (DomainIndex d = range.first; d < range.last; ++d) change(level, d);
      if (level == tree_.lowest() || range.first == range.last) return;
      range = {tree_.children(level, range.first).first, tree_.children(level, range.last - 1).last};
    }
  }
  void restore(Range set) {
    for_subtree(rules_.level, set, [&](std::size_t level, DomainIndex d) { offers_[level][d] = original_.at(level, d); });
  }
  /// Of one domain. False: it offers enough.
  bool prune_below(std::size_t level, DomainIndex d, std::int32_t share) {
    const DomainOffer& offer = offers_[level][d];
    const bool all = offer.slices < share;
    if (!all && (offer.lead == 0 || offer.slices_l >= share)) return false;
    for_subtree(level, {d, d + 1}, [&](std::size_t l, DomainIndex i) {
      DomainOffer& o = offers_[l][i];
      if (all) o.pods = o.slices = 0;
      o.pods_l = o.slices_l = o.lead = 0;
    });
    return true;
  }
  void prune(Range set, std::int32_t share) {
    const std::size_t top = rules_.level;
    if (top < tree_.lowest()) {
      for (DomainIndex d = set.first; d < set.last; ++d) {
        const auto [first, last] = tree_.children(top, d);
        bool any = false;
        for (DomainIndex c = first; c < last; ++c) any |= prune_below(top + 1, c, share);
        if (any && !layered_) roll_up(tree_, offers_, top, d, how_);
      }
      if (layered_) sum_up(set);
    }
    for (DomainIndex d = set.first; d < set.last; ++d) prune_below(top, d, share);
  }
  /// Here pods count that slices within slices leave over, so that what was summed up before is of no use.
  void sum_up(Range set) {
    std::vector<Range> ranges{set};
    for (std::size_t l = rules_.level; l + 1 < tree_.lowest(); ++l)
      ranges.push_back({tree_.children(l, ranges.back().first).first, tree_.children(l, ranges.back().last - 1).last});
    for (std::size_t l = tree_.lowest(); l-- > rules_.level;)
      for (DomainIndex d = ranges[l - rules_.level].first; d < ranges[l - rules_.level].last; ++d) roll_up(tree_, offers_, l, d, how_);
  }

  // ---- the domains with the least room that suffice (step 5) ------------------------------------------------------------------------

  void sort_by_evenness(DomainOffers& list) const {
    std::vector<std::pair<std::int64_t, DomainOffer>> with_entropy;
    for (const DomainOffer& d : list)
      with_entropy.emplace_back(entropy(offers_[rules_.level + 1], tree_.children(rules_.level, d.domain)), d);
    std::sort(with_entropy.begin(), with_entropy.end(), [](const auto& a, const auto& b) {
      if (a.second.lead != b.second.lead) return a.second.lead > b.second.lead;
      if (a.second.slices_l != b.second.slices_l) return a.second.slices_l > b.second.slices_l;
      return a.first != b.first ? a.first > b.first : a.second.domain < b.second.domain;
    });
    for (std::size_t i = 0; i < list.size(); ++i) list[i] = with_entropy[i].second;
  }

  /// A choice of some domains: so many leaders and pods are left after it. The link leads to how it was made.
  struct State {
    std::int64_t leaders, pods;
    std::int32_t link;
    [[nodiscard]] std::pair<std::int64_t, std::int64_t> key() const { return {leaders, pods}; }
  };
  struct Link {
    std::uint32_t domain;  ///< Position in the list.
    std::int32_t before;   ///< −1: none.
  };

  /// As few of the list as filling up would use, and of these sets the one with the least room. Of equal sets that which the order of the
  /// list reaches first. States from which the rest cannot be reached are left out, which changes nothing else.
  [[nodiscard]] std::optional<DomainOffers> choose(const DomainOffers& list) {
    const auto filled = fill(list);
    if (!filled) return {};
    const auto used = static_cast<std::size_t>(filled->used);
    std::vector<std::int64_t> reach(used + 1);  // the pods that so many domains hold at most
    {
      std::vector<std::int64_t> rooms;
      for (const DomainOffer& d : list) rooms.push_back(std::max(d.pods, d.pods_l));
      std::sort(rooms.rbegin(), rooms.rend());
      for (std::size_t i = 0; i < used; ++i) reach[i + 1] = reach[i] + (i < rooms.size() ? rooms[i] : 0);
    }
    std::vector<Link> links;
    std::vector<std::vector<State>> states(used + 1);  // by number of domains used, sorted by key
    states[0].push_back({leaders_, std::int64_t{need_} * how_.slice_size, -1});
    std::array<std::vector<State>, 2> found;  // with the leader on a domain, and without
    for (std::uint32_t at = 0; at < list.size(); ++at) {
      const DomainOffer& d = list[at];
      for (std::size_t i = used; i > 0; --i) {
        const auto& before = states[i - 1];
        steps_ += static_cast<std::int64_t>(before.size()) + 1;
        if (steps_ > balance_steps_max) return {};
        for (auto& f : found) f.clear();
        for (const State& s : before) {
          if (s.leaders <= 0 && s.pods <= 0) continue;
          const auto add = [&](std::size_t which, std::int64_t leaders, std::int64_t pods) {
            if (pods > reach[used - i]) return;
            found[which].push_back({leaders, pods, s.link});
          };
          if (s.leaders > 0 && d.lead > 0) add(0, s.leaders - d.lead, s.pods - d.pods_l);
          if (d.slices > 0) add(1, s.leaders, s.pods - d.pods);
        }
        // Who has been there first stays: what was known, then what needs fewer leaders before.
        for (std::size_t which : {std::size_t{1}, std::size_t{0}}) merge(states[i], found[which], at, links);
      }
    }
    const State* best = nullptr;
    for (const State& s : states[used])
      if (s.leaders == 0 && s.pods <= 0 && (best == nullptr || s.pods > best->pods)) best = &s;
    if (best == nullptr) return {};
    DomainOffers out;
    for (std::int32_t link = best->link; link >= 0; link = links[static_cast<std::size_t>(link)].before)
      out.push_back(list[links[static_cast<std::size_t>(link)].domain]);
    std::reverse(out.begin(), out.end());
    return out;
  }
  /// Adds what is new. Both are sorted; the links of `found` are those before domain `at`.
  void merge(std::vector<State>& known, const std::vector<State>& found, std::uint32_t at, std::vector<Link>& links) {
    if (found.empty()) return;
    std::vector<State>& out = merged_;
    out.clear();
    auto k = known.begin();
    for (const State& f : found) {
      while (k != known.end() && k->key() < f.key()) out.push_back(*k++);
      if (k != known.end() && k->key() == f.key()) continue;
      links.push_back({at, f.link});
      out.push_back({f.leaders, f.pods, static_cast<std::int32_t>(links.size() - 1)});
    }
    out.insert(out.end(), k, known.end());
    known.swap(out);
  }

  // ---- to each its share (step 6) -----------------------------------------------------------------------------------------------------

  [[nodiscard]] std::optional<DomainOffers> share_out(DomainOffers list) {
    std::sort(list.begin(), list.end(), [](const DomainOffer& a, const DomainOffer& b) { return a.domain < b.domain; });
    auto out = choose(list);
    if (!out) return {};
    std::int64_t extra = need_ - static_cast<std::int64_t>(out->size()) * least_share_;
    if (extra < 0) return {};
    order_.sort_for_leader(*out);
    std::int32_t q = leaders_;
    for (DomainOffer& d : *out) {
      const std::int32_t room = (q > 0 ? d.slices_l : d.slices) - least_share_;
      if (room < 0 || (q > 0 && d.lead == 0)) return {};
      const auto more = static_cast<std::int32_t>(std::min<std::int64_t>(room, extra));
      d.lead = q > 0 ? 1 : 0;
      q -= d.lead;
      extra -= more;
      d.slices = d.slices_l = least_share_ + more;
      d.pods = d.slices * how_.slice_size;
    }
    if (extra > 0 || q > 0) return {};
    return out;
  }

  const TopologyTree& tree_;
  const PlacementRules& rules_;
  const Offers& original_;
  std::vector<DomainOffers> offers_;  ///< Pruned, of the sets that were considered.
  Question how_;
  bool layered_ = false;  ///< Slices within slices.
  std::int32_t leaders_ = 0, need_ = 0;
  DomainOrder order_{false};
  std::int64_t steps_ = 0;
  std::vector<State> merged_;     ///< Memory of `merge`.
  Range set_{0, 0};               ///< The best one, at the level that is asked for.
  std::int32_t least_share_ = 0;  ///< In slices; 0: there is no set.
  std::int32_t used_ = 0;         ///< Domains of the set that filling up would use.
};

}  // namespace

std::optional<Balanced> balance(const TopologyTree& tree, const PlacementRules& rules, const Gang& gang, const Offers& offers) {
  return Balancer(tree, rules, gang, offers).run();
}

}  // namespace hindsight::admission::topology
