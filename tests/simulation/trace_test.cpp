// Traces of other systems: what becomes of their jobs, and what is told of lines that cannot be read.

#include "simulation/trace.hpp"

#include <gtest/gtest.h>

#include <random>

#include "simulation/sacct.hpp"
#include "simulation/swf.hpp"

namespace hindsight::simulation {
namespace {

using Texts = std::vector<std::string>;

Load trace_load(const std::string& text, const TraceOptions& options = {}) {
  auto load = read_trace(text, "t", options);
  if (!load) throw std::runtime_error(load.error().message);
  return std::move(*load);
}

std::string trace_line(const LoadJob& j) {
  std::string out = std::to_string(j.arrives.micros / 1'000'000) + " " + j.namespace_ + "/" + j.name + " " +
                    std::to_string(j.runs.micros / 1'000'000) + " " + j.queue + " x" + std::to_string(j.pods);
  for (const auto& [resource, quantity] : j.requests) out += " " + resource + "=" + quantity;
  if (!j.priority_class.empty()) out += " " + j.priority_class;
  return out;
}

Texts trace_story(const Load& load) {
  Texts out;
  for (const auto& job : load.jobs) out.push_back(trace_line(job));
  return out;
}

std::string example_text(const char* name) {
  auto text = read_load_file(std::string("examples/load/") + name);
  if (!text) throw std::runtime_error(text.error().message);
  return *text;
}

TEST(Trace, ReadsTheStandardWorkloadFormat) {
  const auto load = trace_load(example_text("month.swf"), {.namespace_ = "science"});
  EXPECT_EQ(trace_story(load), (Texts{"0 science/swf-1 600 partition-1 x4 cpu=1 memory=1073741824",
                                      "60 science/swf-2 1200 partition-1 x16 cpu=1", "300 science/swf-4 30 partition-1 x1 cpu=1"}));
  EXPECT_EQ(load.notices, (Texts{"t: 1 job is left out: no run time above 0, or no processors"}));
}

TEST(Trace, ReadsWhatSacctPrints) {
  const auto load = trace_load(example_text("month.sacct"));
  EXPECT_EQ(trace_story(load), (Texts{"0 default/slurm-101 600 batch x1 cpu=4 memory=8589934592",
                                      "60 default/slurm-102-1 1200 batch x2 cpu=8 memory=34359738368",
                                      "360 default/slurm-104 30 batch x1 cpu=1 memory=1073741824"}));
  EXPECT_EQ(load.notices, (Texts{"t: 1 job is left out: they never started, or ran for less than a second"}));
}

TEST(Trace, QueuesAreCalledAsIsAskedFor) {
  const std::string text = "JobID|Submit|Elapsed|NCPUS|Partition|Account|User\n7|2026-01-01T00:00:00|00:01:00|1|Big Mem!,small|Geo_Phys|\n";
  EXPECT_EQ(trace_load(text).jobs[0].queue, "big-mem");
  EXPECT_EQ(trace_load(text, {.queue = TraceQueue::account}).jobs[0].queue, "geo-phys");
  EXPECT_EQ(trace_load(text, {.queue = TraceQueue::user}).jobs[0].queue, "default") << "the user is not known";
  EXPECT_EQ(trace_load(text, {.queue = TraceQueue::named, .queue_name = "all"}).jobs[0].queue, "all");
  const std::string swf = "1 0 0 60 1 -1 -1 -1 -1 -1 1 5 6 -1 -1 -1 -1 -1\n";
  EXPECT_EQ(trace_load(swf).jobs[0].queue, "default");
  EXPECT_EQ(trace_load(swf, {.queue = TraceQueue::account}).jobs[0].queue, "group-6");
  EXPECT_EQ(trace_load(swf, {.queue = TraceQueue::user}).jobs[0].queue, "user-5");
}

TEST(Trace, PrioritiesBecomeClassesIfThatIsAskedFor) {
  const auto without = trace_load(example_text("month.sacct"));
  EXPECT_TRUE(without.priority_classes.empty());
  const auto with = trace_load(example_text("month.sacct"), {.priorities = true});
  using Classes = std::vector<std::pair<std::string, std::int32_t>>;
  EXPECT_EQ(with.priority_classes, (Classes{{"trace-priority-500", 500}, {"trace-priority-900", 900}, {"trace-priority-1000", 1000}}));
  EXPECT_EQ(with.jobs[0].priority_class, "trace-priority-1000");
  const auto manifests = manifests_of(with, "t");
  ASSERT_EQ(manifests.size(), 6U);
  EXPECT_EQ(manifests[0].object["kind"], "WorkloadPriorityClass");
  EXPECT_EQ(manifests[0].object["value"], 500);
  const auto huge = trace_load("JobID|Submit|Elapsed|NCPUS|Priority\n7|0|00:01:00|1|4294967295\n", {.priorities = true});
  EXPECT_EQ(huge.jobs[0].priority_class, "trace-priority-2147483647");
}

TEST(Trace, GpusMemoryAndNodesOfSlurm) {
  const std::string header = "JobID|Submit|Start|End|ReqCPUS|NNodes|ReqMem|ReqTRES|AllocTRES\n";
  const auto one = [&](const std::string& rest) { return trace_line(trace_load(header + "7|100|110|170|" + rest + "\n").jobs[0]); };
  EXPECT_EQ(one("8|2|4Gn||"), "0 default/slurm-7 60 default x2 cpu=4 memory=4294967296") << "of each node";
  EXPECT_EQ(one("8|2|1Gc||"), "0 default/slurm-7 60 default x2 cpu=4 memory=4294967296") << "of each CPU";
  EXPECT_EQ(one("8|2|8G||"), "0 default/slurm-7 60 default x2 cpu=4 memory=4294967296") << "of the job";
  EXPECT_EQ(one("8|1|512||"), "0 default/slurm-7 60 default x1 cpu=8 memory=536870912") << "megabytes";
  EXPECT_EQ(one("3|2|||"), "0 default/slurm-7 60 default x2 cpu=1500m");
  EXPECT_EQ(one("8|1||cpu=8,gres/gpu=4,mem=1.5G|"), "0 default/slurm-7 60 default x1 cpu=8 memory=1610612736 nvidia.com/gpu=4");
  EXPECT_EQ(one("8|2|||cpu=8,gres/gpu:a100=1,gres/gpu:h100=2,node=2"), "0 default/slurm-7 60 default x2 cpu=4 nvidia.com/gpu=2")
      << "of three, shared by two";
  EXPECT_EQ(one("|||cpu=6,node=3|"), "0 default/slurm-7 60 default x3 cpu=2");
}

TEST(Trace, SpansAndSizesOfSlurm) {
  EXPECT_EQ(slurm_seconds("1-02:03:04"), 93'784);
  EXPECT_EQ(slurm_seconds("02:03:04"), 7'384);
  EXPECT_EQ(slurm_seconds("03:04.500"), 184);
  EXPECT_EQ(slurm_seconds("100:00:00"), 360'000);
  for (const char* bad : {"", "5", "1-", "-1:00", "00:60", "00:00:00:00", "a:00", "1:2:", "00:01.", "00:01.x", "99999999999999999999:00"})
    EXPECT_EQ(slurm_seconds(bad), std::nullopt) << bad;
  EXPECT_EQ(slurm_bytes("4G", 1), std::int64_t{4} << 30);
  EXPECT_EQ(slurm_bytes("1.50K", 1), 1536);
  EXPECT_EQ(slurm_bytes("512", 1 << 20), std::int64_t{512} << 20);
  for (const char* bad : {"", "G", ".5G", "1.G", "-1G", "1.5.5G", "4g", "8E", "99999999999999999999", "1.0000000000K"})
    EXPECT_EQ(slurm_bytes(bad, 1), std::nullopt) << bad;
}

TEST(Trace, LinesThatCannotBeReadAreToldAndLeftOut) {
  const std::string good = "1 0 0 60 1 -1 -1 -1 -1 -1 1 5 6 -1 -1 -1 -1 -1\n";
  const auto load =
      trace_load("; comment\n" + good +
                 "2 0 0 60\n3 zero 0 60 1 -1 -1 -1 -1 -1 1 5 6 -1 -1 -1 -1 -1\n\n4 0 0 60 2000000 -1 -1 -1 -1 -1 1 5 6 -1 -1 -1 -1 -1\r\n" +
                 "5 0 0 60 2 -1 -1 -1 -1 99999999999999999 1 5 6 -1 -1 -1 -1 -1\n6 0 0 9999999999 2 -1 -1 -1 -1 -1 1 5 6 -1 -1 -1 -1 -1\n7 "
                 "-1 0 60 2 -1 -1 -1 -1 -1 1 5 6 -1 -1 -1 -1 -1\n");
  EXPECT_EQ(load.jobs.size(), 1U);
  EXPECT_EQ(load.notices,
            (Texts{"t:3: the line: found \"4 fields\"; allowed: 18 fields; the line is left out",
                   "t:4: field 2 (submit time): found \"zero\"; allowed: a whole number, -1 if it is not known; the line is left out",
                   "t:6: field 8 (requested processors): found \"2000000\"; allowed: at most 1000000; the line is left out",
                   "t:7: field 10 (requested memory): found \"99999999999999999\"; allowed: KiB for each processor, for all together at "
                   "most 70368744177664; the line is left out",
                   "t:8: field 4 (run time): found \"9999999999\"; allowed: at most 1000000000 seconds; the line is left out",
                   "t:9: field 2 (submit time): found \"-1\"; allowed: seconds since the start of the trace; the line is left out"}));
  const auto slurm = trace_load(
      "JobID|Submit|ElapsedRaw|NCPUS|Priority\n1|0|60|1|5\n2|0|60|1\n3|tomorrow|60|1|5\n4|0|long|1|5\n5|0|60|many|5\n6|0|60|1|\x1b["
      "31mred\n7|0|60|0|5\n");
  EXPECT_EQ(slurm.jobs.size(), 1U);
  EXPECT_EQ(slurm.notices,
            (Texts{"t:3: the line: found \"4 fields\"; allowed: 5 as in the first line; the line is left out",
                   "t:4: Submit: found \"tomorrow\"; allowed: a time as 2026-01-31T12:00:00, or seconds since 1970; the line is left out",
                   "t:5: ElapsedRaw: found \"long\"; allowed: seconds, at most 1000000000; the line is left out",
                   "t:6: AllocCPUS: found \"many\"; allowed: a whole number from 1 to 1000000, here, in ReqCPUS, NCPUS or cpu= of "
                   "AllocTRES or ReqTRES; the line is left out",
                   "t:7: Priority: found \"\\x1b[31mred\"; allowed: a whole number; the line is left out",
                   "t:8: AllocCPUS: found \"0\"; allowed: a whole number from 1 to 1000000, here, in ReqCPUS, NCPUS or cpu= of AllocTRES "
                   "or ReqTRES; the line is left out"}));
}

TEST(Trace, TooManyBadLinesAreNoTrace) {
  const std::string good = "1 0 0 60 1 -1 -1 -1 -1 -1 1 5 6 -1 -1 -1 -1 -1\n";
  std::string bad;
  for (std::size_t i = 0; i < trace_bad_lines_max; ++i) bad += "1 2 3\n";
  const auto most = trace_load(good + bad);
  EXPECT_EQ(most.notices.size(), load_told_max + 1);
  EXPECT_EQ(most.notices.back(), "t: 990 more lines cannot be read and are left out");
  const auto beyond = read_trace(good + bad + "1 2 3\n" + good, "t", {});
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().kind, ErrorKind::invalid);
  EXPECT_TRUE(beyond.error().message.starts_with("t: more than 1000 lines cannot be read; allowed: at most so many\nt:2: the line"))
      << beyond.error().message;
}

TEST(Trace, WhatIsNoTraceIsAnError) {
  const std::pair<const char*, const char*> all[] = {
      {"", "of no format that is known"},
      {"hello\n", "of no format that is known"},
      {"; only comments\n", "holds no job that started"},
      {"JobName|State\nx|y\n", "t:1: the first line has no column JobID"},
      {"JobID|State\n1|y\n", "has no column Submit"},
      {"JobID|Submit|NCPUS\n1|0|1\n", "has no column ElapsedRaw, Elapsed, or Start and End"},
      {"JobID|Submit|Elapsed\n1|0|1\n", "has no column AllocCPUS"},
      {"JobID|Submit|Elapsed|NCPUS\n", "holds no job that started"},
      {"1 0 0 60 1 -1 -1 -1 -1 -1 1 5 6 -1 -1 -1 -1 -1\n2 2000000000 0 60 1 -1 -1 -1 -1 -1 1 5 6 -1 -1 -1 -1 -1\n",
       "2000000000 s lie between"},
  };
  for (const auto& [text, told] : all) {
    const auto load = read_trace(text, "t", {});
    ASSERT_FALSE(load) << text;
    EXPECT_NE(load.error().message.find(told), std::string::npos) << load.error().message;
  }
  EXPECT_EQ(read_load_file("examples/load/absent").error().kind, ErrorKind::io);
  EXPECT_EQ(read_load_file("examples/load").error().kind, ErrorKind::invalid);
}

TEST(Trace, JobsComeInTheOrderOfSubmissionAndOnce) {
  const std::string rest = " 0 60 1 -1 -1 -1 -1 -1 1 5 6 -1 -1 -1 -1 -1\n";
  const auto load = trace_load("3 70" + rest + "1 50" + rest + "2 50" + rest + "1 90" + rest);
  EXPECT_EQ(trace_story(load),
            (Texts{"0 default/swf-1 60 default x1 cpu=1", "0 default/swf-2 60 default x1 cpu=1", "20 default/swf-3 60 default x1 cpu=1"}));
  EXPECT_EQ(load.notices, (Texts{"t: 1 job is listed again under a number that came before; the first counts"}));
}

TEST(Trace, RunningJobsRunAsLongAsTheyHadAndStepsAreOfTheirJob) {
  const auto load = trace_load(
      "JobID|Submit|Start|Elapsed|NCPUS|State|\n1|0|5|00:10|1|RUNNING|\n1.batch|0|5|00:10|1|RUNNING|\n2|0|None|00:00|1|CANCELLED by 7|\n");
  EXPECT_EQ(trace_story(load), (Texts{"0 default/slurm-1 10 default x1 cpu=1"})) << "with -p a line ends in |";
  EXPECT_EQ(load.notices, (Texts{"t: 1 job is left out: they never started, or ran for less than a second",
                                 "t: 1 job was still running: what it had run by then is taken for its run time"}));
}

/// Cuts, doubles and replaces bytes of a trace.
std::string broken_trace(std::string text, std::mt19937_64& random) {
  static const Texts pieces{"|", "-1", "\n", "\t", ";", std::string(1, '\0'), "\xff\xfe", "99999999999999999999",
                            "=", ",",  ".",  ":",  "-", "gres/gpu=",          "mem=",     "1e9",
                            "\r"};
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  for (std::size_t i = 1 + below(6); i > 0 && !text.empty(); --i) {
    const std::size_t at = below(text.size()), length = 1 + below(std::min<std::size_t>(text.size() - at, 20));
    switch (below(4)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, pieces[below(pieces.size())]);
        break;
      case 2:
        text.replace(at, length, pieces[below(pieces.size())]);
        break;
      default: {
        const std::string twice(text, at, length);
        text.insert(below(text.size()), twice);
      }
    }
  }
  return text;
}

TEST(Trace, NoTextEndsTheProcess) {
  std::mt19937_64 random(20260101);
  const Texts seeds{example_text("month.swf"), example_text("month.sacct")};
  std::size_t read = 0, refused = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::string text = broken_trace(seeds[static_cast<std::size_t>(i) % seeds.size()], random);
    for (const auto format : {TraceFormat::automatic, TraceFormat::swf, TraceFormat::sacct}) {
      const auto load = read_trace(text, "t", {.format = format, .priorities = true});
      if (!load) {
        ++refused;
        EXPECT_FALSE(load.error().message.empty());
        continue;
      }
      ++read;
      ASSERT_FALSE(load->jobs.empty());
      for (const auto& job : load->jobs) {
        ASSERT_GE(job.arrives.micros, 0);
        ASSERT_LE(job.arrives, load_span_max);
        ASSERT_GT(job.runs.micros, 0);
        ASSERT_LE(job.runs, load_span_max);
        ASSERT_GE(job.pods, 1);
        ASSERT_LE(job.pods, load_pods_max);
        ASSERT_LE(job.name.size(), 63U);
        ASSERT_LE(job.queue.size(), 63U);
      }
      (void)manifests_of(*load, "t");
    }
  }
  EXPECT_GT(read, 1000U);
  EXPECT_GT(refused, 1000U);
}

}  // namespace
}  // namespace hindsight::simulation
