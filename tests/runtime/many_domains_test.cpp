// A cluster with a domain for each tree, as a connector sees it: what it serves over HTTP is that of one cluster.

#include "runtime/many_domains.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "events/memory_log.hpp"
#include "events/settings.hpp"
#include "runtime/task_queue.hpp"
#include "runtime/visibility_api.hpp"
#include "tests/cli/within_seconds.hpp"
#include "tests/events/log_handle.hpp"
#include "tests/routing/facts.hpp"

namespace hindsight::runtime {
namespace {

/// The dispatcher remembers what it was told, and asks nobody.
class NoMirror final : public connectors::Mirror {
 public:
  [[nodiscard]] ObjectText find(const connectors::ResourceType&, std::string_view, std::string_view) const override { return nullptr; }
  [[nodiscard]] ObjectText find_by_uid(std::string_view) const override { return nullptr; }
  void offer(const connectors::ResourceType&, std::string) override {}
};

class ManyDomainsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ManyDomains::Options options;
    options.cluster = "east";
    options.partitions = static_cast<std::int32_t>(logs_.size());
    options.open = [this](std::int32_t partition) -> Result<std::unique_ptr<events::Log>> {
      return std::make_unique<test::LogHandle>(logs_.at(static_cast<std::size_t>(partition)));
    };
    options.node.settings_reader = [](Text json) { return events::read_settings(json); };
    options.node.on_notice = [](const std::string&) {};
    options.post = [this](std::function<void()> work) { link_.post(std::move(work)); };
    options.on_intents = [](const std::vector<admission::Intent>&) {};
    options.on_departed = [](std::string_view) {};
    options.departing = [] { return false; };
    options.metrics.build = {{"git_version", "test"}};
    auto started = ManyDomains::start(std::move(options));
    ASSERT_TRUE(started) << started.error().message;
    domains_ = std::move(*started);
  }
  void TearDown() override {
    if (domains_) {
      EXPECT_TRUE(domains_->stop());
    }
    link_.stop();
  }

  void tell(const Observation& o) {
    link_.post([this, o] { domains_->observe(o); });
  }
  void list() {
    link_.post([this] { domains_->synced(mirror_, [this] { listed_ = true; }); });
  }
  template <class Condition>
  static bool soon(const Condition& condition) {
    return hindsight::test::within_seconds(20, condition);
  }
  [[nodiscard]] bool shows(const std::string& line) const {
    return ("\n" + domains_->metrics_text()).find("\n" + line + "\n") != std::string::npos;
  }
  [[nodiscard]] int count(const std::string& part) const {
    const std::string text = domains_->metrics_text();
    int out = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++out;
    return out;
  }
  [[nodiscard]] operations::HttpResponse ask(const std::string& queue) const {
    return answer_visibility(
        {.method = "GET", .path = "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/" + queue + "/pendingworkloads"},
        [this](const std::function<void(const admission::StateView&)>& reader) { return domains_->look(reader); });
  }
  [[nodiscard]] bool waits(const std::string& queue, const std::string& workload) const {
    const auto answer = ask(queue);
    if (answer.status != 200) return false;
    const auto items = nlohmann::json::parse(answer.body).at("items");
    return items.size() == 1 && items[0].at("metadata").at("name") == workload;
  }
  static std::string info(const std::string& queue, const std::string& cohort) {
    return R"(kueue_cluster_queue_info{cluster_queue=")" + queue + R"(",parent_cohort=")" + cohort +
           R"(",replica_role="standalone",root_cohort=")" + cohort + "\"} 1";
  }

  std::array<std::shared_ptr<events::MemoryLog>, 2> logs_{std::make_shared<events::MemoryLog>(), std::make_shared<events::MemoryLog>()};
  routing::testing::Facts facts_;
  NoMirror mirror_;
  std::atomic<bool> listed_ = false;
  std::unique_ptr<ManyDomains> domains_;
  TaskQueue link_;  // ends first
};

TEST_F(ManyDomainsTest, ServesWhatOneDomainWould) {
  EXPECT_EQ(domains_->metrics_text(), "");
  EXPECT_EQ(ask("red").status, 503) << "nobody has looked yet what there is";
  tell(facts_.flavor("default"));
  tell(facts_.namespace_());
  tell(facts_.queue("red", "warm"));
  tell(facts_.queue("blue", "cold"));
  tell(facts_.local_queue("lq-red", "red"));
  tell(facts_.local_queue("lq-blue", "blue"));
  tell(facts_.workload("one", "lq-red"));
  list();
  ASSERT_TRUE(soon([&] { return listed_.load() && shows(info("red", "warm")) && shows(info("blue", "cold")) && waits("red", "one"); }))
      << domains_->metrics_text();
  EXPECT_EQ(domains_->status().size(), 3U) << "each tree, and what has no queue";
  EXPECT_TRUE(shows(R"(kueue_pending_workloads{cluster_queue="red",replica_role="standalone",status="active"} 1)"));
  for (const char* once : {"# TYPE kueue_cluster_queue_info gauge\n", "# TYPE kueue_build_info gauge\n", "\nkueue_build_info{"})
    EXPECT_EQ(count(once), 1) << once;
  EXPECT_EQ(count("\nkueue_cluster_queue_info{"), 2);
  EXPECT_TRUE(soon([&] { return ask("green").status == 404; }));

  tell(facts_.queue("red", "cold"));
  ASSERT_TRUE(soon([&] { return shows(info("red", "cold")) && waits("red", "one"); })) << domains_->metrics_text();
  EXPECT_EQ(count("\nkueue_cluster_queue_info{cluster_queue=\"red\""), 1);
  EXPECT_TRUE(soon([&] { return count("\nkueue_cohort_info{") == 1; }));
  const std::string unadmitted = "\nkueue_unadmitted_workloads{cluster_queue=\"red\"";
  EXPECT_TRUE(soon([&] { return count(unadmitted) == 1; })) << domains_->metrics_text();
}

}  // namespace
}  // namespace hindsight::runtime
