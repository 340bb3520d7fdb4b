#include "doctor/disk.hpp"

#include <fcntl.h>
#include <linux/quota.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>
#include <tuple>

namespace hindsight::doctor {
namespace {

constexpr std::size_t try_bytes = 4096;
constexpr std::uint64_t quota_block_bytes = 1024;  // in which the kernel counts limits

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] bool good() const { return number_ >= 0; }

 private:
  int number_;
};

std::string folder_of(const std::string& file) {
  const auto slash = file.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : file.substr(0, slash);
}

void measure_sync(const std::string& folder, DiskFacts& out) {
  const Descriptor file(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  if (!file.good()) {
    out.sync_unknown = "nothing can be written to " + folder + ": " + std::generic_category().message(errno);
    return;
  }
  std::array<char, try_bytes> bytes{};
  bytes.fill('h');
  const auto begin = std::chrono::steady_clock::now();
  if (::write(file.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()) || ::fsync(file.get()) != 0) {
    out.sync_unknown = "a write to " + folder + " failed: " + std::generic_category().message(errno);
    return;
  }
  out.sync_milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

void look_at_quota(const std::string& folder, DiskFacts& out) {
#ifdef SYS_quotactl_fd
  const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.good()) return;
  if_dqblk quota{};
  if (::syscall(SYS_quotactl_fd, directory.get(), QCMD(Q_GETQUOTA, USRQUOTA), ::geteuid(), &quota) != 0) return;
  if ((quota.dqb_valid & QIF_LIMITS) == 0 || (quota.dqb_valid & QIF_SPACE) == 0) return;
  out.quota_used = quota.dqb_curspace;
  out.quota_limit = quota.dqb_bhardlimit * quota_block_bytes;
#else
  (void)folder;
  (void)out;
#endif
}

}  // namespace

DiskFacts look_at_disk(const std::string& file) {
  DiskFacts out;
  const std::string folder = folder_of(file);
  struct statfs system {};
  if (::statfs(folder.c_str(), &system) == 0) std::tie(out.file_system, out.kind) = file_system_of(static_cast<long>(system.f_type));
  struct stat status {};
  if (::stat(file.c_str(), &status) == 0) out.mode = status.st_mode & 0777U;
  measure_sync(folder, out);
  look_at_quota(folder, out);
  return out;
}

}  // namespace hindsight::doctor
