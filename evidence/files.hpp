#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "evidence/chain.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::evidence {

// The files of evidence. They may come from anybody: none is opened that is not a regular file of the folder, and none is read into memory.

inline constexpr const char* manifest_name = "manifest.json";
inline constexpr const char* records_name = "records.jsonl";
inline constexpr const char* checkpoints_name = "checkpoints.jsonl";

/// What a manifest is called and which version of it this release writes and reads.
inline constexpr const char* manifest_format = "hindsight-evidence";
inline constexpr std::uint64_t manifest_version = 1;
inline constexpr std::size_t manifest_bytes_max = std::size_t{1} << 20;
inline constexpr std::size_t manifest_depth_max = 8;

/// What a manifest says of a file.
struct FileEntry {
  std::uint64_t bytes = 0;
  Digest sha256{};
  friend bool operator==(const FileEntry&, const FileEntry&) = default;
};

/// By name.
using Manifest = std::map<std::string, FileEntry, std::less<>>;

/// The files that a manifest names. Errors: invalid, with the field, what was found and what is allowed; unsupported (a newer version).
[[nodiscard]] Result<Manifest> read_manifest(std::string_view json);
/// Size and hash of a file. Errors: not_found, invalid (no regular file), io.
[[nodiscard]] Result<FileEntry> measure(const std::filesystem::path& file);
/// Compares the folder with its manifest; what is wrong, a sentence each. `beside`: files that no manifest names. Errors: as measure, and
/// those of read_manifest.
[[nodiscard]] Result<std::vector<std::string>> compare_with_manifest(const std::filesystem::path& folder, std::vector<std::string>& beside);

/// Reads a file line by line.
class LineReader {
 public:
  /// Errors: not_found, denied, invalid (no regular file), io.
  [[nodiscard]] static Result<LineReader> open(const std::filesystem::path& file);

  /// The next line without its line feed; false: there is none. Errors: invalid (it is longer than line_bytes_max), io.
  [[nodiscard]] Result<bool> next(std::string& line);
  /// Of the line that was given last; from 1.
  [[nodiscard]] std::uint64_t number() const { return number_; }

 private:
  LineReader(std::string name, std::ifstream in) : name_(std::move(name)), in_(std::move(in)) {}
  std::string name_;
  std::ifstream in_;
  std::string buffer_;
  std::size_t at_ = 0;
  std::uint64_t number_ = 0;
};

}  // namespace hindsight::evidence
