// What is in a file: hostile texts, too much of everything, pictures, and the part of the log from which the answers follow.

#include <algorithm>
#include <fstream>

#include "casefile/escape.hpp"
#include "casefile/make.hpp"
#include "evidence/chain.hpp"
#include "evidence/lines.hpp"
#include "tests/casefile/unpacked.hpp"
#include "tests/replay/log_world.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::casefile::testing {
namespace {

using hindsight::testing::LogWorld;

class EvidenceContents : public ::testing::Test {
 protected:
  test::TemporaryFolder folder_;

  std::unique_ptr<events::SqliteLog> open(const std::string& name) {
    auto log = events::SqliteLog::open(folder_.file(name), {.durability = events::Durability::off});
    if (!log) throw std::runtime_error(log.error().message);
    return std::move(*log);
  }
  Unpacked make(const std::string& target, const std::string& log, std::vector<std::string> more = {}) {
    const std::string file = folder_.file("made.tar.gz");
    std::vector<std::string> words{"evidence", "--for", target, "--force", "-o", file, "--log", "sqlite:" + folder_.file(log)};
    words.insert(words.end(), more.begin(), more.end());
    const Said said = say(words);
    EXPECT_EQ(said.status, 0) << said.err;
    return Unpacked(file);
  }
};

// Kubernetes allows no such names, but messages, reasons and annotations hold anything, and a log may come from anywhere.
TEST_F(EvidenceContents, TextsOfObjectsAreTextInThePage) {
  // A slash would end the name of a namespace.
  const std::string hostile = "<script>alert('x')<\\script> \"quoted\" & &amp; ]]> \x1b[31m \x01 \xe2\x80\xae \xff `code` | $(reboot)";
  const auto named = [&](const std::string& what) { return what + " " + hostile; };
  {
    const auto log = open("hostile.db");
    LogWorld w(*log);
    w.namespace_("default");
    w.flavor(named("flavor"), {{"k", hostile}});
    w.cohort(named("cohort"), "");
    w.queue({.name = named("queue"), .cohort = named("cohort"), .quotas = {{.flavor = named("flavor"), .nominal = 4'000}}});
    w.local_queue("lq", named("queue"));
    w.observe(MirrorSynced{});
    w.wake();
    w.submit({.name = named("other"), .cpu = 3'000});
    w.settle();
    w.submit({.name = named("waits"), .cpu = 3'000});
    w.settle();
    w.change(named("waits"), [&](WorkloadObserved& o) {
      w.set(o, {ConditionType::quota_reserved, ConditionStatus::false_, hostile, "</pre></script>" + hostile + std::string(30'000, 'x'),
                w.now});
    });
    WriteRefused refused;
    refused.kind = ObjectKind::workload;
    refused.uid = w.keep("uid-" + named("waits"));
    refused.namespace_ = "default";
    refused.name = w.keep(named("waits"));
    refused.http_status = 422;
    refused.message = w.keep("</table></script>" + hostile + std::string(30'000, 'y'));
    w.observe(refused);
    w.settle();
    w.flush();
  }
  const auto file = make(named("waits"), "hostile.db");
  const std::string& page = file.files.at("index.html");
  EXPECT_EQ(markup_fault(page), "");
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;alert(&#39;x&#39;)"), std::string::npos) << "it is shown, as text";
  EXPECT_TRUE(is_utf8(page));
  for (const auto& [name, bytes] : file.files) {
    if (name == "records.jsonl") continue;
    EXPECT_EQ(bytes.find('\x1b'), std::string::npos) << name;
    EXPECT_EQ(bytes.find("\xe2\x80\xae"), std::string::npos) << name << ": it would turn the text around";
    EXPECT_TRUE(!name.ends_with(".json") || nlohmann::json::accept(bytes)) << name;
  }
  EXPECT_NE(page.find("bytes more)"), std::string::npos) << "a long text is cut, and the page says so";
  for (const char c : file.folder)
    EXPECT_TRUE(std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.') << file.folder;
}

TEST_F(EvidenceContents, ThePolicyOfThePageAllowsItsStyleAndNothingElse) {
  {
    const auto log = open("log.db");
    LogWorld w(*log);
    w.set_up({{.name = "cq", .quotas = {{.nominal = 4'000}}}});
    w.submit({.name = "mine"});
    w.settle();
    w.flush();
  }
  const std::string page = make("mine", "log.db").files.at("index.html");
  const auto begin = page.find("<style>") + 7, end = page.find("</style>");
  ASSERT_LT(begin, end);
  const auto digest = evidence::sha256(std::as_bytes(std::span(page).subspan(begin, end - begin)));
  const std::string hash = evidence::base64({reinterpret_cast<const char*>(digest.data()), digest.size()});
  EXPECT_NE(page.find("content=\"default-src 'none'; style-src 'sha256-" + hash + "'; base-uri 'none'; form-action 'none'\""),
            std::string::npos);
  for (const char* outside : {"src=", "href=", "url(", "@import", "<script", "<link", "<iframe", " style="})
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
}

// A job with more records than a file takes: its first and its last are there, and it says how many are not.
TEST_F(EvidenceContents, SaysWhatItLeavesOut) {
  constexpr std::size_t changes = Bearing::own_max / 2 + 500;
  {
    const auto log = open("long.db");
    LogWorld w(*log);
    w.set_up({{.name = "cq", .quotas = {{.nominal = 4'000}}}});
    w.submit({.name = "mine"});
    w.settle();
    for (std::size_t i = 0; i < changes; ++i) w.change("mine", [&](WorkloadObserved& o) { o.priority = static_cast<std::int32_t>(i); });
    w.settle();
    w.flush();
  }
  const auto file = make("mine", "long.db");
  const auto manifest = file.json("manifest.json");
  EXPECT_LE(manifest["recordsIncluded"].get<std::size_t>(), Bearing::own_max + Bearing::configuration_max);
  const auto left = manifest["recordsLeftOut"].get<std::size_t>();
  EXPECT_GE(left, 500U);
  EXPECT_NE(file.files.at("README.md").find("Left out: " + std::to_string(left) + " records about it, in the middle"), std::string::npos);
  const auto lines = file.lines("decoded.jsonl");
  const auto offset = [](const std::string& line) { return nlohmann::json::parse(line)["offset"].get<std::uint64_t>(); };
  EXPECT_LE(offset(lines.front()), manifest["firstRecord"].get<std::uint64_t>());
  EXPECT_EQ(offset(lines.back()), manifest["lastRecord"].get<std::uint64_t>());
  EXPECT_LE(file.json("history.json").size(), Account::history_max);
  EXPECT_EQ(markup_fault(file.files.at("index.html")), "");
}

TEST_F(EvidenceContents, PlotsTellWhatWasUsedAndWhoWaited) {
  {
    const auto log = open("log.db");
    LogWorld w(*log);
    w.set_up({{.name = "cq", .cohort = "team", .quotas = {{.nominal = 4'000}}},
              {.name = "other", .cohort = "team", .quotas = {{.nominal = 2'000}}}});
    w.submit({.name = "holds", .cpu = 3'000});
    w.submit({.name = "elsewhere", .queue = "lq-other", .cpu = 2'000});
    w.settle();
    w.tick(Duration::seconds(10));
    w.submit({.name = "mine", .cpu = 2'000});
    w.settle();
    w.tick(Duration::seconds(10));
    w.finish("holds");
    w.wake();
    w.tick(Duration::seconds(10));
    w.flush();
  }
  const auto plots = make("mine", "log.db").json("plots.json");
  const auto steps = [&](std::string_view title, std::string_view kind) {
    for (const auto& plot : plots)
      for (const auto& curve : plot["curves"])
        if (plot["title"].get<std::string>().find(title) != std::string::npos && curve["kind"] == kind) return curve["steps"];
    return nlohmann::ordered_json();
  };
  using List = nlohmann::ordered_json;
  const auto at = [](int second, std::int64_t value) {
    return List::array({"2026-01-01T00:00:" + std::to_string(second) + ".000000Z", value});
  };
  // It comes at second 12, the other one ends at 22, and it is tried again at 24.
  EXPECT_EQ(steps("default/cpu", "used"), List::array({at(12, 3'000), at(22, 0), at(24, 2'000)})) << plots.dump(1);
  EXPECT_EQ(steps("default/cpu", "nominal"), List::array({at(12, 4'000)}));
  EXPECT_EQ(steps("default/cpu", "cohortUsed"), List::array({at(12, 5'000), at(22, 2'000), at(24, 4'000)}));
  EXPECT_EQ(steps("default/cpu", "cohortNominal"), List::array({at(12, 6'000)}));
  EXPECT_EQ(steps("waited", "count"), List::array({at(12, 1), at(24, 0)}));
  EXPECT_EQ(steps("in line", "count"), List::array({at(12, 0), at(24, -1)}));
}

// ---- log.db ---------------------------------------------------------------------------------------------------------------------------

TEST_F(EvidenceContents, ThePartOfTheLogGivesTheSameAnswers) {
  for (const bool late : {false, true}) {
    SCOPED_TRACE(late);
    const std::string name = late ? "late.db" : "early.db";
    {
      const auto log = open(name);
      LogWorld w(*log);
      w.set_up({{.name = "cq", .quotas = {{.nominal = 4'000}}}});
      w.submit({.name = "holds", .cpu = 3'000});
      w.settle();
      w.snapshot();
      // Where its LocalQueue leads is needed: told again, nothing older is.
      if (late) w.local_queue("lq", "cq");
      w.submit({.name = "mine", .cpu = 2'000});
      w.settle();
      w.tick(Duration::seconds(10));
      w.finish("holds");
      w.settle();
      w.submit({.name = "after"});
      w.settle();
      w.tick(Duration::seconds(10));
      w.flush();
    }
    const auto file = make("mine", name, {"--with-log"});
    EXPECT_FALSE(make("mine", name).files.contains("log.db")) << "by default without";
    file.write(folder_.file("unpacked"));
    const std::string part = "sqlite:" + folder_.file("unpacked") + "/log.db";
    const std::string at = std::to_string(file.json("why.json")["position"].get<int>());
    EXPECT_EQ(say({"why", "mine", "--at", at, "--log", part}).out, file.files.at("why.txt"));
    EXPECT_EQ(say({"history", "mine", "--at", at, "--log", part, "-o", "json"}).out, file.files.at("history.json"));
    EXPECT_EQ(say({"verify", "--log", part}).status, 0);
    const auto opened = events::SqliteLog::open(folder_.file("unpacked") + "/log.db", {.read_only = true});
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_EQ((*opened)->last().value(), file.json("manifest.json")["position"].get<std::uint64_t>());
    EXPECT_EQ((*opened)->first().value() > 1, late);
    EXPECT_NE(file.files.at("README.md").find("log.db holds all records of that stretch of the log"), std::string::npos);
    std::filesystem::remove_all(folder_.file("unpacked"));
  }
}

}  // namespace
}  // namespace hindsight::casefile::testing
