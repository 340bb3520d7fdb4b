// Whom gate annotations hold back, as people read it (6915 §3.K).

#include "projections/gates.hpp"

#include <nlohmann/json.hpp>

#include "admission/domain/domain.hpp"
#include "projections/metrics.hpp"
#include "tests/projections/reading.hpp"

namespace hindsight::projections {
namespace {

class GatesOf : public Reading {
 protected:
  void SetUp() override {
    w.configure(R"({"featureGates": {"SchedulingGatedBy": true}})");
    w.set_up({{.name = "cq", .quotas = {{.nominal = 4000}}}});
  }
  void show_job(Text gate) {
    JobObserved j;
    j.meta.namespace_ = "default";
    j.meta.name = "prep";
    j.meta.uid = "u-prep";
    j.meta.resource_version = 100'000 + ++shown_;
    j.meta.generation = 1;
    j.kind = "Job";
    j.group = "batch";
    j.queue_name = "lq";
    j.suspended = true;
    j.workload_name = "job-prep";
    j.scheduling_gated_by = gate;
    w.observe(j);
    w.settle();
  }
  std::string metrics() {
    w.flush();
    Metrics metrics(MetricsOptions{});
    replay::Past past(log, "default");
    past.look_on({}, [&](events::Position, const RecordView& r) { metrics.record(r, past.driver()); });
    EXPECT_TRUE(past.fold_to(w.position()));
    return metrics.text(past.driver());
  }
  std::uint64_t shown_ = 0;
};

// SG-70, SG-77
TEST_F(GatesOf, AreListedWithWhatHoldsThemAndSinceWhen) {
  show_job("example.com/g");
  w.submit({.name = "gated", .gated_by = "a.io/x"});
  w.submit({.name = "free"});
  w.settle();
  w.tick(Duration::seconds(60));
  w.settle();
  const auto& state = w.driver();
  const auto gated = gated_objects(state);
  ASSERT_EQ(gated.size(), 2U);
  EXPECT_EQ(gated[0].kind + " " + gated[0].name + " " + gated[0].value, "Workload gated a.io/x");
  EXPECT_EQ(gated[0].contract, GateContract::admission);
  EXPECT_EQ(gated[1].kind + " " + gated[1].name + " " + gated[1].value, "Job prep example.com/g");
  EXPECT_EQ(gated[1].contract, GateContract::scheduling);
  EXPECT_TRUE(gated[1].since.is_set());
  const auto table = gates_table(state, {.namespace_ = "default", .names = {"prep"}});
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows[0][2].text, "example.com/g");
  EXPECT_EQ(table.rows[0][3].text, "scheduling");
  EXPECT_EQ(
      to_json(gated[1]).dump(),
      R"({"kind":"Job","metadata":{"name":"prep","namespace":"default"},"contract":"Scheduling","annotation":"kueue.x-k8s.io/scheduling-gated-by","gatedBy":"example.com/g","since":"2026-01-01T00:00:02Z"})");
  EXPECT_TRUE(gated_objects(state, {.namespace_ = "elsewhere"}).empty());

  const auto why = explain_gate(state, {"job", "default", "prep"});
  ASSERT_TRUE(why.has_value());
  EXPECT_EQ(why->reason, "SchedulingGated");
  EXPECT_EQ(why->message, "Workload creation is gated by: example.com/g");
  EXPECT_NE(to_text(*why).find("kubectl annotate job prep -n default kueue.x-k8s.io/scheduling-gated-by-"), std::string::npos);
  EXPECT_FALSE(explain_gate(state, {"job", "default", "other"}).has_value());
  const auto none = find_workload(state, {"job", "default", "prep"});
  ASSERT_FALSE(none.has_value());
  EXPECT_NE(none.error().message.find("held back by annotation scheduling-gated-by, example.com/g"), std::string::npos);

  show_job("");
  EXPECT_EQ(gated_objects(state).size(), 1U);
  EXPECT_FALSE(explain_gate(state, {"job", "default", "prep"}).has_value());
}

// SG-71
TEST_F(GatesOf, AreCountedByContractAndKind) {
  show_job("example.com/g");
  w.submit({.name = "gated", .gated_by = "a.io/x"});
  w.settle();
  auto text = metrics();
  EXPECT_NE(text.find(R"(kueue_gated_jobs{contract="scheduling",kind="Job",replica_role="standalone"} 1)"), std::string::npos) << text;
  EXPECT_NE(text.find(R"(kueue_gated_jobs{contract="admission",kind="Workload",replica_role="standalone"} 1)"), std::string::npos);
  EXPECT_EQ(text.find("example.com/g"), std::string::npos) << "the value is no label";
  w.tick(Duration::seconds(60));
  show_job("");
  text = metrics();
  EXPECT_EQ(text.find(R"(contract="scheduling",kind="Job",replica_role="standalone"} 1)"
                      "\nkueue_gated_jobs"),
            std::string::npos);
  EXPECT_NE(text.find(R"(kueue_gated_time_seconds_sum{contract="scheduling",kind="Job",replica_role="standalone"} 60)"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace hindsight::projections
