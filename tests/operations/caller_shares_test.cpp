// Callers in great number, from one address or from many, and those who are known beside them: who gives way, and what all of them may
// take together.

#include <atomic>
#include <utility>
#include <vector>

#include "operations/caller_shares.hpp"
#include "operations/descriptor_limit.hpp"
#include "operations/http_workers.hpp"
#include "operations/large_lane.hpp"
#include "tests/operations/attacked_server.hpp"
#include "tests/operations/attackers.hpp"

namespace hindsight::operations {
namespace {

using attack::Holder;

// ---- threads ------------------------------------------------------------------------------------------------------------------------

TEST(HttpWorkersTest, PeersAreServedByTurns) {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> order;
  Gate gate;
  HttpWorkers workers(1, 100);
  const auto ask = [&](const std::string& peer) {
    const auto displaced = workers.enqueue({peer,
                                            [&, peer] {
                                              if (peer == "first") gate.pass();
                                              const std::lock_guard lock(mutex);
                                              order.push_back(peer);
                                              changed.notify_all();
                                            },
                                            {}});
    EXPECT_FALSE(displaced);
  };
  ask("first");
  gate.wait_for(1);
  for (int i = 0; i < 4; ++i) ask("a");
  ask("b");
  ask("c");
  gate.open();
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return order.size() == 7; });
  EXPECT_EQ(order, (std::vector<std::string>{"first", "a", "b", "c", "a", "a", "a"}));
}

// Many who are not known, each of whom asks for little, do not make others wait for all of them.
TEST(HttpWorkersTest, StrangersAndOthersAreServedAlternately) {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> order;
  Gate gate;
  HttpWorkers workers(1, 100);
  const auto ask = [&](const std::string& peer, bool proven) {
    HttpJob job;
    job.peer = peer;
    job.proven = proven;
    job.work = [&, peer] {
      if (peer == "first") gate.pass();
      const std::lock_guard lock(mutex);
      order.push_back(peer);
      changed.notify_all();
    };
    EXPECT_FALSE(workers.enqueue(std::move(job)));
  };
  ask("first", false);
  gate.wait_for(1);
  for (const char* stranger : {"a", "b", "c", "d"}) ask(stranger, false);
  for (int i = 0; i < 3; ++i) ask("known", true);
  gate.open();
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return order.size() == 8; });
  EXPECT_EQ(order, (std::vector<std::string>{"first", "known", "a", "known", "b", "known", "c", "d"}));
}

TEST(HttpWorkersTest, OfAFullQueueStrangersGiveWayWhileTheyHaveMoreThanHalf) {
  Gate gate;
  HttpWorkers workers(1, 4);
  const auto job = [](const std::string& peer, bool proven) {
    HttpJob out;
    out.peer = peer;
    out.work = [] {};
    out.proven = proven;
    return out;
  };
  EXPECT_FALSE(workers.enqueue({"busy", [&] { gate.pass(); }, {}}));
  gate.wait_for(1);
  for (const char* stranger : {"a", "b", "c", "d"}) EXPECT_FALSE(workers.enqueue(job(stranger, false)));
  for (int i = 0; i < 2; ++i) {
    const auto displaced = workers.enqueue(job("known", true));
    ASSERT_TRUE(displaced);
    EXPECT_FALSE(displaced->proven);
  }
  const auto displaced = workers.enqueue(job("known", true));
  ASSERT_TRUE(displaced);
  EXPECT_TRUE(displaced->proven);
  EXPECT_EQ(workers.waiting(), 4U);
  gate.open();
  workers.stop();
}

TEST(HttpWorkersTest, WhatWaitsCanBeWithdrawn) {
  Gate gate;
  std::atomic<int> done{0};
  HttpWorkers workers(1, 10);
  const auto job = [&](std::uint64_t id) {
    HttpJob out;
    out.peer = "a";
    out.work = [&] {
      gate.pass();
      done.fetch_add(1);
    };
    out.id = id;
    return out;
  };
  for (const std::uint64_t id : {1, 2, 3}) EXPECT_FALSE(workers.enqueue(job(id)));
  gate.wait_for(1);
  EXPECT_FALSE(workers.withdraw("a", 1));  // a thread has it
  EXPECT_FALSE(workers.withdraw("b", 2));
  EXPECT_TRUE(workers.withdraw("a", 2));
  EXPECT_FALSE(workers.withdraw("a", 2));
  EXPECT_EQ(workers.waiting(), 1U);
  gate.open();
  EXPECT_TRUE(eventually([&] { return done.load() == 2; }));
  workers.stop();
  EXPECT_EQ(done.load(), 2);
}

TEST(HttpWorkersTest, TheLastOfWhoHasMostIsTurnedAway) {
  Gate gate;
  HttpWorkers workers(1, 3);
  EXPECT_FALSE(workers.enqueue({"busy", [&] { gate.pass(); }, {}}));
  gate.wait_for(1);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(workers.enqueue({"a", [] {}, {}}));
  const auto displaced = workers.enqueue({"b", [] {}, {}});
  ASSERT_TRUE(displaced);
  EXPECT_EQ(displaced->peer, "a");
  EXPECT_EQ(workers.waiting(), 3U);
  gate.open();
  workers.stop();
}

// ---- memory -------------------------------------------------------------------------------------------------------------------------

TEST(LargeLaneTest, PlacesGoToWhoHasFewest) {
  LargeLane lane(2);
  std::vector<int> gone;
  const auto enter = [&](std::uint64_t id, const std::string& peer) {
    return lane.enter(id, peer, true, [&, id] { gone.push_back(static_cast<int>(id)); });
  };
  EXPECT_TRUE(enter(1, "a"));
  EXPECT_TRUE(enter(2, "a"));
  EXPECT_FALSE(enter(3, "a"));
  EXPECT_FALSE(enter(4, "b"));
  EXPECT_FALSE(enter(5, "b"));
  lane.leave(1);
  EXPECT_EQ(gone, (std::vector<int>{4}));
  lane.leave(5);  // waits no longer
  lane.leave(2);
  EXPECT_EQ(gone, (std::vector<int>{4, 3}));
  lane.leave(3);
  lane.leave(4);
  lane.leave(4);
  EXPECT_EQ(lane.taken(), 0U);
}

TEST(LargeLaneTest, StrangersHaveHalfOfThePlacesAndComeLast) {
  LargeLane lane(4);
  std::vector<int> gone;
  const auto enter = [&](std::uint64_t id, const std::string& peer, bool proven) {
    return lane.enter(id, peer, proven, [&, id] { gone.push_back(static_cast<int>(id)); });
  };
  EXPECT_TRUE(enter(1, "a", false));
  EXPECT_TRUE(enter(2, "b", false));
  EXPECT_FALSE(enter(3, "c", false));  // there are two places, for others
  EXPECT_FALSE(enter(4, "d", false));
  EXPECT_TRUE(enter(5, "known", true));
  EXPECT_TRUE(enter(6, "known", true));
  EXPECT_FALSE(enter(7, "known", true));
  EXPECT_FALSE(enter(8, "known", true));
  lane.leave(1);
  EXPECT_EQ(gone, (std::vector<int>{7}));  // though it has two, and the others none
  lane.leave(2);
  EXPECT_EQ(gone, (std::vector<int>{7, 8}));
  lane.leave(5);
  lane.leave(6);
  EXPECT_EQ(gone, (std::vector<int>{7, 8, 3, 4}));
  EXPECT_FALSE(enter(9, "e", false));
  lane.leave(7);
  lane.leave(8);
  EXPECT_EQ(gone.size(), 4U);
  EXPECT_EQ(lane.taken(), 2U);
  lane.leave(3);
  EXPECT_EQ(gone.back(), 9);
}

class LargeRequests : public HostileCallerTest {
 protected:
  static constexpr std::size_t large = 300'000;

  void start_small(HttpServerOptions options = {}) {
    routes_.add("POST", "/post", [this](const HttpRequest& q) {
      gate_.pass();
      return text("got " + std::to_string(q.body.size()));
    });
    routes_.add("POST", "/heavy", [](const HttpRequest&) { return text("heavy"); },
                {.bytes_max = 5'000, .weigh = [](std::string_view piece) { return piece.size() * 1'000; }});
    options.body_bytes_max = 1'000'000;
    options.small_request_memory_max = 100'000;
    options.request_memory_max = 4'000'000;
    options.large_requests_max = 4;  // two for those who are not known, as all are here
    start(options);
  }
  static std::string post(const std::string& path, std::size_t size) {
    return "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(size) + "\r\nConnection: close\r\n\r\n";
  }

  void TearDown() override {
    gate_.open();
    server_.reset();
  }

  Gate gate_;
};

TEST_F(LargeRequests, AreInProgressOnlyAsManyAsThereArePlaces) {
  start_small({.threads = 8});
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 6; ++i) {
    clients.push_back(std::make_unique<RawClient>(port_));
    clients.back()->send(post("/post", large) + std::string(large, 'x'));
  }
  gate_.wait_for(2);
  EXPECT_EQ(server_->statistics().large, 2U);
  expect_answers();
  gate_.open();
  for (auto& client : clients) EXPECT_TRUE(client->read_all().ends_with("got " + std::to_string(large)));
  expect_nobody_left();
}

TEST_F(LargeRequests, ThatFindNoPlaceAreToldToComeAgain) {
  start_small({.threads = 4, .body_seconds = 1});
  RawClient first(port_), second(port_), third(port_);
  for (auto* client : {&first, &second}) client->send(post("/post", large) + std::string(large, 'x'));
  gate_.wait_for(2);
  third.send(post("/post", large) + std::string(large, 'x'));
  const std::string answer = third.read_all();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 503 ")) << answer;
  EXPECT_NE(answer.find("Retry-After: 1\r\n"), std::string::npos) << answer;
  gate_.open();
}

TEST_F(LargeRequests, OfSlowClientsGiveTheirPlacesBack) {
  start_small({.threads = 4, .large_seconds = 1});
  gate_.open();
  const Holder slow(port_, 10, {.opening = post("/post", large) + std::string(200'000, 'x'), .drip = "x"});
  EXPECT_TRUE(eventually([&] { return server_->statistics().large == 2; }));
  RawClient client(port_);
  client.send(post("/post", large) + std::string(large, 'x'));
  EXPECT_TRUE(client.read_all().ends_with("got " + std::to_string(large)));
}

TEST_F(LargeRequests, ThatWouldTakeTooMuchAreRefused) {
  start_small();
  EXPECT_TRUE(answers_to(post("/heavy", 3'000) + std::string(3'000, 'x')).ends_with("heavy"));
  EXPECT_TRUE(answers_to(post("/heavy", 4'500) + std::string(4'500, 'x')).starts_with("HTTP/1.1 413 "));  // by weight
  EXPECT_TRUE(answers_to(post("/heavy", 6'000) + std::string(6'000, 'x')).starts_with("HTTP/1.1 413 "));  // by length
  EXPECT_TRUE(answers_to("POST /heavy HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1000\r\n" + std::string(4'096, 'x') +
                         "\r\n1000\r\n" + std::string(4'096, 'x') + "\r\n0\r\n\r\n")
                  .starts_with("HTTP/1.1 413 "));
  EXPECT_TRUE(answers_to(post("/post", 2'000'000)).starts_with("HTTP/1.1 413 "));
}

TEST_F(HostileCallerTest, AnswersThatNobodyTakesHaveABound) {
  start({.connections_max = 200, .response_seconds = 300, .answer_memory_max = 40'000'000});
  const Holder deaf(port_, 150, {.opening = "GET /big HTTP/1.1\r\nHost: x\r\n\r\n", .deaf = true});
  EXPECT_TRUE(eventually([&] { return server_->statistics().failed > 0 || server_->statistics().evicted > 0; }));
  expect_answers();
  // A longer answer too, once those who have been slow for a second make room.
  EXPECT_TRUE(eventually([&] { return request(port_, "GET", "/big").body.size() == 4'000'000; }));
}

// ---- memory of small requests -------------------------------------------------------------------------------------------------------

class ManySmallRequests : public HostileCallerTest {
 protected:
  static constexpr std::size_t megabyte = 1'000'000, bound = 40 * megabyte, one_request = 4 * megabyte;

  void start_small(unsigned threads) {
    raise_descriptor_limit();  // else there are places for a part of them only
    routes_.add("PUT", "/wait", [this](const HttpRequest& q) {
      gate_.pass();
      return text("got " + std::to_string(q.body.size()));
    });
    HttpServerOptions options{.threads = threads, .waiting_max = 600, .connections_max = 700};
    options.body_seconds = options.wait_seconds = 300;
    options.body_bytes_max = 2 * megabyte;
    options.small_request_memory_max = one_request;
    options.small_requests_memory_max = bound;
    start(options);
  }
  void TearDown() override {
    gate_.open();
    server_.reset();
  }
  static std::string put(const std::string& path, std::size_t size) {
    return "PUT " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n" + std::string(size, 'x');
  }
  /// From a few addresses, one after the other.
  [[nodiscard]] std::unique_ptr<RawClient> stranger(int number) const {
    return std::make_unique<RawClient>(port_, std::chrono::seconds(20), "127.0.1." + std::to_string(1 + number % 5));
  }
  void expect_bound() const {
    EXPECT_LE(server_->statistics().request_memory, bound);
    EXPECT_LE(server_->statistics().request_memory_peak, bound + one_request);  // the moment in which it is noticed
  }

  Gate gate_;
};

// Issue 14, 5: each of them is small, all together were not.
TEST_F(ManySmallRequests, HaveABoundTogether) {
  start_small(4);
  std::vector<std::unique_ptr<RawClient>> hostile;
  for (int i = 0; i < 300; ++i) {
    hostile.push_back(stranger(i));
    hostile.back()->send(put("/put", megabyte - 1));
    if (i % 50 != 49) continue;
    RawClient good(port_);
    good.send(put("/put", megabyte));
    EXPECT_TRUE(good.read_answer().starts_with("HTTP/1.1 200 ")) << "after " << i;
    expect_bound();
  }
  EXPECT_GT(server_->statistics().rejected, 200U);
  hostile.clear();
  expect_nobody_left();
  EXPECT_EQ(server_->statistics().request_memory, 0U);
}

// As do those that have come and wait for a thread: whoever has many of them gives way to who has none.
TEST_F(ManySmallRequests, GiveWayWhileTheyWait) {
  start_small(2);
  std::vector<std::unique_ptr<RawClient>> hostile;
  for (int i = 0; i < 60; ++i) {
    hostile.push_back(stranger(i));
    hostile.back()->send(put("/wait", megabyte));
    if (i == 5) gate_.wait_for(2);
  }
  EXPECT_TRUE(eventually([&] { return server_->statistics().rejected > 20; }));
  // Until nothing of theirs is on its way any more.
  EXPECT_TRUE(eventually([&, last = std::uint64_t{0}]() mutable {
    return server_->statistics().received == std::exchange(last, server_->statistics().received);
  }));
  const auto before = server_->statistics().received;
  RawClient good(port_);
  good.send(put("/wait", megabyte));
  EXPECT_TRUE(eventually([&] { return server_->statistics().received > before + megabyte; }));
  expect_bound();
  gate_.open();
  EXPECT_TRUE(good.read_answer().ends_with("got 1000000"));
}

TEST_F(ManySmallRequests, LeaveNothingBehindInConnectionsThatStayOpen) {
  start_small(4);
  std::vector<std::unique_ptr<RawClient>> open;
  for (int i = 0; i < 30; ++i) {
    open.push_back(stranger(i));
    open.back()->send(put("/put", megabyte));
    EXPECT_TRUE(open.back()->read_answer().starts_with("HTTP/1.1 200 "));
  }
  EXPECT_TRUE(eventually([&] { return server_->statistics().request_memory == 0; })) << server_->statistics().request_memory;
  EXPECT_EQ(server_->statistics().connections, 30U);
}

// ---- many addresses -----------------------------------------------------------------------------------------------------------------

/// A hundred machines, each of which does little: silent ones, and slow ones.
std::vector<attack::Grip> from_a_hundred_addresses() {
  return {{.from = "127.0.1.1", .addresses = 100},
          {.opening = "GET /hello HTTP/1.1\r\nHost: x\r\n", .drip = "X: y\r\n", .from = "127.0.1.1", .addresses = 100}};
}

// An API server has some connections; an attacker with many addresses has fewer from each than it has.
TEST_F(HostileCallerTest, ManyAddressesDoNotOutvoteWhoWasAnswered) {
  start({.connections_max = 64, .head_seconds = 30});
  const std::string get = "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n";
  std::vector<std::unique_ptr<RawClient>> known;
  for (int i = 0; i < 8; ++i) {
    known.push_back(std::make_unique<RawClient>(port_));
    known.back()->send(get);
    ASSERT_TRUE(known.back()->read_answer().ends_with("hello"));
  }
  EXPECT_EQ(server_->statistics().strangers, 0U);
  for (const auto& grip : from_a_hundred_addresses()) {
    const Holder many(port_, 300, grip);
    EXPECT_TRUE(eventually([&] { return many.opened() > 900; }));
    for (auto& one : known) {
      one->send(get);
      EXPECT_TRUE(one->read_answer().ends_with("hello"));
    }
    EXPECT_LE(server_->statistics().strangers, 32U);
    EXPECT_LE(server_->statistics().connections, 40U);
    expect_answers();  // over new connections, too: of whoever has others that are known
  }
}

TEST_F(LargeRequests, OfManyAddressesDoNotKeepOutWhoWasAnswered) {
  start_small({.threads = 8, .connections_max = 200, .body_seconds = 30, .large_seconds = 30});
  RawClient known(port_);
  known.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(known.read_answer().ends_with("hello"));
  gate_.open();
  const Holder many(port_, 100, {.opening = post("/post", large) + std::string(200'000, 'x'), .from = "127.0.1.1", .addresses = 100});
  EXPECT_TRUE(eventually([&] { return server_->statistics().large == 2; }));
  known.send(post("/post", large) + std::string(large, 'x'));
  EXPECT_TRUE(known.read_answer().ends_with("got " + std::to_string(large)));
  EXPECT_EQ(server_->statistics().large, 2U);
}

// ---- shares -------------------------------------------------------------------------------------------------------------------------

TEST(CallerSharesTest, AddressesThatOneMachineChoosesAreOnePeer) {
  EXPECT_EQ(peer_of("10.0.0.1"), "10.0.0.1");
  EXPECT_EQ(peer_of("::ffff:10.0.0.1"), "10.0.0.1");
  EXPECT_EQ(peer_of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  EXPECT_EQ(peer_of("2001:db8:1:2::1"), "2001:db8:1:2::/64");
  EXPECT_EQ(peer_of("fe80::1%eth0"), "fe80::/64");
  EXPECT_EQ(peer_of("::1"), "::/64");
  EXPECT_EQ(peer_of(""), "");
}

TEST(CallerSharesTest, PlacesComeBackWhenNobodyHasThem) {
  const CallerShares::Time now{std::chrono::hours(1)};
  auto shares = std::make_unique<CallerShares>(CallerLimits{.at_once = 2, .known_at_once = 1, .per_second = 100, .burst = 100});
  auto first = shares->enter("a", false, now), second = shares->enter("b", false, now);
  EXPECT_TRUE(first && second);
  EXPECT_FALSE(shares->enter("c", false, now));
  auto known = shares->enter("a", true, now);
  EXPECT_TRUE(known);
  EXPECT_FALSE(shares->enter("d", true, now));
  const auto copy = first;
  first.reset();
  EXPECT_FALSE(shares->enter("c", false, now));
  second.reset();
  EXPECT_TRUE(shares->enter("c", false, now));
  known.reset();
  known = shares->enter("d", true, now);
  EXPECT_TRUE(known);
  shares.reset();  // before the places that it gave
}

}  // namespace
}  // namespace hindsight::operations
