#pragma once

#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

namespace hindsight::cli {

/// What stands between a command and a terminal: text goes on as `printable` shows it (vocabulary/printable.hpp), line by line, so that
/// whatever a command prints of objects, no terminal obeys it. Line feeds and tabs stay, and so do the sequences that are allowed: our own
/// colours. What is JSON or YAML holds nothing else that would be changed (print_document).
class PrintableBuffer final : public std::streambuf {
 public:
  PrintableBuffer(std::ostream& to, std::vector<std::string> allowed) : to_(to), allowed_(std::move(allowed)) {}
  ~PrintableBuffer() override;

 protected:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

 private:
  void write(bool all);
  [[nodiscard]] std::string_view allowed_at(std::string_view text) const;
  [[nodiscard]] bool may_become_allowed(std::string_view text) const;

  std::ostream& to_;
  std::vector<std::string> allowed_;
  std::string waiting_;  ///< The beginning of a character or of an allowed sequence.
};

/// A stream over such a buffer. Errors of the stream behind it are its own.
class PrintableStream final : public std::ostream {
 public:
  PrintableStream(std::ostream& to, std::vector<std::string> allowed) : std::ostream(nullptr), buffer_(to, std::move(allowed)) {
    rdbuf(&buffer_);
  }

 private:
  PrintableBuffer buffer_;
};

}  // namespace hindsight::cli
