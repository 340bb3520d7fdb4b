// The form of topology assignments in v1beta2 (2724 §2.4).

#include "connectors/objects/topology_encoding.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "connectors/objects/observe.hpp"
#include "connectors/objects/resource_types.hpp"

namespace hindsight::connectors {
namespace {

using admission::TopologyAssignment;
constexpr const char* host = "kubernetes.io/hostname";

TopologyAssignment of(const std::vector<std::string>& levels,
                      const std::vector<std::pair<std::vector<std::string>, std::int32_t>>& domains) {
  TopologyAssignment out;
  for (const auto& l : levels) out.levels.emplace_back(l);
  for (const auto& [values, n] : domains) {
    for (const auto& v : values) out.values.emplace_back(v);
    out.counts.push_back(n);
  }
  return out;
}

// E26
TEST(TopologyEncoding, WhatNamesHaveInCommonStandsOnce) {
  EXPECT_EQ(encode_topology(of({"block", "rack"}, {{{"block-1", "rack-1"}, 4}, {{"block-1", "rack-2"}, 2}})), Json::parse(R"({
    "levels":["block","rack"],
    "slices":[{"domainCount":2,"valuesPerLevel":[{"universal":"block-1"},{"individual":{"prefix":"rack-","roots":["1","2"]}}],
               "podCounts":{"individual":[4,2]}}]})"));
  EXPECT_EQ(encode_topology(of({"a", "b"}, {{{"x", "ababa"}, 3}, {{"x", "aba"}, 3}})), Json::parse(R"({
    "levels":["a","b"],
    "slices":[{"domainCount":2,"valuesPerLevel":[{"universal":"x"},{"individual":{"suffix":"aba","roots":["ab",""]}}],
               "podCounts":{"universal":3}}]})"));
  EXPECT_EQ(encode_topology({}), Json::parse(R"({"levels":[],"slices":[]})"));
}

// E26: hosts by prefix, where that is shorter.
TEST(TopologyEncoding, HostsAreGroupedByPrefixWhereThatIsShorter) {
  const auto few =
      of({host},
         {{{"gke-c-pool-a-hash1-aa"}, 3}, {{"gke-c-pool-a-hash1-bb"}, 3}, {{"gke-c-pool-b-hash2-cc"}, 4}, {{"gke-c-pool-b-hash2-dd"}, 5}});
  EXPECT_EQ(encode_topology(few)["slices"].size(), 1U) << "two slices take more text than they save";
  TopologyAssignment many = of({host}, {});
  for (const char* pool : {"gke-cluster-with-a-long-name-pool-a-", "gke-cluster-with-a-long-name-pool-b-"})
    for (int i = 0; i < 40; ++i) {
      many.values.emplace_back(pool + std::to_string(i));
      many.counts.push_back(1);
    }
  const auto encoded = encode_topology(many);
  ASSERT_EQ(encoded["slices"].size(), 2U);
  EXPECT_EQ(encoded["slices"][0]["valuesPerLevel"][0]["individual"]["prefix"], "gke-cluster-with-a-long-name-pool-a-");
  EXPECT_EQ(decode_topology(encoded), many);
}

/// What a Workload with this assignment is read as.
Result<TopologyAssignment> read(const Json& assignment) {
  Json w = Json::parse(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"w","namespace":"n","uid":"u"},
    "spec":{"podSets":[{"name":"main","count":1,"template":{"spec":{"containers":[]}}}]},
    "status":{"admission":{"clusterQueue":"q","podSetAssignments":[{"name":"main","count":1}]}}})");
  w["status"]["admission"]["podSetAssignments"][0]["topologyAssignment"] = assignment;
  Arena arena;
  const auto seen = observe_text(types::workload, w.dump(), arena);
  if (!seen) return tl::unexpected(seen.error());
  const auto& facts = std::get<WorkloadObserved>(*seen).assignments[0];
  TopologyAssignment out;
  for (const Text l : facts.topology_levels) out.levels.emplace_back(l);
  for (const auto& d : facts.topology) {
    for (const Text v : d.values) out.values.emplace_back(v);
    out.counts.push_back(d.count);
  }
  return out;
}

// TAS-48, TAS-68: whatever is written is read as it was, by both readers.
TEST(TopologyEncoding, ReadsWhatItWrites) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const bool hosts = random() % 2 == 0;
    TopologyAssignment a = of(hosts ? std::vector<std::string>{host} : std::vector<std::string>{"b", "r"}, {});
    const auto n = 1 + random() % 30;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t l = 0; l < a.levels.size(); ++l) {
        std::string v = l == 0 && random() % 2 == 0 ? "pool-" : "";
        for (std::size_t k = 1 + random() % 6; k > 0; --k) v += "ab-1"[random() % 4];
        a.values.emplace_back(v);
      }
      a.counts.push_back(static_cast<std::int32_t>(1 + random() % 3));
    }
    const Json encoded = encode_topology(a);
    ASSERT_EQ(decode_topology(encoded), a) << encoded.dump();
    const auto seen = read(encoded);
    ASSERT_TRUE(seen) << seen.error().message;
    ASSERT_EQ(*seen, a) << encoded.dump();
  }
}

// An assignment is written by whoever may write a status: what does not hold together is refused and told.
TEST(TopologyEncoding, RefusesWhatDoesNotHoldTogether) {
  const Json good = encode_topology(of({host}, {{{"a-1"}, 1}, {{"b-2"}, 2}}));
  ASSERT_TRUE(read(good));
  const auto refused = [&](const char* pointer, const Json& value, const char* words) {
    Json bad = good;
    bad[Json::json_pointer(pointer)] = value;
    const auto seen = read(bad);
    ASSERT_FALSE(seen) << pointer;
    EXPECT_NE(seen.error().message.find(words), std::string::npos) << seen.error().message;
    EXPECT_TRUE(decode_topology(bad).empty()) << pointer;
  };
  refused("/slices/0/domainCount", 3, "roots for 3 domains");
  refused("/slices/0/domainCount", 100'001, "at most 100000");
  refused("/slices/0/valuesPerLevel/0/individual/roots", Json::array({"x"}), "roots for 2 domains");
  refused("/slices/0/podCounts", Json{{"individual", {1}}}, "podCounts");
  refused("/slices/0/podCounts", Json{{"individual", {1, "2"}}}, "podCounts");
  refused("/slices/0/valuesPerLevel", Json::array(), "one entry for each level");
}

// The worst that one status can ask for: as many domains as are allowed, each with texts as long as are allowed.
TEST(TopologyEncoding, WhatIsWrittenOutIsBounded) {
  Json levels = Json::array(), values = Json::array();
  for (int i = 0; i < 16; ++i) {
    levels.push_back("l" + std::to_string(i));
    values.push_back({{"universal", std::string(1024, 'x')}});
  }
  const auto seen =
      read({{"levels", levels},
            {"slices", Json::array({{{"domainCount", 100'000}, {"valuesPerLevel", values}, {"podCounts", {{"universal", 1}}}}})}});
  ASSERT_FALSE(seen);
  EXPECT_NE(seen.error().message.find("bytes"), std::string::npos) << seen.error().message;
}

}  // namespace
}  // namespace hindsight::connectors
