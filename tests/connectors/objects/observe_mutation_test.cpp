// Whatever a watch brings, observing ends with an observation or an error that names the object; plans of what was observed hold too.

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>

#include "connectors/jobs/integrations.hpp"
#include "connectors/json/json_value.hpp"
#include "connectors/objects/plan.hpp"
#include "tests/connectors/objects/observing.hpp"
#include "tests/connectors/objects/samples.hpp"

namespace hindsight::connectors {
namespace {

using Engine = std::mt19937_64;

Json random_leaf(Engine& random) {
  switch (random() % 12) {
    case 0:
      return nullptr;
    case 1:
      return true;
    case 2:
      return -1;
    case 3:
      return std::int64_t{1} << (random() % 63);
    case 4:
      return 1.5;
    case 5:
      return "";
    case 6:
      return "9223372036854775808Ei";
    case 7:
      return Json::array();
    case 8:
      return Json::object();
    case 9:
      return Json::array({1, "x", nullptr, Json::object()});
    case 10:
      return std::string(random() % 300, 'a');
    default:
      return std::numeric_limits<std::uint64_t>::max();
  }
}

/// Changes one place somewhere below `value`.
void mutate(Json& value, Engine& random) {
  if (value.is_structured() && !value.empty() && random() % 8 != 0) {
    auto it = value.begin();
    std::advance(it, static_cast<std::ptrdiff_t>(random() % value.size()));
    const auto action = random() % 16;
    if (action == 0) {
      value.erase(it);
    } else if (action == 1 && value.is_array()) {
      value.push_back(Json(*it));
    } else if (action == 2 && value.is_object()) {
      const Json moved = *it;
      value[std::string("x/") + std::to_string(random() % 3)] = moved;
    } else {
      mutate(*it, random);
    }
    return;
  }
  value = random_leaf(random);
}

/// Follows every view, so that a sanitizer sees one that dangles.
std::size_t touch(const Observation& observation) {
  std::size_t n = 0;
  if (const auto* w = std::get_if<WorkloadObserved>(&observation)) {
    for (const auto& p : w->pod_sets)
      n += p.name.size() + joined(p.requests).size() + joined(p.node_selector).size() + p.limits_error.size();
    for (const auto& c : w->conditions) n += std::string(c.message).size();
    for (const auto& c : w->checks) n += std::string(c.pod_set_updates).size();
    for (const auto& g : w->preemption_gates) n += std::string(g.name).size();
    for (const auto& o : w->options) n += std::string(o.name).size() + joined(o.flavors).size() + std::string(o.message).size();
    n += joined(w->allowed_flavors).size();
  } else if (const auto* j = std::get_if<JobObserved>(&observation)) {
    for (const auto& p : j->pod_sets) n += p.name.size() + joined(p.requests).size();
    n += joined(j->reclaimable).size() + std::string(j->workload_name).size();
  } else if (const auto* q = std::get_if<ClusterQueueObserved>(&observation)) {
    for (const auto& o : q->concurrent.options) n += std::string(o.name).size() + joined(o.allowed_flavors).size();
    n += std::string(q->concurrent.target_flavor).size();
  }
  return n;
}

/// Plans with the object as it is, for what an intent of its kind may meet.
void plan_with(const ResourceType& type, const Json& object) {
  if (const auto* integration = find_integration(type.kind, type.group)) {
    admission::JobIntent intent;
    intent.kind = integration->kind();
    intent.group = integration->group();
    intent.pod_sets = {{"main", 1, {{"a", "b"}}, {}, {}}};
    for (const bool run : {true, false}) {
      intent.run = run;
      (void)plan_job(intent, object, Json{{"spec", {{"podSets", integration->pod_sets(object)}}}});
    }
    admission::WorkloadCreateIntent create;
    create.job_kind = intent.kind;
    create.job_group = intent.group;
    (void)plan_create(create, object);
  } else if (type.kind == "Workload") {
    admission::WorkloadIntent intent;
    intent.checks = {{"p", CheckState::pending, Time{}, "", {}, {}, ""}};
    intent.has_admission = true;
    intent.has_requeue_state = true;
    intent.release_finalizer = true;
    (void)plan_workload(intent, object);
    (void)plan_revise({}, object, object);
  } else if (type.kind == "ClusterQueue") {
    (void)plan_queue_status({}, object);
  }
}

/// How many rounds a sample gets; HINDSIGHT_MUTATIONS asks for more than the few that every test run makes.
int rounds() {
  const char* wanted = std::getenv("HINDSIGHT_MUTATIONS");
  return wanted == nullptr ? 600 : static_cast<int>(std::strtol(wanted, nullptr, 10));
}

TEST(ObserveMutation, NeverFailsOtherwiseThanWithAnError) {
  std::size_t read = 0;
  std::size_t refused = 0;
  for (const auto& [type, text] : samples) {
    const auto sample = Json::parse(text);
    ASSERT_EQ(refusal(*type, text), "") << type->kind;
    for (int round = 0; round < rounds(); ++round) {
      Engine random(static_cast<std::uint64_t>(round) * 1000 + type->kind.size());
      Json object = sample;
      for (auto n = 1 + random() % 3; n > 0; --n) mutate(object, random);
      Arena arena;
      const auto result = observe_text(*type, object.dump(), arena);
      if (result) {
        ++read;
        (void)touch(*result);
      } else {
        ++refused;
        ASSERT_EQ(result.error().message.rfind(type->kind, 0), 0U) << result.error().message;
        ASSERT_NE(result.error().message.find(", allowed: "), std::string::npos) << result.error().message;
      }
      if (object.is_object()) plan_with(*type, object);
    }
  }
  // Both must happen, or the mutations are too weak or too strong to show anything.
  EXPECT_GT(read, refused / 10);
  EXPECT_GT(refused, read / 10);
}

TEST(ObserveMutation, SurvivesBrokenText) {
  for (const auto& [type, text] : samples) {
    for (int round = 0; round < rounds() / 3; ++round) {
      Engine random(static_cast<std::uint64_t>(round));
      std::string broken(text);
      for (auto n = 1 + random() % 4; n > 0; --n) {
        const auto at = static_cast<std::size_t>(random() % broken.size());
        if (random() % 2 == 0) {
          broken[at] = static_cast<char>(random() % 256);
        } else {
          broken.erase(at, 1 + random() % 20);
        }
        if (broken.empty()) break;
      }
      Arena arena;
      const auto result = observe_text(*type, broken, arena);
      if (result) (void)touch(*result);
    }
  }
}

}  // namespace
}  // namespace hindsight::connectors
