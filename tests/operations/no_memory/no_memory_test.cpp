// The HTTP server while the process has no memory: some requests are lost then, and the server is not.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "operations/http_server.hpp"
#include "operations/logging.hpp"
#include "tests/operations/raw_client.hpp"

namespace hindsight::operations::memory {

/// Each so many-th allocation fails; 0: none does.
static std::atomic<std::uint64_t> fails_each{0};
static std::atomic<std::uint64_t> asked{0}, failed{0};
/// Of clients and of the test itself.
static thread_local bool has_memory = false;

static void* take(std::size_t bytes) {
  if (const auto each = fails_each.load(std::memory_order_relaxed); each != 0 && !has_memory && asked.fetch_add(1) % each == each - 1) {
    failed.fetch_add(1);
    throw std::bad_alloc();
  }
  if (void* out = std::malloc(bytes == 0 ? 1 : bytes)) return out;
  throw std::bad_alloc();
}

static void* take_aligned(std::size_t bytes, std::align_val_t alignment) {
  const auto at = static_cast<std::size_t>(alignment);
  if (void* out = std::aligned_alloc(at, (bytes + at - 1) / at * at)) return out;
  throw std::bad_alloc();
}

}  // namespace hindsight::operations::memory

void* operator new(std::size_t bytes) { return hindsight::operations::memory::take(bytes); }
void* operator new[](std::size_t bytes) { return hindsight::operations::memory::take(bytes); }
void* operator new(std::size_t bytes, std::align_val_t alignment) { return hindsight::operations::memory::take_aligned(bytes, alignment); }
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return hindsight::operations::memory::take_aligned(bytes, alignment);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*bytes*/) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t /*bytes*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t /*alignment*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept { std::free(memory); }

namespace hindsight::operations {
namespace {

constexpr int clients = 3, requests_each = 12;
constexpr std::chrono::seconds patience_meanwhile{1};
/// Everything waits for no longer than this.
constexpr std::chrono::seconds patience{20};

class NoMemoryTest : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(NoMemoryTest, TheServerAnswersAgainWhenThereIsMemory) {
  memory::has_memory = true;
  set_up_logging({.level = LogLevel::off});
  HttpRoutes routes;
  routes.add("PUT", "/echo", [](const HttpRequest& q) { return HttpResponse{.content_type = "text/plain", .body = q.body}; });
  auto server = HttpServer::start({}, routes);
  ASSERT_TRUE(server.has_value()) << server.error().message;
  const auto port = (*server)->address().port;
  const std::string body(300, 'x');  // longer than what a string holds in itself
  ASSERT_EQ(request(port, "PUT", "/echo", body, patience).body, body);

  memory::failed.store(0);
  memory::fails_each.store(GetParam());
  std::vector<std::thread> all;
  for (int i = 0; i < clients; ++i)
    all.emplace_back([&] {
      memory::has_memory = true;
      for (int n = 0; n < requests_each; ++n) {
        const Answer answer = request(port, "PUT", "/echo", body, patience_meanwhile);
        EXPECT_TRUE(answer.status != 200 || answer.body == body) << "what is answered is whole";
      }
    });
  for (auto& one : all) one.join();
  memory::fails_each.store(0);
  EXPECT_GT(memory::failed.load(), 0U);

  const Answer after = request(port, "PUT", "/echo", body, patience);
  EXPECT_EQ(after.status, 200);
  EXPECT_EQ(after.body, body);
  (*server)->stop();
  EXPECT_EQ((*server)->statistics().connections, 0U);
}

/// Whichever allocation fails, there is an answer or an exception, and the process goes on.
TEST(NoMemory, AnErrorIsAnsweredOrThrown) {
  const std::string message(300, 'x');
  std::size_t answered = 0, thrown = 0;
  for (std::uint64_t nth = 1; nth <= 40; ++nth) {
    memory::has_memory = true;
    std::string body;
    memory::asked.store(0);
    memory::fails_each.store(nth);
    memory::has_memory = false;
    try {
      body = http_error(500, message).body;
      ++answered;
    } catch (const std::bad_alloc&) {
      ++thrown;
    }
    memory::has_memory = true;
    memory::fails_each.store(0);
    EXPECT_TRUE(body.empty() || body == "{\"error\":\"" + message + "\"}\n");
  }
  EXPECT_GT(answered, 0U);
  EXPECT_GT(thrown, 3U);
}

INSTANTIATE_TEST_SUITE_P(EachOfSo, NoMemoryTest, ::testing::Values(1, 2, 3, 4, 5, 7, 11, 13, 17, 23, 29, 37, 53));

}  // namespace
}  // namespace hindsight::operations
