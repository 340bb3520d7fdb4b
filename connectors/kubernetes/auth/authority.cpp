#include "connectors/kubernetes/auth/authority.hpp"

#include <sys/stat.h>

#include <utility>

#include "connectors/kubernetes/auth/pem.hpp"

namespace hindsight::connectors::kubernetes {

std::string state_of_file(const std::filesystem::path& file) {
  struct stat state {};
  if (::stat(file.c_str(), &state) != 0) return {};
  return std::to_string(state.st_ino) + ":" + std::to_string(state.st_size) + ":" + std::to_string(state.st_mtim.tv_sec) + "." +
         std::to_string(state.st_mtim.tv_nsec) + ";";
}

Result<bool> Authority::refresh() {
  if (file_.empty()) return false;
  // Before reading: a change in between is then seen as a change.
  std::string state = state_of_file(file_);
  if (state == seen_ && !state.empty()) return false;
  auto text = read_small_file(file_, "certificate-authority");
  if (!text) return tl::unexpected(text.error());
  if (!holds_certificates(*text)) {
    return fail(ErrorKind::invalid, "certificate-authority: found " + file_.string() + " without a certificate; allowed: PEM");
  }
  seen_ = std::move(state);
  if (*text == pem_) return false;
  pem_ = *std::move(text);
  ++number_;
  return true;
}

}  // namespace hindsight::connectors::kubernetes
