// Every recorded scenario of the families whose rules are in: after each step the state is the one that the real Kueue produced, in every
// field. A scenario names what it is about; together they hold BA-29, BA-32, BA-33, BA-36, BA-41, BA-46, BA-50, BA-51, BA-52, BA-55, BA-58,
// BA-63, BA-68, BA-79, BA-80, BA-86, BA-91, BA-95, BA-97, BA-104, BA-107, BA-109, BA-116, BA-118, BA-120, BA-128, BA-129, BA-131, BA-133,
// BA-134, BA-135, BA-136, BA-142, BA-143, BA-144, BA-150, BA-153, BA-203, BA-204, BA-205, BA-206, BA-207, BA-208.

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

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
    for (const char* family : {"quota-", "fair-", "life-", "elastic-"})
      if (name.starts_with(family)) out.push_back(name);
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// Cases in which the specification departs from what was recorded, each with the step from which on; docs/deviations.md says why.
const std::map<std::string, std::size_t>& deviations() {
  static const std::map<std::string, std::size_t> steps{{"elastic-038", 5}};
  return steps;
}

class Conformance : public ::testing::TestWithParam<std::string> {};

TEST_P(Conformance, StatesAreThoseOfKueue) {
  const fs::path root(HINDSIGHT_CONFORMANCE);
  auto input = connectors::manifests::read_input({(root / "cases" / (GetParam() + ".yaml")).string()});
  ASSERT_TRUE(input) << input.error().message;
  ASSERT_EQ(input->scenarios.size(), 1U);
  std::ifstream file(root / "expected" / (GetParam() + ".json"));
  const Json expected = Json::parse(file);

  ScenarioOptions options;
  options.states = true;
  auto result = run_scenario(std::move(input->scenarios.front()), options);
  ASSERT_TRUE(result) << result.error().message;
  const Json& found = result->states["states"];
  ASSERT_EQ(found.size(), expected["states"].size());
  if (const auto deviation = deviations().find(GetParam()); deviation != deviations().end()) {
    for (std::size_t i = 0; i < deviation->second; ++i) ASSERT_EQ(found[i], expected["states"][i]) << GetParam() << " step " << i;
    EXPECT_NE(found[deviation->second], expected["states"][deviation->second]) << GetParam() << " agrees: it is no deviation any more";
    return;
  }
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_EQ(found[i], expected["states"][i]) << GetParam() << " step " << i << "\n"
                                               << Json::diff(expected["states"][i], found[i]).dump(1);
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Recorded, Conformance, ::testing::ValuesIn(cases()), test_name);

}  // namespace
}  // namespace hindsight::simulation
