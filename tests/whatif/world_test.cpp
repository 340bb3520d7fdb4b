// What comes and goes with a run of a job for which the model answers.

#include "whatif/world.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/whatif/played_on.hpp"

namespace hindsight::whatif {
namespace {

using projections::basics;
using projections::job_text;
using projections::Played;
using projections::queue_text;

/// A cluster at second 5 in which job "first" runs, on record for 100 s, and a world that answers for it. On record it brought a job 7 s
/// after its start.
class WorldOfOne {
 public:
  explicit WorldOfOne(Played& p) : past_(p.log, "default") {
    bool told = false;
    EXPECT_TRUE(replay::scan(p.log, "default", 1, p.end(), [&](const auto&, const RecordView& r) {
      if (const auto* o = std::get_if<Observation>(&r.body))
        if (const auto* job = std::get_if<JobObserved>(o); job != nullptr && !job->suspended && !started_.is_set()) {
          uid_ = job->meta.uid;
          started_ = r.envelope.time;
        }
      if (started_.is_set() && r.envelope.time > started_ + Duration::seconds(7) && !told) {
        told = true;
        RecordView child = r;
        child.envelope.time = started_ + Duration::seconds(7);
        JobObserved o;
        o.meta.uid = "child-uid";
        o.meta.name = "child";
        o.meta.namespace_ = "default";
        o.meta.resource_version = 1;
        o.kind = o.owner_kind = "Job";
        o.owner_uid = uid_;
        child.body = Observation{o};
        responses_.see(child);
      }
      responses_.see(r);
      return true;
    }));
    EXPECT_TRUE(past_.go_to(p.at(5)));
    now_ = past_.driver().domain().now();
    world_ = std::make_unique<World>(past_.driver(), responses_, [this](const Observation& o) { tell(o); });
    world_->take_over(uid_, started_);
  }

  /// Says what is due up to `second` after the start of the job.
  void say_until(std::int64_t second) {
    while (world_->next_due().is_set() && world_->next_due() <= started_ + Duration::seconds(second)) {
      now_ = std::max(now_, world_->next_due());
      world_->say_next();
    }
  }
  void remove() { world_->remove(uid_); }
  [[nodiscard]] bool has_child() const { return past_.driver().domain().find_parent("child-uid").has_value(); }
  [[nodiscard]] Time child_came() const { return child_came_; }
  [[nodiscard]] Time started() const { return started_; }

 private:
  void tell(const Observation& o) {
    RecordView r;
    r.envelope = {"default", past_.driver().domain().sequence() + 1, past_.driver().domain().epoch(), now_, 0};
    r.body = o;
    if (const auto* job = std::get_if<JobObserved>(&o); job != nullptr && job->meta.uid == "child-uid") child_came_ = now_;
    const auto bytes = events::encode(r);
    events::RecordReader reader;
    EXPECT_TRUE(replay::apply_record(past_.driver(), **reader.read(bytes)));
  }

  replay::Past past_;
  Responses responses_;
  std::unique_ptr<World> world_;
  std::string uid_;
  Time started_, now_, child_came_;
};

const std::string one_job = basics + queue_text({.name = "cq", .cpu = "1"}) + job_text({.name = "first", .runs = 100});

TEST(TheWorld, BringsTheChildrenOfAJobAsLongAfterItsStartAsOnRecord) {
  Played p(one_job);
  WorldOfOne world(p);
  world.say_until(6);
  EXPECT_FALSE(world.has_child());
  world.say_until(8);
  EXPECT_TRUE(world.has_child());
  EXPECT_EQ(world.child_came(), world.started() + Duration::seconds(7));
  world.say_until(99);
  EXPECT_TRUE(world.has_child());
  world.say_until(110);  // its parent has ended
  EXPECT_FALSE(world.has_child());
}

TEST(TheWorld, TakesTheChildrenOfAJobThatIsDeletedAway) {
  Played p(one_job);
  WorldOfOne world(p);
  world.say_until(8);
  EXPECT_TRUE(world.has_child());
  world.remove();
  EXPECT_FALSE(world.has_child());
}

}  // namespace
}  // namespace hindsight::whatif
