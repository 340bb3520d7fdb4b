// What reviews make us ask of the API server where there is no mirror that could be asked instead: only names that an object can have, and
// for strangers only so often.

#include <condition_variable>
#include <future>
#include <mutex>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "connectors/objects/resource_types.hpp"
#include "runtime/cluster_requests.hpp"
#include "runtime/cluster_surroundings.hpp"
#include "runtime/webhook_service.hpp"
#include "tests/connectors/kubernetes/fake_api_server.hpp"

namespace hindsight::runtime {
namespace {

namespace k = connectors::kubernetes;
using k::testing::Exchange;

class WebhookLookups : public ::testing::Test {
 protected:
  WebhookLookups() {
    configuration_.frameworks = {"batch/job"};
    k::Connection connection;
    connection.server = server_.url();
    auto connected = k::KubernetesCluster::connect(connection, {});
    if (!connected) throw std::logic_error(connected.error().message);
    cluster_ = std::move(*connected);
    around_.emplace(*cluster_, configuration_, [] { return false; });
  }
  ~WebhookLookups() override {
    open();
    cluster_->stop();
  }

  [[nodiscard]] static operations::HttpRequest request_of(const std::string& peer, bool proven = false) {
    operations::HttpRequest out;
    out.peer = peer;
    out.proven = proven;
    return out;
  }
  /// How many of so many lookups of a caller were made.
  [[nodiscard]] int lookups(const operations::HttpRequest& request, int times) const {
    const LookupCaller caller(request);
    int made = 0;
    for (int i = 0; i < times; ++i) try {
        EXPECT_EQ(around_->find("Namespace", "", "n" + std::to_string(i)), nullptr);
        ++made;
      } catch (const TooManyLookups&) {}
    return made;
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void close() {
    const std::lock_guard lock(mutex_);
    open_ = false;
  }
  /// Until so many requests have come.
  void wait_for(std::size_t asked) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return asked_ >= asked; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true;
  std::size_t asked_ = 0;
  k::testing::FakeApiServer server_{[this](Exchange& e) {
    std::unique_lock lock(mutex_);
    ++asked_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
    e.answer(404, R"({"kind":"Status","code":404})");
  }};
  operations::Configuration configuration_;
  std::unique_ptr<k::KubernetesCluster> cluster_;
  std::optional<ClusterSurroundings> around_;
};

// curl folds "a/.." before it asks, and the API server takes "%2F" for what it stands for.
TEST_F(WebhookLookups, AskForNamesThatAnObjectCanHaveAndNoOthers) {
  for (const std::string bad : {"", ".", "..", "a/b", "../secrets/s", "a%2Fb", "/"}) {
    EXPECT_EQ(around_->find("LocalQueue", "ns", bad), nullptr) << bad;
    EXPECT_EQ(around_->find("LocalQueue", bad, "name"), nullptr) << bad;
    EXPECT_EQ(around_->find("Namespace", "", bad), nullptr) << bad;
    const auto read = read_object(*cluster_, connectors::types::local_queue, bad, "name");
    ASSERT_FALSE(read) << bad;
    EXPECT_EQ(read.error().kind, ErrorKind::invalid) << bad;
  }
  EXPECT_EQ(around_->find("LocalQueue", "ns", std::string(254, 'a')), nullptr);
  EXPECT_TRUE(server_.requests().empty());
  for (const char* good : {"a", "a.b", "..a", "a-1"}) EXPECT_EQ(around_->find("LocalQueue", "ns", good), nullptr) << good;
  EXPECT_EQ(server_.requests().size(), 4U);
}

TEST_F(WebhookLookups, OfStrangersHaveABound) {
  const int made = lookups(request_of("10.0.0.1"), 400);
  EXPECT_GE(made, 20);
  EXPECT_LT(made, 300);
  // Nor do addresses help that one machine has.
  int of_network = 0;
  for (int i = 0; i < 400; ++i) of_network += lookups(request_of("2001:db8::" + std::to_string(i)), 1);
  EXPECT_LT(of_network, 300);
  EXPECT_EQ(server_.requests().size(), static_cast<std::size_t>(made + of_network));
  // Who is known asks on, and so do we ourselves.
  EXPECT_EQ(lookups(request_of("10.0.0.1", true), 200), 200);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(around_->find("Namespace", "", "ours"), nullptr);
}

TEST_F(WebhookLookups, ThatAreNotAnsweredDoNotHoldUpWhoIsKnown) {
  close();
  std::vector<std::future<int>> strangers;
  for (std::size_t i = 0; i < lookup_limits.at_once; ++i)
    strangers.push_back(std::async(std::launch::async, [&, i] { return lookups(request_of("10.0.0." + std::to_string(i)), 1); }));
  wait_for(lookup_limits.at_once);
  EXPECT_EQ(lookups(request_of("10.0.1.1"), 1), 0);
  auto known = std::async(std::launch::async, [&] { return lookups(request_of("10.0.1.2", true), 1); });
  wait_for(lookup_limits.at_once + 1);
  open();
  EXPECT_EQ(known.get(), 1);
  for (auto& one : strangers) EXPECT_EQ(one.get(), 1);
  EXPECT_EQ(lookups(request_of("10.0.1.1"), 1), 1);
}

// An API server that is told when to come again comes again by itself, instead of refusing the object.
TEST_F(WebhookLookups, BeyondThatTheReviewIsToBeAskedForAgain) {
  const auto routes = webhook_routes(*around_);
  const auto* handler = routes.find("POST", "/mutate-batch-v1-job").handler;
  ASSERT_NE(handler, nullptr);
  auto request = request_of("10.0.0.1");
  request.body = R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"CREATE",)"
                 R"("kind":{"group":"batch","version":"v1","kind":"Job"},"object":{"apiVersion":"batch/v1","kind":"Job",)"
                 R"("metadata":{"name":"j","namespace":"ns"},"spec":{}}}})";
  operations::HttpResponse answer = (*handler)(request);
  EXPECT_EQ(answer.status, 200) << answer.body;
  for (int i = 0; i < 400 && answer.status == 200; ++i) answer = (*handler)(request);
  EXPECT_EQ(answer.status, 429) << answer.body;
  EXPECT_EQ(answer.headers, (std::vector<std::pair<std::string, std::string>>{{"Retry-After", "1"}}));
  request.proven = true;
  EXPECT_EQ((*handler)(request).status, 200);
}

}  // namespace
}  // namespace hindsight::runtime
