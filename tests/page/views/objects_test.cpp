// The lists of objects that configure admission (issue 20: users of Kueue's dashboard find all that its pages show), against what the
// catalog says; and that somebody of one namespace is told no LocalQueue of another.

#include "page/views/objects.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "admission/domain/domain.hpp"
#include "tests/page/views/asking.hpp"
#include "tests/projections/simulated.hpp"

namespace hindsight::page::testing {
namespace {

using projections::Played;

class ObjectsTest : public ::testing::Test {
 protected:
  Result<Json> ask(const Audience& audience, const std::string& route, const std::map<std::string, std::string>& path,
                   const std::multimap<std::string, std::string>& query = {}) {
    for (const auto& known : object_views())
      if (known.path == route)
        return known.view(Look{.log = played.log, .past = past, .audience = audience, .is_over = never}, Parameters(path, query));
    throw std::runtime_error("no route " + route);
  }
  Json list(const std::string& kind, const std::multimap<std::string, std::string>& query = {}) {
    auto out = ask(all, "objects/{kind}", {{"kind", kind}}, query);
    EXPECT_TRUE(out) << (out ? "" : out.error().message);
    return out ? *out : Json();
  }
  static std::set<std::string> names(const Json& told) {
    std::set<std::string> out;
    for (const auto& item : told["items"])
      out.insert(item["ref"].value("namespace", std::string()) + "/" + item["ref"]["name"].get<std::string>());
    return out;
  }
  void SetUp() override { ASSERT_TRUE(past.go_to(played.log.last().value())); }

  Played played{std::vector<std::string>{"examples/quickstart"}};
  replay::Past past{played.log, "default"};
  const SeesAll all;
  const std::function<bool()> never = [] { return false; };
};

TEST_F(ObjectsTest, EachKindIsListedAsTheCatalogHasIt) {
  EXPECT_EQ(names(list("localqueues")), (std::set<std::string>{"team-a/jobs", "team-b/jobs"}));
  EXPECT_EQ(names(list("clusterqueues")), (std::set<std::string>{"/team-a", "/team-b"}));
  EXPECT_EQ(names(list("cohorts")), (std::set<std::string>{"/research"}));
  EXPECT_EQ(names(list("resourceflavors")), (std::set<std::string>{"/standard"}));
  EXPECT_EQ(names(list("workloadpriorityclasses")), (std::set<std::string>{"/low", "/normal", "/urgent"}));
  EXPECT_EQ(names(list("admissionchecks")), std::set<std::string>());
  EXPECT_EQ(names(list("topologies")), std::set<std::string>());
  EXPECT_EQ(list("clusterqueues")["items"][0]["usedBy"], (Json{{{"kind", "LocalQueue"}, {"namespace", "team-a"}, {"name", "jobs"}}}));
  EXPECT_EQ(list("resourceflavors")["items"][0]["usedBy"].size(), 2U);
  EXPECT_EQ(list("workloadpriorityclasses", {{"text", "URG"}})["items"][0]["object"]["value"], 1000);
  const Json page = list("workloadpriorityclasses", {{"limit", "1"}, {"offset", "1"}});
  EXPECT_EQ(names(page), (std::set<std::string>{"/normal"}));
  EXPECT_EQ(page["total"], 3);
}

TEST_F(ObjectsTest, OneIsToldWithWhoUsesIt) {
  const auto flavor = ask(all, "objects/{kind}/{name}", {{"kind", "resourceflavors"}, {"name", "standard"}});
  ASSERT_TRUE(flavor);
  EXPECT_EQ((*flavor)["nodesWatched"], false);
  EXPECT_EQ((*flavor)["position"], past.position());
  EXPECT_FALSE((*flavor)["object"]["status"]["hindsight"]["quota"].empty());
  const auto queue = ask(all, "objects/localqueues/{namespace}/{name}", {{"namespace", "team-a"}, {"name", "jobs"}});
  ASSERT_TRUE(queue);
  EXPECT_EQ((*queue)["object"]["spec"]["clusterQueue"], "team-a");
  for (const auto& [kind, name] :
       {std::pair("resourceflavors", "gone"), std::pair("clusterqueues", "team-c"), std::pair("cohorts", "none")}) {
    const auto none = ask(all, "objects/{kind}/{name}", {{"kind", kind}, {"name", name}});
    ASSERT_FALSE(none) << kind;
    EXPECT_EQ(none.error().kind, ErrorKind::not_found) << none.error().message;
  }
  for (const auto& [kind, name] : {std::pair("things", "x"), std::pair("localqueues", "jobs")}) {
    const auto none = ask(all, "objects/{kind}/{name}", {{"kind", kind}, {"name", name}});
    ASSERT_FALSE(none) << kind;
    EXPECT_EQ(none.error().kind, ErrorKind::invalid) << none.error().message;
    EXPECT_NE(none.error().message.find("allowed: "), std::string::npos) << none.error().message;
  }
}

TEST_F(ObjectsTest, SomebodyOfOneNamespaceIsToldNothingOfAnother) {
  const SeesOnly ann({"team-a"});
  const auto queues = ask(ann, "objects/{kind}", {{"kind", "localqueues"}});
  ASSERT_TRUE(queues);
  EXPECT_EQ(names(*queues), (std::set<std::string>{"team-a/jobs"}));
  EXPECT_EQ((*queues)["hidden"], 1);
  const auto cluster_queue = ask(ann, "objects/{kind}/{name}", {{"kind", "clusterqueues"}, {"name", "team-b"}});
  ASSERT_TRUE(cluster_queue) << "ClusterQueues belong to no namespace";
  EXPECT_TRUE((*cluster_queue)["usedBy"].empty());
  for (const auto& holder : (*cluster_queue)["object"]["status"]["hindsight"]["holders"])
    EXPECT_EQ(holder["namespace"], "team-a") << holder.dump();
  const auto other = ask(ann, "objects/localqueues/{namespace}/{name}", {{"namespace", "team-b"}, {"name", "jobs"}});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, ErrorKind::denied);
}

}  // namespace
}  // namespace hindsight::page::testing
