// How objects are named and chosen: words behind `get` and `describe`, selectors of labels and fields, columns, and what completion offers.

#include "cli/naming.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/application.hpp"
#include "cli/candidates.hpp"
#include "cli/selectors.hpp"
#include "cli/shown_columns.hpp"
#include "projections/lookup.hpp"

namespace hindsight::cli {
namespace {

using Words = std::vector<std::string>;

/// "workloads: a, team/b, job train" for each kind.
std::string read_back(const Words& words) {
  const auto wanted = read_wanted(words);
  if (!wanted) return "refused: " + wanted.error().message;
  std::string out;
  for (const auto& one : *wanted) {
    out += (out.empty() ? "" : "; ") + std::string(one.kind->plural) + ":";
    for (const auto& name : one.names)
      out +=
          " " + (name.job_kind.empty() ? std::string() : name.job_kind + "!") + (name.namespace_ ? *name.namespace_ + "/" : "") + name.name;
  }
  return out;
}

TEST(Naming, EachFormMeansTheSame) {
  const std::pair<Words, const char*> cases[] = {{{"workloads"}, "workloads:"},
                                                 {{"wl", "a", "b"}, "workloads: a b"},
                                                 {{"WL", "team/a"}, "workloads: team/a"},
                                                 {{"wl/a"}, "workloads: a"},
                                                 {{"workload/team/a", "cq/q", "wl/b"}, "workloads: team/a b; clusterqueues: q"},
                                                 {{"workload.kueue.x-k8s.io/a"}, "workloads: a"},
                                                 {{"clusterqueues.kueue.x-k8s.io", "a"}, "clusterqueues: a"},
                                                 {{"cq,lq"}, "clusterqueues:; localqueues:"},
                                                 {{"cq,cq,lq", "a"}, "clusterqueues: a; localqueues: a"},
                                                 {{"job/train"}, "workloads: job!train"},
                                                 {{"jobs.batch/team/train"}, "workloads: job!team/train"},
                                                 {{"wl", "job/train"}, "workloads: job!train"},
                                                 {{"wl", "job/team/train", "w"}, "workloads: job!team/train w"},
                                                 {{"rayjob", "train"}, "workloads: rayjob!train"},
                                                 {{"no/n1"}, "nodes: n1"},
                                                 {{"ev"}, "events:"}};
  for (const auto& [words, expected] : cases) EXPECT_EQ(read_back(words), expected) << ::testing::PrintToString(words);
}

TEST(Naming, RefusesTheRestAndSaysWhatIsAllowed) {
  const std::pair<Words, const char*> cases[] = {
      {{"pods"}, "kind: found kind \"pods\"; allowed: workloads, clusterqueues, localqueues"},
      {{"pods/a"}, "found kind \"pods\"; allowed: workloads"},
      {{"clusterqeue"}, "found kind \"clusterqeue\", did you mean clusterqueue"},
      {{"cq,"}, "found kind \"\"; allowed"},
      {{"cq/a/b"}, "found \"cq/a/b\" for clusterqueue; allowed: NAME, because it is in no namespace"},
      {{"cq", "a/b"}, "found \"a/b\" for clusterqueue; allowed: NAME"},
      {{"wl/a/b/c"}, "found \"wl/a/b/c\" for workload; allowed: NAME, NAMESPACE/NAME"},
      {{"wl/"}, "found \"wl/\" for workload"},
      {{"wl", "a/b/c"}, "found \"a/b/c\" for a workload; allowed: NAME, NAMESPACE/NAME"},
      {{"lq", "a/b/c"}, "found \"a/b/c\" for localqueue; allowed: NAME, NAMESPACE/NAME"},
      {{"wl/a", "b"}, "found \"b\" beside KIND/NAME; allowed: KIND NAME, KIND/NAME"},
      {{"job"}, "kind: found \"job\" without a name; allowed: job/NAME"}};
  for (const auto& [words, expected] : cases) EXPECT_NE(read_back(words).find(expected), std::string::npos) << read_back(words);
  EXPECT_NE(read_one_wanted({"wl"}).error().message.find("name is required; allowed: KIND NAME, KIND/NAME"), std::string::npos);
  EXPECT_NE(read_one_wanted({"cq,lq", "a"}).error().message.find("found 2 kinds; allowed: one"), std::string::npos);
  EXPECT_NE(read_one_wanted({"wl", "a", "b"}).error().message.find("found 2 names; allowed: one"), std::string::npos);
  EXPECT_EQ(target_of(read_one_wanted({"job/a"})->names.front(), "team").text(), "job team/a");
}

// ---- selectors ---------------------------------------------------------------------------------------------------------------------

TEST(LabelSelector, ChoosesAsKubectlDoes) {
  const Json object{{"metadata", {{"labels", {{"team", "a"}, {"kueue.x-k8s.io/tier", ""}}}}}};
  const Json bare{{"metadata", {{"name", "n"}}}};
  struct Case {
    const char* text;
    bool object, bare;
  };
  for (const auto& c : {Case{"team=a", true, false},
                        {"team==a", true, false},
                        {"team = a", true, false},
                        {"team=b", false, false},
                        {"team!=a", false, true},
                        {"team!=b", true, true},
                        {"team in (a,b)", true, false},
                        {"team in ( b , c )", false, false},
                        {"team notin (a)", false, true},
                        {"team notin (b)", true, true},
                        {"team", true, false},
                        {"!team", false, true},
                        {"other", false, false},
                        {"kueue.x-k8s.io/tier", true, false},
                        {"kueue.x-k8s.io/tier=", true, false},
                        {"team=a,!other", true, false},
                        {"team=a,other=b", false, false}}) {
    const auto selector = LabelSelector::parse(c.text);
    ASSERT_TRUE(selector) << c.text << ": " << selector.error().message;
    EXPECT_EQ(selector->matches(object), c.object) << c.text;
    EXPECT_EQ(selector->matches(bare), c.bare) << c.text;
  }
  for (const char* text : {"", ",", "team=a,", "=a", "team in a", "team in (a", "team=a b", "team>3", "!"}) {
    const auto selector = LabelSelector::parse(text);
    ASSERT_FALSE(selector) << text;
    EXPECT_NE(selector.error().message.find("--selector: found \"" + std::string(text) + "\""), std::string::npos);
    EXPECT_NE(selector.error().message.find("allowed: KEY=VALUE"), std::string::npos);
  }
}

TEST(FieldSelector, ChoosesByTheFieldsOfTheKind) {
  const KnownKind& workloads = *find_kind("wl");
  const Json object{{"metadata", {{"name", "w"}, {"namespace", "team"}}},
                    {"spec", {{"queueName", "lq"}, {"priority", 10}, {"active", true}}}};
  struct Case {
    const char* text;
    bool matches;
  };
  for (const auto& c : {Case{"metadata.name=w", true},
                        {"metadata.name==w", true},
                        {"metadata.name=v", false},
                        {"metadata.name!=w", false},
                        {"metadata.namespace=team,spec.queueName=lq", true},
                        {"metadata.namespace=team,spec.queueName!=lq", false},
                        {"status.phase=Pending", true},
                        {"status.phase!=Pending", false},
                        {"spec.priority=10", true},
                        {"spec.active=true", true},
                        {"status.admission.clusterQueue=", true},
                        {"spec.priorityClassRef.name!=high", true}}) {
    const auto selector = FieldSelector::parse(c.text, workloads);
    ASSERT_TRUE(selector) << c.text << ": " << selector.error().message;
    EXPECT_EQ(selector->matches(object, "Pending"), c.matches) << c.text;
  }
  const auto absent = FieldSelector::parse("spec.unschedulable=false", *find_kind("no"));
  ASSERT_TRUE(absent);
  EXPECT_TRUE(absent->matches(Json{{"spec", Json::object()}}, ""));
  const auto unknown = FieldSelector::parse("spec.colour=red", workloads);
  ASSERT_FALSE(unknown);
  EXPECT_NE(
      unknown.error().message.find("found field \"spec.colour\" of workloads; allowed: metadata.name, metadata.namespace, status.phase"),
      std::string::npos)
      << unknown.error().message;
  for (const char* text : {"", "metadata.name", "=a", "metadata.name=a,"}) EXPECT_FALSE(FieldSelector::parse(text, workloads)) << text;
}

// ---- columns and order

TEST(CustomColumns, ShowWhatPathsFind) {
  const std::vector<Json> objects{{{"metadata", {{"name", "a"}}}, {"spec", {{"list", {1, 2}}, {"none", nullptr}}}},
                                  {{"metadata", {{"name", "b"}}}}};
  const std::vector<const Json*> all{&objects[0], &objects[1]};
  const auto columns = CustomColumns::parse("NAME:.metadata.name,LIST:.spec.list[*],BOTH:.spec.list[0,1],NONE:spec.none");
  ASSERT_TRUE(columns) << columns.error().message;
  const auto table = columns->table(all);
  ASSERT_TRUE(table);
  EXPECT_EQ(projections::render(*table),
            "NAME   LIST     BOTH     NONE\n"
            "a      1,2      1,2      <none>\n"
            "b      <none>   <none>   <none>\n");
  for (const char* text : {"", "NAME", "NAME:", ":.a", "NAME:.a,", "NAME:.a b"}) {
    const auto bad = CustomColumns::parse(text);
    ASSERT_FALSE(bad) << text;
    EXPECT_NE(bad.error().message.find("--output: custom-columns: "), std::string::npos);
    EXPECT_NE(bad.error().message.find("allowed: "), std::string::npos);
  }
}

TEST(OrderBy, PutsNumbersQuantitiesAndTextsInOrder) {
  const auto order = [](const std::vector<Json>& values) {
    std::vector<Json> objects;
    for (const auto& value : values) objects.push_back(value.is_discarded() ? Json::object() : Json{{"v", value}});
    std::vector<const Json*> all;
    for (const auto& object : objects) all.push_back(&object);
    return order_by(JsonPath::parse_expression(".v").value(), ".v", all);
  };
  using Places = std::vector<std::size_t>;
  EXPECT_EQ(order({3, 1, 2}).value(), (Places{1, 2, 0}));
  EXPECT_EQ(order({"b", "a", "c"}).value(), (Places{1, 0, 2}));
  EXPECT_EQ(order({"1", "500m", "2Gi", "64Mi"}).value(), (Places{1, 0, 3, 2}));
  EXPECT_EQ(order({"x", 5, Json(Json::value_t::discarded), "x"}).value(), (Places{2, 1, 0, 3}));
  EXPECT_TRUE(order({}).value().empty());
  const auto none = order({Json(Json::value_t::discarded)});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("--sort-by: found \".v\", which none of the objects has"), std::string::npos);
}

// ---- completion ------------------------------------------------------------------------------------------------------------------------

struct Offered : ::testing::Test {
  std::ostringstream out, err;
  Session session{out, err};
  std::unique_ptr<CLI::App> app = make_application(session);

  /// Without a log there are no names.
  Candidates of(Words words) { return find_candidates(*app, words); }
  static bool has(const Candidates& found, const std::string& word) {
    return std::find(found.words.begin(), found.words.end(), word) != found.words.end();
  }
};

TEST_F(Offered, CommandsOptionsAndTheirValues) {
  EXPECT_EQ(of({"simu"}).words, Words{"simulate"});
  EXPECT_TRUE(has(of({""}), "get"));
  EXPECT_EQ(of({"log", "ca"}).words, Words{"cat"});
  EXPECT_EQ(of({"help", "log", "ca"}).words, Words{"cat"});
  EXPECT_EQ(of({"get", "clusterq"}).words, Words{"clusterqueues"});
  EXPECT_EQ(of({"get", "wl,clusterq"}).words, Words{"wl,clusterqueues"});
  EXPECT_EQ(of({"describe", "clusterq"}).words, Words{"clusterqueue"});
  EXPECT_EQ(of({"get", "wl", "--field"}).words, Words{"--field-selector"});
  EXPECT_EQ(of({"get", "wl", "-o", "js"}).words, (Words{"json", "jsonpath="}));
  EXPECT_EQ(of({"get", "wl", "--output=js"}).words, (Words{"--output=json", "--output=jsonpath="}));
  EXPECT_EQ(of({"get", "wl", "--output", "=", "ya"}).words, Words{"yaml"});  // as bash splits it
  EXPECT_EQ(of({"get", "wl", "--status", "fin"}).words, Words{"finished"});
  EXPECT_EQ(of({"get", "wl", "--field-selector", "status.p"}).words, Words{"status.phase="});
  EXPECT_EQ(of({"run", "--role", ""}).words, (Words{"all", "connector", "node"}));
  EXPECT_EQ(of({"completion", ""}).words, (Words{"bash", "zsh", "fish"}));
  EXPECT_TRUE(has(of({"log", "cat", "--kind", "Quota"}), "QuotaReserved"));
  EXPECT_TRUE(of({"nothing", "like", "this"}).words.empty());
}

TEST_F(Offered, FilesWhereFilesBelong) {
  for (const Words& words : {Words{"simulate", ""}, {"get", "wl", "--log", ""}, {"run", "--config", "x"}, {"run", "--quickstart", ""}})
    EXPECT_TRUE(of(words).files) << ::testing::PrintToString(words);
  for (const Words& words : {Words{""}, {"get", ""}, {"get", "wl", "-o", ""}})
    EXPECT_FALSE(of(words).files) << ::testing::PrintToString(words);
}

TEST_F(Offered, ThereIsAlwaysAnAnswer) {
  EXPECT_EQ(of({}).words, of({""}).words);
  for (const Words& words : {Words{"get", "wl", "--log", "/nowhere/at/all.db", ""},
                             {"why", "--log", "/dev/null", ""},
                             {"get", "wl", "--log"},
                             {"--", "-", "="},
                             {"=", "="},
                             {"get", "--output", "="},
                             {"help", "help", "help", ""}})
    EXPECT_TRUE(of(words).words.size() <= candidates_max) << ::testing::PrintToString(words);
  EXPECT_EQ(print_candidates(session, *app, {"completion", "b"}), 0);
  EXPECT_EQ(out.str(), "bash\n:end\n");
}

}  // namespace
}  // namespace hindsight::cli
