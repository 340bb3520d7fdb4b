#include "page/branches/branches_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "events/sqlite_log.hpp"

namespace hindsight::page {
namespace {

namespace fs = std::filesystem;

constexpr mode_t for_us_alone = 0700;
constexpr const char* folder_prefix = "branches-";
constexpr const char* lock_name = "/in-use";

tl::unexpected<Error> folder_refused(const std::string& path, int error) {
  const bool denied = error == EACCES || error == EPERM || error == EROFS;
  return fail(denied ? ErrorKind::denied : ErrorKind::io, "folder for branches " + path + ": " + std::generic_category().message(error) +
                                                              "; allowed: a folder that this process may write");
}

/// Open, and locked by nobody else; no descriptor: it is in use, or none of ours.
events::Descriptor lock_folder(const std::string& folder) {
  events::Descriptor lock(::open((folder + lock_name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return {};
  return lock;
}

/// Is it a folder, no link, of this user?
bool is_own_folder(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid();
}

/// Removes folders of processes that have ended.
void remove_leftovers(const std::string& parent) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    const std::string path = entry.path().string();
    if (!entry.path().filename().string().starts_with(folder_prefix) || !is_own_folder(path)) continue;
    if (const events::Descriptor lock = lock_folder(path); lock) fs::remove_all(path, ignored);
  }
}

/// A log with the file that it is in.
struct TemporaryLog {
  TemporaryLog(std::string path_, std::unique_ptr<events::SqliteLog> log_) : path(std::move(path_)), log(std::move(log_)) {}
  TemporaryLog(const TemporaryLog&) = delete;
  TemporaryLog& operator=(const TemporaryLog&) = delete;
  ~TemporaryLog() {
    log.reset();
    std::error_code ignored;
    for (const auto* rest : {"", "-wal", "-shm", "-journal", ".lock"}) fs::remove(path + rest, ignored);
  }

  std::string path;
  std::unique_ptr<events::SqliteLog> log;
};

}  // namespace

Result<BranchesFolder> BranchesFolder::make(const std::string& parent) {
  if (::mkdir(parent.c_str(), for_us_alone) != 0 && errno != EEXIST) return folder_refused(parent, errno);
  remove_leftovers(parent);
  std::string path = parent + "/" + folder_prefix + "XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return folder_refused(parent, errno);  // 0700
  events::Descriptor lock = lock_folder(path);
  if (!lock) return folder_refused(path, errno);
  return BranchesFolder(std::move(path), std::move(lock));
}

BranchesFolder::~BranchesFolder() {
  if (!lock_) return;  // moved away
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Result<std::shared_ptr<events::Log>> BranchesFolder::make_log(const std::string& name, std::uint64_t bytes_max) const {
  const std::string path = path_ + "/" + name + ".db";
  auto log = events::SqliteLog::open(path, {.durability = events::Durability::normal, .limit = bytes_max});
  if (!log) return tl::unexpected(log.error());
  const auto holder = std::make_shared<TemporaryLog>(path, std::move(*log));
  return std::shared_ptr<events::Log>(holder, holder->log.get());
}

}  // namespace hindsight::page
