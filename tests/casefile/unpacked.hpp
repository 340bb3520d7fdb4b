#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cli/application.hpp"
#include "events/log_copy.hpp"
#include "events/sqlite_log.hpp"
#include "tests/events/temporary_folder.hpp"

namespace hindsight::casefile::testing {

inline std::string bytes_of(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// What is in a .tar.gz.
struct Unpacked {
  std::string folder;                        ///< In which all entries stand.
  std::vector<std::string> order;            ///< Names without it, as they come.
  std::map<std::string, std::string> files;  ///< Their bytes.

  explicit Unpacked(const std::string& file) {
    auto* a = archive_read_new();
    archive_read_support_format_tar(a);
    archive_read_support_filter_gzip(a);
    if (archive_read_open_filename(a, file.c_str(), 65'536) != ARCHIVE_OK) throw std::runtime_error(file + " is no archive");
    for (archive_entry* entry = nullptr; archive_read_next_header(a, &entry) == ARCHIVE_OK;) {
      const std::string path = archive_entry_pathname(entry);
      const auto slash = path.find('/');
      folder = path.substr(0, slash);
      const std::string name = path.substr(slash + 1);
      std::string bytes;
      std::array<char, 65'536> part{};
      for (la_ssize_t n = 0; (n = archive_read_data(a, part.data(), part.size())) > 0;)
        bytes.append(part.data(), static_cast<std::size_t>(n));
      order.push_back(name);
      files[name] = std::move(bytes);
    }
    archive_read_free(a);
  }

  [[nodiscard]] nlohmann::ordered_json json(const std::string& name) const { return nlohmann::ordered_json::parse(files.at(name)); }
  [[nodiscard]] std::vector<std::string> lines(const std::string& name) const {
    std::vector<std::string> out;
    std::istringstream text(files.at(name));
    for (std::string line; std::getline(text, line);) out.push_back(line);
    return out;
  }
  /// Puts the files into a folder.
  void write(const std::string& to) const {
    std::filesystem::create_directories(to);
    for (const auto& [name, bytes] : files) std::ofstream(to + "/" + name, std::ios::binary) << bytes;
  }
};

struct Said {
  int status = 0;
  std::string out, err;
};

/// A command in this process; its output is no terminal, unless said otherwise.
inline Said say(std::vector<std::string> words, bool terminal = false) {
  std::ostringstream out, err;
  cli::Session session{out, err};
  session.out_is_terminal = terminal;
  Said said;
  said.status = cli::run_application(session, std::move(words));
  said.out = out.str();
  said.err = err.str();
  return said;
}

/// The same log in a file, as the commands read it.
inline std::string write_log(const events::Log& log, const std::string& file) {
  auto copy = events::SqliteLog::open(file, {.durability = events::Durability::off});
  if (!copy) throw std::runtime_error(copy.error().message);
  if (auto ok = events::copy_log(log, **copy); !ok) throw std::runtime_error(ok.error().message);
  return "sqlite:" + file;
}

/// What is wrong with a text as XML, as far as the page uses it: elements that are not closed in their order, attributes without quotes or
/// twice, references that there are not, characters that may not be. Empty: nothing.
inline std::string markup_fault(const std::string& text) {
  std::vector<std::string> open;
  const auto fault = [&](std::size_t at, const std::string& what) {
    return what + " at " + std::to_string(at) + ": " + text.substr(at, std::min<std::size_t>(60, text.size() - at));
  };
  const auto reference_ends = [&](std::size_t at) {
    for (const char* known : {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"})
      if (text.compare(at, std::string_view(known).size(), known) == 0) return true;
    return false;
  };
  std::size_t at = text.starts_with("<!DOCTYPE html>\n") ? 16 : 0;
  while (at < text.size()) {
    const auto c = static_cast<unsigned char>(text[at]);
    if (c < 0x20 && c != '\n') return fault(at, "a control character");
    if (c == '&' && !reference_ends(at)) return fault(at, "an unknown reference");
    if (c != '<') {
      ++at;
      continue;
    }
    const std::size_t begin = at++;
    const bool closes = text[at] == '/';
    if (closes) ++at;
    const std::size_t name_begin = at;
    while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0)) ++at;
    const std::string name = text.substr(name_begin, at - name_begin);
    if (name.empty()) return fault(begin, "no element");
    if (closes) {
      if (text[at] != '>' || open.empty() || open.back() != name) return fault(begin, "closes what is not open");
      open.pop_back();
      ++at;
      continue;
    }
    std::vector<std::string> attributes;
    for (;;) {
      while (text[at] == ' ') ++at;
      if (text[at] == '>' || text.compare(at, 2, "/>") == 0) break;
      const auto equals = text.find("=\"", at);
      if (equals == std::string::npos || equals - at > 40) return fault(at, "no attribute");
      const std::string attribute = text.substr(at, equals - at);
      if (std::find(attributes.begin(), attributes.end(), attribute) != attributes.end()) return fault(at, "an attribute twice");
      if (attribute.starts_with("on") || attribute == "style") return fault(at, "an attribute that no policy allows");
      attributes.push_back(attribute);
      for (at = equals + 2; at < text.size() && text[at] != '"'; ++at)
        if (text[at] == '<' || (text[at] == '&' && !reference_ends(at)) || static_cast<unsigned char>(text[at]) < 0x20)
          return fault(at, "a value that is not escaped");
      ++at;
    }
    if (text[at] == '/') {
      at += 2;
    } else {
      ++at;
      open.push_back(name);
    }
  }
  return open.empty() ? std::string() : "<" + open.back() + "> is not closed";
}

}  // namespace hindsight::casefile::testing
