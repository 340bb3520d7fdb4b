// Options of a Parent: they are made from it when it is marked, once each, and what has the name already is told.

#include "connectors/json/object_meta.hpp"
#include "tests/connectors/bridge/bridge_fixture.hpp"

namespace hindsight::connectors {
namespace {

using test::admission_of;
using test::asks_nothing;
using test::status_of;
using Lines = std::vector<std::string>;

class OptionsOfAParent : public test::BridgeTest {
 protected:
  static std::string parent(const std::string& version, bool marked = true) {
    auto out = Json::parse(workload("p", version, asks_nothing));
    out["metadata"]["labels"]["team"] = "a";
    if (marked) {
      out["metadata"]["labels"]["kueue.x-k8s.io/concurrent-admission-parent"] = "true";
      out["metadata"]["annotations"]["kueue.x-k8s.io/parent-option"] = "true";
    }
    return out.dump();
  }
  static std::string option(const std::string& name, const std::string& version, const std::string& owner = "uid-p",
                            const std::string& kind = "Workload") {
    auto out = Json::parse(workload(name, version, asks_nothing));
    out["metadata"]["ownerReferences"] = Json::array({{{"kind", kind}, {"name", "p"}, {"uid", owner}, {"controller", true}}});
    return out.dump();
  }
  static admission::OptionCreateIntent wanted(const std::string& flavor, std::uint64_t decision = 1) {
    admission::OptionCreateIntent out;
    out.parent_uid = "uid-p";
    out.namespace_ = "ns";
    out.parent_name = "p";
    out.name = "p-option-" + flavor;
    out.flavors = {flavor};
    out.decision_sequence = decision;
    return out;
  }
  void wait(int seconds) {
    for (int i = 0; i < seconds; ++i) bridge_.retry();
  }
};

// CA-3, CA-5, CA-7: what is missing is made, and only that
TEST_F(OptionsOfAParent, AreMadeFromIt) {
  add(types::workload, parent("3"));
  add(types::workload, option("p-option-spot", "4"));
  bridge_.want({wanted("res"), wanted("od"), wanted("spot")});
  ASSERT_EQ(sent_.size(), 2U) << "one is there already";
  EXPECT_EQ(sent_[0].write.verb, Write::Verb::create);
  EXPECT_EQ(sent_[0].write.name, "p-option-res");
  const auto body = Json::parse(sent_[0].write.body);
  EXPECT_EQ(body["metadata"]["labels"], Json::parse(R"({"team":"a"})"));
  EXPECT_EQ(body["metadata"]["ownerReferences"][0]["uid"], "uid-p");
  EXPECT_EQ(body["spec"]["queueName"], "lq");
  EXPECT_EQ(body["spec"]["admissionConstraints"]["allowedResourceFlavors"], Json::parse(R"(["res"])"));
  answer(201, option("p-option-res", "5"));
  answer(503);
  EXPECT_EQ(bridge_.outstanding(), 1U);
  bridge_.retry();
  ASSERT_EQ(sent_.size(), 1U) << "what failed is tried again";
  EXPECT_EQ(sent_[0].write.name, "p-option-od");
  answer(201, option("p-option-od", "6"));
  bridge_.want({wanted("res"), wanted("od"), wanted("spot")});
  EXPECT_TRUE(sent_.empty());
  EXPECT_EQ(bridge_.outstanding(), 0U);
  EXPECT_EQ(refusals_seen_, 0);
}

// CA-7: what somebody deletes before a watch has shown it was there all the same, or it would never be asked for again
TEST_F(OptionsOfAParent, AreToldWhenTheyGoBeforeTheyAreSeen) {
  add(types::workload, parent("3"));
  bridge_.want({wanted("res"), wanted("od"), wanted("spot")});
  answer(201, option("p-option-res", "5"));
  answer(201, option("p-option-od", "6"));
  answer(500);
  add(types::workload, option("p-option-od", "6"));
  seen_.clear();
  remove(types::workload, option("p-option-od", "8"));
  EXPECT_TRUE(seen_.empty()) << "it had been told";
  remove(types::workload, option("p-option-res", "9"));
  ASSERT_EQ(seen_.size(), 1U);
  EXPECT_EQ(seen_[0].name, "p-option-res");
  remove(types::workload, option("p-option-res", "9"));
  remove(types::workload, option("p-option-spot", "9"));
  EXPECT_EQ(seen_.size(), 1U) << "nor is what others made and deleted";
}

// CA-1: first it is marked
TEST_F(OptionsOfAParent, WaitForItsMarkers) {
  bridge_.want({wanted("res")});
  EXPECT_TRUE(sent_.empty()) << "nobody has seen it yet";
  add(types::workload, parent("3", false));
  EXPECT_TRUE(sent_.empty());
  auto status = status_of("p", "");
  status.parent_markers = true;
  bridge_.want({status});
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(sent_[0].write.subresource, "") << "before its status";
  answer(200, parent("4"));
  change(types::workload, parent("4"));
  ASSERT_EQ(sent_.size(), 2U);
  EXPECT_EQ(sent_[0].write.subresource, "status");
  EXPECT_EQ(sent_[1].write.name, "p-option-res");
}

// CA-1, CA-152: a marker waits for no turn, as what only tells readers does
TEST_F(OptionsOfAParent, TheMarkerOvertakesWhatOnlyTells) {
  for (const auto* name : {"a", "b", "c", "p"}) add(types::workload, workload(name, "7", asks_nothing));
  bridge_.want({status_of("a", ""), status_of("b", ""), status_of("c", ""), status_of("p", "")});
  ASSERT_EQ(sent_.size(), 2U);
  auto status = status_of("p", "");
  status.parent_markers = true;
  bridge_.want({status});
  ASSERT_EQ(sent_.size(), 3U);
  EXPECT_EQ(sent_[2].write.name, "p");
  EXPECT_EQ(sent_[2].write.subresource, "");
}

// CA-6: a name that a foreign object has is told once, with the Option and its Parent
TEST_F(OptionsOfAParent, ANameThatIsTakenIsTold) {
  add(types::workload, parent("3"));
  add(types::workload, workload("p-option-res", "4", asks_nothing));
  add(types::workload, option("p-option-od", "4", "another"));
  add(types::workload, option("p-option-spot", "4", "uid-p", "Job"));
  bridge_.want({wanted("res", 7), wanted("od", 7), wanted("spot", 7)});
  EXPECT_TRUE(sent_.empty());
  const auto line = [](const std::string& name) {
    return name + " 409 Workload ns/" + name + " exists already, and is no Option of p by 7";
  };
  EXPECT_EQ(refused_, (Lines{line("p-option-res"), line("p-option-od"), line("p-option-spot")}));
  EXPECT_EQ(refused_uids_, (Lines{"uid-p", "uid-p", "uid-p"}));
  EXPECT_EQ(bridge_.outstanding(), 0U);
  bridge_.want({wanted("res", 7)});  // the domain that chooses no other name costs nothing
  wait(20);
  EXPECT_EQ(refusals_seen_, 3);
  EXPECT_TRUE(sent_.empty());
  remove(types::workload, workload("p-option-res", "4", asks_nothing));
  wait(40);
  ASSERT_EQ(sent_.size(), 1U) << "the name is free";
}

// CA-6, CA-7: the server knows of it before the mirror does
TEST_F(OptionsOfAParent, AnObjectThatTheMirrorHasNotShownYetIsLookedAt) {
  add(types::workload, parent("3"));
  bridge_.want({wanted("res"), wanted("od", 7)});
  ASSERT_EQ(sent_.size(), 2U);
  answer(409);
  answer(409);
  EXPECT_EQ(bridge_.outstanding(), 2U);
  add(types::workload, option("p-option-res", "4"));
  EXPECT_EQ(bridge_.outstanding(), 1U) << "it is the Option";
  add(types::workload, workload("p-option-od", "5", asks_nothing));
  bridge_.retry();
  EXPECT_TRUE(sent_.empty());
  EXPECT_EQ(refused_, Lines{"p-option-od 409 Workload ns/p-option-od exists already, and is no Option of p by 7"});
}

// CA-112: it is made anew when the one that goes has gone
TEST_F(OptionsOfAParent, OneThatIsBeingDeletedIsInTheWayForAMoment) {
  add(types::workload, parent("3"));
  auto going = Json::parse(option("p-option-res", "4"));
  going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  going["metadata"]["finalizers"] = {"example.com/other"};
  add(types::workload, going.dump());
  bridge_.want({wanted("res")});
  EXPECT_TRUE(sent_.empty());
  remove(types::workload, going.dump());
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(sent_[0].write.verb, Write::Verb::create);
}

// CA-111: nothing is made for a Parent that goes, and nothing is left of it
TEST_F(OptionsOfAParent, NothingIsWantedOfAParentThatHasGone) {
  const auto before = bridge_.entries();
  auto going = Json::parse(parent("3"));
  going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  add(types::workload, going.dump());
  bridge_.want({wanted("res")});
  EXPECT_TRUE(sent_.empty());
  EXPECT_EQ(bridge_.outstanding(), 0U);
  change(types::workload, parent("5"));
  bridge_.want({wanted("res"), wanted("od"), wanted("spot")});
  answer(422);
  answer(500);
  answer(201, option("p-option-spot", "6"));
  add(types::workload, option("p-option-spot", "6"));
  EXPECT_EQ(refused_, Lines{"p-option-res 422 HTTP 422 by 1"});
  remove(types::workload, option("p-option-spot", "6"));
  remove(types::workload, parent("5"));
  EXPECT_EQ(bridge_.outstanding(), 0U);
  EXPECT_EQ(bridge_.entries(), before);
}

// CA-12: counts of an Option are none of a job, whoever its owner says that he is
TEST_F(OptionsOfAParent, NoJobIsReadByThem) {
  add(types::job, R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"namespace":"ns","name":"j","uid":"u","resourceVersion":"1"},)"
                  R"("spec":{"suspend":true,"parallelism":3,"template":{"spec":{"containers":[{"name":"c"}]}}}})");
  add(types::workload, parent("3"));  // in a list objects have no kind
  const auto told = jobs_.size();
  add(types::workload, option("p-option-res", "4"));
  add(types::workload, option("p-option-od", "4", "u"));
  add(types::workload, option("p-option-spot", "4", "uid-p", "Job"));  // with the uid of a Workload
  EXPECT_EQ(jobs_.size(), told);
  EXPECT_TRUE(notices_.empty());
}

// CA-20, CA-11: activity is written whatever the others wrote, both ways
TEST_F(OptionsOfAParent, AnOptionIsSwitched) {
  auto inactive = Json::parse(option("p-option-res", "4"));
  inactive["spec"]["active"] = false;
  add(types::workload, inactive.dump());
  admission::WorkloadIntent intent;
  intent.uid = "uid-p-option-res";
  intent.namespace_ = "ns";
  intent.name = "p-option-res";
  intent.set_active = true;
  bridge_.want({intent});
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(Json::parse(sent_[0].write.body), Json::parse(R"({"metadata":{"uid":"uid-p-option-res"},"spec":{"active":true}})"));
  answer(200, option("p-option-res", "5"));
  EXPECT_EQ(bridge_.outstanding(), 0U);
}

}  // namespace
}  // namespace hindsight::connectors
