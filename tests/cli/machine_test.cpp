// A hostile machine under the real program: clocks that are set, disks that are full or fail, no memory, no threads, no handles of files.
// Each is told and survived, or the process ends with a message and a status and starts again; nothing that was decided is lost, and the
// log is whole.

#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <sstream>
#include <thread>

#include "tests/cli/played_cluster.hpp"
#include "tests/cli/within_seconds.hpp"
#include "tests/cli/worlds.hpp"
#include "tests/operations/raw_client.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::test {
namespace {

constexpr const char* faketime = FAKETIME;  ///< Of Debian's package faketime.

class Machine : public ::testing::Test {
 protected:
  [[nodiscard]] Words words(const Words& more = {}) const {
    Words out{"run", "--kubeconfig", write(folder_.file("kubeconfig"), cluster_.kubeconfig()), "--log", "sqlite:" + log_, "--no-lease"};
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }
  static std::uint16_t port_of(Program& program) {
    EXPECT_TRUE(program.wait_for("HTTP listens")) << program.said();
    const std::string said = program.said();
    const auto line = said.substr(said.find("HTTP listens"));
    const auto at = line.find("127.0.0.1:");
    return at == std::string::npos ? std::uint16_t{0} : static_cast<std::uint16_t>(std::stoi(line.substr(at + 10)));
  }
  static std::string get(Program& program, const std::string& path) { return operations::request(port_of(program), "GET", path).body; }
  /// Until the answer of this path has this part in it.
  static bool shows(Program& program, const std::string& path, const std::string& part) {
    return within_seconds(120, [&] { return get(program, path).find(part) != std::string::npos; });
  }
  /// The value of a metric without labels; nothing: it is not there.
  static std::optional<double> metric(Program& program, const std::string& name) {
    std::istringstream lines(get(program, "/metrics"));
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with(name + " ")) return std::stod(line.substr(name.size() + 1));
    return std::nullopt;
  }
  static void stop(Program& program) {
    program.signal(SIGTERM);
    const Outcome done = program.wait();
    EXPECT_EQ(done.status, 0) << done.err;
  }
  /// The log is in order, and decided again it says the same; and every Workload that the cluster says has quota has it in the log.
  void expect_whole_log() {
    EXPECT_TRUE(json_of(on(log_, {"log", "check"}))["findings"].empty());
    EXPECT_TRUE(json_of(on(log_, {"verify"}))["clean"]);
    std::set<std::string> admitted;  // asked for at once: each question folds the log from its beginning
    const Json all = json_of(on(log_, {"get", "workloads"}));
    for (const auto& w : all["items"])
      if (w["status"].contains("admission")) admitted.insert(w["metadata"]["name"]);
    for (const auto& w : cluster_.workloads()) {
      const std::string name = w["metadata"]["name"];
      if (!w.contains("status") || !w["status"].contains("admission")) continue;
      EXPECT_TRUE(admitted.contains(name)) << name;
    }
  }

  TemporaryFolder folder_;
  std::string log_ = folder_.file("log.db");
  PlayedCluster cluster_{1'000};
};

// ---- clocks -----------------------------------------------------------------------------------------------------------------------------

/// A Job whose pods never get ready: it is started, evicted when its time is over, waits for its back-off, and is started again. As long as
/// it is, no timer is frozen.
class Clocks : public Machine {
 protected:
  void SetUp() override {
    ASSERT_TRUE(std::filesystem::exists(faketime)) << "libfaketime.so.1 is not there; allowed: the package faketime, which ./dev installs";
    set("+0");
    cluster_.add_job("pulse");
  }
  /// What the clock of the day says, less what it should; the monotonic clock is left alone.
  void set(const std::string& offset, const std::string& clock = "clock") {
    const std::string fresh = folder_.file(clock + ".new");
    write(fresh, offset + "\n");
    std::filesystem::rename(fresh, folder_.file(clock));
  }
  [[nodiscard]] std::unique_ptr<Program> start(const std::string& clock = "clock", bool lease = false) {
    const std::string config = write(folder_.file("config.yaml"),
                                     "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nwaitForPodsReady: {timeout: 2s, "
                                     "requeuingStrategy: {backoffBaseSeconds: 1, backoffMaxSeconds: 1}}\n"
                                     "leaderElection: {leaderElect: true, leaseDuration: 3s, renewDeadline: 2s, retryPeriod: 200ms}\n");
    Words line = words({"--config", config, "--durability", "off"});
    if (lease) std::erase(line, "--no-lease");
    auto program = std::make_unique<Program>(line, ProgramOptions{.environment = {{"LD_PRELOAD", faketime},
                                                                                  {"FAKETIME_TIMESTAMP_FILE", folder_.file(clock)},
                                                                                  {"FAKETIME_NO_CACHE", "1"},
                                                                                  {"FAKETIME_DONT_FAKE_MONOTONIC", "1"},
                                                                                  {"FAKETIME_DONT_RESET", "1"}}});
    return program;
  }
  void expect_that_timers_fire(const Program& program, const char* when) {
    const auto before = cluster_.starts();
    EXPECT_TRUE(cluster_.wait_for_starts(before + 2)) << "frozen: " << when << "\n" << program.said();
  }
  /// Of the records, from one to the next.
  [[nodiscard]] std::vector<double> steps_in_log() {
    std::vector<double> out;
    std::istringstream lines(text_of(on(log_, {"log", "cat", "-o", "json"})));
    std::optional<Time> last;
    for (std::string line; std::getline(lines, line);) {
      const Json record = Json::parse(line, nullptr, false);
      if (!record.is_object() || !record.contains("time")) continue;
      const Time time = *parse_rfc3339(record["time"].get<std::string>());
      if (last) out.push_back(static_cast<double>((time - *last).micros) / 1e6);
      last = time;
    }
    return out;
  }
  [[nodiscard]] std::string marks() { return text_of(on(log_, {"log", "cat", "--kind", "ClockStepped"})); }
};

TEST_F(Clocks, AClockThatIsSetWhileTheProcessRunsFreezesNoTimerAndJumpsOverNone) {
  const auto program = start();
  expect_that_timers_fire(*program, "at first");
  for (const char* offset : {"+1d", "+0", "-1d", "+0"}) {
    set(offset);
    expect_that_timers_fire(*program, offset);
  }
  EXPECT_TRUE(program->wait_for("the clock of this machine says")) << program->said();
  stop(*program);
  for (const double step : steps_in_log()) {
    EXPECT_GE(step, 0);
    EXPECT_LT(step, 600) << "a day was taken for a moment";
  }
  EXPECT_NE(marks().find("the clock of this machine"), std::string::npos) << "the log does not tell";
  expect_whole_log();
}

TEST_F(Clocks, AtAStartTheApiServerSaysWhatDayItIs) {
  for (const char* offset : {"+0", "+1d", "-1d", "+0"}) {
    set(offset);
    const auto program = start();
    expect_that_timers_fire(*program, offset);
    if (std::strcmp(offset, "+0") != 0) {
      EXPECT_TRUE(program->wait_for("the clock of this machine says")) << program->said();
      EXPECT_TRUE(shows(*program, "/readyz", "the clock of this machine is ")) << get(*program, "/readyz");
      EXPECT_NE(get(*program, "/metrics").find("hindsight_clock_steps_total 1"), std::string::npos);
      // The API server's clock is the one that counts, and this machine's is a day from it.
      const double off = std::strcmp(offset, "+1d") == 0 ? 86'400 : -86'400;
      EXPECT_NEAR(metric(*program, "hindsight_clock_machine_offset_seconds").value_or(0), off, 600);
      EXPECT_NEAR(metric(*program, "hindsight_clock_api_server_offset_seconds").value_or(1e9), 0, 600);
    } else {
      EXPECT_EQ(metric(*program, "hindsight_clock_steps_total"), 0);
      EXPECT_NEAR(metric(*program, "hindsight_clock_machine_offset_seconds").value_or(1e9), 0, 60);
    }
    stop(*program);
  }
  for (const double step : steps_in_log()) EXPECT_LT(step, 600);
  expect_whole_log();
}

// A copy on another machine, whose clock is wrong, waits for the lease and takes it: its time-outs are measured by the monotonic clock.
TEST_F(Clocks, ACopyOfAnotherDayTakesOver) {
  set("+0", "clock-0");
  auto leads = start("clock-0", true);
  expect_that_timers_fire(*leads, "at first");
  int number = 0;
  for (const char* offset : {"+1d", "-1d", "+0"}) {
    const std::string clock = "clock-" + std::to_string(++number);
    set(offset, clock);
    auto waits = start(clock, true);
    EXPECT_TRUE(shows(*waits, "/readyz", "lease")) << get(*waits, "/readyz");
    std::this_thread::sleep_for(std::chrono::seconds(4));  // longer than a lease lasts
    ASSERT_EQ(waits->said().find("the lease is ours"), std::string::npos) << offset << ": a lease that is renewed was taken\n"
                                                                          << waits->said();
    leads->signal(SIGKILL);
    EXPECT_EQ(leads->wait().status, 128 + SIGKILL);
    EXPECT_TRUE(waits->wait_for("the lease is ours")) << waits->said();
    expect_that_timers_fire(*waits, offset);
    leads = std::move(waits);
  }
  stop(*leads);
  for (const double step : steps_in_log()) {
    EXPECT_GE(step, 0);
    EXPECT_LT(step, 600) << "a day was taken for a moment";
  }
  expect_whole_log();
}

// Nobody else says what day it is: then a start believes the machine, and what it has written is lived with when the clock is right again.
TEST_F(Clocks, ALogThatIsADayAheadFreezesNoTimer) {
  cluster_.tell_date(false);
  set("+1d");
  {
    const auto program = start();
    expect_that_timers_fire(*program, "a day ahead");
    stop(*program);
  }
  set("+0");
  for (int round = 0; round < 2; ++round) {
    const auto program = start();
    EXPECT_TRUE(program->wait_for("s ahead of the clock")) << program->said();
    expect_that_timers_fire(*program, "with a log that is a day ahead");
    EXPECT_TRUE(shows(*program, "/readyz", "the times in the log are ")) << get(*program, "/readyz");
    EXPECT_NEAR(metric(*program, "hindsight_log_clock_ahead_seconds").value_or(0), 86'400, 600);
    EXPECT_FALSE(metric(*program, "hindsight_clock_api_server_offset_seconds")) << "it says no date";
    if (round == 0) {
      set("-1d");  // and set while it runs
      expect_that_timers_fire(*program, "two days apart");
      set("+0");
    }
    stop(*program);
  }
  for (const double step : steps_in_log()) {
    EXPECT_GE(step, 0);
    EXPECT_LT(step, 600);
  }
  EXPECT_NE(marks().find("the clock when the domain was taken"), std::string::npos);
  expect_whole_log();
}

// ---- disks ------------------------------------------------------------------------------------------------------------------------------

/// A file system in memory, which root alone may mount.
class SmallDisk : public Machine {
 protected:
  void SetUp() override {
    disk_ = folder_.file("disk");
    std::filesystem::create_directory(disk_);
    if (::mount("none", disk_.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "size=64m") != 0)
      GTEST_SKIP() << "a file system cannot be mounted here (" << std::strerror(errno)
                   << "): run it as root, as continuous integration does";
    mounted_ = true;
    log_ = disk_ + "/log.db";
  }
  void TearDown() override {
    if (mounted_) ::umount2(disk_.c_str(), MNT_DETACH);
  }
  /// All but so many bytes are taken.
  void fill(std::uint64_t but) const {
    std::ofstream ballast(disk_ + "/ballast", std::ios::binary | std::ios::app);
    const std::string piece(64 << 10, 'x');
    while (ballast && std::filesystem::space(disk_).available > but + piece.size())
      ballast.write(piece.data(), static_cast<std::streamsize>(piece.size()));
  }
  void empty() const { std::filesystem::remove(disk_ + "/ballast"); }

  std::string disk_;
  bool mounted_ = false;
};

TEST_F(SmallDisk, DecisionsStopWhenItIsFullAndGoOnWhenThereIsRoom) {
  auto program = std::make_unique<Program>(words());
  cluster_.add_workload("before");
  ASSERT_TRUE(cluster_.wait_for_admission("before")) << program->said();
  for (const std::uint64_t but : {std::uint64_t{2} << 20, std::uint64_t{0}}) {  // what is kept for trims is there still; nothing is
    const std::string name = but == 0 ? "without-a-byte" : "meanwhile";
    fill(but);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // a writer believes for a tenth of a second what it saw of the disk
    cluster_.add_workload(name);
    EXPECT_TRUE(shows(*program, "/readyz", "nothing is decided until there is room")) << get(*program, "/readyz");
    EXPECT_TRUE(shows(*program, "/metrics", "hindsight_log_full 1"));
    EXPECT_NE(get(*program, "/healthz").find(R"("status":"ok")"), std::string::npos) << "to start it again does not help";
    EXPECT_FALSE(cluster_.has_admission(name));
    empty();
    EXPECT_TRUE(cluster_.wait_for_admission(name)) << program->said();
    EXPECT_TRUE(shows(*program, "/readyz", R"("status":"ready")")) << get(*program, "/readyz");
  }
  const std::string said = program->said();
  EXPECT_NE(said.find("nothing is decided until it can"), std::string::npos) << said;
  EXPECT_NE(said.find("the log takes records again"), std::string::npos) << said;

  // A start on a full disk waits as well, or says why it cannot and starts when there is room.
  fill(0);
  program->signal(SIGKILL);
  EXPECT_EQ(program->wait().status, 128 + SIGKILL);
  program = std::make_unique<Program>(words());
  cluster_.add_workload("after");
  const bool waits = within_seconds(20, [&] { return program->said().find("nothing is decided until it can") != std::string::npos; });
  EXPECT_FALSE(cluster_.has_admission("after"));
  empty();
  if (!waits) {
    const Outcome done = program->wait();
    EXPECT_EQ(done.status, 1) << done.err;
    EXPECT_NE(done.err.find("hindsight: error: log "), std::string::npos) << done.err;
    program = std::make_unique<Program>(words());
  }
  EXPECT_TRUE(cluster_.wait_for_admission("after")) << program->said();
  stop(*program);
  expect_whole_log();
}

TEST_F(SmallDisk, WorkThatFillsItStopsAndNothingIsLost) {
  Program program(words());
  for (int i = 0; i < 4'000 && get(program, "/metrics").find("hindsight_log_full 1") == std::string::npos; i += 100)
    for (int k = 0; k < 100; ++k) cluster_.add_workload("w" + std::to_string(i + k), 15'000);
  ASSERT_TRUE(shows(program, "/readyz", "nothing is decided until there is room")) << get(program, "/readyz");
  ASSERT_EQ(::mount("none", disk_.c_str(), "tmpfs", MS_REMOUNT | MS_NOSUID | MS_NODEV, "size=512m"), 0) << std::strerror(errno);
  cluster_.add_workload("last", 0, 0);
  EXPECT_TRUE(cluster_.wait_for_admission("last")) << program.said();
  stop(program);
  expect_whole_log();
}

class Disk : public Machine {
 protected:
  void fault(const std::string& what) const { write(folder_.file("fault"), what + "\n"); }
  [[nodiscard]] std::unique_ptr<Program> start(const Words& more = {}) const {
    return std::make_unique<Program>(words(more), ProgramOptions{.environment = {{"LD_PRELOAD", FAULTY_FILES},
                                                                                 {"HINDSIGHT_FAULTS", folder_.file("fault")},
                                                                                 {"HINDSIGHT_FAULTS_IN", "log.db"}}});
  }
};

TEST_F(Disk, ALimitStopsDecisionsUntilHistoryIsForgotten) {
  const Words limit{"--log-limit", "3Mi", "--durability", "off"};
  auto program = std::make_unique<Program>(words(limit));
  constexpr double bytes_max = 3 << 20;
  const auto used = [&] { return metric(*program, "hindsight_log_used_bytes").value_or(0); };
  ASSERT_TRUE(within_seconds(120, [&] { return used() > 0; })) << program->said();
  EXPECT_LT(used(), bytes_max / 2);
  EXPECT_EQ(metric(*program, "hindsight_log_limit_bytes"), bytes_max);
  EXPECT_EQ(metric(*program, "hindsight_log_full"), 0);
  EXPECT_EQ(get(*program, "/readyz").find("nearly full"), std::string::npos) << get(*program, "/readyz");

  // One after the other and not too fast, so that none of the moments in between is missed: what is told may be a second old, and a second
  // must not fill the last fifth of the log.
  int written = 0;
  for (; written < 400 && get(*program, "/readyz").find("nearly full: ") == std::string::npos; ++written) {
    const std::string name = "w" + std::to_string(written);
    cluster_.add_workload(name, 15'000);  // more would be beyond the limits of an object
    ASSERT_TRUE(cluster_.wait_for_admission(name)) << program->said();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_NE(get(*program, "/readyz").find("nearly full: "), std::string::npos) << get(*program, "/readyz");
  EXPECT_NE(get(*program, "/readyz").find(R"("status":"ready")"), std::string::npos) << "it goes on until there is no room";
  EXPECT_TRUE(within_seconds(60, [&] { return used() >= bytes_max * 0.79 && used() < bytes_max; })) << used();

  // A few at a time: what the cluster holds in the end must fit into the log when its history is gone.
  for (const int end = written + 400; written < end && get(*program, "/readyz").find("nothing is decided") == std::string::npos;
       ++written) {
    cluster_.add_workload("w" + std::to_string(written), 15'000);
    (void)cluster_.wait_for_admission("w" + std::to_string(written), std::chrono::seconds(1));
  }
  ASSERT_TRUE(shows(*program, "/readyz", "nothing is decided until there is room")) << get(*program, "/readyz");
  EXPECT_TRUE(within_seconds(60, [&] { return metric(*program, "hindsight_log_full") == 1 && used() >= bytes_max; })) << used();
  // The files that the log really has, and the disk that they lie on.
  double files = 0;
  for (const char* suffix : {"", "-wal"}) {
    std::error_code none;
    if (const auto size = std::filesystem::file_size(log_ + suffix, none); !none) files += static_cast<double>(size);
  }
  EXPECT_NEAR(metric(*program, "hindsight_log_files_bytes").value_or(0), files, 1 << 20);
  const auto disk = static_cast<double>(std::filesystem::space(folder_.path()).available);
  EXPECT_NEAR(metric(*program, "hindsight_log_disk_free_bytes").value_or(0), disk, disk / 10) << "others write to this disk as well";
  cluster_.add_workload("beyond");
  EXPECT_TRUE(program->wait_for("of at most 3.0 MiB used")) << program->said();
  const auto position = json_of(on(log_, {"log", "stats"}));
  stop(*program);

  // The same log with a history that is short enough: it is full at first, and then no more.
  Words forgets = limit;
  forgets.insert(forgets.end(), {"--keep-history", "1s"});
  program = std::make_unique<Program>(words(forgets));
  cluster_.add_workload("after");
  EXPECT_TRUE(cluster_.wait_for_admission("after")) << program->said();
  EXPECT_TRUE(program->wait_for("is forgotten")) << program->said();
  EXPECT_TRUE(shows(*program, "/readyz", R"("status":"ready")")) << get(*program, "/readyz");
  stop(*program);
  expect_whole_log();
}

TEST_F(Disk, ThatIsFullForAWhileIsWaitedFor) {
  fault("none");
  auto program = start();
  cluster_.add_workload("before");
  ASSERT_TRUE(cluster_.wait_for_admission("before")) << program->said();
  fault("full");
  cluster_.add_workload("meanwhile");
  EXPECT_TRUE(program->wait_for("nothing is decided until it can")) << program->said();
  fault("none");
  EXPECT_TRUE(cluster_.wait_for_admission("meanwhile")) << program->said();
  stop(*program);
  expect_whole_log();
}

TEST_F(Disk, ThatTakesHalfOfEachWriteIsNothingSpecial) {
  fault("short");
  auto program = start();
  for (int i = 0; i < 50; ++i) cluster_.add_workload("w" + std::to_string(i), 5'000);
  EXPECT_TRUE(cluster_.wait_for_admission("w49")) << program->said();
  stop(*program);
  expect_whole_log();
}

TEST_F(Disk, ThatFailsEndsTheProcessWithAMessageAndTheNextOneGoesOn) {
  int rounds = 0;
  for (const char* kind : {"write-error", "sync-error", "limit on files"}) {
    fault("none");
    auto program = start();
    const std::string before = "before-" + std::to_string(rounds), meanwhile = "meanwhile-" + std::to_string(rounds);
    ++rounds;
    cluster_.add_workload(before);
    ASSERT_TRUE(cluster_.wait_for_admission(before)) << program->said();
    fault(kind);
    const rlimit none{1, RLIM_INFINITY};  // or a quota: SQLite does not know that these are a full disk
    if (std::strcmp(kind, "limit on files") == 0) {
      ASSERT_EQ(::prlimit(program->id(), RLIMIT_FSIZE, &none, nullptr), 0);
    }
    cluster_.add_workload(meanwhile);
    const Outcome done = program->wait();
    EXPECT_EQ(done.status, 1) << kind << "\n" << done.err;
    EXPECT_NE(done.err.find("has to be opened again"), std::string::npos) << kind << "\n" << done.err;
    fault("none");
    program = start();
    EXPECT_TRUE(cluster_.wait_for_admission(meanwhile)) << program->said();
    stop(*program);
    expect_whole_log();
  }
}

TEST_F(Disk, ThatCannotBeReadEndsTheProcessWithAMessageAndTheNextOneGoesOn) {
  fault("none");
  {
    auto program = start();
    for (int i = 0; i < 20; ++i) cluster_.add_workload("w" + std::to_string(i), 15'000);
    ASSERT_TRUE(cluster_.wait_for_admission("w19")) << program->said();
    stop(*program);
  }
  fault("read-error");
  {
    auto program = start();
    const Outcome done = program->wait();
    EXPECT_EQ(done.status, 1) << done.err;
    EXPECT_NE(done.err.find("log " + log_), std::string::npos) << done.err;
  }
  fault("none");
  auto program = start();
  cluster_.add_workload("after");
  EXPECT_TRUE(cluster_.wait_for_admission("after")) << program->said();
  stop(*program);
  expect_whole_log();
}

TEST_F(Disk, ThatCannotBeReadAnyMoreEndsTheProcessWithAMessageAndTheNextOneGoesOn) {
  fault("none");
  auto program = start();
  cluster_.add_workload("before");
  ASSERT_TRUE(cluster_.wait_for_admission("before")) << program->said();
  fault("read-error");
  // What is written is read by those who tell of it.
  for (int i = 0; i < 100 && program->said().find("stopping") == std::string::npos; ++i) {
    cluster_.add_workload("w" + std::to_string(i), 15'000);
    (void)cluster_.wait_for_admission("w" + std::to_string(i), std::chrono::seconds(1));
  }
  const Outcome done = program->wait();
  EXPECT_EQ(done.status, 1) << done.err;
  EXPECT_NE(done.err.find("log " + log_), std::string::npos) << done.err;
  EXPECT_NE(done.err.find("the disk could not give its bytes"), std::string::npos) << done.err;
  fault("none");
  program = start();
  cluster_.add_workload("after");
  EXPECT_TRUE(cluster_.wait_for_admission("after")) << program->said();
  stop(*program);
  expect_whole_log();
}

// ---- memory, threads, handles
// -------------------------------------------------------------------------------------------------------------

class Scarce : public Machine {
 protected:
  /// It ends by itself, with a message and without a core, and once it may have more it goes on from where it was.
  /// The C library aborts by itself where it has no memory for a thread's bookkeeping; nobody can come before that, and it says so.
  void expect_to_end_cleanly(const Outcome& done, const std::string& what) {
    if (done.status == 128 + SIGABRT && done.err.find("Fatal glibc error: ") != std::string::npos) return;
    EXPECT_EQ(done.status, 1) << what << "\n" << done.err.substr(0, 4'000);
    EXPECT_NE(done.err.find("hindsight: error: "), std::string::npos) << what << "\n" << done.err;
    EXPECT_EQ(done.err.find("terminate called"), std::string::npos) << done.err;
  }
  void expect_to_go_on(const std::string& name) {
    Program program(words());
    cluster_.add_workload(name);
    EXPECT_TRUE(cluster_.wait_for_admission(name)) << program.said();
    stop(program);
    expect_whole_log();
  }
  void limit(const Program& program, __rlimit_resource resource, rlim_t soft) const {
    rlimit was{};
    ASSERT_EQ(::prlimit(program.id(), resource, nullptr, &was), 0);
    was.rlim_cur = soft;
    ASSERT_EQ(::prlimit(program.id(), resource, &was, nullptr), 0);
  }
  static std::uint64_t bytes_mapped(const Program& program) {
    std::ifstream statm("/proc/" + std::to_string(program.id()) + "/statm");
    std::uint64_t pages = 0;
    statm >> pages;
    return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  }
};

TEST_F(Scarce, WithoutMemoryItEndsWithAMessageAndStartsAgain) {
  for (const std::uint64_t mib : {128, 200, 300, 400, 500}) {  // with less, libraries fail before main() begins
    Program program(words({"--connect-timeout", "2"}), {.limits = {{RLIMIT_AS, mib << 20}}});
    const bool runs = program.wait_for("the domain runs", std::chrono::seconds(60));
    if (!runs) expect_to_end_cleanly(program.wait(), std::to_string(mib) + " MiB");
    if (!runs) continue;
    // It came up: then what comes in takes the rest, until it ends.
    stop(program);
    break;
  }
  Program program(words());
  cluster_.add_workload("before");
  ASSERT_TRUE(cluster_.wait_for_admission("before")) << program.said();
  limit(program, RLIMIT_AS, bytes_mapped(program) + (4 << 20));
  for (int i = 0; i < 3'000 && program.said().find("no more memory") == std::string::npos; ++i)
    cluster_.add_workload("w" + std::to_string(i), 15'000, 0);  // which leaves quota for what comes after, however many they are
  expect_to_end_cleanly(program.wait(), "while it runs");
  expect_to_go_on("after");
}

TEST_F(Scarce, WithoutHandlesItEndsWithAMessageOrWaits) {
  for (const std::uint64_t handles : {4, 6, 8, 10, 12, 14, 16, 18, 20, 24, 28}) {
    Program program(words({"--connect-timeout", "1"}), {.limits = {{RLIMIT_NOFILE, handles}}});
    const bool runs = within_seconds(20, [&] {
      return program.said().find("the domain runs") != std::string::npos || program.said().find("hindsight: error: ") != std::string::npos;
    });
    EXPECT_TRUE(runs) << handles << "\n" << program.said();
    program.signal(SIGTERM);
    const Outcome done = program.wait();
    EXPECT_TRUE(done.status == 0 || done.status == 1) << handles << ": " << done.status << "\n" << done.err;
  }
  // While it runs: no new connections, but whatever goes over those that there are goes on; and all of it when there are handles again.
  Program program(words());
  cluster_.add_workload("before");
  ASSERT_TRUE(cluster_.wait_for_admission("before")) << program.said();
  const auto port = port_of(program);
  limit(program, RLIMIT_NOFILE, 3);
  cluster_.add_workload("meanwhile");
  std::this_thread::sleep_for(std::chrono::seconds(2));
  limit(program, RLIMIT_NOFILE, 1'024);
  EXPECT_TRUE(cluster_.wait_for_admission("meanwhile")) << program.said();
  EXPECT_TRUE(within_seconds(
      60, [&] { return operations::request(port, "GET", "/readyz").body.find(R"("status":"ready")") != std::string::npos; }));
  stop(program);
  expect_whole_log();
}

/// Processes of a user that do nothing but count against what he may have.
class Crowd {
 public:
  Crowd(int size, uid_t user) {
    for (int i = 0; i < size; ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        if (::setuid(user) == 0 && ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0) ::pause();
        ::_exit(1);
      }
      EXPECT_GT(child, 0) << std::strerror(errno);
      if (child > 0) members_.push_back(child);
    }
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;
  ~Crowd() {
    for (const pid_t member : members_) ::kill(member, SIGKILL);
    for (const pid_t member : members_) ::waitpid(member, nullptr, 0);
  }

 private:
  std::vector<pid_t> members_;
};

TEST_F(Scarce, WithoutThreadsItEndsWithAMessageAndStartsAgain) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "the limit is counted for a user that the test must become: run it as root, as continuous integration does";
  constexpr unsigned nobody = 65'533;  // who has no other process
  ASSERT_EQ(::chown(folder_.path().c_str(), nobody, nobody), 0);
  int ended = 0;
  for (std::uint64_t threads = 1; threads < 40; threads += 3) {
    (void)words();
    std::filesystem::permissions(folder_.file("kubeconfig"), std::filesystem::perms::all);
    Program program(words({"--connect-timeout", "2"}), {.limits = {{RLIMIT_NPROC, threads}}, .user = nobody});
    const bool runs = program.wait_for("the domain runs", std::chrono::seconds(60));
    if (runs) program.signal(SIGTERM);
    const Outcome done = program.wait();
    if (runs && done.status == 0) break;
    // What starts later than the domain may have lacked its thread.
    ++ended;
    expect_to_end_cleanly(done, std::to_string(threads) + " threads");
  }
  EXPECT_GT(ended, 0);
  expect_to_go_on("after");

  // While it runs: the command that fetches a credential needs a thread now and then. What the last one gave out is good until it expires;
  // after that everything waits until there is a thread again.
  const std::string plugin = write(folder_.file("credential"),
                                   "#!/bin/sh\necho '{\"apiVersion\": \"client.authentication.k8s.io/v1\", \"kind\": \"ExecCredential\", "
                                   "\"status\": {\"token\": \"secret\", \"expirationTimestamp\": '\"\\\"$(date -u -d '+6 seconds' "
                                   "+%Y-%m-%dT%H:%M:%SZ)\\\"\"'}}'\n");
  Words line = words();
  write(folder_.file("kubeconfig"),
        cluster_.kubeconfig("{exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: " + plugin + "}}"));
  for (const auto& file : {plugin, folder_.file("kubeconfig")}) std::filesystem::permissions(file, std::filesystem::perms::all);
  Program program(line, {.limits = {{RLIMIT_NPROC, 60}}, .user = nobody});
  cluster_.add_workload("with-threads");
  ASSERT_TRUE(cluster_.wait_for_admission("with-threads")) << program.said();
  std::optional<Crowd> crowd(std::in_place, 60, nobody);
  for (int i = 0; i < 100 && program.said().find("cannot run the credential command: ") == std::string::npos; ++i) {
    cluster_.add_workload("w" + std::to_string(i));  // each is written about, and the credential gets older
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  EXPECT_NE(program.said().find("cannot run the credential command: "), std::string::npos) << program.said();
  cluster_.add_workload("without-threads");
  EXPECT_NE(get(program, "/healthz").find(R"("status":"ok")"), std::string::npos);
  crowd.reset();
  EXPECT_TRUE(cluster_.wait_for_admission("without-threads")) << program.said();
  EXPECT_TRUE(shows(program, "/readyz", R"("status":"ready")")) << get(program, "/readyz");
  stop(program);
  expect_whole_log();
}

}  // namespace
}  // namespace hindsight::test
