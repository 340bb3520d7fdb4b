// Random lives of an elastic job on a topology: its size changes while nodes fail and come back, others come and go, and its pods are made,
// bound and deleted at any time (77 §3.12, 2724 §4.9).

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "admission/state/snapshot.hpp"
#include "tests/admission/entities/placed_job.hpp"

namespace hindsight::admission::testing {
namespace {

class ElasticLife : public PlacedPods {
 public:
  explicit ElasticLife(std::uint32_t seed) : seed_(seed), random_(seed) {}
  void TestBody() override {}

  struct Seen {
    std::size_t repairs = 0, grown = 0, shrunk = 0, failed = 0, evicted = 0, waited = 0;
  };
  void play(Seen& seen) {
    set_up_job();
    for (int round = 0; round < 80 && !over_; ++round) {
      turn();
      settle(seen);
      check_hosts();
      if (round % 8 == 0) check_copy();
    }
    if (!over_) come_to_an_end(seen);
  }

 private:
  static constexpr int cores = 2, hosts = 4, size_max = 6;
  std::uint32_t seed_;
  std::mt19937 random_;
  Settings settings_;
  std::map<std::string, Pod> pods_;
  std::set<std::string> others_, down_;
  std::string active_ = "wl", waiting_;
  std::int32_t size_ = 2;
  int next_ = 0;
  bool over_ = false;

  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
  std::string any_host() { return "n" + std::to_string(1 + below(hosts)); }
  void set_up_job() {
    elastic_ = anywhere_ = true;
    settings_.elastic_topologies = true;
    settings_.replace_or_evict = seed_ % 2 == 0;
    w.configure(settings_);
    w.set_up();
    for (int i = 1; i <= hosts; ++i) w.node("n" + std::to_string(i), {.cores = cores});
    start(size_);
  }
  std::vector<std::string> live() const {
    std::vector<std::string> out;
    for (const auto& [name, p] : pods_)
      if (!p.ended && !p.terminating) out.push_back(name);
    return out;
  }
  void tell(const std::string& name) { pod(name, pods_.at(name)); }
  void remove(const std::string& name) {
    w.observe(ObjectDeleted{ObjectKind::pod, "default", w.keep(name), w.keep("pod-" + name), {}});
    pods_.erase(name);
  }
  /// What the Job controller does next.
  void follow_job() {
    const auto now = live();
    if (now.size() < static_cast<std::size_t>(size_)) {
      const std::string name = "p" + std::to_string(next_++);
      pods_[name] = {};
      tell(name);
    } else if (now.size() > static_cast<std::size_t>(size_)) {
      remove(now[below(static_cast<std::uint32_t>(now.size()))]);
    }
  }
  /// A pod that has a place leaves its gate, and one that has left it is bound where its host is there.
  void go_on(const std::string& name) {
    Pod& p = pods_.at(name);
    if (p.on.empty() || !p.node.empty() || p.ended) return;
    if (!p.gated && !down_.contains(p.on) && on_hosts()[p.on] < cores) p.node = p.on;
    p.gated = false;
    tell(name);
  }
  void end_on(const std::string& host) {
    for (const auto& name : live())
      if (pods_.at(name).node == host) return remove(name);
  }
  void resize() {
    if (!waiting_.empty()) return;
    const auto n = static_cast<std::int32_t>(1 + below(size_max));
    if (n == size_) return;
    const bool more = n > size_;
    size_ = n;
    job(n, false);
    settle_quietly();
    if (more) {
      waiting_ = "wl-" + std::to_string(generation_);
      workload(waiting_, n, active_);
    } else {
      auto o = w.seen_as(active_);
      o.pod_sets = sets(n);
      w.remember(o);
      w.observe(o);
    }
  }
  void turn() {
    const std::string host = any_host();
    switch (below(9)) {
      case 0:
        if (down_.size() == 2) break;
        down_.insert(host);
        below(2) == 0 ? w.node_gone(host) : w.node(host, {.cores = cores, .ready = false});
        break;
      case 1:
        down_.erase(host);
        w.node(host, {.cores = cores});
        break;
      case 2:
        if (down_.contains(host)) end_on(host);
        break;
      case 3:
        resize();
        break;
      case 4: {
        const std::string name = "other" + std::to_string(next_++);
        others_.insert(name);
        w.observe(w.gang(name, 1, 1'000, {.unconstrained = true}));
        break;
      }
      case 5:
        if (!others_.empty()) end_other(*std::next(others_.begin(), below(static_cast<std::uint32_t>(others_.size()))));
        break;
      case 6:
      case 7:
        follow_job();
        break;
      default:
        for (const auto& name : live())
          if (below(2) == 0) go_on(name);
    }
  }
  void end_other(const std::string name) {
    w.finish(name);
    others_.erase(name);
  }
  void settle_quietly() {
    Seen nobody;
    settle(nobody);
  }
  void settle(Seen& seen) {
    w.tick(Duration::millis(400));
    for (int i = 0; i < 200; ++i) {
      const auto step = w.driver().decide();
      if (!step) break;
      ASSERT_LT(i, 199) << "it does not come to rest: seed " << seed_;
      std::vector<std::string> failed;
      for (const Event& e : step->events) {
        if (const auto* placed = std::get_if<PodsPlaced>(&e)) {
          for (const auto& p : placed->pods) pods_.at(std::string(p.name)).on = std::string(p.values.back());
        } else if (const auto* ended = std::get_if<PodsFailed>(&e)) {
          for (const auto& p : ended->pods) failed.emplace_back(p.name);
        } else if (const auto* repaired = std::get_if<TopologyReassigned>(&e)) {
          seen.repairs += std::string_view(repaired->workload.name).starts_with("wl") ? 1 : 0;
        } else if (const auto* evicted = std::get_if<WorkloadEvicted>(&e); evicted != nullptr && evicted->workload.name.starts_with("wl")) {
          ++seen.evicted;
          over_ = true;
        }
      }
      w.observe_decision(*step);
      for (const auto& name : failed) {
        ++seen.failed;
        const std::string& on = pods_.at(name).on;
        const std::string& slice = !waiting_.empty() && w.state(waiting_).admitted() ? waiting_ : active_;
        EXPECT_TRUE(down_.contains(on) || (" " + w.places(slice)).find(" " + on + ":") == std::string::npos)
            << seed_ << ": " << name << " could start";
        EXPECT_TRUE(pods_.at(name).node.empty()) << seed_ << ": " << name << " runs";
        pods_.at(name).ended = true;
        tell(name);
        remove(name);
      }
    }
    for (const auto& name : std::set(others_))
      if (w.state(name).evicted()) end_other(name);
    if (waiting_.empty() || over_) return;
    if (w.state(waiting_).admitted()) {
      ++seen.grown;
      EXPECT_TRUE(w.state(active_).finished()) << seed_;
      active_ = std::exchange(waiting_, std::string());
    } else {
      ++seen.waited;
    }
  }
  /// What is used of each, by pods that are bound and by places of others.
  std::map<std::string, int> on_hosts() const {
    std::map<std::string, int> on;
    for (const auto& [name, p] : pods_)
      if (!p.ended && !p.node.empty()) ++on[p.node];
    for (const auto& name : others_) {
      const WorkloadState& s = w.state(name);
      if (!s.reserved()) continue;
      const TopologyAssignment& where = s.admission->pod_sets[0].topology;
      for (std::size_t i = 0; i < where.size(); ++i) on[std::string(where.domain(i).back().text())] += where.counts[i];
    }
    return on;
  }
  void check_hosts() {
    for (const auto& [host, n] : on_hosts())
      if (!down_.contains(host)) {
        EXPECT_LE(n, cores) << "seed " << seed_ << ", " << host;
      }
  }
  /// Whoever reads the state finds it at rest as well.
  void check_copy() {
    Fleet copy;
    copy.use(settings_);
    const auto read = SnapshotCodec::read(SnapshotCodec::write(w.driver()), copy.driver());
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(copy.driver().state_hash(), w.driver().state_hash()) << seed_;
    EXPECT_FALSE(copy.driver().decide()) << seed_;
  }
  void come_to_an_end(Seen& seen) {
    for (const auto& name : std::set(others_)) end_other(name);
    for (const auto& name : live())  // as the controllers do before long
      if (down_.contains(pods_.at(name).node)) remove(name);
    for (int i = 1; i <= hosts; ++i) w.node("n" + std::to_string(i), {.cores = cores});
    down_.clear();
    for (int round = 0; round < 60 && !over_; ++round) {
      settle(seen);
      follow_job();
      for (const auto& name : live()) go_on(name);
    }
    settle(seen);
    check_hosts();
    check_copy();
    EXPECT_EQ(waiting_, "") << seed_ << ": " << message_of(waiting_);
    const auto now = live();
    EXPECT_EQ(now.size(), static_cast<std::size_t>(size_)) << seed_;
    for (const auto& name : now) EXPECT_FALSE(pods_.at(name).node.empty()) << seed_ << ": " << name << " waits for " << pods_.at(name).on;
    EXPECT_TRUE(w.state(active_).unhealthy_nodes.empty()) << seed_;
  }
  std::string message_of(const std::string& name) const {
    return name.empty() ? std::string() : std::string(w.state(name).find(ConditionType::quota_reserved)->message);
  }
};

// EJ-108, EJ-111, EJ-112, EJ-113, TAS-96, TAS-98, TAS-103: no host beyond what it has, nobody fails who could start, and in the end all
// run.
TEST(ElasticHistories, NodesFailWhileTheJobChangesItsSize) {
  ElasticLife::Seen seen;
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    ElasticLife life(seed);
    life.play(seen);
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(seen.repairs, 100U);
  EXPECT_GT(seen.grown, 100U);
  EXPECT_GT(seen.failed, 10U);
  EXPECT_GT(seen.evicted, 3U);
  EXPECT_GT(seen.waited, 20U);
}

}  // namespace
}  // namespace hindsight::admission::testing
