#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "events/log.hpp"
#include "events/own_file.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::page {

/// A folder of this process for logs of branches, below one that several processes may share. It is locked as long as it is in use, however
/// the process ends; so what others have left behind is known for that, and removed.
class BranchesFolder {
 public:
  /// Makes `parent` (0700) if it is not there, and a folder in it. Errors: denied, io.
  [[nodiscard]] static Result<BranchesFolder> make(const std::string& parent);
  BranchesFolder(BranchesFolder&& other) noexcept = default;
  BranchesFolder& operator=(BranchesFolder&&) = delete;
  /// Removes it with all that is in it.
  ~BranchesFolder();

  /// An empty log in a file of this name, of at most so many bytes. The file is removed when the last one lets go of the log. Errors: those
  /// of SqliteLog::open.
  [[nodiscard]] Result<std::shared_ptr<events::Log>> make_log(const std::string& name, std::uint64_t bytes_max) const;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  BranchesFolder(std::string path, events::Descriptor lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  events::Descriptor lock_;
};

}  // namespace hindsight::page
