#include "operations/logging.hpp"

#include <cstdlib>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>
#include <nlohmann/json.hpp>

#include "operations/log_line.hpp"

namespace hindsight::operations {
namespace {

using nlohmann::json;

/// Gathers the lines of the log while it lives; the lines outlive it, for loggers are never destroyed.
class LoggingTest : public ::testing::Test {
 protected:
  struct Lines {
    std::mutex mutex;
    std::vector<std::string> lines;
  };

  void set_up(LogFormat format, LogLevel level = LogLevel::info) {
    set_up_logging({.level = level, .format = format, .sink = [kept = lines_](std::string_view line) {
                      const std::lock_guard lock(kept->mutex);
                      kept->lines.emplace_back(line);
                    }});
  }
  void TearDown() override { set_up_logging({.level = LogLevel::warning, .format = LogFormat::text}); }

  std::vector<std::string> lines() const {
    const std::lock_guard lock(lines_->mutex);
    return lines_->lines;
  }

  std::shared_ptr<Lines> lines_ = std::make_shared<Lines>();
};

TEST_F(LoggingTest, JsonLinesAreObjectsWithTimeLevelMessageAndFields) {
  set_up(LogFormat::json);
  log(LogLevel::warning, "quota \"a\" is gone", {{"queue", "team-a"}, {"level", "x"}});
  ASSERT_EQ(lines().size(), 1U);
  EXPECT_EQ(lines()[0].back(), '\n');
  const json line = json::parse(lines()[0]);
  EXPECT_EQ(line.at("level"), "warning");
  EXPECT_EQ(line.at("message"), "quota \"a\" is gone");
  EXPECT_EQ(line.at("queue"), "team-a");
  EXPECT_EQ(line.at("level_"), "x");
  const std::string time = line.at("time");
  EXPECT_EQ(time.size(), 27U);
  EXPECT_EQ(time.back(), 'Z');
  EXPECT_TRUE(parse_rfc3339(time).has_value());
}

TEST_F(LoggingTest, WhateverBytesAMessageHoldsTheLineIsOneValidJsonObject) {
  set_up(LogFormat::json);
  std::string every;
  for (int i = 0; i < 256; ++i) every += static_cast<char>(i);
  const std::vector<std::string> messages = {every,
                                             "line\nfeed\r\n\ttab",
                                             "\xC3\xBC is \xE2\x82\xAC and \xF0\x9F\x98\x80",
                                             "overlong \xC0\x80 \xE0\x80\x80",
                                             "surrogate \xED\xA0\x80",
                                             "cut \xE2\x82",
                                             "beyond \xF4\x90\x80\x80",
                                             "escape \x1b[31m \xC2\x9B",
                                             std::string("nul\0inside", 10),
                                             "",
                                             "{}{0}%s%n"};
  for (const auto& m : messages) log(LogLevel::info, m, {{m, m}});
  ASSERT_EQ(lines().size(), messages.size());
  for (const auto& text : lines()) {
    EXPECT_EQ(text.find('\n'), text.size() - 1);
    for (const char c : text.substr(0, text.size() - 1)) EXPECT_GE(static_cast<unsigned char>(c), 0x20U);
    const json line = json::parse(text, nullptr, false);
    ASSERT_FALSE(line.is_discarded()) << text;
    EXPECT_TRUE(line.is_object());
  }
  EXPECT_EQ(json::parse(lines()[1]).at("message"), "line\nfeed\r\n\ttab");
  EXPECT_EQ(json::parse(lines()[2]).at("message"), messages[2]);
  EXPECT_EQ(json::parse(lines()[5]).at("message"), "cut \xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(json::parse(lines()[10]).at("message"), "{}{0}%s%n");
}

TEST_F(LoggingTest, TextLinesCannotBeForgedByWhatTheyTell) {
  set_up(LogFormat::text);
  log(LogLevel::info, "one\n2026-01-01T00:00:00Z ERROR two\x1b[2J", {{"workload", "ns/a"}, {"why", "no quota left"}});
  ASSERT_EQ(lines().size(), 1U);
  const std::string line = lines()[0];
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_EQ(line.find('\x1b'), std::string::npos);
  EXPECT_NE(line.find("INFO  one\\n2026"), std::string::npos) << line;
  EXPECT_NE(line.find("two\\x1b[2J workload=ns/a why=\"no quota left\"\n"), std::string::npos) << line;
}

// C1 controls, bidirectional overrides and what is no UTF-8 are shown; what people read in their languages stays.
TEST_F(LoggingTest, TextLinesShowWhatATerminalWouldObey) {
  set_up(LogFormat::text);
  log(LogLevel::info,
      "a \xc2\x9b"
      "31m \xe2\x80\xae \xff Grün 漢字",
      {{"why", "\xe2\x81\xa6 \r\a"}});
  ASSERT_EQ(lines().size(), 1U);
  EXPECT_NE(lines()[0].find("a \\x9b31m \\u202e \\xff Grün 漢字 why=\"\\u2066 \\u000d\\u0007\"\n"), std::string::npos) << lines()[0];
}

TEST_F(LoggingTest, TimeIsWrittenInUtcToTheMicrosecond) {
  const LogLine line{.time = Time{1'767'225'600'000'001}, .level = LogLevel::error, .message = "m", .fields = {}};
  EXPECT_EQ(json_line(line), R"({"time":"2026-01-01T00:00:00.000001Z","level":"error","message":"m"})");
  EXPECT_EQ(text_line(line, false), "2026-01-01T00:00:00.000001Z ERROR m");
  EXPECT_EQ(text_line(line, true), "2026-01-01T00:00:00.000001Z \x1b[31mERROR\x1b[0m m");
}

TEST_F(LoggingTest, TheLevelDecidesAndChangesWhileRunning) {
  set_up(LogFormat::json, LogLevel::warning);
  log(LogLevel::info, "unheard");
  EXPECT_TRUE(lines().empty());
  set_log_level(LogLevel::info);
  log(LogLevel::info, "heard");
  EXPECT_EQ(lines().size(), 1U);
  set_log_level(LogLevel::off);
  log(LogLevel::critical, "unheard");
  EXPECT_FALSE(would_log(LogLevel::critical));
  EXPECT_FALSE(would_log(LogLevel::off));
  EXPECT_EQ(lines().size(), 1U);
}

TEST_F(LoggingTest, LouderAndQuieterStopAtTheEnds) {
  EXPECT_EQ(louder(LogLevel::info), LogLevel::debug);
  EXPECT_EQ(louder(LogLevel::trace), LogLevel::trace);
  EXPECT_EQ(louder(LogLevel::off), LogLevel::critical);
  EXPECT_EQ(quieter(LogLevel::info), LogLevel::warning);
  EXPECT_EQ(quieter(LogLevel::critical), LogLevel::critical);
  EXPECT_EQ(quieter(LogLevel::off), LogLevel::off);
}

TEST_F(LoggingTest, AChangeOfLevelIsTold) {
  set_up(LogFormat::json, LogLevel::error);
  for (const auto level : {LogLevel::debug, LogLevel::warning, LogLevel::off, LogLevel::critical}) change_log_level(level, "HTTP");
  EXPECT_EQ(log_level(), LogLevel::critical);
  ASSERT_EQ(lines().size(), 4U);
  const json line = json::parse(lines()[0]);
  EXPECT_EQ(line.at("from"), "error");
  EXPECT_EQ(line.at("to"), "debug");
  EXPECT_EQ(line.at("by"), "HTTP");
}

TEST_F(LoggingTest, SpdlogsDefaultLoggerIsTheSameLog) {
  set_up(LogFormat::json);
  spdlog::error("{} of {}", 1, 2);
  ASSERT_EQ(lines().size(), 1U);
  EXPECT_EQ(json::parse(lines()[0]).at("message"), "1 of 2");
}

TEST_F(LoggingTest, ASinkThatThrowsLosesTheLineAndNothingElse) {
  set_up_logging({.level = LogLevel::info, .format = LogFormat::json, .sink = [](std::string_view) { throw std::runtime_error("full"); }});
  const auto before = lost_log_lines();
  log(LogLevel::error, "lost");
  EXPECT_EQ(lost_log_lines(), before + 1);
}

TEST_F(LoggingTest, LinesOfManyThreadsDoNotMix) {
  set_up(LogFormat::json);
  constexpr int threads = 4, each = 500;
  std::vector<std::thread> writers;
  for (int t = 0; t < threads; ++t)
    writers.emplace_back([t] {
      const std::string name = std::to_string(t);
      for (int i = 0; i < each; ++i) {
        log(LogLevel::info, "writer " + name, {{"writer", name}});
        if (i % 50 == 0) set_log_level(i % 100 == 0 ? LogLevel::debug : LogLevel::info);
      }
    });
  for (auto& w : writers) w.join();
  ASSERT_EQ(lines().size(), static_cast<std::size_t>(threads * each));
  for (const auto& text : lines()) {
    const json line = json::parse(text);
    EXPECT_EQ("writer " + line.at("writer").get<std::string>(), line.at("message").get<std::string>());
  }
}

TEST_F(LoggingTest, LevelsAreReadByName) {
  EXPECT_EQ(parse_log_level("debug").value(), LogLevel::debug);
  EXPECT_EQ(parse_log_level("WARN").value(), LogLevel::warning);
  EXPECT_EQ(parse_log_level("Warning").value(), LogLevel::warning);
  EXPECT_EQ(parse_log_level("off").value(), LogLevel::off);
  for (int i = 0; i <= static_cast<int>(LogLevel::off); ++i) {
    const auto level = static_cast<LogLevel>(i);
    EXPECT_EQ(parse_log_level(log_level_name(level)).value(), level);
  }
  const auto bad = parse_log_level("loud");
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().message, "log level: found \"loud\"; allowed: trace, debug, info, warning, error, critical, off");
}

TEST(LoggingDeathTest, AnExceptionThatNobodyCatchesIsLoggedBeforeTheAbort) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        set_up_logging({.level = LogLevel::info, .format = LogFormat::json});
        flush_log_on_exit();
        std::thread([] { throw std::runtime_error("out of luck"); }).join();
      },
      R"("level":"critical","message":"uncaught exception: out of luck")");
}

}  // namespace
}  // namespace hindsight::operations
