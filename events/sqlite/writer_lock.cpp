#include "events/sqlite/writer_lock.hpp"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

namespace hindsight::events::sqlite {
namespace {

using FileId = std::pair<dev_t, ino_t>;

/// The logs that this process writes. SQLite's own locks belong to the process and are lost when it closes any descriptor of the file
/// (POSIX has it so), so that a log that is open here must not be opened and closed only to learn that it is locked.
class Held {
 public:
  bool has(const FileId& id) {
    const std::lock_guard lock(mutex_);
    return held_.contains(id);
  }
  void add(const FileId& id) {
    const std::lock_guard lock(mutex_);
    held_.insert(id);
  }
  void remove(const FileId& id) {
    const std::lock_guard lock(mutex_);
    held_.erase(id);
  }
  /// For the same reason: somebody may be reading the log that another process writes.
  void keep_open(Descriptor file) {
    const std::lock_guard lock(mutex_);
    kept_.push_back(std::move(file));
  }

 private:
  std::mutex mutex_;
  std::set<FileId> held_;
  std::vector<Descriptor> kept_;
};

Held& held() {
  static Held all;
  return all;
}

tl::unexpected<Error> failed(const std::string& log_path, const Error& error) {
  return fail(error.kind, "log " + log_path + ": cannot be opened for writing: " + error.message);
}

tl::unexpected<Error> in_use(const std::string& log_path, const std::string& by) {
  return fail(ErrorKind::conflict, "log " + log_path + ": in use by " + by + "; one process at a time may write a log");
}

std::string holder(const Descriptor& note) {
  std::array<char, 300> text{};
  const auto n = note ? ::pread(note.get(), text.data(), text.size() - 1, 0) : 0;
  std::string out(text.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  if (const auto end = out.find('\n'); end != std::string::npos) out.resize(end);
  return out.empty() ? "another process" : out;
}

std::string this_process() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return "process " + std::to_string(::getpid()) + " on " + host.data();
}

std::string text_of(int error) { return std::generic_category().message(error); }

bool locks(const Descriptor& file) { return ::flock(file.get(), LOCK_EX | LOCK_NB) == 0; }

}  // namespace

WriterLock& WriterLock::operator=(WriterLock&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(file_, other.file_);
  std::swap(note_, other.note_);
  return *this;
}

WriterLock::~WriterLock() { let_go(); }

void WriterLock::let_go() {
  if (!file_) return;
  struct stat status {};
  if (::fstat(file_.get(), &status) == 0) held().remove({status.st_dev, status.st_ino});
}

Result<WriterLock> WriterLock::take(const std::string& log_path) {
  WriterLock out;
  auto path = without_links(log_path);
  if (!path) return failed(log_path, path.error());
  out.path_ = std::move(*path);
  struct stat status {};
  if (::stat(out.path_.c_str(), &status) == 0 && held().has({status.st_dev, status.st_ino})) return in_use(log_path, this_process());

  // Beside the log first: where others have a name for it that we do not know, the note is missing and only the message suffers.
  auto note = open_own_file(out.path_ + ".lock");
  if (!note) return failed(log_path, note.error());
  if (!locks(*note)) {
    if (errno != EWOULDBLOCK) return fail(ErrorKind::io, "log " + log_path + ": cannot lock " + out.path_ + ".lock: " + text_of(errno));
    return in_use(log_path, holder(*note));
  }
  auto file = open_own_file(out.path_);
  if (!file) return failed(log_path, file.error());
  if (!locks(*file)) {
    const int error = errno;
    held().keep_open(std::move(*file));
    if (error == EWOULDBLOCK) return in_use(log_path, "another process, which has another name for it");
    return fail(ErrorKind::io, "log " + log_path + ": cannot be locked: " + text_of(error));
  }
  if (::fstat(file->get(), &status) != 0) return fail(ErrorKind::io, "log " + log_path + ": " + text_of(errno));
  held().add({status.st_dev, status.st_ino});
  out.file_ = std::move(*file);
  out.note_ = std::move(*note);
  // Who holds it is told as well as may be; a full disk is no reason not to open a log.
  const std::string me = this_process() + "\n";
  if (::ftruncate(out.note_.get(), 0) == 0) (void)!::pwrite(out.note_.get(), me.data(), me.size(), 0);
  return out;
}

}  // namespace hindsight::events::sqlite
