#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "connectors/kubernetes/auth/connection.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::connectors::kubernetes {

/// Whom we trust to be the API server: certificate authorities that are read again when their file changes. Not thread-safe.
class Authority {
 public:
  explicit Authority(const Connection& connection) : pem_(connection.authority_pem), file_(connection.authority_file) {}

  /// Looks at the file; true when there are other authorities than before. Without a file, or while it is as it was, false. A file that
  /// cannot be read or holds no certificate is an error and changes nothing: what was trusted before is trusted on.
  [[nodiscard]] Result<bool> refresh();

  /// Empty: those of the system.
  [[nodiscard]] const std::string& pem() const { return pem_; }
  /// Rises with each change, from 1.
  [[nodiscard]] std::uint64_t number() const { return number_; }

 private:
  std::string pem_;
  std::filesystem::path file_;
  std::string seen_;  ///< State of the file when it was last read.
  std::uint64_t number_ = 1;
};

/// What tells one content of a file from the next, as far as its folder knows: inode, size and time of change. Empty when it is not there.
[[nodiscard]] std::string state_of_file(const std::filesystem::path& file);

}  // namespace hindsight::connectors::kubernetes
