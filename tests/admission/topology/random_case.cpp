#include "tests/admission/topology/random_case.hpp"

#include <algorithm>
#include <random>
#include <sstream>
#include <utility>

#include "tests/admission/topology/fleet.hpp"

namespace hindsight::admission::topology::testing {
namespace {

const Symbol gpu("example.com/gpu");

class CaseMaker {
 public:
  explicit CaseMaker(unsigned seed) : random_(seed) { made_.seed = seed; }

  RandomCase make() {
    for_balance_ = one_in(6);
    choose_pods();
    build_tree();
    choose_request();
    choose_count();
    choose_leaf_rules();
    return std::move(made_);
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool one_in(int n) { return below(n) == 0; }

  void choose_pods() {
    pod_cpu_ = one_in(20) ? 0 : one_in(3) ? 500 : 1'000;
    with_gpu_ = one_in(4);
    few_slots_ = one_in(4) || pod_cpu_ == 0;
    made_.gang.request = request_of(pod_cpu_, with_gpu_ ? 1 : 0);
    if (for_balance_ || one_in(3)) {
      const Amount amounts[] = {0, 250, 500, 1'000, 1'500, 2'500};
      made_.gang.leader = request_of(amounts[below(6)], with_gpu_ && one_in(2) ? 1 : 0);
    }
  }
  static PodRequest request_of(Amount milli, Amount gpus) {
    PodRequest out{{cpu, milli}};
    if (gpus > 0) out.emplace_back(gpu, gpus);
    out.emplace_back(pods, 1);
    return out;
  }

  void build_tree() {
    const char* const labels[] = {"zone", "block", "rack", "switch"};
    const int count = for_balance_ ? 2 + below(2) : std::min(1 + below(6), 4);
    for (int i = 0; i < count; ++i) levels_.emplace_back(labels[i]);
    if (!one_in(3)) levels_.back() = host;
    small_ = one_in(2);
    most_leaves_ = one_in(200) ? 0 : small_ ? 1 + below(5) : 1 + below(40);
    for (int i = 0, n = 1 + below(4); i < n; ++i) palette_.push_back(below(13));
    varied_ = one_in(2);
    made_.huge = one_in(50);
    grow({});
    made_.tree = TopologyTree::build(levels_, nodes_);
    made_.free = made_.tree.capacity();
    for (DomainIndex leaf = 0; leaf < made_.tree.leaves(); ++leaf) {
      if (one_in(12)) made_.free.add(cpu, leaf, -250 * below(9));
    }
  }
  void grow(const std::vector<std::string>& path) {
    if (path.size() == levels_.size()) {
      TopologyTree::Node node;
      node.name = "node-" + std::to_string(nodes_.size());
      node.values = path;
      const Amount of = std::max<Amount>(pod_cpu_, 500);
      const int n = varied_ ? below(13) : palette_[static_cast<std::size_t>(below(static_cast<int>(palette_.size())))];
      node.allocatable = {{cpu, n * of + (one_in(4) ? 250 * below(5) : 0)}, {pods, few_slots_ ? below(13) : 110}};
      if (with_gpu_) node.allocatable.emplace_back(gpu, below(13));
      if (made_.huge && one_in(3)) {
        for (auto& [resource, amount] : node.allocatable) amount = unlimited / 100;
      }
      nodes_.push_back(node);
      if (levels_.back() != host && one_in(10)) {  // a leaf of two nodes
        node.name += "-2";
        nodes_.push_back(node);
      }
      return;
    }
    std::vector<std::string> names{"a", "b", "a-1", "a.1", "A", "B2", "a10", "a2", "b_1", "Z"};
    std::shuffle(names.begin(), names.end(), random_);
    const bool lowest = path.size() + 1 == levels_.size();
    const int children = lowest && !small_ ? 1 + below(8) : 1 + below(4);
    for (int i = 0; i < children && static_cast<int>(nodes_.size()) < most_leaves_; ++i) {
      auto below_it = path;
      below_it.push_back(names[static_cast<std::size_t>(i)]);
      if (lowest && levels_.back() == host) below_it.back() += "h" + std::to_string(nodes_.size());
      grow(below_it);
    }
  }

  void choose_request() {
    auto& request = made_.request;
    const int count = static_cast<int>(levels_.size());
    const int mode = for_balance_ ? 3 : below(10);
    int first = for_balance_ ? below(count - 1) : std::min(below(count), below(count));
    int layers = one_in(2) ? 0 : 1 + below(3);
    if (mode < 3) {
      request.required = levels_[static_cast<std::size_t>(first)];
    } else if (mode < 8) {
      request.preferred = levels_[static_cast<std::size_t>(first)];
    } else if (mode == 8) {
      request.unconstrained = true;
      layers = 0;
    } else {
      first = 0;
      layers = std::max(layers, 1);
    }
    std::vector<std::size_t> of;
    for (int i = first; i < count; ++i) of.push_back(static_cast<std::size_t>(i));
    std::shuffle(of.begin(), of.end(), random_);
    of.resize(static_cast<std::size_t>(std::min(layers, count - first)));
    std::sort(of.begin(), of.end());
    int size = 1;
    for (std::size_t i = of.size(); i-- > 0;) {
      size *= 1 + below(3);
      request.slices.insert(request.slices.begin(), {levels_[of[i]], size});
    }
    outer_size_ = size;
    made_.profile.mixed = !one_in(4);
    made_.profile.balanced = for_balance_ || one_in(2);
  }

  /// About as many as a domain of some level holds.
  void choose_count() {
    int room = 4;
    if (made_.tree.leaves() > 0) {
      const auto level = static_cast<std::size_t>(below(static_cast<int>(levels_.size())));
      const auto domain = static_cast<DomainIndex>(below(static_cast<int>(made_.tree.size(level))));
      room = 0;
      for (DomainIndex leaf = 0; leaf < made_.tree.leaves(); ++leaf) {
        if (made_.tree.above(leaf, level) != domain) continue;
        Amount n = made_.free.at(pods, leaf);
        if (pod_cpu_ > 0) n = std::min(n, made_.free.at(cpu, leaf) / pod_cpu_);
        if (with_gpu_) n = std::min(n, made_.free.at(gpu, leaf));
        room += static_cast<int>(std::clamp<Amount>(n, 0, 50));
      }
    }
    int slices = room / outer_size_;
    slices = one_in(2) ? slices - 1 + below(3) : 1 + below(slices + 2);
    made_.gang.count = std::max(slices, 1) * outer_size_;
  }

  void choose_leaf_rules() {
    const auto fill = [&](auto& list, auto value) {
      for (DomainIndex leaf = 0; leaf < made_.tree.leaves(); ++leaf) list.push_back(value());
    };
    const int sparse = 2 + below(6);
    if (one_in(4)) fill(made_.excluded, [&] { return static_cast<std::uint8_t>(one_in(sparse)); });
    if (one_in(4)) fill(made_.excluded_for_leader, [&] { return static_cast<std::uint8_t>(one_in(sparse)); });
    const int scale = one_in(3) ? 1 : 1 + below(4);
    if (one_in(4)) fill(made_.scores, [&] { return static_cast<std::int64_t>(one_in(2) ? 0 : 10 * below(scale)); });
  }

  std::mt19937 random_;
  RandomCase made_;
  std::vector<std::string> levels_;
  std::vector<TopologyTree::Node> nodes_;
  std::vector<int> palette_;
  Amount pod_cpu_ = 0;
  bool for_balance_ = false;  ///< A leader, balanced placement, and a level below the preferred one.
  bool with_gpu_ = false, few_slots_ = false, small_ = false, varied_ = false;
  int most_leaves_ = 0, outer_size_ = 1;
};

std::string words_of(const PodRequest& request) {
  std::string out;
  for (const auto& [resource, amount] : request) out += " " + std::string(resource.text()) + "=" + std::to_string(amount);
  return out;
}

}  // namespace

RandomCase random_case(unsigned seed) { return CaseMaker(seed).make(); }

std::string RandomCase::words() const {
  std::ostringstream out;
  out << "seed " << seed << "\nlevels:";
  for (const auto& level : tree.levels()) out << " " << level;
  for (DomainIndex leaf = 0; leaf < tree.leaves(); ++leaf) {
    out << "\n  ";
    for (std::size_t level = 0; level < tree.level_count(); ++level)
      out << (level > 0 ? "/" : "") << tree.value(level, tree.above(leaf, level));
    out << ": free";
    for (const Symbol& resource : free.resources()) out << " " << resource.text() << "=" << free.at(resource, leaf);
    if (!excluded.empty() && excluded[leaf] != 0) out << ", excluded for pods";
    if (!excluded_for_leader.empty() && excluded_for_leader[leaf] != 0) out << ", excluded for the leader";
    if (!scores.empty()) out << ", score " << scores[leaf];
  }
  out << "\n" << gang.count << " pods of" << words_of(gang.request);
  if (gang.leader) out << ", a leader of" << words_of(*gang.leader);
  if (request.required) out << ", required " << *request.required;
  if (request.preferred) out << ", preferred " << *request.preferred;
  if (request.unconstrained) out << ", unconstrained";
  for (const auto& layer : request.slices) out << ", groups of " << *layer.size << " on " << layer.level;
  out << "; mixed " << profile.mixed << ", balanced " << profile.balanced << "\n";
  return out.str();
}

}  // namespace hindsight::admission::topology::testing
