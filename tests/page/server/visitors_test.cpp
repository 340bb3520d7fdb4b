// Who asks and what he may see: what is asked of the API server, how long its answers hold, and what strangers can make us do.

#include "page/server/visitors.hpp"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace hindsight::page {
namespace {

class VisitorsTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<Visitors> visitors(VisitorLimits limits = {}) {
    Reviews reviews;
    reviews.who = [this](const std::string& token) -> Result<std::optional<std::string>> {
      ++tokens_asked_;
      if (silent_) return fail(ErrorKind::unavailable, "TokenReview: no answer of the API server");
      if (gone_.contains(token) || !token.starts_with("of-")) return std::optional<std::string>();
      return std::optional(token.substr(3));
    };
    reviews.may_get_workloads = [this](const std::string& user, const std::string& namespace_) -> Result<bool> {
      ++rights_asked_;
      if (silent_) return fail(ErrorKind::unavailable, "SubjectAccessReview: no answer of the API server");
      return rights_[user].contains(namespace_);
    };
    return std::make_unique<Visitors>(std::move(reviews), limits, [this] { return now_; });
  }
  [[nodiscard]] static operations::HttpRequest with(const std::string& token, const std::string& peer = "10.0.0.1") {
    operations::HttpRequest out{.method = "GET", .path = "/api/v1/log", .peer = peer};
    if (!token.empty()) out.headers["authorization"] = "Bearer " + token;
    return out;
  }
  [[nodiscard]] static operations::HttpRequest signing_in(const std::string& body) {
    return {.method = "POST", .path = "/api/v1/session", .body = body, .peer = "10.0.0.1"};
  }
  /// What a browser sends back: the cookie up to its first ';'.
  [[nodiscard]] static operations::HttpRequest with_cookie_of(const operations::HttpResponse& response) {
    operations::HttpRequest out{.method = "GET", .path = "/api/v1/log", .peer = "10.0.0.1"};
    for (const auto& [name, value] : response.headers)
      if (name == "Set-Cookie") out.headers["cookie"] = "theme=dark; " + value.substr(0, value.find(';')) + "; x=y";
    return out;
  }
  void pass(int seconds) { now_ += std::chrono::seconds(seconds); }

  std::map<std::string, std::set<std::string>> rights_{{"ann", {"team-a"}}, {"root", {""}}};
  std::set<std::string> gone_;
  bool silent_ = false;
  int tokens_asked_ = 0, rights_asked_ = 0;
  std::chrono::steady_clock::time_point now_{std::chrono::hours(1)};
};

TEST_F(VisitorsTest, SeeWhatTheyMay) {
  const auto all = visitors();
  const auto ann = all->enter(with("of-ann"));
  ASSERT_TRUE(ann.audience);
  EXPECT_TRUE(ann.audience->may_see("team-a"));
  EXPECT_FALSE(ann.audience->may_see("team-b"));
  EXPECT_FALSE(ann.audience->sees_all());
  const auto root = all->enter(with("of-root"));
  ASSERT_TRUE(root.audience);
  EXPECT_TRUE(root.audience->sees_all());
  EXPECT_TRUE(root.audience->may_see("team-b"));
  const auto nobody = all->enter(with("stolen"));
  EXPECT_FALSE(nobody.audience);
  EXPECT_EQ(nobody.refusal.status, 401);
  EXPECT_EQ(all->enter(with("")).refusal.status, 401);
  auto basic = with("");
  basic.headers["authorization"] = "Basic b2YtYW5uOg==";
  EXPECT_EQ(all->enter(basic).refusal.status, 401);
  EXPECT_FALSE(Visitors::shows_anything(basic));
}

TEST_F(VisitorsTest, AnswersHoldForAWhile) {
  const auto all = visitors();
  for (int i = 0; i < 5; ++i) {
    const auto ann = all->enter(with("of-ann"));
    ASSERT_TRUE(ann.audience);
    EXPECT_TRUE(ann.audience->may_see("team-a"));
    EXPECT_FALSE(ann.audience->may_see("team-b"));
  }
  EXPECT_EQ(tokens_asked_, 1);
  EXPECT_EQ(rights_asked_, 3);  // all namespaces, and each of the two
  rights_["ann"] = {"team-b"};
  pass(59);
  EXPECT_TRUE(all->enter(with("of-ann")).audience->may_see("team-a"));
  EXPECT_TRUE(all->enter(with("of-ann")).audience->may_see("team-b")) << "a right that was given is there sooner";
  pass(2);
  EXPECT_FALSE(all->enter(with("of-ann")).audience->may_see("team-a"));
  gone_.insert("of-ann");
  pass(60);
  EXPECT_EQ(all->enter(with("of-ann")).refusal.status, 401);
}

TEST_F(VisitorsTest, SilenceShowsNothing) {
  const auto all = visitors();
  ASSERT_TRUE(all->enter(with("of-root")).audience);
  silent_ = true;
  EXPECT_EQ(all->enter(with("of-ann")).refusal.status, 503);
  const auto root = all->enter(with("of-root"));
  ASSERT_TRUE(root.audience);
  EXPECT_FALSE(root.audience->sees_all());
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(root.audience->may_see("n" + std::to_string(i)));
  EXPECT_EQ(rights_asked_, 1) << "a view does not wait for each name";
  silent_ = false;
  pass(3);
  EXPECT_TRUE(root.audience->sees_all());
}

TEST_F(VisitorsTest, AViewOfManyNamespacesIsNoStormOfReviews) {
  const auto all = visitors({.namespaces_a_second = 50});
  rights_["ann"] = {};
  for (int i = 0; i < 5000; ++i) rights_["ann"].insert("n" + std::to_string(i));
  const auto ann = all->enter(with("of-ann"));
  ASSERT_TRUE(ann.audience);
  int seen = 0;
  for (int i = 0; i < 5000; ++i) seen += ann.audience->may_see("n" + std::to_string(i)) ? 1 : 0;
  EXPECT_EQ(rights_asked_, 50);
  EXPECT_EQ(seen, 49);  // one was for all of them
  pass(1);
  for (int i = 0; i < 5000; ++i) seen += ann.audience->may_see("n" + std::to_string(i)) ? 1 : 0;
  EXPECT_EQ(rights_asked_, 100);
}

TEST_F(VisitorsTest, StrangersInGreatNumberDoNotKeepOutWhoIsKnown) {
  const auto all = visitors();
  ASSERT_TRUE(all->enter(with("of-ann")).audience);
  int refused = 0;
  for (int i = 0; i < 500; ++i)
    refused += all->enter(with("guess-" + std::to_string(i), "10.0." + std::to_string(i % 200) + ".7")).refusal.status == 429 ? 1 : 0;
  EXPECT_GT(refused, 400);
  EXPECT_LT(tokens_asked_, 100);
  EXPECT_TRUE(all->enter(with("of-ann")).audience);
  pass(61);
  for (int i = 500; i < 1000; ++i) (void)all->enter(with("guess-" + std::to_string(i), "10.0." + std::to_string(i % 200) + ".7"));
  EXPECT_TRUE(all->enter(with("of-ann")).audience) << "he was let in before";
}

TEST_F(VisitorsTest, ABrowserHasASession) {
  const auto all = visitors();
  const auto begun = all->sign_in(signing_in(R"({"token":"of-ann"})"));
  EXPECT_EQ(begun.status, 204);
  std::string cookie;
  for (const auto& [name, value] : begun.headers)
    if (name == "Set-Cookie") cookie = value;
  for (const char* rule : {"__Host-", "Path=/", "Secure", "HttpOnly", "SameSite=Strict", "Max-Age="})
    EXPECT_NE(cookie.find(rule), std::string::npos) << cookie;
  EXPECT_EQ(cookie.find("of-ann"), std::string::npos) << "the token stays here";

  const auto request = with_cookie_of(begun);
  EXPECT_TRUE(Visitors::shows_anything(request));
  ASSERT_TRUE(all->enter(request).audience);
  EXPECT_TRUE(all->enter(request).audience->may_see("team-a"));
  EXPECT_EQ(tokens_asked_, 1);
  pass(61);
  ASSERT_TRUE(all->enter(request).audience);
  EXPECT_EQ(tokens_asked_, 2) << "who it is, is asked again";

  auto other = request;
  other.headers["cookie"].back() = 'z';
  EXPECT_EQ(all->sign_out(request).status, 204);
  EXPECT_EQ(all->enter(request).refusal.status, 401);
}

TEST_F(VisitorsTest, ASessionEnds) {
  const auto all = visitors();
  const auto request = with_cookie_of(all->sign_in(signing_in(R"({"token":"of-ann"})")));
  pass(12 * 60 * 60 - 1);
  EXPECT_TRUE(all->enter(request).audience);
  pass(1);
  EXPECT_EQ(all->enter(request).refusal.status, 401);
  // And at once when its token does.
  const auto again = with_cookie_of(all->sign_in(signing_in(R"({"token":"of-ann"})")));
  gone_.insert("of-ann");
  pass(61);
  EXPECT_EQ(all->enter(again).refusal.status, 401);
}

TEST_F(VisitorsTest, SessionsAreBounded) {
  const auto all = visitors({.sessions_max = 3});
  std::vector<operations::HttpRequest> requests;
  for (int i = 0; i < 4; ++i) {
    requests.push_back(with_cookie_of(all->sign_in(signing_in(R"({"token":"of-ann"})"))));
    pass(1);
  }
  EXPECT_EQ(all->enter(requests[0]).refusal.status, 401);
  for (int i = 1; i < 4; ++i) EXPECT_TRUE(all->enter(requests[static_cast<std::size_t>(i)]).audience) << i;
}

TEST_F(VisitorsTest, WhatIsNoTokenIsRefused) {
  const auto all = visitors();
  for (const char* body : {"", "{", "[]", "null", "{\"token\":\"\"}", "{\"token\":7}", "{\"tokens\":\"x\"}", "\xff\xfe", "[[[[[[[["})
    EXPECT_EQ(all->sign_in(signing_in(body)).status, 400) << body;
  EXPECT_EQ(all->sign_in(signing_in("{\"token\":\"" + std::string(Visitors::token_bytes_max + 1, 'x') + "\"}")).status, 400);
  EXPECT_EQ(tokens_asked_, 0);
  EXPECT_EQ(all->sign_in(signing_in(R"({"token":"stolen"})")).status, 401);
  for (const char* cookie :
       {"__Host-hindsight=", "__Host-hindsight=guess", "x__Host-hindsight=a", "__Host-hindsightx=a", ";;;=;", "\xff"}) {
    operations::HttpRequest request{.method = "GET", .path = "/api/v1/log", .peer = "10.0.0.1"};
    request.headers["cookie"] = cookie;
    EXPECT_EQ(all->enter(request).refusal.status, 401) << cookie;
  }
}

}  // namespace
}  // namespace hindsight::page
