#include "evidence/files.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>

#include "evidence/lines.hpp"
#include "vocabulary/printable.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::evidence {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::size_t read_at_once = std::size_t{64} << 10;
constexpr std::size_t name_bytes_max = 255;
/// So many findings are told; all others say the same.
constexpr std::size_t findings_max = 20;

Result<std::ifstream> open_regular(const fs::path& file) {
  std::error_code error;
  const auto status = fs::symlink_status(file, error);
  if (status.type() == fs::file_type::not_found) return fail(ErrorKind::not_found, file.string() + ": no such file");
  if (error) return fail(error == std::errc::permission_denied ? ErrorKind::denied : ErrorKind::io, file.string() + ": " + error.message());
  if (!fs::is_regular_file(status)) return fail(ErrorKind::invalid, file.string() + ": is no regular file; allowed: a file, and no link");
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (in) return in;
  const int why = errno == 0 ? EIO : errno;
  return fail(why == EACCES ? ErrorKind::denied : ErrorKind::io, file.string() + ": " + std::generic_category().message(why));
}

/// A name of a file in the folder, and of nothing else.
bool is_plain(const std::string& name) {
  return !name.empty() && name.size() <= name_bytes_max && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos && is_printable(name);
}

std::string shown(std::string_view name) { return "\"" + printable(cut_message(name, name_bytes_max)) + "\""; }

struct TooDeep {};

Result<Json> parse(std::string_view text) {
  if (text.size() > manifest_bytes_max)
    return fail(ErrorKind::invalid, "it has more than " + std::to_string(manifest_bytes_max) + " bytes; allowed: up to that");
  const auto depth_check = [](int depth, Json::parse_event_t /*event*/, Json& /*value*/) {
    if (depth > static_cast<int>(manifest_depth_max)) throw TooDeep{};
    return true;
  };
  try {
    Json out = Json::parse(text, depth_check, false);
    if (out.is_discarded() || !out.is_object()) return fail(ErrorKind::invalid, "it is no JSON object; allowed: one");
    return out;
  } catch (const TooDeep&) {
    return fail(ErrorKind::invalid, "it is nested deeper than " + std::to_string(manifest_depth_max) + "; allowed: up to that");
  }
}

Result<FileEntry> entry_in(const std::string& name, const Json& value) {
  const std::string field = "files[" + shown(name) + "]";
  if (!is_plain(name))
    return fail(ErrorKind::invalid, field + ": is no name of a file; allowed: a plain name in the folder of the manifest");
  const auto bytes = value.is_object() ? value.find("bytes") : value.end();
  const auto hash = value.is_object() ? value.find("sha256") : value.end();
  if (!value.is_object() || bytes == value.end() || !bytes->is_number_unsigned() || hash == value.end() || !hash->is_string())
    return fail(ErrorKind::invalid, field + ": allowed: an object with the number \"bytes\" and the text \"sha256\"");
  const auto digest = parse_digest(hash->get_ref<const std::string&>());
  if (!digest) return fail(ErrorKind::invalid, field + ".sha256: is no hash; allowed: 64 hexadecimal digits in small letters");
  return FileEntry{bytes->get<std::uint64_t>(), *digest};
}

}  // namespace

// ---- manifest -------------------------------------------------------------------------------------------------------------

Result<Manifest> read_manifest(std::string_view text) {
  const auto json = parse(text);
  if (!json) return tl::unexpected(json.error());
  const auto format = json->find("format");
  if (format == json->end() || *format != manifest_format)
    return fail(ErrorKind::invalid, std::string("field \"format\" is missing or another; allowed: \"") + manifest_format + "\"");
  const auto version = json->find("version");
  if (version == json->end() || !version->is_number_unsigned() || version->get<std::uint64_t>() == 0)
    return fail(ErrorKind::invalid, "field \"version\" is missing or no number; allowed: " + std::to_string(manifest_version));
  if (version->get<std::uint64_t>() > manifest_version)
    return fail(ErrorKind::unsupported, "its version is " + std::to_string(version->get<std::uint64_t>()) +
                                            ", written by a newer release; this one reads up to " + std::to_string(manifest_version));
  const auto files = json->find("files");
  if (files == json->end() || !files->is_object()) return fail(ErrorKind::invalid, "field \"files\" is missing or no object; allowed: one");
  Manifest out;
  for (const auto& [name, value] : files->items()) {
    const auto entry = entry_in(name, value);
    if (!entry) return tl::unexpected(entry.error());
    out.emplace(name, *entry);
  }
  return out;
}

Result<FileEntry> measure(const fs::path& file) {
  auto in = open_regular(file);
  if (!in) return tl::unexpected(in.error());
  Sha256 sha256;
  FileEntry out;
  std::string buffer(read_at_once, '\0');
  for (;;) {
    in->read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    const auto came = static_cast<std::size_t>(in->gcount());
    sha256.add(std::string_view(buffer).substr(0, came));
    out.bytes += came;
    if (in->bad()) return fail(ErrorKind::io, file.string() + ": it cannot be read");
    if (!*in) break;
  }
  out.sha256 = sha256.finish();
  return out;
}

Result<std::vector<std::string>> compare_with_manifest(const fs::path& folder, std::vector<std::string>& beside) {
  const fs::path path = folder / manifest_name;
  auto in = open_regular(path);
  if (!in) return tl::unexpected(in.error());
  std::string text(manifest_bytes_max + 1, '\0');
  in->read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in->gcount()));
  const auto manifest = read_manifest(text);
  if (!manifest) return fail(manifest.error().kind, path.string() + ": " + manifest.error().message);
  std::vector<std::string> out;
  const auto find = [&](std::string what) {
    if (out.size() < findings_max) out.push_back(std::move(what));
  };
  for (const char* needed : {records_name, checkpoints_name})
    if (!manifest->contains(needed)) find(std::string("the manifest does not name ") + needed);
  for (const auto& [name, entry] : *manifest) {
    const auto found = measure(folder / name);
    if (!found)
      find(printable(found.error().message));
    else if (found->bytes != entry.bytes)
      find("file " + shown(name) + " has " + std::to_string(found->bytes) + " bytes, the manifest says " + std::to_string(entry.bytes));
    else if (found->sha256 != entry.sha256)
      find("file " + shown(name) + " is not the one that the manifest names: its SHA-256 is " + hex(found->sha256));
  }
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name == manifest_name || manifest->contains(name)) continue;
    if (beside.size() < findings_max) beside.push_back(printable(name));
  }
  return out;
}

// ---- lines ----------------------------------------------------------------------------------------------------------------

Result<LineReader> LineReader::open(const fs::path& file) {
  auto in = open_regular(file);
  if (!in) return tl::unexpected(in.error());
  return LineReader(file.filename().string(), std::move(*in));
}

Result<bool> LineReader::next(std::string& line) {
  line.clear();
  ++number_;
  for (;;) {
    const auto end = buffer_.find('\n', at_);
    const std::size_t size = (end == std::string::npos ? buffer_.size() : end) - at_;
    if (line.size() + size > line_bytes_max)
      return fail(ErrorKind::invalid, name_ + ":" + std::to_string(number_) + ": the line has more than " + std::to_string(line_bytes_max) +
                                          " bytes; allowed: up to that");
    line.append(buffer_, at_, size);
    if (end != std::string::npos) {
      at_ = end + 1;
      return true;
    }
    buffer_.resize(read_at_once);
    in_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    buffer_.resize(static_cast<std::size_t>(in_.gcount()));
    at_ = 0;
    if (in_.bad()) return fail(ErrorKind::io, name_ + ": it cannot be read");
    if (buffer_.empty()) return !line.empty();  // the last line need not end with a line feed
  }
}

}  // namespace hindsight::evidence
