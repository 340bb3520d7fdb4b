// A simulated API server that takes its time.

#include "connectors/simulated/busy_server.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "connectors/objects/resource_types.hpp"

namespace hindsight::connectors::simulated {
namespace {

class BusyServerTest : public ::testing::Test {
 protected:
  void create(const std::string& name) {
    const std::string body = R"({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ")" + name + R"("}})";
    server_.submit({.verb = Write::Verb::create, .type = &types::namespace_, .name = name, .body = body},
                   [this, name](const WriteAnswer& a) { answers_.push_back(name + " " + std::to_string(a.http_status)); });
  }
  std::vector<std::string> pass(Duration d) {
    cluster_.set_time(cluster_.now() + d);
    server_.run_due();
    return std::exchange(answers_, {});
  }
  using Lines = std::vector<std::string>;
  SimulatedCluster cluster_;
  BusyServer server_{cluster_, {Duration::millis(5), 2}};
  Lines answers_;
};

TEST_F(BusyServerTest, CarriesOutSoManyAtATime) {
  const Time began = cluster_.now();
  EXPECT_FALSE(server_.next_due().is_set());
  for (const char* name : {"a", "b", "c"}) create(name);
  EXPECT_EQ(server_.next_due(), began + Duration::millis(5));
  EXPECT_EQ(pass(Duration::millis(4)), Lines{});
  EXPECT_EQ(cluster_.find("Namespace", "", "a"), nullptr) << "it is carried out when its time is over";
  EXPECT_EQ(pass(Duration::millis(1)), (Lines{"a 201", "b 201"}));
  EXPECT_NE(cluster_.find("Namespace", "", "a"), nullptr);
  EXPECT_EQ(server_.next_due(), began + Duration::millis(10));
  create("d");
  EXPECT_EQ(pass(Duration::millis(5)), (Lines{"c 201", "d 201"}));
  EXPECT_FALSE(server_.next_due().is_set());
}

TEST_F(BusyServerTest, AnswersAWriteThatFollowsAnAnswer) {
  bool second = false;
  server_.submit({.verb = Write::Verb::create, .type = &types::namespace_, .name = "a", .body = "{"}, [&](const WriteAnswer& a) {
    EXPECT_EQ(a.http_status, 400);
    create("b");
    second = true;
  });
  EXPECT_EQ(pass(Duration::millis(5)), Lines{});
  EXPECT_TRUE(second);
  EXPECT_EQ(pass(Duration::millis(5)), Lines{"b 201"});
}

TEST_F(BusyServerTest, TellsHowManyItTakes) {
  EXPECT_EQ(server_.write_limit(), 2U);
  EXPECT_EQ(server_.writes_at_once(), 4U);
  EXPECT_EQ(cluster_.write_limit(), 0U) << "a server that takes no time takes any number";
}

}  // namespace
}  // namespace hindsight::connectors::simulated
