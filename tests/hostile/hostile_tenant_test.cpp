// A tenant who may write jobs, Workloads, LocalQueues, pods and statuses of one namespace does all that the others would rather not have:
// every kind of hostile object and change (hostile_objects.hpp), and floods. The others' jobs end when they would have ended without, the
// log grows by no more than 64 KiB for each request, nothing is decided for ever, and what is written folds to the same state.
//
//   HINDSIGHT_HOSTILE_SEEDS=N   orders of all kinds (2); odd ones with webhooks
//   HINDSIGHT_HOSTILE_FLOOD=N   requests of each flood (400)

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "connectors/objects/resource_types.hpp"
#include "events/record.hpp"
#include "events/settings.hpp"
#include "simulation/run_scenario.hpp"
#include "tests/admission/decided_afresh.hpp"
#include "tests/hostile/hostile_objects.hpp"
#include "tests/support/sanitized.hpp"

namespace hindsight::hostile {
namespace {

using connectors::simulated::Part;
using simulation::Engine;
using simulation::SimulatedWorld;

constexpr const char* tenant = "mallory";
constexpr int good_tenants = 3, jobs_each = 12;
constexpr std::size_t bytes_max = 64 * 1024;  // of the log, for one request
constexpr std::uint64_t decisions_max = 100;  // that follow from one request at the moment of it
/// Of the log, for one request, with what is refused and asked for again within that time.
constexpr Duration watched_for = Duration::seconds(600);

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::stoull(text);
}

enum class Queues : std::uint8_t {
  plain,
  cohort,    ///< They borrow from each other.
  families,  ///< With concurrent admission on two flavors; elastic jobs are on, too.
  told,      ///< Each Workload that waits says why from the beginning (UnadmittedWorkloadsExplicitStatus).
};

using Gates = std::map<std::string, bool>;

const Gates& gates_of(Queues queues) {
  static const Gates none, families{{"ConcurrentAdmission", true}, {"ElasticJobsViaWorkloadSlices", true}},
      told{{"UnadmittedWorkloadsExplicitStatus", true}};
  return queues == Queues::families ? families : queues == Queues::told ? told : none;
}

/// A cluster of some tenants with a queue each, and what its log costs.
class Cluster {
 public:
  explicit Cluster(bool webhooks, Queues queues = Queues::plain) : world_(options(webhooks, queues)) {
    simulation::EngineOptions engine;
    if (!gates_of(queues).empty()) engine.configuration = Json{{"featureGates", gates_of(queues)}}.dump();
    engine.steps_max = 3'000;
    engine.on_record = [this](const RecordView& r) { note(r); };
    engine_ = std::make_unique<Engine>(world_, std::move(engine));
    engine_->step_to(cluster().now());
    cluster().watch(connectors::watched_resource_types, [this](const connectors::WatchEvent& e) { engine_->on_watch(e); });
    for (const char* flavor : {"any", "spot"})
      must({{"apiVersion", "kueue.x-k8s.io/v1beta2"},
            {"kind", "ResourceFlavor"},
            {"metadata", {{"name", flavor}}},
            {"spec", Json::object()}});
    std::vector<std::string> names{tenant};
    for (int i = 0; i < good_tenants; ++i) names.push_back("good-" + std::to_string(i));
    for (const auto& name : names) add_tenant(name, queues);
  }

  [[nodiscard]] connectors::simulated::SimulatedCluster& cluster() { return world_.simulated(); }
  [[nodiscard]] Engine& engine() { return *engine_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  /// The others' next jobs; one of each tenant a second.
  void good_jobs(int round) {
    if (round >= jobs_each) return;
    for (int i = 0; i < good_tenants; ++i) {
      Random none(1);
      const Making m{none, static_cast<std::uint64_t>(round)};
      Json j = job(m, "job-" + std::to_string(round));
      j["metadata"]["namespace"] = "good-" + std::to_string(i);
      j["metadata"]["annotations"]["hindsight.dev/run-seconds"] = "5";
      must(std::move(j));
    }
  }
  [[nodiscard]] std::vector<Victim> victims() {
    std::vector<Victim> out;
    for (int i = 0; i < good_tenants; ++i)
      for (int k = 0; k < jobs_each; ++k)
        if (const auto j = cluster().find("Job", "good-" + std::to_string(i), "job-" + std::to_string(k)))
          out.push_back({j->namespace_, j->name, j->uid});
    return out;
  }
  /// When each of the others' jobs ended; empty: it has not.
  [[nodiscard]] std::map<std::string, std::string> ends() {
    std::map<std::string, std::string> out;
    for (const auto& v : victims())
      out[v.namespace_ + "/" + v.name] = cluster().find("Job", v.namespace_, v.name)->object["status"].value("completionTime", "");
    return out;
  }

  /// One request of the hostile tenant; true: it was accepted.
  bool request(const Write& write) {
    const auto uid_of = [&](const std::string& object) {
      const auto slash = object.find('/');
      const auto found = cluster().find(object.substr(0, slash), tenant, object.substr(slash + 1));
      return found ? found->uid : std::string();
    };
    Json body = resolved(write.body, uid_of);
    switch (write.verb) {
      case Write::Verb::create:
        body["metadata"]["namespace"] = tenant;
        return cluster().create(std::move(body)).accepted();
      case Write::Verb::patch:
        return cluster().merge_patch(write.kind, tenant, write.name, write.status ? Part::status : Part::main, body).accepted();
      case Write::Verb::remove:
        return cluster().remove(write.kind, tenant, write.name).accepted();
    }
    return false;
  }

  /// What follows from a request at its moment. Empty: all is well.
  [[nodiscard]] std::string carry_out(std::size_t requests = 1, std::size_t most = bytes_max) {
    const std::size_t bytes_before = bytes_;
    const std::uint64_t decisions_before = engine_->decisions();
    if (auto ok = engine_->run_until(engine_->now()); !ok) return ok.error().message;
    if (bytes_ - bytes_before > most * requests) return "the log grew by " + std::to_string(bytes_ - bytes_before) + " bytes";
    if (const auto circling = circles(); !circling.empty()) return circling;
    if (const auto n = engine_->decisions() - decisions_before; n > decisions_max * requests)
      return std::to_string(n) + " decisions at one moment";
    return {};
  }
  [[nodiscard]] std::string pass(Duration time) {
    const auto ok = engine_->run_until(engine_->now() + time);
    return ok ? circles() : ok.error().message;
  }
  /// Who would decide again what was decided before, though nothing had happened to it: nobody. It is not recorded, so the log does not
  /// tell; but somebody is left as no rule wants him to be.
  [[nodiscard]] std::string circles() {
    std::string out;
    for (const auto& uid : engine_->circling()) {
      const auto index = engine_->driver().domain().find_parent(uid);
      const auto* parent = index ? engine_->driver().parent(*index) : nullptr;
      std::string name = uid;
      if (parent != nullptr && parent->job())
        name = parent->job()->name;
      else if (parent != nullptr && !parent->workloads().empty())
        name = parent->workloads().front().name;
      out += (out.empty() ? "in a circle goes " : ", ") + name;
    }
    return out;
  }
  /// Jobs of the tenant that name a queue and run although nobody gave them quota.
  [[nodiscard]] std::string unadmitted() {
    std::string out;
    for (const char* kind : {"Job", "JobSet", "RayCluster", "RayJob"}) {
      for (const auto& [key, object] : cluster().store().of_kind(kind)) {
        const Json& o = object->object;
        if (object->namespace_ != tenant || !o["metadata"].contains("labels") ||
            !o["metadata"]["labels"].contains("kueue.x-k8s.io/queue-name"))
          continue;
        if (!o["spec"].is_object() || (o["spec"].contains("suspend") && o["spec"]["suspend"] != false)) continue;
        const auto index = engine_->driver().domain().find_parent(object->uid);
        const auto* parent = index ? engine_->driver().parent(*index) : nullptr;
        if (parent == nullptr || !parent->job() || parent->job()->finished || parent->job()->on_hold || !parent->job()->managed) continue;
        if (parent->is_part_of_what_runs()) continue;
        const auto& all = parent->workloads();
        if (std::none_of(all.begin(), all.end(), [](const auto& w) { return w.admitted() || w.finished(); }))
          out += (out.empty() ? "" : ", ") + std::string(kind) + " " + object->name;
      }
    }
    return out;
  }
  /// After the tenant has tired, the domain comes to rest by itself, and a copy of its state is the same.
  [[nodiscard]] std::string come_to_rest() {
    if (auto bad = pass(Duration::seconds(6 * 3600)); !bad.empty()) return bad;
    const std::uint64_t before = engine_->records();
    refused_.clear();
    if (auto bad = pass(Duration::seconds(3600)); !bad.empty()) return bad;
    std::uint64_t refusals = 0;  // What the API server refuses is asked for again every 64 s, and each time is a record.
    for (const auto& [uid, n] : refused_) {
      if (n > 3600 / 64 + 1) return std::to_string(n) + " refusals about one object in an hour";
      refusals += n;
    }
    if (const auto n = engine_->records() - before - refusals; n > 100) return std::to_string(n) + " records in an hour without news";
    if (const auto running = unadmitted(); !running.empty()) return "without quota runs " + running;
    return admission::testing::decided_afresh(engine_->driver(), [](Text json) { return events::read_settings(json); });
  }

 private:
  static connectors::simulated::ClusterOptions options(bool webhooks, Queues queues) {
    connectors::simulated::ClusterOptions out;
    out.webhooks = webhooks;
    for (const auto& [gate, value] : gates_of(queues)) out.gates[gate] = value;
    return out;
  }
  void must(Json object) {
    const auto reply = cluster().create(std::move(object));
    if (!reply.accepted()) throw std::runtime_error(reply.message);
  }
  void add_tenant(const std::string& name, Queues queues) {
    Json flavors = Json::array();
    for (const char* flavor : {"any", "spot"})
      if (flavors.empty() || queues == Queues::families)
        flavors.push_back({{"name", flavor}, {"resources", Json::array({{{"name", "cpu"}, {"nominalQuota", 4}}})}});
    const Json quota = Json::array({{{"coveredResources", {"cpu"}}, {"flavors", std::move(flavors)}}});
    Json spec{{"namespaceSelector", {{"matchLabels", {{"kubernetes.io/metadata.name", name}}}}}, {"resourceGroups", quota}};
    if (queues == Queues::families) spec["concurrentAdmission"] = {{"onSuccess", "RemoveLower"}};
    if (queues == Queues::cohort) {
      spec["cohortName"] = "all";
      spec["preemption"] = {{"reclaimWithinCohort", "Any"}};
    }
    must(
        {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}, {"labels", {{"kubernetes.io/metadata.name", name}}}}}});
    must({{"apiVersion", "kueue.x-k8s.io/v1beta2"}, {"kind", "ClusterQueue"}, {"metadata", {{"name", name}}}, {"spec", std::move(spec)}});
    must({{"apiVersion", "kueue.x-k8s.io/v1beta2"},
          {"kind", "LocalQueue"},
          {"metadata", {{"name", "lq"}, {"namespace", name}}},
          {"spec", {{"clusterQueue", name}}}});
  }
  void note(const RecordView& r) {
    bytes_ += encoder_.encode(r).size();
    const auto* o = std::get_if<Observation>(&r.body);
    if (const auto* refused = o == nullptr ? nullptr : std::get_if<WriteRefused>(o)) ++refused_[std::string(refused->uid)];
  }

  SimulatedWorld world_;
  std::unique_ptr<Engine> engine_;
  events::Encoder encoder_;
  std::size_t bytes_ = 0;
  std::map<std::string, std::uint64_t> refused_;  ///< By uid of whom the write was about.
};

/// When the others' jobs end while nobody disturbs them.
std::map<std::string, std::string> undisturbed(bool webhooks, Queues queues = Queues::plain) {
  Cluster alone(webhooks, queues);
  for (int round = 0; round < jobs_each; ++round) {
    alone.good_jobs(round);
    EXPECT_EQ(alone.pass(Duration::seconds(1)), "");
  }
  EXPECT_EQ(alone.pass(Duration::seconds(3600)), "");
  auto ends = alone.ends();
  for (const auto& [name, end] : ends) EXPECT_NE(end, "") << name << " does not end, whoever disturbs it";
  return ends;
}

class HostileTenant : public ::testing::Test {};

TEST_F(HostileTenant, HasManyWays) {
  EXPECT_GE(kinds().size(), 200U);
  std::map<Right, int> by_right;
  for (const auto& kind : kinds()) ++by_right[kind.right];
  EXPECT_EQ(by_right.size(), 4U);
}

// Every kind once, in an order of its own for each seed, while the others' jobs arrive and run. A kind that does harm is told with its
// name, and the others are tried in a new cluster.
void try_all(std::uint64_t seeds, Queues queues, std::string_view of) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const bool webhooks = seed % 2 == 1;
    const auto wanted = undisturbed(webhooks, queues);
    Random random(seed);
    std::vector<const HostileKind*> order;
    for (const auto& kind : kinds())
      if (kind.name.starts_with(of)) order.push_back(&kind);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    std::size_t at = 0;
    std::uint64_t serial = 0, accepted = 0;
    while (at < order.size()) {
      Cluster cluster(webhooks, queues);
      int round = 0;
      std::string bad;
      for (; at < order.size() && bad.empty(); ++at) {
        if (at % 30 == 0) {
          cluster.good_jobs(round++);
          bad = cluster.pass(Duration::seconds(1));
        }
        Making m{random, ++serial, cluster.victims()};
        for (const auto& write : order[at]->make(m)) {
          if (!bad.empty()) break;
          if (cluster.request(write)) ++accepted;
          bad = cluster.carry_out();
        }
        EXPECT_EQ(bad, "") << "seed " << seed << ", " << order[at]->name;
      }
      if (!bad.empty()) continue;  // the next cluster goes on behind it
      for (; round < jobs_each && bad.empty(); ++round) {
        cluster.good_jobs(round);
        bad = cluster.pass(Duration::seconds(1));
      }
      EXPECT_EQ(bad, "") << "seed " << seed;
      EXPECT_EQ(cluster.come_to_rest(), "") << "seed " << seed;
      EXPECT_EQ(cluster.ends(), wanted) << "seed " << seed;
    }
    EXPECT_GT(accepted, order.size() / 2) << "most of what is tried must get past the API server, else nothing is proved";
  }
}

TEST_F(HostileTenant, HurtsNobodyWithAnyObject) { try_all(number_of("HINDSIGHT_HOSTILE_SEEDS", 2), Queues::plain, ""); }

// CA-10, CA-132
TEST_F(HostileTenant, HurtsNobodysFamilies) { try_all(number_of("HINDSIGHT_HOSTILE_SEEDS", 2) * 3, Queues::families, "family/"); }

// What the API server refuses is asked for again, and what a timer brings is decided: all of it is what the request costs.
TEST_F(HostileTenant, CostsTheLogLittleWithAllThatFollows) {
  std::uint64_t serial = 0;
  for (const auto& kind : kinds()) {
    Cluster cluster(false);
    ASSERT_EQ(cluster.pass(Duration::seconds(1)), "");
    const std::size_t before = cluster.bytes();
    Random random(++serial);
    Making m{random, serial, {}};
    const auto writes = kind.make(m);
    for (const auto& write : writes) {
      (void)cluster.request(write);
      EXPECT_EQ(cluster.carry_out(), "") << kind.name;
    }
    EXPECT_EQ(cluster.pass(watched_for), "") << kind.name;
    EXPECT_LE(cluster.bytes() - before, bytes_max * writes.size()) << kind.name;
  }
}

// In a cohort the tenant may borrow; what others own they get back.
TEST_F(HostileTenant, GivesBackWhatItBorrowed) {
  Cluster cluster(false, Queues::cohort);
  Random random(7);
  std::uint64_t serial = 0;
  for (int round = 0; round < jobs_each; ++round) {
    cluster.good_jobs(round);
    for (const char* name :
         {"annotation/priority-boost/largest-number", "change/suspend", "owner/beyond-a-job-set/Job", "name/like-workload"}) {
      Making m{random, ++serial, cluster.victims()};
      for (const auto& write : kind_of(name).make(m)) (void)cluster.request(write);
    }
    ASSERT_EQ(cluster.pass(Duration::seconds(1)), "");
  }
  EXPECT_EQ(cluster.come_to_rest(), "");
  for (const auto& [name, end] : cluster.ends()) {
    const auto slash = name.find('/');
    std::string told;
    for (const auto& o : cluster.cluster().store().owned_by("Job", name.substr(0, slash), name.substr(slash + 1)))
      if (o->kind->type->kind == "Workload") told += o->object["status"].dump();
    EXPECT_NE(end, "") << name << " " << told;
  }
}

/// Of each flood so many requests, while the others' jobs arrive and run. `queues`: of floods that are not about families.
void try_floods(std::uint64_t requests_of_the_suite, Queues queues) {
  const std::uint64_t requests = number_of("HINDSIGHT_HOSTILE_FLOOD", requests_of_the_suite);
  const auto wanted = undisturbed(false, queues), wanted_of_families = undisturbed(false, Queues::families);
  for (const auto& flood : floods()) {
    if (flood.families && queues != Queues::plain) continue;
    Cluster cluster(false, flood.families ? Queues::families : queues);
    Random random(1);
    Making m{random, 1, {}};
    std::string bad;
    const std::uint64_t a_round = std::max<std::uint64_t>(1, requests / flood.weight / jobs_each);
    for (std::uint64_t n = 0; n < a_round * jobs_each && bad.empty(); ++n) {
      if (n % a_round == 0) {
        cluster.good_jobs(static_cast<int>(n / a_round));
        bad = cluster.pass(Duration::seconds(1));
      }
      (void)cluster.request(flood.make(m, n));
      if (bad.empty()) bad = cluster.carry_out(1, flood.bytes_max);
    }
    ASSERT_EQ(bad, "") << flood.name;
    EXPECT_EQ(cluster.pass(watched_for), "") << flood.name;
    EXPECT_LE(cluster.bytes(), flood.bytes_max * a_round * jobs_each) << flood.name;
    EXPECT_EQ(cluster.pass(Duration::seconds(3600)), "") << flood.name;
    EXPECT_EQ(cluster.ends(), flood.families ? wanted_of_families : wanted) << flood.name;
  }
}

TEST_F(HostileTenant, HurtsNobodyWithAFlood) { try_floods(as_much_as<std::uint64_t>(400, 200), Queues::plain); }

// BA-211: what waits is written once more than else, and no more than that
TEST_F(HostileTenant, HurtsNobodyWithAFloodOfWhichEachIsTold) { try_floods(as_much_as<std::uint64_t>(200, 100), Queues::told); }

// All that was made goes again, and nothing is left of it.
TEST_F(HostileTenant, LeavesNothingBehind) {
  const auto entries = [](Cluster& c) {
    std::size_t sum = c.engine().driver().domain().entries() + c.engine().bridge().entries();
    for (const auto& [name, config] : c.engine().driver().domain().catalog()->queues) sum += c.engine().driver().queue(name)->entries();
    return sum;
  };
  Cluster cluster(false);
  Random random(3);
  std::uint64_t serial = 0;
  std::vector<std::size_t> after;
  for (int round = 0; round < 3; ++round) {
    for (const auto& kind : kinds()) {
      Making m{random, ++serial, {}};
      for (const auto& write : kind.make(m)) (void)cluster.request(write);
      ASSERT_EQ(cluster.carry_out(100), "") << kind.name;
    }
    for (const char* kind : {"Job", "JobSet", "RayJob", "RayCluster", "Workload", "Pod", "LocalQueue", "LimitRange"}) {
      std::vector<std::pair<std::string, bool>> names;
      for (const auto& [key, object] : cluster.cluster().store().of_kind(kind))
        if (object->namespace_ == tenant && object->name != "lq")
          names.emplace_back(object->name, object->metadata().contains("finalizers"));
      for (const auto& [name, held] : names) {
        if (held) (void)cluster.cluster().merge_patch(kind, tenant, name, Part::main, {{"metadata", {{"finalizers", nullptr}}}});
        (void)cluster.cluster().remove(kind, tenant, name);
      }
      ASSERT_EQ(cluster.pass(Duration::seconds(10)), "") << kind;
    }
    ASSERT_EQ(cluster.pass(Duration::seconds(3600)), "");
    after.push_back(entries(cluster));
  }
  EXPECT_EQ(after[1], after[2]) << "the first round may leave room that is used again: " << after[0];
}

}  // namespace
}  // namespace hindsight::hostile
