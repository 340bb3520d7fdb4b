// How updates of Jobs are answered beside the verdict: what a refusal says and how often, Jobs with many containers, and whatever else may
// come (5440 §3.B, §3.G).

#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "connectors/simulated/rules/template_update.hpp"
#include "connectors/simulated/simulated_cluster.hpp"
#include "tests/connectors/simulated/builders.hpp"

namespace hindsight::connectors::simulated {
namespace {

const Json& updates_table() {
  static const Json instance = Json::parse(std::ifstream(HINDSIGHT_JOB_UPDATES));
  return instance;
}

Json job_of(const Json& spec, const Json& state) {
  Json out{{"apiVersion", "batch/v1"}, {"kind", "Job"}, {"metadata", {{"name", "j"}, {"namespace", "default"}}}, {"spec", spec}};
  out["spec"]["suspend"] = state["suspend"];
  return out;
}

/// A cluster of the newest level with one Job "j" in a state of the table.
SimulatedCluster cluster_with(const Json& spec, const Json& state) {
  SimulatedCluster cluster = test::fresh();
  if (const auto made = cluster.create(job_of(spec, state)); !made.accepted()) throw std::runtime_error(made.message);
  if (const auto told = cluster.merge_patch("Job", "default", "j", Part::status, {{"status", state["status"]}}); !told.accepted())
    throw std::runtime_error(told.message);
  return cluster;
}

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

// MR-20: the message of a refusal lists each text once, however often its cause is found, and that a template is immutable is said once
TEST(JobUpdateAnswers, EachTextStandsOnceInTheMessage) {
  std::size_t refused = 0, frozen = 0, several = 0;
  for (const auto& update : updates_table()["updates"]) {
    const Json& spec = updates_table()["jobs"][update.value("job", "plain")];
    auto cluster = cluster_with(spec, updates_table()["states"][update["state"].get<std::string>()]);
    const auto reply = cluster.merge_patch("Job", "default", "j", Part::main, update["patch"]);
    if (reply.accepted()) continue;
    ++refused;
    const Json body = Json::parse(reply.body());
    const auto message = body["message"].get<std::string>();
    EXPECT_TRUE(message.starts_with("Job.batch \"j\" is invalid: ")) << message;
    std::map<std::string, std::size_t> texts;
    for (const auto& cause : body["details"]["causes"])
      ++texts[cause["field"].get<std::string>() + ": " + cause["message"].get<std::string>()];
    several += texts.size() > 1 ? 1 : 0;
    for (const auto& [text, found] : texts) {
      EXPECT_EQ(times(message, text), 1U) << update["name"] << "\n" << text << "\n" << message;
      if (!text.ends_with("field is immutable")) continue;
      ++frozen;
      EXPECT_EQ(found, 1U) << update["name"] << ": E1 and E2 appear once";
    }
    EXPECT_EQ(message.starts_with("Job.batch \"j\" is invalid: ["), texts.size() > 1) << message;
  }
  EXPECT_GT(refused, 20U);
  EXPECT_GT(frozen, 10U);
  EXPECT_GT(several, 0U) << "some are refused for more than one reason";
}

/// A Job with so many containers, and as many that run before them.
Json wide(std::size_t containers) {
  Json spec = Json::parse(R"({"parallelism":1,"completions":1,"template":{"spec":{"restartPolicy":"Never"}}})");
  for (const char* list : {"containers", "initContainers"})
    for (std::size_t i = 0; i < containers; ++i)
      spec["template"]["spec"][list].push_back({{"name", (list[0] == 'c' ? "c" : "i") + std::to_string(i)},
                                                {"image", "i"},
                                                {"resources", {{"requests", {{"cpu", "1"}}}, {"limits", {{"cpu", "2"}}}}}});
  return spec;
}

Json patch_of(const Json& spec) { return {{"spec", {{"template", spec["template"]}}}}; }

// MR-86: of a Job with fifty containers, and fifty that run before them, each is compared with its own. (Tests do not measure time.)
TEST(JobUpdateAnswers, FiftyContainersAreJudgedOneByOne) {
  constexpr std::size_t many = 50;
  const Json& fresh = updates_table()["states"]["fresh"];
  const Json before = wide(many);
  const auto answer = [&](const Json& spec, const char* state = "fresh") {
    auto cluster = cluster_with(before, updates_table()["states"][state]);
    const auto reply = cluster.merge_patch("Job", "default", "j", Part::main, patch_of(spec));
    const Json stored = cluster.find("Job", "default", "j")->spec()["template"]["spec"];
    if (reply.accepted()) return std::pair(std::set<std::string>(), stored);
    std::set<std::string> fields;
    const Json body = Json::parse(reply.body());
    for (const auto& cause : body["details"]["causes"]) fields.insert(cause["field"].get<std::string>());
    return std::pair(fields, stored);
  };
  Json all = before;
  for (const char* list : {"containers", "initContainers"})
    for (auto& c : all["template"]["spec"][list]) c["resources"]["requests"]["cpu"] = "1500m";
  const auto [none, changed] = answer(all);
  EXPECT_TRUE(none.empty());
  for (const char* list : {"containers", "initContainers"})
    for (const auto& c : changed[list]) EXPECT_EQ(c["resources"]["requests"]["cpu"], "1500m") << c["name"];
  EXPECT_EQ(answer(all, "running").first, std::set<std::string>{"spec.template"});

  const Json kept = cluster_with(before, fresh).find("Job", "default", "j")->spec()["template"]["spec"];
  for (const std::size_t at : {std::size_t{0}, many / 2, many - 1})
    for (const char* list : {"containers", "initContainers"}) {
      const std::string field = std::string("spec.template.spec.") + list + "[" + std::to_string(at) + "]";
      Json image = all, above = all;
      image["template"]["spec"][list][at]["image"] = "other";
      EXPECT_EQ(answer(image), std::pair(std::set<std::string>{"spec.template.spec"}, kept)) << field << ": nothing of it is stored";
      above["template"]["spec"][list][at]["resources"]["requests"]["cpu"] = "3";
      EXPECT_EQ(answer(above), std::pair(std::set<std::string>{field + ".resources.requests"}, kept));
    }
  Json swapped = all, fewer = all;
  std::swap(swapped["template"]["spec"]["containers"][7], swapped["template"]["spec"]["containers"][31]);
  EXPECT_EQ(answer(swapped).first, std::set<std::string>{"spec.template.spec"});
  fewer["template"]["spec"]["containers"].erase(many - 1);
  EXPECT_EQ(answer(fewer).first, std::set<std::string>{"spec.template.spec"});
}

/// Takes a Job apart at random: lists that are not there, other numbers of containers, no suspend, no status, amounts of any kind.
class Breaker {
 public:
  explicit Breaker(std::uint64_t seed) : random_(seed) {}

  Json broken(Json job) {
    for (std::size_t i = below(4); i-- > 0;) break_once(job);
    return job;
  }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
  Json amount() {
    static const std::vector<Json> amounts{"",
                                           "x",
                                           "1x",
                                           "--1",
                                           "-1",
                                           "1",
                                           "1000m",
                                           "0.0001",
                                           "1e-100",
                                           "1e400",
                                           "9223372036854775807",
                                           "9223372036854775808",
                                           "99999999999999999999E",
                                           "-99999999999999999999E",
                                           std::string(400, '9'),
                                           "0." + std::string(400, '0') + "1",
                                           "Ki",
                                           ".",
                                           "1_0",
                                           "\u0661",
                                           nullptr,
                                           7,
                                           -7,
                                           1.5,
                                           1e300,
                                           9223372036854775807,
                                           true,
                                           Json::array(),
                                           Json::array({"1"}),
                                           Json::object(),
                                           Json{{"cpu", "1"}}};
    return amounts[below(amounts.size())];
  }

 private:
  void break_once(Json& job) {
    Json& pod = job["spec"]["template"]["spec"];
    const char* list = below(2) == 0 ? "containers" : "initContainers";
    switch (below(9)) {
      case 0:
        pod[list] = nullptr;
        break;
      case 1:
        pod.erase(list);
        break;
      case 2:
        if (pod[list].is_array() && !pod[list].empty()) pod[list].erase(below(pod[list].size()));
        break;
      case 3:
        pod[list].push_back(below(2) == 0 ? Json() : Json{{"name", "extra"}});
        break;
      case 4:
        job["spec"].erase("suspend");
        break;
      case 5:
        job.erase("status");
        break;
      case 6:
        job["status"] = below(2) == 0 ? amount() : Json{{"active", amount()}, {"startTime", amount()}, {"conditions", amount()}};
        break;
      default:
        if (pod[list].is_array() && !pod[list].empty() && pod[list][0].is_object()) {
          Json& container = pod[list][below(pod[list].size())];
          if (!container.is_object()) break;
          Json& resources = container["resources"];
          if (below(6) == 0 || !(resources.is_object() || resources.is_null()))
            resources = amount();
          else
            resources[below(2) == 0 ? "requests" : "limits"] = {{below(2) == 0 ? "cpu" : "nvidia.com/gpu", amount()}};
        }
        break;
    }
    if (!pod[list].is_array() && !pod[list].is_null()) pod[list] = Json::array();
  }

  std::mt19937_64 random_;
};

// MR-95: every pair of an old and a new Job has an answer: a verdict of the rule, which is the same each time, and of the whole server one
// of the answers that API servers give; and what is refused is not stored
TEST(JobUpdateAnswers, AnyTwoJobsHaveAnAnswer) {
  const std::vector<std::string> states{"fresh", "told", "ran", "running"};
  std::size_t frozen = 0, passed = 0, accepted = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    Breaker breaker(seed);
    const Json& state = updates_table()["states"][states[breaker.below(states.size())]];
    Json whole = job_of(updates_table()["jobs"][breaker.below(2) == 0 ? "plain" : "indexed"], state);
    whole["status"] = state["status"];
    const Json before = breaker.broken(whole), now = breaker.broken(breaker.below(2) == 0 ? before : whole);
    for (const bool on : {false, true}) {
      JobRules rules;
      rules.mutable_resources = rules.strict = on;
      std::vector<Problem> first, again;
      Findings found(first), once_more(again);
      check_template_update(ObjectView(now), ObjectView(before), rules, found);
      check_template_update(ObjectView(now), ObjectView(before), rules, once_more);
      ASSERT_EQ(first.size(), again.size()) << seed;
      ASSERT_LE(first.size(), 1U) << seed << ": E1 or E2";
      for (const auto& problem : first) ASSERT_TRUE(problem.message == "field is immutable") << seed << ": " << describe(problem);
      if (member(now["spec"], "template") == member(before["spec"], "template")) {
        ASSERT_TRUE(first.empty()) << seed;
      }
      ++(first.empty() ? passed : frozen);
    }

    auto cluster = cluster_with(updates_table()["jobs"]["plain"], state);
    const Json stored = cluster.find("Job", "default", "j")->object;
    Json patch = Json::object();
    patch["spec"] = now["spec"];
    Write write;
    write.type = manifests::kind_of("Job").type;
    write.namespace_ = "default";
    write.name = "j";
    write.body = patch.dump();
    int status = 0;
    Json body;
    cluster.submit(std::move(write), [&](const WriteAnswer& answer) {
      status = answer.http_status;
      body = Json::parse(answer.body);
    });
    ASSERT_TRUE(status == 200 || status == 400 || status == 422) << seed << ": " << status << " " << body;
    ++(status == 200 ? accepted : refused);
    if (status != 200) {
      ASSERT_EQ(body["kind"], "Status") << seed;
      ASSERT_NE(body["message"], "") << seed;
      ASSERT_EQ(cluster.find("Job", "default", "j")->object, stored) << seed;
    }
  }
  EXPECT_GT(frozen, 500U);
  EXPECT_GT(passed, 500U);
  EXPECT_GT(accepted, 50U);
  EXPECT_GT(refused, 500U);
}

}  // namespace
}  // namespace hindsight::connectors::simulated
