#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "connectors/objects/resource_types.hpp"
#include "tests/connectors/simulated/builders.hpp"

namespace hindsight::connectors::simulated {
namespace {

/// Sends random requests to a cluster and keeps, from watch events alone, what a mirror would.
class RandomRun {
 public:
  explicit RandomRun(std::uint64_t seed) : cluster_(test::fresh()), random_(seed) {
    cluster_.watch({&types::workload, &types::job, &types::cohort}, [this](const WatchEvent& event) { see(event); });
  }

  void step() {
    const auto before = cluster_.resource_version();
    const auto writes = cluster_.writes();
    const Reply reply = act();
    EXPECT_NE(reply.http_status, 500);
    EXPECT_GE(cluster_.resource_version(), before);
    // A refusal changes nothing.
    if (!reply.accepted()) {
      EXPECT_EQ(cluster_.resource_version(), before) << reply.message;
    }
    EXPECT_GE(cluster_.resource_version() - before, cluster_.writes() - writes);
    if (reply.accepted())
      ++accepted;
    else
      ++refused;
  }

  /// What the events told is what there is.
  void check_mirror() const {
    std::map<std::string, std::string> actual;
    for (const char* kind : {"Workload", "Job", "Cohort"}) {
      for (const auto& [key, object] : cluster_.store().of_kind(kind)) {
        actual[std::string(kind) + "/" + key] = *object->text();
        EXPECT_FALSE(object->deleting() && member(object->metadata(), "finalizers").empty()) << key << " should be gone";
        EXPECT_EQ(text(object->metadata(), "resourceVersion"), std::to_string(object->version));
        if (object->deleting()) continue;
        for (const auto& owner : member(object->metadata(), "ownerReferences"))
          EXPECT_NE(cluster_.find("Job", "default", text(owner, "name")), nullptr) << key << " has lost its owner";
      }
    }
    EXPECT_EQ(mirror_, actual);
  }

  int accepted = 0;
  int refused = 0;

 private:
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
  std::string name() { return std::string(1, static_cast<char>('a' + below(4))); }

  void see(const WatchEvent& event) {
    if (event.type == WatchEvent::Type::synced) return;
    const Json object = Json::parse(event.object);
    const Json& metadata = object["metadata"];
    const std::string namespace_ = metadata.value("namespace", "");
    const std::string key =
        object["kind"].get<std::string>() + "/" + (namespace_.empty() ? "" : namespace_ + "/") + metadata["name"].get<std::string>();
    const auto version = std::stoull(metadata["resourceVersion"].get<std::string>());
    EXPECT_GT(version, last_version_) << "events come in the order of versions";
    last_version_ = version;
    const bool known = mirror_.contains(key);
    switch (event.type) {
      case WatchEvent::Type::added:
        EXPECT_FALSE(known) << key;
        break;
      case WatchEvent::Type::modified:
      case WatchEvent::Type::deleted:
        EXPECT_TRUE(known) << key;
        break;
      case WatchEvent::Type::synced:
        break;
    }
    if (known) {
      const Json old = Json::parse(mirror_[key]);
      EXPECT_EQ(old["metadata"]["uid"], metadata["uid"]) << key;
      const auto generation = metadata["generation"].get<int>();
      const auto old_generation = old["metadata"]["generation"].get<int>();
      if (old.value("spec", Json()) != object.value("spec", Json()))
        EXPECT_EQ(generation, old_generation + 1) << key;
      else
        EXPECT_LE(generation, old_generation + 1) << key;
      if (old["metadata"].contains("deletionTimestamp")) {
        EXPECT_TRUE(metadata.contains("deletionTimestamp")) << key;
      }
    }
    if (event.type == WatchEvent::Type::deleted)
      mirror_.erase(key);
    else
      mirror_[key] = event.object;
  }

  Reply act() {
    cluster_.set_time(cluster_.now() + Duration::millis(static_cast<std::int64_t>(below(900))));
    const std::string target = name();
    switch (below(10)) {
      case 0:
        return create_job(target);
      case 1:
        return create_workload(target);
      case 2:
        return cluster_.create(test::kueue("Cohort", target));
      case 3:
        return remove(target);
      case 4:
        return patch_finalizers(target);
      case 5:
        return cluster_.merge_patch("Job", "default", target, Part::main,
                                    {{"spec", {{"suspend", below(2) == 0}, {"parallelism", below(4)}}}});
      case 6:
        return cluster_.merge_patch("Workload", "default", target, Part::status, {{"status", {{"requeueState", {{"count", below(3)}}}}}});
      case 7:
        return cluster_.merge_patch("Workload", "default", target, Part::main,
                                    {{"spec", {{"priority", below(3)}, {"active", below(2) == 0}}}});
      case 8:
        return cluster_.merge_patch("Cohort", "", target, Part::main,
                                    {{"spec", {{"parentName", below(2) == 0 ? Json(name()) : Json("BAD")}}}});
      default:
        return patch_with_version(target);
    }
  }

  Json with_finalizers(Json object) {
    if (below(3) == 0) object["metadata"]["finalizers"] = Json::array({"kueue.x-k8s.io/resource-in-use"});
    return object;
  }

  Reply create_job(const std::string& name) { return cluster_.create(with_finalizers(test::job(name))); }

  Reply create_workload(const std::string& target) {
    Json made = with_finalizers(test::workload(target));
    const std::string owner = name();
    if (const auto job = cluster_.find("Job", "default", owner); job && below(4) != 0)
      made = test::owned(std::move(made), "Job", owner, job->uid);
    return cluster_.create(std::move(made));
  }

  Reply remove(const std::string& target) {
    DeleteOptions options;
    options.propagation = below(4) == 0 ? Propagation::orphan : Propagation::background;
    switch (below(3)) {
      case 0:
        return cluster_.remove("Job", "default", target, options);
      case 1:
        return cluster_.remove("Workload", "default", target, options);
      default:
        return cluster_.remove("Cohort", "", target, options);
    }
  }

  Reply patch_finalizers(const std::string& target) {
    const char* kind = below(2) == 0 ? "Job" : "Workload";
    const Json value = below(3) == 0 ? Json::array({"a.b/c"}) : Json();
    return cluster_.merge_patch(kind, "default", target, Part::main, {{"metadata", {{"finalizers", value}}}});
  }

  Reply patch_with_version(const std::string& target) {
    const auto workload = cluster_.find("Workload", "default", target);
    const bool stale = below(2) == 0;
    const std::string version = workload ? std::to_string(stale ? workload->version - 1 : workload->version) : "1";
    Reply reply =
        cluster_.merge_patch("Workload", "default", target, Part::status,
                             {{"metadata", {{"resourceVersion", version}}}, {"status", {{"requeueState", {{"count", below(3)}}}}}});
    if (workload) {
      EXPECT_EQ(reply.http_status, stale ? 409 : 200) << reply.message;
    }
    return reply;
  }

  SimulatedCluster cluster_;
  std::mt19937_64 random_;
  std::map<std::string, std::string> mirror_;
  std::uint64_t last_version_ = 0;
};

// Rule 5 rests on this: whoever follows the events knows the cluster, and a refused or repeated write leaves no trace.
TEST(RandomWrites, keep_versions_growing_and_mirrors_exact) {
  int accepted = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    RandomRun run(seed);
    for (int i = 0; i < 400; ++i) {
      run.step();
      if (i % 20 == 0) run.check_mirror();
    }
    run.check_mirror();
    accepted += run.accepted;
    refused += run.refused;
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  EXPECT_GT(accepted, 4000);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace hindsight::connectors::simulated
