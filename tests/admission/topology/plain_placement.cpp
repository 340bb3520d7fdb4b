#include "tests/admission/topology/plain_placement.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace hindsight::admission::topology::testing {
namespace {

constexpr std::int64_t infinite_pods = std::numeric_limits<std::int32_t>::max();

/// Section 3.4: a domain, what is below it, and what it has room for.
struct PlainDomain {
  std::size_t level = 0;
  std::vector<std::string> path;  ///< Of hosts, too, from the top.
  DomainIndex leaf = 0;
  std::vector<PlainDomain> children;
  std::int64_t score = 0;
  std::int64_t pods = 0, slices = 0;          ///< Without a leader.
  std::int64_t pods_led = 0, slices_led = 0;  ///< If the leader is here too.
  std::int64_t lead = 0;                      ///< 1: the leader may be here; after a distribution: it is.
};

/// Domains in the order in which they compete.
using List = std::vector<PlainDomain*>;

class PlainModel {
 public:
  PlainModel(const TopologyTree& tree, const Capacity& free, const PlacementRules& rules, const Gang& gang, const LeafRules& leaves)
      : tree_(tree), free_(free), rules_(rules), gang_(gang), leaf_rules_(leaves) {
    lowest_ = tree.level_count() - 1;
    slice_size_ = rules.layers.front().size;
    slice_level_ = rules.layers.front().level;
    for (std::size_t layer = 1; layer < rules.layers.size(); ++layer) {
      for (std::size_t level = rules.layers[layer - 1].level + 1; level <= rules.layers[layer].level; ++level)
        inner_[level] = rules.layers[layer].size;
    }
    count_ = gang.count;
    need_ = count_ / slice_size_;
    leaders_ = gang.leader ? 1 : 0;
  }

  PlainResult run() {
    if (rules_.balanced && !rules_.strict && !rules_.free) {
      if (const auto hosts = balanced()) {
        result_.balanced = true;
        report(*hosts);
        return result_;
      }
    }
    top_ = counted_tree();
    const auto found = search(rules_.level);
    if (!found) {
      result_.misfit->lacking = lacking_;
      return result_;
    }
    auto [level, current] = *found;
    auto given = give(current, count_, leaders_, slice_size_, true);
    for (; given && level < std::min(lowest_, slice_level_); ++level)
      given = give(in_order(children_of(*given)), count_, leaders_, slice_size_, true);
    if (given) given = descend(*given, level);
    if (!given) {
      result_.misfit = PlainMisfit{};
      result_.misfit->uncovered = true;
      return result_;
    }
    report(*given);
    return result_;
  }

 private:
  // --- Section 3.3: counts at leaves ---

  /// How many pods of this request fit into the leaf, with the leader in it or not; the resource that limits them.
  std::pair<std::int64_t, std::string> fits(const PodRequest& request, DomainIndex leaf, bool with_leader) const {
    std::int64_t out = infinite_pods;
    std::string limit;
    for (const auto& [resource, amount] : request) {
      if (amount == 0) continue;
      Amount capacity = free_.at(resource, leaf);
      if (with_leader) {
        for (const auto& [other, taken] : *gang_.leader) {
          if (other == resource) capacity -= taken;
        }
      }
      const std::int64_t n = std::clamp<std::int64_t>(capacity / amount, 0, infinite_pods);
      if (n < out) {
        out = n;
        limit = std::string(resource.text());
      }
    }
    return {out, limit};
  }

  void count_leaf(PlainDomain& d) {
    const auto says = [&](auto list) { return list.empty() ? 0 : static_cast<std::int64_t>(list[d.leaf]); };
    // READING (3.3, with scores): an excluded leaf is none of the "remaining" ones and offers nothing, not its score either; also where the
    // leader may stand there.
    d.score = says(leaf_rules_.excluded) == 0 ? says(leaf_rules_.scores) : 0;
    if (leaders_ > 0 && says(leaf_rules_.excluded_for_leader) == 0) d.lead = fits(*gang_.leader, d.leaf, false).first > 0 ? 1 : 0;
    if (says(leaf_rules_.excluded) == 0) {
      const auto [n, limit] = fits(gang_.request, d.leaf, false);
      d.pods = n;
      if (n == 0) ++lacking_[limit];
      d.pods_led = d.lead > 0 ? fits(gang_.request, d.leaf, true).first : n;
    }
    if (d.level == slice_level_) {
      d.slices = d.pods / slice_size_;
      d.slices_led = d.pods_led / slice_size_;
    }
  }

  // --- Section 3.4: roll-up ---

  void roll_up(PlainDomain& d, bool round_inner) const {
    std::int64_t pods = 0, slices = 0, lead = 0, score = 0;
    std::int64_t pods_lost = infinite_pods, slices_lost = infinite_pods;
    bool any = false;
    for (const auto& child : d.children) {
      std::int64_t p = child.pods, led = child.pods_led;
      if (const auto inner = inner_.find(child.level); round_inner && inner != inner_.end()) {
        p -= p % inner->second;
        led -= led % inner->second;
      }
      pods += p;
      slices += child.slices;
      score += child.score;
      lead = std::max(lead, child.lead);
      if (leaders_ == 0 || child.lead == 1) {
        pods_lost = std::min(pods_lost, p - led);
        slices_lost = std::min(slices_lost, child.slices - child.slices_led);
        any = true;
      }
    }
    pods = std::min(pods, infinite_pods);
    slices = std::min(slices, infinite_pods);
    d.pods = pods;
    d.pods_led = any ? pods - pods_lost : 0;
    d.slices = slices;
    d.slices_led = any ? slices - slices_lost : 0;
    d.lead = lead;
    d.score = score;
    if (d.level == slice_level_) {
      d.slices = d.pods / slice_size_;
      d.slices_led = d.pods_led / slice_size_;
    }
  }

  PlainDomain counted(std::size_t level, DomainIndex index, const std::vector<std::string>& above) {
    PlainDomain d;
    d.level = level;
    d.path = above;
    d.path.emplace_back(tree_.value(level, index));
    if (level == lowest_) {
      d.leaf = index;
      count_leaf(d);
      return d;
    }
    const auto range = tree_.children(level, index);
    for (DomainIndex child = range.first; child < range.last; ++child) d.children.push_back(counted(level + 1, child, d.path));
    roll_up(d, true);
    return d;
  }

  std::vector<PlainDomain> counted_tree() {
    lacking_.clear();
    std::vector<PlainDomain> out;
    for (DomainIndex d = 0; d < tree_.size(0); ++d) out.push_back(counted(0, d, {}));
    return out;
  }

  static void collect(std::vector<PlainDomain>& from, std::size_t level, List& out) {
    for (auto& d : from) {
      if (d.level == level)
        out.push_back(&d);
      else
        collect(d.children, level, out);
    }
  }
  static List pointers(std::vector<PlainDomain>& from) {
    List out;
    for (auto& d : from) out.push_back(&d);
    return out;
  }
  static List children_of(const List& parents) {
    List out;
    for (auto* d : parents) {
      for (auto& child : d->children) out.push_back(&child);
    }
    return out;
  }

  // --- Section 3.5: orders and best fit ---

  [[nodiscard]] bool scored() const { return !leaf_rules_.scores.empty(); }

  /// W.
  [[nodiscard]] List in_order(List list) const {
    std::sort(list.begin(), list.end(), [&](const PlainDomain* a, const PlainDomain* b) {
      if (scored() && a->score != b->score) return a->score > b->score;
      if (a->slices != b->slices) return rules_.least_free ? a->slices < b->slices : a->slices > b->slices;
      if (a->pods != b->pods) return a->pods < b->pods;
      return a->path < b->path;
    });
    return list;
  }

  /// WL.
  [[nodiscard]] List leader_order(List list) const {
    std::sort(list.begin(), list.end(), [&](const PlainDomain* a, const PlainDomain* b) {
      if (a->lead != b->lead) return a->lead > b->lead;
      if (scored() && a->score != b->score) return a->score > b->score;
      if (a->slices_led != b->slices_led) return rules_.least_free ? a->slices_led < b->slices_led : a->slices_led > b->slices_led;
      if (a->pods_led != b->pods_led) return a->pods_led < b->pods_led;
      return a->path < b->path;
    });
    return list;
  }

  static std::int64_t capacity(const PlainDomain& d, bool with_leader, bool by_slice) {
    if (with_leader) return by_slice ? d.slices_led : d.pods_led;
    return by_slice ? d.slices : d.pods;
  }

  /// best(list[from…], n, leaders, unit).
  [[nodiscard]] PlainDomain* best(const List& list, std::size_t from, std::int64_t n, std::int64_t leaders, bool by_slice) const {
    PlainDomain* out = nullptr;
    for (std::size_t i = from; i < list.size(); ++i) {
      PlainDomain* d = list[i];
      if (scored() && d->score != list[from]->score) break;
      const std::int64_t has = capacity(*d, leaders > 0, by_slice);
      if (d->lead < leaders || has < n) continue;
      if (out == nullptr || has < capacity(*out, leaders > 0, by_slice)) out = d;
    }
    return out == nullptr ? list[from] : out;
  }

  static List promote(List list, std::int64_t count, std::int64_t leaders, std::int64_t size, bool by_slice) {
    if (leaders == 0 || list.size() < 2) return list;
    const std::int64_t needed = by_slice ? count / size : count;
    std::int64_t sum = 0;
    for (const auto* d : list) sum += capacity(*d, false, by_slice);
    for (std::size_t i = 0; i < list.size(); ++i) {
      PlainDomain* d = list[i];
      if (d->lead < leaders) continue;
      if (sum - (capacity(*d, false, by_slice) - capacity(*d, true, by_slice)) < needed) continue;
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
      list.insert(list.begin(), d);
      return list;
    }
    return list;
  }

  // --- Section 3.6: level and domain set ---

  /// Fails with "fit" slices of the needed ones. Texts of several layers look at the best domain of the level (§2.9).
  std::optional<std::pair<std::size_t, List>> not_fit(std::int64_t fit, const List& domains) {
    result_.misfit = PlainMisfit{};
    result_.misfit->fit = fit;
    result_.misfit->wanted = need_;
    if (rules_.layers.size() < 2) return std::nullopt;
    PlainDomain* largest = nullptr;
    for (auto* d : domains) {
      if (largest == nullptr || d->slices > largest->slices || (d->slices == largest->slices && d->path < largest->path)) largest = d;
    }
    for (const auto& layer : rules_.layers) {
      List below{largest};
      while (below.front()->level < layer.level) below = children_of(below);
      std::int64_t sum = 0;
      for (const auto* d : below) sum += d->pods / layer.size;
      result_.misfit->layers.emplace_back(std::min(sum, infinite_pods), count_ / layer.size);
    }
    return std::nullopt;
  }

  std::optional<std::pair<std::size_t, List>> search(std::size_t i) {
    List all;
    collect(top_, i, all);
    if (all.empty()) {
      result_.misfit = PlainMisfit{};
      result_.misfit->empty_level = true;
      return std::nullopt;
    }
    const bool best_fit = !rules_.least_free;
    const auto enough = [&](const PlainDomain* d) { return d->slices_led >= need_ && d->lead >= leaders_; };
    all = leader_order(all);
    PlainDomain* top = all.front();
    if (best_fit && enough(top)) top = best(all, 0, need_, leaders_, true);
    if (!best_fit) {
      for (auto* d : all) {
        if (leaders_ > 0 ? enough(d) : d->slices >= need_) return {{i, {d}}};
      }
    }
    if (enough(top)) return {{i, {top}}};
    if (rules_.strict) {
      if (scored()) {
        for (std::size_t j = 1; j < all.size(); ++j) {
          if (enough(all[j])) return {{i, {best(all, j, need_, leaders_, true)}}};
        }
      }
      return not_fit(top->slices, all);
    }
    if (i > 0 && !rules_.free) return search(i - 1);

    all = promote(all, count_, leaders_, slice_size_, true);
    List chosen;
    std::int64_t n = need_, q = leaders_;
    std::size_t k = 0;
    while (q > 0 && k < all.size() && all[k]->lead > 0) {
      PlainDomain* d = all[k];
      if (best_fit && d->slices_led >= n) d = best(all, k, n, q, true);
      chosen.push_back(d);
      q -= d->lead;
      n -= d->slices_led;
      ++k;
    }
    if (q > 0) return not_fit(leaders_ - q, all);
    const List rest = in_order(List(all.begin() + static_cast<std::ptrdiff_t>(k), all.end()));
    for (std::size_t j = 0; j < rest.size() && n > 0; ++j) {
      PlainDomain* d = rest[j];
      if (best_fit && d->slices >= n) d = best(rest, j, n, 0, true);
      chosen.push_back(d);
      n -= d->slices;
    }
    if (n > 0) return not_fit(need_ - n, all);
    return {{i, chosen}};
  }

  // --- Section 3.7: distribution of a count over a list ---

  std::optional<List> give(List list, std::int64_t count, std::int64_t leaders, std::int64_t size, bool by_slice) const {
    list = promote(list, count, leaders, size, by_slice);
    const bool best_fit = !rules_.least_free;
    std::int64_t n = by_slice ? count / size : count;
    std::int64_t q = leaders;
    List out;
    const auto gets = [&](PlainDomain* d, std::int64_t units, std::int64_t lead) {
      d->pods = units * (by_slice ? size : 1);
      if (by_slice) d->slices = units;
      d->lead = lead;
      out.push_back(d);
    };
    for (std::size_t j = 0; j < list.size(); ++j) {
      PlainDomain* d = list[j];
      if (q > 0) {
        std::int64_t c = capacity(*d, true, by_slice);
        if (best_fit && c >= n && d->lead >= q) {
          d = best(list, j, n, q, by_slice);
          c = capacity(*d, true, by_slice);
        }
        if (c >= n && d->lead >= q) {
          gets(d, n, q);
          return out;
        }
        c = std::min(c, n);
        gets(d, c, std::min(d->lead, q));
        q -= d->lead;
        n -= c;
        continue;
      }
      if (best_fit && capacity(*d, false, by_slice) >= n) d = best(list, j, n, 0, by_slice);
      const std::int64_t has = capacity(*d, false, by_slice);
      if (has >= n) {
        gets(d, n, 0);
        return out;
      }
      gets(d, has, 0);
      n -= has;
    }
    return std::nullopt;
  }

  // --- Section 3.8: the descent where each parent keeps its count, and the result ---

  std::optional<List> descend(List current, std::size_t level) const {
    for (; level < lowest_; ++level) {
      std::int64_t unit = 1;
      if (inner_.contains(level + 1))
        unit = inner_.at(level + 1);
      else if (level < slice_level_)
        unit = slice_size_;
      List next;
      for (auto* d : current) {
        const List kids = in_order(children_of({d}));
        if (unit > 1) {
          for (auto* kid : kids) {
            kid->slices = kid->pods / unit;
            kid->slices_led = kid->pods_led / unit;
          }
        }
        const auto given = give(kids, d->pods, d->lead, unit, unit > 1);
        if (!given) return std::nullopt;
        next.insert(next.end(), given->begin(), given->end());
      }
      current = next;
    }
    return current;
  }

  void report(const List& hosts) {
    for (const auto* d : hosts) {
      if (d->pods > 0) result_.pods[d->leaf] += d->pods;
      if (d->lead > 0) result_.leader = d->leaf;
    }
  }

  // --- Section 3.10: balanced placement ---

  struct Greedy {
    std::int64_t used = 0;
    PlainDomain* last_leader = nullptr;
    PlainDomain* last_plain = nullptr;
  };
  /// READING (step 2, with scores): "skipping zero capacity". A leader domain is taken even if it has no room beside the leader, and where
  /// W comes to a domain without room the test ends, although domains of a lower score may have some.
  [[nodiscard]] std::optional<Greedy> greedy(const List& list) const {
    Greedy out;
    std::int64_t n = need_, q = leaders_;
    List others;
    for (auto* d : leader_order(list)) {
      if (q > 0 && d->lead > 0) {
        ++out.used;
        out.last_leader = d;
        q -= d->lead;
        n -= d->slices_led;
      } else {
        others.push_back(d);
      }
    }
    if (q > 0) return std::nullopt;
    for (auto* d : in_order(others)) {
      if (n <= 0 || d->slices == 0) break;
      ++out.used;
      out.last_plain = d;
      n -= d->slices;
    }
    if (n > 0) return std::nullopt;
    return out;
  }

  static void clear_leader(PlainDomain& d) {
    d.pods_led = d.slices_led = d.lead = 0;
    for (auto& child : d.children) clear_leader(child);
  }
  static void clear_all(PlainDomain& d) {
    d.pods = d.slices = d.pods_led = d.slices_led = d.lead = 0;
    for (auto& child : d.children) clear_all(child);
  }
  /// READING (step 3): "clear only leader capacity" is for domains that could have hosted the leader; the slicesL of others is kept.
  void prune_one(PlainDomain& d, std::int64_t threshold) const {
    if (d.slices < threshold)
      clear_all(d);
    else if (leaders_ > 0 && d.lead > 0 && d.slices_led < threshold)
      clear_leader(d);
  }
  /// READING (step 3): "re-roll each set member" means all of 3.4, from the leaves up, so that the rounding to inner layers is undone at
  /// every level.
  void roll_up_again(PlainDomain& d) const {
    if (d.children.empty()) return;
    for (auto& child : d.children) roll_up_again(child);
    roll_up(d, false);
  }
  void prune(std::vector<PlainDomain>& set, std::int64_t threshold) const {
    for (auto& member : set) {
      for (auto& child : member.children) prune_one(child, threshold);
      roll_up_again(member);
      prune_one(member, threshold);
    }
  }

  /// The sets of step 1, each with counts of its own.
  std::vector<std::vector<PlainDomain>> candidate_sets() {
    auto tree = counted_tree();
    if (rules_.level == 0) return {tree};
    List parents;
    collect(tree, rules_.level - 1, parents);
    std::vector<std::vector<PlainDomain>> out;
    out.reserve(parents.size());
    for (const auto* d : parents) out.push_back(d->children);
    return out;
  }

  /// Of the pods that the children have room for.
  static double entropy(const PlainDomain& d) {
    double sum = 0, out = 0;
    for (const auto& child : d.children) sum += static_cast<double>(child.pods);
    for (const auto& child : d.children) {
      if (child.pods == 0) continue;
      const double share = static_cast<double>(child.pods) / sum;
      out -= share * std::log2(share);
    }
    return out;
  }
  /// The same for lists that differ only in order or by a factor.
  static std::vector<std::int64_t> shape(const PlainDomain& d) {
    std::vector<std::int64_t> out;
    std::int64_t divisor = 0;
    for (const auto& child : d.children) {
      if (child.pods == 0) continue;
      out.push_back(child.pods);
      divisor = std::gcd(divisor, child.pods);
    }
    for (auto& n : out) n /= divisor;
    std::sort(out.begin(), out.end());
    return out;
  }

  List by_entropy(List list) {
    std::sort(list.begin(), list.end(), [&](const PlainDomain* a, const PlainDomain* b) {
      if (a->lead != b->lead) return a->lead > b->lead;
      if (a->slices_led != b->slices_led) return a->slices_led > b->slices_led;
      if (a != b && shape(*a) != shape(*b)) {
        const double more = entropy(*a) - entropy(*b);
        if (std::abs(more) < 1e-5) result_.close_entropy = true;
        if (std::abs(more) > 1e-9) return more > 0;
      }
      return a->path < b->path;
    });
    return list;
  }

  /// The dynamic programme of step 5 over domains in this order, of which `used` are to be taken.
  [[nodiscard]] std::optional<List> choose(const List& order, std::int64_t used) const {
    using Left = std::pair<std::int64_t, std::int64_t>;  // leaders, pods
    std::vector<std::map<Left, List>> states(static_cast<std::size_t>(used) + 1);
    states[0][{leaders_, need_ * slice_size_}] = {};
    for (auto* d : order) {
      for (std::size_t taken = static_cast<std::size_t>(used); taken-- > 0;) {
        for (const auto& [left, subset] : states[taken]) {
          // READING (step 5): to a subset that holds everything no domain is added, although it is smaller than the count asks for.
          if (left.first <= 0 && left.second <= 0) continue;
          List with = subset;
          with.push_back(d);
          if (left.first > 0 && d->lead > 0) states[taken + 1].insert({{left.first - d->lead, left.second - d->pods_led}, with});
          if (d->slices > 0) states[taken + 1].insert({{left.first, left.second - d->pods}, with});
        }
      }
    }
    const List* out = nullptr;
    for (const auto& [left, subset] : states.back()) {
      if (left.first == 0 && left.second <= 0) out = &subset;  // the largest is the last
    }
    if (out == nullptr) return std::nullopt;
    return *out;
  }

  std::optional<List> balanced() {
    if (need_ < 1) return std::nullopt;
    const bool above_slices = rules_.level < slice_level_;
    std::int64_t threshold = 0;
    std::int64_t smallest = 0;
    for (auto& set : candidate_sets()) {
      const List members = pointers(set);
      const auto first = greedy(above_slices ? children_of(members) : members);
      if (!first) continue;
      std::int64_t t = need_ / first->used;
      if (first->last_leader != nullptr) t = std::min(t, first->last_leader->slices_led);
      if (first->last_plain != nullptr) t = std::min(t, first->last_plain->slices);
      std::int64_t other = 0;
      if (leaders_ > 0 && first->last_plain != nullptr) other = std::min(t, first->last_plain->slices_led);
      if (t < 1 || t < threshold) continue;

      auto copy = set;
      prune(copy, t);
      auto again = greedy(pointers(copy));
      if (!again && other > 0 && other < t && other >= threshold) {
        t = other;
        copy = set;
        prune(copy, t);
        again = greedy(pointers(copy));
      }
      if (!again) continue;
      if (t > threshold || (t == threshold && again->used < smallest)) {
        threshold = t;
        smallest = again->used;
        kept_ = copy;
      }
    }
    if (threshold < 1) return std::nullopt;

    List domains = pointers(kept_);
    std::size_t level = rules_.level;
    if (above_slices) {
      const auto subset = choose(by_entropy(domains), smallest);
      if (!subset) return std::nullopt;
      domains = children_of(*subset);
      ++level;
    }
    const auto count = greedy(domains);
    if (!count) return std::nullopt;
    std::sort(domains.begin(), domains.end(), [](const PlainDomain* a, const PlainDomain* b) { return a->path < b->path; });
    const auto subset = choose(domains, count->used);
    if (!subset) return std::nullopt;

    std::int64_t extra = need_ - static_cast<std::int64_t>(subset->size()) * threshold;
    if (extra < 0) return std::nullopt;
    std::int64_t q = leaders_;
    const List order = leader_order(*subset);
    for (auto* d : order) {
      const std::int64_t more = std::min((q > 0 ? d->slices_led : d->slices) - threshold, extra);
      d->slices = threshold + more;
      d->pods = d->slices * slice_size_;
      d->lead = std::min(d->lead, q);
      q -= d->lead;
      extra -= more;
    }
    if (extra > 0 || q > 0) return std::nullopt;
    return descend(order, level);
  }

  const TopologyTree& tree_;
  const Capacity& free_;
  const PlacementRules& rules_;
  const Gang& gang_;
  const LeafRules& leaf_rules_;
  std::size_t lowest_ = 0, slice_level_ = 0;
  std::int64_t slice_size_ = 1, count_ = 0, need_ = 0, leaders_ = 0;
  std::map<std::size_t, std::int64_t> inner_;  ///< Sizes of the layers below the outermost, by level.
  std::map<std::string, std::int64_t> lacking_;
  std::vector<PlainDomain> top_;   ///< The tree of the ordinary algorithm.
  std::vector<PlainDomain> kept_;  ///< The set that balanced placement keeps.
  PlainResult result_;
};

}  // namespace

PlainResult plain_place(const TopologyTree& tree, const Capacity& free, const PlacementRules& rules, const Gang& gang,
                        const LeafRules& leaves) {
  return PlainModel(tree, free, rules, gang, leaves).run();
}

PlacementRules plain_rules(const TopologyRequest& request, const std::vector<std::string>& levels, const PlacementProfile& profile) {
  const auto index = [&](const std::string& label) {
    return static_cast<std::size_t>(std::find(levels.begin(), levels.end(), label) - levels.begin());
  };
  PlacementRules out;
  if (request.required) {
    out.level = index(*request.required);
    out.strict = true;
  } else if (request.preferred) {
    out.level = index(*request.preferred);
    out.balanced = profile.balanced;
  } else {
    out.level = request.slices.empty() ? levels.size() - 1 : 0;
    out.free = true;
  }
  out.least_free = out.free && profile.mixed;
  for (const auto& layer : request.slices) out.layers.push_back({index(layer.level), *layer.size});
  if (out.layers.empty()) out.layers.push_back({levels.size() - 1, 1});
  return out;
}

}  // namespace hindsight::admission::topology::testing
