#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "connectors/manifests/yaml_reader.hpp"
#include "connectors/simulated/job_simulator.hpp"
#include "connectors/simulated/state_views.hpp"
#include "tests/connectors/simulated/builders.hpp"

namespace hindsight::connectors::simulated {
namespace {

/// The requests of the recorded table, as writes with JSON bodies.
std::vector<std::pair<Write, Json>> corpus() {
  std::ostringstream text;
  text << std::ifstream("tests/connectors/simulated/api_requests.yaml").rdbuf();
  const auto documents = manifests::read_yaml(text.str());
  std::vector<std::pair<Write, Json>> out;
  if (!documents) {
    ADD_FAILURE() << documents.error().message;
    return out;
  }
  for (const auto& one : documents->at(0).value["cases"]) {
    for (const auto& request : one["requests"]) {
      const auto& [verb, what] = *request.get_ref<const Json::object_t&>().begin();
      Write write;
      write.type = manifests::kind_of(what["kind"].get<std::string>()).type;
      if (write.type->namespaced) write.namespace_ = "default";
      if (verb == "create") {
        write.verb = Write::Verb::create;
        out.emplace_back(write, what);
      } else if (verb == "patch") {
        write.name = what["name"];
        if (what.value("status", false)) write.subresource = "status";
        out.emplace_back(write, what["merge"]);
      } else {
        write.verb = Write::Verb::delete_;
        write.name = what["name"];
        out.emplace_back(write, what.value("options", Json::object()));
      }
    }
  }
  return out;
}

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

  /// Changes one value somewhere inside.
  void mutate(Json& tree, const Json& donor) {
    Json* at = &tree;
    while (at->is_structured() && !at->empty() && below(5) != 0) {
      auto it = at->begin();
      std::advance(it, static_cast<std::ptrdiff_t>(below(at->size())));
      at = &*it;
    }
    switch (below(5)) {
      case 0:
        *at = random_value();
        break;
      case 1:
        if (at->is_structured() && !at->empty())
          at->erase(at->begin());
        else
          *at = nullptr;
        break;
      case 2:
        if (at->is_object())
          (*at)[random_text()] = random_value();
        else if (at->is_array())
          at->push_back(at->empty() ? random_value() : (*at)[0]);
        else
          *at = random_text();
        break;
      case 3:
        *at = donor;
        break;
      default:
        *at = Json::array({*at, *at});
        break;
    }
  }

 private:
  Json random_value() {
    switch (below(9)) {
      case 0:
        return nullptr;
      case 1:
        return below(2) == 0;
      case 2:
        return static_cast<std::int64_t>(random_());
      case 3:
        return static_cast<int>(below(5)) - 1;
      case 4:
        return 0.5;
      case 5:
        return Json::array();
      case 6:
        return Json::object();
      case 7:
        return std::string(300, 'x');
      default:
        return random_text();
    }
  }
  std::string random_text() {
    static const std::vector<std::string> texts{"",
                                                "a",
                                                "kubernetes.io/hostname",
                                                "True",
                                                "QuotaReserved",
                                                "1e9",
                                                "-5",
                                                "9223372036854775808",
                                                "main",
                                                "pods",
                                                "finalizers",
                                                "status",
                                                "spec",
                                                "Exists",
                                                "In",
                                                "Job",
                                                "2026-01-01T00:00:00Z",
                                                "\u00e4"};
    return texts[below(texts.size())];
  }

  std::mt19937_64 random_;
};

// Whatever a client sends is answered as an API server answers: done, or refused with a status that says why.
TEST(MutatedWrites, are_answered_and_leave_a_cluster_that_can_be_read) {
  const auto requests = corpus();
  ASSERT_GT(requests.size(), 300U);
  std::size_t accepted = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    Mutator mutator(seed);
    ClusterOptions options;
    options.webhooks = seed % 2 == 0;
    SimulatedCluster cluster = test::fresh(options);
    JobSimulator jobs(cluster);
    for (int i = 0; i < 600; ++i) {
      const auto& [model, body] = requests[mutator.below(requests.size())];
      Json mutated = body;
      const std::size_t changes = mutator.below(3);
      for (std::size_t j = 0; j < changes; ++j) mutator.mutate(mutated, requests[mutator.below(requests.size())].second);
      Write write = model;
      write.body = mutated.dump();
      cluster.submit(std::move(write), [&](const WriteAnswer& answer) {
        static const std::set<int> known{200, 201, 400, 403, 404, 409, 422, 500};
        ASSERT_TRUE(known.contains(answer.http_status)) << answer.http_status;
        const Json parsed = Json::parse(answer.body);
        if (answer.http_status < 300) {
          ++accepted;
        } else {
          ++refused;
          ASSERT_EQ(parsed["kind"], "Status");
          ASSERT_EQ(parsed["code"], answer.http_status);
          ASSERT_NE(parsed["message"], "");
        }
      });
      cluster.set_time(cluster.now() + Duration::millis(100));
      jobs.run_due();
    }
    ASSERT_TRUE(state_of(cluster).is_object());
  }
  EXPECT_GT(accepted, 2000U);
  EXPECT_GT(refused, 2000U);
}

}  // namespace
}  // namespace hindsight::connectors::simulated
