#include "events/own_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace hindsight::events {
namespace {

namespace fs = std::filesystem;

constexpr mode_t own_mode = 0600;

tl::unexpected<Error> refused(const std::string& what, int error) {
  const bool denied = error == EACCES || error == EPERM || error == EROFS;
  return fail(denied ? ErrorKind::denied : ErrorKind::io, what + ": " + std::generic_category().message(error));
}

/// May a link that this user made say where we write?
bool trusted(uid_t owner) { return owner == 0 || owner == ::geteuid(); }

/// Whoever can make files in the folder of this one could have put it there. A folder that cannot be looked at counts as such.
bool is_open_to_all(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  struct stat status {};
  return ::stat(folder.empty() ? "." : folder.c_str(), &status) != 0 || (status.st_mode & S_IWOTH) != 0;
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

int Descriptor::release() { return std::exchange(number_, -1); }

Result<std::string> without_links(const std::string& path) {
  constexpr int links_max = 40;  // as the system has it
  fs::path rest = path, done;
  int links = 0;
  while (!rest.empty()) {
    const fs::path part = *rest.begin();
    fs::path behind;
    for (auto it = std::next(rest.begin()); it != rest.end(); ++it) behind /= *it;
    const fs::path next = done / part;
    struct stat status {};
    if (::lstat(next.c_str(), &status) != 0) {
      if (errno != ENOENT || !behind.empty()) return refused(path, errno);
      done = next;
      break;
    }
    if (!S_ISLNK(status.st_mode)) {
      done = next;
      rest = behind;
      continue;
    }
    if (!trusted(status.st_uid))
      return fail(ErrorKind::denied, path + ": " + next.string() + " is a symbolic link of user " + std::to_string(status.st_uid) +
                                         "; allowed: links of this process's user (" + std::to_string(::geteuid()) + ") or of root");
    if (++links > links_max) return refused(path, ELOOP);
    std::error_code error;
    const fs::path target = fs::read_symlink(next, error);
    if (error) return refused(path, error.value());
    if (target.is_absolute()) done.clear();
    rest = behind.empty() ? target : target / behind;
  }
  return links == 0 ? path : done.string();
}

Result<Descriptor> open_own_file(const std::string& path) {
  constexpr int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;  // the last one: a pipe must not hold us up
  for (;;) {
    Descriptor file(::open(path.c_str(), flags | O_CREAT | O_EXCL, own_mode));
    if (file) {
      // The umask may only have taken rights away; without these we could not open it again.
      if (::fchmod(file.get(), own_mode) != 0) return refused(path, errno);
      return file;
    }
    if (errno != EEXIST) return refused(path, errno);
    file = Descriptor(::open(path.c_str(), flags));
    if (!file && errno == ENOENT) continue;  // it went meanwhile, or is a link to nothing
    if (!file && errno == ELOOP) return fail(ErrorKind::invalid, path + ": is a symbolic link; allowed: a regular file, or none yet");
    if (!file) return refused(path, errno);
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return refused(path, errno);
    if (!S_ISREG(status.st_mode)) return fail(ErrorKind::invalid, path + ": is no regular file; allowed: one, or none yet");
    if ((!trusted(status.st_uid) || status.st_nlink != 1) && is_open_to_all(path))
      return fail(ErrorKind::denied, path + ": belongs to user " + std::to_string(status.st_uid) + " and has " +
                                         std::to_string(status.st_nlink) +
                                         " names, in a folder where everybody may write; allowed: a file of this process's user (" +
                                         std::to_string(::geteuid()) + ") or of root with one name, or none yet");
    return file;
  }
}

Result<void> replace_file(const fs::path& path, std::span<const std::byte> bytes) {
  std::string fresh = path.string() + ".XXXXXX";
  Descriptor file(::mkostemp(fresh.data(), O_CLOEXEC));  // 0600, and never what is there already
  if (!file) return refused(path.string(), errno);
  const auto give_up = [&](int error) {
    ::unlink(fresh.c_str());
    return refused(path.string(), error);
  };
  if (::fchmod(file.get(), own_mode) != 0) return give_up(errno);
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t n = ::write(file.get(), bytes.data() + at, bytes.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return give_up(n < 0 ? errno : ENOSPC);
    at += static_cast<std::size_t>(n);
  }
  if (::fsync(file.get()) != 0) return give_up(errno);
  if (::rename(fresh.c_str(), path.c_str()) != 0) return give_up(errno);  // a link in its place is replaced, not followed
  return {};
}

Result<std::vector<std::byte>> read_own_file(const fs::path& path, std::size_t bytes_max) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file && errno == ENOENT) return fail(ErrorKind::not_found, path.string() + ": no such file");
  if (!file && errno == ELOOP) return fail(ErrorKind::invalid, path.string() + ": is a symbolic link; allowed: a regular file");
  if (!file) return refused(path.string(), errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return refused(path.string(), errno);
  if (!S_ISREG(status.st_mode) || static_cast<std::uint64_t>(status.st_size) > bytes_max)
    return fail(ErrorKind::invalid, path.string() + ": found another kind of file, or one of " + std::to_string(status.st_size) +
                                        " bytes; allowed: a regular file of at most " + std::to_string(bytes_max));
  if (!trusted(status.st_uid))
    return fail(ErrorKind::denied, path.string() + ": belongs to user " + std::to_string(status.st_uid) +
                                       "; allowed: this process's user (" + std::to_string(::geteuid()) + ") or root");
  std::vector<std::byte> out(static_cast<std::size_t>(status.st_size));
  for (std::size_t at = 0; at < out.size();) {
    const ssize_t n = ::read(file.get(), out.data() + at, out.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return refused(path.string(), errno);
    if (n == 0) return fail(ErrorKind::io, path.string() + ": it got shorter while it was read");
    at += static_cast<std::size_t>(n);
  }
  return out;
}

}  // namespace hindsight::events
