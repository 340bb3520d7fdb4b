// Counts, quantities and times at all limits.

#include <cstdint>
#include <limits>

#include "tests/hostile/hostile_objects.hpp"

namespace hindsight::hostile {
namespace {

constexpr std::int64_t int32_max = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();

struct Number {
  const char* name;
  std::int64_t value;
};
constexpr Number counts[] = {{"zero", 0},      {"one", 1},         {"largest", int32_max}, {"beyond", int32_max + 1},
                             {"negative", -1}, {"huge", int64_max}};

constexpr const char* quantities[] = {"0",
                                      "1n",
                                      "1e30",
                                      "9223372036854775807",
                                      "9223372036854775807Ei",
                                      "-1",
                                      "0.0000000000001",
                                      "1e-30",
                                      "1Ei",
                                      "+1",
                                      "1u",
                                      "00000000000000000001",
                                      "1e18",
                                      "100m"};

void resources(std::vector<HostileKind>& out) {
  for (const char* quantity : quantities)
    for (const char* resource : {"cpu", "memory", "example.com/gpu"})
      out.push_back({"request/" + std::string(resource) + "/" + quantity, Right::jobs, [quantity, resource](Making& m) {
                       Json j = job(m, m.name("asks"));
                       auto& of = j["spec"]["template"]["spec"]["containers"][0]["resources"];
                       of["requests"] = {{resource, quantity}};
                       if (std::string_view(resource) == "example.com/gpu") of["limits"] = of["requests"];
                       j["spec"]["parallelism"] = 1 + static_cast<int>(m.random.below(1'000'000));
                       return std::vector<Write>{create(std::move(j))};
                     }});
  out.push_back({"request/limits-below", Right::jobs, [](Making& m) {
                   Json j = job(m, m.name("less"));
                   j["spec"]["template"]["spec"]["containers"][0]["resources"] = {{"requests", {{"cpu", "2"}}}, {"limits", {{"cpu", "1"}}}};
                   return std::vector<Write>{create(std::move(j))};
                 }});
  out.push_back({"request/hundreds-of-resources", Right::jobs, [](Making& m) {
                   Json j = job(m, m.name("wide"));
                   Json all = Json::object();
                   for (int i = 0; i < 400; ++i) all["example.com/r" + std::to_string(i) + "-" + std::to_string(m.serial)] = "1";
                   j["spec"]["template"]["spec"]["containers"][0]["resources"] = {{"requests", all}, {"limits", all}};
                   return std::vector<Write>{create(std::move(j))};
                 }});
  out.push_back({"request/sum-beyond", Right::jobs, [](Making& m) {
                   Json j = job(m, m.name("sum"));
                   Json container = j["spec"]["template"]["spec"]["containers"][0];
                   container["resources"]["requests"] = {{"cpu", "9223372036854775"}, {"memory", "9223372036854775807"}};
                   Json all = Json::array();
                   for (int i = 0; i < 50; ++i) {
                     container["name"] = "c" + std::to_string(i);
                     all.push_back(container);
                   }
                   j["spec"]["template"]["spec"]["containers"] = std::move(all);
                   return std::vector<Write>{create(std::move(j))};
                 }});
}

}  // namespace

void add_numbers(std::vector<HostileKind>& out) {
  for (const char* field : {"parallelism", "completions", "backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished"})
    for (const auto& number : counts)
      out.push_back({"number/" + std::string(field) + "/" + number.name, Right::jobs, [field, value = number.value](Making& m) {
                       Json j = job(m, m.name("counts"));
                       j["spec"][field] = value;
                       return std::vector<Write>{create(std::move(j))};
                     }});
  for (const auto& number : counts) {
    out.push_back({"job-set/replicas/" + std::string(number.name), Right::jobs, [value = number.value](Making& m) {
                     Json j = job_set(m, m.name("set"));
                     j["spec"]["replicatedJobs"][0]["replicas"] = value;
                     j["spec"]["replicatedJobs"][0]["template"]["spec"]["parallelism"] = value;
                     j["spec"]["replicatedJobs"][0]["template"]["spec"]["completions"] = value;
                     return std::vector<Write>{create(std::move(j))};
                   }});
    out.push_back({"ray/replicas/" + std::string(number.name), Right::jobs, [value = number.value](Making& m) {
                     Json j = ray_cluster(m, m.name("ray"));
                     j["spec"]["workerGroupSpecs"][0]["replicas"] = value;
                     j["spec"]["workerGroupSpecs"][0]["numOfHosts"] = value;
                     return std::vector<Write>{create(std::move(j))};
                   }});
  }
  out.push_back({"number/indexed-with-strange-indexes", Right::statuses, [](Making& m) {
                   Json j = job(m, m.name("indexed"));
                   j["spec"]["completionMode"] = "Indexed";
                   j["spec"]["completions"] = 100'000;
                   j["spec"]["parallelism"] = 100'000;
                   const std::string name = j["metadata"]["name"];
                   std::string indexes;
                   for (int i = 0; i < 20'000; i += 2) indexes += std::to_string(i) + ",";
                   return std::vector<Write>{
                       create(std::move(j)),
                       patch("Job", name, {{"status", {{"completedIndexes", indexes + "7-3,-1,x,99999999999"}}}}, true)};
                 }});
  out.push_back({"number/min-above-max", Right::jobs, [](Making& m) {
                   Json j = job(m, m.name("partial"));
                   j["spec"]["parallelism"] = 3;
                   j["metadata"]["annotations"]["kueue.x-k8s.io/job-min-parallelism"] = "2147483647";
                   return std::vector<Write>{create(std::move(j))};
                 }});
  resources(out);
}

}  // namespace hindsight::hostile
