#include "connectors/objects/resource_types.hpp"

#include <gtest/gtest.h>

#include <set>

#include "connectors/jobs/integrations.hpp"

namespace hindsight::connectors {
namespace {

TEST(ResourceTypes, AreFoundByKindAndGroup) {
  std::set<std::string> paths;
  for (const auto* type : all_resource_types) {
    EXPECT_EQ(find_resource_type(type->kind, type->group), type);
    EXPECT_TRUE(paths.insert(api_version(*type) + "/" + std::string(type->plural)).second) << type->kind;
  }
  EXPECT_EQ(find_resource_type("Job", "example.com"), nullptr);
  EXPECT_EQ(api_version(types::node), "v1");
  EXPECT_EQ(api_version(types::workload), "kueue.x-k8s.io/v1beta2");
}

// BA-169
TEST(ResourceTypes, HoldEveryIntegration) {
  for (const auto* integration : all_integrations()) {
    const auto* type = find_resource_type(integration->kind(), integration->group());
    ASSERT_NE(type, nullptr) << integration->framework();
    EXPECT_EQ(object_kind(*type), ObjectKind::job);
    EXPECT_TRUE(type->namespaced);
  }
  EXPECT_EQ(object_kind(types::cluster_queue), ObjectKind::cluster_queue);
  EXPECT_EQ(object_kind(types::limit_range), ObjectKind::unspecified);
}

}  // namespace
}  // namespace hindsight::connectors
