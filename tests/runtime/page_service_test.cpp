// Where the page may listen, and what it asks the API server of people.

#include "runtime/page_service.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace hindsight::runtime {
namespace {

using Json = nlohmann::json;
using connectors::kubernetes::HttpAnswer;

TEST(PageService, WhereOthersGetThereSomebodySaysWhoTheyAre) {
  const auto at = [](const std::string& address, bool has_cluster) {
    PageServiceOptions options;
    options.asked.address = address;
    options.address_option = "--ui";
    return page_address(options, has_cluster);
  };
  for (const char* good : {"127.0.0.1:0", "localhost:8181", "[::1]:8181", "127.3.2.1:1"}) EXPECT_TRUE(at(good, false)) << good;
  for (const char* bad : {"0.0.0.0:8443", ":8443", "192.0.2.1:8443", "127.example.org:8443", "127.0.0.1.example.org:1", "[::]:1"}) {
    const auto refused = at(bad, false);
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.error().kind, ErrorKind::invalid);
    EXPECT_TRUE(refused.error().message.starts_with("--ui: found " + std::string(bad))) << refused.error().message;
    EXPECT_TRUE(at(bad, true)) << bad;
  }
  EXPECT_FALSE(at("nowhere", true));
}

TEST(PageService, AsksWhoItIsAndForEachNamespace) {
  std::vector<std::pair<std::string, Json>> asked;
  bool silent = false;
  const auto reviews = page_reviews([&](const std::string& path, const std::string& body) -> HttpAnswer {
    asked.emplace_back(path, Json::parse(body));
    if (silent) return {};
    if (path == "/apis/authentication.k8s.io/v1/tokenreviews") {
      const bool known = asked.back().second["spec"]["token"] == "good";
      return {
          .status = 201,
          .body = Json{{"status", {{"authenticated", known}, {"user", {{"username", "ann"}, {"uid", "7"}, {"groups", {"g"}}}}}}}.dump()};
    }
    EXPECT_EQ(path, "/apis/authorization.k8s.io/v1/subjectaccessreviews");
    const Json& attributes = asked.back().second["spec"]["resourceAttributes"];
    return {.status = 201, .body = Json{{"status", {{"allowed", attributes.value("namespace", "") == "team-a"}}}}.dump()};
  });
  const auto nobody = reviews.who("bad");
  ASSERT_TRUE(nobody);
  EXPECT_FALSE(*nobody);
  const auto ann = reviews.who("good");
  ASSERT_TRUE(ann && *ann);
  EXPECT_EQ(reviews.may_get_workloads(**ann, "team-a"), true);
  const Json& spec = asked.back().second["spec"];
  EXPECT_EQ(spec["user"], "ann");
  EXPECT_EQ(spec["uid"], "7");
  EXPECT_EQ(spec["groups"], Json{"g"});
  EXPECT_EQ(spec["resourceAttributes"],
            (Json{{"group", "kueue.x-k8s.io"}, {"resource", "workloads"}, {"verb", "get"}, {"namespace", "team-a"}}));
  EXPECT_EQ(reviews.may_get_workloads(**ann, ""), false);
  EXPECT_FALSE(asked.back().second["spec"]["resourceAttributes"].contains("namespace")) << "that is all namespaces";
  silent = true;
  EXPECT_EQ(reviews.who("good").error().kind, ErrorKind::unavailable);
  EXPECT_EQ(reviews.may_get_workloads(**ann, "team-a").error().kind, ErrorKind::unavailable);
}

}  // namespace
}  // namespace hindsight::runtime
