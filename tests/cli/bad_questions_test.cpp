// Moments, expressions and values of every wrong kind for every command that takes them: each is told in one message that says what was
// found and what is allowed, with exit code 2 for what was asked wrongly and 1 for what could not be done; no command crashes, takes long,
// or takes all memory. Options that take a moment, and options at all, come from the application's own list.

#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <sstream>

#include "cli/application.hpp"
#include "events/sqlite_log.hpp"
#include "tests/cli/commands_of.hpp"
#include "tests/cli/in_process.hpp"
#include "tests/cli/worlds.hpp"

namespace hindsight::cli {
namespace {

using test::expect_orderly;
using test::expect_told;
using test::Said;
using test::say;
using test::text_of_call;
using test::Words;

/// A log that is in order, one that is empty and one that has forgotten its beginning.
class BadQuestions : public test::SmallLog {
 protected:
  static void SetUpTestSuite() {
    SmallLog::SetUpTestSuite();
    empty = folder->file("empty.db");
    trimmed = folder->file("trimmed.db");
    std::filesystem::copy_file(small, trimmed);
    ASSERT_EQ(say({"log", "trim", "--before", "30", "--log", trimmed}).status, 0);
    ASSERT_TRUE(events::SqliteLog::open(empty, {}));
  }
  static inline std::string empty, trimmed;
};

// ---- moments --------------------------------------------------------------------------------------------------------------------------

/// The options that take a moment, and positions in which one stands, from the application's own list.
std::vector<std::pair<std::string, std::string>> moments_of(const CLI::App& app) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& [name, command] : test::commands_of(app))
    for (const auto* option : command->get_options())
      if (option->get_type_name().find("MOMENT") != std::string::npos) out.emplace_back(name, option->get_name());
  return out;
}

TEST_F(BadQuestions, WhatIsNoMomentIsRefusedByEveryOption) {
  std::ostringstream out, err;
  Session session{out, err};
  const auto app = make_application(session);
  const auto options = moments_of(*app);
  EXPECT_GE(options.size(), 20U);
  const std::string many(std::size_t{1} << 20, '9');
  const std::vector<std::string> wrong{"",
                                       "-1",
                                       "+5",
                                       "1e5",
                                       "nan",
                                       "0x10",
                                       "--",
                                       "-",
                                       "yesterday",
                                       "24:00",
                                       "14:60",
                                       "2026-02-30",
                                       "2026-13-01",
                                       "0000-01-01",
                                       "0000-01-01T00:00:00Z",
                                       "0001-01-01T00:00:00Z",
                                       "1969-12-31T23:59:59Z",
                                       "99999-12-31T23:59:59Z",
                                       "2026-01-01T25:00:00Z",
                                       "2026-01-01T00:00:00+99:99",
                                       "-100001w",
                                       "-10000000000000h",
                                       "18446744073709551616",
                                       "1" + std::string(30, '0'),
                                       "\xef\xbc\x95",
                                       many,
                                       "-" + many,
                                       "-" + many + "w",
                                       "2026-01-01T00:00:00." + many};
  for (const auto& [name, option] : options)
    for (const auto& moment : wrong) {
      std::istringstream names(name);
      Words words{std::istream_iterator<std::string>(names), {}};
      const bool positional = !option.starts_with("-");
      if (positional && moment == "--") continue;  // which ends options
      if (!positional) words.push_back(option + "=" + moment);
      if (positional) {
        if (option == "after") words.push_back("1");
        words.push_back(moment);
      }
      words.insert(words.end(), {"--log", small});
      const Said said = say(words);
      if (name == "verify" && option == "--from-snapshot" && moment.empty()) continue;  // the newest
      expect_orderly(said, words);
      EXPECT_EQ(said.status, 2) << text_of_call(words) << "\n" << said.out;
      expect_told(said, words, {"allowed: "});
    }
}

TEST_F(BadQuestions, MomentsOutOfRangeAreTold) {
  const std::string moment = "MOMENT";
  const std::vector<Words> asked{{"get", "wl", "--at", moment},
                                 {"get", "events", "--since", moment},
                                 {"top", "--since", moment},
                                 {"diff", moment},
                                 {"diff", "40", moment},
                                 {"verify", "--to", moment},
                                 {"verify", "--from-snapshot", moment},
                                 {"log", "cat", "--from", moment},
                                 {"log", "cat", "--to", moment},
                                 {"log", "trim", "--dry-run", "--before", moment},
                                 {"bisect", "--from", moment, "event QuotaReserved"},
                                 {"bisect", "--until", moment, "event QuotaReserved"},
                                 {"export", "--from", moment},
                                 {"export", "--until", moment},
                                 {"compare-kueue", "--from", moment},
                                 {"compare-kueue", "--until", moment},
                                 {"what-if", "--from", moment},
                                 {"what-if", "--from", "1", "--until", moment},
                                 {"eta", "job/huge", "--futures", "10", "--horizon", "1m", "--at", moment},
                                 {"debug", "-e", "goto " + moment},
                                 {"debug", "--at", moment, "-e", "back", "-e", "step"},
                                 {"blame", "cq/cq", "--at", moment},
                                 {"history", "job/huge", "--at", moment},
                                 {"replay", "--at", moment},
                                 {"why", "job/huge", "--at", moment},
                                 {"describe", "cq", "cq", "--at", moment},
                                 {"plan", "defrag", "--topology", "t", "--at", moment}};
  const std::vector<std::string> moments{"0",
                                         "1",
                                         "29",
                                         "30",
                                         "60",
                                         "61",
                                         "62",
                                         "18446744073709551615",
                                         "9223372036854775807",
                                         "9223372036854775808",
                                         "-1s",
                                         "-0s",
                                         "-99999w",
                                         "now",
                                         "latest",
                                         "14:03",
                                         "00:00",
                                         "1970-01-01",
                                         "9999-12-31",
                                         "2262-04-12",
                                         "1970-01-01T00:00:00Z",
                                         "9999-12-31T23:59:59.999999999Z"};
  for (const auto& log : {small, empty, trimmed})
    for (const auto& form : asked)
      for (const auto& at : moments) {
        Words words = test::on(log, form);
        for (auto& word : words)
          if (const auto place = word.find(moment); place != std::string::npos) word.replace(place, moment.size(), at);
        expect_orderly(say(words), words);
      }
  for (const char* past : {"62", "18446744073709551615", "9223372036854775808"})
    for (const auto& form : asked) {
      Words words = test::on(small, form);
      for (auto& word : words)
        if (const auto place = word.find(moment); place != std::string::npos) word.replace(place, moment.size(), past);
      expect_told(say(words), words, {past});  // each says what was found; none goes on with another moment
    }
  for (const auto& form : asked) {
    Words words = test::on(small, form);
    for (auto& word : words)
      if (word == moment) word = "1970-01-01T00:00:00Z";
    const bool reads_on = form[1] == "cat" || form[1] == "trim" || form[1] == "events" || (form[0] == "bisect" && form[1] == "--from") ||
                          form[0] == "debug" || form[1] == "--until";
    if (!reads_on) expect_told(say(words), words, {"begins at 2026-01-01T00:00:00"});
  }
}

/// A beginning means the first record from there on, in whatever words it is told.
TEST_F(BadQuestions, ABeginningIsTheSameInAllWords) {
  const std::string by_time = say({"log", "cat", "--from", "2026-01-01T00:00:20Z", "--log", small}).out;
  EXPECT_FALSE(by_time.empty());
  EXPECT_EQ(say({"log", "cat", "--from", "2026-01-01 00:00:20", "--tz", "UTC", "--log", small}).out, by_time);
  EXPECT_EQ(say({"log", "cat", "--from", "00:00:20", "--tz", "UTC", "--log", small}).out, by_time);
  EXPECT_EQ(say({"log", "cat", "--from", "9999-12-31", "--log", small}).out, "");
  EXPECT_EQ(say({"log", "cat", "--from", "9999-12-31T00:00:00Z", "--log", small}).out, "");
}

// ---- expressions ----------------------------------------------------------------------------------------------------------------------

TEST_F(BadQuestions, WrongExpressionsAreRefusedWhateverTheyAre) {
  const std::size_t mebibyte = std::size_t{1} << 20;
  const std::string much(mebibyte, 'a'), deep = std::string(100'000, '(') + "event QuotaReserved" + std::string(100'000, ')');
  const auto times = [](const std::string& text, std::size_t n) {
    std::string out;
    while (n-- > 0) out += text;
    return out;
  };
  const std::vector<std::string> conditions{"event",
                                            "event X",
                                            "event QuotaReserved of",
                                            "event QuotaReserved of ''",
                                            "((",
                                            "))",
                                            "()",
                                            "and",
                                            "not",
                                            "x",
                                            "a/b",
                                            "cq/cq:",
                                            "cq/cq:.a >",
                                            "cq/cq:.a =! 5",
                                            "cq/cq:.a =~ 5",
                                            "\"cq/cq",
                                            "events/x",
                                            "cq/cq,wl/x",
                                            "cq/cq:[99999999999999999999]",
                                            "cq/cq:.a[-1:0:0]",
                                            "cq/cq:.status.conditions[?(@.type=~'a*')]",
                                            "cq/cq:" + times("[?(@.a", 600),
                                            "event QuotaReserved and",
                                            "\xff\xfe",
                                            "a\nb",
                                            much,
                                            deep,
                                            times("not ", 30'000) + "cq/cq",
                                            times("(", mebibyte),
                                            times("event QuotaReserved and ", 40'000) + "cq/cq",
                                            "cq/cq:" + times(".a", 60'000)};
  const std::vector<std::string> paths{"{",
                                       "{.a",
                                       ".a.",
                                       ".a[",
                                       ".a[x]",
                                       ".a[?]",
                                       ".a[?(]",
                                       ".a[?(@.b==)]",
                                       ".a[?(@.b=~'x')]",
                                       ".a[99999999999999999999]",
                                       ".a[::0]",
                                       "{\"",
                                       "{'x",
                                       "{range .a}",
                                       "{end}",
                                       much,
                                       times(".a", 600'000),
                                       times("[", 100'000),
                                       times("{range .items[*]}", 100'000),
                                       "{" + times("..*", 3'000) + "}",
                                       ".a" + times("[?(@.b", 20'000)};
  std::vector<Words> wrong;
  for (const auto& text : conditions) {
    wrong.push_back({"bisect", text});
    wrong.push_back({"debug", "-e", "break " + text});
  }
  for (const std::string& text : Words{"", "x", "a/b", "cq/cq:", "cq/cq:.a[", "events/x", much, deep, "cq/cq:" + times("[?(@.a", 600)}) {
    wrong.push_back({"blame", text});
    wrong.push_back({"debug", "-e", "print " + text});
    if (!text.empty()) wrong.push_back({"debug", "-e", "watch " + text});  // alone it lists
  }
  for (const std::string& text :
       Words{"frob", "step x", "step 0", "step -1", "step 99999999999999999999", "goto", "goto 99", "delete 5", "delete x", "why",
             "why a/b/c/d", "run 5", "reverse 2", "where now", "record 7", "queues x", "quit now", "step " + much, much})
    wrong.push_back({"debug", "-e", text});
  for (const auto& text : paths) {
    wrong.push_back({"get", "wl", "-o", "jsonpath=" + text});
    if (text != "{end}") wrong.push_back({"get", "wl", "-o", "custom-columns=A:" + text});
    wrong.push_back({"get", "wl", "--sort-by", text});
  }
  for (const std::string& text : Words{"", "A", "A:", ":.a", "A:.a,", "A:.a,,B:.b", ",", much, "A:{range .items[*]}{end}"})
    wrong.push_back({"get", "wl", "-o", "custom-columns=" + text});
  for (const std::string& text : Words{"", "=", "a in", "a in (", "a in (x", "a notin (x,y", "!", "!!a", "a=b,", "a=b,,c=d", ",", "a b",
                                       "\xff", "a=\x1b[2J", times("(", mebibyte), times("a=b,", 200'000), "a in (" + times("x,", 500'000)})
    wrong.push_back({"get", "lq", "-l", text});
  for (const std::string& text : Words{"", "a", "=", "a=", "x=y", "=a", "metadata.name=x,", "!=", "status.phase>3", "\xff=1", much,
                                       times("metadata.name!=x,", 50'000)})
    wrong.push_back({"get", "wl", "--field-selector", text});
  for (const std::string& text : Words{"", "x", "job/", "colour/red", much}) wrong.push_back({"get", "events", "--for", text});
  for (const std::string& text :
       Words{"", "cq", "clusterqueue/cq", "clusterqueue/cq:", "clusterqueue/cq:cpu", "clusterqueue/cq:cpu=", "clusterqueue/cq:cpu=x",
             "clusterqueue/cq:cpu=--1", "clusterqueue/cq:cpu=+" + std::string(100, '9'), "clusterqueue/cq:cpu=1e999",
             "clusterqueue/nope:cpu=1", "clusterqueue/cq:f/cpu=1", "clusterqueue/cq:/cpu=1", "clusterqueue/cq:gpu=1", "cohort/x:cpu=1",
             "lq/lq:cpu=1", "a=b:c", "\xff", much})
    wrong.push_back({"what-if", "--from", "5", "--set", text});
  for (const std::string& text :
       Words{"", "x", "4", "4x", "4xnobody", "0xn1", "-1xn1", "10001xn1", "99999999999999999999xn1", "\xff", much})
    wrong.push_back({"what-if", "--from", "5", "--add-nodes=" + text});
  for (const std::string& text : Words{"", "newest", "6", "Current", much}) wrong.push_back({"what-if", "--from", "5", "--rules=" + text});
  for (const std::string& text : Words{"", "kept", "1", much}) wrong.push_back({"what-if", "--from", "5", "--progress=" + text});
  for (const std::string& text : Words{"", "job/", "job/a/b/c", "nobody", "job/nobody", "cq/cq", much}) {
    wrong.push_back({"what-if", "--from", "5", "--drop", text});
    wrong.push_back({"history", text});
    wrong.push_back({"eta", text});
  }
  for (const std::string& text : Words{"", "x", "-5s", "99999999999h", "9223372036854775807h", "1e9s", much}) {
    wrong.push_back({"what-if", "--from", "5", "--beyond=" + text});
    wrong.push_back({"eta", "job/huge", "--horizon=" + text});
  }
  for (const std::string& text : Words{"", "-1", "x", "1e3", "1.5", "0x10", "18446744073709551616", std::string(40, '9'), much})
    for (const Words& words : {Words{"what-if", "--from", "5", "--rows=" + text},
                               {"blame", "cq/cq", "--limit=" + text},
                               {"log", "cat", "--limit=" + text},
                               {"eta", "job/huge", "--futures=" + text},
                               {"log", "quarantine", "--dry-run", "--", text}}) {
      if (words[0] == "eta" && text == "0x10") continue;  // 16 is in its range
      wrong.push_back(words);
    }
  wrong.push_back({"log", "cat", "--kind", much});
  wrong.push_back({"get", much});
  wrong.push_back({"get", times("wl,", 100'000)});
  wrong.push_back({much});
  wrong.push_back({"get", "wl", "--" + much});
  wrong.push_back({"get", "wl", "--tz", much});
  wrong.push_back({"get", "wl", "--domain", much});
  for (auto words : wrong) {
    // behind "--" nothing is an option
    words.insert(std::find(words.begin(), words.end(), "--"), {"--log", small});
    const Said said = say(words);
    expect_orderly(said, words);
    expect_told(said, words, {"hindsight: error: "});
    EXPECT_TRUE(said.err.find("allowed") != std::string::npos || said.err.find("not in {") != std::string::npos ||
                said.err.find("there are") != std::string::npos || said.err.find("it has") != std::string::npos ||
                said.err.find("not found") != std::string::npos || said.err.find("is nowhere in") != std::string::npos ||
                said.err.find("expected one like") != std::string::npos || said.err.find("in range") != std::string::npos ||
                said.err.find("not expected") != std::string::npos || said.err.find("nested more than") != std::string::npos ||
                said.err.find("past the end") != std::string::npos || said.err.find("none of the objects has") != std::string::npos)
        << "nothing says what is allowed: " << text_of_call(words) << "\n"
        << said.err;
  }
}

/// What is allowed and odd has an answer, in bounded time and memory.
TEST_F(BadQuestions, OddExpressionsAreAnswered) {
  for (const Words& words :
       std::vector<Words>{{"get", "wl", "-o", "jsonpath={range ..*}{range ..*}{range ..*}{range ..*}{..*}{end}{end}{end}{end}"},
                          {"get", "wl", "-o", "jsonpath={..*..*..*..*}"},
                          {"get", "wl", "-o", "jsonpath=}"},
                          {"get", "wl", "-o", "custom-columns=" + std::string(100'000, 'A') + ":.a"},
                          {"bisect", "cq/cq:..* == 5"},
                          {"bisect", "cq/cq:.metadata.name == 5"},
                          {"bisect", "not cq/cq:.status"},
                          {"blame", "cq/cq:..*"}})
    expect_orderly(say(test::on(small, words)), words);
}

/// A number and a text are neither less nor more than each other; whoever asks gets to know.
TEST_F(BadQuestions, ComparisonsOfOtherTypesAreTold) {
  for (const auto& [condition, found] : std::vector<std::pair<std::string, std::string>>{
           {"cq/cq:.status.pendingWorkloads > abc", "is 1, which is neither less nor more than abc"},
           {"cq/cq:.metadata.name > 5", "is cq, which is neither less nor more than 5"},
           {"cq/cq:.status >= 5", "is an object, which is neither less nor more than 5"},
           {"cq/cq:.status.conditions < x", "is a list, which is neither less nor more than x"}}) {
    const Said said = say(test::on(small, {"bisect", condition}));
    EXPECT_EQ(said.status, 1) << condition << said.out;
    EXPECT_NE(said.err.find(found), std::string::npos) << said.err;
    EXPECT_NE(say(test::on(small, {"debug", "-e", "break " + condition})).err.find(found), std::string::npos) << condition;
  }
  EXPECT_EQ(say(test::on(small, {"bisect", "cq/cq:.status.pendingWorkloads > 500m"})).status, 0);
  EXPECT_EQ(say(test::on(small, {"bisect", "cq/cq:.metadata.name > a"})).status, 0);
}

/// Every option of every command that is about a log: an empty text is what a script forgot, and no value.
TEST_F(BadQuestions, AnEmptyValueOfAnyOptionIsRefused) {
  std::ostringstream out, err;
  Session session{out, err};
  const auto app = make_application(session);
  std::size_t tried = 0;
  for (const auto& [name, command] : test::commands_of(*app)) {
    if (command->get_option_no_throw("--log") == nullptr) continue;
    for (const auto* option : command->get_options()) {
      if (option->get_positional() || option->get_expected_min() == 0 || option->get_type_size() == 0) continue;
      std::istringstream names(name);
      Words words{std::istream_iterator<std::string>(names), {}};
      words.push_back(option->get_name() + "=");
      const Said said = say(words);
      EXPECT_EQ(said.status, 2) << text_of_call(words) << "\n" << said.out;
      expect_told(said, words, {option->get_name()});
      ++tried;
    }
  }
  EXPECT_GT(tried, 100U);
}

}  // namespace
}  // namespace hindsight::cli
