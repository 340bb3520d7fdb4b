// CronJobs: nobody is asked about them, so the template of their Jobs is free (5440 MR-24).

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "connectors/manifests/yaml_reader.hpp"
#include "connectors/webhooks/reviews.hpp"
#include "tests/connectors/webhooks/asking.hpp"

namespace hindsight::connectors::webhooks {
namespace {

using manifests::Json;

// MR-24: no webhook is asked about a CronJob, whatever of its jobTemplate changes
TEST(CronJobs, AreNotReviewed) {
  for (const auto& one : reviewed_kinds()) EXPECT_NE(one.kind->type->kind, "CronJob");
  std::ostringstream text;
  text << std::ifstream("deploy/webhooks.yaml").rdbuf();
  const auto documents = manifests::read_yaml(text.str());
  ASSERT_TRUE(documents) << documents.error().message;
  std::size_t rules = 0, about_jobs = 0;
  for (const auto& document : *documents) {
    const auto webhooks = document.value.find("webhooks");
    if (webhooks == document.value.end()) continue;
    for (const auto& webhook : *webhooks)
      for (const auto& rule : webhook.at("rules"))
        for (const auto& resource : rule.at("resources")) {
          ++rules;
          about_jobs += resource == "jobs" ? 1 : 0;
          EXPECT_EQ(resource.get<std::string>().find('*'), std::string::npos) << webhook.at("name");
          EXPECT_NE(resource, "cronjobs") << webhook.at("name");
        }
  }
  EXPECT_GT(rules, 10U);
  EXPECT_EQ(about_jobs, 2U) << "Jobs that a CronJob made are judged as any: once each by the webhook that defaults and the one that judges";
}

// MR-24: a Job that a CronJob made is judged like any other
TEST(CronJobs, TheirJobsAreJudgedAsAny) {
  Json job = test::job("{}");
  job["metadata"]["ownerReferences"] = {
      {{"apiVersion", "batch/v1"}, {"kind", "CronJob"}, {"name", "c"}, {"uid", "u-c"}, {"controller", true}}};
  job["metadata"]["annotations"]["kueue.x-k8s.io/admission-gated-by"] = "nonsense";
  Json plain = job;
  plain["metadata"].erase("ownerReferences");
  const auto refused = test::refusal({}, "CREATE", job);
  EXPECT_NE(refused, "");
  EXPECT_EQ(refused, test::refusal({}, "CREATE", plain));
}

}  // namespace
}  // namespace hindsight::connectors::webhooks
