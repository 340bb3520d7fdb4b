// Every recorded scenario of the families whose rules are in: after each step the state is the one that the real Kueue produced, in every
// field. A scenario names what it is about; together they hold BA-29, BA-32, BA-33, BA-36, BA-41, BA-46, BA-50, BA-51, BA-52, BA-55, BA-58,
// BA-63, BA-68, BA-79, BA-80, BA-86, BA-91, BA-95, BA-97, BA-104, BA-107, BA-109, BA-116, BA-118, BA-120, BA-128, BA-129, BA-131, BA-133,
// BA-134, BA-135, BA-136, BA-142, BA-143, BA-144, BA-150, BA-153, BA-203, BA-204, BA-205, BA-206, BA-207, BA-208; of topologies TAS-16,
// TAS-59, TAS-60, TAS-61, TAS-62, TAS-63, TAS-69, TAS-70, TAS-110, TAS-114, TAS-128.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "admission/state/state_walk.hpp"
#include "connectors/manifests/manifest_reader.hpp"
#include "simulation/run_scenario.hpp"

namespace hindsight::simulation {
namespace {

namespace fs = std::filesystem;
using connectors::Json;

std::vector<std::string> cases() {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(fs::path(HINDSIGHT_CONFORMANCE) / "cases")) {
    const std::string name = entry.path().stem().string();
    for (const char* family : {"quota-", "fair-", "life-", "elastic-", "tas-"})
      if (name.starts_with(family)) out.push_back(name);
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// What is otherwise in the state after a step than what was recorded.
struct Deviation {
  std::size_t step = 0;
  const char* where;  ///< A JSON pointer.
  const char* here;
};

/// Where the specification departs from what was recorded; docs/deviations.md says why. All else of these cases agrees.
const std::multimap<std::string, Deviation>& deviations() {
  static const std::multimap<std::string, Deviation> all{
      {"elastic-005", {11, "/workloads/Job~1default~1j4/conditions/Admitted", R"(["False","NoReservation"])"}},
      {"elastic-005", {11, "/workloads/Job~1default~1j4/conditions/QuotaReserved", R"(["False","ExceedsMaxQuota"])"}},
      {"elastic-005", {12, "/workloads/Job~1default~1j4/conditions/Admitted", R"(["False","NoReservation"])"}},
      {"elastic-005", {12, "/workloads/Job~1default~1j4/conditions/QuotaReserved", R"(["False","ExceedsMaxQuota"])"}},
      {"elastic-038", {5, "/workloads/Job~1default~1j0#1/conditions/QuotaReserved", R"(["False","ExceedsMaxQuota"])"}},
      {"tas-044", {10, "/workloads/Job~1default~1j6/conditions/QuotaReserved", R"(["False","TopologyPlacementFailed"])"}}};
  return all;
}

/// From which step on what was recorded cannot be: Kueue puts three pods on a host that has room for two (TAS-31).
const std::map<std::string, std::size_t>& impossible_since() {
  static const std::map<std::string, std::size_t> all{{"tas-052", 6}};
  return all;
}

class Conformance : public ::testing::TestWithParam<std::string> {};

TEST_P(Conformance, StatesAreThoseOfKueue) {
  const fs::path root(HINDSIGHT_CONFORMANCE);
  auto input = connectors::manifests::read_input({(root / "cases" / (GetParam() + ".yaml")).string()});
  ASSERT_TRUE(input) << input.error().message;
  ASSERT_EQ(input->scenarios.size(), 1U);
  std::ifstream file(root / "expected" / (GetParam() + ".json"));
  Json expected = Json::parse(file);
  for (auto [it, end] = deviations().equal_range(GetParam()); it != end; ++it) {
    Json& recorded = expected["states"].at(it->second.step)[Json::json_pointer(it->second.where)];  // null where nothing was recorded
    const Json here = Json::parse(it->second.here);
    EXPECT_NE(recorded, here) << GetParam() << " agrees in step " << it->second.step << ": it is no deviation any more";
    recorded = here;
  }

  ScenarioOptions options;
  options.states = true;
  options.on_record = [&](const RecordView& r, const Engine&) {
    const auto* d = std::get_if<Decisions>(&r.body);
    if (d == nullptr) return;
    for (const Event& e : d->events) {
      const auto* q = std::get_if<EntryRequeued>(&e);
      EXPECT_TRUE(q == nullptr || q->claimant.uid.empty())
          << GetParam() << " meets D14: it is to agree with claimDuration 0s, and to be listed";
    }
  };
  auto result = run_scenario(std::move(input->scenarios.front()), options);
  ASSERT_TRUE(result) << result.error().message;
  const Json& found = result->states["states"];
  ASSERT_EQ(found.size(), expected["states"].size());
  std::size_t end = found.size();
  if (const auto it = impossible_since().find(GetParam()); it != impossible_since().end()) {
    end = it->second;
    EXPECT_NE(found[end], expected["states"][end]) << GetParam() << " agrees in step " << end;
  }
  for (std::size_t i = 0; i < end; ++i)
    ASSERT_EQ(found[i], expected["states"][i]) << GetParam() << " step " << i << "\n"
                                               << Json::diff(expected["states"][i], found[i]).dump(1);
}

/// The same cases, field by field and with all that decisions read: what is rebuilt inside may change how state is kept, not what it is.
/// HINDSIGHT_WRITE_STATES=1 records anew, after a change of a rule.
TEST(StatesOfCases, AreThoseThatWereRecorded) {
  constexpr const char* file = "tests/simulation/states.txt";
  std::ostringstream found;
  for (const auto& name : cases()) {
    auto input = connectors::manifests::read_input({(fs::path(HINDSIGHT_CONFORMANCE) / "cases" / (name + ".yaml")).string()});
    ASSERT_TRUE(input) << input.error().message;
    StateHash texts;
    ScenarioOptions options;
    options.on_record = [&](const RecordView&, const Engine& engine) {
      if (engine.driver().domain().sequence() % 10 == 0)
        texts.add(std::string_view(state_text(engine.driver().entities(), admission::StateDepth::outcomes)));
    };
    const auto result = run_scenario(std::move(input->scenarios.front()), options);
    ASSERT_TRUE(result) << result.error().message;
    found << name << ' ' << std::hex << texts.value() << std::dec << '\n';
  }
  if (std::getenv("HINDSIGHT_WRITE_STATES") != nullptr) std::ofstream(file) << found.str();
  std::ostringstream recorded;
  recorded << std::ifstream(file).rdbuf();
  EXPECT_EQ(recorded.str(), found.str());
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Recorded, Conformance, ::testing::ValuesIn(cases()), test_name);

}  // namespace
}  // namespace hindsight::simulation
