// Files that we write: who may read them, and through whose links nothing is written. Two names for one log are one lock.

#include "events/own_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "events/kafka/snapshot_copies.hpp"
#include "events/sqlite_log.hpp"
#include "tests/events/log_records.hpp"
#include "tests/events/temporary_folder.hpp"

namespace hindsight::events {
namespace {

namespace fs = std::filesystem;
using test::Records;

std::string contents(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

mode_t mode_of(const std::string& file) {
  struct stat status {};
  EXPECT_EQ(::stat(file.c_str(), &status), 0) << file;
  return status.st_mode & 07777;
}

class OwnFiles : public ::testing::Test {
 protected:
  static std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span(text)); }
  Result<std::unique_ptr<SqliteLog>> open(const std::string& path) { return SqliteLog::open(path, {.durability = Durability::off}); }
  /// In another process, which says how it ended: 0 it is open, 1 it is in use, 2 anything else.
  static int open_elsewhere(const std::string& path) {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto log = SqliteLog::open(path, {.durability = Durability::off});
      ::_exit(log ? 0 : log.error().kind == ErrorKind::conflict ? 1 : 2);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
  }
  test::TemporaryFolder folder_;
  std::string path_ = folder_.file("log.db");
};

/// The umask of the process while this lives.
class Umask {
 public:
  explicit Umask(mode_t mask) : before_(::umask(mask)) {}
  Umask(const Umask&) = delete;
  Umask& operator=(const Umask&) = delete;
  ~Umask() { ::umask(before_); }

 private:
  mode_t before_;
};

// ---- modes ------------------------------------------------------------------------------------------------------------------------------

TEST_F(OwnFiles, LogsAndWhatStandsBesideThemAreForTheirUserAlone) {
  for (const mode_t mask : {mode_t{0}, mode_t{022}, mode_t{0777}}) {
    const Umask umask(mask);
    const std::string file = folder_.file("log-" + std::to_string(mask) + ".db");
    const auto log = open(file);
    ASSERT_TRUE(log) << log.error().message;
    ASSERT_TRUE((*log)->append(Records().add("a", 1).list(), 0));
    for (const char* suffix : {"", "-wal", "-shm", ".lock"}) EXPECT_EQ(mode_of(file + suffix), 0600U) << suffix << " with umask " << mask;
    const std::string other = folder_.file("file-" + std::to_string(mask));
    ASSERT_TRUE(replace_file(other, bytes("x")));
    EXPECT_EQ(mode_of(other), 0600U);
  }
}

// ---- one log by two names
// -----------------------------------------------------------------------------------------------------------------

TEST_F(OwnFiles, OneLogByTwoNamesIsOneLock) {
  auto log = open(path_);
  ASSERT_TRUE(log);
  ASSERT_TRUE((*log)->append(Records().add("a", 1).list(), 0));
  fs::create_symlink(path_, folder_.file("symbolic.db"));
  fs::create_hard_link(path_, folder_.file("hard.db"));
  fs::create_directory(folder_.file("folder"));
  fs::create_directory_symlink(folder_.path(), folder_.file("folder/up"));
  for (const std::string& name : {path_, folder_.file("symbolic.db"), folder_.file("hard.db"), folder_.file("folder/up/log.db"),
                                  folder_.file("folder/../log.db"), fs::relative(path_).string()}) {
    const auto second = open(name);
    ASSERT_FALSE(second) << name;
    EXPECT_EQ(second.error().kind, ErrorKind::conflict) << name;
    EXPECT_NE(second.error().message.find("one process at a time may write a log"), std::string::npos);
    EXPECT_EQ(open_elsewhere(name), 1) << name;
  }
  ASSERT_TRUE((*log)->append(Records().add("a", 2).list(), 1)) << "its own locks are as they were";
  log->reset();
  EXPECT_EQ(open_elsewhere(folder_.file("symbolic.db")), 0);
  EXPECT_EQ(open_elsewhere(path_), 0);
}

TEST_F(OwnFiles, TheHolderIsNamed) {
  const auto log = open(path_);
  const auto second = open(path_);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("process " + std::to_string(::getpid())), std::string::npos) << second.error().message;
}

// ---- links of others
// ----------------------------------------------------------------------------------------------------------------------

TEST_F(OwnFiles, ALinkIsNotWrittenThrough) {
  const std::string victim = folder_.file("victim"), link = folder_.file("link");
  std::ofstream(victim) << "precious";
  fs::create_symlink(victim, link);
  const auto opened = open_own_file(link);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind, ErrorKind::invalid);
  fs::create_symlink(folder_.file("nowhere"), folder_.file("dangling"));
  EXPECT_FALSE(open_own_file(folder_.file("dangling")));
  EXPECT_FALSE(fs::exists(folder_.file("nowhere")));
  ASSERT_TRUE(replace_file(link, bytes("new")));
  EXPECT_EQ(contents(victim), "precious");
  EXPECT_FALSE(fs::is_symlink(link)) << "it was replaced";
  EXPECT_EQ(contents(link), "new");
}

TEST_F(OwnFiles, OnlyRegularFilesAreOpened) {
  fs::create_directory(folder_.file("folder"));
  EXPECT_FALSE(open_own_file(folder_.file("folder")));
  ASSERT_EQ(::mkfifo(folder_.file("pipe").c_str(), 0600), 0);
  const auto pipe = open_own_file(folder_.file("pipe"));
  ASSERT_FALSE(pipe);
  EXPECT_EQ(pipe.error().kind, ErrorKind::invalid);
}

TEST_F(OwnFiles, WhatAnotherMayHavePlantedIsNotOpened) {
  fs::create_directory(folder_.file("all"));
  fs::permissions(folder_.file("all"), fs::perms::all | fs::perms::sticky_bit);
  const std::string file = folder_.file("all/log.db");
  ASSERT_TRUE(open_own_file(file)) << "ours";
  ASSERT_TRUE(open_own_file(file)) << "ours, and there already";
  fs::create_hard_link(file, folder_.file("all/other-name"));
  const auto opened = open_own_file(file);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind, ErrorKind::denied);
  EXPECT_NE(opened.error().message.find("in a folder where everybody may write"), std::string::npos) << opened.error().message;
  fs::remove(folder_.file("all/other-name"));
  if (::geteuid() == 0) {  // only root can make a file of somebody else
    std::ofstream(folder_.file("all/planted.db.lock")) << "process 1 on nowhere";
    ASSERT_EQ(::chown(folder_.file("all/planted.db.lock").c_str(), 65534, 65534), 0);
    const auto log = open(folder_.file("all/planted.db"));
    ASSERT_FALSE(log);
    EXPECT_EQ(log.error().kind, ErrorKind::denied);
    // A volume may belong to whom it likes as long as nobody else can write there.
    ASSERT_EQ(::chown(file.c_str(), 65534, 65534), 0);
    EXPECT_FALSE(open_own_file(file));
    fs::permissions(folder_.file("all"), fs::perms::owner_all);
    EXPECT_TRUE(open_own_file(file));
  }
}

TEST_F(OwnFiles, BesideALogNoLinkIsFollowed) {
  for (const char* suffix : {"-wal", "-shm", "-journal", ".lock"}) {
    const std::string file = folder_.file(std::string("log") + suffix + ".db"), victim = folder_.file(std::string("victim") + suffix);
    std::ofstream(victim) << "precious";
    fs::create_symlink(victim, file + suffix);
    const auto log = open(file);
    ASSERT_FALSE(log) << suffix;
    EXPECT_NE(log.error().message.find("is a symbolic link"), std::string::npos) << log.error().message;
    EXPECT_EQ(contents(victim), "precious") << suffix;
  }
}

TEST_F(OwnFiles, ALinkOfSomebodyElseDoesNotSayWhereWeWrite) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "only root can make a link that belongs to somebody else: run it as root, as continuous integration does";
  const std::string link = folder_.file("planted.db");
  fs::create_symlink(folder_.file("victim.db"), link);
  ASSERT_EQ(::lchown(link.c_str(), 65534, 65534), 0);
  const auto log = open(link);
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().kind, ErrorKind::denied);
  EXPECT_NE(log.error().message.find("is a symbolic link of user 65534"), std::string::npos) << log.error().message;
  EXPECT_FALSE(fs::exists(folder_.file("victim.db")));
  // A folder on the way, as well.
  fs::create_directory(folder_.file("elsewhere"));
  fs::create_directory_symlink(folder_.file("elsewhere"), folder_.file("way"));
  ASSERT_EQ(::lchown(folder_.file("way").c_str(), 65534, 65534), 0);
  EXPECT_EQ(open(folder_.file("way/log.db")).error().kind, ErrorKind::denied);
  EXPECT_TRUE(fs::is_empty(folder_.file("elsewhere")));
}

TEST_F(OwnFiles, LinksThatLeadInCirclesEnd) {
  fs::create_symlink(folder_.file("b"), folder_.file("a"));
  fs::create_symlink(folder_.file("a"), folder_.file("b"));
  EXPECT_FALSE(without_links(folder_.file("a")));
  EXPECT_FALSE(open(folder_.file("a/log.db")));
}

// --snapshot-dir: the names of copies follow from what everybody can read in the topic.
TEST_F(OwnFiles, CopiesOfSnapshotsAreNotWrittenThroughLinksNorReadFromThem) {
  const fs::path copies_folder = folder_.file("copies");
  const auto copies = kafka::SnapshotCopies::open(copies_folder, {.brokers = "127.0.0.1:1"});
  ASSERT_TRUE(copies) << copies.error().message;
  const std::string state = "the state of a domain", precious(state.size(), 'p');
  kafka::SnapshotEntry entry;
  entry.meta.position = 7;
  entry.meta.domain = "default";
  entry.bytes = state.size();
  const Umask umask(0);
  copies->write(entry, bytes(state));
  ASSERT_EQ(std::distance(fs::directory_iterator(copies_folder), fs::directory_iterator()), 1);
  const fs::path copy = fs::directory_iterator(copies_folder)->path();
  EXPECT_EQ(mode_of(copy), 0600U);
  EXPECT_TRUE(copies->read(entry));

  const std::string victim = folder_.file("victim");
  std::ofstream(victim) << precious;
  fs::permissions(victim, fs::perms(0644));
  fs::remove(copy);
  fs::create_symlink(victim, copy);
  EXPECT_FALSE(copies->read(entry)) << "somebody else says what the state is";
  copies->write(entry, bytes(state));
  EXPECT_EQ(contents(victim), precious);
  EXPECT_EQ(mode_of(victim), 0644U);
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(copy)));
  EXPECT_EQ(mode_of(copy), 0600U);
  EXPECT_EQ(contents(copy), state);
  // One that leads nowhere makes nothing there.
  fs::remove(copy);
  fs::create_symlink(folder_.file("nowhere"), copy);
  copies->write(entry, bytes(state));
  EXPECT_FALSE(fs::exists(folder_.file("nowhere")));
  EXPECT_EQ(contents(copy), state);
}

TEST_F(OwnFiles, AReplacedFileIsTheOldOneOrTheNewOne) {
  const std::string file = folder_.file("file");
  ASSERT_TRUE(replace_file(file, bytes("one")));
  ASSERT_TRUE(replace_file(file, bytes("two")));
  EXPECT_EQ(contents(file), "two");
  EXPECT_FALSE(replace_file(folder_.file("no/such/folder"), bytes("x")));
  fs::create_directory(folder_.file("folder"));
  EXPECT_FALSE(replace_file(folder_.file("folder"), bytes("x")));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()), 2) << "nothing unfinished is left";
}

}  // namespace
}  // namespace hindsight::events
