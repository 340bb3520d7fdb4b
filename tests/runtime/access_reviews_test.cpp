// Who may see metrics, as the API server says: what is asked of it, how long an answer holds, and what strangers can make it do.

#include "runtime/access_reviews.hpp"

#include <condition_variable>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace hindsight::runtime {
namespace {

using Json = nlohmann::json;
using connectors::kubernetes::HttpAnswer;

class AccessReviewsTest : public ::testing::Test {
 protected:
  [[nodiscard]] AccessReviews reviews(AccessReviewLimits limits = {}) {
    return AccessReviews([this](const std::string& path, const std::string& body) { return answer(path, Json::parse(body)); }, limits,
                         [this] { return now_; });
  }
  [[nodiscard]] static operations::HttpRequest with(const std::string& token, const std::string& peer = "10.0.0.1") {
    operations::HttpRequest out{.method = "GET", .path = "/metrics", .peer = peer};
    if (!token.empty()) out.headers["authorization"] = "Bearer " + token;
    return out;
  }
  void pass(int seconds) { now_ += std::chrono::seconds(seconds); }

  std::vector<std::string> asked_;  ///< "TokenReview good", "SubjectAccessReview good".
  bool silent_ = false, allows_ = true;
  std::chrono::steady_clock::time_point now_{std::chrono::hours(1)};

 private:
  HttpAnswer answer(const std::string& path, const Json& body) {
    if (silent_) return {};
    EXPECT_EQ(path.substr(path.rfind('/') + 1), body["kind"] == "TokenReview" ? "tokenreviews" : "subjectaccessreviews");
    if (body["kind"] == "TokenReview") {
      const std::string token = body["spec"]["token"];
      asked_.push_back("TokenReview " + token);
      const bool known = token.starts_with("good") || token.starts_with("useless");
      return {.status = 201,
              .body = Json{{"status",
                            {{"authenticated", known},
                             {"user", {{"username", token}, {"uid", "7"}, {"groups", {"g"}}, {"extra", {{"k", {"v"}}}}}}}}}
                          .dump()};
    }
    asked_.push_back("SubjectAccessReview " + body["spec"]["user"].get<std::string>());
    EXPECT_EQ(body["spec"]["groups"], Json{"g"});
    EXPECT_EQ(body["spec"]["uid"], "7");
    EXPECT_EQ(body["spec"]["extra"], (Json{{"k", {"v"}}}));
    EXPECT_EQ(body["spec"]["nonResourceAttributes"], (Json{{"path", "/metrics"}, {"verb", "get"}}));
    return {.status = 201,
            .body = Json{{"status", {{"allowed", allows_ && body["spec"]["user"].get<std::string>().starts_with("good")}}}}.dump()};
  }
};

TEST_F(AccessReviewsTest, AskWhoItIsAndWhetherHeMay) {
  auto all = reviews();
  EXPECT_EQ(all.judge(with("good")).status, 200);
  EXPECT_EQ(all.judge(with("useless")).status, 403);
  EXPECT_EQ(all.judge(with("nobody")).status, 401);
  EXPECT_EQ(asked_, (std::vector<std::string>{"TokenReview good", "SubjectAccessReview good", "TokenReview useless",
                                              "SubjectAccessReview useless", "TokenReview nobody"}));
  asked_.clear();
  EXPECT_EQ(all.judge(with("")).status, 401);
  auto basic = with("");
  basic.headers["authorization"] = "Basic Z29vZDo=";
  EXPECT_EQ(all.judge(basic).status, 401);
  EXPECT_TRUE(asked_.empty());
}

TEST_F(AccessReviewsTest, AnswersHoldForAWhile) {
  auto all = reviews();
  for (int i = 0; i < 59; ++i, pass(1)) EXPECT_EQ(all.judge(with("good")).status, 200);
  EXPECT_EQ(asked_.size(), 2U);
  pass(1);
  allows_ = false;  // the right was taken away
  EXPECT_EQ(all.judge(with("good")).status, 403);
  allows_ = true;
  pass(9);
  EXPECT_EQ(all.judge(with("good")).status, 403);
  pass(1);
  EXPECT_EQ(all.judge(with("good")).status, 200);
}

TEST_F(AccessReviewsTest, WithoutAnAnswerNobodyIsLetInAndNothingIsKept) {
  auto all = reviews();
  silent_ = true;
  EXPECT_EQ(all.judge(with("good")).status, 503);
  silent_ = false;
  EXPECT_EQ(all.judge(with("good")).status, 200);
  pass(61);
  silent_ = true;
  EXPECT_EQ(all.judge(with("good")).status, 503);
}

TEST_F(AccessReviewsTest, StrangersHaveAnAllowanceAndOnePeerAPartOfIt) {
  auto all = reviews({.shares = {.per_second = 4, .burst = 20}});
  int looked_up = 0;
  for (int i = 0; i < 100; ++i) looked_up += all.judge(with("guess" + std::to_string(i))).status == 401 ? 1 : 0;
  EXPECT_EQ(looked_up, 5);
  EXPECT_EQ(all.judge(with("good")).status, 429);  // from the same address
  EXPECT_EQ(all.judge(with("good", "10.0.0.2")).status, 200);
  for (int peer = 0; peer < 100; ++peer) (void)all.judge(with("more" + std::to_string(peer), "10.0.1." + std::to_string(peer)));
  EXPECT_EQ(asked_.size(), 20U + 1U);
  // Who was let in is no stranger.
  pass(61);
  for (int peer = 0; peer < 100; ++peer) (void)all.judge(with("again" + std::to_string(peer), "10.0.1." + std::to_string(peer)));
  EXPECT_EQ(all.judge(with("good", "10.0.0.2")).status, 200);
  // All of them are forgotten sooner than they fill anything.
  auto few = reviews({.shares = {.per_second = 1'000'000, .burst = 1'000'000, .peers_max = 10}});
  for (int peer = 0; peer < 1'000; ++peer, now_ += std::chrono::milliseconds(1))
    EXPECT_EQ(few.judge(with("x" + std::to_string(peer), "p" + std::to_string(peer))).status, 401);
}

// Of IPv6 a machine has 2^64 addresses to ask from.
TEST_F(AccessReviewsTest, AddressesOfOneNetworkAreOnePeer) {
  auto all = reviews({.shares = {.per_second = 4, .burst = 20}});
  int looked_up = 0;
  for (int i = 0; i < 100; ++i)
    looked_up += all.judge(with("guess" + std::to_string(i), "2001:db8::" + std::to_string(i))).status == 401 ? 1 : 0;
  EXPECT_EQ(looked_up, 5);
  EXPECT_EQ(all.judge(with("good", "2001:db8:0:1::1")).status, 200);
}

// A scraper's token is a new one every hour. Over the connection on which it was let in before it is no stranger, however many these are.
TEST_F(AccessReviewsTest, WhoWasLetInOverTheSameConnectionIsNoStranger) {
  auto all = reviews({.shares = {.per_second = 4, .burst = 20}});
  for (int peer = 0; peer < 100; ++peer) (void)all.judge(with("guess" + std::to_string(peer), "10.0.1." + std::to_string(peer)));
  EXPECT_EQ(all.judge(with("good", "10.0.0.2")).status, 429);
  auto known = with("good-and-new", "10.0.0.2");
  known.proven = true;
  EXPECT_EQ(all.judge(known).status, 200);
  known = with("bad-and-new", "10.0.0.2");
  known.proven = true;
  EXPECT_EQ(all.judge(known).status, 401);
}

TEST_F(AccessReviewsTest, WhatIsRememberedHasABound) {
  auto all = reviews({.good_max = 2, .bad_max = 2, .shares = {.per_second = 1'000, .burst = 1'000}});
  for (const char* token : {"good1", "good2", "good3", "bad1", "bad2", "bad3"}) (void)all.judge(with(token));
  asked_.clear();
  for (const char* token : {"good2", "good3", "bad2", "bad3"}) (void)all.judge(with(token));
  EXPECT_TRUE(asked_.empty());
  EXPECT_EQ(all.judge(with("good1")).status, 200);
  EXPECT_EQ(asked_.size(), 2U);
}

TEST_F(AccessReviewsTest, OnlySoManyAreUnderWay) {
  std::mutex mutex;
  std::condition_variable changed;
  int inside = 0;
  bool open = false;
  AccessReviews all([&](const std::string&, const std::string&) {
    std::unique_lock lock(mutex);
    ++inside;
    changed.notify_all();
    changed.wait(lock, [&] { return open; });
    return HttpAnswer{.status = 201, .body = R"({"status":{"authenticated":false}})"};
  });
  std::vector<std::thread> waiting;
  for (const char* token : {"a", "b"}) waiting.emplace_back([&all, token] { EXPECT_EQ(all.judge(with(token, token)).status, 401); });
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return inside == 2; });
  }
  const auto third = all.judge(with("c", "c"));
  EXPECT_EQ(third.status, 429);
  EXPECT_EQ(third.headers, (std::vector<std::pair<std::string, std::string>>{{"Retry-After", "1"}}));
  {
    const std::lock_guard lock(mutex);
    open = true;
  }
  changed.notify_all();
  for (auto& one : waiting) one.join();
}

TEST_F(AccessReviewsTest, AnyAnswerOfAServerIsSurvived) {
  for (const char* body : {"", "{", "[]", "{}", R"({"status":7})", R"({"status":{"authenticated":"yes"}})",
                           R"({"status":{"authenticated":true,"user":[]}})"}) {
    AccessReviews all([&](const std::string&, const std::string&) { return HttpAnswer{.status = 201, .body = body}; });
    EXPECT_NE(all.judge(with("good")).status, 200) << body;
  }
}

}  // namespace
}  // namespace hindsight::runtime
