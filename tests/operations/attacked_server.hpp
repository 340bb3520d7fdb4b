#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include <gtest/gtest.h>

#include "operations/http_server.hpp"
#include "operations/logging.hpp"
#include "tests/operations/raw_client.hpp"
#include "tests/support/sanitized.hpp"

namespace hindsight::operations {

inline HttpResponse text(std::string body) { return {.content_type = "text/plain", .body = std::move(body)}; }

/// True: it became so, sooner or later.
template <class Good>
bool eventually(Good good) {
  for (int i = 0; i < 2'000; ++i) {
    if (good()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

/// A door that handlers wait at.
class Gate {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    ++inside_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  void wait_for(int inside) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return inside_ >= inside; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int inside_ = 0;
  bool open_ = false;
};

/// A server that is there to be attacked.
class HostileCallerTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { set_up_logging({.level = LogLevel::off}); }

  HostileCallerTest() {
    routes_.add("GET", "/hello", [](const HttpRequest&) { return text("hello"); });
    routes_.add("GET", "/big", [big = std::string(4'000'000, 'x')](const HttpRequest&) { return text(big); });
    routes_.add("PUT", "/put", [](const HttpRequest& q) { return text("got " + q.body); });
  }
  void start(const HttpServerOptions& options = {}) {
    auto server = HttpServer::start(options, routes_);
    ASSERT_TRUE(server.has_value()) << server.error().message;
    server_ = std::move(*server);
    port_ = server_->address().port;
  }
  /// A well-behaved client with a limited patience is answered. `anew`: for so long it begins anew, a moment later, as clients do that find
  /// their connection closed: who comes from the same address as somebody who opens hundreds at once can be taken for him.
  void expect_answers(int times = 5, std::chrono::seconds anew = std::chrono::seconds(0)) const {
    for (int i = 0; i < times; ++i) {
      const auto last = std::chrono::steady_clock::now() + anew;
      Answer answer = request(port_, "GET", "/hello", {}, patience(5));
      while (answer.status != 200 && std::chrono::steady_clock::now() < last) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        answer = request(port_, "GET", "/hello", {}, patience(5));
      }
      ASSERT_EQ(answer.status, 200);
      ASSERT_EQ(answer.body, "hello");
    }
  }
  void expect_nobody_left() const {
    EXPECT_TRUE(eventually([&] { return server_->statistics().connections == 0 && server_->statistics().large == 0; }))
        << server_->statistics().connections;
  }
  /// What comes back for these bytes, all at once or one by one.
  [[nodiscard]] std::string answers_to(const std::string& bytes, bool one_by_one = false) const {
    RawClient client(port_);
    if (one_by_one) {
      for (const char c : bytes)
        if (!client.send({&c, 1})) break;
    } else {
      client.send(bytes);
    }
    client.finish_sending();
    return client.read_all();
  }
  [[nodiscard]] static std::size_t count(const std::string& all, std::string_view part) {
    std::size_t n = 0;
    for (auto at = all.find(part); at != std::string::npos; at = all.find(part, at + 1)) ++n;
    return n;
  }

  HttpRoutes routes_;
  std::unique_ptr<HttpServer> server_;
  std::uint16_t port_ = 0;
};

}  // namespace hindsight::operations
