#pragma once

#include <cstddef>
#include <ostream>
#include <string_view>

#include "vocabulary/printable.hpp"
#include "vocabulary/result.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::runtime {

/// Says why something cannot be done, on one line: what a server, an object or a file has said in it forges no other.
/// A message may repeat what it was given, which may be as long as a command line: of more than `message_max` bytes the middle is left out.
inline constexpr std::size_t message_max = 8192;

inline void print_error(std::ostream& err, std::string_view message) {
  err << "hindsight: error: " << (message.size() > message_max ? printable(cut_middle(message, message_max)) : printable(message))
      << std::endl;
}

/// The exit code of a command that runs until it is stopped and does not begin, or of input that cannot be read: 2 for use, 1 for failure.
inline int exit_code_of(const Error& e) { return e.kind == ErrorKind::invalid || e.kind == ErrorKind::not_found ? 2 : 1; }

/// Both.
inline int complain(std::ostream& err, const Error& e) {
  print_error(err, e.message);
  return exit_code_of(e);
}

/// The same for what is wrong with a file, a line for each thing; whoever puts the lines together makes each of them printable.
inline int complain_of_file(std::ostream& err, const Error& e) {
  err << "hindsight: error: " << printable_lines(e.message) << std::endl;
  return exit_code_of(e);
}

}  // namespace hindsight::runtime
