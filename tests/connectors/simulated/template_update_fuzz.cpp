// libFuzzer: two Jobs as JSON, each on a line, the old one first, judged by every level of the API. Built with HINDSIGHT_FUZZ=ON.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "connectors/simulated/rules/template_update.hpp"
#include "tests/support/fuzz_seeds.hpp"

namespace {

using hindsight::connectors::simulated::Json;

constexpr const char* jobs[] = {
    R"({"spec":{"suspend":true,"template":{"spec":{"containers":[{"name":"a","image":"a","resources":{"requests":{"cpu":"1"}}}]}}}})",
    R"({"spec":{"suspend":true,"template":{"spec":{"containers":[{"name":"a","image":"a","resources":{"limits":{"cpu":"3"}}}]}}},)"
    R"("status":{"active":1}})",
    R"({"spec":{"suspend":true,"template":{"metadata":{"labels":{"x":"y"}},"spec":{"nodeSelector":{"a":"b"},"containers":[],)"
    R"("initContainers":[{"name":"i"}]}}},"status":{"startTime":"t","conditions":[{"type":"Suspended","status":"True"}]}})",
    R"({"spec":{"template":{"spec":{"affinity":{"nodeAffinity":{},"podAffinity":{}},"containers":null}}}})"};

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  return hindsight::test::write_seeds_if_asked(argc, argv, [] {
    std::vector<std::string> out;
    for (const char* before : jobs)
      for (const char* now : jobs) out.push_back(std::string(before) + "\n" + now);
    return out;
  });
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hindsight::connectors::simulated;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto line = text.find('\n');
  if (line == std::string_view::npos) return 0;
  const Json before = Json::parse(text.substr(0, line), nullptr, false), now = Json::parse(text.substr(line + 1), nullptr, false);
  if (before.is_discarded() || now.is_discarded()) return 0;
  for (const auto level : {JobApiLevel::v1_34, JobApiLevel::v1_35, JobApiLevel::v1_36_0, JobApiLevel::v1_36_2})
    for (const bool strict : {false, true}) {
      JobRules rules = JobRules::of(level);
      rules.strict = strict;
      std::vector<Problem> problems;
      Findings findings(problems);
      check_template_update(ObjectView(now), ObjectView(before), rules, findings);
      if (now == before && !problems.empty()) __builtin_trap();
    }
  return 0;
}
