#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <sstream>
#include <string>
#include <vector>

#include "cli/application.hpp"
#include "tests/cli/worlds.hpp"

namespace hindsight::test {

/// Much longer than any of these takes; under sanitizers too.
inline constexpr double seconds_max = 60;

/// What a command left behind.
struct Said {
  int status = -1;
  std::string out, err;
  double seconds = 0;
};

/// Runs a command in this process, as a pipe would get it.
inline Said say(const std::vector<std::string>& words) {
  std::ostringstream out, err;
  cli::Session session{out, err};
  Said said;
  const auto begin = std::chrono::steady_clock::now();
  said.status = cli::run_application(session, words);
  said.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  said.out = out.str();
  said.err = err.str();
  return said;
}

/// The command line, with long words cut.
inline std::string text_of_call(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : " ") + (word.size() > 60 ? word.substr(0, 60) + "..." : word);
  return out;
}

/// How many errors were told.
inline std::size_t errors_in(const std::string& text) {
  std::size_t out = 0;
  const std::string head = "hindsight: error: ";
  for (auto at = text.find(head); at != std::string::npos; at = text.find(head, at + 1)) ++out;
  return out;
}

/// What holds whatever was asked. Some commands fail with what they have found on standard output.
inline void expect_orderly(const Said& said, const std::vector<std::string>& words) {
  EXPECT_TRUE(said.status >= 0 && said.status <= 2) << text_of_call(words) << ": status " << said.status;
  EXPECT_LE(errors_in(said.err), 1U) << text_of_call(words) << "\n" << said.err;
  EXPECT_LT(said.seconds, seconds_max) << text_of_call(words);
  EXPECT_LT(said.err.size(), 100'000U) << text_of_call(words);
  if (said.status == 0) {
    EXPECT_EQ(errors_in(said.err), 0U) << text_of_call(words) << "\n" << said.err;
  } else {
    EXPECT_FALSE(said.err.empty() && said.out.empty()) << text_of_call(words) << " says nothing";
  }
}

/// It fails, and says all of this.
inline void expect_told(const Said& said, const std::vector<std::string>& words, const std::vector<std::string>& parts) {
  EXPECT_TRUE(said.status == 1 || said.status == 2) << text_of_call(words) << ": status " << said.status << "\n" << said.out << said.err;
  for (const auto& part : parts)
    EXPECT_TRUE((said.err + said.out).find(part) != std::string::npos)
        << text_of_call(words) << "\nmissing: " << part << "\nin: " << said.err;
}

/// What all commands of a suite together may have taken at any time, in KiB; beyond what the process has anyway.
inline constexpr long memory_max = 1L << 20;

/// A log that is in order, made once for all tests of a suite; at its end none of them may have taken too much memory.
class SmallLog : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new TemporaryFolder;
    manifests = write(folder->file("small.yaml"), small_world_with_jobs);
    small = folder->file("small.db");
    ASSERT_EQ(say({"simulate", manifests, "--log", small}).status, 0);
    memory_before = memory_now();
  }
  static void TearDownTestSuite() {
    EXPECT_LT(memory_now() - memory_before, memory_max) << "KiB";
    delete folder;
    folder = nullptr;
  }
  static inline TemporaryFolder* folder = nullptr;
  static inline std::string manifests, small;

 private:
  static long memory_now() {
    rusage now{};
    getrusage(RUSAGE_SELF, &now);
    return now.ru_maxrss;
  }
  static inline long memory_before = 0;
};

}  // namespace hindsight::test
