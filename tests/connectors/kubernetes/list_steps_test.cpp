// Shows in which steps a list is read when pages fail.
#include "connectors/kubernetes/mirror/list_steps.hpp"

#include <gtest/gtest.h>

namespace hindsight::connectors::kubernetes {
namespace {

using Step = ListSteps::Step;
using Failure = HttpAnswer::Failure;

HttpAnswer status(int code) {
  HttpAnswer out;
  out.status = code;
  return out;
}
HttpAnswer failure(Failure why) {
  HttpAnswer out;
  out.failure = why;
  return out;
}

TEST(ListSteps, TriesAPageAgainBeforeTheListBeginsAnew) {
  ListSteps steps(500);
  for (int page = 0; page < 3; ++page) {
    for (unsigned i = 1; i < ListSteps::tries_of_page_max; ++i) {
      EXPECT_EQ(steps.failed(i % 2 == 0 ? status(500) : failure(Failure::connection), false), Step::again);
    }
    steps.came();
  }
  for (unsigned i = 1; i < ListSteps::tries_of_page_max; ++i) EXPECT_EQ(steps.failed(status(503), false), Step::again);
  EXPECT_EQ(steps.failed(status(503), false), Step::anew);
  EXPECT_EQ(steps.failed(status(503), false), Step::again);
  EXPECT_EQ(steps.size(), 500);
}

// A list that leads in a circle, or to empty pages for ever, would keep its kind from being watched for ever.
TEST(ListSteps, PagesThatBringNothingNewHaveAnEnd) {
  ListSteps steps(500);
  for (int round = 0; round < 2; ++round) {
    steps.begin();
    for (std::size_t i = 0; i < ListSteps::idle_pages_max; ++i) EXPECT_EQ(steps.endless(0), "");
    EXPECT_EQ(steps.endless(1), "") << "as long as something comes now and then";
    for (std::size_t i = 0; i < ListSteps::idle_pages_max; ++i) EXPECT_EQ(steps.endless(0), "");
    EXPECT_EQ(steps.endless(0),
              "found 101 pages in a row with no object that stood on none before, and a token for more; allowed: at most 100");
  }
  EXPECT_EQ(steps.size(), 500);
}

TEST(ListSteps, PagesThatAlwaysBringSomethingHaveAnEndToo) {
  ListSteps steps(500);
  steps.begin();
  std::size_t pages = 1;
  while (steps.endless(1).empty()) ASSERT_LT(++pages, ListSteps::pages_max + 1);
  EXPECT_EQ(pages, ListSteps::pages_max);
  EXPECT_EQ(steps.size(), 1000) << "should it be a list of so many objects, it needs larger pages";
  steps.begin();
  EXPECT_EQ(steps.endless(1), "");
}

TEST(ListSteps, WhoAsksForAPauseIsAskedAgainAsLongAsTheTokenLives) {
  ListSteps steps(500);
  HttpAnswer overloaded = status(503);
  overloaded.retry_after_seconds = 1;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(steps.failed(i % 2 == 0 ? status(429) : overloaded, false), Step::again);
  EXPECT_EQ(steps.failed(status(410), false), Step::anew);
}

TEST(ListSteps, ARefusalInTheMidstOfAListMayBeThatOfAServerThatHasJustStarted) {
  ListSteps steps(500);
  for (unsigned i = 1; i < ListSteps::tries_of_page_max; ++i) EXPECT_EQ(steps.failed(status(i % 2 == 0 ? 401 : 403), false), Step::again);
  EXPECT_EQ(steps.failed(status(403), false), Step::anew);
}

TEST(ListSteps, TheFirstPageIsTheListItself) {
  ListSteps steps(500);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(steps.failed(status(429), true), Step::anew);
}

TEST(ListSteps, WhatIsTooMuchIsAskedForInSmallerSteps) {
  ListSteps steps(500);
  EXPECT_EQ(steps.failed(failure(Failure::too_large), false), Step::again);
  EXPECT_EQ(steps.size(), 250);
  EXPECT_EQ(steps.failed(failure(Failure::timeout), false), Step::again);
  EXPECT_EQ(steps.size(), 125);
  EXPECT_EQ(steps.failed(status(504), true), Step::anew);
  EXPECT_EQ(steps.size(), 62);
  for (int i = 0; i < 10; ++i) (void)steps.failed(failure(Failure::too_large), true);
  EXPECT_EQ(steps.size(), 1);
  // The next list begins a little bolder, until it is as it was.
  for (const int expected : {2, 500}) {
    steps.came();
    steps.complete();
    EXPECT_EQ(steps.size(), expected);
  }
}

TEST(ListSteps, AListThatExpiresIsReadInLargerSteps) {
  ListSteps steps(500);
  for (const int expected : {1000, 2000, 4000, 4000}) {
    EXPECT_EQ(steps.failed(status(410), false), Step::anew);
    EXPECT_EQ(steps.size(), expected);
  }
  steps.complete();
  EXPECT_EQ(steps.size(), 500);
}

TEST(ListSteps, DoesNotGrowIntoWhatWasTooMuch) {
  ListSteps steps(500);
  (void)steps.failed(failure(Failure::timeout), false);
  EXPECT_EQ(steps.failed(status(410), false), Step::anew);
  EXPECT_EQ(steps.size(), 250);
  // But it tries again, should the server have been slow for a while only.
  EXPECT_EQ(steps.failed(status(410), false), Step::anew);
  EXPECT_EQ(steps.size(), 500);
}

TEST(ListSteps, ARefusalIsNoMatterOfSteps) {
  ListSteps steps(500);
  for (const int code : {400, 302}) EXPECT_EQ(steps.failed(status(code), false), Step::stop);
  for (const int code : {400, 401, 403, 302}) EXPECT_EQ(steps.failed(status(code), true), Step::stop);
  EXPECT_EQ(steps.size(), 500);
}

}  // namespace
}  // namespace hindsight::connectors::kubernetes
