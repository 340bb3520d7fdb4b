#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace hindsight::connectors::kubernetes::testing {

/// A new folder that goes away with this.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hindsight-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  /// Writes a file, replacing an earlier one as a whole (a new inode, as mounted secrets do).
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / (name + ".new")) << text;
    std::filesystem::rename(path_ / (name + ".new"), path_ / name);
    return path_ / name;
  }
  std::filesystem::path write_script(const std::string& name, const std::string& text) const {
    auto path = write(name, text);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace hindsight::connectors::kubernetes::testing
