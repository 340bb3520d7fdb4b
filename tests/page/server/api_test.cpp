// How routes are found, parameters checked, answers written, and the API described.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "page/server/api_answers.hpp"
#include "page/server/api_table.hpp"
#include "page/server/log_routes.hpp"
#include "page/server/openapi.hpp"
#include "page/server/page.hpp"
#include "page/view.hpp"

namespace hindsight::page {
namespace {

Result<Json> nothing(const Look& /*look*/, const Parameters& /*parameters*/) { return Json(); }
Result<Json> nothing_asked(const ApiCall& /*call*/) { return Json(); }

std::vector<ViewRoute> some_views() {
  return {{.path = "workloads", .view = &nothing, .summary = "All | many", .parameters = {"limit", "offset"}},
          {.path = "workloads/{namespace}/{name}", .view = &nothing, .summary = "One"},
          {.path = "topologies/{name}", .view = &nothing, .summary = "One"},
          {.path = "topologies/{name}/fit", .view = &nothing, .summary = "Would it fit"},
          {.path = "topologies/all/{what}", .view = &nothing, .summary = "Fixed before any"},
          {.path = "records", .view = &nothing, .summary = "Records", .only_for_all = true}};
}
std::vector<ApiRoute> some_routes() {
  return {{.method = "POST", .path = "branches", .handler = &nothing_asked, .summary = "Begin"},
          {.path = "branches", .handler = &nothing_asked, .summary = "All"},
          {.method = "DELETE", .path = "branches/{id}", .handler = &nothing_asked, .summary = "End"}};
}

class ApiTableTest : public ::testing::Test {
 protected:
  const std::vector<ViewRoute> views = some_views();
  const std::vector<ApiRoute> routes = some_routes();
  const ApiTable table{views, routes};
};

TEST_F(ApiTableTest, FindsByMethodAndPath) {
  const auto one = table.find("GET", "workloads/team-a/job-train");
  ASSERT_NE(one.entry, nullptr);
  EXPECT_EQ(one.entry->path, "workloads/{namespace}/{name}");
  EXPECT_EQ(one.path.at("namespace"), "team-a");
  EXPECT_EQ(one.path.at("name"), "job-train");
  EXPECT_EQ(table.find("GET", "workloads").entry->path, "workloads");
  EXPECT_EQ(table.find("GET", "topologies/all/fit").entry->path, "topologies/all/{what}");  // of two that fit as well the first
  EXPECT_EQ(table.find("GET", "topologies/t/fit").entry->path, "topologies/{name}/fit");
  EXPECT_EQ(table.find("POST", "branches").entry->summary, "Begin");
  EXPECT_EQ(table.find("GET", "branches").entry->summary, "All");
  for (const char* bad : {"", "workload", "workloads/a", "workloads/a/b/c", "workloads/a/", "workloads/", "Workloads", "workloads//b"}) {
    EXPECT_EQ(table.find("GET", bad).entry, nullptr) << bad;
    EXPECT_TRUE(table.find("GET", bad).allowed.empty()) << bad;
  }
  const auto method = table.find("GET", "branches/7");
  EXPECT_EQ(method.entry, nullptr);
  EXPECT_EQ(method.allowed, std::vector<std::string>{"DELETE"});
}

TEST_F(ApiTableTest, TwoOfOnePathAreABug) {
  auto twice = some_views();
  twice.push_back({.path = "workloads/{a}/{b}", .view = &nothing});
  EXPECT_THROW((ApiTable{twice, routes}), std::logic_error);
}

TEST_F(ApiTableTest, AMisspeltParameterIsRefused) {
  const auto& entry = *table.find("GET", "workloads").entry;
  EXPECT_TRUE(check_parameters(entry, {{"at", "5"}, {"limit", "7"}, {"branch", "x"}}));
  const auto bad = check_parameters(entry, {{"limits", "7"}});
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().message, "query: found parameter \"limits\"; allowed: at, domain, branch, limit, offset");
  const auto hostile = check_parameters(entry, {{"\x1b[2J" + std::string(5000, 'x'), ""}});
  ASSERT_FALSE(hostile);
  EXPECT_LT(hostile.error().message.size(), 400U);
  EXPECT_EQ(hostile.error().message.find('\x1b'), std::string::npos);
}

TEST(PageParameters, AreNumbersAndFlagsWithinBounds) {
  const Parameters p({{"name", "n"}}, {{"limit", "20"},
                                       {"bad", "2x"},
                                       {"neg", "-1"},
                                       {"yes", "true"},
                                       {"no", "false"},
                                       {"maybe", "1"},
                                       {"huge", "99999999999999999999999"},
                                       {"empty", ""}});
  EXPECT_EQ(p.of_path("name"), "n");
  EXPECT_EQ(p.number("limit", 5, 1, 20), 20U);
  EXPECT_EQ(p.number("absent", 5, 1, 20), 5U);
  EXPECT_EQ(p.number("empty", 5, 1, 20), 5U);
  for (const char* name : {"bad", "neg", "huge"}) {
    const auto value = p.number(name, 5, 1, 20);
    ASSERT_FALSE(value) << name;
    EXPECT_EQ(value.error().kind, ErrorKind::invalid);
    EXPECT_NE(value.error().message.find("allowed: a whole number from 1 to 20"), std::string::npos) << value.error().message;
  }
  EXPECT_FALSE(p.number("limit", 5, 1, 19));
  EXPECT_EQ(p.flag("yes"), true);
  EXPECT_EQ(p.flag("no"), false);
  EXPECT_EQ(p.flag("absent"), false);
  EXPECT_FALSE(p.flag("maybe"));
  const Parameters hostile({}, {{"limit", "\xff\xfe\x1b]0;" + std::string(100'000, '7')}});
  const auto value = hostile.number("limit", 5, 1, 20);
  ASSERT_FALSE(value);
  EXPECT_LT(value.error().message.size(), 500U);
}

TEST(ApiAnswers, SayWhatIsWrong) {
  const auto gone = api_error(Error{ErrorKind::not_found, "no Workload \"a\xff\""});
  EXPECT_EQ(gone.status, 404);
  const auto body = Json::parse(gone.body);
  EXPECT_EQ(body["error"]["status"], 404);
  EXPECT_FALSE(body["error"].contains("remedy"));
  const auto later = api_error(Error{ErrorKind::unavailable, "not yet"});
  EXPECT_EQ(later.status, 503);
  EXPECT_EQ(later.headers.front(), (std::pair<std::string, std::string>{"Retry-After", "1"}));
  EXPECT_EQ(api_error(Error{ErrorKind::invalid, "x"}).status, 400);
  EXPECT_EQ(api_error(Error{ErrorKind::denied, "x"}).status, 403);
}

TEST(ApiAnswers, AreBoundedAndKnownAgain) {
  const Json text{{"text", std::string(10'000, 'x')}};
  EXPECT_FALSE(write_answer(text, 10'000));
  const auto written = write_answer(text, 20'000);
  ASSERT_TRUE(written);
  EXPECT_EQ(write_answer(text, 20'000)->etag, written->etag);
  EXPECT_NE(write_answer(Json{{"text", std::string(10'000, 'y')}}, 20'000)->etag, written->etag);

  operations::HttpRequest request;
  auto whole = respond(request, *written, Freshness::past, true);
  EXPECT_EQ(whole.status, 200);
  EXPECT_EQ(whole.content(), *written->body);
  request.headers["if-none-match"] = written->etag;
  const auto same = respond(request, *written, Freshness::past, true);
  EXPECT_EQ(same.status, 304);
  EXPECT_TRUE(same.content().empty());
  request.headers.clear();
  request.headers["accept-encoding"] = "gzip, deflate, br, zstd";
  const auto shorter = respond(request, *written, Freshness::past, true);
  EXPECT_LT(shorter.content().size(), 1000U);
  for (const char* other : {"gzip", "zstd;q=0", "xzstd", "zstdx", ""}) {
    request.headers["accept-encoding"] = other;
    EXPECT_EQ(respond(request, *written, Freshness::past, true).content().size(), written->body->size()) << other;
  }
}

TEST(AnswerMemory, ForgetsWhatWasNotAskedForLongest) {
  AnswerMemory memory(1000);
  const auto answer = [](char c) { return ApiAnswer{std::make_shared<const std::string>(200, c), "e"}; };
  for (const char c : {'a', 'b', 'c', 'd'}) memory.keep(std::string(1, c), answer(c));
  ASSERT_TRUE(memory.find("a"));  // the newest now
  memory.keep("e", answer('e'));
  EXPECT_TRUE(memory.find("a"));
  EXPECT_FALSE(memory.find("b"));
  EXPECT_EQ(*memory.find("e")->body, std::string(200, 'e'));
  memory.keep("large", {std::make_shared<const std::string>(900, 'x'), "e"});
  EXPECT_FALSE(memory.find("large"));
  EXPECT_TRUE(memory.find("e"));
}

// ---- the description --------------------------------------------------------------------------------------------------------------

TEST_F(ApiTableTest, IsDescribedWhole) {
  const Json described = openapi(table, "1.2.3");
  EXPECT_EQ(described["openapi"], "3.1.0");
  EXPECT_EQ(described["info"]["version"], "1.2.3");
  for (const auto& entry : table.entries()) {
    std::string method;
    for (const char c : entry.method) method += static_cast<char>(std::tolower(c));
    ASSERT_TRUE(described["paths"].contains("/" + entry.path)) << entry.path;
    const auto& operation = described["paths"]["/" + entry.path][method];
    EXPECT_EQ(operation["summary"], entry.summary) << entry.path;
    ASSERT_TRUE(operation["parameters"].is_array()) << entry.path;
    for (const auto& parameter : operation["parameters"]) EXPECT_TRUE(parameter.contains("name") && parameter.contains("in")) << entry.path;
    EXPECT_TRUE(operation["responses"].contains("200")) << entry.path;
  }
  EXPECT_TRUE(described["paths"].contains("/live"));
  EXPECT_TRUE(described["paths"]["/records"]["get"]["responses"].contains("403"));
  EXPECT_TRUE(described["servers"].is_array() && described["servers"][0]["url"] == "/api/v1") << described["servers"].dump();
}

// docs/api.md names every path that there is; HINDSIGHT_WRITE_DOCS=1 writes it anew.
TEST(ApiReference, SaysWhatThereIs) {
  const std::string file = "docs/api.md", begin = "<!-- views -->\n", end = "<!-- end -->\n";
  std::ifstream in(file);
  std::stringstream all;
  all << in.rdbuf();
  const std::string page = all.str();
  const auto from = page.find(begin), to = page.find(end);
  ASSERT_TRUE(from != std::string::npos && to != std::string::npos && from < to) << file << " has no " << begin << " and " << end;
  const auto views = all_views();
  const std::vector<ApiRoute> routes = log_routes(nullptr, {});  // of the timeline and of branches docs/api.md tells by itself
  const std::string now = page.substr(0, from + begin.size()) + api_reference(ApiTable(views, routes)) + page.substr(to);
  if (std::getenv("HINDSIGHT_WRITE_DOCS") != nullptr)
    std::ofstream(file) << now;
  else
    EXPECT_EQ(page, now) << "HINDSIGHT_WRITE_DOCS=1 writes it anew";
}

}  // namespace
}  // namespace hindsight::page
