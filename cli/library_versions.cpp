#include "cli/library_versions.hpp"

#include <curl/curl.h>
#include <openssl/crypto.h>
#include <sqlite3.h>
#include <zstd.h>

#include <string_view>

namespace hindsight::cli {

std::map<std::string, std::string> libraries_built_with() {
  // "CAF 0.18.5,CURL 7.88.1", which cli/CMakeLists.txt writes.
  std::map<std::string, std::string> out;
  std::string_view rest = HINDSIGHT_LIBRARIES;
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    const std::string_view entry = rest.substr(0, comma);
    const auto blank = entry.find(' ');
    if (blank != std::string_view::npos) out.emplace(entry.substr(0, blank), entry.substr(blank + 1));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return out;
}

std::map<std::string, std::string> libraries_loaded() {
  return {{"CURL", curl_version_info(CURLVERSION_NOW)->version},
          {"OpenSSL", OpenSSL_version(OPENSSL_VERSION_STRING)},
          {"SQLite", sqlite3_libversion()},
          {"Zstandard", ZSTD_versionString()}};
}

std::string build_type() { return HINDSIGHT_BUILD_TYPE; }

}  // namespace hindsight::cli
