#include "admission/topology/compact.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <span>
#include <utility>

namespace hindsight::admission::topology {
namespace {

/// How many domains are touched, a field of bits for each level with the top in front: sums of costs are costs, and what is less is better.
using Cost = std::uint64_t;
constexpr Cost no_cost = std::numeric_limits<Cost>::max();

/// With fewer steps no choice is tried.
constexpr std::int64_t steps_least = 100;

/// A domain that may be chosen.
struct Candidate {
  DomainIndex domain = 0;
  std::int64_t room = 0;     ///< Pods, in whole groups.
  std::int64_t beside = -1;  ///< The same beside the leader; below 0: it cannot stand here.
  std::int64_t free = 0;     ///< Pods, also those that make no whole group.
};

/// A domain that is chosen, with what it gets.
struct Portion {
  DomainIndex domain = 0;
  std::int64_t pods = 0;
  bool lead = false;
};

/// A domain holds so many pods at this cost.
struct Way {
  std::int64_t pods = 0;
  Cost cost = 0;
};
/// Without the leader and with it. More pods cost more.
using Ways = std::array<std::vector<Way>, 2>;

/// The cheapest choice of domains that holds a number of pods. `free`: of these domains together. The link leads to how it was made.
struct Cell {
  Cost cost = no_cost;
  std::int64_t free = 0;
  std::int32_t link = -1;
  [[nodiscard]] bool is_set() const { return cost != no_cost; }
  [[nodiscard]] bool is_worse_than(Cost other, std::int64_t its_free) const { return cost != other ? cost > other : free > its_free; }
};
struct Choice {
  Portion portion;
  std::int32_t before = -1;
};
struct Table {
  std::array<std::vector<Cell>, 2> cells;  ///< Without the leader and with it; by pods in units.
  std::vector<Choice> choices;
};

class Compactor {
 public:
  Compactor(const TopologyTree& tree, const PlacementRules& rules, const Gang& gang, const Offers& offers)
      : tree_(tree), rules_(rules), offers_(offers), count_(gang.count), leads_(gang.leader.has_value()), units_(tree.level_count(), 1) {
    std::size_t from = 0;
    for (const auto& layer : rules.layers)
      for (; from <= layer.level; ++from) units_[from] = layer.size;
  }

  std::optional<Placement> run() {
    if (count_ < 1 || count_ % units_.front() != 0) return {};
    if (offers_.is_scored()) {
      bool scored = false;
      offers_.each(tree_.lowest(), [&](const DomainOffer& leaf) { scored |= leaf.score != 0; });
      if (scored) return {};
    }
    std::size_t level = rules_.strict ? rules_.level : 0;
    std::vector<DomainIndex> holding;
    add_holding(level, {0, static_cast<DomainIndex>(tree_.size(level))}, holding);
    if (!holding.empty()) {
      // What is in one domain is in one of each level above it, too: the deepest level that has such a domain is the best.
      for (; level < tree_.lowest(); ++level) {
        std::vector<DomainIndex> below;
        for (const DomainIndex d : holding) add_holding(level + 1, tree_.children(level, d), below);
        if (below.empty()) break;
        holding = std::move(below);
      }
      return place_within(level, holding);
    }
    if (rules_.strict) return {};
    prepare_costs(0);
    const Range all{0, static_cast<DomainIndex>(tree_.size(0))};
    if (!place_among(0, {&all, 1}, count_, leads_)) return {};
    return placement();
  }

 private:
  using Range = TopologyTree::Range;
  /// Domains of one level: children of one domain, or of several.
  using Ranges = std::span<const Range>;

  // ---- what domains have room for -----------------------------------------------------------------------------------------------------

  [[nodiscard]] std::int64_t in_groups(std::size_t level, std::int32_t pods, std::int32_t slices) const {
    if (level <= rules_.layers.front().level) return std::int64_t{slices} * rules_.layers.front().size;
    return pods - pods % units_[level];
  }
  [[nodiscard]] std::int64_t room(std::size_t level, const DomainOffer& offer) const { return in_groups(level, offer.pods, offer.slices); }
  [[nodiscard]] std::int64_t room_beside_leader(std::size_t level, const DomainOffer& offer) const {
    return offer.lead > 0 ? in_groups(level, offer.pods_l, offer.slices_l) : -1;
  }
  /// Adds those that hold everything alone.
  void add_holding(std::size_t level, Range range, std::vector<DomainIndex>& out) const {
    for (DomainIndex d = range.first; d < range.last; ++d) {
      const DomainOffer offer = offers_.at(level, d);
      if ((leads_ ? room_beside_leader(level, offer) : room(level, offer)) >= count_) out.push_back(d);
    }
  }

  [[nodiscard]] std::vector<Candidate> candidates(std::size_t level, Ranges ranges, bool lead) const {
    std::vector<Candidate> out;
    std::size_t size = 0;
    for (const Range& range : ranges) size += range.last - range.first;
    out.reserve(size);
    for (const Range& range : ranges)
      for (DomainIndex d = range.first; d < range.last; ++d) {
        const DomainOffer offer = offers_.at(level, d);
        const Candidate c{d, room(level, offer), lead ? room_beside_leader(level, offer) : -1, offer.pods};
        if (c.room > 0 || c.beside >= 0) out.push_back(c);
      }
    return out;
  }

  /// For domains of one level: the one with less room, or in something with less room, goes first.
  [[nodiscard]] bool is_tighter(std::size_t level, DomainIndex a, DomainIndex b) const {
    const DomainIndex first = a, second = b;
    for (;; --level) {
      const std::int32_t of_a = offers_.at(level, a).pods, of_b = offers_.at(level, b).pods;
      if (of_a != of_b) return of_a < of_b;
      if (level == 0) return first < second;
      a = tree_.parent(level, a);
      b = tree_.parent(level, b);
      if (a == b) return first < second;
    }
  }

  // ---- the fewest of one level ----------------------------------------------------------------------------------------------------------

  /// What the largest so many hold, with and without the leader on one of them.
  class Largest {
   public:
    /// Sorts the largest `at_most` to the front.
    Largest(std::vector<Candidate>& list, std::size_t at_most, bool lead) : list_(list) {
      at_most = std::min(at_most, list.size());
      sums_.reserve(at_most + 1);
      sums_.push_back(0);
      std::partial_sort(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(at_most), list.end(),
                        [](const Candidate& a, const Candidate& b) { return a.room != b.room ? a.room > b.room : a.domain < b.domain; });
      for (std::size_t i = 0; i < at_most; ++i) sums_.push_back(sums_.back() + list[i].room);
      if (!lead) return;
      best_beside_.assign(list.size() + 1, -1);
      for (std::size_t i = list.size(); i-- > 0;) best_beside_[i] = std::max(best_beside_[i + 1], list[i].beside);
    }
    [[nodiscard]] std::size_t size() const { return sums_.size() - 1; }
    [[nodiscard]] std::int64_t sum(std::size_t n) const { return sums_[std::min(n, size())]; }
    /// Below 0: the leader cannot stand on one of so many. To be asked for 1, 2, … in turn; `least_loss` is kept between.
    [[nodiscard]] std::int64_t sum_with_leader(std::size_t n, std::int64_t& least_loss) const {
      const Candidate& last = list_[n - 1];
      if (last.beside >= 0) least_loss = std::min(least_loss, last.room - last.beside);
      const std::int64_t other = best_beside_[n - 1] < 0 ? -1 : sums_[n - 1] + best_beside_[n - 1];
      return least_loss == none ? other : std::max(other, sums_[n] - least_loss);
    }
    /// The smallest number that holds `pods`; 0: so many do not.
    [[nodiscard]] std::size_t fewest(std::int64_t pods, bool lead) const {
      std::int64_t least_loss = none;
      for (std::size_t n = 1; n <= size(); ++n)
        if ((lead ? sum_with_leader(n, least_loss) : sums_[n]) >= pods) return n;
      return 0;
    }
    static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

   private:
    const std::vector<Candidate>& list_;
    std::vector<std::int64_t> sums_;         ///< Of the first n.
    std::vector<std::int64_t> best_beside_;  ///< Of those from a position on; empty: nobody leads.
  };

  /// As few as there can be, the largest first and the smallest that suffices in the last place. Nothing: all do not hold so many.
  [[nodiscard]] std::vector<Portion> fill_up(std::size_t level, Ranges ranges, std::int64_t pods, bool lead) const {
    auto list = candidates(level, ranges, lead);
    const Largest largest(list, list.size(), lead);
    const std::size_t n = largest.fewest(pods, lead);
    if (n == 0) return {};
    std::vector<std::size_t> chosen(n);  // the one in front has the leader, if there is one
    for (std::size_t i = 0; i < n; ++i) chosen[i] = i;
    std::int64_t held = largest.sum(n);
    if (lead) {
      const auto loss = [&](std::size_t i) { return list[i].beside < 0 ? Largest::none : list[i].room - list[i].beside; };
      std::size_t leading = 0;
      for (std::size_t i = 1; i < n; ++i)
        if (loss(i) < loss(leading)) leading = i;
      if (loss(leading) == Largest::none || held - loss(leading) < pods) {
        leading = n - 1;
        for (std::size_t i = n; i < list.size(); ++i)
          if (list[i].beside > list[leading].beside) leading = i;
        chosen.back() = leading;
        held = largest.sum(n - 1) + list[leading].beside;
      } else {
        held -= loss(leading);
      }
      std::swap(*std::find(chosen.begin(), chosen.end(), leading), chosen.front());
    }
    if (n > 1 || !lead) {
      const std::size_t last = *std::max_element(chosen.begin() + (lead ? 1 : 0), chosen.end());
      const std::int64_t rest = pods - (held - list[last].room);
      for (std::size_t i = list.size(); i-- > last + 1;) {
        if (list[i].room < rest || (lead && i == chosen.front())) continue;
        std::replace(chosen.begin(), chosen.end(), last, i);
        break;
      }
    }
    std::vector<Portion> out;
    for (std::size_t i = 0; i < n; ++i) {
      const Candidate& c = list[chosen[i]];
      const bool leading = lead && i == 0;
      out.push_back({c.domain, leading ? c.beside : c.room, leading});
    }
    trim(out, pods);
    return out;
  }

  /// They hold more than `pods`: the smallest give up what is too much, so that the large ones are full and most pods are close.
  static void trim(std::vector<Portion>& shares, std::int64_t pods) {
    std::sort(shares.begin(), shares.end(),
              [](const Portion& a, const Portion& b) { return a.pods != b.pods ? a.pods < b.pods : a.domain > b.domain; });
    std::int64_t excess = -pods;
    for (const Portion& s : shares) excess += s.pods;
    for (Portion& s : shares) {
      const std::int64_t less = std::min(s.pods, excess);
      s.pods -= less;
      excess -= less;
    }
    std::erase_if(shares, [](const Portion& s) { return s.pods == 0 && !s.lead; });
  }

  // ---- the cheapest choice --------------------------------------------------------------------------------------------------------------

  /// Of domains of `level` and below.
  void prepare_costs(std::size_t level) {
    const std::size_t touched_max = 2 * (static_cast<std::size_t>(count_) + 1);  // a choice may overshoot by less than what is needed
    std::size_t bits = 0;
    shifts_.assign(tree_.level_count(), 0);
    for (std::size_t l = tree_.level_count(); l-- > level;) {
      shifts_[l] = bits;
      bits += static_cast<std::size_t>(std::bit_width(std::min(tree_.size(l), touched_max)));
    }
    if (bits < 64) return;
    shifts_.assign(tree_.level_count(), 0);  // too many levels of too many domains: they are only filled up
    steps_left_ = 0;
  }
  [[nodiscard]] Cost one(std::size_t level) const { return Cost{1} << shifts_[level]; }
  [[nodiscard]] bool spend(std::int64_t steps) {
    steps_left_ -= steps;
    return steps_left_ >= reserve_;
  }

  struct Chosen {
    Cost cost = no_cost;
    std::int64_t free = 0;  ///< Of the domains that are chosen, together.
    std::vector<Portion> shares;
  };

  /// The best choice among these domains that costs less than `limit`. Levels below `bottom` do not count. Nothing: there is none, or it
  /// would take more than half of the steps that are left: where this is too much, another one may still be found.
  [[nodiscard]] std::optional<Chosen> choose(std::size_t level, Ranges ranges, std::int64_t pods, bool lead, std::size_t bottom,
                                             Cost limit) {
    if (steps_left_ < steps_least) return {};
    reserve_ = steps_left_ / 2;
    bottom_ = bottom;
    Table table;
    if (!tabulate(level, ranges, pods, pods, lead, limit, true, table)) return {};
    const Cell& best = table.cells[lead ? 1 : 0].back();
    if (!best.is_set()) return {};
    Chosen out{best.cost, best.free, {}};
    for (std::int32_t link = best.link; link >= 0; link = table.choices[static_cast<std::size_t>(link)].before)
      out.shares.push_back(table.choices[static_cast<std::size_t>(link)].portion);
    trim(out.shares, pods);
    return out;
  }

  /// For each number of pods up to `most` the cheapest choice of domains of `level`; numbers below `least` are of no interest. False: it
  /// takes too many steps.
  bool tabulate(std::size_t level, Ranges ranges, std::int64_t least, std::int64_t most, bool lead, Cost limit, bool keeps_choices,
                Table& out) {
    auto list = candidates(level, ranges, lead);
    const Largest largest(list, list.size(), lead);
    // The fewest of this level come first, so that nothing that takes more of them can be the best.
    std::size_t used_max = largest.fewest(most, false);
    if (lead) {
      std::int64_t least_loss = Largest::none, held = -1;
      std::size_t n = 0;
      while (n < largest.size() && held < most) held = std::max(held, largest.sum_with_leader(++n, least_loss));
      used_max = std::max(used_max, n);
    }
    if (used_max == 0) used_max = largest.size();
    const std::int64_t unit = units_[level];
    const auto last = static_cast<std::size_t>(most / unit);
    const auto size = static_cast<std::int64_t>(list.size());
    // Where only the room of the lowest ones is at stake nothing is begun that would not end.
    if (level == bottom_ && size > (steps_left_ - reserve_) / (most / unit + 1)) return false;
    if (!spend(most / unit + size + 1)) return false;
    for (std::size_t with = 0; with <= (lead ? 1U : 0U); ++with) out.cells[with].assign(last + 1, {});
    out.cells[0][0] = {0, 0, -1};

    for (std::size_t i = 0; i < list.size(); ++i) {
      const Candidate& c = list[i];
      const std::int64_t others = i + 1 < used_max ? largest.sum(used_max) - c.room : largest.sum(used_max - 1);
      Ways ways;
      if (!ways_of(level, c, std::max<std::int64_t>(least - others, 0), most, lead, ways)) return false;
      const auto add = [&](std::size_t from, std::size_t to) {
        for (std::size_t m = last + 1; m-- > 0;) {
          const Cell& cell = out.cells[from][m];
          if (!cell.is_set() || (m == last && from == to)) continue;
          if (!spend(static_cast<std::int64_t>(ways[to - from].size()))) return false;
          const std::size_t used = (cell.cost >> shifts_[level]) + 1;
          if (used > used_max) continue;
          const std::int64_t reach = largest.sum(i + 1 + used_max - used) - largest.sum(i + 1);
          for (const Way& way : ways[to - from]) {
            const std::int64_t pods = std::min(static_cast<std::int64_t>(m) * unit + way.pods, most);
            const Cost cost = cell.cost + way.cost;
            if (pods + reach < least || cost >= limit) continue;
            Cell& target = out.cells[to][static_cast<std::size_t>(pods / unit)];
            if (!target.is_worse_than(cost, cell.free + c.free)) continue;
            target = {cost, cell.free + c.free, static_cast<std::int32_t>(out.choices.size())};
            if (keeps_choices) out.choices.push_back({{c.domain, way.pods, to != from}, cell.link});
          }
        }
        return true;
      };
      // No order but this one: nobody adds a domain to a choice that has it already.
      if (lead && (!add(1, 1) || !add(0, 1))) return false;
      if (!add(0, 0) || !spend(static_cast<std::int64_t>(last) + 1)) return false;
      for (std::size_t with = 0; with <= (lead ? 1U : 0U); ++with) keep_best(out.cells[with]);
    }
    return true;
  }
  /// Leaves out what holds no more than something that is as good.
  static void keep_best(std::vector<Cell>& cells) {
    Cell best;
    for (std::size_t m = cells.size(); m-- > 0;) {
      Cell& cell = cells[m];
      if (!cell.is_set()) continue;
      if (best.is_worse_than(cell.cost, cell.free))
        best = cell;
      else
        cell = {};
    }
  }

  /// How the domain can hold from `least` to `most` pods.
  bool ways_of(std::size_t level, const Candidate& c, std::int64_t least, std::int64_t most, bool lead, Ways& out) {
    if (level == bottom_) {
      if (c.room > 0 && c.room >= least) out[0].push_back({std::min(c.room, most), one(level)});
      if (c.beside >= least) out[1].push_back({std::min(c.beside, most), one(level)});
      return true;
    }
    most = std::min(most, std::max(c.room, c.beside));
    const Range below = tree_.children(level, c.domain);
    if (level + 1 == bottom_) {
      ways_of_lowest(level, below, least, most, lead, out);
      return spend(static_cast<std::int64_t>(below.last - below.first));
    }
    Table table;
    if (!tabulate(level + 1, {&below, 1}, least, most, lead, no_cost, false, table)) return false;
    for (std::size_t with = 0; with <= (lead ? 1U : 0U); ++with)
      for (std::size_t m = 0; m < table.cells[with].size(); ++m)
        if (const Cell& cell = table.cells[with][m]; cell.is_set())
          add_way(level, {static_cast<std::int64_t>(m) * units_[level + 1], cell.cost + one(level)}, least, with == 1, out[with]);
    return true;
  }
  void ways_of_lowest(std::size_t level, Range below, std::int64_t least, std::int64_t most, bool lead, Ways& out) const {
    auto list = candidates(level + 1, {&below, 1}, lead);
    const Largest largest(list, list.size(), lead);
    std::int64_t least_loss = Largest::none;
    for (std::size_t n = 1; n <= largest.size(); ++n) {
      const Cost cost = one(level) + n * one(level + 1);
      add_way(level, {std::min(largest.sum(n), most), cost}, least, false, out[0]);
      if (!lead) {
        if (largest.sum(n) >= most) break;
        continue;
      }
      const std::int64_t held = largest.sum_with_leader(n, least_loss);
      if (held >= 0) add_way(level, {std::min(held, most), cost}, least, true, out[1]);
      if (held >= most) break;
    }
  }
  /// `list` is in the order of pods. A domain holds whole groups.
  void add_way(std::size_t level, Way way, std::int64_t least, bool with_leader, std::vector<Way>& list) const {
    way.pods -= way.pods % units_[level];
    if (way.pods < least || (way.pods == 0 && !with_leader)) return;
    if (!list.empty() && list.back().pods >= way.pods) return;
    if (!list.empty() && list.back().cost == way.cost)
      list.back() = way;
    else
      list.push_back(way);
  }

  // ---- from the top down ----------------------------------------------------------------------------------------------------------------

  /// Each of `holding` holds all, and nothing below them does.
  [[nodiscard]] std::optional<Placement> place_within(std::size_t level, std::vector<DomainIndex>& holding) {
    const auto tighter = [&](DomainIndex a, DomainIndex b) { return is_tighter(level, a, b); };
    if (level == tree_.lowest()) {
      std::int32_t least = unlimited_pods;
      for (const DomainIndex d : holding) least = std::min(least, offers_.at(level, d).pods);
      std::erase_if(holding, [&](DomainIndex d) { return offers_.at(level, d).pods != least; });
      take(*std::min_element(holding.begin(), holding.end(), tighter), count_, leads_);
      return placement();
    }
    prepare_costs(level + 1);
    const std::size_t fewest = keep_fewest(level, holding);
    if (fewest == 0) return {};
    std::vector<Promise> promises;
    for (const DomainIndex d : holding) {
      const Cost deeper = level + 1 == tree_.lowest() ? 0 : least_below(level + 1, tree_.children(level, d));
      promises.push_back({fewest * one(level + 1) + deeper, d});
    }
    std::sort(promises.begin(), promises.end(),
              [&](const Promise& a, const Promise& b) { return a.least != b.least ? a.least < b.least : tighter(a.domain, b.domain); });
    std::optional<Chosen> best;
    DomainIndex where = promises.front().domain;
    for (const Promise& p : promises) {
      if (steps_left_ < compact_steps_max / 8 || (best && is_as_good_as(*best, level + 1, p.least))) break;
      const Range below = tree_.children(level, p.domain);
      auto chosen = choose(level + 1, {&below, 1}, count_, leads_, tree_.lowest(), best ? best->cost + 1 : no_cost);
      if (!chosen || (best && chosen->cost == best->cost && chosen->free >= best->free)) continue;
      best = std::move(chosen);
      where = p.domain;
    }
    const Range below = tree_.children(level, where);
    if (!(best ? hand_down(level + 1, best->shares) : place_among(level + 1, {&below, 1}, count_, leads_))) return {};
    return placement();
  }

  /// A domain, and the least that the pods can cost in it.
  struct Promise {
    Cost least;
    DomainIndex domain;
  };
  /// Nothing that costs so much can be better. Of equal racks those are looked for whose hosts are used up.
  [[nodiscard]] bool is_as_good_as(const Chosen& best, std::size_t level, Cost least) const {
    return best.cost < least || (best.cost == least && (level < tree_.lowest() || best.free <= count_));
  }

  /// Leaves those that need as few domains of the next level as any; says how many.
  std::size_t keep_fewest(std::size_t level, std::vector<DomainIndex>& holding) const {
    std::size_t fewest = std::numeric_limits<std::size_t>::max();
    std::vector<DomainIndex> out;
    for (const DomainIndex d : holding) {
      const Range below = tree_.children(level, d);
      auto list = candidates(level + 1, {&below, 1}, leads_);
      const std::size_t n = Largest(list, fewest, leads_).fewest(count_, leads_);
      if (n == 0) continue;
      if (n < fewest) out.clear();
      fewest = n;
      out.push_back(d);
    }
    holding = std::move(out);
    return holding.empty() ? 0 : fewest;
  }

  /// What the pods cost at least of the levels below `level`, whichever domains of it they use.
  [[nodiscard]] Cost least_below(std::size_t level, Range range) const {
    Cost out = 0;
    std::vector<std::int64_t> rooms;
    while (level < tree_.lowest()) {
      range = {tree_.children(level, range.first).first, tree_.children(level, range.last - 1).last};
      ++level;
      rooms.clear();
      for (DomainIndex d = range.first; d < range.last; ++d) rooms.push_back(room(level, offers_.at(level, d)));
      std::make_heap(rooms.begin(), rooms.end());
      for (std::int64_t left = count_; left > 0 && !rooms.empty(); out += one(level)) {
        left -= rooms.front();
        std::pop_heap(rooms.begin(), rooms.end());
        rooms.pop_back();
      }
    }
    return out;
  }

  /// On these domains. Where a choice down to the leaves takes too many steps, one down to a level above them comes before what is below.
  [[nodiscard]] bool place_among(std::size_t level, Ranges ranges, std::int64_t pods, bool lead) {
    if (const auto chosen = choose(level, ranges, pods, lead, tree_.lowest(), no_cost)) return hand_down(level, chosen->shares);
    for (std::size_t bottom = tree_.lowest(); bottom-- > level;)
      if (const auto chosen = choose(level, ranges, pods, lead, bottom, no_cost)) return place_below(level, chosen->shares, pods, lead);
    return place_below(level, fill_up(level, ranges, pods, lead), pods, lead);
  }
  /// In these domains, whatever each of them was to get. Those within a group keep to it.
  [[nodiscard]] bool place_below(std::size_t level, const std::vector<Portion>& shares, std::int64_t pods, bool lead) {
    if (level >= rules_.layers.front().level) return hand_down(level, shares);
    std::vector<Range> below;
    for (const Portion& s : shares) below.push_back(tree_.children(level, s.domain));
    return !below.empty() && place_among(level + 1, below, pods, lead);
  }
  [[nodiscard]] bool hand_down(std::size_t level, const std::vector<Portion>& shares) {
    for (const Portion& s : shares) {
      if (level == tree_.lowest()) {
        take(s.domain, s.pods, s.lead);
        continue;
      }
      const Range below = tree_.children(level, s.domain);
      if (!place_among(level + 1, {&below, 1}, s.pods, s.lead)) return false;
    }
    return !shares.empty();
  }
  void take(DomainIndex leaf, std::int64_t pods, bool lead) {
    if (pods > 0) out_.pods.emplace_back(leaf, static_cast<std::int32_t>(pods));
    if (lead) out_.leader = leaf;
  }
  [[nodiscard]] Placement placement() {
    std::sort(out_.pods.begin(), out_.pods.end());
    return std::move(out_);
  }

  const TopologyTree& tree_;
  const PlacementRules& rules_;
  const Offers& offers_;
  std::int64_t count_;
  bool leads_;
  std::vector<std::int32_t> units_;  ///< By level: a domain of it holds multiples of this.
  std::vector<std::size_t> shifts_;  ///< By level: where its field of a cost begins.
  std::int64_t steps_left_ = compact_steps_max;
  std::int64_t reserve_ = 0;  ///< Steps that the present choice has to leave over.
  std::size_t bottom_ = 0;    ///< The lowest level that counts for the present choice.
  Placement out_;
};

}  // namespace

std::optional<Placement> place_compactly(const TopologyTree& tree, const PlacementRules& rules, const Gang& gang, const Offers& offers) {
  return Compactor(tree, rules, gang, offers).run();
}

}  // namespace hindsight::admission::topology
