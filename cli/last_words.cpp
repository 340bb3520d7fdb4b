#include "cli/last_words.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>

namespace hindsight::cli {
namespace {

constexpr int exit_failure = 1;

/// Without memory of the heap.
void say(const char* what, const char* detail) {
  char line[512];
  const int n = std::snprintf(line, sizeof line, "hindsight: error: %s%s%s\n", what, detail[0] == '\0' ? "" : ": ", detail);
  if (n <= 0) return;
  const auto size = std::min<std::size_t>(static_cast<std::size_t>(n), sizeof line - 1);
  // What an exception says may hold a text from outside: one line of what no terminal obeys.
  for (std::size_t i = 0; i + 1 < size; ++i)
    if (line[i] < ' ' || line[i] > '~') line[i] = '?';
  line[size - 1] = '\n';
  (void)!::write(STDERR_FILENO, line, size);
}

[[noreturn]] void out_of_memory() {
  char detail[160] = "";
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    std::snprintf(detail, sizeof detail, "RLIMIT_AS is %llu MiB", static_cast<unsigned long long>(limit.rlim_cur >> 20));
  say("the system gives no more memory; the process ends, and nothing is lost", detail);
  ::_exit(exit_failure);
}

[[noreturn]] void last_words() {
  try {
    if (const auto thrown = std::current_exception()) std::rethrow_exception(thrown);
    say("terminated", "");
  } catch (const std::bad_alloc&) {
    out_of_memory();
  } catch (const std::system_error& e) {
    const bool threads = e.code() == std::errc::resource_unavailable_try_again;
    say(threads ? "the system gives no more threads; the process ends, and nothing is lost"
                : "the system refuses something; the process ends, and nothing is lost",
        e.what());
    ::_exit(exit_failure);
  } catch (const std::exception& e) {
    say("a bug: an exception that nobody expected", e.what());
  } catch (...) {
    say("a bug: an exception that nobody expected", "");
  }
  std::abort();
}

}  // namespace

void install_last_words() {
  // Allocators that are written in C cannot throw, and abort; this comes before that.
  std::set_new_handler(&out_of_memory);
  std::set_terminate(&last_words);
}

}  // namespace hindsight::cli

// mimalloc as Debian builds it looks for the new handler where there is none, and aborts without a word. So what asks for memory and finds
// none is ours; what gives it back is mimalloc's, whose malloc this is. Sanitizers have their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HINDSIGHT_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HINDSIGHT_SANITIZED 1
#endif
#endif
#ifndef HINDSIGHT_SANITIZED
namespace {

void* found_or_handled(void* memory) {
  if (memory != nullptr) return memory;
  if (const auto handler = std::get_new_handler()) handler();
  throw std::bad_alloc();
}

void* allocated(std::size_t size) { return found_or_handled(std::malloc(std::max<std::size_t>(size, 1))); }

void* allocated(std::size_t size, std::align_val_t alignment) {
  void* memory = nullptr;
  if (::posix_memalign(&memory, std::max(static_cast<std::size_t>(alignment), sizeof(void*)), std::max<std::size_t>(size, 1)) != 0)
    memory = nullptr;
  return found_or_handled(memory);
}

}  // namespace

void* operator new(std::size_t size) { return allocated(size); }
void* operator new[](std::size_t size) { return allocated(size); }
void* operator new(std::size_t size, std::align_val_t alignment) { return allocated(size, alignment); }
void* operator new[](std::size_t size, std::align_val_t alignment) { return allocated(size, alignment); }
#endif
