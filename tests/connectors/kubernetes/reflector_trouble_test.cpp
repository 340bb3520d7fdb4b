// Shows the reflector with lists that fail on their way and watches that say nothing, against a server of our own.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>

#include "connectors/kubernetes/mirror/list_steps.hpp"
#include "tests/connectors/kubernetes/reflector_fixture.hpp"

namespace hindsight::connectors::kubernetes {
namespace {

using testing::event_line;
using testing::Exchange;
using testing::list_text;
using testing::object_text;
using testing::Watched;

using ReflectorTroubleTest = testing::ReflectorFixture;

// ---------------------------------------------------------------- lists that fail on the way

/// A server with `pages` pages of two objects each, which does something else with some of the requests for them: `trouble` is called with
/// the number of the page and how often it was asked for before.
class PagedServer {
 public:
  using Trouble = std::function<bool(Exchange&, int page, int before)>;
  PagedServer(int pages, Trouble trouble) : pages_(pages), trouble_(std::move(trouble)) {}

  void operator()(Exchange& exchange) const {
    if (exchange.query.contains("watch")) {
      exchange.begin_stream();
      exchange.wait_for_end();
      return;
    }
    const std::string token = exchange.query["continue"];
    const int page = token.empty() ? 0 : std::stoi(token);
    int before = 0;
    asked.change([&](auto& map) { before = map[page]++; });
    if (trouble_(exchange, page, before)) return;
    const auto name = [&](int i) { return object_text("n" + std::to_string(page * 2 + i), "u", 1 + page * 2 + i); };
    exchange.answer(200, list_text({name(0), name(1)}, 1000, page + 1 < pages_ ? std::to_string(page + 1) : ""));
  }

  Watched<std::map<int, int>> asked;  ///< Page → how often.

 private:
  int pages_;
  Trouble trouble_;
};

TEST_F(ReflectorTroubleTest, APageThatFailsIsAskedForAgainNotTheListFromItsBeginning) {
  // 200 pages, of which each tenth meets another trouble, and the 150th all of them.
  constexpr int pages = 200;
  const auto trouble = [](Exchange& exchange, int page, int before) {
    if (page != 150 && (page % 10 != 0 || before > 0)) return false;
    const int which = page == 150 ? before : page / 10;
    if (page == 150 && before > 5) return false;
    switch (which % 6) {
      case 0:
        exchange.answer(429, "busy", {"Retry-After: 0"});
        return true;
      case 1:
        exchange.cut();
        return true;
      case 2:
        exchange.answer(500, "etcdserver: leader changed");
        return true;
      case 3:
        exchange.answer(200, "{\"items\":[{");
        return true;
      case 4:
        exchange.begin_stream();
        exchange.send("{\"items\":[");
        exchange.cut();
        return true;
      default:
        exchange.answer(503, "");
        return true;
    }
  };
  const PagedServer paged(pages, trouble);
  start(paged);
  ASSERT_TRUE(seen.wait_for("synced"));
  EXPECT_EQ(seen.lines().size(), pages * 2 + 1U);
  const auto asked = paged.asked.get();
  EXPECT_EQ(asked.at(0), 2);
  EXPECT_EQ(asked.at(150), 7);
  int requests = 0;
  for (const auto& [page, count] : asked) requests += count;
  EXPECT_EQ(requests, pages + 19 + 6);
  EXPECT_EQ(cluster->statistics().kinds[0].reflector.lists, 1U);
  // Some of the broken connections libcurl replaces by itself.
  EXPECT_LE(cluster->statistics().kinds[0].reflector.pages, static_cast<std::uint64_t>(requests));
}

TEST_F(ReflectorTroubleTest, AStormOfTooManyRequestsCostsNoMoreRequestsThanItSendsAnswers) {
  // Each page is refused three times: four requests a page, whatever the number of pages.
  const PagedServer paged(40, [](Exchange& exchange, int, int before) {
    if (before >= 3) return false;
    exchange.answer(429, "busy");
    return true;
  });
  start(paged);
  ASSERT_TRUE(seen.wait_for("synced"));
  for (const auto& [page, count] : paged.asked.get()) EXPECT_EQ(count, 4) << page;
}

TEST_F(ReflectorTroubleTest, APageThatNeverComesLetsTheListBeginAnewAfterAWhile) {
  // A server behind which another one has the rest of the list, and does not know the token.
  const PagedServer paged(3, [](Exchange& exchange, int page, int before) {
    if (page != 1 || before >= static_cast<int>(ListSteps::tries_of_page_max)) return false;
    exchange.answer(500, "no such token");
    return true;
  });
  start(paged);
  ASSERT_TRUE(seen.wait_for("synced"));
  EXPECT_EQ(paged.asked.get(), (std::map<int, int>{{0, 2}, {1, 9}, {2, 1}}));
  EXPECT_EQ(seen.lines().size(), 7U);  // Nothing is delivered twice.
}

/// A server whose first two lists have no end: `page` makes the n-th page of such a list. The third list is a good one.
class EndlessServer {
 public:
  explicit EndlessServer(std::function<std::string(int)> page) : page_(std::move(page)) {}
  void operator()(Exchange& exchange) const {
    if (exchange.query.contains("watch")) {
      exchange.begin_stream();
      exchange.wait_for_end();
      return;
    }
    int list = 0;
    int number = 0;
    pages.change([&](auto& lists) {
      if (!exchange.query.contains("continue")) lists.push_back(0);
      list = static_cast<int>(lists.size());
      number = lists.back()++;
    });
    exchange.answer(200, list < 3 ? page_(number) : list_text({object_text("good", "u", 7)}, 10));
  }

  Watched<std::vector<int>> pages;  ///< Of each list: how many were asked for.

 private:
  std::function<std::string(int)> page_;
};

class ReflectorEndlessTest : public ReflectorTroubleTest {
 protected:
  void expect_that_it_ends(std::function<std::string(int)> page) {
    const EndlessServer endless(std::move(page));
    start(endless);
    ASSERT_TRUE(seen.wait_for("synced"));
    EXPECT_EQ(seen.lines()[seen.lines().size() - 2].substr(0, 4), "dele") << "what the bad lists had and the good one has not";
    const auto pages = endless.pages.get();
    ASSERT_EQ(pages.size(), 3U);
    EXPECT_LE(pages[0], static_cast<int>(ListSteps::idle_pages_max) + 3);
    EXPECT_LE(pages[1], static_cast<int>(ListSteps::idle_pages_max) + 3);
    const auto told = notices.get();
    ASSERT_FALSE(told.empty());
    EXPECT_EQ(told[0].kind, Notice::Kind::list_refused);
    EXPECT_NE(told[0].message.find("cannot read the list of configmaps/v1 to its end: found 101 pages in a row"), std::string::npos)
        << told[0].message;
    EXPECT_EQ(cluster->statistics().kinds[0].reflector.failures, 2U);
    EXPECT_EQ(cluster->statistics().kinds[0].objects, 1U);
  }
};

// Each token leads to the other one. "A page that leads back to itself" was noticed before, a circle of two was not.
TEST_F(ReflectorEndlessTest, ATokenThatLeadsBackToAnEarlierOneHasAnEnd) {
  expect_that_it_ends([](int number) {
    return number % 2 == 0 ? list_text({object_text("a", "u1", 1)}, 10, "A") : list_text({object_text("b", "u2", 2)}, 10, "B");
  });
}

TEST_F(ReflectorEndlessTest, EverNewTokensWithTheSameObjectsHaveAnEnd) {
  expect_that_it_ends([](int number) {
    return list_text({object_text("a", "u1", 1), object_text("b", "u2", 2)}, 10, "t" + std::to_string(number));
  });
}

TEST_F(ReflectorEndlessTest, EverNewTokensWithoutObjectsHaveAnEnd) {
  expect_that_it_ends([](int number) {
    return list_text(number == 0 ? std::vector{object_text("a", "u1", 1)} : std::vector<std::string>{}, 10, "t" + std::to_string(number));
  });
}

TEST_F(ReflectorTroubleTest, AFewPagesWithoutObjectsAreNoTrouble) {
  // What the API allows where a selector leaves nothing of a page.
  start([](Exchange& exchange) {
    if (exchange.query.contains("watch")) {
      exchange.begin_stream();
      exchange.wait_for_end();
      return;
    }
    const std::string token = exchange.query["continue"];
    const int page = token.empty() ? 0 : std::stoi(token);
    if (page < 50)
      exchange.answer(200, list_text({}, 10, std::to_string(page + 1)));
    else
      exchange.answer(200, list_text({object_text("a", "u", 1)}, 10));
  });
  ASSERT_TRUE(seen.wait_for("synced"));
  EXPECT_EQ(seen.lines(), (std::vector<std::string>{"added a/u@1", "synced"}));
  EXPECT_TRUE(notices.get().empty());
}

TEST_F(ReflectorTroubleTest, RetryAfterHoldsForPagesAndWatches) {
  using Clock = std::chrono::steady_clock;
  const Watched<std::vector<Clock::time_point>> times;
  const auto note = [times] { times.change([](auto& list) { list.push_back(Clock::now()); }); };
  start(play({{list_of({object_text("a", "u1", 1)}, 10, "t"),
               [note](Exchange& e) {
                 note();
                 e.answer(429, "", {"Retry-After: 1"});
               },
               [note](Exchange& e) {
                 note();
                 e.answer(200, list_text({}, 10));
               }},
              {[note](Exchange& e) {
                 note();
                 e.answer(429, "", {"Retry-After: 1"});
               },
               [note](Exchange& e) {
                 note();
                 e.begin_stream();
                 e.wait_for_end();
               }}}));
  ASSERT_TRUE(times.wait([](const auto& list) { return list.size() == 4; }));
  // A lower bound holds on the slowest machine.
  EXPECT_GE(times.get()[1] - times.get()[0], std::chrono::seconds(1));
  EXPECT_GE(times.get()[3] - times.get()[2], std::chrono::seconds(1));
}

TEST_F(ReflectorTroubleTest, PagesThatAreTooLargeAreReadInSmallerSteps) {
  // Objects of 10 KB, of which an answer may hold no more than nine.
  static constexpr int count = 50;
  ReflectorOptions options;
  options.page_bytes_max = 100'000;
  start(
      [](Exchange& exchange) {
        if (exchange.query.contains("watch")) {
          exchange.begin_stream();
          exchange.wait_for_end();
          return;
        }
        const std::string token = exchange.query["continue"];
        const int from = token.empty() ? 0 : std::stoi(token);
        const int to = std::min(count, from + std::stoi(exchange.query["limit"]));
        std::vector<std::string> items;
        for (int i = from; i < to; ++i) {
          std::string object = object_text("n" + std::to_string(i), "u", i + 1);
          object.insert(object.size() - 1, R"(,"data":")" + std::string(10'000, 'x') + "\"");
          items.push_back(object);
        }
        exchange.answer(200, list_text(items, 1000, to < count ? std::to_string(to) : ""));
      },
      options);
  ASSERT_TRUE(seen.wait_for("synced"));
  EXPECT_EQ(seen.lines().size(), count + 1U);
  EXPECT_FALSE(requests_with("limit=7").empty());
  EXPECT_EQ(count_notices(Notice::Kind::list_refused), 1U);
  EXPECT_EQ(count_notices(Notice::Kind::unreachable), 0U);
}

TEST_F(ReflectorTroubleTest, PagesThatTakeTooLongAreReadInSmallerSteps) {
  ReflectorOptions options;
  options.page_time_limit = std::chrono::milliseconds(100);
  start(
      [](Exchange& exchange) {
        if (exchange.query.contains("watch")) {
          exchange.begin_stream();
          exchange.wait_for_end();
        } else if (std::stoi(exchange.query["limit"]) > 100) {
          exchange.wait_for_end();  // Until the client has had enough.
        } else {
          exchange.answer(200, list_text({object_text("a", "u1", 1)}, 10));
        }
      },
      options);
  ASSERT_TRUE(seen.wait_for("synced"));
  EXPECT_FALSE(requests_with("limit=62").empty());
}

TEST_F(ReflectorTroubleTest, AListThatExpiresAgainAndAgainGetsFartherEachTime) {
  // Its token is good for three pages, whatever their size: only larger ones reach the end.
  static constexpr int count = 4000;
  const auto left = std::make_shared<std::atomic<int>>(0);
  start([left](Exchange& exchange) {
    if (exchange.query.contains("watch")) {
      exchange.begin_stream();
      exchange.wait_for_end();
      return;
    }
    const std::string token = exchange.query["continue"];
    if (token.empty()) *left = 3;
    if ((*left)-- == 0) return exchange.answer(410, R"({"kind":"Status","code":410,"metadata":{"continue":"inconsistent"}})");
    const int from = token.empty() ? 0 : std::stoi(token);
    const int to = std::min(count, from + std::stoi(exchange.query["limit"]));
    std::vector<std::string> items;
    for (int i = from; i < to; ++i) items.push_back(object_text("n" + std::to_string(i), "u", i + 1));
    exchange.answer(200, list_text(items, 10'000, to < count ? std::to_string(to) : ""));
  });
  ASSERT_TRUE(seen.wait_for("synced"));
  EXPECT_EQ(seen.lines().size(), count + 1U);  // What was delivered is not delivered again.
  EXPECT_EQ(requests_with("continue=inconsistent").size(), 0U);
  EXPECT_EQ(requests_with("limit=500").size(), 4U);
  EXPECT_EQ(requests_with("limit=1000").size(), 4U);
  EXPECT_EQ(requests_with("limit=2000").size(), 2U);
}

TEST_F(ReflectorTroubleTest, APageThatLeadsBackToItselfIsNotFollowedForEver) {
  const auto mended = std::make_shared<std::atomic<bool>>(false);
  start([mended](Exchange& exchange) {
    if (exchange.query.contains("watch")) {
      exchange.begin_stream();
      exchange.wait_for_end();
    } else {
      exchange.answer(200, list_text({object_text("a", "u1", 1)}, 10, *mended ? "" : "again"));
    }
  });
  ASSERT_TRUE(wait_for_notice(Notice::Kind::list_refused));
  EXPECT_NE(notices.get()[0].message.find("leads back to itself"), std::string::npos) << notices.get()[0].message;
  *mended = true;
  EXPECT_TRUE(seen.wait_for("synced"));
}

// ---------------------------------------------------------------- watches that say nothing

TEST_F(ReflectorTroubleTest, AWatchThatSaysNothingIsOpenedAgainWhereItWas) {
  ReflectorOptions options;
  options.watch_silence_max = std::chrono::milliseconds(150);
  const std::string line = event_line("ADDED", object_text("b", "u2", 21));
  // Nothing at all; empty lines, and a line that comes drop by drop, which say as little.
  const auto drops = [](const std::string& text) {
    return [text](Exchange& exchange) {
      exchange.begin_stream();
      for (std::size_t i = 0; exchange.is_open() && exchange.send(std::string(1, text[i % text.size()])); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    };
  };
  start(play({{list_of({}, 10)},
              {watch_of(event_line("ADDED", object_text("a", "u1", 11))), [](Exchange& e) { e.wait_for_end(); }, drops("\n"),
               drops(R"({"type":"ADDED","object":{"x":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx)"), watch_of(line)}}),
        options);
  ASSERT_TRUE(seen.wait_for("added b/u2@21"));
  EXPECT_EQ(seen.lines(), (std::vector<std::string>{"synced", "added a/u1@11", "added b/u2@21"}));
  EXPECT_GE(cluster->statistics().kinds[0].reflector.silent_watches, 4U);
  EXPECT_EQ(requests_with("limit=").size(), 1U);
  EXPECT_EQ(requests_with("resourceVersion=10").size(), 1U);
  EXPECT_TRUE(notices.get().empty());
}

TEST_F(ReflectorTroubleTest, BookmarksKeepAWatchAlive) {
  ReflectorOptions options;
  options.watch_silence_max = std::chrono::seconds(1);
  const auto version = std::make_shared<std::atomic<int>>(20);
  start(play({{list_of({}, 10)}, {[version](Exchange& exchange) {
                exchange.begin_stream();
                for (int i = 0; i < 30; ++i) {
                  exchange.send(event_line("BOOKMARK", R"({"metadata":{"resourceVersion":")" + std::to_string(++*version) + "\"}}"));
                  std::this_thread::sleep_for(std::chrono::milliseconds(50));
                }
                exchange.send(event_line("ADDED", object_text("a", "u1", 100)));
                exchange.wait_for_end();
              }}}),
        options);
  ASSERT_TRUE(seen.wait_for("added a/u1@100"));
  EXPECT_EQ(requests_with("watch=1").size(), 1U);
}

TEST_F(ReflectorTroubleTest, AVersionThatLiesAheadOfTheServerIsGivenUp) {
  // As after the server's data were restored from an older state: it waits for a version that will not come, and says so.
  start(play({{list_of({object_text("a", "u1", 1)}, 1000), list_of({object_text("a", "u1", 1)}, 10)}, {[](Exchange& exchange) {
                const bool ahead = exchange.query["resourceVersion"] == "1000";
                if (ahead) return exchange.answer(504, R"({"kind":"Status","message":"Too large resource version: 1000, current: 10"})");
                exchange.begin_stream();
                exchange.send(event_line("MODIFIED", object_text("a", "u1", 11)));
                exchange.wait_for_end();
              }}}));
  ASSERT_TRUE(seen.wait_for("modified a/u1@11"));
  EXPECT_EQ(requests_with("resourceVersion=1000").size(), 3U);
}

TEST_F(ReflectorTroubleTest, HeadersWithoutEndOfAWatchAreToldAndDoNotEndIt) {
  start(play({{list_of({}, 10)},
              {[](Exchange& exchange) {
                 for (bool there = exchange.send_raw("HTTP/1.1 200 OK\r\n"); there;)
                   there = exchange.send_raw("X: " + std::string(1000, 'x') + "\r\n");
               },
               watch_of(event_line("ADDED", object_text("a", "u1", 11)))}}));
  ASSERT_TRUE(seen.wait_for("added a/u1@11"));
  EXPECT_EQ(count_notices(Notice::Kind::list_refused), 1U);
}

}  // namespace
}  // namespace hindsight::connectors::kubernetes
