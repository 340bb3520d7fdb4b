// A node fails while its pods run (2724 §3.11).

#include "admission/topology/replacement.hpp"

#include <gtest/gtest.h>

#include "tests/admission/topology/fleet.hpp"

namespace hindsight::admission::topology::testing {
namespace {

class Replacement : public ::testing::Test {
 protected:
  /// What is assigned after `failed` was replaced: "x2:2"; else why not. `rest` of the assignment is charged.
  static std::string replace(Fleet f, const TopologyRequest& request, std::vector<AssignedLeaf> assigned, const std::string& failed) {
    const auto rules = rules_for(request, f.tree.levels(), false, {});
    if (!rules) return rules.error().message;
    const Gang one = Fleet::gang(1);
    for (const auto& a : assigned)
      if (const auto leaf = f.tree.find_leaf(a.path)) charge(f.free, one, Placement{{{*leaf, a.pods}}, {}});
    const std::vector<std::string> path{failed};
    const auto out = replace_leaf(f.tree, f.free, *rules, one.request, assigned, path);
    if (!out) {
      if (!out.error().stale.empty()) return "stale: " + out.error().stale.back();
      return text_of(out.error().misfit, "T", f.tree, out.error().rules,
                     out.error().outside == 0 ? std::map<std::string, std::int32_t>{}
                                              : std::map<std::string, std::int32_t>{{"topologyDomain", out.error().outside}});
    }
    std::string text;
    for (const auto& a : *out) text += (text.empty() ? "" : " ") + a.path.back() + ":" + std::to_string(a.pods);
    return text;
  }
};

// E19: TAS-100
TEST_F(Replacement, ARequiredRackKeepsItWhereItWas) {
  const std::vector<AssignedLeaf> on{{{"x1"}, 1}, {{"x2"}, 1}};
  EXPECT_EQ(replace(Fleet("b1/rack-a/x2:1 b1/rack-ab/x3:1"), required("rack"), on, "x1"),
            "topology \"T\" doesn't allow to fit any of 1 pod(s). Total nodes: 2; excluded: resource \"cpu\": 1, topologyDomain: 1");
  EXPECT_EQ(replace(Fleet("b1/rack-a/x2:2 b1/rack-ab/x3:1"), required("rack"), on, "x1"), "x2:2");
  EXPECT_EQ(replace(Fleet("b1/rack-a/x2:1 b1/rack-ab/x3:1"), preferred("rack"), on, "x1"), "x2:1 x3:1");
}

// E20: TAS-101
TEST_F(Replacement, ABrokenSliceStaysInItsDomainAndKeepsTheGroupsWithin) {
  const auto fleet = [](int x4, int x9) {
    return Fleet("b/r1/s1/x1:3 b/r1/s1/x2:2 b/r1/s2/x4:" + std::to_string(x4) + " b/r1/s2/x9:" + std::to_string(x9) +
                     " b/r2/s3/x5:2 b/r2/s3/x6:2 b/r2/s4/x7:2 b/r2/s4/x8:2",
                 {"block", "rack", "switch", host});
  };
  std::vector<AssignedLeaf> on;
  for (int i = 1; i <= 8; ++i) on.push_back({{"x" + std::to_string(i)}, 2});
  const auto request = sliced(sliced(sliced(required("block"), "rack", 8), "switch", 4), host, 2);
  EXPECT_EQ(replace(fleet(4, 0), request, on, "x3"), "x1:2 x2:2 x4:4 x5:2 x6:2 x7:2 x8:2");
  EXPECT_EQ(replace(fleet(3, 1), request, on, "x3").substr(0, 54), "topology \"T\" doesn't allow to fit any of 1 slice(s). T")
      << "1 + 1 is no group of 2";
}

// §3.11
TEST_F(Replacement, WhatTheTreeHasNoMoreIsTold) {
  EXPECT_EQ(replace(Fleet("b1/r/x2:4"), required("rack"), {{{"x1"}, 1}, {{"gone"}, 1}}, "x1"), "stale: gone");
}

// TAS-100
TEST_F(Replacement, WithoutAnythingLeftAnyPlaceWillDo) {
  EXPECT_EQ(replace(Fleet("b1/r1/x2:1 b2/r2/x3:4"), required("rack"), {{{"x1"}, 3}}, "x1"), "x3:3");
}

TEST_F(Replacement, LeavesAreFoundByTheirPaths) {
  const Fleet racks("b1/r1:4 b1/r2:4 b2/r1:4", {"block", "rack"});
  for (DomainIndex leaf = 0; leaf < racks.tree.leaves(); ++leaf)
    EXPECT_EQ(racks.tree.find_leaf(racks.tree.path(racks.tree.lowest(), leaf)), leaf);
  using Path = std::vector<std::string>;
  for (const Path& path : {Path{"b1"}, Path{"b1", "r3"}, Path{"b3", "r1"}, Path{"b1", "r1", "x"}, Path{}})
    EXPECT_EQ(racks.tree.find_leaf(path), std::nullopt);
  EXPECT_EQ(Fleet("").tree.find_leaf(Path{"x"}), std::nullopt);
}

}  // namespace
}  // namespace hindsight::admission::topology::testing
