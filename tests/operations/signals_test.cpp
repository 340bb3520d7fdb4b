#include "operations/signals.hpp"

#include <csignal>
#include <cstdlib>
#include <future>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "operations/logging.hpp"

namespace hindsight::operations {
namespace {

/// Waits for the stop; false after 20 s.
bool stops(const std::stop_token& token) {
  std::promise<void> stopped;
  const std::stop_callback callback(token, [&] { stopped.set_value(); });
  return stopped.get_future().wait_for(std::chrono::seconds(20)) == std::future_status::ready;
}

TEST(SignalsTest, TheFirstSigtermOrSigintAsksForAStop) {
  for (const auto& [signal, name] : {std::pair{SIGTERM, "SIGTERM"}, std::pair{SIGINT, "SIGINT"}}) {
    std::string told;
    Signals signals([&](const char* n) { told = n; });
    const auto token = signals.stop_token();
    EXPECT_FALSE(token.stop_requested());
    ::kill(::getpid(), signal);
    ASSERT_TRUE(stops(token));
    EXPECT_EQ(told, name);
  }
}

TEST(SignalsTest, TheProgramItselfCanAskForAStop) {
  Signals signals;
  signals.request_stop();
  EXPECT_TRUE(signals.stop_token().stop_requested());
}

TEST(SignalsTest, UserSignalsChangeTheLogLevel) {
  std::promise<std::string> first, second;
  set_up_logging({.level = LogLevel::info, .format = LogFormat::json, .sink = [&](std::string_view line) {
                    (line.find("SIGUSR1") != std::string_view::npos ? first : second).set_value(std::string(line));
                  }});
  {
    const Signals signals;
    ::kill(::getpid(), SIGUSR1);
    EXPECT_NE(first.get_future().get().find(R"("from":"info","to":"debug")"), std::string::npos);
    ::kill(::getpid(), SIGUSR2);
    EXPECT_NE(second.get_future().get().find(R"("from":"debug","to":"info")"), std::string::npos);
  }
  set_up_logging({.level = LogLevel::warning, .format = LogFormat::text});
}

TEST(SignalsTest, ABrokenPipeIsAnErrorOfTheWriterOnly) {
  const Signals signals;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  EXPECT_EQ(::write(ends[1], "x", 1), -1);
  EXPECT_EQ(errno, EPIPE);
  ::close(ends[1]);
}

TEST(SignalsTest, OnlyOneInstanceAtATime) {
  {
    const Signals signals;
    EXPECT_THROW(Signals(), std::logic_error);
  }
  EXPECT_NO_THROW(Signals());
}

TEST(SignalsTest, FormerActionsComeBackAtTheEnd) {
  ::signal(SIGUSR1, SIG_IGN);
  { const Signals signals; }
  EXPECT_EQ(::signal(SIGUSR1, SIG_DFL), SIG_IGN);
}

TEST(SignalsTest, StartedProgramsGetTheDefaultActions) {
  const Signals signals;
  // A shell that dies of SIGPIPE has status 128 + 13; one that inherits "ignore" would print and end with 0.
  const int status = std::system("sh -c 'kill -PIPE $$; exit 0'");
  EXPECT_TRUE((WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGPIPE) || (WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE))
      << status;
}

TEST(SignalsDeathTest, TheSecondSignalEndsTheProcessAtOnceEvenWhenTheFirstHangs) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        std::promise<void> entered;
        const Signals signals([&](const char*) {
          entered.set_value();
          for (;;) ::pause();
        });
        ::kill(::getpid(), SIGTERM);
        entered.get_future().wait();
        ::kill(::getpid(), SIGINT);
        for (;;) ::pause();
      },
      ::testing::ExitedWithCode(interrupted_status), "");
}

}  // namespace
}  // namespace hindsight::operations
