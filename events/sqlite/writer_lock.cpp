#include "events/sqlite/writer_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace hindsight::events::sqlite {
namespace {

tl::unexpected<Error> system_failure(const std::string& log_path, const std::string& what, int error) {
  const bool denied = error == EACCES || error == EPERM || error == EROFS;
  return fail(denied ? ErrorKind::denied : ErrorKind::io, "log " + log_path + ": " + what + ": " + std::strerror(error));
}

std::string holder(int descriptor) {
  std::array<char, 300> text{};
  const auto n = ::pread(descriptor, text.data(), text.size() - 1, 0);
  std::string out(text.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  if (const auto end = out.find('\n'); end != std::string::npos) out.resize(end);
  return out.empty() ? "another process" : out;
}

}  // namespace

WriterLock& WriterLock::operator=(WriterLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

WriterLock::~WriterLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<WriterLock> WriterLock::take(const std::string& log_path) {
  const std::string path = log_path + ".lock";
  WriterLock out;
  out.descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (out.descriptor_ < 0) return system_failure(log_path, "cannot be opened for writing: " + path, errno);
  if (::flock(out.descriptor_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return system_failure(log_path, "cannot lock " + path, errno);
    return fail(ErrorKind::conflict,
                "log " + log_path + ": in use by " + holder(out.descriptor_) + "; one process at a time may write a log");
  }
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const std::string me = "process " + std::to_string(::getpid()) + " on " + host.data() + "\n";
  if (::ftruncate(out.descriptor_, 0) != 0 || ::pwrite(out.descriptor_, me.data(), me.size(), 0) != static_cast<ssize_t>(me.size())) {
    return system_failure(log_path, "cannot write " + path, errno);
  }
  return out;
}

}  // namespace hindsight::events::sqlite
