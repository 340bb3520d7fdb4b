#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "connectors/cluster.hpp"
#include "connectors/json/json_value.hpp"

namespace hindsight::connectors {

/// What an API server does with a merge patch, as far as plans can tell: preconditions, subresources, generation. Fails the test when a
/// precondition does not hold.
inline void store(Json& object, const Write& write) {
  ASSERT_EQ(write.verb, Write::Verb::merge_patch);
  EXPECT_EQ(write.namespace_, text_member(object["metadata"], "namespace"));
  EXPECT_EQ(write.name, text_member(object["metadata"], "name"));
  Json patch = Json::parse(write.body);
  if (patch.contains("metadata")) {
    for (const auto* key : {"uid", "resourceVersion"}) {
      if (!patch["metadata"].contains(key)) continue;
      ASSERT_EQ(patch["metadata"][key], object["metadata"][key]) << "a conflict";
    }
  }
  const Json before = object;
  if (write.subresource == "status") {
    ASSERT_TRUE(patch.contains("status")) << write.body;
    object["status"].merge_patch(patch["status"]);
  } else {
    ASSERT_FALSE(patch.contains("status")) << write.body;
    object.merge_patch(patch);
  }
  EXPECT_NE(before, object) << "a write that changes nothing: " << write.body;
  auto& metadata = object["metadata"];
  metadata["resourceVersion"] = std::to_string(std::stoll(metadata.value("resourceVersion", "0")) + 1);
  if (before.value("spec", Json()) != object.value("spec", Json())) metadata["generation"] = metadata.value("generation", 1) + 1;
}

/// Applies the first of the planned writes and plans again, as the applier does, until there is none. Returns how many writes it took.
template <class Plan>
int settle(Json& object, Plan plan) {
  for (int writes = 0; writes < 10; ++writes) {
    const std::vector<Write> missing = plan(object);
    if (missing.empty()) return writes;
    store(object, missing.front());
    if (::testing::Test::HasFatalFailure()) return -1;
  }
  ADD_FAILURE() << "does not come to rest: " << object.dump(2);
  return -1;
}

}  // namespace hindsight::connectors
