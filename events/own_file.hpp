#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "vocabulary/result.hpp"

namespace hindsight::events {

// Files that a process of ours writes. They are made 0600, whatever the umask is, and nothing is written through a symbolic link that
// somebody else has planted: in a folder where others may write, /tmp above all, a link of the name that we are about to write would have
// us overwrite whatever it names.

/// An open file, closed with this object.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] explicit operator bool() const { return number_ >= 0; }
  /// Whoever asks closes it.
  [[nodiscard]] int release();

 private:
  int number_ = -1;
};

/// The same file by a name without symbolic links; `path` itself where it has none. The file need not exist, its folder must. Errors:
/// denied (a link on the way belongs neither to this process's user nor to root, who alone may say where we write), io.
[[nodiscard]] Result<std::string> without_links(const std::string& path);

/// Opens a regular file for reading and writing and makes it, 0600, if there is none. Its last part is no symbolic link. Errors: denied
/// (also of a file that somebody else may have planted: in a folder where everybody may write it is of another user, or has another name),
/// invalid (a link, or no regular file), io.
[[nodiscard]] Result<Descriptor> open_own_file(const std::string& path);

/// Puts a file of these bytes in the place of another, or of none, so that whoever reads meanwhile sees the one or the other whole. It is
/// written beside, under a name that nobody can know before, and synced. Errors: denied, io (a full disk among them); then nothing is left.
[[nodiscard]] Result<void> replace_file(const std::filesystem::path& path, std::span<const std::byte> bytes);

/// The bytes of a regular file, no link, of this process's user or of root; at most so many. Errors: not_found, denied, invalid (another
/// kind of file, or a longer one), io.
[[nodiscard]] Result<std::vector<std::byte>> read_own_file(const std::filesystem::path& path, std::size_t bytes_max);

}  // namespace hindsight::events
