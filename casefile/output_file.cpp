#include "casefile/output_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace hindsight::casefile {
namespace {

tl::unexpected<Error> cannot_write(const std::string& path, int error) {
  return fail(ErrorKind::io, path + ": cannot be written: " + std::strerror(error));
}

// ---- what was begun and not finished ---------------------------------------------------------------------------------------------

/// Of this process.
class Unfinished {
 public:
  void add(const std::string& path) {
    const std::lock_guard lock(mutex_);
    paths_.insert(path);
  }
  void done(const std::string& path) {
    const std::lock_guard lock(mutex_);
    paths_.erase(path);
  }
  void remove_all() {
    const std::lock_guard lock(mutex_);
    std::error_code ignored;
    for (const auto& path : paths_) std::filesystem::remove_all(path, ignored);
    paths_.clear();
  }

 private:
  std::mutex mutex_;
  std::set<std::string> paths_;
};

Unfinished& unfinished() {
  static Unfinished all;
  return all;
}

constexpr std::string_view random_part = "XXXXXX";  // as mkstemp and mkdtemp fill it in

/// Whoever uses it holds the lock, so one that can be locked is nobody's any more.
bool lock_if_free(int descriptor) { return ::flock(descriptor, LOCK_EX | LOCK_NB) == 0; }

/// Locks what was just made. False: somebody took it for a leftover before it was locked, and removed it.
bool lock_new(int descriptor) {
  while (::flock(descriptor, LOCK_EX) != 0)
    if (errno != EINTR) return true;  // a file system without locks, on which nothing is taken for a leftover either
  struct stat status {};
  return ::fstat(descriptor, &status) != 0 || status.st_nlink > 0;
}

/// Removes what processes of this user that were killed have left in a folder under names that begin so.
void remove_leftovers(const std::filesystem::path& folder, const std::string& prefix, bool folders) {
  std::error_code ignored;
  for (std::filesystem::directory_iterator it(folder, ignored), end; !ignored && it != end; it.increment(ignored)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with(prefix) || name.size() != prefix.size() + random_part.size()) continue;
    const events::Descriptor there(
        ::open(it->path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (folders ? O_DIRECTORY : 0)));
    struct stat status {};
    if (!there || ::fstat(there.get(), &status) != 0 || status.st_uid != ::geteuid()) continue;
    if (folders ? !S_ISDIR(status.st_mode) : !S_ISREG(status.st_mode)) continue;
    if (!lock_if_free(there.get())) continue;
    std::error_code kept;
    std::filesystem::remove_all(it->path(), kept);
  }
}

constexpr int attempts_max = 100;

tl::unexpected<Error> is_there(const std::string& path) {
  return fail(ErrorKind::conflict, path + ": is there already; allowed: another name, or --force to replace it");
}

}  // namespace

Result<OutputFile> OutputFile::create(std::string path, bool replace) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) {
    if (!replace) return is_there(path);
    if (!S_ISREG(status.st_mode)) return fail(ErrorKind::invalid, path + ": found no regular file; allowed: a regular file, or none");
  } else if (errno != ENOENT) {
    return cannot_write(path, errno);
  }
  const std::filesystem::path as_path(path);
  const std::string prefix = as_path.filename().string() + ".unfinished-";
  remove_leftovers(as_path.has_parent_path() ? as_path.parent_path() : ".", prefix, false);
  OutputFile out;
  for (int attempt = 0; attempt < attempts_max; ++attempt) {
    out.fresh_ = path + ".unfinished-" + std::string(random_part);
    out.file_ = events::Descriptor(::mkostemp(out.fresh_.data(), O_CLOEXEC));
    const int error = errno;
    if (!out.file_) {
      out.fresh_.clear();
      return cannot_write(path, error);
    }
    if (lock_new(out.file_.get())) break;
  }
  unfinished().add(out.fresh_);
  out.path_ = std::move(path);
  out.replace_ = replace;
  return out;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)), fresh_(std::exchange(other.fresh_, {})), replace_(other.replace_), file_(std::move(other.file_)) {}

OutputFile::~OutputFile() {
  if (fresh_.empty()) return;
  ::unlink(fresh_.c_str());
  unfinished().done(fresh_);
}

Result<void> OutputFile::finish() {
  auto ok = take_its_name();
  if (ok) unfinished().done(std::exchange(fresh_, {}));
  return ok;
}

Result<void> OutputFile::take_its_name() {
  if (::fsync(file_.get()) != 0) return cannot_write(path_, errno);
  if (replace_) {
    if (::rename(fresh_.c_str(), path_.c_str()) != 0) return cannot_write(path_, errno);
  } else {
    // A link never takes the place of what is there.
    if (::link(fresh_.c_str(), path_.c_str()) != 0) {
      if (errno == EEXIST) return is_there(path_);
      // Not every file system has links: what is left is a moment in which somebody else could make the file.
      if (errno != EPERM && errno != EOPNOTSUPP) return cannot_write(path_, errno);
      if (::access(path_.c_str(), F_OK) == 0) return is_there(path_);
      if (::rename(fresh_.c_str(), path_.c_str()) != 0) return cannot_write(path_, errno);
      return {};
    }
    ::unlink(fresh_.c_str());
  }
  return {};
}

Result<TemporaryFolder> TemporaryFolder::create() {
  const char* given = std::getenv("TMPDIR");
  const std::string base(given == nullptr || *given == '\0' ? "/tmp" : given);
  const std::string prefix = "hindsight-evidence.";
  remove_leftovers(base, prefix, true);
  TemporaryFolder out;
  for (int attempt = 0; attempt < attempts_max; ++attempt) {
    out.path_ = base + "/" + prefix + std::string(random_part);
    if (::mkdtemp(out.path_.data()) == nullptr) {
      const std::string path = std::exchange(out.path_, {});
      return fail(ErrorKind::io, path + ": no folder can be made: " + std::strerror(errno));
    }
    out.lock_ = events::Descriptor(::open(out.path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (out.lock_ && lock_new(out.lock_.get())) break;
  }
  unfinished().add(out.path_);
  return out;
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}

TemporaryFolder::~TemporaryFolder() {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  unfinished().done(path_);
}

void remove_unfinished() { unfinished().remove_all(); }

}  // namespace hindsight::casefile
